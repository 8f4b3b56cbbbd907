#include "recording/run_pattern.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

namespace weir::recording {

namespace {

using pattern::Access;
using Accesses = std::vector<Access>;

tl::unexpected<Failure> too_many(std::uint64_t limit) {
  return fail(ErrorCode::unsupported, "the calls of a rank are too irregular: more than " +
                                          std::to_string(limit) +
                                          " accesses would be needed to describe them");
}

tl::unexpected<Failure> too_far() {
  return fail(ErrorCode::invalid_argument, "a call reaches beyond the largest possible file");
}

Status append(Accesses& all, Accesses more, std::uint64_t limit) {
  if (all.size() + more.size() > limit) return too_many(limit);
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return {};
}

// The accesses, and again at a constant distance in the file.
Result<Accesses> repeated(const Accesses& once, std::uint64_t count, std::int64_t stride,
                          std::uint64_t limit) {
  if (count == 1) return once;
  Accesses all;
  for (const Access& access : once) {
    Access many = access;
    many.shape.levels.insert(many.shape.levels.begin(), {count, stride});
    WEIR_ASSIGN(Accesses some, pattern::ordered(many, limit));
    WEIR_TRY(append(all, std::move(some), limit));
  }
  return all;
}

// How far the file moves when the data moves by `distance` bytes, which is a whole number of file types.
std::optional<std::int64_t> file_distance(const pattern::Datatype& type, std::int64_t distance) {
  const auto size = static_cast<std::int64_t>(type.size());
  if (size == 0 || distance % size != 0) return std::nullopt;
  std::int64_t moved = 0;
  if (__builtin_mul_overflow(distance / size, type.extent(), &moved)) return std::nullopt;
  return moved;
}

bool is_one_block(const pattern::Datatype& type) {
  int blocks = 0;
  type.for_each_block(1, [&](std::int64_t, std::uint64_t) { return ++blocks < 2; });
  return blocks == 1;
}

// Calls at a stride through one view.
Result<Accesses> accesses_of_calls(const pattern::View& view, std::int64_t offset, std::uint64_t bytes,
                                   std::uint64_t calls, std::int64_t stride, std::uint64_t limit) {
  const auto at = [&](std::int64_t place, std::uint64_t count) -> Result<Accesses> {
    if (place < 0) return fail(ErrorCode::invalid_argument, "a call reaches below the beginning of its view");
    return view.accesses(static_cast<std::uint64_t>(place) / view.elementary_size(), count);
  };
  // One after the other: one long call.
  std::uint64_t whole = 0;
  if (calls == 1 ||
      (stride == static_cast<std::int64_t>(bytes) && !__builtin_mul_overflow(bytes, calls, &whole)))
    return at(offset, calls == 1 ? bytes : whole);

  // The calls 0, p, 2p, ... touch the file in the same shape, if p strides are a whole number of file types.
  const auto size = static_cast<std::int64_t>(view.file_type().size());
  const std::uint64_t period =
      size == 0 ? 1
                : static_cast<std::uint64_t>(
                      size / std::gcd(size, stride == std::numeric_limits<std::int64_t>::min() ? 1 : stride));
  Accesses all;
  if (period > calls / 2) {
    for (std::uint64_t call = 0; call < calls; ++call) {
      WEIR_ASSIGN(Accesses some, at(offset + static_cast<std::int64_t>(call) * stride, bytes));
      WEIR_TRY(append(all, std::move(some), limit));
    }
    return pattern::compressed(std::move(all));
  }
  std::int64_t turn = 0;
  if (__builtin_mul_overflow(stride, static_cast<std::int64_t>(period), &turn)) return too_far();
  const auto moved = file_distance(view.file_type(), turn);
  if (!moved) return too_far();
  for (std::uint64_t first = 0; first < period; ++first) {
    const std::uint64_t turns = (calls - first + period - 1) / period;
    WEIR_ASSIGN(const Accesses once, at(offset + static_cast<std::int64_t>(first) * stride, bytes));
    WEIR_ASSIGN(Accesses some, repeated(once, turns, *moved, limit));
    WEIR_TRY(append(all, std::move(some), limit));
  }
  return pattern::compressed(std::move(all));
}

}  // namespace

bool shows_bytes(const ViewTypes& types) {
  const pattern::Datatype& type = types.file_type;
  return type.size() > 0 && type.true_lower() == 0 && type.lower() == 0 &&
         static_cast<std::uint64_t>(type.extent()) == type.size() &&
         static_cast<std::uint64_t>(type.true_upper()) == type.size() && is_one_block(type);
}

Result<Accesses> accesses_of(const CallRun& run, const ViewTypes& types, std::uint64_t limit) {
  const auto turn = [&](std::uint64_t i) -> Result<Accesses> {
    std::int64_t displacement = 0, offset = 0;
    if (__builtin_mul_overflow(static_cast<std::int64_t>(i), run.shift, &displacement) ||
        __builtin_add_overflow(displacement, run.displacement, &displacement) ||
        __builtin_mul_overflow(static_cast<std::int64_t>(i), run.distance, &offset) ||
        __builtin_add_overflow(offset, run.offset, &offset))
      return too_far();
    WEIR_ASSIGN(const pattern::View view,
                pattern::View::make(displacement, types.elementary, types.file_type));
    return accesses_of_calls(view, offset, run.bytes, run.calls, run.stride, limit);
  };
  if (run.repeats == 1) return turn(0);
  std::int64_t moved = 0;
  if (const auto distance = file_distance(types.file_type, run.distance);
      distance && !__builtin_add_overflow(*distance, run.shift, &moved)) {
    WEIR_ASSIGN(const Accesses once, turn(0));
    return repeated(once, run.repeats, moved, limit);
  }
  Accesses all;
  for (std::uint64_t i = 0; i < run.repeats; ++i) {
    WEIR_ASSIGN(Accesses some, turn(i));
    WEIR_TRY(append(all, std::move(some), limit));
  }
  return pattern::compressed(std::move(all));
}

}  // namespace weir::recording
