// A recording as a job leaves it, and as it is read.
//
// Where all ranks touched their files in some order it is a plain pattern file (pattern/pattern_file.hpp).
// Calls without any order are many, and working them out takes longer than some of them took: a job leaves
// them as they came (version 3), and whoever loads the recording works them out. Such a file is a header, the
// calls of each rank as words of a CallBacklog, and a body that says whose they are, with the pattern of
// everything else. Loading checks everything and allocates in proportion to the file.
//
// Threads: plain functions of their arguments. LOCAL.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "pattern/packed_file.hpp"
#include "pattern/pattern.hpp"
#include "recording/run_log.hpp"

namespace weir::recording {

// What calls of a part have in common. Their views show the bytes of the file as they are, from
// `kind.displacement` on.
struct PartKind {
  std::uint32_t number = 0;
  CallKind kind;
  bool operator==(const PartKind&) const = default;
};

// Calls of one rank to one file, to be put behind those that are in the pattern.
struct Part {
  std::uint64_t rank = 0;
  std::string file;
  std::vector<PartKind> kinds;
  std::uint64_t words = 0;     // of eight bytes, behind those of the part before it
  std::uint64_t checksum = 0;  // of the words
  bool operator==(const Part&) const = default;
};

struct Index {
  pattern::Pattern pattern;
  std::vector<Part> parts;  // in the order of ranks
};

// Describes what was put off in the log, if every call of it can be a part: false where one cannot, or where
// there is too little of it to be worth it. `is_plain`: whether a view of these types shows bytes as they
// are.
bool describe(const RunLog& log, const std::function<bool(std::uint32_t types)>& is_plain, Part& part);

// The ranks of the first, then those of the second; files of one name become one.
Index joined(Index first, Index second);

std::string encode(const Index& index);
Result<Index> decode_index(std::string_view body);

inline constexpr std::uint64_t version_with_parts = 3;
inline constexpr std::size_t parts_begin = pattern::PackedHeader::size;  // in the file

struct Loaded {
  pattern::Pattern pattern;
  std::uint64_t worked_out = 0;  // calls that were in no pattern yet
  std::uint64_t lost = 0;        // of those: such as reached beyond the largest possible file
};

// Any recording or pattern. `allowance`: see pattern::decode.
Result<Loaded> decode(std::string_view bytes, std::uint64_t allowance = std::uint64_t{1} << 26U);
Result<Loaded> load(const std::filesystem::path& path);

}  // namespace weir::recording
