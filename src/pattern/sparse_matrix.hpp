// Sparse matrices in compressed rows: the application matrix (ranks by ranks) and the shuffle (ranks by file
// domains).
//
// Ownership: a plain value. Threads: plain functions of their arguments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/error.hpp"

namespace weir::pattern {

struct SparseMatrix {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::vector<std::uint64_t> row_begin{0};  // rows + 1 entries into column and value
  std::vector<std::uint32_t> column;        // ascending within a row, each at most once
  std::vector<double> value;                // finite and not negative

  bool operator==(const SparseMatrix&) const = default;
  std::uint64_t entries() const { return column.size(); }
  std::span<const std::uint32_t> columns_of(std::uint64_t row) const {
    return {column.data() + row_begin[row], row_begin[row + 1] - row_begin[row]};
  }
  std::span<const double> values_of(std::uint64_t row) const {
    return {value.data() + row_begin[row], row_begin[row + 1] - row_begin[row]};
  }
  // One element; 0 where none is stored. Logarithmic in the entries of the row.
  double at(std::uint64_t row, std::uint32_t column) const;
  double sum() const;

  // The invariants above; fails with the row and what is wrong in it.
  Status check() const;
};

struct Triple {
  std::uint32_t row;
  std::uint32_t column;
  double value;
};

// Triples in any order; those of the same place are added up. Zeros are left out. Linear in rows and triples,
// but for sorting within rows. Throws std::logic_error if a triple lies outside.
SparseMatrix from_triples(std::uint64_t rows, std::uint64_t columns, std::span<const Triple> triples);

// The same for a symmetric matrix, each pair given once, in either order: both halves are stored.
SparseMatrix from_pairs(std::uint64_t rows, std::span<const Triple> pairs);

bool is_symmetric(const SparseMatrix& matrix);

SparseMatrix transposed(const SparseMatrix& matrix);

}  // namespace weir::pattern
