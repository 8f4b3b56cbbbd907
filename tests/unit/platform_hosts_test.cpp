#include <gtest/gtest.h>

#include <random>
#include <set>

#include "platform/host_list.hpp"

namespace weir {
namespace {

std::vector<std::string> names(const Result<std::vector<Host>>& hosts) {
  EXPECT_TRUE(hosts) << hosts.error().message();
  std::vector<std::string> list;
  if (hosts) {
    for (const Host& host : *hosts) list.push_back(host.name);
  }
  return list;
}

using Names = std::vector<std::string>;

TEST(HostList, ExpandsAsSlurmDoes) {
  EXPECT_EQ(names(parse_host_list("a")), Names{"a"});
  EXPECT_EQ(names(parse_host_list("a,b[1-3,07-09],c[0-1]n[2-3]")),
            (Names{"a", "b1", "b2", "b3", "b07", "b08", "b09", "c0n2", "c0n3", "c1n2", "c1n3"}));
  EXPECT_EQ(names(parse_host_list("nid[008-011]")), (Names{"nid008", "nid009", "nid010", "nid011"}));
  EXPECT_EQ(names(parse_host_list("n[9-10]-ib.site")), (Names{"n9-ib.site", "n10-ib.site"}));
  EXPECT_EQ(names(parse_host_list(" a,b \n")), (Names{"a", "b"}));
}

TEST(HostList, TakesSlots) {
  const auto hosts = parse_host_list("node1:16,n[1-2]:4,b");
  ASSERT_TRUE(hosts);
  EXPECT_EQ(*hosts, (std::vector<Host>{{"node1", 16}, {"n1", 4}, {"n2", 4}, {"b", 0}}));
}

TEST(HostList, ARepeatedHostAddsItsSlots) {
  EXPECT_EQ(*parse_host_list("a,a,b:3,b,a"), (std::vector<Host>{{"a", 3}, {"b", 4}}));
}

TEST(HostFile, TakesOpenMpiAndMpichLines) {
  const auto hosts = parse_host_file(
      "# a comment\n"
      "node1 slots=4   # behind\n"
      "node2 slots=2 max_slots=8\r\n"
      "\n"
      "node3:5\n"
      "node[4-5]\tslots=1\n"
      "node6 max-slots=3");
  ASSERT_TRUE(hosts) << hosts.error().message();
  EXPECT_EQ(*hosts, (std::vector<Host>{
                        {"node1", 4}, {"node2", 2}, {"node3", 5}, {"node4", 1}, {"node5", 1}, {"node6", 0}}));
}

TEST(HostFile, NamesTheLineOfAnError) {
  const auto typo = parse_host_file("node1\nnode2 slot=4\n");
  ASSERT_FALSE(typo);
  EXPECT_NE(typo.error().cause.find("line 2: unknown word 'slot=4'; did you mean 'slots'?"),
            std::string::npos)
      << typo.error().cause;
  for (const char* text : {"", "# nothing\n", "a slots=0", "a slots=-1", "a slots=", "a slots=99999999",
                           "a b", "a[1-2 slots=1", "a slots=1x"}) {
    EXPECT_FALSE(parse_host_file(text)) << text;
  }
}

TEST(HostList, RefusesWhatIsWrongAndSaysWhere) {
  struct Case {
    const char* text;
    const char* expected;
  };
  for (const Case& one : {Case{"", "column 1: a host name is expected"},
                          {"a,", "column 3: a host name is expected"},
                          {"a,,b", "column 3"},
                          {"a[1-", "column 5: a number is expected"},
                          {"a[]", "a number is expected"},
                          {"a[1-3", "']' is missing"},
                          {"a[3-1]", "ends before it starts"},
                          {"a[1-03]", "different width"},
                          {"a[01-003]", "different width"},
                          {"a]", "']' cannot be part"},
                          {"a b", "cannot be part"},
                          {"a:0", "at least one slot"},
                          {"a:-4", "a number is expected"},
                          {"a:9999999", "more than 1000000 slots"},
                          {"a:4b", "unexpected 'b'"},
                          {"a[-1-3]", "a number is expected"},
                          {"a/b", "'/' cannot be part"},
                          {"a[[1]]", "a number is expected"},
                          {"a[1-1000000000]", "more than 1000000 hosts"},
                          {"a[1-9999999999999999999]", "more than 18 digits"},
                          {"a[0-999]b[0-999]c[0-999]", "more than 1000000 hosts"},
                          {"a[0-999999999999999999]b[0-999999999999999999]", "more than 1000000 hosts"},
                          {"a[0-999998],b,c", "more than 1000000 hosts"}}) {
    const auto result = parse_host_list(one.text);
    ASSERT_FALSE(result) << one.text;
    EXPECT_NE(result.error().cause.find(one.expected), std::string::npos)
        << one.text << ": " << result.error().cause;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_FALSE(parse_host_list(std::string(300, 'a')));
  EXPECT_FALSE(parse_host_list(std::string("a\0b", 3)));
}

TEST(HostList, FoldsRuns) {
  EXPECT_EQ(format_host_list(Names{"nid000001", "nid000002", "nid000003"}), "nid[000001-000003]");
  EXPECT_EQ(format_host_list(Names{"n9", "n10", "n12", "x", "c0n2", "c0n3", "c1n2"}),
            "n[9-10,12],x,c0n[2-3],c1n2");
  EXPECT_EQ(format_host_list(Names{"n09", "n10", "n99", "n100"}), "n[09-10,99-100]");
  EXPECT_EQ(format_host_list(Names{}), "");
}

TEST(HostList, ExpandsToWhatWasFolded) {
  std::mt19937 random(3);
  const auto below = [&](std::size_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  const Names prefixes = {"n", "nid0", "c1-", "rack7node", "", "a.b_"};
  const Names suffixes = {"", "", "-ib", ".site"};
  for (int round = 0; round < 2000; ++round) {
    Names list;
    std::set<std::string> seen;
    for (std::uint64_t run = 0; run < 1 + below(4); ++run) {
      const std::string prefix = prefixes[below(prefixes.size())];
      const std::string suffix = suffixes[below(suffixes.size())];
      const std::size_t width = below(5);
      const std::uint64_t first = below(120);
      for (std::uint64_t value = first; value < first + 1 + below(30); ++value) {
        std::string digits = std::to_string(value);
        if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
        std::string name = prefix + digits + suffix;
        if (seen.insert(name).second) list.push_back(std::move(name));
      }
    }
    std::string text = format_host_list(list);
    EXPECT_EQ(names(parse_host_list(text)), list) << text;
  }
}

TEST(HostList, AMillionHostsAreAllowed) {
  EXPECT_EQ(names(parse_host_list("n[0-999999]")).size(), 1'000'000U);
}

}  // namespace
}  // namespace weir
