// SPDX-License-Identifier: Apache-2.0
#include "stab/core/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace stab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Writes Chrome events as the runtime does, one per line.
class ChromeText {
 public:
  explicit ChromeText(std::string graph = "$0 subg", std::string thread = "$0 sess, $0 subg")
      : graph_(std::move(graph)), thread_(std::move(thread)) {}

  ChromeText& event(const std::string& name, const std::string& thread, const char* phase, long us,
                    const std::string& args = "") {
    events_ += "    { \"name\" : \"" + name + "\", \"pid\" : \"0\", \"tid\" : \"" + thread +
               "\", \"ph\" : \"" + phase + "\", \"ts\" : \"" + std::to_string(us) + "\"" + args +
               " },\n";
    return *this;
  }
  ChromeText& begin() { return event(graph_, thread_, "B", now_); }
  ChromeText& end() { return event(graph_, thread_, "E", now_ += 1); }
  ChromeText& op(const std::string& label, const std::string& backend, long us) {
    const std::string thread = thread_ == "runtime" ? backend : thread_ + ", " + backend;
    event(label, thread, "B", now_ += 1);
    return event(label, thread, "E", now_ += us);
  }
  // A whole run of the graph.
  ChromeText& run(const std::vector<long>& cpu_us) {
    begin();
    for (std::size_t i = 0; i < cpu_us.size(); ++i)
      op("@" + std::to_string(i) + " Add", "cpu", cpu_us[i]);
    return end();
  }
  std::string open() const { return "{\n  \"traceEvents\": [\n" + events_; }
  std::string text() const { return open() + "    { }\n  ]\n}\n"; }

 private:
  std::string graph_;
  std::string thread_;
  std::string events_;
  long now_ = 1000;
};

std::string averaged(const std::string& backends, long graph_us = 100) {
  return "{\"Execution_Data\" : {" + backends +
         ", \"memory\" : {}, \"runtime\" : {\"Graph\" : {\"Avg_Time\" : " +
         std::to_string(graph_us) +
         ", \"Max_Time\" : 900, \"Min_Time\" : 1, \"Runtime\" : \"runtime\"}}}, \"version\" : "
         "\"2\"}\n";
}

std::string entry(const std::string& label, long us) {
  return "\"" + label + "\" : {\"Avg_Time\" : " + std::to_string(us) +
         ", \"Max_Time\" : 99, \"Min_Time\" : 0, \"Runtime\" : \"x\"}";
}

std::string refusal(const std::string& text, TraceOptions options = {}) {
  try {
    parse_trace(text, "traces/ruy_1", options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.subject(), "traces/ruy_1");
    return error.why();
  }
  ADD_FAILURE() << "accepted: " << text.substr(0, 500);
  return {};
}

std::vector<std::string> warning_ids(const Trace& trace) {
  std::vector<std::string> ids;
  for (const Warning& warning : trace.warnings) ids.push_back(warning.id);
  return ids;
}

TEST(Trace, ReadsTheAveragedFormOfEverySchema) {
  for (const char* const label :
       {"$3 Conv2D", "$0 subgraph $3 Conv2D", "$1 session $0 subgraph $3 Conv2D",
        "#0 model $0 subgraph $3 Conv2D"}) {
    const Trace trace = parse_trace(averaged("\"ruy\" : {" + entry(label, 42) + "}", 57), "t");
    ASSERT_EQ(trace.ops.size(), 1) << label;
    EXPECT_EQ(trace.ops[0].op, (OpId{0, 3})) << label;
    EXPECT_EQ(trace.ops[0].backend, "ruy");
    EXPECT_EQ(trace.ops[0].type, "Conv2D");
    EXPECT_EQ(trace.ops[0].averaged, (AveragedTime{42, 0, 99}));
    EXPECT_EQ(trace.graph_averaged, (AveragedTime{57, 1, 900}));
    EXPECT_FALSE(trace.has_samples());
    EXPECT_EQ(trace.executions, 0);
  }
}

