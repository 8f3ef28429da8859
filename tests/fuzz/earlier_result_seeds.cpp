// SPDX-License-Identifier: Apache-2.0
// Seeds: a result and a stab.json as stab writes them.
#include <filesystem>
#include <fstream>

#include "support/nights.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  const stab::Result result = stab::test::Night(1).result(1000);
  std::ofstream(folder / "result.json", std::ios::binary) << stab::render_result(result);
  std::ofstream(folder / "stab.json", std::ios::binary) << stab::render_schedule(result, true);
  return 0;
}
