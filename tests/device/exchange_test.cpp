// SPDX-License-Identifier: Apache-2.0
#include "stab/device/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stab/core/error.h"

namespace stab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// What a reader saw, part by part.
struct Seen {
  std::vector<std::string> lines;
  std::string raw;
  std::map<std::string, std::string> blobs;
  std::string current;

  AnswerSinks sinks() {
    return {.line = [this](std::string_view line) { lines.emplace_back(line); },
            .raw = [this](std::string_view bytes) { raw += bytes; },
            .blob_begin =
                [this](const BlobHeader& header) {
                  current = header.attributes + ":" + header.name;
                  blobs[current];
                },
            .blob_data = [this](std::string_view bytes) { blobs[current] += bytes; },
            .blob_end = [this] { current.clear(); }};
  }
};

constexpr const char* k_answer =
    "Welcome!\n@w end\nno newline here\n@w begin\none\n@w raw\nprogram\n@w endrawish\n@x\n@w "
    "endraw\ntwo words\n"
    "@w blob 7 a b\nx\n@w en\n@w blob 0 c\n\n@w end\nlate";

TEST(AnswerReader, TakesAnAnswerApartWhereverItIsCutIntoPieces) {
  for (std::size_t piece = 1; piece < 200; ++piece) {
    Seen seen;
    AnswerReader reader("w", seen.sinks());
    const std::string_view text = k_answer;
    for (std::size_t at = 0; at < text.size(); at += piece) reader.feed(text.substr(at, piece));
    ASSERT_TRUE(reader.ended()) << piece;
    EXPECT_THAT(seen.lines, ElementsAre("one", "two words"));
    EXPECT_EQ(seen.raw, "program\n@w endrawish\n@x");
    EXPECT_THAT(seen.blobs, ElementsAre(Pair(":c", ""), Pair("a:b", "x\n@w en")));
  }
}

TEST(AnswerReader, IsNotAtItsEndBeforeTheLastMark) {
  const std::string_view text = k_answer;
  const std::size_t whole = text.find("@w end\nlate") + 7;
  for (std::size_t size = 0; size < whole; ++size) {
    Seen seen;
    AnswerReader reader("w", seen.sinks());
    reader.feed(text.substr(0, size));
    EXPECT_FALSE(reader.ended()) << size;
  }
}

TEST(AnswerReader, HandsOutAProgramsWordsAtOnceUnlessTheyMayBeTheMark) {
  Seen seen;
  AnswerReader reader("w", seen.sinks());
  reader.feed("\n@w begin\n@w raw\nrun 1 of 5\n");
  EXPECT_EQ(seen.raw, "run 1 of 5");
  reader.feed("x");
  EXPECT_EQ(seen.raw, "run 1 of 5\nx");
}

TEST(AnswerReader, RefusesWhatHasAnotherForm) {
  for (const char* text :
       {"@w what\n", "@w blob\n", "@w blob x y\n", "@w blob -1 y\n", "@w blob 5\n",
        "@w blob 99999999999999999999999 y\n", "@w blob 1 y\nabc"}) {
    Seen seen;
    AnswerReader reader("w", seen.sinks());
    reader.feed("\n@w begin\n");
    EXPECT_THROW(reader.feed(text), Error) << text;
  }
  Seen seen;
  AnswerReader reader("w", seen.sinks());
  reader.feed("\n@w begin\n");
  EXPECT_THROW(reader.feed(std::string(100'000, 'x')), Error);
}

TEST(Tail, KeepsTheEndAndStartsItAtALine) {
  Tail tail(10);
  EXPECT_EQ(tail.text(), "");
  tail.add("abc\n");
  EXPECT_EQ(tail.text(), "abc\n");
  for (int i = 0; i < 1000; ++i) tail.add("line\n");
  EXPECT_EQ(tail.text(), "line\n");
  EXPECT_EQ(tail.total(), 5004);
  tail.add(std::string(500, 'x'));
  EXPECT_EQ(tail.text(), std::string(10, 'x'));
}

TEST(LastWords, PreferTheLineThatNamesTheError) {
  EXPECT_EQ(last_words("start\nError during model prepare : Fail to find backend\n  at line 5\n\n"),
            "Error during model prepare : Fail to find backend");
  EXPECT_EQ(last_words("Error during model prepare : no kernel\n"
                       "stab-runner: nnfw_prepare failed: status 1 (error)\n"),
            "Error during model prepare : no kernel");
  EXPECT_EQ(last_words("start\nstab-runner: nnfw_run failed: status 1 (error)\n"),
            "stab-runner: nnfw_run failed: status 1 (error)");
  EXPECT_EQ(last_words("one\ntwo  \r\n---\n"), "two");
  EXPECT_EQ(last_words("\n \n===\n"), "");
  EXPECT_EQ(last_words("bad \x1b[31mred"), "bad ?[31mred");
}

TEST(Exchange, ReturnsLinesByTheirFirstWord) {
  const auto transport = make_local_transport([] { return false; });
  const Answer answer =
      exchange(*transport, "cannot ask", "say a 1 2; say b; say a 3; printf 'odd' >&2");
  EXPECT_EQ(answer.find("a"), "1 2");
  EXPECT_THAT(answer.all("a"), ElementsAre("1 2", "3"));
  EXPECT_EQ(answer.find("b"), "");
  EXPECT_EQ(answer.find("c"), std::nullopt);
  EXPECT_EQ(answer.errors, "odd");
}

TEST(Exchange, ThrowsTheReasonThatTheScriptGives) {
  const auto transport = make_local_transport([] { return false; });
  try {
    exchange(*transport, "cannot ask", "die space 'no room'\nsay never");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_STREQ(error.what(), "cannot ask 'local': no room");
  }
}

TEST(Exchange, ThrowsWhenTheAnswerIsNotWhole) {
  const auto transport = make_local_transport([] { return false; });
  EXPECT_THROW(exchange(*transport, "cannot ask", "say a\nexit 0"), Error);
  EXPECT_THROW(exchange(*transport, "cannot ask", "kill -9 $$"), Error);
  EXPECT_THROW(
      exchange(*transport, "cannot ask", "sleep 20", {.timeout = std::chrono::milliseconds(200)}),
      Error);
  EXPECT_THROW(exchange(*transport, "cannot ask", "while :; do say 0123456789; done",
                        {.most_bytes = 10'000}),
               Error);
}

}  // namespace
}  // namespace stab
