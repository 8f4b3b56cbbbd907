#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "placement/check.hpp"
#include "placement/place.hpp"
#include "plan/mapping_plan.hpp"
#include "platform/host_list.hpp"
#include "platform/sites.hpp"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Platform site(std::string_view name, std::uint32_t nodes = 1) {
  Platform platform = **find_site(name);
  if (nodes > 1) {
    EXPECT_TRUE(resize_nodes(platform, nodes));
  }
  return platform;
}

// Every plan of these tests comes from here, and keeps the invariants.
Plan plan_of(const LayoutRequest& request, const Platform& platform) {
  const auto plan = plan_mapping(request, platform);
  EXPECT_TRUE(plan) << plan.error().message();
  if (!plan) return {};
  EXPECT_THAT(problems(*plan, plan->ranks, platform), IsEmpty());
  if (!plan->placement.pus_of.empty()) {
    const Status fine = check(plan->roles, plan->placement, platform);
    EXPECT_TRUE(fine) << fine.error().message() << " (" << request.mapping << ", " << request.compute << ")";
  }
  return *plan;
}

std::string failure_of(const LayoutRequest& request, const Platform& platform) {
  const auto plan = plan_mapping(request, platform);
  EXPECT_FALSE(plan);
  return plan ? "" : plan.error().message();
}

std::string cpus(const Plan& plan) {
  return format_numbers(plan.placement.pus_of.values());
}
std::string nodes(const Plan& plan) {
  return format_numbers(plan.placement.node_of);
}

// What a rank finds out about its own node does not depend on the others.
TEST(Mapping, RanksElsewhereAreNotPlaced) {
  const Platform node = site("1x2x2");
  const std::map<std::string, Numbers> wanted = {{"sequential", {0, 1}},
                                                 {"consecutive", {0, 1}},
                                                 {"hyperthread", {0, 2}},
                                                 {"oversubscribe", {0, 0}},
                                                 {"thread", {0, 2, 1, 3}}};
  for (const auto& [mapping, pus] : wanted) {
    PlaceRequest request{.ranks = 6,
                         .roles = {.mapping = mapping},
                         .node_of = {elsewhere, elsewhere, elsewhere, elsewhere, 0, 0}};
    if (find_mapping(mapping)->servers) {
      request.roles.servers = {3, 5};
      request.roles.server_of = {3, 3, 3, 5};  // of 0, 1, 2 and 4
    }
    const auto placement = place_ranks(request, node);
    ASSERT_TRUE(placement) << mapping << ": " << placement.error().message();
    for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_THAT(placement->pus_of[rank], IsEmpty()) << mapping;
    EXPECT_EQ(placement->pus_of.values(), pus) << mapping;
  }
}

// Table II of the iocomp paper: four compute processes on ARCHER2.
TEST(Mapping, TableII) {
  const Platform archer2 = site("archer2");
  const struct {
    const char* mapping;
    std::uint32_t ranks;
    Numbers cpus;
  } rows[] = {{"sequential", 4, {0, 1, 2, 3}},
              {"hyperthread", 8, {0, 1, 2, 3, 128, 129, 130, 131}},
              {"consecutive", 8, {0, 1, 2, 3, 4, 5, 6, 7}},
              {"oversubscribe", 8, {0, 1, 2, 3, 0, 1, 2, 3}}};
  for (const auto& row : rows) {
    for (const std::uint32_t node_size : {0U, 128U}) {
      const Plan plan = plan_of({.mapping = row.mapping, .compute = 4, .node_size = node_size}, archer2);
      EXPECT_EQ(plan.ranks, row.ranks);
      EXPECT_EQ(plan.placement.pus_of.values(), row.cpus) << row.mapping;
      EXPECT_EQ(plan.placement.hosts.size(), 1U);
    }
  }
}

