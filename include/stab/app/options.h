// SPDX-License-Identifier: Apache-2.0
// What the user asked for, as plain values with their defaults.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stab {

enum class JobKind { schedule, doctor, unlock, clean, verify, explain, compare };

enum class Algorithm { exact, greedy };

enum class OutputFormat { text, json, markdown };

/// Limits of "equal": |a - b| <= relative x max|reference| + absolute.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

struct Options {
  JobKind kind = JobKind::schedule;

  // what and where
  std::filesystem::path nnpackage;
  std::string ip;  ///< empty with --no-profile
  std::optional<std::string> user;
  std::optional<int> port;
  std::optional<std::filesystem::path> identity;
  bool accept_new_host_key = false;
  std::optional<std::chrono::seconds> lock_wait;  ///< absent: fail at once
  std::optional<std::filesystem::path> runtime;
  std::string remote_dir;  ///< empty: /tmp/ONE, or /tmp/ONE-<uid> for this machine
  std::filesystem::path trace_dir = "traces";
  std::filesystem::path output = "nnpkg_sched";
  std::optional<std::string> device_name;

  // measuring
  std::vector<int> threads;  ///< empty: 1, or with --no-profile what the traces have
  std::vector<std::string> backends = {"cpu", "ruy", "xnnpack"};
  std::optional<std::filesystem::path> op_list;
  int warmup = 5;
  int runs = 50;
  int rounds = 10;
  int max_rounds = 20;
  std::optional<std::chrono::seconds> max_time;
  std::optional<std::string> affinity;
  std::vector<std::filesystem::path> inputs;
  std::optional<std::string> shape;  ///< "input:1,224,224,3;other:…", or as the runner takes it
  std::map<std::string, std::string> set;
  std::map<std::string, std::string> env;
  bool use_runtime_runner = false;  ///< --runner own
  bool rehash = false;
  std::chrono::seconds timeout{600};

  // deciding and proving
  bool profile = true;
  bool verify = true;  ///< the timing proof
  bool check = true;   ///< the output comparison
  bool force = false;
  Algorithm algorithm = Algorithm::exact;
  std::vector<std::string> pins;
  std::optional<Tolerance> tolerance;

  // results
  OutputFormat format = OutputFormat::text;
  std::optional<std::filesystem::path> json_file;   ///< "-": standard output, for one of these
  std::optional<std::filesystem::path> csv_file;    ///< the operations
  std::optional<std::filesystem::path> junit_file;  ///< proofs and gate
  std::optional<std::filesystem::path> html_file;
  int verbosity = 0;

  // comparing
  std::vector<std::filesystem::path> results;     ///< of `compare`: baselines, then the newest
  std::optional<std::filesystem::path> baseline;  ///< an earlier result or stab.json
  std::optional<double> max_regression;           ///< percent
  bool strict = false;                            ///< a gate that cannot tell fails
};

}  // namespace stab
