// SPDX-License-Identifier: Apache-2.0
#include "stab/device/run.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "receive.h"
#include "run_script.h"
#include "stab/core/error.h"
#include "stab/device/device_state.h"
#include "stab/device/exchange.h"

namespace stab {
namespace {

constexpr std::size_t k_kept_output = 1U << 20;
constexpr std::size_t k_kept_errors = 64U << 10;
constexpr std::chrono::minutes k_time_to_bring_back{20};

std::optional<double> parse_seconds(std::string_view text) {
  double seconds = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(seconds) ||
      seconds < 0)
    return std::nullopt;
  return seconds;
}

std::string describe_signal(int signal) {
  switch (signal) {
    case 4:
      return "illegal instruction (signal 4): built for another processor?";
    case 6:
      return "aborted (signal 6)";
    case 7:
      return "bus error (signal 7)";
    case 8:
      return "arithmetic error (signal 8)";
    case 9:
      return "killed (signal 9), perhaps for want of memory";
    case 11:
      return "segmentation fault (signal 11)";
    default:
      return "ended by signal " + std::to_string(signal);
  }
}

// What the script tells about the run, line by line.
struct RunReport {
  DeviceStateReader before;
  DeviceStateReader after;
  std::optional<int> status;
  bool timed_out = false;
  bool traced = false;  // trace.json is there and not empty
  std::optional<double> seconds;
  std::string failure;  // of the script itself, not of the runner
  std::vector<std::string> too_large;

  void take(std::string_view line) {
    const auto blank = line.find(' ');
    const std::string_view key = line.substr(0, blank);
    const std::string_view rest =
        blank == std::string_view::npos ? std::string_view() : line.substr(blank + 1);
    if (key == "state" && rest.starts_with("before ")) {
      before.take(rest.substr(7));
    } else if (key == "state" && rest.starts_with("after ")) {
      after.take(rest.substr(6));
    } else if (key == "status") {
      int value = 0;
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
      if (error == std::errc() && end == rest.data() + rest.size() && value >= 0 && value < 512)
        status = value;
    } else if (key == "trace") {
      traced = true;
    } else if (key == "uptime") {
      const auto middle = rest.find(' ');
      if (middle == std::string_view::npos) return;
      const auto from = parse_seconds(rest.substr(0, middle));
      const auto to = parse_seconds(rest.substr(middle + 1));
      if (from && to && *to >= *from) seconds = *to - *from;
    } else if (key == "toolarge") {
      too_large.push_back(printable(rest, 200));
    } else if (key == "fail") {
      failure = printable(blank == std::string_view::npos
                              ? rest
                              : rest.substr(std::min(rest.find(' ') + 1, rest.size())),
                          1000);
    }
  }
};

void judge(const RunReport& report, const RunRequest& request, RunResult& result) {
  const std::string words = last_words(result.errors);
  if (report.timed_out) {
    result.status = RunStatus::timeout;
    result.reason = "did not end within " + std::to_string(limit_seconds(request)) + " s" +
                    (words.empty() ? "" : "; last words: " + words);
    return;
  }
  const int status = report.status.value_or(255);
  if (status > 128 && status <= 128 + 64) {
    result.status = RunStatus::signal;
    result.signal = status - 128;
    result.reason =
        describe_signal(*result.signal) + (words.empty() ? "" : "; last words: " + words);
    return;
  }
  result.exit = status;
  if (status != 0) {
    result.status = RunStatus::failed;
    result.reason = !words.empty() ? words : last_words(result.output);
    if (result.reason.empty())
      result.reason = "ended with status " + std::to_string(status) + " and no word";
    return;
  }
  result.status = RunStatus::ok;
}

// The device's clock counts steps of 0.01 s. Where it has none, ours tells, but only of a process
// that was ended.
bool over_limit(const RunReport& report, double seconds_here, const RunRequest& request) {
  const auto limit = static_cast<double>(limit_seconds(request));
  if (report.seconds) return *report.seconds > limit - 0.02;
  return (report.status == 128 + 15 || report.status == 128 + 9) && seconds_here > limit;
}

// A traced run that leaves no trace is no measurement, whatever it says.
void judge_trace(const RunRequest& request, bool trace_seen, RunResult& result) {
  if (!request.traced || result.status != RunStatus::ok || trace_seen) return;
  const std::string words = last_words(result.errors);
  result.status = RunStatus::no_trace;
  result.reason = "ended well and left no trace" + (words.empty() ? "" : "; last words: " + words);
}

// Drops what comes before the script's own mark.
class FromMark {
 public:
  explicit FromMark(const std::string& word) : mark_("\n@" + word + " begin\n") {}

