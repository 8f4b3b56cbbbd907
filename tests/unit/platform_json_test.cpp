#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "core/file.hpp"
#include "platform/platform_json.hpp"
#include "platform/sites.hpp"

namespace weir {
namespace {

Result<Platform> read(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return tl::make_unexpected(json.error());
  return platform_from_json(*json);
}

void expect_round_trip(const Platform& platform) {
  ASSERT_TRUE(check(platform)) << check(platform).error().message();
  const std::string text = platform_to_json(platform).dump();
  const auto again = read(text);
  ASSERT_TRUE(again) << again.error().message() << "\n" << text;
  EXPECT_EQ(*again, platform) << text;
}

TEST(PlatformJson, ReadsTheExampleOfTheHeader) {
  const auto platform = read(R"({
    "weir_platform": 1, "name": "cluster",
    "node_types": [{"name": "compute", "cores": 128, "threads": 2, "packages": 2, "numa": 8, "memory": "256GiB",
                    "caches": [{"level": 3, "bytes": "16MiB", "cores": 4}]}],
    "nodes": [{"hosts": "nid[000001-005860]"}],
    "switches": [{"name": "s0"}, {"name": "s1", "parent": "s0"}],
    "links": [{"level": "machine", "bytes_per_second": 25e9, "latency_seconds": 2e-6}],
    "storage": [{"targets": "ost[0-11]", "server": "oss0", "write_bytes_per_second": 1e9, "read_bytes_per_second": 1e9}]})");
  ASSERT_TRUE(platform) << platform.error().message();
  EXPECT_EQ(platform->nodes.size(), 5860U);
  EXPECT_EQ(platform->pu_count(), 5860U * 256);
  EXPECT_EQ(platform->node_types[0].cores[1].pus, (Numbers{1, 129}));
  EXPECT_EQ(platform->node_types[0].memory_bytes(), std::uint64_t{256} << 30);
  EXPECT_EQ(platform->node_types[0].caches.size(), 32U);
  EXPECT_EQ(platform->storage[11].server, "oss0");
  expect_round_trip(*platform);
}

TEST(PlatformJson, ReadsAnIrregularNode) {
  const auto platform = read(R"({
    "weir_platform": 1,
    "node_types": [{"name": "hybrid", "cores": 8, "threads": ["0-7", {"cores": "0-3", "pus": "8-11"}], "packages": "6,2",
                    "numa": [{"os": "0-1", "bytes": 1024, "cores": "4x2"}, {"os": "7", "bytes": 64, "cores": "8"}],
                    "caches": [{"level": 2, "bytes": 1024, "cores": "2x2", "first": "4,6"}, {"level": 2, "bytes": 9, "cores": "1x4"}],
                    "unusable": "3"}],
    "nodes": [{"hosts": "a,b", "slots": 4}, {"hosts": "c:2"}]})");
  ASSERT_TRUE(platform) << platform.error().message();
  EXPECT_EQ(platform->node_types[0].cores[2].pus, (Numbers{2, 10}));
  EXPECT_EQ(platform->node_types[0].cores[5].pus, Numbers{5});
  EXPECT_EQ(platform->node_types[0].packages[1].cores, (CoreSpan{6, 2}));
  EXPECT_EQ(platform->nodes[2].slots, 2U);
  EXPECT_EQ(platform->node_types[0].usable_pus(), (Numbers{0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11}));
  expect_round_trip(*platform);
}

TEST(PlatformJson, RoundTripsEverySite) {
  for (const Site& site : sites()) {
    const auto platform = *find_site(site.name);
    ASSERT_TRUE(platform);
    expect_round_trip(*platform);
  }
}

