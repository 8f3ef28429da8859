// SPDX-License-Identifier: Apache-2.0
// Checks documents of stab against the schemas in docs/schema, as any other reader of them could.
#pragma once

#include <string>
#include <string_view>

namespace stab::test {

/// What is wrong with a document by the schema of that kind ("result", "profile", "schedule",
/// "doctor"), a line each; empty when it is valid. Stricter than a reader: a field that the schema
/// does not name is wrong, too. A test on a machine without python3-jsonschema ends (skip_or_fail).
std::string schema_violations(std::string_view kind, std::string_view document);

}  // namespace stab::test
