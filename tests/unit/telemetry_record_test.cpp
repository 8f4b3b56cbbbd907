#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "telemetry/record.hpp"
#include "telemetry/record_builder.hpp"

namespace weir::telemetry {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Nanoseconds second = 1'000'000'000;

struct Added {
  Status status;
  std::vector<Sample> samples;
  Tally tally;
};

Added add(std::string_view text, Nanoseconds event_time = second) {
  Batch batch;
  Added added;
  added.status = add_record(batch, event_time, parse_json(text).value(), added.tally);
  for (std::size_t i = 0; i < batch.points.size(); ++i) added.samples.push_back(batch.sample(i));
  return added;
}

std::string rejection(std::string_view text) {
  const Added added = add(text);
  EXPECT_TRUE(added.samples.empty());
  EXPECT_EQ(added.tally.rejected, 1);
  return added.status ? "accepted" : added.status.error().message();
}

TEST(Record, FullNamesNeedNoContext) {
  const Added added =
      add(R"({"node":"io1","component":"X+","link.bytes":7,"link.wait_cycles":9,"rack":"A"})");
  EXPECT_THAT(added.samples,
              ElementsAre(Sample{{counter_id("link.bytes"), "io1", "X+", ""}, second, 7},
                          Sample{{counter_id("link.wait_cycles"), "io1", "X+", ""}, second, 9}));
  EXPECT_EQ(added.tally, (Tally{.records = 1, .samples = 2, .ignored = 1}));
}

TEST(Record, ShortNamesFollowTheComponent) {
  EXPECT_EQ(add(R"({"bytes":7,"node":"io1","link":"X+"})").samples.at(0).key,
            (SeriesKey{counter_id("link.bytes"), "io1", "X+", ""}));
  EXPECT_EQ(add(R"({"host":"oss1","ost":"l-OST0001","write_bytes":7})").samples.at(0).key,
            (SeriesKey{counter_id("ost.write_bytes"), "oss1", "l-OST0001", ""}));
  EXPECT_EQ(add(R"({"host":"oss1","ost":"l-OST0001","write_bytes":7,"job_id":4711})").samples.at(0).key,
            (SeriesKey{counter_id("job.write_bytes"), "oss1", "l-OST0001", "4711"}));
  EXPECT_EQ(add(R"({"hostname":"n1","device":"sda","write_bytes":7})").samples.at(0).key,
            (SeriesKey{counter_id("block.write_bytes"), "n1", "sda", ""}));
  EXPECT_EQ(add(R"({"hostname":"n1","interface":"eth0","rx_bytes":7})").samples.at(0).key,
            (SeriesKey{counter_id("net.rx_bytes"), "n1", "eth0", ""}));
  EXPECT_EQ(add(R"({"node":"oss1","req_qdepth.sum":7})").samples.at(0).key,
            (SeriesKey{counter_id("ost_io.req_qdepth.sum"), "oss1", "", ""}));
}

TEST(Record, TimesInTheRecordComeFirst) {
  EXPECT_EQ(add(R"({"node":"n","link.bytes":1,"time_ns":1564617600004512001})").samples.at(0).time,
            1564617600004512001);
  EXPECT_EQ(add(R"({"node":"n","link.bytes":1,"time":12})").samples.at(0).time, 12 * second);
  EXPECT_EQ(add(R"({"node":"n","link.bytes":1,"time":12.5})").samples.at(0).time, 12 * second + second / 2);
  EXPECT_EQ(add(R"({"node":"n","link.bytes":1,"time":"yesterday"})").samples.at(0).time, second);
}

TEST(Record, NumbersMayBeTextsAndMustBeWhole) {
  EXPECT_EQ(add(R"({"node":"n","link.bytes":"18446744073709551615"})").samples.at(0).value, UINT64_MAX);
  EXPECT_EQ(add(R"({"node":"n","link.bytes":18446744073709551615})").samples.at(0).value, UINT64_MAX);
  EXPECT_EQ(add(R"({"node":"n","link.bytes":1e6})").samples.at(0).value, 1'000'000);
  EXPECT_EQ(add(R"({"node":"n","block.in_flight":1.6})").samples.at(0).value, 2);
  EXPECT_THAT(rejection(R"({"node":"n","link.bytes":1.5})"), HasSubstr("'link.bytes' is not a whole number"));
  EXPECT_THAT(rejection(R"({"node":"n","link.bytes":-1})"), HasSubstr("negative"));
  EXPECT_THAT(rejection(R"({"node":"n","link.bytes":"1x"})"), HasSubstr("whole number"));
  EXPECT_THAT(rejection(R"({"node":"n","link.bytes":""})"), HasSubstr("whole number"));
  EXPECT_THAT(rejection(R"({"node":"n","link.bytes":"18446744073709551616"})"), HasSubstr("whole number"));
  EXPECT_THAT(rejection(R"({"node":"n","link.bytes":1e300})"), HasSubstr("whole number"));
  EXPECT_THAT(rejection(R"({"node":"n","link.bytes":null})"), HasSubstr("not a number"));
}

TEST(Record, WithoutNodeCounterOrTimeIsRejected) {
  EXPECT_THAT(rejection(R"({"link.bytes":1})"), HasSubstr("no 'node'"));
  EXPECT_THAT(rejection(R"({"node":"n","message":"hello"})"), HasSubstr("no counter"));
  EXPECT_THAT(rejection(R"({"node":"n","bytes":1})"), HasSubstr("no counter"));
  EXPECT_THAT(rejection(R"({"node":"n","link.bytes":1,"time_ns":0})"), HasSubstr("time"));
  EXPECT_THAT(rejection(R"([1])"), HasSubstr("not a JSON object"));
  EXPECT_THAT(rejection(R"({"node":"a\u0000b","link.bytes":1})"), HasSubstr("not a name"));
  EXPECT_THAT(rejection(R"({"node":")" + std::string(300, 'x') + R"(","link.bytes":1})"),
              HasSubstr("not a name"));
  EXPECT_FALSE(add(R"({"node":"n","link.bytes":1})", 0).status);
}

TEST(Record, MembersBeyondAllMeasureAreRejectedAndForgotten) {
  RecordBuilder builder;
  Batch batch;
  Tally tally;
  builder.begin(second);
  for (int i = 0; i < 2000; ++i) builder.number("junk" + std::to_string(i), 1);
  builder.text("node", "n");
  builder.number("link.bytes", 1);
  EXPECT_FALSE(builder.finish(batch, tally));
  builder.begin(second);
  builder.text("node", "n");
  builder.number("link.bytes", 5);
  EXPECT_TRUE(builder.finish(batch, tally));
  EXPECT_EQ(batch.sample(0).value, 5);
}

TEST(Record, SurvivesJson) {
  Batch batch;
  batch.add({counter_id("ost.read_bytes"), "oss1", "OST1", ""}, second, 1);
  batch.add({counter_id("ost.write_bytes"), "oss1", "OST1", ""}, second, UINT64_MAX);
  batch.add({counter_id("job.write_bytes"), "oss1", "OST1", "4711"}, second, 3);
  ASSERT_EQ(same_record(batch, 0), 2);
  ASSERT_EQ(same_record(batch, 2), 1);
  Batch again;
  Tally tally;
  EXPECT_TRUE(add_record(again, 5, record_to_json(batch, 0, 2), tally));
  EXPECT_TRUE(add_record(again, 5, record_to_json(batch, 2, 1), tally));
  ASSERT_EQ(again.points.size(), 3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(again.sample(i), batch.sample(i));
}

TEST(SeriesTable, NumbersSeriesAsTheyCome) {
  SeriesTable table;
  const SeriesKey a{counter_id("ost.read_bytes"), "oss1", "OST1", ""};
  const SeriesKey b{counter_id("ost.write_bytes"), "oss1", "OST1", ""};
  const SeriesKey c{counter_id("ost.read_bytes"), "oss1", "OST2", ""};
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(table.series(a), 0);
    EXPECT_EQ(table.series(b), 1);
    EXPECT_EQ(table.series(c), 2);
  }
  EXPECT_EQ(table.series(b), 1);
  EXPECT_EQ(table.series(a), 0);
  EXPECT_EQ(table.size(), 3);
  SeriesTable moved = std::move(table);
  EXPECT_EQ(moved.key(0), a);
  EXPECT_EQ(moved.key(2), c);
}

TEST(Utf8, KnowsWhatIsNone) {
  EXPECT_TRUE(is_utf8("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"));
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xf8\x88\x80\x80\x80", "\xff"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
}

}  // namespace
}  // namespace weir::telemetry