  std::string_view take(std::string_view bytes) {
    if (seen_) return bytes;
    held_ += bytes;
    const auto at = held_.find(mark_);
    if (at == std::string::npos) {
      if (held_.size() > mark_.size()) held_.erase(0, held_.size() - mark_.size());
      return {};
    }
    seen_ = true;
    held_.erase(0, at + mark_.size());
    return held_;
  }

 private:
  std::string mark_;
  std::string held_;
  bool seen_ = false;
};

}  // namespace

RunResult run_once(Transport& transport, const std::string& work_folder,
                   const RunRequest& request) {
  check_run_request(request);
  const bool staged = stage_run_inputs(transport, work_folder, request);

  const std::string word = random_word();
  RunReport report;
  RunResult result;
  Tail output(k_kept_output);
  Tail errors(k_kept_errors);
  FromMark from_mark(word);
  Receiver receiver(request);
  AnswerReader reader(word,
                      {.line = [&](std::string_view line) { report.take(line); },
                       .raw =
                           [&](std::string_view bytes) {
                             output.add(bytes);
                             if (request.live_output) request.live_output(bytes);
                           },
                       .blob_begin = [&](const BlobHeader& header) { receiver.begin(header); },
                       .blob_data = [&](std::string_view bytes) { receiver.take(bytes); },
                       .blob_end = [&] { receiver.end(); }});
  Command command;
  command.script =
      script_prologue(word) + run_script(work_folder, request, staged, !transport.link().local);
  command.timeout = request.timeout + k_time_to_bring_back;
  command.output = [&](std::string_view bytes) { reader.feed(bytes); };
  command.error = [&](std::string_view bytes) {
    const std::string_view own = from_mark.take(bytes);
    errors.add(own);
    if (!own.empty() && request.live_error) request.live_error(own);
  };
  const auto started = std::chrono::steady_clock::now();
  const Exit exit = transport.run(command);
  const std::chrono::duration<double> went_by = std::chrono::steady_clock::now() - started;
  if (!report.failure.empty())
    throw_device_error(transport, "cannot run on the device", report.failure);

  result.output = output.text();
  result.output_bytes = output.total();
  result.errors = errors.text();
  result.files = receiver.files();
  result.before = report.before.state();
  result.after = report.after.state();
  if (!reader.ended()) {
    if (!reader.begun())
      throw_device_error(transport, "cannot run on the device",
                         "its shell did not start the script", "ssh to it by hand");
    // The shell around the runner was ended as well: by our own time limit, or because memory ran
    // out.
    report.timed_out = exit.how == Exit::How::timed_out;
    if (!report.status)
      report.status = exit.how == Exit::How::signalled ? 128 + exit.signal : exit.code;
    if (*report.status == 0)
      throw_device_error(transport, "cannot run on the device", "its answer is not whole");
  }
  if (!report.timed_out) report.timed_out = over_limit(report, went_by.count(), request);
  judge(report, request, result);
  judge_trace(request, report.traced, result);
  if (!report.too_large.empty()) {
    throw_device_error(transport, "cannot bring back '" + report.too_large.front() + "'",
                       "it is larger than the limit");
  }
  return result;
}

}  // namespace stab
