#include "recording/run_log.hpp"

#include <algorithm>
#include <bit>

namespace weir::recording {

namespace {

constexpr std::size_t calls_between_looks = 1024;
constexpr std::size_t calls_of_order = 4;  // a run of so many is no accident

// How many of the offsets, from the first one on, are equally far from each other.
std::size_t row_length(const std::int64_t* offsets, std::size_t count) {
  if (count < 2) return count;
  const auto gap = [&](std::size_t i) {
    return static_cast<std::uint64_t>(offsets[i]) - static_cast<std::uint64_t>(offsets[i - 1]);
  };
  constexpr std::size_t at_once = 16;  // with one branch
  const std::uint64_t first = gap(1);
  std::size_t i = 2;
  for (; i + at_once <= count; i += at_once) {
    std::uint64_t differ = 0;
    for (std::size_t j = 0; j < at_once; ++j) differ |= gap(i + j) ^ first;
    if (differ != 0) break;
  }
  while (i < count && gap(i) == first) ++i;
  return i;
}

}  // namespace

std::uint32_t RunLog::number_of(const CallKind& kind) {
  const std::size_t known = kinds_.size();
  for (std::size_t back = 1; back <= std::min(known, kinds_looked_at); ++back)
    if (kinds_[known - back] == kind) return static_cast<std::uint32_t>(known - back);
  if (known > limit_) return no_kind;  // as many runs as that do not fit either
  kinds_.push_back(kind);
  return static_cast<std::uint32_t>(known);
}

// A kind that was forgotten meanwhile has a new number.
std::uint32_t RunLog::same_as_last(std::uint32_t kind) const {
  return open_ && kind != no_kind && kinds_[last_.kind] == kinds_[kind] ? last_.kind : kind;
}

// Whether calls are put off from now on: of those folded since the last look, too many began a run.
bool RunLog::puts_off() {
  if (!backlog_.empty()) return true;
  if (folded_calls_ < calls_between_looks) return false;
  const bool disorderly = (runs_.size() - runs_at_last_look_) * calls_of_order > folded_calls_;
  folded_calls_ = 0;
  runs_at_last_look_ = runs_.size();
  return disorderly && most_put_off_ > 0 && !is_full();
}

void RunLog::add(std::uint32_t kind, const std::int64_t* offsets, std::size_t count, std::int64_t unit) {
  if (!puts_off()) return fold_calls(kind, offsets, count, unit);
  const std::size_t row = row_length(offsets, count);
  if (row == count && count > 1) {
    const auto at = [&](std::size_t i) { return step(0, static_cast<std::uint64_t>(offsets[i]), unit); };
    backlog_.push_row(kind, at(0), count, step(at(1), UINT64_MAX, at(0)));
  } else {
    backlog_.push(kind, offsets, count, unit);
  }
  while (backlog_.words() > most_put_off_) fold_oldest();
}

void RunLog::add_row(std::uint32_t kind, std::int64_t offset, std::size_t count, std::int64_t stride) {
  if (!puts_off()) return fold_row(kind, offset, count, stride);
  backlog_.push_row(kind, offset, count, stride);
  while (backlog_.words() > most_put_off_) fold_oldest();
}

void RunLog::fold_oldest() {
  backlog_.take_oldest([&](std::uint32_t kind, const std::int64_t* offsets, std::size_t count,
                           std::int64_t unit) { fold_calls(kind, offsets, count, unit); },
                       [&](std::uint32_t kind, std::int64_t offset, std::size_t count, std::int64_t stride) {
                         fold_row(kind, offset, count, stride);
                       });
}

void RunLog::fold_calls(std::uint32_t kind, const std::int64_t* offsets, std::size_t count,
                        std::int64_t unit) {
  kind = same_as_last(kind);
  if (kind != no_kind && kinds_[kind].bytes == 0) return;
  folded_calls_ += count;
  if (is_full()) {
    lost_ += count;
    return;
  }
  for (std::size_t i = 0; i < count;) {
    add_one(kind, step(0, static_cast<std::uint64_t>(offsets[i]), unit));
    ++i;
    if (i < 2 || last_.calls < calls_of_order || !open_) continue;
    // In order so far: how far it goes on is seen without looking at the log.
    const std::size_t more = row_length(offsets + i - 2, count - i + 2) - 2;
    lengthen(more);
    i += more;
  }
}

void RunLog::fold_row(std::uint32_t kind, std::int64_t offset, std::size_t count, std::int64_t stride) {
  kind = same_as_last(kind);
  if (kind != no_kind && kinds_[kind].bytes == 0) return;
  folded_calls_ += count;
  for (std::size_t i = 0; i < count; ++i) {
    add_one(kind, step(offset, i, stride));
    if (!open_ || last_.calls < 2 || last_.stride != stride) continue;
    lengthen(count - i - 1);
    return;
  }
}

void RunLog::begin(std::uint32_t kind, std::int64_t offset) {
  close_last();
  if (runs_.size() >= limit_ || kind == no_kind) {
    ++lost_;
    return;
  }
  last_ = {.offset = offset, .calls = 1, .kind = kind};
  open_ = true;
}

bool RunLog::same_shape(const Stored& a, const Stored& b) const {
  if (a.calls != b.calls || a.stride != b.stride) return false;
  const CallKind &of_a = kinds_[a.kind], &of_b = kinds_[b.kind];
  return of_a.bytes == of_b.bytes && of_a.types == of_b.types && of_a.writes == of_b.writes;
}

// Equal for runs of one shape; for others nearly never.
std::uint32_t RunLog::shape_of(const Stored& run) const {
  const std::uint64_t mixed =
      (static_cast<std::uint64_t>(run.stride) ^ run.calls << 48U ^ kinds_[run.kind].bytes << 24U) *
      0x9E3779B97F4A7C15U;
  return static_cast<std::uint32_t>(mixed >> 32U);
}

// All shapes are looked at, without a branch: which one it may be is nothing a processor could foresee.
std::uint32_t RunLog::possible_lags(std::int64_t offset, std::uint32_t shape) const {
  const std::size_t now = closed_ % history_size + history_size;
  const std::uint32_t* const lately = shapes_.data() + now - longest_lag;
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < longest_lag; ++i) seen |= static_cast<std::uint32_t>(lately[i] == shape) << i;
  std::uint32_t lags = 0;
  for (; seen != 0; seen &= seen - 1) {
    const std::size_t lag = longest_lag - static_cast<std::size_t>(std::countr_zero(seen));
    const bool in_step =
        2 * offsets_[now - lag] - offsets_[now - 2 * lag] == static_cast<std::uint64_t>(offset);
    lags |= static_cast<std::uint32_t>(in_step) << lag;
  }
  return lags;
}

