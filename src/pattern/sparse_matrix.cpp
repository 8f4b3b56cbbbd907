#include "pattern/sparse_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace weir::pattern {

double SparseMatrix::at(std::uint64_t row, std::uint32_t wanted) const {
  const auto columns_here = columns_of(row);
  const auto found = std::lower_bound(columns_here.begin(), columns_here.end(), wanted);
  if (found == columns_here.end() || *found != wanted) return 0;
  return values_of(row)[static_cast<std::size_t>(found - columns_here.begin())];
}

double SparseMatrix::sum() const {
  return std::accumulate(value.begin(), value.end(), 0.0);
}

Status SparseMatrix::check() const {
  const auto wrong = [](std::string what) { return fail(ErrorCode::invalid_argument, std::move(what)); };
  if (row_begin.size() != rows + 1 || row_begin.front() != 0 || row_begin.back() != column.size() ||
      column.size() != value.size()) {
    return wrong(fmt::format("the matrix has {} rows, but {} row ends, {} columns and {} values", rows,
                             row_begin.size(), column.size(), value.size()));
  }
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (row_begin[row] > row_begin[row + 1] || row_begin[row + 1] > column.size())
      return wrong(fmt::format("row {} of the matrix ends before it begins", row));
    for (std::uint64_t at = row_begin[row]; at < row_begin[row + 1]; ++at) {
      if (column[at] >= columns)
        return wrong(fmt::format("row {}: column {} of {} does not exist", row, column[at], columns));
      if (at > row_begin[row] && column[at - 1] >= column[at])
        return wrong(fmt::format("row {}: column {} is out of order", row, column[at]));
      if (!std::isfinite(value[at]) || value[at] < 0)
        return wrong(fmt::format("row {}, column {}: {} is no weight", row, column[at], value[at]));
    }
  }
  return {};
}

namespace {

// Sorts each row by column, adds up what stands in the same place, and drops zeros.
void tidy(SparseMatrix& matrix) {
  std::vector<std::pair<std::uint32_t, double>> line;
  std::uint64_t out = 0, begin = 0;
  for (std::uint64_t row = 0; row < matrix.rows; ++row) {
    const std::uint64_t end = matrix.row_begin[row + 1];
    line.clear();
    for (std::uint64_t at = begin; at < end; ++at) line.emplace_back(matrix.column[at], matrix.value[at]);
    std::sort(line.begin(), line.end());
    begin = end;
    for (std::size_t at = 0; at < line.size();) {
      const std::uint32_t column = line[at].first;
      double value = 0;
      for (; at < line.size() && line[at].first == column; ++at) value += line[at].second;
      if (value == 0) continue;
      matrix.column[out] = column;
      matrix.value[out++] = value;
    }
    matrix.row_begin[row + 1] = out;
  }
  matrix.column.resize(out);
  matrix.value.resize(out);
}

SparseMatrix build(std::uint64_t rows, std::uint64_t columns, std::span<const Triple> triples, bool both) {
  SparseMatrix matrix{.rows = rows, .columns = columns};
  matrix.row_begin.assign(rows + 1, 0);
  const auto mirrored = [&](const Triple& triple) { return both && triple.row != triple.column; };
  for (const Triple& triple : triples) {
    if (triple.row >= rows || triple.column >= columns)
      throw std::logic_error(
          fmt::format("({}, {}) is outside of a {} x {} matrix", triple.row, triple.column, rows, columns));
    ++matrix.row_begin[triple.row + 1];
    if (mirrored(triple)) ++matrix.row_begin[triple.column + 1];
  }
  for (std::uint64_t row = 0; row < rows; ++row) matrix.row_begin[row + 1] += matrix.row_begin[row];
  matrix.column.resize(matrix.row_begin.back());
  matrix.value.resize(matrix.row_begin.back());
  std::vector<std::uint64_t> next(matrix.row_begin.begin(), matrix.row_begin.end() - 1);
  const auto put = [&](std::uint32_t row, std::uint32_t column, double value) {
    const std::uint64_t at = next[row]++;
    matrix.column[at] = column;
    matrix.value[at] = value;
  };
  for (const Triple& triple : triples) {
    put(triple.row, triple.column, triple.value);
    if (mirrored(triple)) put(triple.column, triple.row, triple.value);
  }
  tidy(matrix);
  return matrix;
}

}  // namespace

SparseMatrix from_triples(std::uint64_t rows, std::uint64_t columns, std::span<const Triple> triples) {
  return build(rows, columns, triples, false);
}

SparseMatrix from_pairs(std::uint64_t rows, std::span<const Triple> pairs) {
  return build(rows, rows, pairs, true);
}

SparseMatrix transposed(const SparseMatrix& matrix) {
  SparseMatrix result{.rows = matrix.columns, .columns = matrix.rows};
  result.row_begin.assign(result.rows + 1, 0);
  result.column.resize(matrix.column.size());
  result.value.resize(matrix.value.size());
  for (const std::uint32_t column : matrix.column) ++result.row_begin[column + 1];
  for (std::uint64_t row = 0; row < result.rows; ++row) result.row_begin[row + 1] += result.row_begin[row];
  std::vector<std::uint64_t> next(result.row_begin.begin(), result.row_begin.end() - 1);
  for (std::uint64_t row = 0; row < matrix.rows; ++row) {
    for (std::uint64_t at = matrix.row_begin[row]; at < matrix.row_begin[row + 1]; ++at) {
      const std::uint64_t to = next[matrix.column[at]]++;
      result.column[to] = static_cast<std::uint32_t>(row);
      result.value[to] = matrix.value[at];
    }
  }
  return result;
}

bool is_symmetric(const SparseMatrix& matrix) {
  return matrix.rows == matrix.columns && transposed(matrix) == matrix;
}

}  // namespace weir::pattern
