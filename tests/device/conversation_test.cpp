// SPDX-License-Identifier: Apache-2.0
#include "conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "stab/core/error.h"

namespace stab {
namespace {

using testing::HasSubstr;

std::string pass_in_pieces(MarkFilter& filter, const std::string& text, std::size_t piece) {
  std::string passed;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    passed += filter.pass(std::string_view(text).substr(at, piece));
  }
  return passed;
}

TEST(MarkFilter, DropsWhatALoginShellSaysHoweverItIsCut) {
  const std::string text = "Welcome!\nTOK TOKE\nno line feedTOKEN 4711\nfirst\nTOKEN second\n";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    MarkFilter filter("TOKEN");
    EXPECT_EQ(pass_in_pieces(filter, text, piece), "first\nTOKEN second\n");
    EXPECT_TRUE(filter.found());
    EXPECT_EQ(filter.mark(), " 4711");
    EXPECT_THAT(std::string(filter.before()), HasSubstr("no line feed"));
  }
}

TEST(MarkFilter, KeepsLittleOfALotOfJunk) {
  MarkFilter filter("TOKEN");
  const std::string junk(100'000, 'x');
  for (int i = 0; i < 50; ++i) EXPECT_EQ(filter.pass(junk), "");
  EXPECT_LE(filter.before().size(), 4096U);
  EXPECT_EQ(filter.pass("last words\nTOKEN 1\nout"), "out");
}

TEST(MarkFilter, DoesNotWaitForTheEndOfTheLineForEver) {
  MarkFilter filter("TOKEN");
  std::string passed;
  for (int i = 0; i < 50; ++i) passed += filter.pass(i == 0 ? "TOKEN 1" : std::string(1000, 'x'));
  EXPECT_TRUE(filter.found());
  EXPECT_GT(passed.size(), 40'000U);
}

/// A conversation whose far side is played by the test.
class ConversationTest : public testing::Test {
 protected:
  Conversation make(Command command) {
    command.output = [this](std::string_view bytes) { output_ += bytes; };
    return Conversation(relay_, std::move(command), "TOKEN", "board", {});
  }
  static std::string error_of(Conversation& conversation) {
    try {
      conversation.run();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::device);
      return error.what();
    }
    return {};
  }

  std::shared_ptr<Relay> relay_ = std::make_shared<Relay>([] {});
  std::string output_;
};

TEST_F(ConversationTest, QuotesALoginShellThatDoesNotLetItThrough) {
  relay_->deliver(Relay::output,
                  "Hello\n\x1b[2Jaccount \x07"
                  "disabled\n\n");
  relay_->finish({Exit{Exit::How::exited, 1, 0}, {}});
  Conversation conversation = make({});
  EXPECT_THAT(error_of(conversation), HasSubstr("its login shell says: [2Jaccount disabled"));
}

TEST_F(ConversationTest, SaysWhyAndWhereAConnectionBroke) {
  relay_->finish({{}, "the connection broke (reset)"});
  Conversation conversation = make({});
  EXPECT_EQ(error_of(conversation),
            "cannot finish a command on 'board': the connection broke (reset)");
}

TEST_F(ConversationTest, DoesNotStartAProcessOverABrokenConnection) {
  relay_->finish({{}, "the connection broke (reset)"});
  Conversation conversation = make({});
  EXPECT_THROW(conversation.await_ready(), Error);
}

TEST_F(ConversationTest, HandsOutLinesBeforeReadyAndEverythingAfterIt) {
  relay_->deliver(Relay::output, "TOKEN 7\nalready\nready\nreadyish\nready\n");
  relay_->finish({Exit{Exit::How::exited, 0, 0}, {}});
  Conversation conversation = make({});
  conversation.await_ready();
  EXPECT_EQ(output_, "already\nreadyish\nready\n");
  EXPECT_TRUE(conversation.stop().ok());
}

TEST_F(ConversationTest, TellsATimeoutEvenBeforeTheCommandBegan) {
  Command command;
  command.timeout = std::chrono::milliseconds(1);
  Conversation conversation = make(command);
  std::thread far([this] {
    while (!relay_->terminating()) std::this_thread::yield();
    relay_->finish({Exit{Exit::How::exited, 143, 0}, {}});
  });
  EXPECT_EQ(conversation.run().how, Exit::How::timed_out);
  far.join();
}

}  // namespace
}  // namespace stab
