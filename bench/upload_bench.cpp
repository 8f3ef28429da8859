// SPDX-License-Identifier: Apache-2.0
// First uploads and unchanged second runs over SSH, against rsync, scp and tar over ssh, on a
// server of its own on 127.0.0.1.
//
//   upload_bench [REPETITIONS] [DELAY_MS...]      default: 3 repetitions, round trips of 0 and 20
//   ms
//
// Every figure is wall time of the whole operation: connect, log in, transfer, and for stab hashing
// here and there.
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "runtime_files.h"
#include "stab/core/error.h"
#include "stab/device/ssh_transport.h"
#include "stab/device/upload.h"
#include "support/process.h"
#include "support/ssh_server.h"
#include "support/tcp_proxy.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t k_runtime_bytes = 40'000'000;
// What takes longer is measured once: scp needs minutes for many files on a far link.
constexpr double k_slow_seconds = 20;
constexpr int k_most_seconds = 600;

// 40 MB of this machine's own libraries, each with a link beside it.
void make_runtime(const fs::path& folder) {
  fs::create_directories(folder / "lib");
  std::vector<fs::path> libraries;
  for (const char* from : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                           "/usr/lib/arm-linux-gnueabihf"}) {
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(from, absent)) {
      const bool library = entry.path().filename().string().find(".so") != std::string::npos;
      if (library && entry.is_regular_file() && !entry.is_symlink())
        libraries.push_back(entry.path());
    }
  }
  std::sort(libraries.begin(), libraries.end());
  std::uintmax_t total = 0;
  for (const fs::path& library : libraries) {
    const std::uintmax_t size = fs::file_size(library);
    if (size > 8'000'000 || total + size > k_runtime_bytes) continue;
    total += size;
    const std::string name = library.filename().string();
    fs::copy_file(library, folder / "lib" / name);
    fs::create_symlink(name, folder / "lib" / ("link-" + name));
  }
}

// 2,000 files of 20,000 random bytes.
void make_small(const fs::path& folder) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const fs::path part = folder / ("d" + std::to_string(i % 20));
    fs::create_directories(part);
    std::string bytes;
    while (bytes.size() < 20'000) {
      const std::uint64_t word = random();
      bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
    std::ofstream(part / ("f" + std::to_string(i)), std::ios::binary) << bytes;
  }
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void must(const std::vector<std::string>& argv) {
  test::ProcessOptions options;
  options.timeout_seconds = k_most_seconds;
  const test::ProcessResult result = test::run_process(argv, options);
  if (result.exit_code != 0) throw std::runtime_error(argv.front() + ": " + result.err);
}

// One way to bring a folder over.
struct Method {
  std::string name;
  std::function<void(const fs::path& from, const std::string& to)> send;
  bool again = false;  ///< has an unchanged second run that is worth comparing
};

// scp needs it.
test::SshServerOptions with_sftp() {
  test::SshServerOptions options;
  options.sshd_lines = {"Subsystem sftp internal-sftp"};
  return options;
}

class Bench {
 public:
  Bench(int repetitions, int delay_ms) : repetitions_(repetitions), delay_ms_(delay_ms) {
    if (delay_ms > 0)
      proxy_ =
          std::make_unique<test::TcpProxy>(server_.port(), std::chrono::milliseconds(delay_ms / 2));
    port_ = std::to_string(proxy_ ? proxy_->port() : server_.port());
    server_.set_known_hosts("{host} {key}\n[127.0.0.1]:" + port_ + " {key}\n");
    const std::string ssh = server_.ssh_dir().string();
    config_ =
        work_.write("config", "Host *\nIdentityFile " + ssh + "/id_ed25519\nUserKnownHostsFile " +
                                  ssh + "/known_hosts\nIdentitiesOnly yes\nBatchMode yes\n");
  }

