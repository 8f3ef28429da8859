// SPDX-License-Identifier: Apache-2.0
#include "support/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/temp_dir.h"

namespace stab::test {

void expect_golden(std::string_view name, std::string_view text) {
  const auto file = std::filesystem::path(STAB_SOURCE_DIR) / "tests" / "golden" / name;
  const char* update = std::getenv("STAB_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    std::ofstream(file, std::ios::binary) << text;
    return;
  }
  if (!std::filesystem::exists(file)) {
    ADD_FAILURE() << file << " is missing (STAB_UPDATE_GOLDEN=1 writes it)";
    return;
  }
  const std::string kept = read_text(file);
  if (kept == text) return;
  std::istringstream is{std::string(text)};
  std::istringstream was{kept};
  std::string is_line;
  std::string was_line;
  int number = 0;
  do {
    ++number;
    is_line = was_line = "(no such line)";
    std::getline(is, is_line);
    std::getline(was, was_line);
  } while (is_line == was_line && (is || was));
  ADD_FAILURE() << file << ", line " << number << ":\n  kept: " << was_line
                << "\n  now:  " << is_line << "\n(STAB_UPDATE_GOLDEN=1 takes it over)";
}

}  // namespace stab::test
