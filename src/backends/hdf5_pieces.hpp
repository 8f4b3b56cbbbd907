// How arrays are cut: into chunks in the file, into pieces for the transfers. Pure.
#pragma once

#include "backends/backend.hpp"

namespace weir::backends::hdf5 {

// A part of an array, contiguous in memory, that one call of the library writes.
struct Piece {
  Box box;
  const std::byte* data;
};

// Non-empty pieces of at most `most_bytes`.
std::vector<Piece> pieces_of(std::span<const SourceBlock> blocks, std::size_t element_size,
                             std::uint64_t most_bytes);

// Whether a box is many short rows in the file: those are better gathered by MPI's collective buffering than
// written one by one.
bool is_fragmented(const Box& box, const Extent& shape, std::size_t element_size);

// The chunk of an array: at most `limit` bytes, cut along the slow dimensions, in equal parts.
Extent chunk_of(const Extent& shape, std::size_t element_size, std::uint64_t limit);

// HDF5 reads names as paths: "a//b" and "./a" would come back under another name.
Status check_name(const std::string& name);

}  // namespace weir::backends::hdf5
