#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "core/file.hpp"
#include "plan/plan_json.hpp"

namespace weir {
namespace {

Result<Plan> read(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return tl::make_unexpected(json.error());
  return plan_from_json(*json);
}

void expect_round_trip(const Plan& plan) {
  ASSERT_TRUE(check(plan)) << check(plan).error().message();
  const std::string text = plan_to_json(plan).dump();
  const auto again = read(text);
  ASSERT_TRUE(again) << again.error().message() << "\n" << text;
  EXPECT_EQ(*again, plan) << text;
}

TEST(PlanJson, DefaultIsOnlyTheVersion) {
  EXPECT_EQ(plan_to_json(Plan{}).dump(), R"({"weir_plan":1})");
  expect_round_trip(Plan{});
}

TEST(PlanJson, ReadsTheExampleOfTheHeader) {
  const auto plan = read(R"({
    "weir_plan": 1, "ranks": 8, "mode": "servers",
    "roles": {"mapping": "hyperthread", "servers": "4-7", "server_of": "4-7"},
    "placement": {"hosts": "nid[000001-000002]", "nodes": "0x8", "pus": "0-3,128-131", "pus_per_rank": "1x8", "oversubscribe": false},
    "aggregators": {"ranks": "4-7", "targets": "0-3", "targets_per_rank": "1x4"},
    "throttle": {"requests_per_target": 4},
    "backend": {"name": "hdf5", "options": {"deflate": "4"}}})");
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->roles.servers, (Numbers{4, 5, 6, 7}));
  EXPECT_EQ(plan->placement.hosts[1], "nid000002");
  EXPECT_EQ(plan->placement.pus_of[5][0], 129U);
  EXPECT_EQ(plan->backend.options.at("deflate"), "4");
  expect_round_trip(*plan);
}

TEST(PlanJson, RoundTripsRandomPlans) {
  std::mt19937 random(5);
  const auto below = [&](std::size_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  for (int round = 0; round < 300; ++round) {
    Plan plan{.ranks = below(50) + 2};
    plan.mode = static_cast<Mode>(below(3));
    Numbers ranks;
    for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) ranks.push_back(rank);
    if (plan.mode == Mode::servers) {
      for (std::uint32_t rank = 1; rank < plan.ranks; ++rank) {
        if (rank == 1 || below(3) == 0) plan.roles.servers.push_back(rank);
      }
      plan.roles.mapping = "consecutive";
      for (std::size_t i = plan.roles.servers.size(); i < plan.ranks; ++i) {
        plan.roles.server_of.push_back(plan.roles.servers[below(plan.roles.servers.size())]);
      }
      ranks = plan.roles.servers;
    }
    if (below(2) == 0) {
      plan.placement.hosts = {"a1", "a2", "b"};
      for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
        plan.placement.node_of.push_back(below(3));
        Numbers pus;
        for (std::uint32_t i = 0; i < below(4); ++i) pus.push_back(below(256));
        plan.placement.pus_of.add(pus);
      }
      plan.placement.oversubscribe = below(2) == 0;
    }
    std::shuffle(ranks.begin(), ranks.end(), random);
    plan.aggregators.ranks.assign(ranks.begin(),
                                  ranks.begin() + static_cast<std::ptrdiff_t>(below(ranks.size())));
    if (below(2) == 0) {
      for (std::size_t i = 0; i < plan.aggregators.ranks.size(); ++i)
        plan.aggregators.targets_of.add(Numbers(below(3), 7));
    }
    plan.throttle.requests_per_target = below(3);
    if (below(2) == 0) plan.backend = {.name = "posix", .options = {{"a", "b"}, {"c", "d,e=f"}}};
    expect_round_trip(plan);
  }
}

