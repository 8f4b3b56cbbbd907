// Who touches which bytes of which file, in program order, reads and writes apart.
//
// Ranks whose accesses have the same shape share it, so that a rank of a regular pattern costs 24 bytes: a
// million ranks with a tile each take well under 100 MB.
//
// Ownership: a plain value. Threads: const functions may run at the same time; add() may not.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "pattern/access.hpp"

namespace weir::pattern {

inline constexpr std::uint64_t most_ranks = std::uint64_t{1} << 24U;
inline constexpr std::uint64_t most_files = std::uint64_t{1} << 16U;

// Shapes without repetition, by number.
class ShapeTable {
 public:
  std::uint32_t number_of(const Shape& shape);  // added if it is new
  const Shape& operator[](std::uint32_t number) const { return shapes_[number]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(shapes_.size()); }
  bool operator==(const ShapeTable& other) const { return shapes_ == other.shapes_; }

 private:
  std::vector<Shape> shapes_;
  std::unordered_multimap<std::size_t, std::uint32_t> by_hash_;
};

// One access of a rank: a shape of the pattern's table, placed.
struct Use {
  std::int64_t offset = 0;
  std::uint32_t shape = 0;
  std::uint32_t repeat = 1;
  bool operator==(const Use&) const = default;
};

// The accesses of all ranks in one direction, in program order of each rank.
struct AccessTable {
  std::vector<std::uint64_t> rank_begin{0};  // into uses, ends at the last rank that touches anything
  std::vector<Use> uses;
  std::uint64_t collective_calls = 0;  // of the rank that made most; 0: none, or nobody counted them

  bool operator==(const AccessTable&) const = default;
  std::uint64_t ranks() const { return rank_begin.size() - 1; }  // behind this one nobody touches anything
  std::span<const Use> of(std::uint64_t rank) const {
    if (rank >= ranks()) return {};
    return {uses.data() + rank_begin[rank], rank_begin[rank + 1] - rank_begin[rank]};
  }
};

struct FilePattern {
  std::string name;
  AccessTable reads;
  AccessTable writes;
  bool operator==(const FilePattern&) const = default;
};

enum class Direction { read, write };

struct Totals {
  std::uint64_t accesses = 0;
  std::uint64_t pieces = 0;  // repetitions included, here and below
  std::uint64_t bytes = 0;
  std::uint64_t ranks = 0;  // that touch anything
  std::int64_t begin = 0;   // of the range that is touched; begin == end: nothing is
  std::int64_t end = 0;
};

struct Pattern {
  std::uint64_t ranks = 0;
  ShapeTable shapes;
  std::vector<FilePattern> files;

  explicit Pattern(std::uint64_t rank_count = 0) : ranks(rank_count) {}
  bool operator==(const Pattern&) const = default;

  // A new file nobody has touched. The reference is valid until the next one is added.
  FilePattern& add_file(std::string name);

  // Adds an access. REQUIRES: check(access); ranks of one table come in ascending order.
  void add(AccessTable& table, std::uint64_t rank, const Access& access);

  Access access(const Use& use) const { return {use.offset, shapes[use.shape], use.repeat}; }
  Totals totals(const AccessTable& table) const;

  // Everything that a pattern from outside could have wrong; names file, rank and access.
  Status check() const;
};

AccessTable& table_of(FilePattern& file, Direction direction);
const AccessTable& table_of(const FilePattern& file, Direction direction);

// The file of this name, or the only one for an empty name. Failures name those there are.
Result<std::size_t> find_file(const Pattern& pattern, const std::string& name);

// For people: files, ranks, bytes, pieces, and the shapes that occur most.
std::string summary(const Pattern& pattern);

}  // namespace weir::pattern
