// SPDX-License-Identifier: Apache-2.0
#include "support/schema.h"

#include <filesystem>

#include "support/process.h"
#include "support/real_world.h"
#include "support/temp_dir.h"

namespace stab::test {

namespace fs = std::filesystem;

std::string schema_violations(std::string_view kind, std::string_view document) {
  // Debian's own Python: it alone has Debian's modules.
  constexpr const char* k_python = "/usr/bin/python3";
  static const bool k_there = run_process({k_python, "-c", "import jsonschema"}).exit_code == 0;
  if (!k_there) skip_or_fail("no python3-jsonschema (scripts/setup test)");
  const TempDir dir;
  const fs::path source = STAB_SOURCE_DIR;
  const ProcessResult result =
      run_process({k_python, (source / "tests/support/check_document").string(),
                   (source / "docs/schema" / (std::string(kind) + ".schema.json")).string(),
                   dir.write("document.json", document).string()});
  return result.exit_code == 0 ? result.out : result.out + result.err + "not valid\n";
}

}  // namespace stab::test
