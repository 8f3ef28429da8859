// SPDX-License-Identifier: Apache-2.0
#include "stab/device/upload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "stab/core/error.h"
#include "stab/core/file_list.h"
#include "support/devices.h"
#include "support/folder_tree.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// All names below a folder with mode, content or link target: what `diff -r` would look at.
std::map<std::string, std::string> content_of(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    std::string text;
    if (entry.is_symlink()) {
      text = "link " + fs::read_symlink(entry).string();
    } else if (entry.is_regular_file()) {
      const bool executable =
          (entry.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
      text = (executable ? "exec " : "file ") + test::read_text(entry);
    } else {
      continue;
    }
    all[entry.path().lexically_relative(folder).string()] = text;
  }
  return all;
}

// Bytes that no compression makes fewer.
std::string noise(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint64_t state = 88172645463325252ULL;
  for (char& byte : bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<char>(state);
  }
  return bytes;
}

// Passes everything on, counts commands, and can cut what goes over.
class Watched : public Transport {
 public:
  explicit Watched(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}

  Exit run(const Command& command) override {
    ++commands;
    if (command.input && slow) return run_slowly(command);
    if (!command.input || cut_after == 0) return inner_->run(command);
    Command cut = command;
    std::uint64_t left = cut_after;
    cut.input = [&, left](std::span<char> into) mutable -> std::size_t {
      if (left == 0) {
        if (silently) return 0;
        throw Error(ErrorKind::device, "the connection broke", {}, "pulled plug");
      }
      const std::size_t count =
          command.input(into.first(std::min<std::uint64_t>(into.size(), left)));
      left -= count;
      return count;
    };
    return inner_->run(cut);
  }
  std::unique_ptr<Process> start(const Command& command) override { return inner_->start(command); }
  LinkInfo link() const override {
    LinkInfo link = inner_->link();
    link.local = link.local && local;
    link.address = "pi@board";
    return link;
  }

  void prefer_aes() override { told_of_aes = true; }

  int commands = 0;
  bool told_of_aes = false;
  std::uint64_t cut_after = 0;
  bool silently = false;
  bool slow = false;  ///< takes 5 MB in a second at most
  bool local = true;  ///< false: goes the way of a device elsewhere, packed where that pays

