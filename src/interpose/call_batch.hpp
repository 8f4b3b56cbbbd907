// The calls of late, as they came: what the recorder does within a call.
//
// After a system call caches and branch predictors are cold, so what costs is not what is computed but what
// is touched: one line of this object and the next free place. The rest is done for many calls at once, when
// the batch is full or something happens that gives calls another meaning. A sort of call is told by its
// handles; a type's handle stands for its size, so forget() must come before the program frees a type.
// Threads: none of its own; the owner locks. LOCAL.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "interpose/call.hpp"
#include "interpose/short_lock.hpp"

namespace weir::interpose {

class alignas(64) CallBatch {
 public:
  // For the owner, beside what every call looks at: the lock, and whether none is needed. Not until MPI has
  // said so.
  bool one_thread = false;
  ShortLock lock;

  static constexpr std::size_t most_calls = 1024;
  static constexpr std::size_t most_sorts = 8;  // at a time; a program that uses more empties it more often
  static constexpr std::size_t most_stretches = 512;  // of calls of one sort

  // The sort of a call: all but its offset.
  struct Sort {
    MPI_File file = MPI_FILE_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Count count = 0;
    Form form = 0;

    // 0: not at all. Without a branch: after a system call each costs as much as all of these comparisons.
    unsigned differs(const Sort& other) const {
      const auto differ = [](auto a, auto b) { return static_cast<unsigned>(a != b); };
      return differ(other.file, file) | differ(other.type, type) | differ(other.count, count) |
             differ(other.form, form);
    }
  };
  static Sort sort_of(const Call& call) {
    return {call.file, call.type, call.count, form_of(call.direction, call.pointer, call.reach)};
  }

  // Takes a call of the same sort as the one before it, if there is room.
  bool takes_next(const Sort& sort, MPI_Offset offset) {
    const std::uint32_t place = calls_;
    if ((current_.differs(sort) | static_cast<unsigned>(place == most_calls)) != 0) return false;
    calls_ = place + 1;
    offsets_[place] = offset;
    return true;
  }

  // Forgets one call by the individual pointer of this file, if the last one is such a call: they are all
  // alike. If another thread came between with one of another sort, it stays.
  void take_back(MPI_File file) {
    if (stretches_ > 0 && calls_ > begins_[stretches_ - 1].call && current_.file == file &&
        pointer_of(current_.form) == Pointer::individual)
      --calls_;
  }

  // Takes the call, if it is of a known sort and there is room.
  bool takes(const Call& call) {
    if (current_.differs(sort_of(call)) != 0) return takes_another(call);
    if (calls_ == most_calls) return false;
    offsets_[calls_++] = call.offset;
    return true;
  }

  // Makes the sort of this call known, and takes the call. `sort` is the number that for_each_stretch()
  // gives. REQUIRES: has_room().
  void add(const Call& call, std::size_t& sort);
  bool has_room() const {
    return sorts_known_ < most_sorts && calls_ < most_calls && stretches_ < most_stretches;
  }

  // body(sort, offsets, count) for the calls in order of time, those of one sort in a row together; then
  // there are no calls any more. Sorts stay known.
  template <class Body>
  void take_out(const Body& body) {
    const std::uint32_t calls = calls_;
    const std::uint32_t stretches = stretches_;
    calls_ = 0;
    stretches_ = 0;
    for (std::uint32_t i = 0; i < stretches; ++i) {
      const std::uint32_t end = i + 1 < stretches ? begins_[i + 1].call : calls;
      body(begins_[i].sort, offsets_.data() + begins_[i].call, end - begins_[i].call);
    }
    if (current_.file != MPI_FILE_NULL) begins_[stretches_++] = {0, current_number_};
  }

  // No sort is known any more. REQUIRES: no calls, so take_out() first.
  void forget();

 private:
  struct Begin {
    std::uint32_t call;
    std::uint32_t sort;
  };
  bool takes_another(const Call& call);

  // All that a call like the one before it looks at, in one cache line with the flag above.
  Sort current_;
  std::uint32_t calls_ = 0;
  std::uint32_t current_number_ = 0;
  std::uint32_t stretches_ = 0;
  std::uint32_t sorts_known_ = 0;
  alignas(64) std::array<std::int64_t, most_calls> offsets_{};
  std::array<Sort, most_sorts> sorts_{};
  std::array<Begin, most_stretches> begins_{};
};

}  // namespace weir::interpose
