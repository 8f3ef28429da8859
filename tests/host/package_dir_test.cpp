// SPDX-License-Identifier: Apache-2.0
#include "stab/host/package_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <span>

#include "stab/core/sha256.h"
#include "stab/host/files.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::read_text;
using test::TempDir;
using test::ZipBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr const char* k_manifest =
    R"({"major-version": "1", "configs": ["my.cfg"], "models": ["a.tflite"], "model-types": ["tflite"]})";
const std::string k_model("\x1c\0\0\0TFL3 and so on", 18);

/// A package `name` with a model and a configuration.
fs::path make_package(const TempDir& dir, const std::string& name) {
  dir.write(name + "/metadata/MANIFEST", k_manifest);
  dir.write(name + "/metadata/my.cfg", "FP16_ENABLE=1\nOP_BACKEND_MAP=0=ruy;\n");
  dir.write(name + "/a.tflite", k_model);
  return dir.path() / name;
}

template <typename Function>
Error error_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorKind::internal, "", "", "");
}

std::vector<std::string> paths_of(const FileList& files) {
  std::vector<std::string> paths;
  for (const FileEntry& entry : files) paths.push_back(entry.path);
  return paths;
}

/// Everything about a folder that could change: paths, kinds, modes, times, content.
std::string fingerprint(const fs::path& folder) {
  std::vector<std::string> lines;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat status = {};
    lstat(entry.path().c_str(), &status);
    lines.push_back(
        entry.path().string() + " " + std::to_string(status.st_mode) + " " +
        std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec) + " " +
        (entry.is_regular_file() && !entry.is_symlink() ? read_text(entry.path()) : ""));
  }
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

ScheduleTexts some_schedule(const Package& package) {
  ScheduleTexts texts;
  texts.config = {{"BACKENDS", "cpu;ruy"}, {"OP_BACKEND_MAP", "3=ruy"}};
  texts.environment = texts.config;
  texts.record = R"({"context": {"model": {"sha256": ")" + package.model_sha256 + "\"}}}";
  return texts;
}

TEST(PackageDir, ReadsAFolderHoweverItsPathIsWritten) {
  const TempDir dir;
  const fs::path folder = make_package(dir, "pack");
  fs::create_directory_symlink("pack", dir.path() / "link");
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  const std::vector<fs::path> ways = {folder,
                                      folder.string() + "/",
                                      ".",
                                      "./",
                                      dir.path() / "link",
                                      dir.path() / "link/",
                                      folder / "metadata" / ".."};
  for (const fs::path& way : ways) {
    const Package package = read_package(way).package;
    EXPECT_EQ(package.name, "pack") << way;
    EXPECT_EQ(package.origin, fs::canonical(folder)) << way;
  }
  fs::current_path(before);
}

TEST(PackageDir, SaysWhatIsInThePackage) {
  const TempDir dir;
  const OpenedPackage opened = read_package(make_package(dir, "pack"));
  const Package& package = opened.package;
  EXPECT_THAT(paths_of(package.files),
              ElementsAre("a.tflite", "metadata", "metadata/MANIFEST", "metadata/my.cfg"));
  EXPECT_THAT(package.config,
              ElementsAre(Pair("FP16_ENABLE", "1"), Pair("OP_BACKEND_MAP", "0=ruy;")));
  EXPECT_EQ(package.model_sha256, sha256_hex(k_model));
  EXPECT_EQ(package.sha256, hash_of(package.files));
  EXPECT_THAT(package.warnings, IsEmpty());
  EXPECT_EQ(opened.unpacked, nullptr);
  const std::vector<std::byte> bytes = read_model(package);
  EXPECT_EQ(sha256_hex(std::span(bytes)), package.model_sha256);
}

TEST(PackageDir, NoticesAModelThatChangedMeanwhile) {
  const TempDir dir;
  const Package package = read_package(make_package(dir, "pack")).package;
  dir.write("pack/a.tflite", "another");
  EXPECT_THAT(error_of([&] { read_model(package); }).what(), HasSubstr("changed"));
}

