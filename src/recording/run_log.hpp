// What one rank did to one file, compressed while it happens.
//
// A call is O(1), without a clock, and allocates only when the log grows. Calls at a constant stride become
// one CallRun; runs that come again at a constant distance become one CallRun too, so a loop over several
// variables stays small however often it turns. The order in time is kept among runs that did not fold.
// Calls without order are not worth a search while the program waits: once every fourth call begins a run,
// further calls are put off as they are, and folded when there are too many of them, the oldest first, or in
// finish(), unless they are taken out before. What comes out is the same. Memory is bounded: what does not
// fit is counted. Threads: none of its own; the owner locks. LOCAL.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "recording/call_backlog.hpp"

namespace weir::recording {

// What calls have in common that differ by their offsets only.
struct CallKind {
  std::uint32_t types = 0;  // the elementary type and the file type of the view, in a table of the owner
  bool writes = false;
  std::int64_t displacement = 0;
  std::uint64_t bytes = 0;
  bool operator==(const CallKind&) const = default;
};

// The call (i, j) for i < repeats, j < calls moved `bytes` at offset + i * distance + j * stride: bytes of
// the view's data, not of the file, so that offset 0 is the first byte that the view shows. The view began at
// the file's byte displacement + i * shift: libraries move one view along the file, from one variable to the
// next.
struct CallRun {
  std::uint32_t types = 0;
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
  // Runs; about 90 MiB if each is of a kind of its own and part of a loop, 32 MiB if all are of one kind.
  static constexpr std::size_t default_limit = std::size_t{1} << 20;
  // Words that wait to be folded, one for one to four calls without order: 8 MiB. 0: nothing is put off.
  static constexpr std::size_t default_backlog = std::size_t{1} << 20;
  explicit RunLog(std::shared_ptr<ChunkPool> pool = nullptr) : backlog_(std::move(pool)) {}
  explicit RunLog(std::size_t limit, std::size_t backlog = default_backlog)
      : limit_(limit), most_put_off_(backlog) {}

  // A number for calls of this kind, for add().
  std::uint32_t number_of(const CallKind& kind);

  // Calls of one kind, in order of time: call i at offsets[i] * unit. REQUIRES: `kind` is from number_of().
  void add(std::uint32_t kind, const std::int64_t* offsets, std::size_t count, std::int64_t unit);
  // Calls of one kind, the first at `offset`, each `stride` behind the one before it.
  void add_row(std::uint32_t kind, std::int64_t offset, std::size_t count, std::int64_t stride);
  // One call: `call.calls` and `call.repeats` are 1.
  void add(const CallRun& call) {
    add(number_of({call.types, call.writes, call.displacement, call.bytes}), &call.offset, 1, 1);
  }

  // What was put off so far, and what its kinds mean; whoever takes it out folds it. Call no add() in
  // between.
  const CallBacklog& put_off() const { return backlog_; }
  CallBacklog take_put_off() { return std::exchange(backlog_, CallBacklog()); }
  bool knows(std::uint32_t kind) const { return kind < kinds_.size(); }
  const CallKind& kind(std::uint32_t number) const { return kinds_[number]; }  // REQUIRES: knows(number)

  // How many runs there are, the last one included, and each of them. Further calls may be added afterwards.
  std::size_t finish();
  CallRun run(std::size_t number) const;        // REQUIRES: number < finish(), and no call was added since
  std::uint64_t lost() const { return lost_; }  // calls beyond the limit; all of them after finish()

 private:
  // What closed lately, in order of time: a loop shows itself by runs of one shape at one distance, one lag
  // apart.
  static constexpr std::size_t longest_lag = 16;
  static constexpr std::size_t history_size = 64;  // a power of 2, more than two lags
  static constexpr std::size_t kinds_looked_at = 8;
  static constexpr std::uint32_t no_kind = static_cast<std::uint32_t>(-1);  // the log is full
  static constexpr std::uint32_t no_loop = static_cast<std::uint32_t>(-1);

  // A run in as few bytes as will do: a program that jumps about the file leaves one for every two calls, and
  // new memory costs more than all else.
  struct Stored {
    std::int64_t offset = 0;
    std::int64_t stride = 0;
    std::uint64_t calls = 0;  // 0: it went into another one
    std::uint32_t kind = 0;
    std::uint32_t loop = no_loop;
  };
  struct Loop {
    std::uint64_t repeats = 1;
    std::int64_t distance = 0;
    std::int64_t shift = 0;
  };
  struct Closed {
    Stored run;
    std::size_t group = 0;  // in runs_: the run that it became part of
  };

  // offset + count * stride, without a word about overflow: what a program asks for may be absurd.
  static std::int64_t step(std::int64_t offset, std::uint64_t count, std::int64_t stride) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) +
                                     count * static_cast<std::uint64_t>(stride));
  }
  // The same as add() and add_row(), now.
  void fold_calls(std::uint32_t kind, const std::int64_t* offsets, std::size_t count, std::int64_t unit);
  void fold_row(std::uint32_t kind, std::int64_t offset, std::size_t count, std::int64_t stride);
  void fold_oldest();
  bool puts_off();
  void add_one(std::uint32_t kind, std::int64_t offset) {
    if (open_ && last_.kind == kind) {
      if (last_.calls == 1) {
        last_.stride = step(offset, UINT64_MAX, last_.offset);
        last_.calls = 2;
        next_ = step(offset, 1, last_.stride);
        return;
      }
      if (offset == next_) {
        ++last_.calls;
        next_ = step(offset, 1, last_.stride);
        return;
      }
    }
    begin(kind, offset);
  }
  // `count` further calls that follow the last one at its stride.
  void lengthen(std::size_t count) {
    last_.calls += count;
    next_ = step(next_, count, last_.stride);
  }
  bool is_full() const { return !open_ && runs_.size() >= limit_; }
  std::uint32_t same_as_last(std::uint32_t kind) const;
  void begin(std::uint32_t kind, std::int64_t offset);
  void close_last();
  bool same_shape(const Stored& a, const Stored& b) const;
  std::uint32_t shape_of(const Stored& run) const;
  // Bit n: the run n before this one is of that shape, and a run here lies as far behind it as it lies behind
  // the one n before it. Nearly always there is none, and this alone is looked at.
  std::uint32_t possible_lags(std::int64_t offset, std::uint32_t shape) const;
  bool fold(const Stored& run, std::size_t lag, std::size_t& group);

  std::size_t limit_ = default_limit;
  std::size_t most_put_off_ = default_backlog;
  CallBacklog backlog_;           // while there is one, all calls go there: their order is kept
  std::size_t folded_calls_ = 0;  // since there was last a look at how well they fold
  std::size_t runs_at_last_look_ = 0;
  std::vector<CallKind> kinds_;
  std::deque<Stored> runs_;  // never moved while it grows
  std::vector<Loop> loops_;
  Stored last_;            // while open_: it may still grow
  std::int64_t next_ = 0;  // where a call must be to lengthen it, if it has two calls
  bool open_ = false;
  std::vector<Closed> history_;
  std::array<std::uint64_t, 2 * history_size> offsets_{};  // of the history, twice: any few of them in a row
  std::array<std::uint32_t, 2 * history_size> shapes_{};   // the same
  std::uint64_t closed_ = 0;                               // how many ever
  std::size_t lag_ = 1;                                    // at which a run folded last
  std::uint64_t lost_ = 0;
};

}  // namespace weir::recording