TEST(Trace, ReadsTheChromeFormOfEveryGeneration) {
  const auto check = [](const std::string& text) {
    const Trace trace = parse_trace(text, "t");
    const OpTrace* const op = trace.find({0, 3}, "ruy");
    ASSERT_NE(op, nullptr) << text;
    EXPECT_EQ(op->type, "Conv2D");
    EXPECT_THAT(op->samples_us, ElementsAre(40, 44));
    EXPECT_THAT(trace.graph_us, ElementsAre(42, 46));
    EXPECT_THAT(trace.ops_us, ElementsAre(40, 44));
    EXPECT_EQ(trace.executions, 2);
    EXPECT_TRUE(trace.warnings.empty());
  };
  const auto twice = [](ChromeText chrome, const std::string& label) {
    return chrome.begin().op(label, "ruy", 40).end().begin().op(label, "ruy", 44).end().text();
  };
  check(twice(ChromeText("Graph", "runtime"), "$3 Conv2D"));
  check(twice(ChromeText("$0 subg", "$0 sess, $0 subg"), "@3 Conv2D"));
  check(twice(ChromeText("#0 model $0 subg", "$0 sess, #0 model $0 subg"), "@3 Conv2D"));
}

TEST(Trace, GivesTheSameHoweverTheBytesArePieced) {
  const std::string text = ChromeText().run({3, 5}).run({4, 6}).text();
  for (std::size_t piece = 1; piece < 40; ++piece) {
    TraceReader reader;
    reader.begin_file("t");
    for (std::size_t at = 0; at < text.size(); at += piece)
      reader.feed(std::string(text.substr(at, piece)));
    const Trace trace = reader.finish();
    EXPECT_THAT(trace.find({0, 0}, "cpu")->samples_us, ElementsAre(3, 4));
    EXPECT_THAT(trace.find({0, 1}, "cpu")->samples_us, ElementsAre(5, 6));
  }
}

TEST(Trace, TakesSamplesFromTheChromeFormAndAveragesFromTheOther) {
  TraceReader reader;
  reader.begin_file("cpu_1");
  reader.feed(averaged("\"cpu\" : {" + entry("$0 subgraph $0 Add", 7) + "}"));
  reader.begin_file("cpu_1.chrome.json");
  reader.feed(ChromeText().run({6}).run({9}).text());
  const Trace trace = reader.finish();
  ASSERT_EQ(trace.ops.size(), 1);
  EXPECT_THAT(trace.ops[0].samples_us, ElementsAre(6, 9));
  EXPECT_EQ(trace.ops[0].averaged->mean_us, 7);
  EXPECT_TRUE(trace.has_samples());
  EXPECT_TRUE(trace.has_averages());
  EXPECT_TRUE(trace.warnings.empty());
}

TEST(Trace, NoticesTwoFormsOfDifferentRuns) {
  TraceReader reader;
  reader.begin_file("cpu_1");
  reader.feed(averaged("\"ruy\" : {" + entry("$0 subgraph $0 Add", 7) + "}"));
  reader.begin_file("cpu_1.chrome.json");
  reader.feed(ChromeText().run({6}).text());
  EXPECT_THAT(warning_ids(reader.finish()), ElementsAre("forms_disagree"));
}

TEST(Trace, MarksASequenceOfOperationsAsFused) {
  const Trace trace =
      parse_trace(averaged("\"cpu\" : {" + entry("$0 Conv2D (+5)", 700) + "}"), "t");
  EXPECT_EQ(trace.ops.at(0).op, (OpId{0, 0}));
  EXPECT_EQ(trace.ops.at(0).fused_extra, 5);
}

TEST(Trace, NamesFileAndLabelOfAnUnknownOperation) {
  EXPECT_EQ(refusal(averaged("\"cpu\" : {" + entry("$0 stage $3 Conv2D", 1) + "}")),
            "byte 30: unknown label '$0 stage $3 Conv2D'");
  EXPECT_THAT(refusal(ChromeText().begin().op("Conv2D", "cpu", 1).end().text()),
              HasSubstr("unknown label 'Conv2D'"));
  EXPECT_THAT(refusal(ChromeText().begin().event("@0 Add", "lane 7", "B", 1).text()),
              HasSubstr("unknown thread 'lane 7'"));
  EXPECT_THAT(refusal(averaged("\"Subgraph(0x5581): cpu\" : {}")),
              HasSubstr("a backend of an unknown form"));
}

