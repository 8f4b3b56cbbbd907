// MPI data types of boxes, in 64-bit sizes.
#pragma once

#include <mpi.h>

#include <utility>

#include "core/box.hpp"

namespace weir::mpi {

// A committed data type; freed when it goes out of scope.
class Datatype {
 public:
  Datatype() = default;
  explicit Datatype(MPI_Datatype handle) : handle_(handle) {}
  Datatype(Datatype&& other) noexcept : handle_(std::exchange(other.handle_, MPI_DATATYPE_NULL)) {}
  Datatype& operator=(Datatype&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Datatype() {
    if (handle_ != MPI_DATATYPE_NULL) MPI_Type_free(&handle_);
  }
  MPI_Datatype get() const { return handle_; }

 private:
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
};

// The bytes of a box inside an array of this shape, relative to the first byte of the array.
// MPI_Type_create_subarray would do but for its 32-bit sizes. REQUIRES: the box is not empty.
Datatype box_in_array(const Extent& shape, const Box& box, std::size_t element_size);

}  // namespace weir::mpi
