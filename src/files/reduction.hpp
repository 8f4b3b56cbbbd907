// Reductions as arithmetic: over steps, and to every k-th point. Pure; no MPI. weir::Reduction
// (weir/types.hpp) says what is meant, and its rules about NaN and types hold here.
//
// A point survives if its index in the whole array is a multiple of k in every dimension, so that it does not
// depend on how the array is cut into blocks.
#pragma once

#include <memory>

#include "core/box.hpp"
#include "core/types.hpp"

namespace weir::files {

bool reduces(const Reduction& reduction);  // or does everything stay as it is

// Whether it can be done to arrays of this type and shape.
Status check(const Reduction& reduction, Type type, const Extent& shape);

// REQUIRES of all below: checked.
Type result_type(const Reduction& reduction, Type type);
Extent result_shape(const Extent& shape, const Extent& every);
Box result_box(const Box& box, const Extent& every);  // in the array of results; may be empty
std::string describe(const Reduction& reduction);     // "mean of 10 steps, every [2, 2] points"

// Copies the points of a block that survive. `out` has room for result_box(box, every).
void subsample(const Box& box, const std::byte* data, std::size_t element_size, const Extent& every,
               std::byte* out);

// The elements of one block over several steps.
class Accumulator {
 public:
  // May throw std::bad_alloc. REQUIRES: the operation is not "".
  Accumulator(const std::string& operation, Type type, std::uint64_t elements);

  void add(const std::byte* data);  // one step; need not be aligned
  std::uint64_t count() const { return count_; }
  // The result, of result_type, in the accumulator's own memory: it stands until the next add(), which begins
  // anew. Fails if a sum of integers left the range of 64 bits. REQUIRES: count() > 0.
  Result<const std::byte*> finish();
  std::uint64_t bytes() const;  // of memory

  struct Cells;

 private:
  std::uint64_t count_ = 0;
  std::unique_ptr<Cells, void (*)(Cells*)> cells_;
};

}  // namespace weir::files