  void run(const char* set, const fs::path& from) {
    std::map<std::string, std::vector<double>> first;
    std::map<std::string, std::vector<double>> again;
    const std::vector<Method> methods = make_methods();
    for (int i = 0; i < repetitions_; ++i) {
      for (const Method& method : methods) {
        if (i > 0 && first[method.name].front() > k_slow_seconds) continue;
        const std::string to = (work_.path() / "there" / method.name).string();
        fs::remove_all(to);
        fs::create_directories(fs::path(to).parent_path());
        first[method.name].push_back(seconds_of([&] { method.send(from, to); }));
        if (method.again) again[method.name].push_back(seconds_of([&] { method.send(from, to); }));
      }
    }
    print(set, "first", first);
    print(set, "unchanged", again);
  }

 private:
  std::vector<Method> make_methods() {
    const std::string ssh = "ssh -F " + config_.string() + " -p " + port_;
    const std::string host = server_.user() + "@127.0.0.1";
    return {
        {"stab", [this](const fs::path& from, const std::string& to) { upload(from, to); }, true},
        {"rsync -az",
         [=](const fs::path& from, const std::string& to) {
           must({"rsync", "-az", "-e", ssh, from.string() + "/", host + ":" + to + "/"});
         },
         true},
        {"scp -r",
         [=, this](const fs::path& from, const std::string& to) {
           must({"scp", "-q", "-r", "-p", "-F", config_.string(), "-P", port_, from.string(),
                 host + ":" + to});
         },
         false},
        {"tar | ssh tar",
         [=](const fs::path& from, const std::string& to) {
           must({"sh", "-c",
                 "tar -C '" + from.string() + "' -cf - . | " + ssh + " " + host + " \"mkdir -p '" +
                     to + "' && tar -xmf - -C '" + to + "'\""});
         },
         false},
    };
  }

  void upload(const fs::path& from, const std::string& to) {
    SshOptions options;
    options.host = server_.user() + "@127.0.0.1:" + port_;
    // The program, too, reads a runtime that is named while it connects.
    auto reading = std::async(std::launch::async, [&] {
      return FileTree::of_list("rt", list_runtime(from, std::nullopt));
    });
    const std::unique_ptr<Transport> transport = connect_ssh(options, [] { return false; }, {}, {});
    Uploader uploader(*transport, open_work_folder(*transport, to), {});
    uploader.put({reading.get()});
    if (uploader.summary().files_sent == 0) return;
    compressed_ = uploader.summary().compressed;
    stream_bytes_ = uploader.summary().stream_bytes;
  }

  void print(const char* set, const char* what,
             const std::map<std::string, std::vector<double>>& seconds) const {
    const double ours = median(seconds.at("stab"));
    for (const auto& [name, values] : seconds) {
      const auto [least, most] = std::minmax_element(values.begin(), values.end());
      std::printf("%-8s %2d ms  %-9s  %-13s  %7.3f s  (%.3f to %.3f)", set, delay_ms_, what,
                  name.c_str(), median(values), *least, *most);
      if (name == "stab" && std::string_view(what) == "first") {
        std::printf("  %s, %.1f MB went over", compressed_ ? "packed in part" : "not packed",
                    static_cast<double>(stream_bytes_) / 1e6);
      }
      if (name != "stab") std::printf("  stab is %.2fx as fast", median(values) / ours);
      std::printf("\n");
    }
    std::fflush(stdout);
  }

  int repetitions_;
  int delay_ms_;
  test::TempDir work_;
  test::SshServer server_{with_sftp()};
  std::unique_ptr<test::TcpProxy> proxy_;
  std::string port_;
  fs::path config_;
  bool compressed_ = false;
  std::uint64_t stream_bytes_ = 0;
};

}  // namespace
}  // namespace stab

int main(int argc, char** argv) {
  try {
    const int repetitions = argc > 1 ? std::max(1, std::atoi(argv[1])) : 3;
    std::vector<int> delays;
    for (int i = 2; i < argc; ++i) delays.push_back(std::atoi(argv[i]));
    if (delays.empty()) delays = {0, 20};
    const stab::test::TempDir data;
    stab::make_runtime(data.path() / "runtime");
    stab::make_small(data.path() / "small");
    for (const int delay : delays) {
      stab::Bench bench(repetitions, delay);
      bench.run("runtime", data.path() / "runtime");
      bench.run("small", data.path() / "small");
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "upload_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
