// Puts blocks of other types together into one; all constructors of derived types end here. Private to the
// data types.
#pragma once

#include <optional>

#include "pattern/datatype.hpp"
#include "pattern/type_node.hpp"

namespace weir::pattern {

// What a caller's arguments for a type can be: wrong in themselves, or beyond 64 bits.
tl::unexpected<Failure> wrong_type(std::string what);
tl::unexpected<Failure> type_too_large();

// MPI's rule for bounds: where a part was resized, only such parts count.
struct Bounds {
  std::optional<std::int64_t> lower, upper;
  bool fixed = false;

  void take(std::int64_t from, std::int64_t to, bool part_fixed);
};

class TypeBuilder {
 public:
  // `length` of the type in a row, `displacement` bytes from the origin.
  Status add(std::int64_t length, std::int64_t displacement, const Datatype& of) {
    return add_strided(1, 0, length, displacement, of);
  }

  // The same `count` times, `stride` bytes apart.
  Status add_strided(std::int64_t count, std::int64_t stride, std::int64_t length, std::int64_t displacement,
                     const Datatype& of);

  Result<Datatype> finish();

  // For arrays: the extent is that of the whole array.
  static Result<Datatype> array(const Placed& placed, std::int64_t extent, unsigned dimensions,
                                const Datatype& of);

  static Placed placed(const Datatype& type) { return {type.offset_, type.node_}; }

 private:
  std::vector<Placed> parts_;
  Bounds bounds_;
  std::uint64_t alignment_ = 1;
  unsigned depth_ = 0;
};

}  // namespace weir::pattern
