// SPDX-License-Identifier: Apache-2.0
#include "core/trace_label.h"

#include <gtest/gtest.h>

#include "stab/core/trace.h"

namespace stab {
namespace {

TEST(TraceLabel, IsTheSameOperationInEveryFormOfTheRuntime) {
  for (const char* const text :
       {"$3 Conv2D", "@3 Conv2D", "$0 subgraph $3 Conv2D", "$0 subgraph @3 Conv2D",
        "$1 session $0 subgraph $3 Conv2D", "#0 model $0 subgraph $3 Conv2D",
        "$0 session #0 model $0 subgraph $3 Conv2D", "#0 model $0 subgraph @3 Conv2D"}) {
    const auto label = parse_label(text);
    ASSERT_TRUE(label) << text;
    EXPECT_EQ(label->op, 3) << text;
    EXPECT_EQ(label->subgraph.value_or(0), 0) << text;
    EXPECT_EQ(label->type, "Conv2D") << text;
    EXPECT_EQ(label->fused_extra, 0) << text;
  }
}

TEST(TraceLabel, KeepsSessionModelAndSubgraphApart) {
  EXPECT_EQ(parse_label("$4 session #2 model $1 subgraph $7 Add"),
            (TraceLabel{4, 2, 1, 7, "Add", 0}));
  EXPECT_EQ(parse_label("$7 Add"), (TraceLabel{{}, {}, {}, 7, "Add", 0}));
}

TEST(TraceLabel, TellsASequenceOfOperationsFromOneOperation) {
  EXPECT_EQ(parse_label("$0 Conv2D (+5)"), (TraceLabel{{}, {}, {}, 0, "Conv2D", 5}));
  EXPECT_EQ(parse_label("$0 subgraph $2 Add (+12)"), (TraceLabel{{}, {}, 0, 2, "Add", 12}));
}

TEST(TraceLabel, GuessesNothingFromTextOfAnotherForm) {
  for (const char* const text : {"",
                                 " ",
                                 "Conv2D",
                                 "$3",
                                 "$3 ",
                                 "3 Conv2D",
                                 "$ Conv2D",
                                 "$x Conv2D",
                                 "$-3 Conv2D",
                                 "$3x Conv2D",
                                 "$99999999999 Conv2D",
                                 "$0 subgraph",
                                 "$0 subgraph Conv2D",
                                 "$0 graph $3 Conv2D",
                                 "$0 subgraph $0 subgraph $3 Conv2D",
                                 "$3 Conv2D extra",
                                 "$0 subgraph $3",
                                 "#0 model $0 subg",
                                 "(+5)",
                                 " (+5)",
                                 "$3 (+5)",
                                 "%3 Conv2D",
                                 "$0 subgraph$3 Conv2D",
                                 "Graph",
                                 "$3 Conv2D (+x)",
                                 "$3 Conv2D (5)",
                                 "$3 Conv2D (+5"}) {
    EXPECT_FALSE(parse_label(text)) << '"' << text << '"';
  }
}

TEST(TraceLabel, MakesATypeOfAnyBytesPrintable) {
  EXPECT_EQ(parse_label("$3 Co\xffnv\x01")->type, "Co\xef\xbf\xbdnv\xef\xbf\xbd");
  EXPECT_EQ(parse_label("$3 Gr\xc3\xbc\xc3\x9f")->type, "Gr\xc3\xbc\xc3\x9f");
}

TEST(TraceThread, NamesTheBackendInEveryForm) {
  EXPECT_EQ(parse_thread("cpu")->backend, "cpu");
  EXPECT_EQ(parse_thread("$0 sess, $0 subg, acl_neon")->backend, "acl_neon");
  const auto thread = parse_thread("$1 sess, #2 model $3 subg, ruy");
  EXPECT_EQ(thread->session, 1);
  EXPECT_EQ(thread->model, 2);
  EXPECT_EQ(thread->subgraph, 3);
  EXPECT_EQ(thread->backend, "ruy");
}

TEST(TraceThread, IsTheRuntimeItselfWithoutABackend) {
  EXPECT_EQ(parse_thread("runtime")->backend, "");
  EXPECT_EQ(parse_thread("$0 sess, #0 model $0 subg")->backend, "");
  EXPECT_EQ(parse_thread("")->backend, "");
}

TEST(TraceThread, RefusesTextOfAnotherForm) {
  for (const char* const text : {"$0 sess, cpu, $0 subg", "$0 sess, $0 subg, c pu", "$0 foo, cpu",
                                 "$x sess, cpu", "cpu;ruy", "$0"}) {
    EXPECT_FALSE(parse_thread(text)) << text;
  }
}

TEST(GraphLabel, IsAQualifiedSubgraphAndNothingElse) {
  EXPECT_EQ(parse_graph_label("$2 subg")->subgraph, 2);
  EXPECT_EQ(parse_graph_label("#0 model $1 subg")->subgraph, 1);
  EXPECT_FALSE(parse_graph_label("$2 subg $3 Conv2D"));
  EXPECT_FALSE(parse_graph_label("#0 model"));
  EXPECT_FALSE(parse_graph_label("Graph"));
  EXPECT_FALSE(parse_graph_label(""));
}

}  // namespace
}  // namespace stab
