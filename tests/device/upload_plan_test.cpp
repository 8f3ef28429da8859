// SPDX-License-Identifier: Apache-2.0
// What an upload sends, links and removes.
#include "upload_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "stab/core/sha256.h"

namespace stab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class PlanUpload : public testing::Test {
 protected:
  UploadPlan plan(const std::vector<std::pair<std::string, const FileTree*>>& trees,
                  bool with_sizes = false) {
    std::vector<NamedTree> named;
    for (const auto& [name, tree] : trees) named.push_back({tree, name});
    return plan_upload(named, there_, known_, with_sizes);
  }

  /// Members by path: what they link to, or "SIZE bytes".
  static std::map<std::string, std::string> members_of(const UploadPlan& plan) {
    std::map<std::string, std::string> members;
    for (const TarMember& one : plan.members) {
      if (one.path.starts_with("up/")) continue;
      members[one.path] = !one.twin.empty()          ? "twin " + one.twin
                          : !one.link_target.empty() ? "link " + one.link_target
                                                     : std::to_string(one.size) + " bytes";
    }
    return members;
  }

  /// What a list that goes over with a tree says; nothing when it does not.
  static std::string list_of(const UploadPlan& plan, const std::string& path) {
    for (const TarMember& one : plan.members) {
      if (one.path == path) return std::get<std::string>(one.content);
    }
    return "no list";
  }

  static std::string line(const std::string& bytes, const std::string& path) {
    return sha256_hex(std::string_view(bytes)) + "  " + path + "\n";
  }

  TreesThere there_;
  KnownFiles known_;
};

TEST_F(PlanUpload, SendsEachContentOnce) {
  FileTree tree("rt");
  tree.add_bytes("a", "same");
  tree.add_bytes("b", "same");
  tree.add_bytes("b.exe", "same", true);
  tree.add_bytes("empty1", "");
  tree.add_bytes("empty2", "");
  tree.add_link("link", "a");
  const UploadPlan found = plan({{"rt-1", &tree}});
  EXPECT_THAT(
      members_of(found),
      UnorderedElementsAre(Pair("rt-1.part/a", "4 bytes"), Pair("rt-1.part/b", "twin rt-1.part/a"),
                           Pair("rt-1.part/b.exe", "4 bytes"), Pair("rt-1.part/empty1", "0 bytes"),
                           Pair("rt-1.part/empty2", "0 bytes"), Pair("rt-1.part/link", "link a")));
  EXPECT_EQ(found.amount.files, 4);
  EXPECT_EQ(found.amount.linked, 1);
  EXPECT_EQ(found.amount.content, 8);
  EXPECT_EQ(found.orders, ".\n");
  EXPECT_THAT(found.build, ElementsAre("rt-1"));
  EXPECT_EQ(list_of(found, "up/rt-1.sums"), line("same", "./a") + line("same", ".//b.exe") +
                                                line("", "./empty1") + line("", "./empty2"));
  EXPECT_EQ(list_of(found, "up/rt-1.rest"), line("same", "./b"));
  EXPECT_EQ(list_of(found, "up/rt-1.half1"), "./a\n./empty1\n");
  EXPECT_EQ(list_of(found, "up/rt-1.half2"), ".//b.exe\n./empty2\n");
  EXPECT_EQ(found.members.back().path, "up/end");
}

TEST_F(PlanUpload, LeavesWhatIsThereAndLinksItsTwins) {
  FileTree tree("rt");
  tree.add_bytes("a", "same");
  tree.add_bytes("b", "same");
  tree.add_bytes("c", "other");
  there_.good = {"rt-1/a"};
  there_.orders = "R rt-1.part/old\n";
  const UploadPlan found = plan({{"rt-1", &tree}});
  EXPECT_THAT(members_of(found), UnorderedElementsAre(Pair("rt-1.part/b", "twin rt-1.part/a"),
                                                      Pair("rt-1.part/c", "5 bytes")));
  EXPECT_EQ(found.orders, "R rt-1.part/old\n.\n");
  EXPECT_EQ(list_of(found, "up/rt-1.rest"), line("same", "./a") + line("same", "./b"));
}

TEST_F(PlanUpload, LinksToAnotherTreeUnlessThatIsBuiltAnew) {
  FileTree tree("pkg");
  tree.add_bytes("d/model", "bytes");
  known_ = {{identity_of(false, sha256_hex(std::string_view("bytes"))), "pkg-0/model"}};
  const UploadPlan linked = plan({{"pkg-1", &tree}});
  EXPECT_THAT(members_of(linked), IsEmpty());
  EXPECT_EQ(linked.orders, "D pkg-1.part/d\nL pkg-0/model//pkg-1.part/d/model\n.\n");
  EXPECT_EQ(linked.amount.linked, 1);

  FileTree old("pkg");
  old.add_bytes("other", "x");
  const UploadPlan sent = plan({{"pkg-0", &old}, {"pkg-1", &tree}});
  EXPECT_THAT(members_of(sent), UnorderedElementsAre(Pair("pkg-0.part/other", "1 bytes"),
                                                     Pair("pkg-1.part/d/model", "5 bytes")));
  EXPECT_EQ(sent.orders, ".\n");
}

TEST_F(PlanUpload, LinksFromOneNewTreeToAnother) {
  FileTree one("pkg");
  one.add_bytes("model", "bytes");
  FileTree two("pkg");
  two.add_bytes("model", "bytes");
  two.add_bytes("config", "text");
  const UploadPlan found = plan({{"pkg-1", &one}, {"pkg-2", &two}});
  EXPECT_THAT(members_of(found),
              UnorderedElementsAre(Pair("pkg-1.part/model", "5 bytes"),
                                   Pair("pkg-2.part/config", "4 bytes"),
                                   Pair("pkg-2.part/model", "twin pkg-1.part/model")));
  EXPECT_EQ(found.files.at(identity_of(false, sha256_hex(std::string_view("bytes")))),
            "pkg-1/model");
  EXPECT_EQ(list_of(found, "up/pkg-2.rest"), line("bytes", "./model"));
}

TEST_F(PlanUpload, TellsSizesWhereTheDeviceCannotHash) {
  FileTree tree("rt");
  tree.add_bytes("odd name", "abc");
  const UploadPlan found = plan({{"rt-1", &tree}}, true);
  EXPECT_EQ(list_of(found, "up/rt-1.sizes"), "3 odd name\n");
  EXPECT_EQ(list_of(found, "up/rt-1.half1"), "no list");
  EXPECT_EQ(list_of(plan({{"rt-1", &tree}}), "up/rt-1.half1"), "./odd\\ name\n");
}

TEST_F(PlanUpload, PassesOnWhatCannotBeJudged) {
  FileTree tree("rt");
  tree.add_bytes("a", "x");
  there_.dropped = {"rt-1"};
  EXPECT_THAT(plan({{"rt-1", &tree}}).dropped, ElementsAre("rt-1"));
}

}  // namespace
}  // namespace stab
