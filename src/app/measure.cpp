// SPDX-License-Identifier: Apache-2.0
#include "stab/app/measure.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "stab/app/discover.h"
#include "stab/core/error.h"
#include "stab/core/report.h"
#include "stab/core/statistics.h"

namespace stab {
namespace {

/// Rounds go on until the interval of the difference that matters is this narrow.
constexpr double k_half_width_percent = 1;

std::string run_id(int number) {
  char text[16];
  std::snprintf(text, sizeof text, "r%04d", number);
  return text;
}

/// A runtime's words, and what they mean where they do not say it.
std::string explained(const std::string& words) {
  if (words.find("failed to initialize XNNPACK") != std::string::npos)
    return words + ": its cpuinfo cannot make sense of this device's processor";
  return words;
}

class Measurement {
 public:
  Measurement(TrialRunner& runner, const MeasureRequest& request)
      : runner_(runner), request_(request), next_id_(request.first_id) {
    for (const Single& single : request.singles) out_.singles.push_back({single, false, "", {}});
    failures_.assign(out_.singles.size(), 0);
    out_.by_api = request.by_api;
  }

  MeasureOutcome run() {
    for (int round = 0; round < request_.max_rounds; ++round) {
      if (round >= request_.rounds && (stable() || out_of_time())) break;
      if (round > 0 && round < request_.rounds && out_of_time()) break;
      for (std::size_t i = 0; i < out_.singles.size(); ++i) {
        const std::size_t index = round % 2 == 0 ? i : out_.singles.size() - 1 - i;
        if (out_.singles[index].failed) continue;
        say(round, i, out_.singles[index].single.label);
        run_single(index, round, static_cast<int>(i));
      }
    }
    return std::move(out_);
  }

 private:
  bool out_of_time() const { return request_.out_of_time && request_.out_of_time(); }

  void say(int round, std::size_t position, const std::string& label) const {
    if (!request_.progress) return;
    const double done =
        round + static_cast<double>(position) / static_cast<double>(out_.singles.size());
    request_.progress("round " + std::to_string(round + 1) + ": " + label + estimates(), done,
                      std::max(request_.rounds, round + 1));
  }

  /// "; so far cpu 59.5 ms, ruy 61.2 ms"
  std::string estimates() const {
    std::string text;
    for (const SingleOutcome& single : out_.singles) {
      const auto us = median(single.round_medians_us);
      if (!single.failed && us)
        text += (text.empty() ? "; so far " : ", ") + single.single.label + " " + render_time(*us);
    }
    return text;
  }

  Trial make_trial(const Single& single, const Placement& placement, int runs) const {
    Trial trial;
    trial.label = single.label;
    trial.keys = request_.make_keys(placement);
    trial.way = out_.by_api ? Way::api : Way::all;
    trial.traced = true;
    trial.runs = runs;
    trial.inputs = request_.inputs;
    return trial;
  }

  MeasuredRun& record(RunKind kind, const Single& single, const Trial& trial,
                      const Placement& placement, int round, int order) {
    MeasuredRun run;
    run.id = run_id(next_id_++);
    run.kind = kind;
    run.label = single.label;
    run.threads = request_.threads;
    run.round = round;
    run.order = order;
    run.trial = trial;
    run.placement = placement;
    run.trial.keep_as = file_name(run);
    run.outcome = runner_.run(run.trial);
    check_trace(run.outcome);
    misplaced_ = kind != RunKind::discover && check_places(run);
    out_.runs.push_back(std::move(run));
    if (request_.on_run) request_.on_run(out_.runs.back());
    return out_.runs.back();
  }

  /// "ruy_1.0"; a run that has to be repeated in its round keeps its own files.
  std::string file_name(const MeasuredRun& run) {
    const std::string start = run.label + "_" + std::to_string(run.threads) + ".";
    if (run.kind == RunKind::discover) return start + "d" + run.id.substr(1);
    const std::string name = start + std::to_string(run.round);
    return names_.insert(name).second ? name : name + "." + run.id;
  }

  /// A run whose operations ran elsewhere measured something else: it has failed. True when so.
  bool check_places(MeasuredRun& run) const {
    if (!run.outcome.ok()) return false;
    const std::vector<Misplaced> wrong =
        misplaced(*run.outcome.trace, run.placement, request_.operations);
    if (wrong.empty()) return false;
    const Misplaced& first = wrong.front();
    run.outcome.status = RunStatus::failed;
    run.outcome.reason = std::to_string(wrong.size()) + " operations ran elsewhere, first " +
                         to_string(first.op) + ": asked for " + first.wanted +
                         ", and the runtime ran " + (first.ran.empty() ? "nothing" : "it on ") +
                         first.ran;
    return true;
  }

  static void check_trace(TrialOutcome& outcome) {
    if (outcome.ok() && !outcome.trace) {
      outcome.status = RunStatus::no_trace;
      if (outcome.reason.empty()) outcome.reason = "the run ended well but left no trace";
    }
  }

