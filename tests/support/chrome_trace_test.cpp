// SPDX-License-Identifier: Apache-2.0
#include "support/chrome_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "support/recorded.h"

namespace stab::test {
namespace {

using ::testing::HasSubstr;

TEST(ChromeTrace, OfEveryRecordedRuntimeOpensInPerfettoAndChromeAsItIs) {
  const std::vector<RecordedRun> runs = recorded_runs();
  ASSERT_GT(runs.size(), 10U);
  std::set<std::string> seen;
  for (const RecordedRun& run : runs) {
    if (!seen.insert(run.runtime + run.model).second) continue;
    EXPECT_EQ(chrome_trace_violations(run.chrome), "") << run.name();
  }
}

TEST(ChromeTrace, ThatNoImporterTakesIsFound) {
  const auto event = [](const std::string& members) {
    return chrome_trace_violations("{\"traceEvents\": [{" + members + "}, { }]}");
  };
  EXPECT_THAT(event(R"("name":"a","pid":0,"tid":1,"ph":"B")"), HasSubstr("no time"));
  EXPECT_THAT(event(R"("name":"a","pid":0,"tid":1,"ts":"x","ph":"B")"), HasSubstr("no time"));
  EXPECT_THAT(event(R"("name":"a","pid":0,"ts":1,"ph":"B")"), HasSubstr("no track"));
  EXPECT_THAT(event(R"("name":"a","pid":0,"tid":1,"ts":1,"ph":"B")"), HasSubstr("does not end"));
  EXPECT_THAT(event(R"("name":"a","pid":0,"tid":1,"ts":1,"ph":"E")"), HasSubstr("not open"));
  EXPECT_THAT(chrome_trace_violations("[{ }, { }]"), HasSubstr("event 0: no phase"));
  EXPECT_EQ(chrome_trace_violations("{\"traceEvents\": ["), "no JSON\n");
  EXPECT_EQ(chrome_trace_violations("{}"), "no traceEvents\n");
}

}  // namespace
}  // namespace stab::test