TEST(PlatformJson, TenThousandNodesAreSmall) {
  auto platform = *find_site("archer2");
  ASSERT_TRUE(resize_nodes(*platform, 10'000));
  EXPECT_LT(platform_to_json(*platform).dump().size(), 500U);
  expect_round_trip(*platform);
}

TEST(PlatformJson, RoundTripsRandomMachines) {
  std::mt19937 random(11);
  const auto below = [&](std::size_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  const auto upto = [&](std::uint32_t most) { return below(most) + 1; };
  for (int round = 0; round < 300; ++round) {
    Platform platform{.name = "r"};
    for (std::uint32_t t = 0; t < upto(3); ++t) {
      NodeType type{.name = "t" + std::to_string(t)};
      Numbers numbers;
      for (std::uint32_t pu = 0; pu < 128; ++pu) numbers.push_back(pu);
      if (round % 2 == 0) std::shuffle(numbers.begin(), numbers.end(), random);
      for (std::uint32_t core = 0, most = upto(20); core < most; ++core) {
        Core one;
        for (std::uint32_t thread = 0, threads = upto(4); thread < threads; ++thread) {
          one.pus.push_back(numbers.back());
          numbers.pop_back();
        }
        type.cores.push_back(one);
      }
      const std::uint32_t cores = type.core_count();
      const auto cut = [&](auto add) {
        for (std::uint32_t first = 0; first < cores;) {
          const std::uint32_t count = std::min(upto(5), cores - first);
          add(CoreSpan{first, count});
          first += count;
        }
      };
      cut([&](CoreSpan span) { type.packages.push_back({span}); });
      std::uint32_t number = 0;
      cut([&](CoreSpan span) { type.numa_domains.push_back({number += upto(2), below(3) * 1024, span}); });
      if (round % 3 == 0) type.numa_domains.push_back({100, 5, {0, cores}});
      for (std::uint32_t level = 1; level < upto(4); ++level) {
        cut([&](CoreSpan span) {
          if (below(4) != 0) type.caches.push_back({level, below(2), span});
        });
      }
      if (below(2) == 0) type.unusable_pus = {type.all_pus()[0]};
      platform.node_types.push_back(type);
    }
    for (std::uint32_t s = 0; s < 3; ++s) {
      platform.switches.push_back(
          {.name = "s" + std::to_string(s), .parent = s == 0 ? no_switch : upto(s) - 1});
    }
    for (std::uint32_t n = 0; n < upto(30); ++n) {
      Node node{.name = "n" + std::to_string(n * upto(2) + 100 * n)};
      node.type = below(platform.node_types.size());
      node.slots = below(3);
      node.switch_ = below(2) == 0 ? no_switch : upto(3) - 1;
      platform.nodes.push_back(node);
    }
    platform.links = {{Level::numa, 0.1 * round, 1e-7}, {Level::machine, 1.0 / 3, 0}};
    expect_round_trip(platform);
  }
}

TEST(PlatformJson, NamesWhatIsWrongAndWhere) {
  struct Case {
    const char* text;
    const char* expected;
  };
  const std::string head = R"({"weir_platform": 1, "node_types": [{"name": "c", "cores": 4)";
  const std::string tail = R"(}], "nodes": [{"hosts": "a"}]})";
  for (const Case& one :
       {Case{R"(, "core": 1)", "unknown key 'core' in node_types[0]; did you mean 'cores'?"},
        {R"(, "threads": 0)", "'node_types[0].threads' is 0"},
        {R"(, "threads": -1)", "'node_types[0].threads' is not a whole number"},
        {R"(, "threads": 1e300)", "threads"},
        {R"(, "threads": 99999999999)", "it can be 1 to 64"},
        {R"(, "threads": ["0-2"])", "numbers 3 threads for 4 cores"},
        {R"(, "threads": ["0-3x"])", "column 5"},
        {R"(, "threads": [{"cores": "4", "pus": "0"}])", "names core 4"},
        {R"(, "threads": [])", "core 0 has no hardware thread"},
        {R"(, "threads": ["0,0,1,2"])", "belongs to core 0 and to core 1"},
        {R"(, "packages": 3)", "do not divide"},
        {R"(, "packages": "3,2")", "do not fit"},
        {R"(, "packages": "3")", "core 3 is in no package"},
        {R"(, "packages": 4294967297)", "it can be 1 to 4"},
        {R"(, "numa": 3)", "do not divide"},
        {R"(, "numa": [{"os": "0", "cores": "9"}])", "not within"},
        {R"(, "numa": [{"os": "0", "cores": "2x2"}])", "numbers for"},
        {R"(, "numa": [{"os": "0", "cores": "4"}], "memory": 5)", "said already"},
        {R"(, "memory": "4 potatoes")", "memory"},
        {R"(, "memory": -4)", "memory"},
        {R"(, "caches": [{"level": 0, "cores": 1}])", "level"},
        {R"(, "caches": [{"level": 1}])", "'node_types[0].caches[0].cores' is missing"},
        {R"(, "caches": [{"level": 1, "cores": "4,4"}])", "not within"},
        {R"(, "caches": {})", "is not a list"},
        {R"(, "caches": [{"level": 1, "cores": 4}, {"level": 1, "cores": 2}])", "overlap"},
        {R"(, "unusable": "77")", "does not exist"}}) {
    const auto result = read(head + one.text + tail);
    ASSERT_FALSE(result) << one.text;
    EXPECT_NE(result.error().message().find(one.expected), std::string::npos)
        << one.text << ": " << result.error().message();
  }
  for (
      const Case& one :
      {Case{"{}", "'weir_platform' is missing"},
       {"[]", "not a JSON object"},
       {R"({"weir_platform": 2})", "use a newer Weir"},
       {R"({"weir_platform": "1"})", "whole number"},
       {R"({"weir_platform": 1})", "'node_types' is missing"},
       {R"({"weir_platform": 1, "nods": 1})", "did you mean 'nodes'?"},
       {"{", "line 1"},
       {R"({"weir_platform": 1, "node_types": []})", "no node type"},
       {R"({"weir_platform": 1, "node_types": [{"name": "c", "cores": 4}]})", "no node"},
       {R"({"weir_platform": 1, "node_types": [{"name": "c", "cores": 999999}], "nodes": []})",
        "it can be 1 to 65536"},
       {R"({"weir_platform": 1, "node_types": [{"name": "c", "cores": 4}], "nodes": [{"hosts": "a[1-"}]})",
        "'nodes[0].hosts': host list, column 5"},
       {R"({"weir_platform": 1, "node_types": [{"name": "c", "cores": 4}], "nodes": [{"hosts": "a", "type": "d"}]})",
        "'nodes[0].type' names 'd'"},
       {R"({"weir_platform": 1, "node_types": [{"name": "c", "cores": 4}], "nodes": [{"hosts": "a"}], "links": [{"level": "nod"}]})",
        "did you mean 'node'?"}}) {
    const auto result = read(one.text);
    ASSERT_FALSE(result) << one.text;
    EXPECT_NE(result.error().message().find(one.expected), std::string::npos)
        << one.text << ": " << result.error().message();
  }
}

TEST(PlatformJson, FilesAreNamedInErrors) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("weir-platform-json-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto path = folder / "machine.json";
  const auto platform = *find_site("k");
  ASSERT_TRUE(save_platform(*platform, path));
  EXPECT_EQ(load_platform(path), *platform);
  ASSERT_TRUE(write_text_atomically(path, R"({"weir_platform": 1, "x": 2})"));
  const auto wrong = load_platform(path);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message().find("machine.json"), std::string::npos);
  EXPECT_EQ(load_platform(folder / "absent.json").error().code, ErrorCode::not_found);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace weir