// Table V, all 3 x 64 rows: NODESIZE 16 and 4 nodes.
TEST(Mapping, TableV) {
  std::ifstream table(std::string(WEIR_TEST_DATA) + "/iocomp/table_v.tsv");
  Platform platform = site("archer2");
  ASSERT_TRUE(use_hosts(platform, *parse_host_list("nid[004204,004206,004207,004248]")));
  std::map<std::string, std::vector<std::string>> wanted;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with("#") || line.starts_with("MAPPING")) continue;
    const auto tab = line.find('\t');
    wanted[line.substr(0, tab)].push_back(line.substr(tab + 1));
  }
  ASSERT_EQ(wanted.size(), 3U);
  for (const auto& [mapping, lines] : wanted) {
    std::vector<std::string> got;
    const Plan plan = plan_of({.mapping = mapping, .node_size = 16}, platform);
    for (const PairRow& row : pair_rows(plan)) {
      got.push_back(row.type + "\t" + row.rank + "\t" + row.size + "\t" + row.cpus + "\t" + row.node + "\t" +
                    row.pair);
    }
    ASSERT_EQ(lines.size(), 64U);
    EXPECT_EQ(got, lines) << mapping;
    EXPECT_EQ(plan_of({.mapping = mapping, .compute = 32, .node_size = 16}, platform), plan);
  }
}

TEST(Mapping, TheSeedsBlocksAtTheEnd) {
  // 192 compute ranks and as many servers: the 384-rank row of Table I, placed.
  const Plan consecutive =
      plan_of({.mapping = "consecutive", .compute = 192, .node_size = 128}, site("archer2", 3));
  EXPECT_EQ(consecutive.ranks, 384U);
  EXPECT_EQ(nodes(consecutive), "0-2x128");
  EXPECT_EQ(cpus(consecutive), "0-127*3");
  const Plan hyperthread =
      plan_of({.mapping = "hyperthread", .compute = 192, .node_size = 128}, site("archer2", 2));
  EXPECT_EQ(nodes(hyperthread), "0x256,1x128");
  EXPECT_EQ(cpus(hyperthread), "0-255,0-63,128-191");
  EXPECT_THAT(failure_of({.mapping = "consecutive", .compute = 192, .node_size = 128}, site("archer2", 2)),
              HasSubstr("needs 3 nodes, there are 2"));
  EXPECT_THAT(failure_of({.mapping = "sequential", .node_size = 129}, site("archer2")),
              HasSubstr("node size of 129 is more than the 128 cores"));
}

TEST(Mapping, FullNodes) {
  const Plan consecutive = plan_of({.mapping = "consecutive"}, site("archer2", 2));
  EXPECT_EQ(nodes(consecutive), "0-1x128");
  EXPECT_EQ(format_numbers(consecutive.roles.servers), "64-127,192-255") << "servers are near";
  const Plan hyperthread = plan_of({.mapping = "hyperthread", .compute_per_server = 8}, site("archer2"));
  EXPECT_EQ(hyperthread.ranks, 144U);
  EXPECT_EQ(cpus(hyperthread), "0-128,136-248:8");
}

TEST(Mapping, FourThreadsACore) {
  // Core 0 of Fulhame has hardware threads 0, 32, 64, 96; core 32, on the second package, 128, 160, ...
  const Plan plan = plan_of({.mapping = "hyperthread", .compute = 34}, site("fulhame"));
  EXPECT_EQ(cpus(plan), "0-31,128-129,32-63,160-161");
  const Plan few =
      plan_of({.mapping = "hyperthread", .compute = 4, .compute_per_server = 2}, site("fulhame"));
  EXPECT_EQ(cpus(few), "0-3,32,34") << "on the core of its first compute rank";
}

TEST(Mapping, HyperthreadNeedsThreads) {
  for (const bool overfull : {false, true}) {
    EXPECT_THAT(failure_of({.mapping = "hyperthread", .compute = 2, .overfull = overfull}, site("k")),
                HasSubstr("needs two hardware threads a core, but node 'k00001' has one"));
  }
}

