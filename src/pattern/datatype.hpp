// MPI's derived data types as values of our own, without MPI: what MPI_Type_get_envelope and _get_contents
// tell, turned into the bytes that a view or a buffer touches.
//
// A type is kept as nested loops over blocks in the order of its type map. Neighbouring blocks are merged and
// regular lists become loops while it is built, so that a subarray of any size is a handful of nodes.
// Lengths below 0, bounds that leave 64 bits, and types nested more than most_depth deep are refused.
//
// Ownership: immutable, cheap to copy. Threads: may be shared between threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "pattern/access.hpp"

namespace weir::pattern {

enum class ArrayOrder { c, fortran };
enum class Distribution { none, block, cyclic };
inline constexpr std::int64_t default_argument = -1;  // MPI_DISTRIBUTE_DFLT_DARG

struct TypeNode;  // datatype.cpp

class Datatype {
 public:
  static constexpr unsigned most_depth = 128;

  Datatype() : Datatype(named(1)) {}

  // A predefined type. MPI_DOUBLE_INT and its like have an extent beyond their size.
  static Datatype named(std::uint64_t size) { return named(size, size, size); }
  static Datatype named(std::uint64_t size, std::uint64_t extent, std::uint64_t alignment);

  // The constructors of MPI; strides and displacements of the h-forms are bytes, of the others extents of
  // `of`.
  static Result<Datatype> contiguous(std::int64_t count, const Datatype& of);
  static Result<Datatype> vector(std::int64_t count, std::int64_t length, std::int64_t stride,
                                 const Datatype& of);
  static Result<Datatype> hvector(std::int64_t count, std::int64_t length, std::int64_t stride,
                                  const Datatype& of);
  static Result<Datatype> indexed(std::span<const std::int64_t> lengths,
                                  std::span<const std::int64_t> displacements, const Datatype& of);
  static Result<Datatype> hindexed(std::span<const std::int64_t> lengths,
                                   std::span<const std::int64_t> displacements, const Datatype& of);
  static Result<Datatype> indexed_block(std::int64_t length, std::span<const std::int64_t> displacements,
                                        const Datatype& of);
  static Result<Datatype> hindexed_block(std::int64_t length, std::span<const std::int64_t> displacements,
                                         const Datatype& of);
  static Result<Datatype> structure(std::span<const std::int64_t> lengths,
                                    std::span<const std::int64_t> displacements,
                                    std::span<const Datatype> of);
  static Result<Datatype> subarray(std::span<const std::int64_t> sizes,
                                   std::span<const std::int64_t> subsizes,
                                   std::span<const std::int64_t> starts, ArrayOrder order,
                                   const Datatype& of);
  static Result<Datatype> darray(std::int64_t processes, std::int64_t rank,
                                 std::span<const std::int64_t> sizes,
                                 std::span<const Distribution> distributions,
                                 std::span<const std::int64_t> arguments, std::span<const std::int64_t> grid,
                                 ArrayOrder order, const Datatype& of);
  static Result<Datatype> resized(std::int64_t lower, std::int64_t extent, const Datatype& of);
  static Datatype dup(const Datatype& of) { return of; }

  std::uint64_t size() const { return size_; }
  std::int64_t lower() const { return lower_; }
  std::int64_t upper() const { return upper_; }
  std::int64_t extent() const { return upper_ - lower_; }
  std::int64_t true_lower() const;  // of the bytes themselves
  std::int64_t true_upper() const;

  // Calls visit(offset, length) for the blocks of `count` of these in a row, in the order of the type map,
  // which is that of the data in a stream; stops when it returns false. Offsets may be negative. For buffers
  // in memory.
  using Visit = std::function<bool(std::int64_t offset, std::uint64_t length)>;
  void for_each_block(std::uint64_t count, const Visit& visit) const;

 private:
  struct Empty {};
  explicit Datatype(Empty) {}
  friend class View;
  friend class TypeBuilder;
  friend Result<std::vector<Access>> flatten(const Datatype& type);

  std::shared_ptr<const TypeNode> node_;  // null: no bytes at all
  std::int64_t offset_ = 0;               // of the node
  std::uint64_t size_ = 0;
  std::int64_t lower_ = 0;
  std::int64_t upper_ = 0;
  std::uint64_t alignment_ = 1;
  unsigned depth_ = 0;
  bool fixed_bounds_ = false;  // somebody resized it, or a part of it
};

// One of the type at offset 0 as ordered accesses; together they are the bytes of the type. Fails for a type
// that begins below 0 or is too irregular (2^20 accesses).
Result<std::vector<Access>> flatten(const Datatype& type);

// MPI_File_set_view, and what a read or write through it touches.
class View {
 public:
  View() = default;  // of a file just opened: bytes from 0

  // Fails as MPI does: a file type whose size is no multiple of the elementary type's, or one that reaches
  // below the displacement.
  static Result<View> make(std::int64_t displacement, const Datatype& elementary, const Datatype& file_type);

  // The bytes behind `count` bytes of data at `offset` elementary types into the view, as ordered accesses in
  // the order of the data.
  Result<std::vector<Access>> accesses(std::uint64_t offset, std::uint64_t count) const;

  std::uint64_t elementary_size() const { return elementary_size_; }
  std::int64_t displacement() const { return displacement_; }
  const Datatype& file_type() const { return file_type_; }

 private:
  std::int64_t displacement_ = 0;
  std::uint64_t elementary_size_ = 1;
  Datatype file_type_;
};

}  // namespace weir::pattern
