#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/emit.hpp"
#include "placement/picture.hpp"
#include "placement/rank_file.hpp"
#include "placement_support.hpp"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::Not;

// Four ranks, on two nodes in an order of their own.
EmitRequest request() {
  EmitRequest request{.name_hosts = true, .core_of = {1, 0, 0, 1}, .aggregators = {2, 0}};
  request.placement.hosts = {"alpha", "beta"};
  request.placement.node_of = {0, 1, 0, 1};
  for (const std::uint32_t pu : {1U, 0U, 0U, 1U}) request.placement.pus_of.add(pu);
  return request;
}

TEST(Emitters, SayRanksInAnyOrder) {
  EXPECT_THAT(*emit_openmpi5(request()),
              HasSubstr("rank 0=alpha slot=1\nrank 1=beta slot=0\nrank 2=alpha slot=0\n"));
  EXPECT_THAT(*emit_openmpi_seq(request()), HasSubstr("\nalpha\nbeta\nalpha\nbeta\n"));
  EXPECT_THAT(*emit_mpich_hostfile(request()), HasSubstr("alpha:1\nbeta:1\nalpha:1\nbeta:1\n"));
  // By node, then by core.
  EXPECT_THAT(*emit_cray(request()), HasSubstr("\n2,0,1,3\n"));
  EXPECT_THAT(*emit_slurm(request()), HasSubstr("--distribution=arbitrary"));
}

TEST(Emitters, AreFoundByName) {
  for (const Emitter& emitter : emitters()) {
    EXPECT_TRUE(find_emitter(emitter.name));
    EXPECT_TRUE(emitter.emit(request()) || emitter.name == "romio") << emitter.name;
    EXPECT_FALSE(emitter.emit({})) << emitter.name;
  }
  EXPECT_THAT(find_emitter("openmpi-ranfile").error().message(),
              HasSubstr("did you mean 'openmpi-rankfile'"));
}

TEST(Emitters, RefuseWhatALauncherCannotBeTold) {
  EmitRequest uneven = request();
  uneven.placement.node_of = {0, 1, 1, 1};
  EXPECT_THAT(emit_cray(uneven).error().message(), HasSubstr("same number"));
  EmitRequest nameless = request();
  nameless.name_hosts = false;
  EXPECT_THAT(emit_openmpi_seq(nameless).error().message(), HasSubstr("--hosts"));
  EXPECT_THAT(emit_openmpi5(nameless).error().message(), HasSubstr("--hosts"));
}

TEST(Emitters, TellIoLibrariesOfAggregators) {
  EmitRequest hints = request();
  hints.aggregators = {1, 2};
  EXPECT_THAT(*emit_romio(hints), HasSubstr("cb_nodes 2\ncb_config_list beta:1,alpha:1\n"));
  hints.aggregators = {1, 3, 0};
  EXPECT_THAT(*emit_romio(hints), HasSubstr("beta:2,alpha:1\n"));
  hints.aggregators = {1, 0, 3};
  EXPECT_THAT(emit_romio(hints).error().message(), HasSubstr("do not follow each other"));
  EXPECT_THAT(*emit_ompio(hints), HasSubstr("io_ompio_num_aggregators = 3"));
  hints.aggregators.clear();
  EXPECT_THAT(emit_romio(hints).error().message(), HasSubstr("no aggregators"));
  hints.aggregators = {9};
  EXPECT_FALSE(emit_ompio(hints));
  EmitRequest many{.name_hosts = true};
  for (std::uint32_t node = 0; node < 40; ++node) {
    many.placement.hosts.push_back("node" + std::to_string(100 + node));
    many.placement.node_of.push_back(node);
    many.aggregators.push_back(node);
  }
  EXPECT_THAT(emit_romio(many).error().message(), HasSubstr("255"));
}

TEST(RankFile, ReadsBackWhatIsWritten) {
  Platform platform = cluster(2, 2);
  platform.nodes[0].name = "alpha";
  platform.nodes[1].name = "beta";
  const auto lines = parse_rank_file(*emit_openmpi(request()));
  ASSERT_TRUE(lines) << lines.error().message();
  ASSERT_EQ(lines->size(), 4U);
  EXPECT_EQ((*lines)[1].host, "beta");
  EXPECT_EQ((*lines)[3].slots, Numbers{1});
  EXPECT_TRUE(check(*lines, platform, true));
  const auto five = parse_rank_file(*emit_openmpi5(request()));
  ASSERT_TRUE(five);
  EXPECT_TRUE(check(*five, platform, false));
}

