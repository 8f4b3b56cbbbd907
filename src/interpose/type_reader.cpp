// From a handle to a TypeTree.
#include <cstddef>
#include <memory>

#include "interpose/type_tree.hpp"

namespace weir::interpose {

namespace {

// Given back when it goes out of scope, unless it is predefined: MPI_Type_get_contents makes new handles of
// derived types.
class Part {
 public:
  explicit Part(MPI_Datatype handle) : handle_(handle) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() {
    if (!is_predefined(handle_)) PMPI_Type_free(&handle_);
  }

 private:
  static bool is_predefined(MPI_Datatype handle) {
    int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
    if (PMPI_Type_get_envelope(handle, &integers, &addresses, &types, &combiner) != MPI_SUCCESS) return true;
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
  }
  MPI_Datatype handle_;
};

tl::unexpected<Failure> refused(const char* call) {
  return fail(ErrorCode::unsupported, std::string(call) + " failed for a data type of a file view");
}

TypeTree member(std::uint64_t size) {
  TypeTree tree;
  tree.size = size;
  tree.extent = static_cast<std::int64_t>(size);
  return tree;
}

// A named type has all its bytes at its beginning, but for MPI_SHORT_INT: its members stand as those of a C
// structure, with a hole between them. It is described as one, and stays named.
Result<TypeTree> named(MPI_Datatype type, TypeTree tree) {
  tree.combiner = MPI_COMBINER_NAMED;
  if (static_cast<std::int64_t>(tree.size) == tree.extent) return tree;
  MPI_Count lower = 0, extent = 0;
  if (PMPI_Type_get_true_extent_x(type, &lower, &extent) != MPI_SUCCESS)
    return refused("MPI_Type_get_true_extent_x");
  if (lower == 0 && extent == static_cast<MPI_Count>(tree.size)) return tree;
  if (type != MPI_SHORT_INT)
    return fail(ErrorCode::unsupported, "a named data type has holes that MPI does not describe");
  struct ShortInt {
    short value;
    int place;
  };
  tree.integers = {2, 1, 1};
  tree.addresses = {offsetof(ShortInt, value), offsetof(ShortInt, place)};
  tree.types = {member(sizeof(ShortInt::value)), member(sizeof(ShortInt::place))};
  return tree;
}

Result<TypeTree> read_type(MPI_Datatype type, unsigned depth) {
  if (depth > pattern::Datatype::most_depth)
    return fail(ErrorCode::unsupported, "a data type is nested more than 128 deep");
  TypeTree tree;
  MPI_Count size = 0, lower = 0, extent = 0;
  if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return refused("MPI_Type_size_x");
  if (PMPI_Type_get_extent_x(type, &lower, &extent) != MPI_SUCCESS) return refused("MPI_Type_get_extent_x");
  tree.size = static_cast<std::uint64_t>(size);
  tree.lower = lower;
  tree.extent = extent;
  int integers = 0, addresses = 0, types = 0;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &tree.combiner) != MPI_SUCCESS)
    return refused("MPI_Type_get_envelope");
  switch (tree.combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
      return named(type, std::move(tree));
    default:
      break;
  }
  tree.integers.resize(static_cast<std::size_t>(integers));
  tree.addresses.resize(static_cast<std::size_t>(addresses));
  std::vector<MPI_Datatype> handles(static_cast<std::size_t>(types));
  if (PMPI_Type_get_contents(type, integers, addresses, types, tree.integers.data(), tree.addresses.data(),
                             handles.data()) != MPI_SUCCESS)
    return refused("MPI_Type_get_contents");
  // All of them are ours now, whatever happens to the first one.
  std::vector<std::unique_ptr<Part>> parts;
  parts.reserve(handles.size());
  for (const MPI_Datatype handle : handles) parts.push_back(std::make_unique<Part>(handle));
  for (const MPI_Datatype handle : handles) {
    WEIR_ASSIGN(TypeTree part, read_type(handle, depth + 1));
    tree.types.push_back(std::move(part));
  }
  return tree;
}

}  // namespace

Result<TypeTree> read_type(MPI_Datatype type) {
  return read_type(type, 0);
}

}  // namespace weir::interpose
