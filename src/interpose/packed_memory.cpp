#include "interpose/packed_memory.hpp"

#include <climits>

namespace weir::interpose {

Result<std::unique_ptr<PackedMemory>> PackedMemory::make(void* buffer, MPI_Count count, MPI_Datatype type,
                                                         std::uint64_t bytes) {
  int room = 0;
  if (count > INT_MAX || bytes > INT_MAX ||
      PMPI_Pack_size(static_cast<int>(count), type, MPI_COMM_SELF, &room) != MPI_SUCCESS ||
      room < static_cast<int>(bytes))
    return fail(ErrorCode::unsupported, "a data type is too irregular, and has too many bytes to be packed");
  std::unique_ptr<PackedMemory> packed(new PackedMemory);
  packed->buffer_ = buffer;
  packed->count_ = static_cast<int>(count);
  packed->bytes_ = bytes;
  packed->data_.resize(static_cast<std::size_t>(room));
  int end = 0;
  if (PMPI_Type_dup(type, &packed->type_) != MPI_SUCCESS ||
      PMPI_Pack(buffer, packed->count_, type, packed->data_.data(), room, &end, MPI_COMM_SELF) !=
          MPI_SUCCESS ||
      static_cast<std::uint64_t>(end) != bytes)
    return fail(ErrorCode::unsupported,
                "a data type is too irregular, and MPI does not pack its bytes alone");
  return packed;
}

PackedMemory::~PackedMemory() {
  if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
}

aggregation::Rows PackedMemory::rows() const {
  return {{.offset = reinterpret_cast<std::uint64_t>(data_.data()), .length = bytes_}};
}

void PackedMemory::unpack() {
  int begin = 0;
  PMPI_Unpack(data_.data(), static_cast<int>(bytes_), &begin, buffer_, count_, type_, MPI_COMM_SELF);
}

}  // namespace weir::interpose