// Whether the run, the one `lag` before it and the one `lag` before that are three turns of a loop.
bool RunLog::fold(const Stored& run, std::size_t lag, std::size_t& group) {
  if (closed_ < 2 * lag) return false;
  const Closed& middle = history_[(closed_ - lag) % history_size];
  const Closed& first = history_[(closed_ - 2 * lag) % history_size];
  if (!same_shape(middle.run, run) || !same_shape(first.run, run)) return false;
  const auto displacement = [&](const Stored& of) { return kinds_[of.kind].displacement; };
  const std::int64_t distance = step(run.offset, UINT64_MAX, middle.run.offset);
  const std::int64_t shift = step(displacement(run), UINT64_MAX, displacement(middle.run));
  if (step(first.run.offset, 1, distance) != middle.run.offset ||
      step(displacement(first.run), 1, shift) != displacement(middle.run))
    return false;
  Stored& whole = runs_[first.group];
  if (first.group == middle.group) {
    // The next turn of a loop that is known; unless the history holds another one of its turns.
    Loop& loop = loops_[whole.loop];
    if (loop.distance != distance || loop.shift != shift ||
        step(whole.offset, loop.repeats, distance) != run.offset ||
        step(displacement(whole), loop.repeats, shift) != displacement(run))
      return false;
    ++loop.repeats;
  } else {
    Stored& other = runs_[middle.group];
    if (whole.loop != no_loop || other.loop != no_loop) return false;
    whole.loop = static_cast<std::uint32_t>(loops_.size());
    loops_.push_back({.repeats = 3, .distance = distance, .shift = shift});
    other.calls = 0;
    history_[(closed_ - lag) % history_size].group = first.group;
  }
  group = first.group;
  return true;
}

void RunLog::close_last() {
  if (!open_) return;
  open_ = false;
  std::size_t group = runs_.size();
  bool folded = false;
  const std::uint32_t shape = shape_of(last_);
  std::uint32_t lags = possible_lags(last_.offset, shape);
  if ((lags >> lag_ & 1U) != 0) folded = fold(last_, lag_, group);
  for (; !folded && lags != 0; lags &= lags - 1) {
    const auto lag = static_cast<std::size_t>(std::countr_zero(lags));
    folded = fold(last_, lag, group);
    if (folded) lag_ = lag;
  }
  if (!folded) runs_.push_back(last_);
  if (history_.empty()) history_.resize(history_size);
  const std::size_t place = closed_ % history_size;
  history_[place] = {last_, group};
  offsets_[place] = offsets_[place + history_size] = static_cast<std::uint64_t>(last_.offset);
  shapes_[place] = shapes_[place + history_size] = shape;
  ++closed_;
}

std::size_t RunLog::finish() {
  while (!backlog_.empty()) fold_oldest();
  close_last();
  std::erase_if(runs_, [](const Stored& run) { return run.calls == 0; });
  closed_ = 0;  // what the history knows of places is no longer true
  folded_calls_ = 0;
  runs_at_last_look_ = runs_.size();
  return runs_.size();
}

CallRun RunLog::run(std::size_t number) const {
  const Stored& stored = runs_[number];
  const CallKind& kind = kinds_[stored.kind];
  const Loop loop = stored.loop == no_loop ? Loop{} : loops_[stored.loop];
  return {.types = kind.types,
          .writes = kind.writes,
          .displacement = kind.displacement,
          .offset = stored.offset,
          .bytes = kind.bytes,
          .calls = stored.calls,
          .stride = stored.stride,
          .repeats = loop.repeats,
          .distance = loop.distance,
          .shift = loop.shift};
}

}  // namespace weir::recording