TEST(PackageDir, ReadsOnlyTheConfigurationThatTheRuntimeReads) {
  const TempDir dir;
  const fs::path folder = make_package(dir, "pack");
  const std::string rest = R"(, "models": ["a.tflite"], "model-types": ["tflite"]})";
  for (const char* none : {R"({"configs": [])", R"({"configs": [""])", R"({"x": 1)"}) {
    dir.write("pack/metadata/MANIFEST", none + rest);
    EXPECT_THAT(read_package(folder).package.config, IsEmpty()) << none;
    EXPECT_THAT(read_package(folder).package.warnings, IsEmpty()) << none;
  }
  dir.write("pack/metadata/MANIFEST", R"({"configs": ["gone.cfg"])" + rest);
  const Package missing = read_package(folder).package;
  EXPECT_THAT(missing.config, IsEmpty());
  ASSERT_EQ(missing.warnings.size(), 1U);
  EXPECT_EQ(missing.warnings[0].id, "config_missing");
  dir.write("pack/metadata/b.cfg", "B=2\n");
  dir.write("pack/metadata/MANIFEST", R"({"configs": ["my.cfg", "b.cfg"])" + rest);
  EXPECT_EQ(read_package(folder).package.config.size(), 2U);
  EXPECT_EQ(find_key(read_package(folder).package.config, "B"), nullptr);
}

TEST(PackageDir, WarnsBeforeAFileThatTheRuntimeNeverReadIsReplaced) {
  const TempDir dir;
  const fs::path folder = make_package(dir, "pack");
  dir.write("pack/metadata/config.cfg", "A=1\n");
  const Package package = read_package(folder).package;
  ASSERT_EQ(package.warnings.size(), 1U);
  EXPECT_EQ(package.warnings[0].id, "config_replaced");
}

TEST(PackageDir, WrapsABareModelFile) {
  const TempDir dir;
  const Package package = read_package(dir.write("net.v2.tflite", k_model)).package;
  EXPECT_EQ(package.name, "net.v2");
  EXPECT_EQ(package.manifest.model, "net.v2.tflite");
  EXPECT_THAT(paths_of(package.files), ElementsAre("metadata/MANIFEST", "net.v2.tflite"));
  EXPECT_EQ(read_model(package).size(), k_model.size());
  const Package odd = read_package(dir.write("-a 'b'.circle", "no header")).package;
  EXPECT_EQ(odd.name, "-a 'b'");
  EXPECT_EQ(odd.manifest.model, "model.circle");
  EXPECT_EQ(odd.manifest.format, ModelFormat::circle);
}

TEST(PackageDir, RefusesWhatIsNoPackage) {
  const TempDir dir;
  EXPECT_THAT(error_of([&] { read_package(dir.path()); }).what(),
              HasSubstr("no metadata/MANIFEST"));
  EXPECT_THAT(error_of([&] { read_package(dir.path() / "none"); }).what(),
              HasSubstr("No such file"));
  EXPECT_THAT(error_of([&] { read_package(dir.write("a.txt", "text")); }).what(),
              HasSubstr("no zip"));
  EXPECT_THAT(error_of([&] { read_package(dir.write("b.txt", "")); }).what(), HasSubstr("no zip"));
  EXPECT_THAT(error_of([&] { read_package("/dev/null"); }).what(), HasSubstr("not a regular file"));
  const fs::path folder = make_package(dir, "pack");
  fs::remove(folder / "a.tflite");
  EXPECT_THAT(error_of([&] { read_package(folder); }).what(), HasSubstr("'a.tflite' is not there"));
  fs::create_directory(folder / "a.tflite");
  EXPECT_THAT(error_of([&] { read_package(folder); }).what(), HasSubstr("'a.tflite' is not there"));
}

TEST(PackageDir, CarriesOddNamesAndRefusesThoseThatNothingCanHold) {
  const TempDir dir;
  for (const std::string& name :
       {std::string("a b"), std::string("x;'\"$(id)`"), std::string("-rf"), std::string(200, 'n'),
        std::string(255, 'n'), std::string("grün")}) {
    const Package package = read_package(make_package(dir, name)).package;
    EXPECT_EQ(package.name, name);
    const fs::path written = write_package(dir.path() / "out", package,
                                           scheduled_files(package, some_schedule(package)), false);
    EXPECT_EQ(written.filename(), name);
    EXPECT_EQ(read_package(written).package.model_sha256, package.model_sha256);
  }
  for (const char* name : {"line\nbreak", "\xff"}) {
    EXPECT_THAT(error_of([&] { read_package(make_package(dir, name)); }).what(),
                HasSubstr("its name"));
  }
  dir.write("pack/odd\nfile", "");
  EXPECT_THAT(error_of([&] { read_package(make_package(dir, "pack")); }).what(),
              HasSubstr("control character"));
}