TEST(PlanJson, AMillionRanksAreSmall) {
  Plan plan{.ranks = 1'048'576, .mode = Mode::servers};
  plan.roles.mapping = "hyperthread";
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
    const std::uint32_t local = rank % 256;
    plan.placement.node_of.push_back(rank / 256);
    plan.placement.pus_of.add(local);
    if (local < 128) plan.roles.server_of.push_back(rank + 128);
    if (local >= 128) plan.roles.servers.push_back(rank);
  }
  ASSERT_TRUE(check(plan, plan.ranks));
  const std::string text = plan_to_json(plan).dump();
  EXPECT_LT(text.size(), 200'000U);
  expect_round_trip(plan);
}

TEST(PlanJson, NamesWhatIsWrongAndWhere) {
  struct Case {
    const char* text;
    const char* expected;
  };
  for (
      const Case& one :
      {Case{"{}", "'weir_plan' is missing: this is not a plan"},
       {"[]", "not a JSON object"},
       {R"({"weir_plan": 2})", "'weir_plan' is 2; this Weir reads version 1; use a newer Weir"},
       {R"({"weir_plan": -1})", "whole number"},
       {R"({"weir_plan": 1, "role": {}})", "unknown key 'role'; did you mean 'roles'?"},
       {R"({"weir_plan": 1, "roles": {"server": "1"}})",
        "unknown key 'server' in roles; did you mean 'servers'?"},
       {R"({"weir_plan": 1, "roles": []})", "roles is not a JSON object"},
       {R"({"weir_plan": 1, "ranks": "8"})", "'ranks' is not a whole number"},
       {R"({"weir_plan": 1, "ranks": 99999999})", "'ranks' is 99999999, more than"},
       {R"({"weir_plan": 1, "mode": "sync"})", "unknown mode 'sync'"},
       {R"({"weir_plan": 1, "ranks": 2, "placement": {"nodes": [0, 1]}})", "'placement.nodes' is not a text"},
       {R"({"weir_plan": 1, "ranks": 2, "placement": {"nodes": "0-"}})",
        "'placement.nodes': list of numbers, column 3"},
       {R"({"weir_plan": 1, "ranks": 2, "placement": {"nodes": "0x2", "pus": "0-3", "pus_per_rank": "1,2"}})",
        "does not add up"},
       {R"({"weir_plan": 1, "ranks": 2, "placement": {"nodes": "0x2", "pus": "0", "pus_per_rank": "1,2"}})",
        "does not add up"},
       {R"({"weir_plan": 1, "ranks": 2, "placement": {"pus": "0-4294967295"}})", "longer than"},
       {R"({"weir_plan": 1, "placement": {"hosts": "a["}})", "'placement.hosts': host list, column 3"},
       {R"({"weir_plan": 1, "aggregators": {"ranks": "0"}})", "does not say for how many ranks"},
       {R"({"weir_plan": 1, "throttle": {"requests_per_target": -4}})", "throttle.requests_per_target"},
       {R"({"weir_plan": 1, "throttle": {"requests_per_target": 4294967296}})", "more than"},
       {R"({"weir_plan": 1, "backend": {}})", "'backend.name' is missing"},
       {R"({"weir_plan": 1, "backend": {"name": "hdf5", "options": {"deflate": 4}}})",
        "'backend.options.deflate' is not a text"}}) {
    const auto result = read(one.text);
    ASSERT_FALSE(result) << one.text;
    EXPECT_NE(result.error().message().find(one.expected), std::string::npos)
        << one.text << ": " << result.error().message();
  }
}

TEST(PlanJson, SavesAtomicallyAndNamesTheFile) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("weir-plan-json-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto path = folder / "run.plan";
  Plan plan{.ranks = 3, .backend = {.name = "posix"}};
  ASSERT_TRUE(save_plan(plan, path));
  EXPECT_EQ(load_plan(path), plan);
  plan.aggregators.ranks = {3};
  EXPECT_FALSE(save_plan(plan, path));
  EXPECT_TRUE(load_plan(path)) << "the earlier file stays";
  ASSERT_TRUE(write_text_atomically(path, R"({"weir_plan": 1, "ranks": true})"));
  EXPECT_NE(load_plan(path).error().message().find("run.plan"), std::string::npos);
  EXPECT_FALSE(load_plan(folder));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace weir
