// The texts of kernels and drivers, one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "telemetry/fabric_values.hpp"
#include "telemetry/linux_stats.hpp"
#include "telemetry/lustre_jobs.hpp"
#include "telemetry/lustre_stats.hpp"
#include "telemetry/tofu_pa.hpp"

namespace weir::telemetry {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Nanoseconds second = 1'000'000'000;

TEST(LustreStats, TimesOfAllVersions) {
  EXPECT_EQ(parse_lustre_time("1564617600.775 secs.usecs"), 1564617600 * second + 775'000);
  EXPECT_EQ(parse_lustre_time(" 1564617600.000775 secs.usecs"), 1564617600 * second + 775'000);
  EXPECT_EQ(parse_lustre_time("1564617600.004512000 secs.nsecs"), 1564617600 * second + 4'512'000);
  EXPECT_EQ(parse_lustre_time("1564617600"), 1564617600 * second);
  for (const char* bad :
       {"", ".5", "x", "12.x secs.usecs", "1.1000000 secs.usecs", "99999999999999999999", "-1"})
    EXPECT_FALSE(parse_lustre_time(bad)) << bad;
}

TEST(LustreStats, LinesThatCannotBeReadAreTold) {
  const LustreStats stats = parse_lustre_stats(
      "snapshot_time yesterday\n"
      "req_qdepth 9120 samples [reqs] 0 40 17510 205500\n"
      "req_active many samples [reqs] 0 40 17510 205500\n"
      "req_waittime 3 samples usecs 1 2 3\n"
      "ost_read 3 samples [usecs] 1 2\n"
      "ost_write 3 samples [usecs] 1 2 3 -4\n"
      "ost_punch 3\n"
      "\n"
      "ost_sync 3 samples [reqs]");
  EXPECT_THAT(stats.problems,
              ElementsAre(HasSubstr("line 1: 'snapshot_time'"), HasSubstr("line 3: 'req_active'"),
                          HasSubstr("line 4: 'req_waittime'"), HasSubstr("line 5: 'ost_read'"),
                          HasSubstr("line 6: 'ost_write'"), HasSubstr("line 7: 'ost_punch'")));
  ASSERT_EQ(stats.lines.size(), 2);
  EXPECT_EQ(stats.find("req_qdepth")->sum, 17510);
  EXPECT_FALSE(stats.find("ost_sync")->sum);
  EXPECT_FALSE(stats.snapshot_time);
}

TEST(LustreStats, OfTwoLinesTheLargerCounts) {
  for (const char* text : {"a 5 samples [reqs] 1 1 5\na 3 samples [reqs] 1 1 3\n",
                           "a 3 samples [reqs] 1 1 3\na 5 samples [reqs] 1 1 5\n"}) {
    const LustreStats stats = parse_lustre_stats(text);
    ASSERT_EQ(stats.lines.size(), 1);
    EXPECT_EQ(stats.lines[0].count, 5);
  }
}

TEST(LustreJobs, DuplicatesAreOneJobAndOddCharactersAreRead) {
  const LustreJobs found = parse_lustre_jobs(
      "job_stats:\n"
      "- job_id:          \"a\\x20b\\\"\n"
      "  write_bytes:     { samples: 2, unit: bytes, min: 1, max: 2, sum: 3 }\n"
      "- job_id:          4711:cn01\n"
      "  read_bytes:      { samples: 1, unit: bytes, min: 1, max: 2, sum: 9, sumsq: 81 }\n"
      "- job_id:          \"4711:cn01\"\n"
      "  start_time:      12.000000005 secs.nsecs\n"
      "  read_bytes:      { samples: 1, sum: 1 }\n");
  EXPECT_THAT(found.problems, IsEmpty());
  ASSERT_EQ(found.jobs.size(), 2);
  EXPECT_EQ(found.jobs[0], (LustreJob{.id = "a b\\", .write_ops = 2, .write_bytes = 3}));
  EXPECT_EQ(found.jobs[1],
            (LustreJob{.id = "4711:cn01", .start_time = 12 * second + 5, .read_ops = 2, .read_bytes = 10}));
}

TEST(LustreJobs, WhatIsWrongIsToldAndTheRestKept) {
  const LustreJobs found = parse_lustre_jobs(
      "- job_id: good\n"
      "  write_bytes: { samples: x, sum: 3 }\n"
      "  nonsense\n"
      "- id: none\n"
      "  write_bytes: { samples: 2, sum: 3 }\n"
      "- job_id: \"\\x00\\x01\"\n"
      "  read_bytes: { samples: 1, sum: 3 }\n");
  EXPECT_THAT(found.problems, ElementsAre(HasSubstr("line 2"), HasSubstr("line 3"), HasSubstr("line 4")));
  ASSERT_EQ(found.jobs.size(), 2);
  EXPECT_EQ(found.jobs[1].id, "\\x00\\x01");  // no name: it stays as it was written
  EXPECT_EQ(found.jobs[1].read_bytes, 3);
}

TEST(TofuPa, LinesThatCannotBeReadAreTold) {
  const TofuCounters found = parse_tofu_pa(
      "# comment\n"
      "X+ wait_cycles 5 bytes 6\n"
      "X+ wait_cycles 5 bytes 6\n"
      "Q wait_cycles 5 bytes 6\n"
      "X- wait_cycles five bytes 6\n"
      "Y+ bytes 6\n"
      "Y- wait_cycles 5\n"
      "B- bytes 6 packets 1 wait_cycles 18446744073709551615\n"
      "C bytes 6 wait_cycles 1 colour 3\n");
  ASSERT_EQ(found.links.size(), 2);
  EXPECT_FALSE(found.links[0].packets);
  EXPECT_EQ(found.links[1].name, "B-");
  EXPECT_EQ(found.links[1].wait_cycles, UINT64_MAX);
  EXPECT_THAT(found.problems,
              ElementsAre(HasSubstr("line 3: 'X+' occurs twice"), HasSubstr("line 4: 'Q' is no link"),
                          HasSubstr("line 5"), HasSubstr("line 6: 'Y+' has no wait_cycles"),
                          HasSubstr("line 7: 'Y-' has no bytes"), HasSubstr("'colour'")));
}

TEST(FabricValues, AsDriversPrintThem) {
  EXPECT_EQ(parse_infiniband_value("123\n").value(), 123);
  EXPECT_EQ(parse_infiniband_value("N/A (no PMA)\n").value(), std::nullopt);
  EXPECT_FALSE(parse_infiniband_value("many\n"));
  EXPECT_FALSE(parse_infiniband_value(""));
  const auto value = parse_slingshot_value("72057594037927935@1564617600.004512000\n").value();
  EXPECT_EQ(value.value, (std::uint64_t{1} << 56U) - 1);
  EXPECT_EQ(value.time, 1564617600 * second + 4'512'000);
  EXPECT_EQ(parse_slingshot_value("1@2.5").value().time, 2 * second + second / 2);
  EXPECT_EQ(parse_slingshot_value("1@2").value().time, 2 * second);
  for (const char* bad : {"", "1", "1@", "@1.0", "x@1.0", "1@x", "1@1.x", "1@1.0000000001", "1@99999999999"})
    EXPECT_FALSE(parse_slingshot_value(bad)) << bad;
}

TEST(LinuxStats, WrongTextsAreRefused) {
  EXPECT_THAT(parse_network("eth0: 1 2 3\nno colon\n").problems,
              ElementsAre(HasSubstr("line 1"), HasSubstr("line 2")));
  EXPECT_FALSE(parse_block_stat("1 2 3 4 5 6 7 8 9 10\n"));
  EXPECT_FALSE(parse_block_stat(""));
  EXPECT_FALSE(parse_processor_ticks("cpu0 1 2 3 4 5\n"));
  EXPECT_EQ(find_number("Dirtyx: 1\nDirty: 2 kB", "Dirty"), 2);
  EXPECT_EQ(find_number("Dirty:\n", "Dirty"), std::nullopt);
  EXPECT_EQ(find_pressure_total("some avg10=0.00\nfull total=x\n", "full"), std::nullopt);
}

}  // namespace
}  // namespace weir::telemetry
