// What a call touches, as collective I/O wants it: rows of bytes in the file and in memory, kept from one
// call to the next while view, type and count stay the same.
//
// Threads: one thread at a time per object. LOCAL.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "aggregation/pieces.hpp"
#include "core/error.hpp"
#include "interpose/type_tree.hpp"
#include "pattern/datatype.hpp"

namespace weir::interpose {

// The bytes of a view, call by call. A call as long as the one before, whole file types further on, moves the
// rows only.
class FileRows {
 public:
  void set_view(pattern::View view);
  const pattern::View& view() const { return view_; }

  // Makes `rows` those of `bytes` at `offset` elementary types. REQUIRES: `rows` is what the last successful
  // call left.
  Status update(aggregation::Rows& rows, std::uint64_t offset, std::uint64_t bytes);

 private:
  pattern::View view_;
  bool known_ = false;
  std::uint64_t offset_ = 0;
  std::uint64_t bytes_ = 0;
};

// Whether data through views of this type comes in file order, no byte twice: what collective I/O needs, and
// what MPI demands of views that are written through. In the number of the type's pieces.
bool in_file_order(const pattern::Datatype& file_type);

// The bytes of a buffer. A call with the same type and count moves the rows only.
class MemoryRows {
 public:
  // REQUIRES: `rows` is what the last successful call left.
  Status update(aggregation::Rows& rows, const void* buffer, std::uint64_t count, MPI_Datatype type);

 private:
  std::optional<TypeTree> tree_;  // of the rows as they are
  std::uint64_t count_ = 0;
  std::uint64_t base_ = 0;
};

}  // namespace weir::interpose
