#include <gtest/gtest.h>

#include "platform/host_list.hpp"
#include "platform/lookup.hpp"
#include "platform/platform.hpp"
#include "platform/sites.hpp"

namespace weir {
namespace {

Platform site(std::string_view name) {
  const auto found = find_site(name);
  EXPECT_TRUE(found && *found) << name;
  return found && *found ? **found : Platform{};
}

TEST(Sites, AreWhatTheySay) {
  for (const Site& one : sites()) {
    const Platform platform = site(one.name);
    EXPECT_TRUE(check(platform)) << one.name;
    EXPECT_EQ(platform.name, one.name);
  }
  EXPECT_FALSE(find_site("nowhere"));
  EXPECT_EQ(site("k").pu_count(), 8U);
  EXPECT_EQ(site("crill").core_count(), 48U);
  EXPECT_EQ(site("fulhame").pu_count(), 256U);
}

TEST(Sites, ShapesStandForMachines) {
  EXPECT_EQ(site("8x48").core_count(), 384U);
  EXPECT_EQ(site("8x48").nodes[7].name, "node8");
  EXPECT_EQ(site("2x4x2").pu_count(), 16U);
  for (const char* text : {"8x", "x8", "8", "1x2x3x4", "8X4", "-1x4", "99999999999x1", "1x2 "})
    EXPECT_FALSE(find_site(text)) << text;
  for (const char* text : {"0x4", "4x0", "4x4x0", "4x100000", "2000000x1", "1x1x65"}) {
    const auto found = find_site(text);
    ASSERT_TRUE(found) << text;
    EXPECT_FALSE(*found) << text;
  }
}

TEST(Archer2, NumbersSecondThreadsFrom128) {
  const NodeType type = site("archer2").node_types[0];
  const NodeLookup lookup(type);
  EXPECT_EQ(type.core_count(), 128U);
  EXPECT_EQ(lookup.pus_of(1), (Numbers{1, 129}));
  EXPECT_EQ(lookup.core_of(129), 1U);
  EXPECT_EQ(lookup.core_of(255), 127U);
  EXPECT_FALSE(lookup.core_of(256));
  EXPECT_EQ(lookup.siblings(130), Numbers{2});
  EXPECT_EQ(lookup.siblings(256), Numbers{});
  EXPECT_EQ(lookup.package_of(63), 0U);
  EXPECT_EQ(lookup.package_of(64), 1U);
  EXPECT_EQ(lookup.numa_of(127), 7U);
}

TEST(Archer2, CommonLevels) {
  Platform platform = site("archer2");
  ASSERT_TRUE(resize_nodes(platform, 3));
  platform.switches = {{.name = "s0"}, {.name = "s1"}};
  platform.nodes[0].switch_ = platform.nodes[1].switch_ = 0;
  platform.nodes[2].switch_ = 1;
  ASSERT_TRUE(check(platform));
  const PlatformLookup lookup(platform);
  EXPECT_EQ(lookup.common_level({0, 5}, {0, 5}), Level::core);
  EXPECT_EQ(lookup.common_level({0, 4}, {0, 7}), Level::cache);
  EXPECT_EQ(lookup.common_level({0, 3}, {0, 4}), Level::numa);
  EXPECT_EQ(lookup.common_level({0, 15}, {0, 16}), Level::package);
  EXPECT_EQ(lookup.common_level({0, 63}, {0, 64}), Level::node);
  EXPECT_EQ(lookup.common_level({0, 0}, {1, 0}), Level::network_switch);
  EXPECT_EQ(lookup.common_level({0, 0}, {2, 0}), Level::machine);
}

TEST(CommonLevel, IsTheSmallestPart) {
  // Sub-NUMA clustering: the cache is wider than the NUMA domain.
  const auto type = make_node_type({.cores = 8, .numa_domains = 2, .caches = {{3, 1024, 8}}});
  ASSERT_TRUE(type);
  const NodeLookup lookup(*type);
  EXPECT_EQ(lookup.common_level(0, 3), Level::numa);
  EXPECT_EQ(lookup.common_level(0, 4), Level::cache);
}

TEST(MakeNodeType, RefusesUnevenParts) {
  EXPECT_FALSE(make_node_type({.cores = 0}));
  EXPECT_FALSE(make_node_type({.cores = 7, .packages = 2}));
  EXPECT_FALSE(make_node_type({.cores = 8, .packages = 0}));
  EXPECT_FALSE(make_node_type({.cores = 8, .numa_domains = 3}));
  EXPECT_FALSE(make_node_type({.cores = 8, .threads_per_core = 65}));
  EXPECT_FALSE(make_node_type({.cores = 8, .caches = {{3, 0, 5}}}));
  EXPECT_FALSE(make_node_type({.cores = 8, .caches = {{10, 0, 4}}}));
  EXPECT_TRUE(make_node_type({.cores = 7, .packages = 7}));
}

TEST(ResizeNodes, NamesOnFromTheLast) {
  Platform platform = site("archer2");
  ASSERT_TRUE(resize_nodes(platform, 10'000));
  EXPECT_EQ(platform.nodes.back().name, "nid010000");
  EXPECT_EQ(platform.node_types.size(), 1U);
  EXPECT_EQ(platform.core_count(), 1'280'000U);
  ASSERT_TRUE(resize_nodes(platform, 2));
  EXPECT_EQ(platform.nodes.size(), 2U);
  EXPECT_FALSE(resize_nodes(platform, 0));
  EXPECT_FALSE(resize_nodes(platform, 1'000'001));

  platform.nodes = {{.name = "host"}};
  ASSERT_TRUE(resize_nodes(platform, 12));
  EXPECT_EQ(platform.nodes[1].name, "host1");
  EXPECT_EQ(platform.nodes[11].name, "host11");
  platform.nodes = {{.name = "9"}};
  ASSERT_TRUE(resize_nodes(platform, 2));
  EXPECT_EQ(platform.nodes[1].name, "10");
}

TEST(UseHosts, KeepsWhatThePlatformKnows) {
  Platform platform = site("2x4");
  ASSERT_TRUE(use_hosts(platform, {{"node2", 3}, {"other", 0}}));
  EXPECT_EQ(platform.nodes, (std::vector<Node>{{.name = "node2", .slots = 3}, {.name = "other"}}));

  platform.node_types.push_back(*make_node_type({.name = "big", .cores = 2}));
  platform.nodes[1].type = 1;
  EXPECT_FALSE(use_hosts(platform, {{"unknown", 0}}));
  ASSERT_TRUE(use_hosts(platform, {{"other", 0}}));
  EXPECT_EQ(platform.nodes[0].type, 1U);
}

// Every invariant, broken once.
TEST(CheckPlatform, FindsWhatIsBroken) {
  const Platform good = site("archer2");
  ASSERT_TRUE(check(good));
  const auto broken = [&](auto change, std::string_view expected) {
    Platform platform = good;
    change(platform);
    const Status status = check(platform);
    ASSERT_FALSE(status) << expected;
    EXPECT_NE(status.error().message().find(expected), std::string::npos) << status.error().message();
  };
  broken([](Platform& p) { p.node_types.clear(); }, "no node type");
  broken([](Platform& p) { p.nodes.clear(); }, "no node");
  broken([](Platform& p) { p.nodes.push_back(p.nodes[0]); }, "two nodes are named");
  broken([](Platform& p) { p.nodes[0].type = 1; }, "unknown type");
  broken([](Platform& p) { p.nodes[0].name = "a b"; }, "not a name");
  broken([](Platform& p) { p.nodes[0].switch_ = 0; }, "unknown switch");
  broken([](Platform& p) { p.node_types.push_back(p.node_types[0]); }, "two node types");
  broken([](Platform& p) { p.node_types[0].cores[3].pus.clear(); }, "core 3 has no hardware thread");
  broken([](Platform& p) { p.node_types[0].cores[3].pus[0] = 4; }, "belongs to core");
  broken([](Platform& p) { p.node_types[0].cores[3].pus[0] = 1'048'576; }, "above");
  broken([](Platform& p) { p.node_types[0].cores.pop_back(); }, "package 1 covers cores");
  broken([](Platform& p) { p.node_types[0].packages.pop_back(); }, "core 64 is in no package");
  broken([](Platform& p) { p.node_types[0].packages[1].cores.first = 63; },
         "package 1 does not start at core 64");
  broken([](Platform& p) { p.node_types[0].numa_domains.pop_back(); }, "core 112 is in no NUMA domain");
  broken([](Platform& p) { p.node_types[0].numa_domains[1].os_number = 0; },
         "two NUMA domains have number 0");
  broken([](Platform& p) { p.node_types[0].caches.back().cores.count = 5; }, "covers cores");
  broken([](Platform& p) { p.node_types[0].caches[0].level = 0; }, "level");
  broken([](Platform& p) { p.node_types[0].caches[0].cores.count = 2; }, "overlap");
  broken([](Platform& p) { p.node_types[0].unusable_pus = {999}; }, "does not exist");
  broken([](Platform& p) { p.node_types[0].unusable_pus = {2, 1}; }, "ascending");
  broken([](Platform& p) { p.links = {{.bytes_per_second = -1}}; }, "bandwidth");
  broken([](Platform& p) { p.links = {{}, {}}; }, "given twice");
  broken([](Platform& p) { p.switches = {{.name = "a", .parent = 0}}; }, "does not come before");
  broken([](Platform& p) { p.storage.push_back(p.storage[0]); }, "two storage targets");
  broken([](Platform& p) { p.node_types[0].numa_domains.assign(20, {0, 0, {0, 128}}); }, "two NUMA domains");
}

TEST(Level, NamesGoBothWays) {
  for (int i = 0; i < level_count; ++i)
    EXPECT_EQ(parse_level(to_string(static_cast<Level>(i))), static_cast<Level>(i));
  EXPECT_FALSE(parse_level("nodes"));
}

}  // namespace
}  // namespace weir
