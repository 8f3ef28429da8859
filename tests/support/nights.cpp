// SPDX-License-Identifier: Apache-2.0
#include "support/nights.h"

#include <cmath>

namespace stab::test {

Night::Night(unsigned number, double night_percent, double round_percent)
    : number_(number), random_(number), round_(round_percent / 100), factor_(0) {
  factor_ = std::exp(night_percent / 100 * normal_(random_));
}

std::vector<double> Night::rounds(double us) {
  std::vector<double> medians;
  for (int i = 0; i < 10; ++i)
    medians.push_back(us * factor_ * std::exp(round_ * normal_(random_)));
  return medians;
}

Result Night::result(double us) {
  Result result;
  result.stab = {"0.1.0", "abc"};
  result.outcome = Outcome::proven;
  result.measured_at = "2026-01-" + std::to_string(number_) + "T03:00:00Z";
  result.context.package.name = "net";
  result.context.model.sha256 = "aaaa";
  result.context.model.op_counts = {3};
  result.context.runtime.sha256 = "cccc";
  result.context.runtime.version = "1.30.0";
  result.context.device.emplace();
  result.context.device->id = "eeee";
  for (int i = 0; i < 3; ++i) {
    OpRow& row = result.ops.emplace_back();
    row.op = {0, i};
    row.type = "Conv2D";
    row.chosen = i == 1 ? "ruy" : "cpu";
    for (const char* backend : {"cpu", "ruy"}) {
      OpCandidate& candidate = row.candidates[backend];
      candidate.round_medians_us = rounds(100.0 * (i + 1));
      candidate.us = *round_interval(candidate.round_medians_us);
    }
  }
  BackendRow& cpu = result.backends.emplace_back();
  cpu.name = "cpu";
  for (const double median : rounds(us * 1.2)) cpu.by_threads[1].samples_us.push_back({median});
  Plan& chosen = result.plans.emplace_back();
  chosen.id = "p1";
  chosen.placement = {{{0, 1}, "ruy"}};
  chosen.keys = {{"BACKENDS", "cpu;ruy"}, {"OP_BACKEND_MAP", "1=ruy"}};
  chosen.faster.status = FasterStatus::faster;
  chosen.faster.round_medians_us = rounds(us);
  chosen.faster.median_us = median(chosen.faster.round_medians_us);
  Plan& single = result.plans.emplace_back();
  single.id = "p2";
  single.kind = PlanKind::single;
  single.backend = "cpu";
  result.chosen = "p1";
  result.baseline = "p2";
  return result;
}

EarlierResult Night::read(double us) {
  return parse_earlier_result(render_result(result(us)),
                              "night" + std::to_string(number_) + ".json");
}

}  // namespace stab::test
