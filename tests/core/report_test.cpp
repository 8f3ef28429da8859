// SPDX-License-Identifier: Apache-2.0
#include "stab/core/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace stab {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

BackendRow measured(const std::string& name, double us) {
  BackendRow row;
  row.name = name;
  row.by_threads[1].graph_us = Interval{us, us * 0.9, us * 1.1};
  return row;
}

BackendRow missing(const std::string& name) {
  BackendRow row;
  row.name = name;
  row.status = BackendStatus::missing;
  row.reason = "the runtime has no libbackend_" + name + ".so, neither beside its core nor below";
  return row;
}

OpRow operation(int index, const std::string& type, const std::string& chosen) {
  OpRow row;
  row.op = {0, index};
  row.type = type;
  row.chosen = chosen;
  row.candidates["cpu"].us.median = 1000.0 + index;
  row.candidates["ruy"].us.median = 2000.0 + index;
  row.candidates["acl_neon"].us.median = 900;
  return row;
}

Plan plan(const std::string& id, PlanKind kind, const Placement& placement, double measured_us) {
  Plan plan;
  plan.id = id;
  plan.kind = kind;
  plan.placement = placement;
  plan.switches = static_cast<int>(placement.size());
  if (kind == PlanKind::single)
    plan.backend = placement.empty() ? k_cpu : placement.begin()->second;
  plan.keys = {{"BACKENDS", placement.empty() ? "cpu" : "cpu;ruy"}};
  plan.estimate = Estimate{measured_us * 0.9, measured_us * 0.9, 0, 0, 0, 0};
  plan.applied.status = ProofStatus::pass;
  plan.equal.status = ProofStatus::pass;
  plan.equal.seeds = {1, 2, 3};
  plan.equal.outputs.resize(1);
  plan.faster.median_us = measured_us;
  plan.faster.status = FasterStatus::same;
  plan.faster.against = "p2";
  return plan;
}

/// A mixed schedule that wins.
Result winning() {
  Result result;
  result.stab.version = "0.1.0";
  result.context.package.name = "net";
  result.context.model.op_counts = {3};
  result.context.device.emplace();
  result.context.device->transport = "local";
  result.context.device->arch = "armv7l";
  result.context.runtime.version = "1.26.0";
  result.backends = {measured("cpu", 3000), measured("ruy", 4000), measured("acl_neon", 3500),
                     missing("xnnpack")};
  result.ops = {operation(0, "Conv2D", "ruy"), operation(1, "BidirectionalSequenceLSTM", "cpu"),
                operation(2, "DepthwiseConv2D", "cpu")};
  result.plans = {plan("p1", PlanKind::averse, {{{0, 0}, "ruy"}}, 2000),
                  plan("p2", PlanKind::single, {}, 3000),
                  plan("p3", PlanKind::optimum, {{{0, 0}, "ruy"}}, 2000)};
  Plan today = plan("today", PlanKind::today, {}, 3100);
  today.keys.clear();
  result.plans.push_back(today);
  result.plans[0].faster.status = FasterStatus::faster;
  result.plans[0].faster.delta_us = Interval{-1000, -1100, -900};
  result.plans[0].equal.outputs[0].max_rel = 2e-6;
  result.chosen = "p1";
  result.baseline = "p2";
  result.outcome = Outcome::proven;
  result.certificate.status = "optimal";
  result.certificate.cost_us = 1800;
  result.certificate.method = "dynamic_programming";
  result.certificate.width = 2;
  result.certificate.states = 40;
  result.delivery.works = "config";
  result.delivery.command = "stab-runner out/net";
  result.summary.package_path = "out/net";
  result.summary.speedup = Interval{1.5, 1.4, 1.6};
  result.summary.speedup_over_today = Interval{1.55, 1.4, 1.7};
  result.warnings = {{"unstable", Severity::warning, "ruy",
                      "the graph's time is known to within 10.0 % only", "more rounds (--rounds)"}};
  return result;
}

std::string text_of(const Result& result, int verbosity = 0) {
  TextStyle style;
  style.width = 80;
  style.verbosity = verbosity;
  return render_text(result, style);
}

