#include "mpi/datatype.hpp"

#include <array>

namespace weir::mpi {

namespace {

constexpr std::uint64_t most_per_level = 1U << 30U;

Datatype hvector(std::uint64_t count, MPI_Aint stride, MPI_Datatype element) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector(static_cast<int>(count), 1, stride, element, &type);
  return Datatype(type);
}

// `count` copies of the element, `stride` bytes apart, with count beyond 2^31: full levels and a remainder.
Datatype repeat(std::uint64_t count, MPI_Aint stride, MPI_Datatype element) {
  if (count <= most_per_level) return hvector(count, stride, element);
  const std::uint64_t levels = count / most_per_level;
  const Datatype level = hvector(most_per_level, stride, element);
  const MPI_Aint level_stride = static_cast<MPI_Aint>(most_per_level) * stride;
  const Datatype full = hvector(levels, level_stride, level.get());
  if (count % most_per_level == 0) {
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    MPI_Type_dup(full.get(), &copy);
    return Datatype(copy);
  }
  const Datatype rest = hvector(count % most_per_level, stride, element);
  std::array<int, 2> lengths = {1, 1};
  std::array<MPI_Aint, 2> places = {0, static_cast<MPI_Aint>(levels) * level_stride};
  std::array<MPI_Datatype, 2> types = {full.get(), rest.get()};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &type);
  return Datatype(type);
}

}  // namespace

Datatype box_in_array(const Extent& shape, const Box& box, std::size_t element_size) {
  auto stride = static_cast<MPI_Aint>(element_size);
  MPI_Aint start = 0;
  Datatype type = repeat(element_size, 1, MPI_BYTE);
  for (std::size_t d = shape.size(); d-- > 0;) {
    type = repeat(box.count[d], stride, type.get());
    start += static_cast<MPI_Aint>(box.offset[d]) * stride;
    stride *= static_cast<MPI_Aint>(shape[d]);
  }
  int length = 1;
  MPI_Datatype inner = type.get();
  MPI_Datatype shifted = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(1, &length, &start, &inner, &shifted);
  const Datatype owner(shifted);
  // As MPI_Type_create_subarray does: the type spans the whole array, which some MPI-IO implementations count
  // on.
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(shifted, 0, stride, &whole);
  MPI_Type_commit(&whole);
  return Datatype(whole);
}

}  // namespace weir::mpi
