#include "pattern/pattern_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "pattern/application_matrix.hpp"
#include "pattern/stated.hpp"
#include "pattern_support.hpp"

namespace weir::pattern {
namespace {

using testing::HasSubstr;

class PatternFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "weir-pattern.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(PatternFile, RandomPatternsComeBack) {
  Random random(6);
  for (int round = 0; round < 300; ++round) {
    Pattern pattern = random_pattern(random, static_cast<std::uint64_t>(draw(random, 1, 9)));
    FilePattern& more = pattern.add_file("näme with\nodd \"parts");
    pattern.add(more.reads, pattern.ranks - 1, random_access(random));
    const auto again = decode(encode(pattern));
    ASSERT_TRUE(again) << again.error().message();
    ASSERT_EQ(*again, pattern);
  }
}

TEST_F(PatternFile, RegularPatternsAreSmall) {
  const Pattern pattern = *state(Ior{.ranks = 1 << 20, .segments = 16});
  EXPECT_LT(encode(pattern).size(), 200U);
  EXPECT_EQ(*decode(encode(pattern)), pattern);
  const Pattern permuted = *state(Cartesian{.processes = {256, 256}, .block = {64, 64}, .seed = 7});
  EXPECT_LT(encode(permuted).size(), 65'536U * 10);
  EXPECT_EQ(*decode(encode(permuted)), permuted);
}

TEST_F(PatternFile, IsSavedAndLoaded) {
  const Pattern pattern = *state(Cartesian{.processes = {4, 4}, .block = {8, 8}});
  const auto path = folder_ / "tile.pattern";
  ASSERT_TRUE(save(pattern, path));
  EXPECT_EQ(*load(path), pattern);
  EXPECT_EQ(*load(path, 16), pattern);
  EXPECT_THAT(load(path, 8).error().message(), HasSubstr("the pattern is of 16 ranks, not 8"));
  EXPECT_THAT(load(path, 8).error().message(), HasSubstr("tile.pattern"));
  EXPECT_THAT(load(folder_ / "absent").error().message(), HasSubstr("absent"));
  EXPECT_FALSE(save(pattern, folder_ / "no" / "such" / "folder"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(PatternFile, EveryTruncationAndEveryFlippedBitIsNoticed) {
  const std::string good = encode(*state(BlockTridiagonal{.ranks = 4, .points = 5}));
  ASSERT_TRUE(decode(good));
  for (std::size_t size = 0; size < good.size(); ++size) {
    const auto result = decode(std::string_view(good).substr(0, size));
    ASSERT_FALSE(result) << size;
    if (size >= 8) {
      EXPECT_THAT(result.error().message(), HasSubstr("truncated"));
    }
  }
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    ASSERT_FALSE(decode(bad)) << bit;
  }
  EXPECT_THAT(decode("").error().message(), HasSubstr("no pattern file"));
  EXPECT_THAT(decode(good + "x").error().message(), HasSubstr("behind its end"));
  std::string newer = good;
  newer[8] = 3;
  EXPECT_THAT(decode(newer).error().message(), HasSubstr("version 3; this is for versions 1 and 2"));
}

TEST_F(PatternFile, FilesOfTheFirstVersionAreReadToo) {
  const std::string_view digits =
      "574549525041545401000000000000001600000000000000792f3d"
      "05a4966c8d0401640103800801046870696f000404010001008002";
  std::string bytes;
  for (std::size_t at = 0; at < digits.size(); at += 2)
    bytes.push_back(static_cast<char>(std::stoi(std::string(digits.substr(at, 2)), nullptr, 16)));
  const auto pattern = decode(bytes);
  ASSERT_TRUE(pattern) << pattern.error().message();
  EXPECT_EQ(*pattern, *state(Hpio{.ranks = 4, .regions = 3, .region = 100, .spacing = 28}));
}

TEST_F(PatternFile, CollectiveCallsComeBack) {
  Pattern pattern = *state(Hpio{.ranks = 4, .regions = 3, .region = 100, .spacing = 28});
  pattern.files[0].reads.collective_calls = 1;
  pattern.files[0].writes.collective_calls = UINT64_MAX;
  const auto again = decode(encode(pattern));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, pattern);
}

TEST_F(PatternFile, MemoryStaysWithinTheAllowance) {
  const std::string bytes = encode(*state(Ior{.ranks = 1 << 20}));
  EXPECT_THAT(decode(bytes, 1000).error().message(), HasSubstr("too much memory"));
  EXPECT_TRUE(decode(bytes, 1 << 22));
}

TEST_F(PatternFile, SummaryForPeople) {
  const std::string text = summary(*state(Hpio{.ranks = 4, .regions = 3, .region = 100, .spacing = 28}));
  EXPECT_EQ(text,
            "4 ranks, 1 file\n"
            "hpio\n"
            "  written by 4 of 4 ranks, 1.2 KiB in 12 pieces, offsets 0 to 1508\n"
            "           4 times  3 x (every 512) 100 bytes\n");
}

TEST_F(PatternFile, FilesAreFoundByName) {
  Pattern pattern(1);
  EXPECT_FALSE(find_file(pattern, ""));
  pattern.add_file("alpha.dat");
  EXPECT_EQ(*find_file(pattern, ""), 0U);
  pattern.add_file("beta.dat");
  EXPECT_EQ(*find_file(pattern, "beta.dat"), 1U);
  EXPECT_THAT(find_file(pattern, "bet.dat").error().message(), HasSubstr("did you mean 'beta.dat'"));
  EXPECT_THAT(find_file(pattern, "").error().message(), HasSubstr("'alpha.dat', 'beta.dat'"));
}

TEST_F(PatternFile, CheckNamesTheRank) {
  Pattern pattern = *state(Hpio{.ranks = 4});
  pattern.files[0].writes.uses[2].shape = 7;
  EXPECT_THAT(pattern.check().error().message(), HasSubstr("rank 2: shape 7 of 1"));
  pattern = *state(Hpio{.ranks = 4});
  pattern.files[0].writes.uses[3].offset = INT64_MAX - 10;
  EXPECT_THAT(pattern.check().error().message(),
              HasSubstr("hpio: check writes: rank 3: an access at offset"));
  pattern.ranks = 2;
  EXPECT_THAT(pattern.check().error().message(), HasSubstr("rank 3 of 2"));
  EXPECT_FALSE(Pattern(0).check());
  Pattern backwards(2);
  FilePattern& file = backwards.add_file("f");
  backwards.add(file.writes, 1, Access::contiguous(0, 1));
  EXPECT_THROW(backwards.add(file.writes, 0, Access::contiguous(0, 1)), std::logic_error);
  EXPECT_THROW(backwards.add(file.writes, 2, Access::contiguous(0, 1)), std::logic_error);
}

TEST_F(PatternFile, MatricesComeBack) {
  Random random(7);
  for (int round = 0; round < 100; ++round) {
    std::vector<Triple> triples;
    for (int entry = 0; entry < 12; ++entry) {
      triples.push_back({static_cast<std::uint32_t>(draw(random, 0, 5)),
                         static_cast<std::uint32_t>(draw(random, 0, 5)),
                         round % 2 == 0 ? 1.0 / static_cast<double>(draw(random, 1, 99)) : 3});
    }
    const SparseMatrix matrix = round % 3 == 0 ? from_pairs(6, triples) : from_triples(6, 7, triples);
    const auto again = from_matrix_market(to_matrix_market(matrix));
    ASSERT_TRUE(again) << again.error().message();
    ASSERT_EQ(*again, matrix);
  }
  const auto path = folder_ / "m.mtx";
  const SparseMatrix matrix = application_matrix(*state(Cartesian{.processes = {4, 4}, .block = {2, 2}}));
  ASSERT_TRUE(save_matrix(matrix, path));
  EXPECT_EQ(*load_matrix(path), matrix);
  EXPECT_THAT(load_matrix(folder_ / "absent").error().message(), HasSubstr("absent"));
}

TEST_F(PatternFile, MatrixMarketAsOthersWriteIt) {
  const auto matrix = from_matrix_market(
      "%%MatrixMarket MATRIX Coordinate Pattern Symmetric\r\n% a comment\n\n3 3 2\n2 1\n\n  3   3 \n");
  ASSERT_TRUE(matrix) << matrix.error().message();
  EXPECT_EQ(matrix->at(0, 1), 1);
  EXPECT_EQ(matrix->at(1, 0), 1);
  EXPECT_EQ(matrix->at(2, 2), 1);
}

TEST_F(PatternFile, BadMatricesAreRefusedByLine) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  const auto expect = [](const std::string& text, const std::string& words) {
    const auto result = from_matrix_market(text);
    ASSERT_FALSE(result) << text;
    EXPECT_THAT(result.error().message(), HasSubstr(words));
  };
  expect("", "empty");
  expect("3 3 1\n", "line 1: it does not begin");
  expect("%%MatrixMarket matrix array real general\n", "only 'matrix coordinate'");
  expect("%%MatrixMarket matrix coordinate complex general\n", "'complex'");
  expect("%%MatrixMarket matrix coordinate real hermitian\n", "'hermitian'");
  expect(head, "is missing");
  expect(head + "2 2\n", "line 2: it should say");
  expect(head + "2 2 99999999\n", "more entries than");
  expect(head + "99999999999 2 1\n1 1 1\n", "ranks");
  expect(head + "2 2 1\n3 1 1\n", "line 3: (3, 1) is outside");
  expect(head + "2 2 1\n0 1 1\n", "outside");
  expect(head + "2 2 1\n1 1 -4\n", "no weight");
  expect(head + "2 2 1\n1 1 nan\n", "no weight");
  expect(head + "2 2 1\n1 1\n", "row, column and value");
  expect(head + "2 2 1\n1 1 1 1\n", "row, column and value");
  expect(head + "2 2 1\n1 1 1\n2 2 2\n", "more than the 1");
  expect(head + "2 2 2\n1 1 1\n", "truncated: 1 of 2");
  expect("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", "lower half");
  expect("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 2 1\n", "square");
}

}  // namespace
}  // namespace weir::pattern
