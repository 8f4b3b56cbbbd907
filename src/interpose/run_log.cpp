#include "interpose/run_log.hpp"

#include <algorithm>

namespace weir::interpose {

namespace {

bool same_shape(const CallRun& a, const CallRun& b) {
  return a.bytes == b.bytes && a.types == b.types && a.calls == b.calls && a.stride == b.stride &&
         a.writes == b.writes;
}

}  // namespace

void RunLog::begin(const CallRun& run) {
  close_last();
  if (runs_.size() >= limit_) {
    ++lost_;
    return;
  }
  runs_.push_back(run);
  open_ = true;
}

// Whether the run, the one `lag` before it and the one `lag` before that are three turns of a loop.
bool RunLog::fold(const CallRun& run, std::size_t lag, std::size_t& group) {
  if (closed_ < 2 * lag || !in_step(run, lag)) return false;
  const Closed& middle = history_[(closed_ - lag) % history_size];
  const Closed& first = history_[(closed_ - 2 * lag) % history_size];
  if (!same_shape(middle.run, run) || !same_shape(first.run, run)) return false;
  const std::int64_t distance = step(run.offset, 1, step(0, UINT64_MAX, middle.run.offset));
  const std::int64_t shift = step(run.displacement, 1, step(0, UINT64_MAX, middle.run.displacement));
  if (step(first.run.offset, 1, distance) != middle.run.offset ||
      step(first.run.displacement, 1, shift) != middle.run.displacement)
    return false;
  CallRun& whole = runs_[first.group];
  if (first.group == middle.group) {
    // The next turn of a loop that is known; unless the history holds another one of its turns.
    if (whole.distance != distance || whole.shift != shift ||
        step(whole.offset, whole.repeats, distance) != run.offset ||
        step(whole.displacement, whole.repeats, shift) != run.displacement)
      return false;
    ++whole.repeats;
  } else {
    CallRun& other = runs_[middle.group];
    if (whole.repeats != 1 || other.repeats != 1) return false;
    whole.repeats = 3;
    whole.distance = distance;
    whole.shift = shift;
    other.bytes = 0;
    history_[(closed_ - lag) % history_size].group = first.group;
  }
  group = first.group;
  return true;
}

void RunLog::close_last() {
  if (!open_) return;
  open_ = false;
  const CallRun run = runs_.back();
  std::size_t group = runs_.size() - 1;
  bool folded = fold(run, lag_, group);
  for (std::size_t lag = 1; !folded && lag <= longest_lag; ++lag) {
    folded = fold(run, lag, group);
    if (folded) lag_ = lag;
  }
  if (folded) runs_.pop_back();
  if (history_.empty()) history_.resize(history_size);
  history_[closed_ % history_size] = {run, group};
  offsets_[closed_ % history_size] = static_cast<std::uint64_t>(run.offset);
  ++closed_;
}

const std::vector<CallRun>& RunLog::runs() {
  close_last();
  std::erase_if(runs_, [](const CallRun& run) { return run.bytes == 0; });
  closed_ = 0;  // what the history knows of places is no longer true
  return runs_;
}

}  // namespace weir::interpose