TEST(Trace, KeepsPermuteAndControlFlowUnderTheirOwnBackend) {
  const Trace trace = parse_trace(
      averaged("\"cpu\" : {" + entry("$0 subgraph $0 Add", 5) + "}, \"builtin\" : {" +
               entry("$0 subgraph $9 Permute", 3) + ", " + entry("$0 subgraph $1 While", 70) +
               "}, \"controlflow\" : {" + entry("$0 subgraph $2 If", 8) + "}"),
      "t");
  EXPECT_EQ(trace.find({0, 9}, "builtin")->type, "Permute");
  EXPECT_EQ(trace.find({0, 1}, "builtin")->averaged->mean_us, 70);
  EXPECT_EQ(trace.find({0, 2}, "controlflow")->type, "If");
  EXPECT_EQ(trace.find({0, 1}, "cpu"), nullptr);
}

TEST(Trace, KeepsTheShapeThatAPermuteCopies) {
  ChromeText chrome;
  chrome.begin().event(
      "@9 Permute", "$0 sess, $0 subg, builtin", "B", 1001,
      ", \"args\" : { \"input_shape_0\" : \"shape(1 48 48 3)\", \"session\" : \"0\"}");
  chrome.event("@9 Permute", "$0 sess, $0 subg, builtin", "E", 1051,
               ", \"args\" : { \"session\" : \"0\"}");
  chrome.op("@0 Add", "cpu", 4);
  const Trace trace =
      parse_trace(chrome.event("$0 subg", "$0 sess, $0 subg", "E", 2000).text(), "t");
  const OpTrace* const permute = trace.find({0, 9}, "builtin");
  EXPECT_THAT(permute->input_shape.value(), ElementsAre(1, 48, 48, 3));
  EXPECT_EQ(permute->input_elements(), 6912);
  EXPECT_EQ(permute->position, 0);
  EXPECT_EQ(trace.find({0, 0}, "cpu")->position, 1);
  EXPECT_EQ(trace.find({0, 0}, "cpu")->input_elements(), std::nullopt);
}

TEST(Trace, HasNoElementsWhereTheShapeSaysNothing) {
  OpTrace op;
  op.input_shape = std::vector<std::int64_t>{1, -1, 3};
  EXPECT_EQ(op.input_elements(), std::nullopt);
  op.input_shape = std::vector<std::int64_t>{1L << 40, 1L << 40};
  EXPECT_EQ(op.input_elements(), std::nullopt);
  op.input_shape = std::vector<std::int64_t>{};
  EXPECT_EQ(op.input_elements(), 1);
}

TEST(Trace, RefusesAnEmptyFileAndOneThatIsCutInTheMiddle) {
  EXPECT_EQ(refusal(""), "byte 0: the file is empty");
  EXPECT_EQ(refusal(" \n"), "byte 2: the file holds only blanks");
  EXPECT_THAT(refusal("{}"), HasSubstr("neither Execution_Data nor traceEvents"));
  const std::string whole = averaged("\"cpu\" : {" + entry("$0 Add", 1) + "}");
  for (std::size_t size = 1; size + 2 < whole.size(); size += 7) {
    EXPECT_EQ(refusal(whole.substr(0, size)),
              "byte " + std::to_string(size) + ": the file is cut off here");
  }
  EXPECT_THAT(refusal("{\"Execution_Data\" : {\"memory\" : {}}}"),
              HasSubstr("no run of the graph"));
  EXPECT_THAT(refusal("{\"traceEvents\" : [ { } ]}"), HasSubstr("no run of the graph"));
}

TEST(Trace, UsesTheRunsBeforeTheEndOfAChromeFileWithoutFooter) {
  const std::string open = ChromeText().run({3}).run({4}).open();
  const Trace trace = parse_trace(open, "t");
  EXPECT_THAT(trace.find({0, 0}, "cpu")->samples_us, ElementsAre(3, 4));
  EXPECT_TRUE(trace.cut);
  EXPECT_THAT(warning_ids(trace), ElementsAre("trace_cut"));
  const std::string event_cut = open.substr(0, open.size() - 20);
  EXPECT_EQ(refusal(event_cut),
            "byte " + std::to_string(event_cut.size()) + ": the file is cut off here");
}

