// Machines from hwloc, from recorded XML, by name and by request, and the drawings of them (*.txt beside the
// XML).
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/file.hpp"
#include "platform/hwloc_source.hpp"
#include "platform/render.hpp"
#include "platform/sites.hpp"
#include "platform/source.hpp"
#include "platform/usable.hpp"
#include "platform/xml_source.hpp"

namespace weir {
namespace {

namespace fs = std::filesystem;

const fs::path data = fs::path(WEIR_TEST_DATA) / "platform";

NodeType recorded(const std::string& name) {
  auto type = node_type_from_xml_file(data / (name + ".xml"));
  EXPECT_TRUE(type) << type.error().message();
  return type.value_or(NodeType{});
}

// WEIR_UPDATE_GOLDEN=1 writes the expected text instead of comparing with it.
void expect_golden(const std::string& name, const std::string& text) {
  const fs::path path = data / (name + ".txt");
  if (std::getenv("WEIR_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_text_atomically(path, text));
    return;
  }
  const auto expected = read_text(path);
  ASSERT_TRUE(expected) << expected.error().message();
  EXPECT_EQ(text, *expected) << "WEIR_UPDATE_GOLDEN=1 updates " << path;
}

// ---- recorded machines ----

class RecordedMachine : public testing::TestWithParam<std::string> {};

TEST_P(RecordedMachine, IsReadAsHwlocReadsIt) {
  const NodeType ours = recorded(GetParam());
  ASSERT_EQ(::setenv("HWLOC_XMLFILE", (data / (GetParam() + ".xml")).c_str(), 1), 0);
  auto library = node_type_of_this_machine();
  ::unsetenv("HWLOC_XMLFILE");
  ASSERT_TRUE(library) << library.error().message();
  library->name = ours.name;
  EXPECT_EQ(ours, *library);
}

TEST_P(RecordedMachine, SurvivesBeingCutAnywhere) {
  const auto text = read_text(data / (GetParam() + ".xml"));
  ASSERT_TRUE(text);
  const std::size_t whole = text->find_last_of('>') + 1;
  for (std::size_t length = 0; length < whole; length += 1 + length / 64) {
    const auto cut = node_type_from_xml(std::string_view(*text).substr(0, length));
    ASSERT_FALSE(cut) << length;
    EXPECT_NE(cut.error().cause.find("line "), std::string::npos) << cut.error().cause;
  }
}

TEST_P(RecordedMachine, Drawing) {
  const auto platform = open_platform({.platform = (data / (GetParam() + ".xml")).string()});
  ASSERT_TRUE(platform);
  expect_golden(GetParam(), render(*platform));
}

INSTANTIATE_TEST_SUITE_P(Data, RecordedMachine,
                         testing::Values("archer2", "fulhame", "k", "vm-2core", "hwloc1"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(RecordedMachine, IsTheSiteOfThatName) {
  for (const std::string name : {"archer2", "fulhame", "k"}) {
    NodeType type = recorded(name);
    type.name = "compute";
    EXPECT_EQ(type, (*find_site(name))->node_types[0]) << name;
  }
}

// ---- drawings ----

TEST(Drawing, FourNodesOfArcher2) {
  expect_golden("archer2-4-nodes", render(*open_platform({.platform = "archer2", .nodes = 4})));
}

TEST(Drawing, ManySmallDomainsAndTwoKindsOfCores) {
  Platform platform = *open_platform({.platform = "2x40", .hosts = "left:4,right"});
  NodeType& type = platform.node_types[0];
  type.numa_domains.clear();
  for (std::uint32_t i = 0; i < 20; ++i) {
    type.numa_domains.push_back({i, std::uint64_t{1} << 30, {2 * i, 2}});
    type.cores[2 * i].pus.push_back(40 + i);
  }
  type.caches = {{2, 1 << 20, {0, 2}}};
  type.unusable_pus = {0, 1, 2};
  platform.links = {{Level::node, 5800e6, 0}, {Level::machine, 2100e6, 1.5e-6}};
  ASSERT_TRUE(check(platform));
  expect_golden("irregular", render(platform));
}

TEST(Drawing, NeverPasses80Columns) {
  std::vector<Platform> platforms;
  for (const Site& site : sites()) platforms.push_back(**find_site(site.name));
  platforms.push_back(*open_platform({.platform = "4x1000x8"}));
  platforms.push_back(
      *open_platform({.platform = "1000x7",
                      .hosts = "a-rather-long-name-[1-3]-x,b,c,d,e,f,g,h,i,j,another-long-name-of-a-host"}));
  platforms.push_back(*open_platform({.synthetic = "pack:3 numa:30 core:3 pu:4(indexes=4*270:1*4)"}));
  for (const Platform& platform : platforms) {
    const std::string text = render(platform);
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = text.find('\n', start);
      EXPECT_LE(end - start, 80U) << text.substr(start, end - start);
      start = end + 1;
    }
  }
}

// ---- XML from outside ----

TEST(Xml, RefusesWhatIsNoTopology) {
  struct Case {
    std::string text;
    const char* expected;
  };
  const std::string machine = R"(<topology><object type="Machine">)";
  const std::string end = "</object></topology>";
  std::string deep = machine;
  for (int i = 0; i < 100; ++i) deep += R"(<object type="Group">)";
  for (const Case& one :
       {Case{"", "no <topology>"},
        {"hello", "no <topology>"},
        {"<html></html>", "<html> instead of <topology>"},
        {"<topology>", "ends inside <topology>"},
        {"<topology/>", "no cores"},
        {machine + end, "no cores"},
        {"<topology></object>", "closes nothing"},
        {"<!DOCTYPE a [<!ENTITY b \"c\">]><topology/>", "DTD"},
        {machine + R"(<object type="PU"/>)" + end, "PU has no os_index"},
        {machine + R"(<object type="PU" os_index="-1"/>)" + end, "not a whole number"},
        {machine + R"(<object type="PU" os_index="4294967295"/>)" + end, "above"},
        {machine + R"(<object type="PU" os_index="99999999999999"/>)" + end, "not a whole number"},
        {machine + R"(<object type="PU" os_index="1"/><object type="PU" os_index="1"/>)" + end,
         "belongs to core"},
        {machine + R"(<object type="Core"/>)" + end, "no hardware thread"},
        {machine + R"(<object type="Core"><object type="Core"/></object>)" + end, "a core inside a core"},
        {machine + R"(<object type="Machine"/>)" + end, "more than one machine"},
        {machine + R"(<object type="L2Cache"><object type="PU" os_index="0"/></object>)" + end,
         "has no depth"},
        {R"(<topology><object type="Machine" allowed_cpuset="zz"/></topology>)", "allowed_cpuset"},
        {R"(<topology a="1" a="2"/>)", "twice"},
        {"<topology a=1/>", "quoted"},
        {"<topology a/>", "no value"},
        {"<topology><!-- ", "ends before '-->'"},
        {"<topology/><topology/>", "second <topology>"},
        {deep, "nested deeper"}}) {
    const auto result = node_type_from_xml(one.text);
    ASSERT_FALSE(result) << one.text;
    EXPECT_NE(result.error().cause.find(one.expected), std::string::npos)
        << one.text << ": " << result.error().cause;
  }
}

TEST(Xml, TakesWhatItDoesNotKnowAndWhatIsMissing) {
  const auto type = node_type_from_xml(R"(<topology version="9"><novelty x="&lt;1>"/>
    <object type="Machine" allowed_cpuset="0xf...f,0xfffffffe" local_memory="77"><object type="Gadget"/>
    <info name="CPUModel" value=" A &amp;  B &#9;"/>
    <object type="PU" os_index="0"/><object type='PU' os_index='40'/></object></topology>)");
  ASSERT_TRUE(type) << type.error().message();
  EXPECT_EQ(type->core_count(), 2U);
  EXPECT_EQ(type->model, "A & B &#9;");
  EXPECT_EQ(type->packages.size(), 1U);
  EXPECT_EQ(type->memory_bytes(), 77U);
  EXPECT_EQ(type->unusable_pus, Numbers{0});
}

// ---- synthetic descriptions ----

TEST(Synthetic, NumbersThreadsAsAsked) {
  const auto type = node_type_from_synthetic("pack:2 core:2 pu:2(indexes=2*4:1*2)");
  ASSERT_TRUE(type) << type.error().message();
  EXPECT_EQ(type->cores[1].pus, (Numbers{1, 5}));
  const auto list = node_type_from_synthetic("pack:1 core:2 pu:2(indexes=3,1,2,0)");
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_EQ(list->cores[0].pus, (Numbers{0, 2})) << "hwloc sorts";
}

TEST(Synthetic, RefusesGarbage) {
  for (const std::string& text :
       {std::string(""), std::string("hello"), std::string("core:"), std::string("core:0"),
        std::string("core:-1"), std::string("core:4 core:4 pu:1 pu:2"), std::string("pu:1000000"),
        std::string("pack:1000 core:1000 pu:1000"), std::string("core:99999999999999999999"),
        std::string("core:2("), std::string("core:2)"), std::string("core:2 pu:2(indexes=0,1)"),
        std::string("core:2 pu:2(indexes=0,1,2,0)"), std::string("core:2 pu:2(indexes=9*9:1*2)"),
        std::string("core:2\n"), std::string(5000, '1'), std::string("(((((core:1)))))"),
        std::string("[numa"), std::string("\xff\xfe")}) {
    EXPECT_FALSE(node_type_from_synthetic(text)) << text.substr(0, 60);
  }
}

// ---- this machine, and requests ----

TEST(ThisMachine, KnowsWhatWeMayUse) {
  const auto whole = node_type_of_this_machine();
  ASSERT_TRUE(whole) << whole.error().message();
  const auto usable = usable_cpus();
  ASSERT_TRUE(usable);
  EXPECT_EQ(whole->usable_pus(), usable->pus);
  EXPECT_GE(usable->workers(), 1U);

  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(usable->pus.back(), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  const auto narrowed = node_type_of_this_machine();
  const auto usable_now = usable_cpus();
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  ASSERT_TRUE(narrowed && usable_now);
  EXPECT_EQ(narrowed->cores, whole->cores);
  EXPECT_EQ(narrowed->usable_pus(), Numbers{usable->pus.back()});
  EXPECT_EQ(usable_now->workers(), 1U);
}

TEST(CgroupLimit, IsTheSmallestOnTheWayUp) {
  const fs::path root = fs::temp_directory_path() / ("weir-cgroup-" + std::to_string(::getpid()));
  fs::create_directories(root / "a/b");
  fs::create_directories(root / "cpu/job");
  ASSERT_TRUE(write_text_atomically(root / "a/cpu.max", "150000 100000\n"));
  ASSERT_TRUE(write_text_atomically(root / "a/b/cpu.max", "max 100000\n"));
  ASSERT_TRUE(write_text_atomically(root / "cpu/job/cpu.cfs_quota_us", "50000\n"));
  ASSERT_TRUE(write_text_atomically(root / "cpu/job/cpu.cfs_period_us", "100000\n"));
  EXPECT_DOUBLE_EQ(cgroup_cpu_limit("0::/a/b\n", root), 1.5);
  EXPECT_DOUBLE_EQ(cgroup_cpu_limit("0::/\n", root), 0);
  EXPECT_DOUBLE_EQ(cgroup_cpu_limit("3:memory:/job\n4:cpu,cpuacct:/job\n", root), 0.5);
  EXPECT_DOUBLE_EQ(cgroup_cpu_limit("nonsense\n::\n:", root), 0);
  EXPECT_DOUBLE_EQ(cgroup_cpu_limit("0::/../../..\n", root), 0);
  fs::remove_all(root);
}

TEST(OpenPlatform, TakesOneSourceAndOneListOfNodes) {
  EXPECT_EQ(open_platform({.platform = "archer2", .hosts = "nid[1-3]:4"})->nodes[2],
            (Node{.name = "nid3", .slots = 4}));
  EXPECT_EQ(open_platform({.xml = (data / "k.xml").string(), .nodes = 3})->core_count(), 24U);
  EXPECT_TRUE(open_platform({}));
  EXPECT_FALSE(open_platform({.platform = "k", .synthetic = "core:2 pu:1"}));
  EXPECT_FALSE(open_platform({.platform = "k", .hosts = "a", .nodes = 2}));
  EXPECT_FALSE(open_platform({.platform = "k", .nodes = 2'000'000}));
  EXPECT_FALSE(open_platform({.platform = "k", .hostfile = "/nonexistent/hosts"}));
  EXPECT_NE(open_platform({.platform = "archer"}).error().cause.find("did you mean 'archer2'?"),
            std::string::npos);
  EXPECT_EQ(open_platform({.platform = "absent.json"}).error().code, ErrorCode::not_found);
  EXPECT_EQ(open_platform({.platform = "absent.xml"}).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace weir
