#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/lookup.hpp"
#include "platform/sites.hpp"
#include "platform/slurm_topology.hpp"

namespace weir {
namespace {

using testing::HasSubstr;

constexpr std::string_view tree =
    "# the upper one first, which Slurm allows\n"
    "SwitchName=spine Switches=leaf[0-1]\n"
    "SwitchName=leaf0 Nodes=n[0-1] LinkSpeed=100 # fast\n"
    "switchname=leaf1 \\\n  nodes=n[2-3]\n\n";

TEST(SlurmTopology, GivesNodesTheirSwitches) {
  const auto topology = parse_topology(tree);
  ASSERT_TRUE(topology) << topology.error().message();
  Platform platform = **find_site("1x4");
  const Status used = use_topology(platform, *topology, true);
  ASSERT_TRUE(used) << used.error().message();
  ASSERT_TRUE(check(platform)) << check(platform).error().message();
  ASSERT_EQ(platform.nodes.size(), 4U);
  EXPECT_EQ(platform.nodes[3].name, "n3");
  const PlatformLookup lookup(platform);
  EXPECT_EQ(lookup.common_level({0, 0}, {1, 0}), Level::network_switch);
  EXPECT_EQ(lookup.common_level({1, 0}, {2, 0}), Level::machine);
  EXPECT_EQ(platform.switches[platform.switches[platform.nodes[0].switch_].parent].name, "spine");
}

TEST(SlurmTopology, KeepsTheNodesThatThePlatformHas) {
  const auto topology = parse_topology(tree);
  Platform platform = **find_site("2x4");
  platform.nodes[0].name = "n3";
  platform.nodes[1].name = "n0";
  ASSERT_TRUE(use_topology(platform, *topology, false));
  EXPECT_EQ(platform.switches[platform.nodes[0].switch_].name, "leaf1");
  EXPECT_EQ(platform.switches[platform.nodes[1].switch_].name, "leaf0");
  platform.nodes[1].name = "elsewhere";
  EXPECT_THAT(use_topology(platform, *topology, false).error().message(), HasSubstr("'elsewhere'"));
}

TEST(SlurmTopology, IsReadStrictly) {
  for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{
           {"", "no switch"},
           {"SwitchName=a Nodes=n[0-\n", "line 1"},
           {"SwitchName=a Nodes\n", "Key=value"},
           {"\nSwitchName=a Node=n1\n", "line 2: unknown key 'Node'"},
           {"Nodes=n1\n", "SwitchName is missing"},
           {"SwitchName=a/b Nodes=n1\n", "name for a switch"},
           {"SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "two switches"},
           {"SwitchName=a Switches=b\n", "'b', which does not exist"},
           {"SwitchName=a Switches=a\n", "itself"},
           {"SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "circle"},
           {"SwitchName=a Switches=c\nSwitchName=b Switches=c\nSwitchName=c Nodes=n\n", "more than one"},
           {"SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\n", "'n1' is on switch 'a' and on 'b'"}}) {
    const auto topology = parse_topology(text);
    ASSERT_FALSE(topology) << text;
    EXPECT_THAT(topology.error().message(), HasSubstr(what)) << text;
  }
}

}  // namespace
}  // namespace weir