TEST(Mapping, SpreadOrFilled) {
  const Platform platform = site("3x4");
  EXPECT_EQ(nodes(plan_of({.mapping = "consecutive", .compute = 3}, platform)), "0x4,1x2");
  EXPECT_EQ(nodes(plan_of({.mapping = "consecutive", .compute = 3, .spread = true}, platform)), "0-2x2");
  EXPECT_EQ(nodes(plan_of({.mapping = "oversubscribe", .compute = 5, .spread = true}, platform)),
            "0-1x4,2x2");
}

TEST(Mapping, ServersOnNodesOfTheirOwn) {
  const Platform platform = site("4x4");
  const Plan full = plan_of({.mapping = "consecutive", .compute_per_server = 3, .own_nodes = true}, platform);
  EXPECT_EQ(nodes(full), "0-3x4");
  EXPECT_EQ(format_numbers(full.roles.servers), "12-15");
  const Plan few =
      plan_of({.mapping = "consecutive", .compute = 5, .compute_per_server = 3, .own_nodes = true}, platform);
  EXPECT_EQ(nodes(few), "0x3,1-2x2");
  EXPECT_EQ(format_numbers(few.roles.servers), "5-6");
  EXPECT_THAT(failure_of({.mapping = "consecutive", .own_nodes = true}, site("k")),
              HasSubstr("needs a second node"));
  const Plan single = plan_of({.mapping = "consecutive", .compute_per_server = 2}, site("7x1"));
  EXPECT_EQ(format_numbers(single.roles.servers), "1,3,6") << "nodes of a single core";
}

TEST(Mapping, Thread) {
  const Plan plan = plan_of({.mapping = "thread", .compute = 3}, site("1x8x2"));
  EXPECT_EQ(plan.mode, Mode::thread);
  EXPECT_EQ(plan.ranks, 3U);
  EXPECT_EQ(Numbers(plan.placement.pus_of[1].begin(), plan.placement.pus_of[1].end()),
            (Numbers{2, 3, 4, 10, 11, 12}))
      << "idle cores do I/O";
  EXPECT_EQ(pair_rows(plan)[0].pair, "-");
}

TEST(Mapping, ForbiddenHardwareThreadsAndSlots) {
  Platform platform = site("1x4x2");
  platform.node_types[0].unusable_pus = {1, 4};
  EXPECT_EQ(cpus(plan_of({.mapping = "consecutive", .compute = 2}, platform)), "0,5,2-3");
  EXPECT_EQ(cpus(plan_of({.mapping = "hyperthread", .compute = 2}, platform)), "2-3,6-7")
      << "cores 0 and 1 have a single thread left";
  platform.nodes[0].slots = 2;
  EXPECT_THAT(failure_of({.mapping = "consecutive", .compute = 2}, platform), HasSubstr("room for 1"));
  EXPECT_EQ(plan_of({.mapping = "consecutive"}, platform).ranks, 2U);
}

TEST(Mapping, MoreRanksThanCores) {
  const LayoutRequest request{.mapping = "consecutive", .compute = 9, .compute_per_server = 2};
  EXPECT_THAT(failure_of(request, site("2x4")), HasSubstr("9 compute ranks does not fit"));
  LayoutRequest overfull = request;
  overfull.overfull = true;
  const Plan plan = plan_of(overfull, site("2x4"));
  EXPECT_EQ(plan.ranks, 14U) << "5 + 3 and 4 + 2";
  EXPECT_EQ(nodes(plan), "0x8,1x6");
  EXPECT_THAT(plan.placement.pus_of.values(), IsEmpty());
  EXPECT_TRUE(plan.placement.oversubscribe);
  LayoutRequest fits = overfull;
  fits.compute = 4;
  EXPECT_THAT(plan_of(fits, site("2x4")).placement.pus_of.values(), Not(IsEmpty()));
}

