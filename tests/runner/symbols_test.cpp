// SPDX-License-Identifier: Apache-2.0
// What a built stab-runner asks of a device, read from the file itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "support/process.h"
#include "support/real_world.h"

namespace stab::test {
namespace {

using testing::AnyOf;
using testing::ElementsAre;

using Version = std::vector<int>;

Version parse_version(const std::string& text) {
  Version version;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, '.');) version.push_back(std::stoi(part));
  return version;
}

/// A dynamic symbol that the program takes from a library.
struct Wanted {
  std::string name;
  std::string version;  ///< "GLIBC_2.4"; empty: any
  bool weak = false;
};

/// Reads a line of `objdump -T` such as "0000 DF *UND* 0000 (GLIBC_2.4) open".
std::vector<Wanted> wanted_symbols(const std::string& file) {
  const ProcessResult result = run_process({require_program("objdump").string(), "-T", file});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<Wanted> wanted;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("*UND*") == std::string::npos) continue;
    Wanted symbol;
    symbol.name = line.substr(line.rfind(' ') + 1);
    symbol.weak = line.substr(0, line.find("*UND*")).find(" w ") != std::string::npos;
    const std::size_t open = line.find('(');
    if (open != std::string::npos) {
      symbol.version = line.substr(open + 1, line.find(')', open) - open - 1);
    }
    wanted.push_back(symbol);
  }
  return wanted;
}

std::vector<std::string> needed_libraries(const std::string& file) {
  const ProcessResult result = run_process({require_program("objdump").string(), "-p", file});
  std::vector<std::string> libraries;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    std::string value;
    if (words >> key >> value && key == "NEEDED") libraries.push_back(value);
  }
  return libraries;
}

class RunnerSymbols : public testing::TestWithParam<const char*> {
 protected:
  std::string runner() {
    const std::string arch = GetParam();
    if (arch == "x86_64" && host_arch() != arch) skip("built on x86_64 only");
    return require_runner(arch).string();
  }
};

TEST_P(RunnerSymbols, AskForNothingNewerThanOldBoardsHave) {
  const bool is_32_bit = std::string(GetParam()).starts_with("arm");
  const Version newest = is_32_bit ? Version{2, 4} : Version{2, 17};
  const std::vector<Wanted> wanted = wanted_symbols(runner());
  EXPECT_GT(wanted.size(), 20U);
  for (const Wanted& symbol : wanted) {
    if (symbol.weak && symbol.version.empty()) continue;
    ASSERT_TRUE(symbol.version.starts_with("GLIBC_")) << symbol.name << " " << symbol.version;
    EXPECT_LE(parse_version(symbol.version.substr(6)), newest) << symbol.name;
  }
}

TEST_P(RunnerSymbols, NeedOnlyTheCLibraryAndTheLoadersInterface) {
  EXPECT_THAT(needed_libraries(runner()), ElementsAre("libdl.so.2", "libc.so.6"));
}

TEST_P(RunnerSymbols, AreOfNoSanitizerNorChecker) {
  for (const Wanted& symbol : wanted_symbols(runner())) {
    EXPECT_EQ(symbol.name.find("asan"), std::string::npos);
    EXPECT_EQ(symbol.name.find("ubsan"), std::string::npos);
    EXPECT_EQ(symbol.name.find("_chk"), std::string::npos) << symbol.name;
    EXPECT_EQ(symbol.name.find("time64"), std::string::npos) << symbol.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Built, RunnerSymbols,
                         testing::Values("x86_64", "aarch64", "armhf", "armel"),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace stab::test
