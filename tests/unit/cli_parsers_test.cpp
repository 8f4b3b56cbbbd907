// What the command reads from outside: commands as text, figures of sessions, announced nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "command_words.hpp"
#include "sampled_nodes.hpp"
#include "session_figures.hpp"

namespace weir::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CommandWords, AsAShellTakesThem) {
  EXPECT_THAT(*command_words("ssh {}"), ElementsAre("ssh", "{}"));
  EXPECT_THAT(*command_words("  'a b'\t\"c'd\"e '' "), ElementsAre("a b", "c'de", ""));
  EXPECT_THAT(command_words("ssh 'x").error().message(), HasSubstr("not closed"));
  EXPECT_THAT(command_words(" \t").error().message(), HasSubstr("without words"));
}

TEST(SessionFigures, AreSummedOverSessions) {
  const auto figures = session_figures(
      "{\"stored_bytes\": 100, \"visible_seconds\": 1, \"storing_seconds\": 4, \"files\": 1}\n"
      "{\"stored_bytes\": 50, \"visible_seconds\": 1, \"storing_seconds\": 4}\n");
  ASSERT_TRUE(figures) << figures.error().message();
  EXPECT_EQ(*figures,
            (std::map<std::string, double>{
                {"bytes_written", 150}, {"io_seconds", 2}, {"storing_seconds", 8}, {"hidden_share", 0.75}}));
  EXPECT_TRUE(session_figures("")->empty());
}

TEST(SessionFigures, WrongLinesAreNamed) {
  const std::string good = "{\"stored_bytes\": 1, \"visible_seconds\": 1, \"storing_seconds\": 1}\n";
  EXPECT_THAT(session_figures(good + "{\"stored_bytes\": 1").error().message(), HasSubstr("line 2"));
  EXPECT_THAT(session_figures("[]").error().message(), HasSubstr("line 1"));
  EXPECT_THAT(session_figures("{\"stored_bytes\": -1, \"visible_seconds\": 1, \"storing_seconds\": 1}")
                  .error()
                  .message(),
              HasSubstr("'stored_bytes' is -1"));
  EXPECT_FALSE(session_figures("{\"stored_bytes\": 1, \"storing_seconds\": 1}"));
}

TEST(SampledNodes, AsALauncherAnnouncesThem) {
  const auto nodes =
      parse_announcement(R"({"nodes": "c-node[0-2],io", "reach": "/run/c/enter {}", "sources": "net"})");
  ASSERT_TRUE(nodes) << nodes.error().message();
  EXPECT_THAT(nodes->nodes, ElementsAre("c-node0", "c-node1", "c-node2", "io"));
  EXPECT_EQ(nodes->reach, "/run/c/enter {}");
  EXPECT_EQ(nodes->sources, "net");
  EXPECT_THAT(parse_announcement(R"({"nodes": "a", "reach": "ssh"})").error().message(), HasSubstr("{}"));
  EXPECT_THAT(parse_announcement(R"({"nodes": "a[1-2000]", "reach": "ssh {}"})").error().message(),
              HasSubstr("2000 nodes"));
  EXPECT_FALSE(parse_announcement(R"({"nodes": "", "reach": "ssh {}"})"));
  EXPECT_FALSE(parse_announcement(R"({"nodes": "a", "reach": "ssh {}", "source": "net"})"));
  EXPECT_FALSE(parse_announcement(R"({"nodes": "a", "reach": "ssh '{}"})"));
}

TEST(SampledNodes, AsSlurmNamesThem) {
  std::map<std::string, std::string> variables;
  const auto found = [&] {
    const auto nodes = slurm_nodes([&](const char* name) { return variables[name]; }, "n1.site.org", 8);
    EXPECT_TRUE(nodes) << nodes.error().message();
    return nodes && *nodes ? (*nodes)->nodes : std::vector<std::string>{};
  };
  EXPECT_THAT(found(), ElementsAre()) << "no Slurm";
  variables["SLURM_JOB_NODELIST"] = "n[1-3],login";
  EXPECT_THAT(found(), ElementsAre("n2", "n3", "login"));
  variables["SLURMD_NODENAME"] = "login";
  EXPECT_THAT(found(), ElementsAre("n2", "n3"));
  variables["SLURM_STEP_ID"] = "4294967291";  // a batch script
  EXPECT_THAT(found(), ElementsAre("n2", "n3"));
  variables["SLURM_STEP_ID"] = "0";
  EXPECT_THAT(found(), ElementsAre()) << "one process of many";
  variables.erase("SLURM_STEP_ID");
  variables["SLURM_JOB_NODELIST"] = "n1";
  EXPECT_THAT(found(), ElementsAre());
  variables["SLURM_JOB_NODELIST"] = "n[1-100]";
  EXPECT_THAT(found(), ElementsAre()) << "too many to reach one by one";
}

}  // namespace
}  // namespace weir::cli
