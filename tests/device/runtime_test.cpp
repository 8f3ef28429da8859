// SPDX-License-Identifier: Apache-2.0
#include "stab/device/runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/elf_builder.h"
#include "support/real_world.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::ElfBuilder;
using test::TempDir;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;

ElfBuilder library(const std::string& machine = "aarch64") {
  return ElfBuilder(machine).needs("libc.so.6");
}

std::string core(const std::string& machine = "aarch64") {
  return library(machine)
      .literal("BACKENDS")
      .literal("TRACING_MODE")
      .literal("NUM_THREADS")
      .bytes();
}

/// The `out` folder of a build of the newest layout, with tests and headers beside the runtime.
fs::path make_out(const TempDir& dir, const std::string& name) {
  dir.write(name + "/lib/libonert.so", library().needs("libonert_core.so").bytes());
  dir.write(name + "/lib/nnfw/libonert_core.so", core());
  dir.write(name + "/lib/nnfw/backend/libbackend_cpu.so", library().bytes());
  dir.write(name + "/lib/nnfw/backend/libbackend_ruy.so", library().bytes());
  dir.write(name + "/bin/onert_run", library().interpreter("/lib/ld-linux-aarch64.so.1").bytes());
  dir.write(name + "/bin/tflite_run", "tool");
  dir.write(name + "/include/nnfw/nnfw.h", "header");
  dir.write(name + "/unittest/test_onert", "test");
  dir.write(name + "/test-suite.tar.gz", "large");
  return dir.path() / name;
}

std::vector<std::string> paths_of(const Runtime& runtime) {
  std::vector<std::string> paths;
  for (const FileEntry& entry : runtime.files) {
    if (entry.kind != FileKind::folder) paths.push_back(entry.path);
  }
  return paths;
}