TEST(Trace, LeavesOutARunWhoseBeginsAndEndsDoNotMatch) {
  const auto damaged = [](ChromeText& chrome) {
    const Trace trace = parse_trace(chrome.run({5}).text(), "t");
    EXPECT_EQ(trace.damaged, 1);
    EXPECT_EQ(trace.executions, 2);
    EXPECT_THAT(warning_ids(trace), ElementsAre("trace_damaged"));
    EXPECT_THAT(trace.find({0, 0}, "cpu")->samples_us, ElementsAre(3, 5));
  };
  const std::string cpu = "$0 sess, $0 subg, cpu";
  ChromeText begin_without_end, end_without_begin, two_begins, graph_without_end;
  damaged(begin_without_end.run({3}).begin().event("@0 Add", cpu, "B", 1050).end());
  damaged(end_without_begin.run({3}).begin().event("@0 Add", cpu, "E", 1050).end());
  damaged(two_begins.run({3})
              .begin()
              .event("@0 Add", cpu, "B", 1050)
              .event("@0 Add", cpu, "B", 1060)
              .event("@0 Add", cpu, "E", 1070)
              .end());
  damaged(graph_without_end.run({3}).begin().op("@0 Add", "cpu", 9));
}

TEST(Trace, RefusesEventsThatMeanNothing) {
  const std::string cpu = "$0 sess, $0 subg, cpu";
  EXPECT_THAT(refusal(ChromeText().end().text()),
              HasSubstr("a run of the graph ends that did not begin"));
  EXPECT_THAT(refusal(ChromeText().op("@0 Add", "cpu", 1).text()),
              HasSubstr("an operation outside the runs of the graph"));
  EXPECT_THAT(refusal(ChromeText()
                          .begin()
                          .event("@0 Add", cpu, "B", 2000)
                          .event("@0 Add", cpu, "E", 1999)
                          .end()
                          .text()),
              HasSubstr("an end before its begin"));
  EXPECT_THAT(refusal(ChromeText()
                          .begin()
                          .event("@0 Add", cpu, "B", 0)
                          .event("@0 Add", cpu, "E", 5000000000)
                          .end()
                          .text()),
              HasSubstr("a time of more than an hour"));
  EXPECT_THAT(refusal(ChromeText().begin().op("@0 Add", "cpu", 1).text()),
              HasSubstr("no run of the graph in it is complete"));
  const std::string head =
      "{\"traceEvents\":[{\"name\":\"$0 subg\",\"tid\":\"$0 sess, $0 subg\",\"ph\":\"B\"";
  EXPECT_EQ(refusal(head + "}]}"), "byte 16: an event without a time in whole microseconds");
  EXPECT_EQ(refusal(head + ",\"ts\":\"1.5\"}]}"),
            "byte 16: an event without a time in whole microseconds");
  EXPECT_EQ(refusal(head + ",\"ts\":\"-1\"}]}"),
            "byte 16: an event without a time in whole microseconds");
  EXPECT_EQ(refusal("{\"traceEvents\":{}}"), "byte 15: traceEvents is no array");
  EXPECT_EQ(refusal("{\"traceEvents\":[[]]}"), "byte 16: an event is no object");
  EXPECT_EQ(refusal("{\"traceEvents\":[3]}"), "byte 16: an event is no object");
  EXPECT_EQ(refusal("{\"traceEvents\":3}"), "byte 15: an event is no object");
}

TEST(Trace, RefusesTimesThatAreNone) {
  const auto with = [](const std::string& time) {
    return averaged("\"cpu\" : {\"$0 Add\" : " + time + "}");
  };
  EXPECT_THAT(refusal(with("{\"Max_Time\" : 3}")), HasSubstr("a time without Avg_Time"));
  EXPECT_THAT(refusal(with("{\"Avg_Time\" : \"3\"}")), HasSubstr("a number expected"));
  EXPECT_THAT(refusal(with("{\"Avg_Time\" : null}")), HasSubstr("a number expected"));
  EXPECT_THAT(refusal(with("{\"Avg_Time\" : -3}")),
              HasSubstr("a time that is no number of microseconds"));
  EXPECT_THAT(refusal(with("{\"Avg_Time\" : 1e999}")),
              HasSubstr("a time that is no number of microseconds"));
  EXPECT_THAT(refusal(with("3")), HasSubstr("an object expected"));
  EXPECT_THAT(refusal(with("[3]")), HasSubstr("an object expected"));
  EXPECT_THAT(refusal("{\"Execution_Data\" : 3}"), HasSubstr("an object expected"));
  EXPECT_THAT(refusal("{\"Execution_Data\" : {\"cpu\" : 3}}"), HasSubstr("an object expected"));
}

