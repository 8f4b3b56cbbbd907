// Compares a recording with the files it is about: check_recording RECORDING [FILE BEGIN END [FIRST]].
//
// Without a file: every file of the recording, whole. In the files a byte v > 0 was written by rank v - FIRST
// (1). Each rank must have written exactly its bytes, once; and if anything was read, each rank read what it
// wrote.
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string>

#include "core/file.hpp"
#include "recording/recording_file.hpp"

using namespace weir;
using pattern::Direction;

namespace {

using Counts = std::vector<std::uint8_t>;

// How often this rank touches each byte of [begin, end).
Counts touched(const pattern::Pattern& pattern, const pattern::AccessTable& table, std::uint64_t rank,
               std::uint64_t begin, std::uint64_t end) {
  Counts counts(end - begin, 0);
  if (rank >= table.ranks()) return counts;
  for (const pattern::Use& use : table.of(rank)) {
    const pattern::Access access = pattern.access(use);
    for (pattern::PieceCursor cursor(access); !cursor.done(); cursor.advance()) {
      const pattern::Piece piece = cursor.piece();
      for (std::int64_t at = piece.offset; at < piece.end(); ++at) {
        const auto place = static_cast<std::uint64_t>(at);
        if (place >= begin && place < end)
          counts[place - begin] = static_cast<std::uint8_t>(counts[place - begin] + use.repeat);
      }
    }
  }
  return counts;
}

int check_file(const pattern::Pattern& pattern, const pattern::FilePattern& file, std::uint64_t begin,
               std::uint64_t end, unsigned first) {
  const auto text = read_text(file.name);
  if (!text) return fmt::print("{}\n", text.error().message()), 1;
  end = std::min<std::uint64_t>(end, text->size());
  const bool was_read = pattern.totals(file.reads).bytes != 0;
  for (std::uint64_t rank = 0; rank < pattern.ranks; ++rank) {
    const Counts writes = touched(pattern, file.writes, rank, begin, end);
    const Counts reads = touched(pattern, file.reads, rank, begin, end);
    for (std::uint64_t at = begin; at < end; ++at) {
      const auto value = static_cast<unsigned char>((*text)[at]);
      const int mine = value == rank + first ? 1 : 0;
      if (writes[at - begin] != mine || (was_read && reads[at - begin] != mine)) {
        fmt::print("{}: byte {} is {}; rank {} wrote it {} and read it {} times\n", file.name, at, value,
                   rank, writes[at - begin], reads[at - begin]);
        return 1;
      }
    }
  }
  const pattern::Totals totals = pattern.totals(file.writes);
  fmt::print("{}: {} bytes in {} accesses as the file says\n", file.name, totals.bytes, totals.accesses);
  if (totals.bytes == 0) return fmt::print("{}: nothing was written\n", file.name), 1;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto loaded = recording::load(argv[1]);
  if (!loaded) return fmt::print("{}\n", loaded.error().message()), 1;
  const pattern::Pattern* const pattern = &loaded->pattern;
  if (const Status status = pattern->check(); !status) return fmt::print("{}\n", status.error().message()), 1;
  if (argc >= 5) {
    const auto index = pattern::find_file(*pattern, argv[2]);
    if (!index) return fmt::print("{}\n", index.error().message()), 1;
    return check_file(*pattern, pattern->files[*index], std::strtoull(argv[3], nullptr, 10),
                      std::strtoull(argv[4], nullptr, 10),
                      argc > 5 ? static_cast<unsigned>(std::atoi(argv[5])) : 1);
  }
  if (pattern->files.empty()) return fmt::print("no file in the recording\n"), 1;
  for (const pattern::FilePattern& file : pattern->files)
    if (check_file(*pattern, file, 0, UINT64_MAX, 1) != 0) return 1;
  return 0;
}
