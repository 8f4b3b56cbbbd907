#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/plan.hpp"
#include "plan/render.hpp"
#include "platform/sites.hpp"

namespace weir {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Table II of the iocomp paper: four compute processes on ARCHER2, hyperthread mapping.
Plan hyperthread_plan() {
  Plan plan{.ranks = 8, .mode = Mode::servers};
  plan.roles = {.mapping = "hyperthread", .servers = {4, 5, 6, 7}, .server_of = {4, 5, 6, 7}};
  plan.placement.node_of.assign(8, 0);
  for (const std::uint32_t pu : {0, 1, 2, 3, 128, 129, 130, 131}) plan.placement.pus_of.add(pu);
  plan.aggregators.ranks = {7, 6, 5, 4};
  for (const std::uint32_t target : {0, 1, 2, 3}) plan.aggregators.targets_of.add(target);
  plan.throttle.requests_per_target = 4;
  plan.backend = {.name = "hdf5", .options = {{"deflate", "4"}}};
  return plan;
}

Platform site(std::string_view name) {
  return **find_site(name);
}

TEST(Plan, DefaultChangesNothing) {
  const Plan plan;
  EXPECT_THAT(problems(plan), IsEmpty());
  EXPECT_TRUE(check(plan, 1));
  EXPECT_TRUE(check(plan, 12'345));
  EXPECT_TRUE(check(plan, 8, site("k")));
  EXPECT_EQ(plan.mode, Mode::synchronous);
}

TEST(Plan, HyperthreadPlanFitsArcher2AndNotK) {
  const Plan plan = hyperthread_plan();
  EXPECT_THAT(problems(plan, 8, site("archer2")), IsEmpty());
  EXPECT_EQ(plan.compute_ranks(), (Numbers{0, 1, 2, 3}));
  EXPECT_THAT(plan.aggregators_among_writers(), ElementsAre(3, 2, 1, 0));
  EXPECT_THAT(
      problems(plan, 8, site("k")),
      Contains(HasSubstr("rank 4 is bound to hardware thread 128, which node 'k00001' does not have")));
  EXPECT_THAT(problems(plan, 9), ElementsAre("the plan is for 8 ranks, the run has 9"));
}

TEST(Plan, OversubscriptionMustBeSaid) {
  Plan plan{.ranks = 4};
  plan.placement.node_of.assign(4, 0);
  for (const std::uint32_t pu : {0, 1, 0, 1}) plan.placement.pus_of.add(pu);
  EXPECT_THAT(problems(plan, 4, site("k")),
              ElementsAre("placement: ranks 0 and 2 share hardware thread 0 of node 'k00001'",
                          "placement: ranks 1 and 3 share hardware thread 1 of node 'k00001'"));
  plan.placement.oversubscribe = true;
  EXPECT_TRUE(check(plan, 4, site("k")));
}

TEST(Plan, SlotsHostsAndForbiddenThreadsAreKept) {
  Platform platform = site("2x4");
  platform.nodes[0].slots = 1;
  platform.node_types[0].unusable_pus = {3};
  Plan plan{.ranks = 3};
  plan.placement.hosts = {"node2", "node1"};
  plan.placement.node_of = {0, 1, 1};
  EXPECT_THAT(problems(plan, 3, platform),
              ElementsAre("placement: 2 ranks on node 'node1', which has 1 slots"));
  plan.placement.node_of = {0, 1, 0};
  for (const std::uint32_t pu : {0, 0, 3}) plan.placement.pus_of.add(pu);
  EXPECT_THAT(
      problems(plan, 3, platform),
      ElementsAre(HasSubstr("rank 2 is bound to hardware thread 3 of node 'node2', which may not be used")));
  plan.placement.hosts = {"node2", "elsewhere"};
  EXPECT_THAT(problems(plan, 3, platform), Contains("placement: host 'elsewhere' is not in the platform"));
  plan.placement.hosts.clear();
  plan.placement.node_of = {0, 1, 2};
  EXPECT_THAT(problems(plan, 3, platform), Contains("placement: rank 2 is on node 2, there are 2 nodes"));
}

// Every rule, broken once.
TEST(Plan, CheckFindsWhatIsWrong) {
  const auto expect = [](auto change, std::string_view expected) {
    Plan plan = hyperthread_plan();
    change(plan);
    EXPECT_THAT(problems(plan, plan.ranks, site("archer2")), Contains(HasSubstr(std::string(expected))))
        << expected;
    EXPECT_FALSE(check(plan, plan.ranks, site("archer2"))) << expected;
  };
  expect([](Plan& p) { p.ranks = 0; }, "does not say for how many ranks");
  expect([](Plan& p) { p.ranks = most_ranks + 1; }, "are more than");
  expect([](Plan& p) { p.mode = Mode::synchronous; }, "but the mode is 'synchronous'");
  expect([](Plan& p) { p.roles.servers.clear(); }, "no rank serves");
  expect([](Plan& p) { p.roles.servers = {0, 1, 2, 3, 4, 5, 6, 7}; }, "no rank is left to compute");
  expect([](Plan& p) { p.roles.servers.back() = 8; }, "servers: rank 8 does not exist");
  expect([](Plan& p) { p.roles.servers.back() = 6; }, "servers: rank 6 is named twice");
  expect([](Plan& p) { p.roles.servers = {5, 4, 6, 7}; }, "out of order");
  expect([](Plan& p) { p.roles.server_of.pop_back(); }, "4 compute ranks have 3 servers");
  expect([](Plan& p) { p.roles.server_of[1] = 0; },
         "compute rank number 1 is sent to rank 0, which is no server");
  expect([](Plan& p) { p.roles.mapping = ""; }, "not the name of a mapping");
  expect([](Plan& p) { p.placement.node_of.pop_back(); }, "7 ranks have a node, of 8");
  expect([](Plan& p) { p.placement.node_of.clear(); },
         "8 ranks are bound to hardware threads, but 0 have a node");
  expect([](Plan& p) { p.placement.hosts = {"a", "a"}; }, "host 'a' is named twice");
  expect([](Plan& p) { p.placement.hosts = {"a b"}; }, "not the name of a host");
  expect([](Plan& p) { p.aggregators.ranks[0] = 9; }, "aggregators: rank 9 does not exist");
  expect([](Plan& p) { p.aggregators.ranks[0] = 6; }, "aggregators: rank 6 is named twice");
  expect([](Plan& p) { p.aggregators.ranks[0] = 1; }, "aggregators: rank 1 computes");
  expect([](Plan& p) { p.aggregators.ranks.pop_back(); }, "3 ranks, but targets for 4");
  expect(
      [](Plan& p) {
        p.aggregators.targets_of = {};
        p.aggregators.ranks = {4};
        p.aggregators.targets_of.add(12);
      },
      "target 12 does not exist");
  expect([](Plan& p) { p.backend.name = ""; }, "options, but no name");
}

TEST(Plan, ReportsAtMostTwentyProblems) {
  Plan plan{.ranks = 100};
  plan.placement.node_of.assign(100, 7);
  const auto list = problems(plan, 100, site("k"));
  ASSERT_EQ(list.size(), 20U);
  EXPECT_EQ(list.back(), "and 81 more");
  EXPECT_THAT(check(plan, 100, site("k")).error().message(),
              HasSubstr("check the plan: placement: rank 0 is on node 7"));
}

TEST(Plan, AMillionRanksAreCheckedInNoTime) {
  Plan plan{.ranks = 1'048'576};
  Platform platform = site("archer2");
  ASSERT_TRUE(resize_nodes(platform, 8192));
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
    plan.placement.node_of.push_back(rank / 128);
    plan.placement.pus_of.add(rank % 128);
  }
  EXPECT_THAT(problems(plan, plan.ranks, platform), IsEmpty());
}

TEST(Plan, IsPrintedForPeople) {
  EXPECT_EQ(render(hyperthread_plan()),
            "plan for 8 ranks: I/O servers, mapping hyperthread\n"
            "  compute      4 ranks: 0-3\n"
            "  servers      4 ranks: 4-7\n"
            "  served by    4-7\n"
            "  placement    1 node, 1 hardware thread a rank\n"
            "    nodes      0x8\n"
            "    threads    0-3,128-131\n"
            "  aggregators  4 ranks: 7-4\n"
            "    targets    0-3\n"
            "  throttle     4 requests per target and step\n"
            "  backend      hdf5 deflate=4\n");
  EXPECT_EQ(render(Plan{}),
            "plan for any number of ranks: synchronous I/O\n"
            "  placement    as the launcher does it\n"
            "  aggregators  chosen by the run\n"
            "  throttle     none\n"
            "  backend      the program's choice\n");
}

TEST(Mode, NamesGoBothWays) {
  for (const Mode mode : {Mode::synchronous, Mode::servers, Mode::thread})
    EXPECT_EQ(parse_mode(to_string(mode)), mode);
  EXPECT_THAT(parse_mode("server").error().cause, HasSubstr("did you mean 'servers'?"));
}

}  // namespace
}  // namespace weir