TEST(Trace, SkipsWhatNewerRuntimesMayAdd) {
  const Trace trace = parse_trace(
      "{\"new\" : [1, {\"traceEvents\" : 3}], \"Execution_Data\" : {\"memory\" : {\"maxrss\" : "
      "{\"Avg_Size\" : 3, \"Runtime\" : \"NA\"}}, "
      "\"cpu\" : {\"$0 Add\" : {\"Avg_Time\" : 4, \"Runs\" : 55, \"More\" : {\"Avg_Time\" : "
      "[1]}}}, "
      "\"runtime\" : {\"User\" : {\"x\" : 3}, \"Graph\" : {\"Avg_Time\" : 9}, \"Other\" : 3}}, "
      "\"version\" : \"4\"}",
      "t");
  EXPECT_EQ(trace.find({0, 0}, "cpu")->averaged, (AveragedTime{4, {}, {}}));
  EXPECT_EQ(trace.graph_averaged, (AveragedTime{9, {}, {}}));
  ChromeText chrome;
  chrome.begin()
      .event("maxrss", "counters", "C", 1)
      .event("a user's", "$0 sess, $0 subg", "B", 1)
      .op("@0 Add", "cpu", 2)
      .end();
  EXPECT_THAT(parse_trace(chrome.text(), "t").find({0, 0}, "cpu")->samples_us, ElementsAre(2));
}

TEST(Trace, KeepsZeroMicrosecondsAsATime) {
  EXPECT_THAT(
      parse_trace(ChromeText().run({0}).run({0}).text(), "t").find({0, 0}, "cpu")->samples_us,
      ElementsAre(0, 0));
  EXPECT_EQ(parse_trace(averaged("\"cpu\" : {" + entry("$0 Add", 0) + "}"), "t")
                .ops.at(0)
                .averaged->mean_us,
            0);
}

TEST(Trace, KeepsOperationsOfDifferentSubgraphsApart) {
  const Trace trace = parse_trace(averaged("\"cpu\" : {" + entry("$0 subgraph $0 Add", 5) + ", " +
                                           entry("$1 subgraph $0 Mul", 6) + "}"),
                                  "t");
  EXPECT_EQ(trace.find({0, 0}, "cpu")->averaged->mean_us, 5);
  EXPECT_EQ(trace.find({1, 0}, "cpu")->averaged->mean_us, 6);
}

TEST(Trace, RefusesAFormThatMixesSubgraphsOrModels) {
  EXPECT_THAT(
      refusal(averaged("\"cpu\" : {" + entry("$0 Add", 5) + ", " + entry("$0 Mul", 6) + "}")),
      HasSubstr("operation 0:0 is Add before and Mul here"));
  EXPECT_THAT(refusal(averaged("\"cpu\" : {" + entry("#0 model $0 subgraph $0 Add", 5) + ", " +
                               entry("#1 model $0 subgraph $1 Mul", 6) + "}")),
              HasSubstr("operations of model 1 after those of model 0"));
}

TEST(Trace, SumsWhatASubgraphDoesWithinOneRunOfTheGraph) {
  ChromeText chrome;
  for (int run = 0; run < 2; ++run) {
    chrome.begin().event("@0 While", "$0 sess, $0 subg, builtin", "B", 1100 + run * 1000);
    for (int round = 0; round < 3; ++round) {
      const long at = 1110 + run * 1000 + round * 20;
      chrome.event("$1 subg", "$0 sess, $1 subg", "B", at);
      chrome.event("@0 Add", "$0 sess, $1 subg, cpu", "B", at + 1)
          .event("@0 Add", "$0 sess, $1 subg, cpu", "E", at + 1 + 4 + run);
      chrome.event("$1 subg", "$0 sess, $1 subg", "E", at + 10);
    }
    chrome.event("@0 While", "$0 sess, $0 subg, builtin", "E", 1200 + run * 1000);
    chrome.event("$0 subg", "$0 sess, $0 subg", "E", 1300 + run * 1000);
  }
  const Trace trace = parse_trace(chrome.text(), "t");
  EXPECT_THAT(trace.find({1, 0}, "cpu")->samples_us, ElementsAre(12, 15));
  EXPECT_THAT(trace.find({0, 0}, "builtin")->samples_us, ElementsAre(100, 100));
  EXPECT_THAT(trace.ops_us, ElementsAre(100, 100));
}

