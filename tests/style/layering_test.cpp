// SPDX-License-Identifier: Apache-2.0
// The sources keep to their layers and to the few rules that every file keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/temp_dir.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::read_text;
using ::testing::IsEmpty;

const fs::path k_root = STAB_SOURCE_DIR;

/// Files below a folder of the repository, as paths from its top, sorted.
std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  if (!fs::exists(k_root / folder)) return files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(k_root / folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path().lexically_relative(k_root).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> files_below(const std::vector<std::string>& folders) {
  std::vector<std::string> files;
  for (const std::string& folder : folders) {
    const std::vector<std::string> more = files_below(folder);
    files.insert(files.end(), more.begin(), more.end());
  }
  return files;
}

struct Include {
  std::string file;
  std::string name;  ///< without quotes or brackets
  bool angled = false;

  std::string text() const { return file + " includes " + name; }
};

std::vector<Include> includes_of(const std::vector<std::string>& files) {
  static const std::regex k_include("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"]");
  std::vector<Include> includes;
  for (const std::string& file : files) {
    std::istringstream lines(read_text(k_root / file));
    for (std::string line; std::getline(lines, line);) {
      std::smatch match;
      if (std::regex_search(line, match, k_include))
        includes.push_back({file, match[2], match[1] == "<"});
    }
  }
  return includes;
}

using Offends = std::function<bool(const Include&)>;

std::vector<std::string> offences(const std::vector<std::string>& folders, const Offends& offends) {
  std::vector<std::string> found;
  for (const Include& include : includes_of(files_below(folders))) {
    if (offends(include)) found.push_back(include.text());
  }
  return found;
}

bool any_of(const std::string& name, const std::vector<std::string>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](const std::string& start) { return name.starts_with(start); });
}

Offends starts_with(std::vector<std::string> starts) {
  return
      [starts = std::move(starts)](const Include& include) { return any_of(include.name, starts); };
}

bool is_source(const fs::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".h" || extension == ".c" || extension == ".cpp" || extension == ".fbs" ||
         extension == ".cmake" || extension == ".in" || extension == ".sh" ||
         file.filename() == "CMakeLists.txt";
}

std::vector<std::string> all_files() {
  std::vector<std::string> files =
      files_below({"bench", "cmake", "docs", "include", "scripts", "src", "tests"});
  for (const fs::directory_entry& entry : fs::directory_iterator(k_root)) {
    if (entry.is_regular_file()) files.push_back(entry.path().filename().string());
  }
  return files;
}

TEST(Layering, CoreIsPure) {
  EXPECT_THAT(offences({"src/core", "include/stab/core"},
                       starts_with({"stab/device/", "stab/host/", "stab/app/", "device/", "host/",
                                    "app/", "filesystem", "fstream", "iostream", "thread", "mutex",
                                    "random", "unistd.h", "sys/", "spdlog/", "libssh/"})),
              IsEmpty());
}

TEST(Layering, DeviceAndHostKnowNeitherEachOtherNorTheApplication) {
  EXPECT_THAT(offences({"src/device", "include/stab/device"},
                       starts_with({"stab/host/", "stab/app/", "host/", "app/"})),
              IsEmpty());
  EXPECT_THAT(offences({"src/host", "include/stab/host"},
                       starts_with({"stab/device/", "stab/app/", "device/", "app/"})),
              IsEmpty());
}

TEST(Layering, PublicHeadersNameNoHeaderOfAnotherLibrary) {
  static const std::regex k_standard("[a-z0-9_]+");
  EXPECT_THAT(offences({"include"},
                       [](const Include& include) {
                         return include.angled ? !std::regex_match(include.name, k_standard)
                                               : !include.name.starts_with("stab/");
                       }),
              IsEmpty());
}

TEST(Layering, LibrariesStandBehindOneLayerEach) {
  EXPECT_THAT(offences({"src"},
                       [](const Include& include) {
                         return include.name.starts_with("libssh/") &&
                                !include.file.starts_with("src/device/") &&
                                include.file != "src/app/version.cpp.in";
                       }),
              IsEmpty());
  EXPECT_THAT(offences({"src"},
                       [](const Include& include) {
                         return include.name.starts_with("CLI/") &&
                                include.file != "src/app/cli.cpp";
                       }),
              IsEmpty());
}

TEST(Layering, TheRunnerNeedsNothingOfStab) {
  EXPECT_THAT(offences({"src/runner"},
                       [](const Include& include) {
                         return include.name.ends_with(".hpp") || include.name.starts_with("stab/");
                       }),
              IsEmpty());
}

TEST(Sources, EachTestIsInTheBuild) {
  static const std::regex k_test("(.*)_(test|fuzz)\\.(cpp|sh)");
  std::vector<std::string> unlisted;
  for (const std::string& name : files_below("tests")) {
    const fs::path file = name;
    const std::string base = file.filename().string();
    std::smatch match;
    if (!std::regex_match(base, match, k_test)) continue;
    const fs::path list = k_root / file.parent_path() / "CMakeLists.txt";
    const std::string text = fs::exists(list) ? read_text(list) : "";
    const std::regex word("[ (]" + match[1].str() + "[ )\\n]");
    if (!std::regex_search(text, word)) unlisted.push_back(name);
  }
  EXPECT_THAT(unlisted, IsEmpty()) << "not in the CMakeLists.txt beside them";
}

TEST(Sources, EachNamesItsLicenceFirst) {
  const std::string tag = "SPDX-License-Identifier: Apache-2.0";
  std::vector<std::string> without;
  for (const std::string& file : all_files()) {
    if (!is_source(file)) continue;
    const std::string text = read_text(k_root / file);
    const std::size_t first_line = text.find('\n');
    const std::size_t second_line = text.find('\n', first_line + 1);
    if (text.substr(0, second_line).find(tag) == std::string::npos) without.push_back(file);
  }
  EXPECT_THAT(without, IsEmpty());
}

TEST(Sources, NoneIsUnfinished) {
  const std::vector<std::string> words = {std::string("TO") + "DO", std::string("FIX") + "ME"};
  std::vector<std::string> found;
  for (const std::string& file : all_files()) {
    if (file.starts_with("tests/data/") || file.starts_with("tests/fuzz/corpus/")) continue;
    const std::string text = read_text(k_root / file);
    for (const std::string& word : words) {
      if (text.find(word) != std::string::npos) found.push_back(file + " says " + word);
    }
  }
  EXPECT_THAT(found, IsEmpty());
}

}  // namespace
}  // namespace stab