std::string refusal(const fs::path& folder) {
  try {
    read_runtime(folder);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << folder;
  return {};
}

TEST(Runtime, ReadsTheOutFolderOfABuildAndSendsOnlyWhatIsNeeded) {
  const TempDir dir;
  const Runtime runtime = read_runtime(make_out(dir, "aarch64-linux.release/out"));
  EXPECT_EQ(runtime.api_library, "lib/libonert.so");
  EXPECT_EQ(runtime.core_library, "lib/nnfw/libonert_core.so");
  EXPECT_EQ(runtime.runner, "bin/onert_run");
  EXPECT_EQ(to_string(runtime.machine), "aarch64");
  EXPECT_THAT(runtime.library_folders, ElementsAre("lib", "lib/nnfw", "lib/nnfw/backend"));
  EXPECT_THAT(runtime.backends, ElementsAre(Key("cpu"), Key("ruy")));
  EXPECT_THAT(runtime.keys, ElementsAre("BACKENDS", "NUM_THREADS", "TRACING_MODE"));
  EXPECT_TRUE(knows_key(runtime, "NUM_THREADS"));
  EXPECT_FALSE(knows_key(runtime, "RUY_THREADS"));
  EXPECT_FALSE(runtime.debug_build);
  EXPECT_THAT(runtime.warnings, IsEmpty());
  EXPECT_THAT(paths_of(runtime),
              ElementsAre("bin/onert_run", "lib/libonert.so", "lib/nnfw/backend/libbackend_cpu.so",
                          "lib/nnfw/backend/libbackend_ruy.so", "lib/nnfw/libonert_core.so"));
}

TEST(Runtime, TakesTheFolderAboveOutForOut) {
  const TempDir dir;
  make_out(dir, "aarch64-linux.release/out");
  const Runtime runtime = read_runtime(dir.path() / "aarch64-linux.release");
  EXPECT_EQ(runtime.folder, fs::canonical(dir.path()) / "aarch64-linux.release/out");
  EXPECT_EQ(runtime.runner, "bin/onert_run");
}

TEST(Runtime, ReadsAFlatFolderOfLibrariesWithoutARunner) {
  const TempDir dir;
  dir.write("rt/libnnfw-dev.so", library("arm").flags(0x5000400).bytes());
  dir.write("rt/libonert_core.so", core("arm"));
  dir.write("rt/libbackend_cpu.so", library("arm").bytes());
  dir.write("rt/libonert_core.a", "archive");
  dir.write("rt/include/nnfw.h", "header");
  const Runtime runtime = read_runtime(dir.path() / "rt");
  EXPECT_EQ(runtime.api_library, "libnnfw-dev.so");
  EXPECT_EQ(runtime.runner, std::nullopt);
  EXPECT_THAT(runtime.library_folders, ElementsAre("."));
  EXPECT_THAT(paths_of(runtime),
              ElementsAre("libbackend_cpu.so", "libnnfw-dev.so", "libonert_core.so"));
  EXPECT_EQ(to_string(runtime.machine), "32-bit ARM (hard float)");
}

TEST(Runtime, KeepsLinksAndFollowsThoseThatLeave) {
  const TempDir dir;
  const fs::path out = make_out(dir, "out");
  fs::rename(out / "lib/libonert.so", out / "lib/libonert.so.1");
  fs::create_symlink("libonert.so.1", out / "lib/libonert.so");
  const fs::path elsewhere = dir.write("elsewhere/libextra.so", library().bytes());
  fs::create_symlink(elsewhere, out / "lib/libextra.so");
  fs::create_symlink("nowhere", out / "lib/dangling.so");
  const Runtime runtime = read_runtime(out);
  EXPECT_EQ(find_entry(runtime.files, "lib/libonert.so")->link_target, "libonert.so.1");
  EXPECT_EQ(find_entry(runtime.files, "lib/libextra.so")->kind, FileKind::regular);
  EXPECT_EQ(find_entry(runtime.files, "lib/dangling.so"), nullptr);
  EXPECT_EQ(runtime.api_library, "lib/libonert.so");
}

TEST(Runtime, WarnsOfADebugBuildByItsFolderOrItsContent) {
  const TempDir dir;
  const Runtime named = read_runtime(make_out(dir, "Product/aarch64-linux.debug/out"));
  EXPECT_TRUE(named.debug_build);
  ASSERT_EQ(named.warnings.size(), 1U);
  EXPECT_EQ(named.warnings[0].id, "runtime_debug_build");
  const fs::path out = make_out(dir, "out");
  dir.write("out/lib/nnfw/libonert_core.so",
            library().literal("BACKENDS").section(".debug_info").bytes());
  EXPECT_TRUE(read_runtime(out).debug_build);
}

TEST(Runtime, ChangesItsHashWithItsContentOnly) {
  const TempDir dir;
  const fs::path out = make_out(dir, "one");
  const std::string hash = read_runtime(out).sha256;
  EXPECT_EQ(read_runtime(make_out(dir, "two")).sha256, hash);
  dir.write("two/unittest/another", "test");
  EXPECT_EQ(read_runtime(dir.path() / "two").sha256, hash);
  dir.write("two/lib/nnfw/backend/libbackend_ruy.so", library().literal("new").bytes());
  EXPECT_NE(read_runtime(dir.path() / "two").sha256, hash);
}

TEST(Runtime, SaysWhyAFolderIsNoRuntime) {
  const TempDir dir;
  EXPECT_THAT(refusal(dir.path() / "none"), HasSubstr("No such file"));
  EXPECT_THAT(refusal(dir.write("file", "x")), HasSubstr("not a folder"));
  EXPECT_THAT(refusal(dir.path()), HasSubstr("no libonert_core.so"));
  const fs::path out = make_out(dir, "product/out");
  fs::remove(out / "lib/libonert.so");
  EXPECT_THAT(refusal(out), HasSubstr("no libonert.so or libnnfw-dev.so"));
  dir.write("product/out/lib/libonert.so", "no library");
  EXPECT_THAT(refusal(out), HasSubstr("'lib/libonert.so': it is no ELF file"));
}

TEST(Runtime, RefusesWhatIsTooLargeForOneWithoutReadingIt) {
  const TempDir dir;
  const fs::path out = make_out(dir, "out");
  fs::resize_file(dir.write("out/lib/image", ""), std::uintmax_t{5} << 30U);  // holds no block
  EXPECT_THAT(refusal(out), HasSubstr("more than 4 GiB"));
}

TEST(Runtime, TakesALibraryThatIsNoneForWhatItIs) {
  const TempDir dir;
  const fs::path out = make_out(dir, "out");
  dir.write("out/lib/nnfw/backend/libbackend_ruy.so", "");
  const Runtime runtime = read_runtime(out);
  EXPECT_THAT(runtime.backends, Contains(Key("ruy")));
  EXPECT_THAT(runtime.unreadable, ElementsAre(Key("lib/nnfw/backend/libbackend_ruy.so")));
}

TEST(Runtime, IsLookedForUpwardsUnlessItIsGiven) {
  const TempDir dir;
  dir.write("one/Product/aarch64-linux.release/out/lib/x", "");
  dir.write("one/Product/out/lib/x", "");
  dir.write("one/models/deep/x", "");
  RuntimeSearch search;
  search.start = dir.path() / "one/models/deep";
  search.device_arch = "aarch64";
  EXPECT_EQ(locate_runtime(search), dir.path() / "one/Product/aarch64-linux.release/out");
  search.device_arch = "x86_64";
  EXPECT_EQ(locate_runtime(search), dir.path() / "one/Product/out");
  search.environment = "/from/environment";
  EXPECT_EQ(locate_runtime(search), "/from/environment");
  search.given = "/given";
  EXPECT_EQ(locate_runtime(search), "/given");
  RuntimeSearch nowhere;
  nowhere.start = "/proc/self";
  nowhere.device_arch = "armv7l";
  try {
    locate_runtime(nowhere);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Product/armv7l-linux.release/out"));
    EXPECT_THAT(error.what(), HasSubstr("--runtime"));
  }
}

TEST(Runtime, TellsTwoRealGenerationsApart) {
  const Runtime newer = read_runtime(test::require_runtime("onert-1.30-x86_64"));
  EXPECT_EQ(newer.api_library, "libonert.so");
  EXPECT_EQ(newer.core_library, "nnfw/libonert_core.so");
  EXPECT_THAT(newer.library_folders, ElementsAre(".", "nnfw", "nnfw/backend"));
  EXPECT_THAT(newer.backends, ElementsAre(Key("cpu"), Key("ruy"), Key("train")));
  EXPECT_TRUE(knows_key(newer, "TRACING_MODE") && knows_key(newer, "NUM_THREADS") &&
              knows_key(newer, "WORKSPACE_DIR"));
  EXPECT_FALSE(knows_key(newer, "TRACE_FILEPATH") || knows_key(newer, "RUY_THREADS"));
  const Runtime older = read_runtime(test::require_runtime("onert-1.26-x86_64"));
  EXPECT_EQ(older.api_library, "libnnfw-dev.so");
  EXPECT_TRUE(knows_key(older, "TRACE_FILEPATH") && knows_key(older, "RUY_THREADS") &&
              knows_key(older, "XNNPACK_THREADS"));
  EXPECT_FALSE(knows_key(older, "TRACING_MODE") || knows_key(older, "NUM_THREADS"));
  for (const Runtime& runtime : {newer, older}) {
    EXPECT_EQ(runtime.runner, std::nullopt);
    EXPECT_FALSE(runtime.debug_build);
    EXPECT_THAT(runtime.unreadable, IsEmpty());
    EXPECT_TRUE(knows_key(runtime, "BACKENDS") && knows_key(runtime, "OP_BACKEND_MAP"));
  }
}

}  // namespace
}  // namespace stab
