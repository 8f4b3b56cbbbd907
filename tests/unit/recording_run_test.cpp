#include "recording/run_pattern.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "pattern/datatype.hpp"

namespace weir::recording {
namespace {

using pattern::Access;
using pattern::Datatype;
using Bytes = std::map<std::int64_t, std::uint64_t>;

void count(Bytes& bytes, const std::vector<Access>& accesses) {
  for (const Access& access : accesses)
    for (const pattern::Piece& piece : pattern::list_pieces(access, UINT64_MAX))
      for (std::int64_t at = piece.offset; at < piece.end(); ++at) bytes[at] += access.repeat;
}

// What the run means, call by call.
Bytes by_calls(const CallRun& run, const ViewTypes& types) {
  Bytes bytes;
  for (std::uint64_t i = 0; i < run.repeats; ++i) {
    const auto view = pattern::View::make(run.displacement + static_cast<std::int64_t>(i) * run.shift,
                                          types.elementary, types.file_type);
    EXPECT_TRUE(view);
    for (std::uint64_t j = 0; j < run.calls; ++j) {
      const std::int64_t at = run.offset + static_cast<std::int64_t>(i) * run.distance +
                              static_cast<std::int64_t>(j) * run.stride;
      const auto accesses =
          view->accesses(static_cast<std::uint64_t>(at) / types.elementary.size(), run.bytes);
      EXPECT_TRUE(accesses);
      count(bytes, *accesses);
    }
  }
  return bytes;
}

TEST(RunPattern, MeansWhatTheCallsMean) {
  std::mt19937 random(3);
  const auto number = [&](std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random);
  };
  for (int round = 0; round < 400; ++round) {
    const auto elementary = Datatype::named(static_cast<std::uint64_t>(number(1, 4)));
    const auto vector = Datatype::vector(number(1, 3), number(1, 3), number(3, 5), elementary);
    ASSERT_TRUE(vector);
    const auto file_type = Datatype::resized(0, vector->extent() + number(0, 9), *vector);
    ASSERT_TRUE(file_type);
    const ViewTypes types{elementary, round % 5 == 0 ? elementary : *file_type};
    const auto unit = static_cast<std::int64_t>(elementary.size());
    CallRun run{.displacement = number(0, 50),
                .offset = number(50, 90) * unit,
                .bytes = static_cast<std::uint64_t>(number(1, 20) * unit),
                .calls = static_cast<std::uint64_t>(number(1, 30)),
                .repeats = static_cast<std::uint64_t>(number(1, 5)),
                .shift = number(0, 40)};
    run.stride = run.calls > 1 ? number(-1, 12) * unit : 0;
    run.distance = run.repeats > 1 ? number(-2, 20) * unit : 0;
    const auto accesses = accesses_of(run, types, 1U << 20U);
    ASSERT_TRUE(accesses) << accesses.error().message();
    for (const Access& access : *accesses) ASSERT_TRUE(pattern::check(access));
    Bytes got;
    count(got, *accesses);
    ASSERT_EQ(got, by_calls(run, types)) << "round " << round;
  }
}

TEST(RunPattern, AMillionCallsAreOneAccess) {
  const Datatype byte;
  const CallRun run{
      .offset = 16, .bytes = 8, .calls = 1000, .stride = 64, .repeats = 1000, .distance = 64000};
  const auto accesses = accesses_of(run, {byte, byte}, 100);
  ASSERT_TRUE(accesses) << accesses.error().message();
  ASSERT_EQ(accesses->size(), 1U);
  EXPECT_EQ(pattern::bytes((*accesses)[0]), 8000000U);
}

TEST(RunPattern, RefusesWhatIsTooIrregularOrTooFar) {
  const auto wide = Datatype::named(4099);
  const auto spaced = Datatype::resized(0, 5000, wide);
  ASSERT_TRUE(spaced);
  const CallRun uneven{.offset = 0, .bytes = 3, .calls = 4000, .stride = 5};
  EXPECT_FALSE(accesses_of(uneven, {Datatype(), *spaced}, 10));
  const CallRun far{.displacement = INT64_MAX - 5, .offset = 0, .bytes = 10};
  EXPECT_FALSE(accesses_of(far, {Datatype(), Datatype()}, 10));
}

}  // namespace
}  // namespace weir::recording