TEST(RankFile, TakesEveryFormOfSlots) {
  const auto lines =
      parse_rank_file("# one\n\n rank 1 = +n1 slot=1:2-3 # two\r\nrank 0=a.b-c_d slot=4,0-2\n");
  ASSERT_TRUE(lines) << lines.error().message();
  EXPECT_EQ((*lines)[0], (RankLine{.host = "a.b-c_d", .slots = {0, 1, 2, 4}}));
  EXPECT_EQ((*lines)[1], (RankLine{.host = "+n1", .socket = 1, .slots = {2, 3}}));
}

TEST(RankFile, IsReadStrictly) {
  for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{
           {"", "no rank"},
           {"garbage\n", "line 1: 'rank' is expected"},
           {"rank 0=a slots=0\n", "'slot=' is expected, not 'slots=0'"},
           {"rank 0=a slot=\n", "a number"},
           {"rank 0=a slot=0 1\n", "left over"},
           {"rank 0=a slot=3-1\n", "backwards"},
           {"rank 0=a slot=0,0\n", "twice"},
           {"rank 0=a slot=0-99999999\n", "above"},
           {"rank 0 a slot=0\n", "'='"},
           {"rank x=a slot=0\n", "number of a rank"},
           {"rank 99999999=a slot=0\n", "above"},
           {"rank 0=a/b slot=0\n", "host"},
           {"rank 0=+nx slot=0\n", "host"},
           {"rank 1=a slot=0\n", "rank 0 is missing"},
           {"rank 0=a slot=0\nrank 0=a slot=1\n", "line 2: rank 0 stands on line 1"},
           {"rank 0=a slot=0,1:2\n", "socket"}}) {
    const auto lines = parse_rank_file(text);
    ASSERT_FALSE(lines) << text;
    EXPECT_THAT(lines.error().message(), HasSubstr(what)) << text;
  }
}

TEST(RankFile, IsCheckedAgainstTheMachine) {
  const Platform platform = cluster(2, 4);
  const auto problem = [&](std::string_view text) {
    const Status status = check(*parse_rank_file(text), platform, false);
    return status ? std::string() : status.error().message();
  };
  EXPECT_EQ(problem("rank 0=node1 slot=3\nrank 1=+n1 slot=0:2\n"), "");
  EXPECT_THAT(problem("rank 0=other slot=0\n"), HasSubstr("'other' is not in the platform"));
  EXPECT_THAT(problem("rank 0=node1 slot=4\n"), HasSubstr("no core 4"));
  EXPECT_THAT(problem("rank 0=node1 slot=1:0\n"), HasSubstr("no core 1:0"));
  EXPECT_THAT(problem("rank 0=+n2 slot=0\n"), HasSubstr("there are 2"));
  EXPECT_THAT(problem("rank 0=node1 slot=0\nrank 1=node1 slot=0:0\n"), HasSubstr("rank 0 too"));
}

TEST(Picture, ShowsRanksOnNodes) {
  const Problem problem(cluster(8, 48), tile(16, 16, 7));
  const Placed before = problem.place("byslot"), after = problem.place("joint-shuffle");
  const Scenario scenario{.title = "before", .placed = &before, .aggregators = {0, 48}};
  const std::string text = draw_text(problem.value, problem.platform, scenario);
  EXPECT_THAT(text, HasSubstr("node1   48/48   0-47  writes: 0\n"));
  EXPECT_THAT(text, HasSubstr("node6   16/48   240-255\n"));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 80U);
    begin = end + 1;
  }
  const std::vector<Scenario> both = {scenario, {.title = "after <&>", .placed = &after}};
  const std::string svg = draw_svg(problem.value, problem.platform, both);
  EXPECT_THAT(svg, HasSubstr("after &lt;&amp;&gt;"));
  EXPECT_THAT(svg, HasSubstr("rank 255,"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  const Problem large(cluster(100, 4), tile(20, 20));
  const Placed many = large.place("byslot");
  EXPECT_THAT(draw_text(large.value, large.platform, {.title = "t", .placed = &many}),
              HasSubstr("and 76 more nodes"));
}

}  // namespace
}  // namespace weir
