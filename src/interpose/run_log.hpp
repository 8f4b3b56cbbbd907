// What one rank did to one file, compressed while it happens.
//
// A call is O(1), without a clock, and allocates only when the log grows. Calls at a constant stride become
// one CallRun; runs that come again at a constant distance become one CallRun too, so a loop over several
// variables stays small however often it turns. The order in time is kept among runs that did not fold.
// Memory is bounded: what does not fit is counted. Threads: none of its own; the owner locks. LOCAL.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::interpose {

// The call (i, j) for i < repeats, j < calls moved `bytes` at offset + i * distance + j * stride: bytes of
// the view's data, not of the file, so that offset 0 is the first byte that the view shows. The view began at
// the file's byte displacement + i * shift: libraries move one view along the file, from one variable to the
// next.
struct CallRun {
  std::uint32_t types = 0;  // the elementary type and the file type of the view, in a table of the owner
  bool writes = false;
  std::int64_t displacement = 0;
  std::int64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t calls = 1;
  std::int64_t stride = 0;
  std::uint64_t repeats = 1;
  std::int64_t distance = 0;
  std::int64_t shift = 0;
  bool operator==(const CallRun&) const = default;
};

class RunLog {
 public:
  static constexpr std::size_t default_limit = std::size_t{1} << 20;  // runs; about 90 MiB
  RunLog() = default;
  explicit RunLog(std::size_t limit) : limit_(limit) {}

  // One call: `call.calls` and `call.repeats` are 1.
  void add(const CallRun& call) {
    if (call.bytes == 0) return;
    if (open_) {
      CallRun& last = runs_.back();
      if (last.bytes == call.bytes && last.types == call.types && last.displacement == call.displacement &&
          last.writes == call.writes) {
        if (last.calls == 1) {
          last.stride = call.offset - last.offset;
          last.calls = 2;
          return;
        }
        if (call.offset == step(last.offset, last.calls, last.stride)) {
          ++last.calls;
          return;
        }
      }
    }
    begin(call);
  }

  // The run that goes on, and may be lengthened by extend(); null: no run has a stride yet.
  const CallRun* growing() const { return open_ && runs_.back().calls > 1 ? &runs_.back() : nullptr; }
  // So many more calls, each a stride further. REQUIRES: growing(), unless it is none.
  void extend(std::uint64_t calls) {
    if (calls > 0) runs_.back().calls += calls;
  }

  // All runs, the last one folded too. Further calls may be added afterwards.
  const std::vector<CallRun>& runs();
  std::uint64_t lost() const { return lost_; }  // calls beyond the limit

 private:
  // What closed lately, in order of time: a loop shows itself by runs of one shape at one distance, one lag
  // apart.
  static constexpr std::size_t longest_lag = 16;
  static constexpr std::size_t history_size = 64;  // a power of 2, more than two lags
  struct Closed {
    CallRun run;
    std::size_t group = 0;  // in runs_: the run that it became part of
  };

  // offset + count * stride, without a word about overflow: what a program asks for may be absurd.
  static std::int64_t step(std::int64_t offset, std::uint64_t count, std::int64_t stride) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) +
                                     count * static_cast<std::uint64_t>(stride));
  }
  void begin(const CallRun& run);
  void close_last();
  bool fold(const CallRun& run, std::size_t lag, std::size_t& group);
  // Whether the run lies as far behind the one `lag` before it as that one behind the one before: nearly
  // always the answer is no, and this alone is looked at.
  bool in_step(const CallRun& run, std::size_t lag) const {
    const auto offset = [&](std::uint64_t back) { return offsets_[(closed_ - back) % history_size]; };
    return 2 * offset(lag) - offset(2 * lag) == static_cast<std::uint64_t>(run.offset);
  }

  std::size_t limit_ = default_limit;
  std::vector<CallRun> runs_;  // those with bytes == 0 went into another one
  std::vector<Closed> history_;
  std::array<std::uint64_t, history_size> offsets_{};  // of the history
  std::uint64_t closed_ = 0;                           // how many ever
  std::size_t lag_ = 1;                                // at which a run folded last
  std::uint64_t lost_ = 0;
  bool open_ = false;  // the last run may still grow
};

}  // namespace weir::interpose
