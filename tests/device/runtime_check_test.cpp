// SPDX-License-Identifier: Apache-2.0
#include "stab/device/runtime_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using ::testing::Not;
using ::testing::SizeIs;

/// A flat runtime whose files are written one by one.
class Folder {
 public:
  Folder() {
    add("libonert.so", ElfBuilder("aarch64").needs("libonert_core.so").needs("libc.so.6"));
    add("libonert_core.so", ElfBuilder("aarch64").needs("libc.so.6").literal("BACKENDS"));
    add("libbackend_cpu.so", ElfBuilder("aarch64").needs("libonert_core.so"));
  }
  Folder& add(const std::string& name, const ElfBuilder& library) {
    dir_.write(name, library.bytes());
    return *this;
  }
  Runtime read() const { return read_runtime(dir_.path()); }
  const fs::path& path() const { return dir_.path(); }

 private:
  TempDir dir_;
};

RuntimeTarget board(const std::string& arch = "aarch64") {
  RuntimeTarget target;
  target.machine = *machine_of(arch, std::nullopt);
  target.libc = "glibc 2.31";
  target.libraries.emplace();
  target.looked_in = "/lib, /usr/lib";
  return target;
}

BackendInfo backend(const RuntimeCheck& check, const std::string& name) {
  for (const BackendInfo& info : check.backends) {
    if (info.name == name) return info;
  }
  ADD_FAILURE() << "no " << name;
  return {};
}

Error refusal(const Runtime& runtime, const RuntimeTarget& target) {
  try {
    check_runtime(runtime, target, {"cpu"});
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "accepted";
  return Error(ErrorKind::internal, "", "", "");
}

TEST(RuntimeCheck, ReportsABackendWhoseLibraryIsMissing) {
  const RuntimeCheck check = check_runtime(Folder().read(), board(), {"cpu", "xnnpack"});
  ASSERT_THAT(check.backends, SizeIs(2));
  EXPECT_TRUE(backend(check, "cpu").usable);
  EXPECT_THAT(backend(check, "cpu").sha256, SizeIs(64));
  EXPECT_FALSE(backend(check, "xnnpack").usable);
  EXPECT_THAT(backend(check, "xnnpack").reason, HasSubstr("no libbackend_xnnpack.so"));
  EXPECT_THAT(backend(check, "xnnpack").sha256, IsEmpty());
}

TEST(RuntimeCheck, RefusesARuntimeForAnotherMachine) {
  for (const char* arch : {"x86_64", "armhf"}) {
    const Error error = refusal(Folder().read(), board(arch));
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(), HasSubstr("is built for aarch64"));
    EXPECT_THAT(error.what(), HasSubstr(to_string(*machine_of(arch, std::nullopt))));
  }
}

TEST(RuntimeCheck, TellsSoftFromHardFloat) {
  Folder folder;
  for (const char* name : {"libonert.so", "libonert_core.so", "libbackend_cpu.so"}) {
    folder.add(name, ElfBuilder("arm").flags(0x5000400).literal("BACKENDS"));
  }
  EXPECT_THAT(refusal(folder.read(), board("armel")).what(),
              HasSubstr("(hard float), and the device runs 32-bit ARM (soft"));
  EXPECT_TRUE(backend(check_runtime(folder.read(), board("armhf"), {"cpu"}), "cpu").usable);
}

TEST(RuntimeCheck, RefusesARuntimeThatNeedsANewerCLibrary) {
  Folder folder;
  folder.add(
      "libonert_core.so",
      ElfBuilder("aarch64").version("libc.so.6", "GLIBC_2.17").version("libc.so.6", "GLIBC_2.34"));
  const Error error = refusal(folder.read(), board());
  EXPECT_EQ(error.kind(), ErrorKind::device);
  EXPECT_THAT(error.what(),
              HasSubstr("'libonert_core.so' needs glibc 2.34, and the device has glibc 2.31"));
  RuntimeTarget newer = board();
  newer.libc = "glibc 2.36";
  EXPECT_NO_THROW(check_runtime(folder.read(), newer, {"cpu"}));
  newer.libc = "";
  EXPECT_NO_THROW(check_runtime(folder.read(), newer, {"cpu"}));
  newer.libc = "musl";
  EXPECT_THAT(refusal(folder.read(), newer).what(),
              HasSubstr("needs glibc, and the device has musl"));
}