std::string unwrapped(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

TEST(Report, FitsIntoEightyColumnsWithoutBlanksAtTheEnds) {
  std::istringstream lines(text_of(winning(), 1));
  for (std::string line; std::getline(lines, line);) {
    const auto columns =
        std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
    // The last line names a path that nothing may break.
    if (!line.starts_with("proven")) {
      EXPECT_LE(columns, 80) << line;
    }
    EXPECT_FALSE(line.ends_with(' ')) << '\'' << line << '\'';
  }
}

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto columns =
        std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
    if (!line.starts_with("proven")) most = std::max(most, static_cast<std::size_t>(columns));
  }
  return most;
}

TEST(Report, ShowsTheTimesOfAsManyBackendsAsThereIsRoomFor) {
  Result result = winning();
  for (const char* name : {"acl_cl", "gpu_cl", "trix"}) {
    result.backends.push_back(measured(name, 5000));
    for (OpRow& row : result.ops) row.candidates[name].us.median = 5000;
  }
  TextStyle style;
  style.width = 64;
  const std::string narrow = render_text(result, style);
  EXPECT_LE(widest(narrow), 64U) << narrow;
  EXPECT_THAT(unwrapped(narrow), HasSubstr("There is room for 3 backends of 6; --csv has them"));
  style.width = 120;
  EXPECT_THAT(unwrapped(render_text(result, style)), Not(HasSubstr("There is room")));
}

TEST(Report, LetsNoNameTalkToTheTerminal) {
  Result result = winning();
  const std::string bad = "\033]0;title\007\033[31mred\r\n";
  result.context.package.name = bad;
  result.context.device->soc = bad;
  result.ops[0].type = bad;
  result.ops[0].chosen = bad;
  result.backends[0].name = bad;
  result.backends[3].reason = bad;
  result.warnings[0].subject = bad;
  result.plans[0].equal.reason = bad;
  result.delivery.command = bad;
  result.summary.package_path = bad;
  result.left_out = {{{0, 2}, bad, bad}};
  TextStyle style;
  style.colour = false;
  for (const std::string& text : {render_text(result, style), render_explanation(result, style)}) {
    EXPECT_THAT(text, Not(HasSubstr("\033")));
    EXPECT_THAT(text, Not(HasSubstr("\r")));
    EXPECT_THAT(text, Not(HasSubstr("\007")));
  }
}

TEST(Report, WarnsOfAPlanByTheNameThatItsTableHas) {
  Result result = winning();
  result.warnings[0].subject = "p1";
  EXPECT_THAT(unwrapped(text_of(result)), HasSubstr("- noise-averse: "));
}

TEST(Report, SaysWhatWasMeasuredChosenAndProven) {
  const std::string text = unwrapped(text_of(winning()));
  EXPECT_THAT(text, HasSubstr("cpu 3.00 ms 2.70 ms to 3.30 ms fastest"));
  EXPECT_THAT(text, HasSubstr("ruy 4.00 ms 3.60 ms to 4.40 ms 1.33 times the fastest"));
  EXPECT_THAT(text, HasSubstr("xnnpack missing: the runtime has no libbackend_xnnpack.so"));
  EXPECT_THAT(text, HasSubstr("0:0 Conv2D ruy 1.00 ms 2.00 ms 900 us"));
  EXPECT_THAT(text, HasSubstr("* noise-averse 1.80 ms 2.00 ms 1 operation off cpu, 1 switch"));
  EXPECT_THAT(text, HasSubstr("optimum 1.80 ms 2.00 ms the same as noise-averse"));
  EXPECT_THAT(text, HasSubstr("Certificate of the optimum: optimal for the measured costs "
                              "(dynamic_programming, width 2, 40 states)."));
  EXPECT_THAT(text, HasSubstr("applied pass: the package alone is enough"));
  EXPECT_THAT(text,
              HasSubstr("equal pass: 1 output for 3 seeds, largest difference to cpu's 2e-06"));
  EXPECT_THAT(text, HasSubstr("faster pass: 2.00 ms, 1.00 ms less than the best single backend "
                              "(-1.10 ms to -900 us)"));
  EXPECT_THAT(text, HasSubstr("Run it: stab-runner out/net"));
  EXPECT_THAT(text, EndsWith("proven: wrote out/net, 50 % faster than the best single backend "
                             "(40 % to 60 %), 55 % faster than today (40 % to 70 %)"));
}