TEST(PackageDir, KeepsLinksThatStayAndFollowsThoseThatLeave) {
  const TempDir dir;
  const fs::path folder = make_package(dir, "pack");
  dir.write("store/big.tflite", k_model);
  fs::remove(folder / "a.tflite");
  fs::create_symlink(dir.path() / "store" / "big.tflite", folder / "a.tflite");
  fs::create_symlink("metadata/my.cfg", folder / "inside");
  fs::create_symlink("nowhere", folder / "dangling");
  const Package package = read_package(folder).package;
  EXPECT_EQ(find_entry(package.files, "a.tflite")->kind, FileKind::regular);
  EXPECT_EQ(find_entry(package.files, "inside")->link_target, "metadata/my.cfg");
  EXPECT_EQ(find_entry(package.files, "dangling")->kind, FileKind::link);
  ASSERT_EQ(package.warnings.size(), 1U);
  EXPECT_EQ(package.warnings[0].id, "package_link_followed");
  const fs::path written = write_package(dir.path() / "out", package,
                                         scheduled_files(package, some_schedule(package)), false);
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(written / "a.tflite")));
  EXPECT_EQ(fs::read_symlink(written / "inside"), "metadata/my.cfg");
  fs::create_directory_symlink(dir.path() / "store", folder / "far");
  EXPECT_THAT(error_of([&] { read_package(folder); }).what(),
              HasSubstr("leads out of the package"));
}

TEST(PackageDir, ReadsAModelThroughALinkInThePackage) {
  const TempDir dir;
  const fs::path folder = make_package(dir, "pack");
  fs::rename(folder / "a.tflite", folder / "real");
  fs::create_symlink("real", folder / "a.tflite");
  const Package package = read_package(folder).package;
  EXPECT_EQ(package.model_source, fs::canonical(folder) / "real");
  EXPECT_EQ(package.model_sha256, sha256_hex(k_model));
}

TEST(PackageDir, RefusesAFolderOfOtherThings) {
  const TempDir dir;
  const fs::path folder = make_package(dir, "pack");
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { read_package(folder); }).what(), HasSubstr("neither a file nor"));
  fs::remove(folder / "fifo");
  PackageLimits few;
  few.entries = 3;
  EXPECT_THAT(error_of([&] { read_package(folder, few); }).what(), HasSubstr("more than 3 files"));
  PackageLimits small;
  small.bytes = 50;
  EXPECT_THAT(error_of([&] { read_package(folder, small); }).what(),
              HasSubstr("larger than 50 bytes"));
}

TEST(PackageDir, UnpacksAZipWithThePackageAtItsTopOrInItsOnlyFolder) {
  const TempDir dir;
  for (const std::string& top : {std::string(), std::string("inner/")}) {
    ZipBuilder zip;
    zip.file(top + "metadata/MANIFEST", k_manifest)
        .file(top + "metadata/my.cfg", "A=1\n")
        .file(top + "a.tflite", k_model);
    zip.file(top + "gr\xc3\xbcn", "x", 0755).link(top + "link", "a.tflite");
    fs::path unpacked;
    {
      const OpenedPackage opened = read_package(dir.write("net.zip", zip.bytes()));
      EXPECT_EQ(opened.package.name, "net");
      EXPECT_EQ(opened.package.origin, fs::canonical(dir.path() / "net.zip"));
      EXPECT_EQ(opened.package.model_sha256, sha256_hex(k_model));
      ASSERT_NE(find_entry(opened.package.files, "gr\xc3\xbcn"), nullptr);
      EXPECT_EQ(find_entry(opened.package.files, "gr\xc3\xbcn")->mode, 0755U);
      EXPECT_EQ(find_entry(opened.package.files, "link")->link_target, "a.tflite");
      unpacked = opened.unpacked->path();
    }
    EXPECT_FALSE(fs::exists(unpacked));
  }
}

TEST(PackageDir, HashesAFolderAndItsZipAlike) {
  const TempDir dir;
  const Package package = read_package(make_package(dir, "pack")).package;
  ZipBuilder zip;
  for (const FileEntry& entry : package.files) {
    if (entry.kind == FileKind::regular) zip.file(entry.path, read_text(entry.source), 0755);
  }
  EXPECT_EQ(read_package(dir.write("pack.zip", zip.bytes())).package.sha256, package.sha256);
}