TEST(Trace, SharesOutWhatASubgraphRecordedApart) {
  ChromeText main;
  main.run({3}).run({4});
  const std::string body_thread = "$0 sess, $1 subg";
  for (const long at : {1001L, 1020L, 1040L, 1060L}) {
    main.event("$1 subg", body_thread, "B", at)
        .event("@0 Mul", body_thread + ", cpu", "B", at + 1)
        .event("@0 Mul", body_thread + ", cpu", "E", at + 6);
    main.event("$1 subg", body_thread, "E", at + 7);
  }
  const Trace trace = parse_trace(main.text(), "t");
  EXPECT_EQ(trace.find({1, 0}, "cpu")->apart_us, 10);
  EXPECT_TRUE(trace.find({1, 0}, "cpu")->samples_us.empty());
  EXPECT_EQ(trace.executions, 2);
  EXPECT_THAT(trace.ops_us, ElementsAre(3, 4));
}

TEST(Trace, ReadsSeveralDocumentsInOneFile) {
  const std::string text =
      averaged("\"cpu\" : {" + entry("$0 session $0 subgraph $0 Add", 5) + "}", 50) +
      averaged("\"cpu\" : {" + entry("$1 session $0 subgraph $0 Add", 7) + "}", 70);
  const Trace trace = parse_trace(text, "t");
  EXPECT_EQ(trace.find({0, 0}, "cpu")->averaged->mean_us, 7);
  EXPECT_EQ(trace.graph_averaged->mean_us, 70);
  EXPECT_THAT(warning_ids(trace), ElementsAre("several_sessions"));
  EXPECT_THAT(parse_trace(ChromeText().run({3}).text() + ChromeText().run({8}).text(), "t")
                  .find({0, 0}, "cpu")
                  ->samples_us,
              ElementsAre(3, 8));
}

TEST(Trace, ToleratesBytesThatAreNotUtf8InAName) {
  const Trace trace =
      parse_trace(averaged("\"cpu\" : {" + entry("$0 subgraph $0 My\xff\xc0Op", 5) + "}"), "t");
  EXPECT_EQ(trace.ops.at(0).type, "My\xef\xbf\xbd\xef\xbf\xbdOp");
}

TEST(Trace, DropsTheRunsBeforeTheLastOnesAskedFor) {
  ChromeText chrome;
  for (const long us : {900, 500, 3, 4, 5}) chrome.run({us});
  const Trace trace = parse_trace(chrome.text(), "t", {.last_runs = 3});
  EXPECT_THAT(trace.find({0, 0}, "cpu")->samples_us, ElementsAre(3, 4, 5));
  EXPECT_THAT(trace.graph_us, ElementsAre(5, 6, 7));
  EXPECT_EQ(trace.executions, 5);
  EXPECT_EQ(trace.dropped, 2);
  EXPECT_TRUE(trace.warnings.empty());
  EXPECT_THAT(warning_ids(parse_trace(chrome.text(), "t", {.last_runs = 6})),
              ElementsAre("fewer_runs"));
}

TEST(Trace, NeverTakesAWarmUpRunInPlaceOfADamagedOne) {
  ChromeText chrome;
  chrome.run({900})
      .run({3})
      .begin()
      .event("@0 Add", "$0 sess, $0 subg, cpu", "E", 1950)
      .end()
      .run({5});
  EXPECT_THAT(parse_trace(chrome.text(), "t", {.last_runs = 3}).find({0, 0}, "cpu")->samples_us,
              ElementsAre(3, 5));
}

