// A data type as MPI describes it (MPI_Type_get_envelope and _get_contents), taken over as a value: cheap to
// compare, and independent of the handle, which the program may free or use again for another type.
//
// Ownership: a plain value. Threads: plain functions of their arguments. LOCAL.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "core/error.hpp"
#include "pattern/datatype.hpp"

namespace weir::interpose {

struct TypeTree {
  int combiner = MPI_COMBINER_NAMED;  // a named type with parts is described as a structure of them
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<TypeTree> types;
  std::uint64_t size = 1;
  std::int64_t lower = 0;
  std::int64_t extent = 1;
  bool operator==(const TypeTree&) const = default;

  // Whether a named type in it, such as MPI_DOUBLE_INT, is longer than its bytes.
  bool has_padded_names() const;
  std::uint64_t hash() const;
};

// Reads a type of the program. Fails for what MPI does not tell, and for types nested beyond any sense.
Result<TypeTree> read_type(MPI_Datatype type);

// The bytes it stands for. Bounds are those that MPI reported, so that padding is the MPI library's own.
Result<pattern::Datatype> to_datatype(const TypeTree& tree);

}  // namespace weir::interpose