  MeasuredRun& run_round(std::size_t index, int round, int order) {
    const Single& single = out_.singles[index].single;
    Trial trial = make_trial(single, single.placement, runs_per_round());
    trial.warmup = request_.warmup;
    return record(request_.kind, single, trial, single.placement, round, order);
  }

  int runs_per_round() const {
    return std::max(1, (request_.runs + request_.rounds - 1) / request_.rounds);
  }

  void run_single(std::size_t index, int round, int order) {
    SingleOutcome& state = out_.singles[index];
    MeasuredRun* run = &run_round(index, round, order);
    const bool asks = !state.single.placement.empty();
    if (misplaced_ && !out_.by_api && asks) {
      out_.by_api = true;
      run = &run_round(index, round, order);
      if (!run->outcome.ok()) out_.by_api = false;
    }
    if (!run->outcome.ok()) run = rescue(index, *run, round, order);
    if (run == nullptr) return;
    if (const auto value = median(run->outcome.trace->graph_us))
      state.round_medians_us.push_back(*value);
  }

  /// A run that failed, or ran elsewhere: what the backend can do is found out in the first round,
  /// later failures are counted.
  MeasuredRun* rescue(std::size_t index, const MeasuredRun& failed, int round, int order) {
    SingleOutcome& state = out_.singles[index];
    const std::string reason = failed.outcome.reason;
    const bool reference = index == 0 && request_.kind == RunKind::single;
    if (reference && state.round_medians_us.empty()) {
      throw Error(ErrorKind::device, "cannot run the model on", "cpu", reason,
                  request_.inputs == nullptr
                      ? "--input FILE when it cannot take random values (indices, say)"
                      : "");
    }
    const bool timed_out = failed.outcome.status == RunStatus::timeout;
    if (request_.kind == RunKind::calibrate) {
      fail(state, reason);
      return nullptr;
    }
    if (reference || timed_out || round > 0) {
      if (timed_out || ++failures_[index] > 1) fail(state, reason);
      return nullptr;
    }
    if (!shrink(index, round)) {
      fail(state, reason);
      return nullptr;
    }
    MeasuredRun& again = run_round(index, round, order);
    if (again.outcome.ok()) return &again;
    fail(state, again.outcome.reason.empty() ? reason : again.outcome.reason);
    return nullptr;
  }

  /// Finds the operations that the backend really runs; false when there are none.
  bool shrink(std::size_t index, int round) {
    Single& single = out_.singles[index].single;
    std::vector<OpId> asked;
    for (const auto& [op, backend] : single.placement) asked.push_back(op);
    if (asked.empty()) return false;
    const auto attempt = [&](const std::vector<OpId>& operations) {
      Placement placement;
      for (const OpId op : operations) placement[op] = single.backend;
      return record(RunKind::discover, single, make_trial(single, placement, 1), placement, round,
                    0)
          .outcome;
    };
    const Discovery found = discover(*request_.model, single.backend, asked, attempt);
    if (found.runnable.empty()) return false;
    single.placement.clear();
    for (const OpId op : found.runnable) single.placement[op] = single.backend;
    out_.warnings.push_back(
        {"backend_refused_operations", Severity::info, single.label,
         "it runs " + std::to_string(found.runnable.size()) + " of the " +
             std::to_string(asked.size()) + " operations asked of it; first refusal: " +
             to_string(found.refused.front().op) + ", " + found.refused.front().reason,
         ""});
    return true;
  }

  static void fail(SingleOutcome& state, const std::string& reason) {
    state.failed = true;
    state.reason = explained(reason);
  }

  /// The two fastest are told apart as finely as wanted (one alone: its own interval).
  bool stable() const {
    std::vector<const SingleOutcome*> alive;
    for (const SingleOutcome& state : out_.singles) {
      if (!state.failed && !state.round_medians_us.empty()) alive.push_back(&state);
    }
    if (alive.empty()) return true;
    std::sort(alive.begin(), alive.end(), [](const SingleOutcome* a, const SingleOutcome* b) {
      return *median(a->round_medians_us) < *median(b->round_medians_us);
    });
    const auto interval = alive.size() == 1 ? round_interval(alive[0]->round_medians_us)
                                            : paired_log_interval(alive[1]->round_medians_us,
                                                                  alive[0]->round_medians_us);
    const auto width = interval ? half_width_percent(*interval) : std::nullopt;
    return width && *width <= k_half_width_percent;
  }

  TrialRunner& runner_;
  const MeasureRequest& request_;
  MeasureOutcome out_;
  std::vector<int> failures_;
  std::set<std::string> names_;  ///< of the kept files
  bool misplaced_ = false;       ///< the last run failed because operations ran elsewhere
  int next_id_;
};

}  // namespace

MeasureOutcome measure(TrialRunner& runner, const MeasureRequest& request) {
  return Measurement(runner, request).run();
}

}  // namespace stab