 private:
  Exit run_slowly(Command command) {
    command.input = [input = command.input](std::span<char> into) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return input(into.first(std::min<std::size_t>(into.size(), 10'000)));
    };
    return inner_->run(command);
  }

  std::unique_ptr<Transport> inner_;
};

class Upload : public testing::TestWithParam<test::DeviceKind> {
 protected:
  void SetUp() override {
    device_.emplace(GetParam());
    transport_ = std::make_unique<Watched>(device_->connect());
    work_ = (dir_.path() / "ONE").string();
    make_source();
  }

  // A small runtime: libraries, a link beside one, a runner, odd names, an empty file.
  void make_source() {
    dir_.write("rt/lib/libonert.so.1", noise(300'000) + "end");
    dir_.write("rt/lib/nnfw/backend/libbackend_cpu.so", "cpu backend");
    dir_.write("rt/bin/onert_run", "#!/bin/sh\necho run\n");
    fs::permissions(dir_.path() / "rt/bin/onert_run", fs::perms(0755));
    dir_.write("rt/share/odd name; $(reboot) 'q' \"d\" -- * \xc3\xa4", "odd");
    dir_.write("rt/share/ spaces ", "spaces");
    dir_.write("rt/share/empty", "");
    fs::create_symlink("libonert.so.1", dir_.path() / "rt/lib/libonert.so");
    fs::create_symlink("../lib", dir_.path() / "rt/bin/lib");
  }

  FileTree source() const { return test::tree_of_folder("rt", dir_.path() / "rt"); }

  // A new connection, as on the next day.
  Uploader connect(UploadOptions options = {}) {
    return Uploader(*transport_, open_work_folder(*transport_, work_), std::move(options));
  }

  fs::path put(const FileTree& tree) {
    Uploader uploader = connect();
    const std::string path = uploader.put({tree}).at(0);
    last_ = uploader.summary();
    return path;
  }

  void expect_identical(const fs::path& there) {
    const auto files = content_of(there);
    const auto wanted = content_of(dir_.path() / "rt");
    std::vector<std::string> different;
    for (const auto& [path, content] : files) {
      const auto same = wanted.find(path);
      if (same == wanted.end() || same->second != content) different.push_back(path);
    }
    for (const auto& [path, content] : wanted) {
      if (!files.contains(path)) different.push_back(path);
    }
    EXPECT_THAT(different, testing::IsEmpty());
  }
  bool hashes() const { return GetParam().complete(); }

  test::TempDir dir_;
  std::optional<test::TestDevice> device_;
  std::unique_ptr<Watched> transport_;
  std::string work_;
  UploadSummary last_;
};

TEST_P(Upload, BringsATreeOverWithModesAndLinks) {
  const fs::path there = put(source());
  expect_identical(there);
  EXPECT_EQ(last_.files_sent, 6);
  struct stat status{};
  ASSERT_EQ(stat(work_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700);
  EXPECT_FALSE(fs::exists(work_ + "/up"));
}

TEST_P(Upload, TellsTheConnectionThatTheProcessorComputesAes) {
  std::string cpus = test::read_text("/proc/cpuinfo");
  std::replace(cpus.begin(), cpus.end(), '\n', ' ');
  connect();
  EXPECT_EQ(transport_->told_of_aes, cpus.find(" aes ") != std::string::npos);
}

TEST_P(Upload, SaysWhichFileHasChangedSinceItWasRead) {
  for (const char* now : {"model as it iss", "short", "longer than it was before"}) {
    FileEntry model = text_entry("model", "model as it was");
    model.text.reset();
    model.source = dir_.write("model", now).string();
    Uploader uploader = connect();
    try {
      uploader.put({FileTree::of_list("pkg", {model})});
      ADD_FAILURE() << "'" << now << "' counts as unchanged";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
      EXPECT_THAT(error.what(), testing::HasSubstr(model.source));
      EXPECT_THAT(error.what(), testing::HasSubstr("changed since"));
    }
  }
}

TEST_P(Upload, SendsNothingTheSecondTime) {
  put(source());
  Uploader next = connect();
  transport_->commands = 0;
  EXPECT_THAT(next.put({source()}), SizeIs(1));
  EXPECT_EQ(transport_->commands, 0);
  EXPECT_EQ(next.summary().stream_bytes, 0);
}

TEST_P(Upload, RepairsAFileThatWasChangedThere) {
  const fs::path there = put(source());
  dir_.write("ONE/" + there.filename().string() + "/lib/nnfw/backend/libbackend_cpu.so", "short");
  dir_.write("ONE/" + there.filename().string() + "/lib/nnfw/backend/libbackend_evil.so", "extra");
  fs::create_symlink("x", there / "lib/extra_link");
  EXPECT_EQ(put(source()), there);
  if (hashes()) {
    EXPECT_EQ(last_.files_sent, 1);
  }
  expect_identical(there);
}

TEST_P(Upload, LinksALostFileToOneThatIsStillThere) {
  dir_.write("rt/lib/libonert.so.2", noise(300'000) + "end");
  const fs::path there = put(source());
  fs::remove(there / "lib/libonert.so.2");
  put(source());
  expect_identical(there);
  if (hashes()) {
    EXPECT_EQ(last_.files_sent, 0);
    EXPECT_EQ(last_.files_linked, 1);
  }
}

TEST_P(Upload, RestoresALostExecuteBit) {
  const fs::path there = put(source());
  fs::permissions(there / "bin/onert_run", fs::perms(0644));
  put(source());
  expect_identical(there);
}

TEST_P(Upload, FindsAChangeThatKeptSizeAndTimeOnlyWhenItHashesAll) {
  const fs::path there = put(source());
  const fs::path file = there / "lib/nnfw/backend/libbackend_cpu.so";
  const auto time = fs::last_write_time(file);
  std::ofstream(file) << "CPU backend";
  fs::last_write_time(file, time);
  EXPECT_EQ(connect().folder().trees.at(there.filename()), TreeState::same);
  Uploader careful = connect({.rehash = true});
  careful.put({source()});
  EXPECT_EQ(careful.summary().files_sent,
            hashes() ? 1 : 6);  // without a hash tool all are in doubt
  expect_identical(there);
}

TEST_P(Upload, GoesOnWithWhatIsWholeAfterACut) {
  dir_.write("rt/z/last", noise(9'000'000));
  transport_->cut_after = 4'000'000;
  EXPECT_THROW(put(source()), Error);
  EXPECT_THAT(connect().folder().trees,
              Contains(testing::Pair(source().name(), TreeState::partial)));
  transport_->cut_after = 0;
  const fs::path there = put(source());
  expect_identical(there);
  if (hashes()) {
    EXPECT_LT(last_.files_sent, 7);
  }
}

TEST_P(Upload, NeverTakesATruncatedStreamForAWholeOne) {
  Uploader whole = connect();
  whole.put({source()});
  const std::uint64_t size = whole.summary().stream_bytes;
  transport_->silently = true;
  for (std::uint64_t cut = 2; cut < size; cut += size / 15) {
    transport_->cut_after = cut;
    clean_work_folder(*transport_, work_);
    try {
      const fs::path there = put(source());
      EXPECT_GT(cut, size / 2);  // only the padding at the archive's end was lost
      expect_identical(there);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::device);
      EXPECT_THAT(connect().folder().trees,
                  testing::Not(Contains(testing::Pair(source().name(), TreeState::same))));
    }
  }
  transport_->cut_after = 0;
  expect_identical(put(source()));
}

TEST_P(Upload, PacksTheRestWhenANearLinkProvesSlow) {
  for (int i = 0; i < 40; ++i)
    dir_.write("rt/lib/many/" + std::to_string(i),
               noise(10'000) + std::string(140'000, 'x') + std::to_string(i));
  dir_.write("rt/share/one", noise(10'000) + std::string(3'000'000, 'y'));
  transport_->local = false;
  transport_->slow = true;
  Uploader uploader = connect();
  const int before = transport_->commands;
  expect_identical(uploader.put({source()}).at(0));
  const bool restarted = transport_->commands - before > 1;
  EXPECT_EQ(restarted, uploader.folder().can_unpack_gzip);
  EXPECT_EQ(uploader.summary().compressed, restarted);
  EXPECT_EQ(uploader.summary().stream_bytes < uploader.summary().content_bytes, restarted);
  expect_identical(put(source()));
  EXPECT_EQ(last_.files_sent, 0);
}

TEST_P(Upload, ChecksEveryTreeWhenANearLinkProvesSlow) {
  FileTree first("pkg");
  first.add_bytes("model.tflite", noise(1'000'000));
  FileTree second("rt");
  second.add_bytes("libonert.so", "2" + noise(6'020'000));
  transport_->local = false;
  transport_->slow = true;
  Uploader uploader = connect();
  const int before = transport_->commands;
  const std::vector<std::string> there = uploader.put({first, second});
  EXPECT_EQ(transport_->commands - before > 1, uploader.folder().can_unpack_gzip);
  EXPECT_TRUE(test::read_text(there[0] + "/model.tflite") == noise(1'000'000));
  EXPECT_TRUE(test::read_text(there[1] + "/libonert.so") == "2" + noise(6'020'000));
  for (const FileTree* tree : {&first, &second}) {
    const std::string manifest = work_ + "/manifest/" + tree->name();
    EXPECT_NE(test::read_text(manifest + ".sums").find(tree->files().front().sha256),
              std::string::npos);
    EXPECT_EQ(connect().folder().trees.at(tree->name()), TreeState::same);
  }
}

TEST_P(Upload, LinksAFileThatAnotherTreeHas) {
  put(source());
  dir_.write("rt/lib/nnfw/backend/libbackend_cpu.so", "cpu backend, rebuilt");
  const fs::path there = put(source());
  expect_identical(there);
  EXPECT_EQ(last_.files_sent, 2);  // the rebuilt one, and the empty one, which is not worth a link
  EXPECT_EQ(last_.files_linked, 4);
}

TEST_P(Upload, SendsAModelOnceForAllCandidates) {
  std::vector<FileTree> candidates;
  for (const char* config : {"a", "b", "c"}) {
    FileTree tree("pkg");
    tree.add_file("model.tflite", dir_.write("model", std::string(100'000, 'm')), false);
    tree.add_bytes("metadata/config.cfg", config);
    candidates.push_back(std::move(tree));
  }
  Uploader uploader = connect();
  const std::vector<std::string> both = uploader.put({candidates[0], candidates[1]});
  const std::vector<std::string> last = uploader.put({candidates[2]});
  EXPECT_EQ(uploader.summary().content_bytes, 100'003);
  for (const std::string& path : {both[0], both[1], last[0]})
    EXPECT_EQ(test::read_text(path + "/model.tflite").size(), 100'000);
  EXPECT_EQ(test::read_text(last[0] + "/metadata/config.cfg"), "c");
  EXPECT_EQ(uploader.put({candidates[1]}).at(0), both[1]);
}

using LargeUpload = Upload;

TEST_P(LargeUpload, BringsTwoThousandSmallFilesOver) {
  fs::remove_all(dir_.path() / "rt");
  for (int i = 0; i < 2000; ++i) {
    dir_.write("rt/d" + std::to_string(i % 20) + "/f" + std::to_string(i),
               "content " + std::to_string(i));
  }
  const fs::path there = put(source());
  expect_identical(there);
  Uploader next = connect();
  next.put({source()});
  EXPECT_EQ(next.summary().files_sent, 0);
}

TEST_P(Upload, ReportsProgressUpToTheEnd) {
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  Uploader uploader = connect({.progress = [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_GE(done, last);
    last = done;
    total = all;
  }});
  uploader.put({source()});
  EXPECT_EQ(last, total);
  EXPECT_GT(total, 300'000);
}

TEST_P(Upload, SaysThatOnlySizesAreComparedWithoutAHashTool) {
  EXPECT_EQ(connect().warnings().empty(), hashes());
}

TEST_P(Upload, KeepsTheTwoNewestOfEachKindAndWhatIsInUse) {
  std::vector<std::string> names;
  for (int i = 0; i < 4; ++i) {
    FileTree tree("pkg");
    tree.add_bytes("f", std::to_string(i));
    names.push_back(put(tree).filename());
    const fs::file_time_type old = fs::file_time_type::clock::now() - std::chrono::hours(10 - i);
    fs::last_write_time(fs::path(work_) / names.back(), old);
  }
  dir_.write("ONE/mine.txt", "keep");
  dir_.write("ONE/pkg-mine/keep", "keep");
  dir_.write("ONE/run/r1/trace.json", "{}");
  tidy_work_folder(*transport_, work_, {names[0]});
  EXPECT_TRUE(fs::exists(work_ + "/" + names[0]));
  EXPECT_FALSE(fs::exists(work_ + "/" + names[1]));
  EXPECT_FALSE(fs::exists(work_ + "/" + names[2]));
  EXPECT_FALSE(fs::exists(work_ + "/manifest/" + names[2] + ".list"));
  EXPECT_TRUE(fs::exists(work_ + "/" + names[3]));
  EXPECT_TRUE(fs::exists(work_ + "/mine.txt"));
  EXPECT_TRUE(fs::exists(work_ + "/pkg-mine/keep"));
  EXPECT_FALSE(fs::exists(work_ + "/run"));
}

TEST_P(Upload, CleansWhatItMadeAndNoMore) {
  put(source());
  dir_.write("ONE/mine.txt", "keep");
  Cleaned cleaned = clean_work_folder(*transport_, work_);
  EXPECT_THAT(cleaned.removed, Contains(source().name()));
  EXPECT_THAT(cleaned.left, ElementsAre("mine.txt"));
  EXPECT_THAT(content_of(work_), SizeIs(1));
  fs::remove(work_ + "/mine.txt");
  fs::remove_all(work_);
  put(source());
  cleaned = clean_work_folder(*transport_, work_);
  EXPECT_THAT(cleaned.left, IsEmpty());
  EXPECT_FALSE(fs::exists(work_));
  EXPECT_THAT(clean_work_folder(*transport_, work_).removed, IsEmpty());
}

TEST_P(Upload, WorksInASubfolderOfAFolderFullOfOtherThings) {
  dir_.write("ONE/Documents/thesis.txt", "keep");
  fs::permissions(work_, fs::perms(0755));
  const fs::path there = put(source());
  EXPECT_EQ(there.parent_path(), work_ + "/.stab");
  expect_identical(there);
  EXPECT_EQ(fs::status(work_).permissions(), fs::perms(0755));
  EXPECT_EQ(fs::status(work_ + "/.stab").permissions(), fs::perms(0700));
  clean_work_folder(*transport_, work_);
  EXPECT_THAT(content_of(work_), SizeIs(1));
}

TEST_P(Upload, RefusesALinkAFileAndAForeignFolder) {
  const auto message = [&](const std::string& path) -> std::string {
    try {
      open_work_folder(*transport_, path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::device);
      return error.what();
    }
    return "";
  };
  fs::create_directories(dir_.path() / "elsewhere");
  fs::create_directory_symlink(dir_.path() / "elsewhere", dir_.path() / "link");
  EXPECT_THAT(message((dir_.path() / "link").string()), HasSubstr("symbolic link"));
  EXPECT_THAT(message((dir_.path() / "link").string() + "/"), HasSubstr("symbolic link"));
  fs::create_symlink("nowhere", dir_.path() / "dangling");
  EXPECT_THAT(message((dir_.path() / "dangling").string()), HasSubstr("symbolic link"));
  EXPECT_THAT(message(dir_.write("plain", "x").string()), HasSubstr("a file"));
  EXPECT_TRUE(fs::is_empty(dir_.path() / "elsewhere"));
  if (geteuid() == 0) {
    fs::create_directories(dir_.path() / "foreign");
    ASSERT_EQ(chown((dir_.path() / "foreign").c_str(), 65534, 65534), 0);
    EXPECT_THAT(message((dir_.path() / "foreign").string()), HasSubstr("nobody"));
    EXPECT_TRUE(fs::is_empty(dir_.path() / "foreign"));
  }
  EXPECT_THROW(open_work_folder(*transport_, "relative"), Error);
  EXPECT_THROW(open_work_folder(*transport_, "/tmp/../etc"), Error);
}

TEST_P(Upload, NamesDeviceFolderAndBytesWhenTheDiskIsFull) {
  fs::create_directories(work_);
  if (mount("tmpfs", work_.c_str(), "tmpfs", 0, "size=1m,mode=0700") != 0)
    GTEST_SKIP() << "cannot mount here";
  dir_.write("rt/big", std::string(3'000'000, 'b'));
  std::string before;
  std::string during;
  try {
    put(source());
  } catch (const Error& error) {
    before = error.what();
  }
  try {
    WorkFolder folder = open_work_folder(*transport_, work_);
    folder.space.reset();  // as on a device that does not tell
    Uploader(*transport_, folder, {}).put({source()});
  } catch (const Error& error) {
    during = error.what();
  }
  const std::map<std::string, std::string> left = content_of(work_);
  umount2(work_.c_str(), MNT_DETACH);
  EXPECT_THAT(before, testing::AllOf(HasSubstr("pi@board"), HasSubstr(work_),
                                     HasSubstr("bytes needed"), HasSubstr("free")));
  EXPECT_THAT(during, testing::AllOf(HasSubstr("pi@board"), HasSubstr(work_),
                                     HasSubstr("bytes needed"), HasSubstr("free")));
  EXPECT_THAT(left, SizeIs(1));  // the marker
}

TEST_P(Upload, TellsAMountThatRefusesExecution) {
  fs::create_directories(work_);
  if (mount("tmpfs", work_.c_str(), "tmpfs", MS_NOEXEC, "size=1m,mode=0700") != 0)
    GTEST_SKIP() << "cannot mount here";
  const WorkFolder folder = open_work_folder(*transport_, work_);
  umount2(work_.c_str(), MNT_DETACH);
  ASSERT_TRUE(folder.space.has_value());
  EXPECT_EQ(folder.space->file_system, "tmpfs");
  EXPECT_TRUE(folder.space->no_execute);
}

TEST_P(Upload, TakesARamfsWithoutASizeForUnknownAndNotForFull) {
  fs::create_directories(work_);
  if (mount("ramfs", work_.c_str(), "ramfs", 0, "mode=0700") != 0)
    GTEST_SKIP() << "cannot mount here";
  const WorkFolder folder = open_work_folder(*transport_, work_);
  const fs::path there = put(source());
  const auto content = content_of(there);
  umount2(work_.c_str(), MNT_DETACH);
  EXPECT_FALSE(folder.space.has_value());
  EXPECT_EQ(content, content_of(dir_.path() / "rt"));
}

INSTANTIATE_TEST_SUITE_P(Devices, LargeUpload, testing::ValuesIn(test::few_devices()),
                         [](const auto& one) { return std::string(one.param.name); });

INSTANTIATE_TEST_SUITE_P(Devices, Upload, testing::ValuesIn(test::all_devices()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(WorkFolder, TakesNothingOddFromADevice) {
  Answer answer;
  const auto parsed = [&](std::vector<std::string> lines) {
    answer.lines.clear();
    for (std::string& line : lines) answer.lines.emplace_back("work", std::move(line));
    return parse_work_folder("/tmp/ONE", answer);
  };
  const WorkFolder folder = parsed(
      {"requested ours", "state ours", "tree ../../etc same", "tree rt-0123456789abcdef same",
       "tree rt-0123456789abcdeg same", "space tmpfs 1 2 3 4 5 6 7", "memory -5"});
  EXPECT_THAT(folder.trees, ElementsAre(testing::Pair("rt-0123456789abcdef", TreeState::same)));
  EXPECT_FALSE(folder.available_memory_bytes.has_value());
  EXPECT_THROW(parsed({"requested ours"}), Error);
  EXPECT_THROW(parsed({"requested ours", "state wonderful"}), Error);
}

}  // namespace
}  // namespace stab
