// A copy of a buffer whose data type cannot be described as rows, in the order of its data: MPI packs and
// unpacks it.
//
// Ownership: keeps a copy of the type, which the program may free meanwhile; the buffer stays the program's.
// Threads: one at a time. LOCAL.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "aggregation/pieces.hpp"
#include "core/error.hpp"

namespace weir::interpose {

class PackedMemory {
 public:
  // `bytes`: of data in `count` of the type. Fails where that is more than MPI packs at a time.
  static Result<std::unique_ptr<PackedMemory>> make(void* buffer, MPI_Count count, MPI_Datatype type,
                                                    std::uint64_t bytes);
  PackedMemory(const PackedMemory&) = delete;
  PackedMemory& operator=(const PackedMemory&) = delete;
  ~PackedMemory();

  aggregation::Rows rows() const;
  void unpack();  // into the program's buffer; what was not changed here stays as it was there

 private:
  PackedMemory() = default;

  void* buffer_ = nullptr;
  int count_ = 0;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::uint64_t bytes_ = 0;
  std::vector<std::byte> data_;
};

}  // namespace weir::interpose
