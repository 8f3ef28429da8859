// SPDX-License-Identifier: Apache-2.0
#include "stab/core/schedule_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

KeyRequest request(Placement placement) {
  KeyRequest request;
  request.placement = std::move(placement);
  request.backends = {"cpu", "xnnpack", "ruy", "acl_neon"};
  return request;
}

TEST(ScheduleKeys, ListsEachOperationThatIsNotOnCpuAndOnlyUsedBackends) {
  KeyRequest wanted =
      request({{{0, 5}, "xnnpack"}, {{0, 10}, "ruy"}, {{0, 3}, "ruy"}, {{0, 4}, "cpu"}});
  wanted.threads = 2;
  EXPECT_THAT(schedule_keys(wanted),
              ElementsAre(Pair("BACKENDS", "cpu;xnnpack;ruy"),
                          Pair("OP_BACKEND_MAP", "3=ruy;5=xnnpack;10=ruy"),
                          Pair("OP_SEQ_MAX_NODE", "1"), Pair("EIGEN_THREADS", "2"),
                          Pair("RUY_THREADS", "2"), Pair("XNNPACK_THREADS", "2"),
                          Pair("NUM_THREADS", "2"), Pair("EXECUTOR", "Linear")));
}

TEST(ScheduleKeys, HasNoMapWhenEverythingIsOnCpu) {
  const RuntimeKeys keys = schedule_keys(request({}));
  EXPECT_EQ(*find_key(keys, "BACKENDS"), "cpu");
  EXPECT_EQ(find_key(keys, "OP_BACKEND_MAP"), nullptr);
}

TEST(ScheduleKeys, TakesTheUsersKeysAndLetsTheRemedyWin) {
  KeyRequest wanted = request({});
  wanted.set = {{"CPU_MEMORY_PLANNER", "FirstFit"}, {"EXECUTOR", "Parallel"}, {"FP16_ENABLE", "1"}};
  RuntimeKeys keys = schedule_keys(wanted);
  EXPECT_EQ(*find_key(keys, "EXECUTOR"), "Parallel");
  EXPECT_EQ(*find_key(keys, "CPU_MEMORY_PLANNER"), "FirstFit");
  EXPECT_EQ(*find_key(keys, "FP16_ENABLE"), "1");
  wanted.memory_planner = "Bump";
  keys = schedule_keys(wanted);
  EXPECT_EQ(*find_key(keys, "CPU_MEMORY_PLANNER"), "Bump");
  EXPECT_EQ(keys.size(), 9U);
}

TEST(ScheduleKeys, WritesTheFirstStabsFormForGreedy) {
  KeyRequest wanted = request({{{0, 0}, "ruy"}, {{0, 2}, "xnnpack"}});
  wanted.greedy = GreedyForm{
      "ruy", {"Conv2D", "FullyConnected", "Conv2D"}, {{{0, 1}, "cpu"}, {{0, 2}, "xnnpack"}}};
  RuntimeKeys keys = schedule_keys(wanted);
  keys.resize(4);
  EXPECT_THAT(
      keys,
      ElementsAre(Pair("BACKENDS", "cpu;xnnpack;ruy"), Pair("OP_BACKEND_MAP", "1=cpu;2=xnnpack;"),
                  Pair("OP_BACKEND_Conv2D", "ruy"), Pair("OP_BACKEND_FullyConnected", "ruy")));
}

TEST(ScheduleKeys, WritesNoTypesForGreedyWhenTheDefaultIsCpu) {
  KeyRequest wanted = request({{{0, 2}, "ruy"}});
  wanted.greedy = GreedyForm{"cpu", {}, {{{0, 2}, "ruy"}}};
  const RuntimeKeys keys = schedule_keys(wanted);
  EXPECT_EQ(*find_key(keys, "BACKENDS"), "cpu;ruy");
  EXPECT_EQ(*find_key(keys, "OP_BACKEND_MAP"), "2=ruy;");
  EXPECT_EQ(keys[2].first, "OP_SEQ_MAX_NODE");
}

TEST(ScheduleKeys, NeverMapsAnOperationOfAnotherSubgraph) {
  EXPECT_THROW(schedule_keys(request({{{1, 0}, "ruy"}})), Error);
}

TEST(ScheduleKeys, LeavesOnlyLateKeysWhereTheRuntimeReadsTheConfigurationTooLate) {
  KeyRequest wanted = request({{{0, 2}, "ruy"}});
  wanted.memory_planner = "Bump";
  EXPECT_THAT(late_keys(schedule_keys(wanted)),
              ElementsAre(Pair("EIGEN_THREADS", "1"), Pair("RUY_THREADS", "1"),
                          Pair("XNNPACK_THREADS", "1"), Pair("NUM_THREADS", "1"),
                          Pair("CPU_MEMORY_PLANNER", "Bump")));
}

