#include "interpose/run_log.hpp"

#include <algorithm>

namespace weir::interpose {

namespace {

// How far back a Run is looked for that the last one repeats: the variables that one turn of a loop may
// write.
constexpr std::size_t window = 16;

bool same_shape(const Run& a, const Run& b) {
  return a.types == b.types && a.bytes == b.bytes && a.calls == b.calls && a.stride == b.stride &&
         a.writes == b.writes;
}

}  // namespace

void RunLog::begin(const Run& run) {
  fold_last();
  open_ = false;
  if (runs_.size() >= limit_) {
    ++lost_;
    return;
  }
  runs_.push_back(run);
  open_ = true;
}

void RunLog::fold_last() {
  if (!open_ || runs_.size() < 2) return;
  const Run& last = runs_.back();
  const std::size_t others = runs_.size() - 1;
  for (std::size_t back = 1; back <= std::min(window, others); ++back) {
    Run& earlier = runs_[others - back];
    if (!same_shape(earlier, last)) continue;
    if (earlier.repeats == 1) {
      earlier.distance = last.offset - earlier.offset;
      earlier.shift = last.displacement - earlier.displacement;
    } else if (last.offset != step(earlier.offset, earlier.repeats, earlier.distance) ||
               last.displacement != step(earlier.displacement, earlier.repeats, earlier.shift)) {
      continue;
    }
    ++earlier.repeats;
    runs_.pop_back();
    open_ = false;
    return;
  }
}

const std::vector<Run>& RunLog::runs() {
  fold_last();
  open_ = false;
  return runs_;
}

}  // namespace weir::interpose
