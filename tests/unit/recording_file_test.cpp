#include "recording/recording_file.hpp"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <random>
#include <vector>

#include "pattern/pattern_file.hpp"
#include "recording/log_pattern.hpp"

namespace weir::recording {
namespace {

const ViewTypes bytes_view;

// Writes and reads at random places, some in a row; the same for the same seed.
void add_wild(RunLog& log, unsigned seed, int batches) {
  std::mt19937 random(seed);
  const std::uint32_t writes = log.number_of({.writes = true, .displacement = 100, .bytes = 8});
  const std::uint32_t reads = log.number_of({.bytes = 24});
  for (int batch = 0; batch < batches; ++batch) {
    std::vector<std::int64_t> offsets(700);
    for (std::int64_t& offset : offsets) offset = static_cast<std::int64_t>(random() >> 4U);
    log.add(batch % 3 == 0 ? reads : writes, offsets.data(), offsets.size(), 8);
    log.add_row(reads, batch * 1000, 50, 48);
  }
}

struct Job {
  Index index;
  std::string words;
  std::string file() const {
    const std::string body = encode(index);
    return pattern::PackedHeader::of(version_with_parts, body).text() + words + body;
  }
};

// Ranks of which the even ones are wild.
Job wild_job(std::uint64_t ranks, int batches) {
  Job job{{pattern::Pattern(0), {}}, {}};
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    Index one{pattern::Pattern(1), {}};
    one.pattern.add_file("other");
    pattern::FilePattern& file = one.pattern.add_file("wild");
    file.writes.collective_calls = rank;
    RunLog log;
    if (rank % 2 == 0) {
      add_wild(log, static_cast<unsigned>(rank), batches);
    } else {
      log.add({.writes = true, .offset = static_cast<std::int64_t>(rank), .bytes = 1});
    }
    Part part{.rank = 0, .file = "wild", .kinds = {}};
    if (describe(
            log, [](std::uint32_t) { return true; }, part)) {
      log.take_put_off().for_each_chunk([&](std::span<const std::int64_t> words) {
        job.words.append(reinterpret_cast<const char*>(words.data()), words.size_bytes());
      });
      one.parts.push_back(part);
    }
    const LogPattern calls = pattern_of(
        log, [](std::uint32_t) { return &bytes_view; }, 1 << 20);
    for (const auto& access : calls.reads) one.pattern.add(file.reads, 0, access);
    for (const auto& access : calls.writes) one.pattern.add(file.writes, 0, access);
    job.index = joined(std::move(job.index), std::move(one));
  }
  return job;
}

using Pieces = std::vector<std::pair<std::int64_t, std::uint64_t>>;
Pieces pieces_of(const std::vector<pattern::Access>& accesses) {
  Pieces pieces;
  for (const pattern::Access& access : accesses)
    for (std::uint32_t time = 0; time < access.repeat; ++time)
      for (pattern::PieceCursor at(access); !at.done(); at.advance())
        pieces.emplace_back(at.piece().offset, at.piece().length);
  std::sort(pieces.begin(), pieces.end());
  return pieces;
}
Pieces pieces_of(const pattern::Pattern& pattern, const pattern::AccessTable& table, std::uint64_t rank) {
  std::vector<pattern::Access> accesses;
  for (const pattern::Use& use : table.of(rank)) accesses.push_back(pattern.access(use));
  return pieces_of(accesses);
}

TEST(RecordingFile, CallsAsTheyCameAreWorkedOutAsTheRecorderWouldHaveDone) {
  const Job job = wild_job(5, 60);
  ASSERT_EQ(job.index.parts.size(), 3U);
  const auto loaded = decode(job.file());
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(loaded->lost, 0U);
  EXPECT_GT(loaded->worked_out, 100'000U);
  const pattern::Pattern& pattern = loaded->pattern;
  ASSERT_TRUE(pattern.check());
  ASSERT_EQ(pattern.ranks, 5U);
  const auto found = pattern::find_file(pattern, "wild");
  ASSERT_TRUE(found);
  const pattern::FilePattern& file = pattern.files[*found];
  EXPECT_EQ(file.writes.collective_calls, 4U);
  for (std::uint64_t rank = 0; rank < 5; rank += 2) {
    RunLog at_once(std::size_t{1} << 20U, 0);
    add_wild(at_once, static_cast<unsigned>(rank), 60);
    const LogPattern expected = pattern_of(
        at_once, [](std::uint32_t) { return &bytes_view; }, 1 << 20);
    EXPECT_EQ(pieces_of(pattern, file.reads, rank), pieces_of(expected.reads));
    EXPECT_EQ(pieces_of(pattern, file.writes, rank), pieces_of(expected.writes));
  }
  EXPECT_EQ(file.writes.of(3).size(), 1U);
  // And once worked out it is an ordinary pattern.
  const auto again = decode(pattern::encode(pattern));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->worked_out, 0U);
  EXPECT_EQ(again->pattern, pattern);
}

TEST(RecordingFile, FewCallsAndThoseThroughOtherViewsAreNoPart) {
  RunLog few, other;
  add_wild(few, 1, 4);
  add_wild(other, 1, 60);
  Part part;
  EXPECT_FALSE(describe(
      few, [](std::uint32_t) { return true; }, part));
  EXPECT_FALSE(describe(
      other, [](std::uint32_t) { return false; }, part));
  EXPECT_TRUE(describe(
      other, [](std::uint32_t) { return true; }, part));
}

TEST(RecordingFile, OnlyViewsThatShowBytesAsTheyAreShowBytes) {
  using pattern::Datatype;
  const Datatype real = Datatype::named(8);
  EXPECT_TRUE(shows_bytes({}));
  EXPECT_TRUE(shows_bytes({real, *Datatype::contiguous(100, real)}));
  EXPECT_FALSE(shows_bytes({real, *Datatype::vector(2, 1, 2, real)}));
  EXPECT_FALSE(shows_bytes({real, *Datatype::resized(0, 16, real)}));
  EXPECT_FALSE(shows_bytes({real, *Datatype::resized(-8, 8, real)}));
  const std::vector<std::int64_t> ones{1, 1}, backwards{1, 0};
  EXPECT_FALSE(shows_bytes({real, *Datatype::indexed(ones, backwards, real)}));
  EXPECT_FALSE(shows_bytes({real, *Datatype::contiguous(0, real)}));
}

TEST(RecordingFile, DamageIsNamed) {
  const Job job = wild_job(3, 60);
  const std::string file = job.file();
  const auto refused = [](const std::string& bytes) {
    const auto loaded = decode(bytes);
    return loaded ? std::string("accepted") : loaded.error().message();
  };
  std::string broken = file;
  broken[parts_begin + 1000] ^= 1;
  EXPECT_NE(refused(broken).find("rank 0 to 'wild'"), std::string::npos) << refused(broken);
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{20}, std::size_t{40}, file.size() / 2, file.size() - 1})
    EXPECT_NE(refused(file.substr(0, length)), "accepted") << length;
  EXPECT_NE(refused(file + "x"), "accepted");

  Job nobody = job;
  nobody.words += std::string(8, '\0');
  EXPECT_NE(refused(nobody.file()).find("nobody"), std::string::npos);
  Job missing = job;
  missing.words.resize(missing.words.size() - 8);
  EXPECT_NE(refused(missing.file()).find("missing"), std::string::npos);
  Job unknown = job;
  unknown.index.parts[0].file = "elsewhere";
  EXPECT_NE(refused(unknown.file()).find("elsewhere"), std::string::npos);
  Job rankless = job;
  rankless.index.parts.back().rank = 3;
  EXPECT_NE(refused(rankless.file()), "accepted");
  // Words that are none of a backlog, with a checksum that says they are.
  Job senseless = job;
  for (std::size_t at = 0; at < senseless.words.size(); ++at)
    senseless.words[at] = static_cast<char>(at * 37 + at / 256);
  std::size_t at = 0;
  for (Part& part : senseless.index.parts) {
    part.checksum = XXH3_64bits(senseless.words.data() + at, part.words * 8);
    at += part.words * 8;
  }
  EXPECT_NE(refused(senseless.file()).find("make no sense"), std::string::npos);
}

}  // namespace
}  // namespace weir::recording