TEST(ScheduleKeys, RendersAnEnvironmentThatAShellReads) {
  EXPECT_THAT(render_environment({{"BACKENDS", "cpu;ruy"}, {"A", "it's $HOME"}}),
              HasSubstr("\nBACKENDS='cpu;ruy'; export BACKENDS\nA='it'\\''s $HOME'; export A\n"));
  EXPECT_THROW(render_environment({{"A B", "1"}}), Error);
  EXPECT_THROW(render_environment({{"A", std::string("1\0", 2)}}), Error);
}

TEST(ScheduleKeys, FindsAKeyThatNoEnvironmentHolds) {
  RuntimeKeys keys = {{"A", "1"}, {"OP_BACKEND_MAP", std::string(131'071 - 15, 'x')}};
  EXPECT_EQ(too_long_for_environment(keys), nullptr);
  keys[1].second += 'x';
  ASSERT_NE(too_long_for_environment(keys), nullptr);
  EXPECT_EQ(*too_long_for_environment(keys), "OP_BACKEND_MAP");
}

TEST(ScheduleKeys, GivesTheApiItsTwoStrings) {
  const ApiStrings some =
      api_strings({{{0, 2}, "ruy"}, {{0, 0}, "xnnpack"}}, {"cpu", "ruy", "xnnpack"});
  EXPECT_EQ(some.available_backends, "cpu;ruy;xnnpack");
  EXPECT_EQ(some.per_operation, "0=xnnpack;2=ruy");
  EXPECT_EQ(api_strings({}, {"ruy"}).available_backends, "cpu");
  EXPECT_EQ(api_strings({}, {"ruy"}).per_operation, "");
}

TEST(ScheduleKeys, KnowsHowManyBackendsTheApiTakes) {
  EXPECT_TRUE(fits_api({"cpu;ruy;xnnpack;acl_neon;acl_cl", ""}));
  EXPECT_FALSE(fits_api({"cpu;ruy;xnnpack;acl_neon;gpu_cl2", ""}));
}

TEST(ScheduleKeys, RefusesSetKeysThatBelongToStabOrCannotBeDelivered) {
  EXPECT_NO_THROW(check_set_keys({{"EXECUTOR", "Parallel"}, {"CPU_MEMORY_PLANNER", "Bump"}}));
  for (const char* key : {"BACKENDS", "OP_BACKEND_Conv2D", "NUM_THREADS", "TRACE_FILEPATH",
                          "WORKSPACE_DIR", "A B", "", "1A", "A-B"}) {
    EXPECT_THROW(check_set_keys({{key, "1"}}), Error) << key;
  }
  for (const char* value : {"", " 1", "1\t", "a#b", "a\nb", "a\rb"}) {
    EXPECT_THROW(check_set_keys({{"A", value}}), Error) << value;
  }
  try {
    check_set_keys({{"RUY_THREADS", "4"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("RUY_THREADS"));
  }
}

TEST(ScheduleKeys, RefusesBackendNamesThatTheKeysCannotHold) {
  EXPECT_NO_THROW(check_backend_names({"cpu", "acl_neon", "gpu-cl", "x2"}));
  using Names = std::vector<std::string>;
  for (const Names& names : {Names{}, Names{""}, Names{"a;b"}, Names{"a=b"}, Names{"a b"},
                             Names{"builtin"}, Names{"ruy", "ruy"}, Names{"../x"}}) {
    EXPECT_THROW(check_backend_names(names), Error);
  }
}

Operation operation(int subgraph, int index, std::string type) {
  Operation made;
  made.id = {subgraph, index};
  made.type = std::move(type);
  return made;
}

TEST(ScheduleKeys, LeavesOutIndicesThatMeanAnotherOperationInABody) {
  Model model;
  model.subgraphs.resize(2);
  for (int i = 0; i < 5; ++i) model.subgraphs[0].operations.push_back(operation(0, i, "Conv2D"));
  model.subgraphs[0].operations[3].control_flow = true;
  model.subgraphs[0].operations[4].custom = true;
  model.subgraphs[1].operations = {operation(1, 0, "Mul"), operation(1, 1, "Add")};
  Placement placement = {
      {{0, 1}, "ruy"}, {{0, 2}, "ruy"}, {{0, 3}, "ruy"}, {{0, 4}, "ruy"}, {{1, 0}, "ruy"}};
  const std::vector<LeftOut> left_out = drop_unmappable(placement, model);
  EXPECT_THAT(placement, ElementsAre(Pair(OpId{0, 2}, "ruy")));
  ASSERT_EQ(left_out.size(), 4U);
  EXPECT_EQ(left_out[0].op, (OpId{0, 1}));
  EXPECT_EQ(left_out[0].wanted, "ruy");
  EXPECT_EQ(left_out[0].reason, "its index would also move operation 1:1 (Add)");
  EXPECT_THAT(left_out[1].reason, HasSubstr("control flow"));
  EXPECT_THAT(left_out[2].reason, HasSubstr("custom"));
  EXPECT_THAT(left_out[3].reason, HasSubstr("subgraph 1"));
  EXPECT_THAT(drop_unmappable(placement, model), IsEmpty());
}

}  // namespace
}  // namespace stab