TEST(Mapping, InvariantsHoldForAllSmallCounts) {
  const Platform platform = site("5x7x2");
  for (const Mapping& mapping : mappings()) {
    for (std::uint32_t compute = 1; compute <= 24; ++compute) {
      for (const std::uint32_t per_server : {1U, 2U, 3U, 5U, 11U}) {
        const std::uint32_t servers = mapping.servers ? 1 : 0;
        for (const bool spread : {false, true}) {
          LayoutRequest request{.mapping = std::string(mapping.name),
                                .compute = compute,
                                .compute_per_server = per_server,
                                .spread = spread,
                                .overfull = true};
          const Plan plan = plan_of(request, platform);
          EXPECT_EQ(plan.ranks - plan.roles.servers.size(), compute);
          EXPECT_GE(plan.roles.servers.size(), servers);
          if (mapping.name == "consecutive") {
            request.own_nodes = true;
            EXPECT_EQ(plan_of(request, platform).roles.server_of.size(), compute);
          }
          request.own_nodes = false;
          request.node_size = 5;
          if (compute < 12) {
            EXPECT_EQ(plan_of(request, platform).compute_ranks().size(), compute);
          }
        }
      }
    }
  }
}

TEST(Mapping, NodesNeeded) {
  const Platform archer2 = site("archer2");
  EXPECT_EQ(nodes_needed({.mapping = "consecutive", .compute = 200}, archer2), 4U);
  EXPECT_EQ(nodes_needed({.mapping = "hyperthread", .compute = 200}, archer2), 2U);
  EXPECT_EQ(nodes_needed({.mapping = "consecutive", .compute = 32, .node_size = 16}, archer2), 4U);
  EXPECT_EQ(nodes_needed({.mapping = "hyperthread", .compute = 32, .node_size = 16}, archer2), 2U);
  EXPECT_EQ(
      nodes_needed({.mapping = "consecutive", .compute = 384, .compute_per_server = 3, .own_nodes = true},
                   archer2),
      4U);
}

TEST(Mapping, AMillionRanks) {
  const Platform platform = site("archer2", 8192);
  const Plan plan = plan_of({.mapping = "consecutive"}, platform);
  EXPECT_EQ(plan.ranks, 1U << 20U);
  EXPECT_EQ(nodes(plan), "0-8191x128");
  plan_of({.mapping = "hyperthread", .compute = 1'000'003, .compute_per_server = 7}, platform);
}

TEST(MappingCheck, FindsWhatIsWrong) {
  const Platform platform = site("1x4x2");
  const auto cause = [&](const char* mapping, const Numbers& cpus, bool shared = false) {
    const Roles roles{.mapping = mapping, .servers = {1}, .server_of = {1}};
    Placement placement{.hosts = {"node1"}, .node_of = {0, 0}, .oversubscribe = shared};
    for (const std::uint32_t cpu : cpus) placement.pus_of.add(cpu);
    const Status status = check(roles, placement, platform);
    return status ? std::string() : status.error().cause;
  };
  EXPECT_EQ(cause("consecutive", {0, 1}), "");
  EXPECT_EQ(cause("hyperthread", {0, 4}), "");
  EXPECT_EQ(cause("oversubscribe", {0, 0}, true), "");
  EXPECT_THAT(cause("consecutive", {0, 4}), HasSubstr("shares a core"));
  EXPECT_THAT(cause("hyperthread", {0, 5}), HasSubstr("not on another thread"));
  EXPECT_THAT(cause("hyperthread", {0, 0}, true), HasSubstr("not on another thread"));
  EXPECT_THAT(cause("oversubscribe", {0, 1}, true), HasSubstr("not on the hardware thread"));
  EXPECT_THAT(cause("consecutive", {0, 0}), HasSubstr("share a hardware thread"));
  EXPECT_THAT(cause("consecutive", {0, 8}), HasSubstr("may not be used"));
}

}  // namespace
}  // namespace weir