TEST(PackageDir, RefusesAZipThatReachesOutsideItself) {
  const TempDir dir;
  const auto refusal = [&](ZipBuilder zip) {
    zip.file("metadata/MANIFEST", k_manifest).file("a.tflite", k_model);
    return std::string(error_of([&] { read_package(dir.write("x.zip", zip.bytes())); }).what());
  };
  EXPECT_THAT(refusal(ZipBuilder().file("../evil", "x")), HasSubstr("does not lie in it"));
  EXPECT_THAT(refusal(ZipBuilder().file("a/../b", "x")), HasSubstr("does not lie in it"));
  EXPECT_THAT(refusal(ZipBuilder().file("/tmp/evil", "x")), HasSubstr("does not lie in it"));
  EXPECT_THAT(refusal(ZipBuilder().link("out", "../x")), HasSubstr("leads out"));
  EXPECT_THAT(refusal(ZipBuilder().link("out", "/etc")), HasSubstr("leads out"));
  EXPECT_THAT(refusal(ZipBuilder().link("d", "metadata").file("d/x", "x")),
              HasSubstr("cannot unpack"));
  EXPECT_THAT(refusal(ZipBuilder().file("a.tflite", "x")), HasSubstr("twice"));
  EXPECT_THAT(refusal(ZipBuilder().file("f", "x").file("f/g", "x")), HasSubstr("below a file"));
  // Each link looks harmless by its text, and the second one leads through the first to the root of
  // the system.
  EXPECT_THAT(
      refusal(ZipBuilder()
                  .file("t/x", "x")
                  .link("1/2/3/4/5/6/7/8/9/up", "../../../../../../../../../t")
                  .link("leave", "1/2/3/4/5/6/7/8/9/up/../../../../../../../../../../etc/passwd")),
      HasSubstr("'leave': the link leads out of the package"));
}

