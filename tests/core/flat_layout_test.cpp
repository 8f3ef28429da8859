// SPDX-License-Identifier: Apache-2.0
#include "stab/core/flat_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stab/core/error.h"

namespace stab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::vector<std::string>;

const Names k_backends = {"cpu", "ruy", "xnnpack", "neon", "acl_neon"};

std::string refusal(const Names& files, std::string_view package, std::optional<int> threads = {},
                    bool force = false) {
  try {
    find_flat_traces(files, package, k_backends, threads, force);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.subject(), package);
    return error.why();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(FlatTraceName, SaysBackendAndThreads) {
  EXPECT_EQ(parse_flat_trace_name("ruy_4", k_backends), (FlatTraceName{{}, "ruy", 4, false}));
  EXPECT_EQ(parse_flat_trace_name("ruy_4.json", k_backends), (FlatTraceName{{}, "ruy", 4, false}));
  EXPECT_EQ(parse_flat_trace_name("ruy_4.chrome.json", k_backends),
            (FlatTraceName{{}, "ruy", 4, true}));
}

TEST(FlatTraceName, SaysThePackageBeforeTheBackend) {
  EXPECT_EQ(parse_flat_trace_name("mobilenet_v1_0.25_224_1_cpu_2", k_backends),
            (FlatTraceName{"mobilenet_v1_0.25_224_1", "cpu", 2, false}));
  EXPECT_EQ(parse_flat_trace_name("onet_xnnpack_1.chrome.json", k_backends),
            (FlatTraceName{"onet", "xnnpack", 1, true}));
}

TEST(FlatTraceName, TakesTheLongestBackendThatFits) {
  EXPECT_EQ(parse_flat_trace_name("acl_neon_1", k_backends),
            (FlatTraceName{{}, "acl_neon", 1, false}));
  EXPECT_EQ(parse_flat_trace_name("x_acl_neon_1", k_backends),
            (FlatTraceName{"x", "acl_neon", 1, false}));
  EXPECT_EQ(parse_flat_trace_name("acl_neon_1", Names{"cpu", "neon"}),
            (FlatTraceName{"acl", "neon", 1, false}));
}

TEST(FlatTraceName, IsNothingElse) {
  for (const char* const name :
       {"", "ruy", "ruy_", "ruy_0", "ruy_01", "ruy_-1", "ruy_x", "ruy_99999", "_ruy_1", "gpu_1",
        "ruy_1.table.md", "ruy_1.chrome", "README.md", ".gitignore", "profile.json", "ruy_1.log",
        "xruy_1"}) {
    EXPECT_FALSE(parse_flat_trace_name(name, k_backends)) << name;
  }
}

TEST(FlatTraces, CollectsBothFormsOfEachBackendInTheOrderAskedFor) {
  const Names files = {"xnnpack_1", "README.md",  "cpu_1.chrome.json",
                       "cpu_1",     "ruy_1.json", "cpu_1.table.md"};
  EXPECT_THAT(find_flat_traces(files, "onet", k_backends, {}, false),
              ElementsAre(FlatTraces{1,
                                     false,
                                     {{"cpu", "cpu_1", "cpu_1.chrome.json"},
                                      {"ruy", "ruy_1.json", ""},
                                      {"xnnpack", "xnnpack_1", ""}}}));
}

TEST(FlatTraces, PrefersTheNamesThatSayThePackage) {
  const Names files = {"cpu_1", "onet_cpu_1", "onet_ruy_1", "other_cpu_1"};
  EXPECT_THAT(
      find_flat_traces(files, "onet", k_backends, {}, false),
      ElementsAre(FlatTraces{1, true, {{"cpu", "onet_cpu_1", ""}, {"ruy", "onet_ruy_1", ""}}}));
}

TEST(FlatTraces, AreOneListForEachThreadCount) {
  const Names files = {"cpu_4", "cpu_1", "ruy_4"};
  EXPECT_THAT(find_flat_traces(files, "onet", k_backends, {}, false),
              ElementsAre(FlatTraces{1, false, {{"cpu", "cpu_1", ""}}},
                          FlatTraces{4, false, {{"cpu", "cpu_4", ""}, {"ruy", "ruy_4", ""}}}));
  EXPECT_THAT(find_flat_traces(files, "onet", k_backends, 4, false),
              ElementsAre(FlatTraces{4, false, {{"cpu", "cpu_4", ""}, {"ruy", "ruy_4", ""}}}));
}

TEST(FlatTraces, RefusesOtherThreadCountsNamingBoth) {
  EXPECT_EQ(refusal({"cpu_1", "ruy_4"}, "onet", 2), "those there are for 1, 4 threads, not for 2");
}

TEST(FlatTraces, RefusesAnotherPackagesTracesNamingBothUnlessForced) {
  const Names files = {"mobilenet_cpu_1", "mobilenet_ruy_1"};
  EXPECT_EQ(refusal(files, "onet"), "the traces there are of 'mobilenet'");
  EXPECT_THAT(find_flat_traces(files, "onet", k_backends, {}, true),
              ElementsAre(FlatTraces{
                  1, true, {{"cpu", "mobilenet_cpu_1", ""}, {"ruy", "mobilenet_ruy_1", ""}}}));
  EXPECT_THAT(refusal({"a_cpu_1", "b_cpu_1"}, "onet", {}, true),
              HasSubstr("several packages: 'a', 'b'"));
}

TEST(FlatTraces, RefusesAFolderWithoutTraces) {
  EXPECT_EQ(refusal({"README.md", ".gitignore"}, "onet"), "the trace folder holds no traces");
  EXPECT_EQ(refusal({}, "onet"), "the trace folder holds no traces");
}

}  // namespace
}  // namespace stab