TEST(RuntimeCheck, RefusesARuntimeThatNeedsANewerStandardLibrary) {
  Folder folder;
  folder.add("libonert.so", ElfBuilder("aarch64").version("libstdc++.so.6", "GLIBCXX_3.4.30"));
  RuntimeTarget target = board();
  target.glibcxx = "3.4.28";
  EXPECT_THAT(refusal(folder.read(), target).what(), HasSubstr("GLIBCXX_3.4.30"));
  folder.add("libstdc++.so.6", ElfBuilder("aarch64"));
  EXPECT_NO_THROW(check_runtime(folder.read(), target, {"cpu"}));
}

TEST(RuntimeCheck, BlamesOnlyTheBackendThatNeedsANewerCLibrary) {
  Folder folder;
  folder.add("libbackend_ruy.so", ElfBuilder("aarch64").version("libc.so.6", "GLIBC_2.38"));
  const RuntimeCheck check = check_runtime(folder.read(), board(), {"cpu"});
  EXPECT_TRUE(backend(check, "cpu").usable);
  EXPECT_THAT(backend(check, "ruy").reason, HasSubstr("needs glibc 2.38"));
}

TEST(RuntimeCheck, NamesADependencyForAnotherMachine) {
  Folder folder;
  folder.add("libbackend_acl_neon.so", ElfBuilder("aarch64").needs("libarm_compute.so"));
  folder.add("libarm_compute.so", ElfBuilder("arm").flags(0x5000400));
  RuntimeTarget target = board();
  EXPECT_EQ(backend(check_runtime(folder.read(), target, {}), "acl_neon").reason,
            "'libbackend_acl_neon.so' (aarch64) needs 'libarm_compute.so', and 'libarm_compute.so' "
            "is built for "
            "32-bit ARM (hard float)");
  EXPECT_THAT(outside_libraries(folder.read()), ElementsAre("libarm_compute.so"));
  target.libraries->insert("libarm_compute.so");
  EXPECT_TRUE(backend(check_runtime(folder.read(), target, {}), "acl_neon").usable);
}

TEST(RuntimeCheck, FollowsDependenciesOfDependenciesAndCircles) {
  Folder folder;
  folder.add("libbackend_acl_cl.so", ElfBuilder("aarch64").needs("liba.so"));
  folder.add("liba.so", ElfBuilder("aarch64").needs("libb.so"));
  folder.add("libb.so", ElfBuilder("aarch64").needs("liba.so").needs("libOpenCL.so"));
  EXPECT_THAT(outside_libraries(folder.read()), ElementsAre("libOpenCL.so"));
  RuntimeTarget target = board();
  EXPECT_THAT(backend(check_runtime(folder.read(), target, {}), "acl_cl").reason,
              HasSubstr("'libb.so' needs 'libOpenCL.so', which is neither in the runtime's folder "
                        "nor on the device "
                        "(looked in /lib, /usr/lib)"));
  target.libraries->insert("libOpenCL.so");
  EXPECT_TRUE(backend(check_runtime(folder.read(), target, {}), "acl_cl").usable);
}

TEST(RuntimeCheck, RefusesARuntimeThatLacksALibraryAndSaysWhereItLooked) {
  Folder folder;
  folder.add("libonert_core.so",
             ElfBuilder("aarch64").needs("libhdf5_cpp.so.103").needs("libpthread.so.0"));
  const Error error = refusal(folder.read(), board());
  EXPECT_EQ(error.kind(), ErrorKind::device);
  EXPECT_THAT(error.what(), HasSubstr("'libonert_core.so' needs 'libhdf5_cpp.so.103'"));
  EXPECT_THAT(error.what(), HasSubstr("looked in /lib, /usr/lib"));
}

TEST(RuntimeCheck, SaysWhatItCouldNotCheck) {
  Folder folder;
  folder.add("libbackend_ruy.so", ElfBuilder("aarch64").needs("libextra.so"));
  RuntimeTarget target = board();
  target.libraries.reset();
  const RuntimeCheck check = check_runtime(folder.read(), target, {});
  EXPECT_TRUE(backend(check, "ruy").usable);
  ASSERT_THAT(check.warnings, SizeIs(1));
  EXPECT_THAT(check.warnings[0].text, HasSubstr("libextra.so"));
}