TEST(PackageDir, RefusesAZipThatIsTooLargeOrDamaged) {
  const TempDir dir;
  ZipBuilder zip;
  zip.file("metadata/MANIFEST", k_manifest).file("a.tflite", std::string(1'000, '\0'));
  const fs::path file = dir.write("x.zip", zip.bytes());
  PackageLimits small;
  small.bytes = 500;
  EXPECT_THAT(error_of([&] { read_package(file, small); }).what(),
              HasSubstr("more than 500 bytes"));
  PackageLimits few;
  few.entries = 1;
  EXPECT_THAT(error_of([&] { read_package(file, few); }).what(), HasSubstr("more than 1 entries"));
  const std::string bytes = zip.bytes();
  for (std::size_t cut = 4; cut < bytes.size(); cut += 7) {
    EXPECT_THROW(read_package(dir.write("y.zip", bytes.substr(0, cut))), Error) << cut;
  }
}

TEST(PackageDir, WritesTheScheduledCopyAndLeavesTheSourceAlone) {
  const TempDir dir;
  const fs::path folder = make_package(dir, "pack");
  const std::string before = fingerprint(folder);
  const Package package = read_package(folder).package;
  const fs::path written = write_package(dir.path() / "out", package,
                                         scheduled_files(package, some_schedule(package)), false);
  EXPECT_EQ(written, fs::canonical(dir.path()) / "out" / "pack");
  EXPECT_EQ(fingerprint(folder), before);
  EXPECT_EQ(read_text(written / "metadata/config.cfg"),
            "FP16_ENABLE=1\nBACKENDS=cpu;ruy\nOP_BACKEND_MAP=3=ruy\n");
  EXPECT_THAT(read_text(written / "metadata/stab.env"),
              HasSubstr("OP_BACKEND_MAP='3=ruy'; export OP_BACKEND_MAP\n"));
  EXPECT_EQ(read_text(written / "metadata/my.cfg"), "FP16_ENABLE=1\nOP_BACKEND_MAP=0=ruy;\n");
  EXPECT_EQ(read_text(written / "a.tflite"), k_model);
  const Package copy = read_package(written).package;
  EXPECT_EQ(copy.manifest.config, "metadata/config.cfg");
}

TEST(PackageDir, SchedulesAScheduledPackageLikeAFreshOne) {
  const TempDir dir;
  const Package fresh = read_package(make_package(dir, "pack")).package;
  const FileList files = scheduled_files(fresh, some_schedule(fresh));
  const Package scheduled =
      read_package(write_package(dir.path() / "out", fresh, files, false)).package;
  EXPECT_EQ(user_keys(scheduled.config), user_keys(fresh.config));
  ScheduleTexts less = some_schedule(fresh);
  less.environment.reset();
  const FileList again = scheduled_files(scheduled, less);
  EXPECT_EQ(find_entry(again, k_environment_path), nullptr);
  EXPECT_EQ(find_entry(again, k_config_path)->sha256, find_entry(files, k_config_path)->sha256);
  EXPECT_EQ(find_entry(again, k_manifest_path)->sha256, find_entry(files, k_manifest_path)->sha256);
}

TEST(PackageDir, GivesTheSameBytesTwice) {
  const TempDir dir;
  const Package package = read_package(make_package(dir, "pack")).package;
  const FileList files = scheduled_files(package, some_schedule(package));
  const std::string first =
      read_package(write_package(dir.path() / "one", package, files, false)).package.sha256;
  EXPECT_EQ(read_package(write_package(dir.path() / "two", package, files, false)).package.sha256,
            first);
  EXPECT_EQ(first, hash_of(files));
}

TEST(PackageDir, NeverWritesIntoOrAroundItsSource) {
  const TempDir dir;
  const fs::path folder = make_package(dir, "out/pack");
  const Package package = read_package(folder).package;
  const FileList files = scheduled_files(package, some_schedule(package));
  const std::string before = fingerprint(folder);
  fs::create_directory_symlink(dir.path() / "out", dir.path() / "link");
  for (const fs::path& output : {dir.path() / "out", dir.path() / "out" / "." / "pack" / "..",
                                 dir.path() / "link", folder, folder / "metadata"}) {
    EXPECT_EQ(error_of([&] { write_package(output, package, files, true); }).kind(),
              ErrorKind::usage)
        << output;
  }
  const Package inner = read_package(make_package(dir, "around/x/x")).package;
  EXPECT_EQ(error_of([&] { check_output(dir.path() / "around", inner, true); }).kind(),
            ErrorKind::usage);
  EXPECT_EQ(fingerprint(folder), before);
}

TEST(PackageDir, ReplacesOnlyTheScheduleOfTheSameModel) {
  const TempDir dir;
  const Package package = read_package(make_package(dir, "pack")).package;
  const FileList files = scheduled_files(package, some_schedule(package));
  const fs::path output = dir.path() / "out";
  dir.write("out/pack/precious", "x");
  const std::string before = fingerprint(output);
  Error error = error_of([&] { write_package(output, package, files, false); });
  EXPECT_EQ(error.kind(), ErrorKind::output);
  EXPECT_THAT(error.what(), HasSubstr("no metadata/stab.json"));
  for (const char* record : {R"({"context": {"model": {"sha256": "other"}}})", "{}", "[1", "",
                             R"({"context": {"model": {"sha256": 1}}})", R"({"context": []})"}) {
    dir.write("out/pack/metadata/stab.json", record);
    EXPECT_THAT(error_of([&] { write_package(output, package, files, false); }).what(),
                HasSubstr("another model"));
  }
  EXPECT_TRUE(fs::exists(output / "pack" / "precious"));
  write_package(output, package, files, true);
  EXPECT_FALSE(fs::exists(output / "pack" / "precious"));
  write_package(output, package, files, false);
  EXPECT_EQ(std::distance(fs::directory_iterator(output), fs::directory_iterator()), 1);
}

TEST(PackageDir, KeepsAnEarlierScheduleWhenItsSourceVanishes) {
  const TempDir dir;
  const fs::path folder = make_package(dir, "pack");
  const Package package = read_package(folder).package;
  const FileList files = scheduled_files(package, some_schedule(package));
  const fs::path written = write_package(dir.path() / "out", package, files, false);
  const std::string before = fingerprint(written);
  fs::remove(folder / "a.tflite");
  EXPECT_THROW(write_package(dir.path() / "out", package, files, false), Error);
  EXPECT_EQ(fingerprint(written), before);
}

TEST(PackageDir, RefusesAnOutputThatIsNoFolder) {
  const TempDir dir;
  const Package package = read_package(make_package(dir, "pack")).package;
  dir.write("out/pack", "a file");
  EXPECT_EQ(error_of([&] { check_output(dir.path() / "out", package, true); }).kind(),
            ErrorKind::output);
  dir.write("file", "x");
  EXPECT_EQ(error_of([&] { check_output(dir.path() / "file", package, false); }).kind(),
            ErrorKind::output);
  fs::remove(dir.path() / "out" / "pack");
  fs::create_directory_symlink(dir.path(), dir.path() / "out" / "pack");
  EXPECT_EQ(error_of([&] { check_output(dir.path() / "out", package, true); }).kind(),
            ErrorKind::output);
}

}  // namespace
}  // namespace stab
