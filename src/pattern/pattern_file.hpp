// Patterns and matrices in files.
//
// A pattern file is binary: magic, version (2; files of version 1 do not say how many collective calls there
// were, and are read too), length, checksum, then the pattern in numbers of variable length,
// with ranks that differ only by a constant distance in the file stored as one. It appears under its name
// whole or not at all. Loading checks everything and allocates in proportion to the file, with a fixed
// allowance for such ranks.
//
// Threads: plain functions of their arguments.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "pattern/pattern.hpp"
#include "pattern/sparse_matrix.hpp"

namespace weir::pattern {

std::string encode(const Pattern& pattern);

// `allowance`: how many accesses and ranks it may have beyond the bytes of the file.
Result<Pattern> decode(std::string_view bytes, std::uint64_t allowance = std::uint64_t{1} << 26U);

Status save(const Pattern& pattern, const std::filesystem::path& path);

// Fails if the file is no pattern, of another version, truncated, damaged, or not for so many ranks.
Result<Pattern> load(const std::filesystem::path& path, std::optional<std::uint64_t> ranks = std::nullopt);

// Matrix Market, coordinate form: real or integer or pattern, general or symmetric. A symmetric matrix is
// written as its lower half. Failures name the line.
std::string to_matrix_market(const SparseMatrix& matrix);
Result<SparseMatrix> from_matrix_market(std::string_view text);
Status save_matrix(const SparseMatrix& matrix, const std::filesystem::path& path);
Result<SparseMatrix> load_matrix(const std::filesystem::path& path);

}  // namespace weir::pattern