TEST(Report, ClaimsNothingAboutWhereTodaysOperationsRun) {
  EXPECT_THAT(unwrapped(text_of(winning())),
              HasSubstr("today 2.79 ms 3.10 ms the package as it is"));
}

TEST(Report, SaysPlainlyThatOneBackendIsBest) {
  Result result = winning();
  result.chosen = "p2";
  result.all_on_one_backend = true;
  result.summary.speedup.reset();
  result.summary.speedup_over_today = Interval{1.01, 0.98, 1.05};
  const std::string text = unwrapped(text_of(result));
  EXPECT_THAT(text, HasSubstr("equal pass: 1 output for 3 seeds identical to cpu's"));
  EXPECT_THAT(text, HasSubstr("faster pass: 3.00 ms; it is the best single backend itself"));
  EXPECT_THAT(text,
              EndsWith("wrote out/net, nothing beats everything on cpu beyond noise, within noise "
                       "of today"));
  for (Plan& plan : result.plans) {
    if (plan.id != "p2") plan.faster.median_us = 3100;
  }
  EXPECT_THAT(unwrapped(text_of(result)),
              EndsWith("wrote out/net, everything on cpu is best, within noise of today"));
}

TEST(Report, DoesNotTakePinnedPlansForBackendsByThemselves) {
  Result result = winning();
  result.ops[0].fixed = "pin";
  const std::string text = unwrapped(text_of(result));
  EXPECT_THAT(text, HasSubstr("0:0 Conv2D ruy (pin) 1.00 ms"));
  EXPECT_THAT(text, HasSubstr("pins, then cpu"));
  EXPECT_THAT(text, Not(HasSubstr("all on cpu")));
  EXPECT_THAT(text, Not(HasSubstr("best single backend")));
}

TEST(Report, NamesWhatWasLeftOutAndWhatIsAssumed) {
  Result result = winning();
  result.left_out = {{{0, 2}, "ruy", "its index would also move operation 1:2 (Add)"}};
  result.transfers = {{"acl_neon", "portable", 50, 1000, 0, {}, "prior"}};
  const std::string text = unwrapped(text_of(result));
  EXPECT_THAT(text, HasSubstr("Left out of the schedule 0:2 ruy: its index would also move"));
  EXPECT_THAT(text, HasSubstr("is assumed, not measured on this device."));
}

TEST(Report, TellsWhatTheMachineWasDoing) {
  Result result = winning();
  result.state.before = DeviceState{"ondemand", {1200000, 1800000}, 45123, false, 0.31};
  result.state.after = DeviceState{{}, {}, {}, {}, 1.0};
  const std::string text = unwrapped(text_of(result));
  EXPECT_THAT(text, HasSubstr("Before governor ondemand, 1200 to 1800 MHz, 45 °C, not throttled, "
                              "load 0.3"));
  EXPECT_THAT(text, HasSubstr("After load 1.0"));
}

TEST(Report, NamesNoWayToDeliverAPlanThatIsNotWritten) {
  Result result = winning();
  result.delivery.works.reset();
  result.plans[0].equal.status = ProofStatus::fail;
  const std::string text = unwrapped(text_of(result));
  EXPECT_THAT(text, HasSubstr("applied pass: each operation ran on its backend equal"));
  result.chosen = "p2";
  EXPECT_THAT(unwrapped(text_of(result)), HasSubstr("cpu is the runtime's own default"));
}

TEST(Report, OfAPackageThatWasOnlyLookedAtWritesNothing) {
  Result result = winning();
  result.summary.package_path.reset();
  EXPECT_THAT(render_verdict(result), testing::StartsWith("proven: net as it is, 50 % faster"));
  result.outcome = Outcome::refused;
  EXPECT_EQ(render_verdict(result), "refused: nothing was written");
}

TEST(Report, TellsTimesInThreeDigits) {
  EXPECT_EQ(render_time(0), "0 us");
  EXPECT_EQ(render_time(0.25), "0.2 us");
  EXPECT_EQ(render_time(812.4), "812 us");
  EXPECT_EQ(render_time(999.7), "1.00 ms");
  EXPECT_EQ(render_time(43'810), "43.8 ms");
  EXPECT_EQ(render_time(999'600), "1.00 s");
  EXPECT_EQ(render_time(-9'996), "-10.0 ms");
}

}  // namespace
}  // namespace stab
