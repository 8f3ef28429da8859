// SPDX-License-Identifier: Apache-2.0
// Compares a text with the one that is kept in tests/golden.
#pragma once

#include <string_view>

namespace stab::test {

/// Fails the test where `text` differs from the file tests/golden/`name`, naming the first line
/// that does. With STAB_UPDATE_GOLDEN=1 in the environment the file is written instead; its
/// difference is reviewed like code.
void expect_golden(std::string_view name, std::string_view text);

}  // namespace stab::test