TEST(Trace, ThinsManyRunsEvenlyAndSaysSo) {
  ChromeText chrome;
  for (long run = 0; run < 100; ++run) chrome.run({run});
  const Trace all = parse_trace(chrome.text(), "t", {.max_executions = 30});
  EXPECT_EQ(all.stride, 4);
  EXPECT_EQ(all.graph_us.size(), 25);
  EXPECT_EQ(all.find({0, 0}, "cpu")->samples_us.at(24), 96);
  EXPECT_EQ(all.executions, 100);
  EXPECT_THAT(warning_ids(all), ElementsAre("samples_thinned"));
  const Trace window = parse_trace(chrome.text(), "t", {.last_runs = 20, .max_executions = 10});
  EXPECT_THAT(window.find({0, 0}, "cpu")->samples_us,
              ElementsAre(80, 82, 84, 86, 88, 90, 92, 94, 96, 98));
  const Trace few = parse_trace(chrome.text(), "t", {.last_runs = 3, .max_samples = 1});
  EXPECT_FALSE(few.graph_us.empty());
}

TEST(Trace, LeavesGapsWhereAnOperationDidNotRun) {
  ChromeText chrome;
  chrome.begin()
      .op("@0 Add", "cpu", 3)
      .op("@1 Mul", "cpu", 4)
      .end()
      .begin()
      .op("@0 Add", "cpu", 5)
      .end();
  const Trace trace = parse_trace(chrome.text(), "t");
  EXPECT_THAT(trace.find({0, 0}, "cpu")->samples_us, ElementsAre(3, 5));
  EXPECT_THAT(trace.find({0, 1}, "cpu")->samples_us, ElementsAre(4));
  EXPECT_EQ(trace.find({0, 1}, "cpu")->position, std::nullopt);
  EXPECT_EQ(trace.find({0, 2}, "cpu"), nullptr);
}

TEST(Trace, AcceptsOverlappingOperationsOfTheParallelExecutor) {
  ChromeText chrome;
  chrome.begin()
      .event("@0 Add", "$0 sess, $0 subg, cpu", "B", 1010)
      .event("@1 Mul", "$0 sess, $0 subg, ruy", "B", 1011);
  chrome.event("@0 Add", "$0 sess, $0 subg, cpu", "E", 1020)
      .event("@1 Mul", "$0 sess, $0 subg, ruy", "E", 1031);
  const Trace trace =
      parse_trace(chrome.event("$0 subg", "$0 sess, $0 subg", "E", 1040).text(), "t");
  EXPECT_THAT(trace.find({0, 0}, "cpu")->samples_us, ElementsAre(10));
  EXPECT_THAT(trace.find({0, 1}, "ruy")->samples_us, ElementsAre(20));
}

TEST(Trace, RefusesMoreDifferentNamesThanAnyModelHas) {
  std::string text = "{\"traceEvents\":[";
  for (int i = 0; i <= 1 << 18; ++i) {
    text += "{\"name\":\"n" + std::to_string(i) + "\",\"tid\":\"runtime\",\"ph\":\"B\",\"ts\":1},";
  }
  EXPECT_THAT(refusal(text + "{}]}"), HasSubstr("too many different names"));
  EXPECT_THAT(refusal(averaged("\"cpu\" : {" + entry("$0 " + std::string(300, 'x'), 1) + "}")),
              HasSubstr("more than 256 bytes"));
}

/// 15,625 executions of 31 operations: the events pass through a reader that holds a few of them.
TEST(Trace, ReadsAMillionEventsInBoundedMemory) {
  TraceOptions options;
  options.max_executions = 1000;
  TraceReader reader(options);
  ChromeText first;
  reader.begin_file("t");
  reader.feed(first.open());
  constexpr int k_executions = 15'625;
  std::size_t events = 0;
  for (int execution = 0; execution < k_executions; ++execution) {
    ChromeText one;
    one.run(std::vector<long>(31, 7));
    const std::string text = one.open();
    events += static_cast<std::size_t>(std::count(text.begin(), text.end(), '{')) - 1;
    reader.feed(std::string_view(text).substr(first.open().size()));
  }
  reader.feed("    { }\n  ]\n}\n");
  const Trace trace = reader.finish();
  EXPECT_EQ(events, 1'000'000U);
  ASSERT_EQ(trace.ops.size(), 31U);
  EXPECT_LE(trace.graph_us.size(), options.max_executions);
  EXPECT_GE(trace.graph_us.size(), options.max_executions / 2);
  EXPECT_EQ(trace.ops.front().samples_us.size(), trace.graph_us.size());
  EXPECT_THAT(warning_ids(trace), ElementsAre("samples_thinned"));
}

}  // namespace
}  // namespace stab