TEST(RuntimeCheck, ReportsABackendThatIsNoLibrary) {
  Folder folder;
  folder.add("libbackend_ruy.so", ElfBuilder("aarch64"));
  fs::resize_file(folder.path() / "libbackend_ruy.so", 10);
  EXPECT_THAT(backend(check_runtime(folder.read(), board(), {}), "ruy").reason,
              HasSubstr("no ELF file"));
}

TEST(RuntimeCheck, FindsThatARealBackendsDependenciesAreForAnotherMachine) {
  const Runtime runtime = read_runtime(test::require_runtime("onert-1.26-aarch64"));
  RuntimeTarget target = board();
  target.libraries = {"libstdc++.so.6", "libgcc_s.so.1", "libhdf5_serial.so.103",
                      "libhdf5_cpp.so.103"};
  const RuntimeCheck check = check_runtime(runtime, target, {"cpu", "gpu_cl"});
  for (const char* name : {"acl_neon", "acl_cl"}) {
    const BackendInfo info = backend(check, name);
    EXPECT_FALSE(info.usable);
    EXPECT_EQ(
        info.reason,
        std::string("'libbackend_") + name +
            ".so' (aarch64) needs 'libarm_compute.so', and 'libarm_compute.so' is built for 32-bit "
            "ARM (hard float)");
  }
  for (const char* name : {"cpu", "ruy", "xnnpack", "train"})
    EXPECT_TRUE(backend(check, name).usable) << name;
  EXPECT_FALSE(backend(check, "gpu_cl").usable);
  target.libraries->erase("libhdf5_cpp.so.103");
  EXPECT_THAT(refusal(runtime, target).what(), HasSubstr("needs 'libhdf5_cpp.so.103'"));
}

TEST(RuntimeCheck, AcceptsEveryBackendOfARealArmRuntime) {
  const Runtime runtime = read_runtime(test::require_runtime("onert-1.26-armv7l"));
  RuntimeTarget target = board("armhf");
  target.libraries = {"libstdc++.so.6", "libgcc_s.so.1", "libhdf5_serial.so.103",
                      "libhdf5_cpp.so.103"};
  const RuntimeCheck check = check_runtime(runtime, target, {});
  EXPECT_THAT(check.backends, SizeIs(7));
  for (const BackendInfo& info : check.backends)
    EXPECT_TRUE(info.usable) << info.name << ": " << info.reason;
  EXPECT_THAT(refusal(runtime, board("armel")).what(), HasSubstr("soft float"));
  EXPECT_THAT(refusal(runtime, board("aarch64")).what(), HasSubstr("the device runs aarch64"));
}

TEST(RuntimeCheck, FindsWhatThisMachineHas) {
  const Runtime runtime = read_runtime(test::require_runtime("onert-1.30-x86_64"));
  if (test::host_arch() != "x86_64") test::skip_or_fail("this machine is no x86_64");
  const std::vector<std::string> folders = local_library_folders();
  EXPECT_THAT(folders, Contains("/usr/lib"));
  RuntimeTarget target;
  target.machine = runtime.machine;
  target.libraries = find_local_libraries(runtime, folders);
  target.glibcxx = local_glibcxx(runtime.machine, folders);
  ASSERT_TRUE(target.glibcxx.has_value());
  EXPECT_GE(compare_versions(*target.glibcxx, "3.4.20"), 0);
  EXPECT_THAT(*target.libraries, Contains("libstdc++.so.6"));
  const RuntimeCheck check = check_runtime(runtime, target, {"cpu", "ruy", "xnnpack"});
  EXPECT_TRUE(backend(check, "cpu").usable);
  EXPECT_FALSE(backend(check, "xnnpack").usable);
  EXPECT_THAT(find_local_libraries(read_runtime(test::require_runtime("onert-1.26-armv7l")),
                                   {"/usr/lib/x86_64-linux-gnu"}),
              Not(Contains("libstdc++.so.6")));
}

TEST(RuntimeCheck, FillsTheContextOfTheDocuments) {
  const Runtime runtime = Folder().read();
  const RuntimeInfo info = runtime_info(runtime, check_runtime(runtime, board(), {"ruy"}), true);
  EXPECT_EQ(info.sha256, runtime.sha256);
  EXPECT_THAT(info.keys, ElementsAre("BACKENDS"));
  EXPECT_THAT(info.backends, SizeIs(2));
  EXPECT_EQ(info.version, std::nullopt);
}

}  // namespace
}  // namespace stab
