#include "recording/recording_file.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <unordered_map>

#include "core/file.hpp"
#include "pattern/pattern_file.hpp"
#include "recording/log_pattern.hpp"

namespace weir::recording {

namespace {

static_assert(std::endian::native == std::endian::little, "the words of a recording are little-endian");

constexpr std::uint64_t word_size = sizeof(std::int64_t);
constexpr std::size_t fewest_words = 4096;  // fewer are worked out at once
constexpr std::size_t most_kinds = 1024;

using pattern::Direction;
using pattern::Pattern;

// Adds the accesses of one rank in one file.
void add_rank(const Pattern& source, const pattern::FilePattern& from, std::uint64_t rank, Pattern& target,
              pattern::FilePattern& to, std::uint64_t as) {
  for (const Direction direction : {Direction::read, Direction::write})
    for (const pattern::Use& use : table_of(from, direction).of(rank))
      target.add(table_of(to, direction), as, source.access(use));
}

std::uint64_t ranks_of(const pattern::FilePattern& file) {
  return std::max(file.reads.ranks(), file.writes.ranks());
}

void add_files_of(const Pattern& source, std::uint64_t first_rank, Pattern& target) {
  std::unordered_map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < target.files.size(); ++i) by_name.emplace(target.files[i].name, i);
  for (const pattern::FilePattern& file : source.files) {
    const auto [place, is_new] = by_name.try_emplace(file.name, target.files.size());
    if (is_new) target.add_file(file.name);
    pattern::FilePattern& to = target.files[place->second];
    for (const Direction direction : {Direction::read, Direction::write}) {
      std::uint64_t& calls = table_of(to, direction).collective_calls;
      calls = std::max(calls, table_of(file, direction).collective_calls);
    }
    for (std::uint64_t rank = 0; rank < ranks_of(file); ++rank)
      add_rank(source, file, rank, target, to, first_rank + rank);
  }
}

std::string name_of(const Part& part) {
  return fmt::format("the calls of rank {} to '{}'", part.rank, part.file);
}

// Folds the words of a part as the recorder would have done.
Result<LogPattern> work_out(const Part& part, std::span<const std::int64_t> words, std::uint64_t& calls) {
  const auto damaged = [&](std::string_view how) {
    return fail(ErrorCode::corrupt, fmt::format("the recording is damaged: {} {}", name_of(part), how),
                "record the program again");
  };
  if (XXH3_64bits(words.data(), words.size_bytes()) != part.checksum) return damaged("have a wrong checksum");
  const std::size_t limit = words.size() * (word_size / sizeof(std::uint16_t));
  RunLog log(limit, 0);
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (const PartKind& kind : part.kinds) numbers[kind.number] = log.number_of(kind.kind);
  bool known = true;
  const auto with = [&](std::uint32_t kind, std::uint64_t count, const auto& body) {
    const auto found = numbers.find(kind);
    if (found == numbers.end()) {
      known = false;
      return;
    }
    calls += count;
    body(found->second);
  };
  const bool sound = CallBacklog::read(
      words,
      [&](std::uint32_t kind, const std::int64_t* offsets, std::size_t count, std::int64_t unit) {
        with(kind, count, [&](std::uint32_t number) { log.add(number, offsets, count, unit); });
      },
      [&](std::uint32_t kind, std::int64_t offset, std::size_t count, std::int64_t stride) {
        with(kind, count, [&](std::uint32_t number) { log.add_row(number, offset, count, stride); });
      });
  if (!sound || !known) return damaged("make no sense");
  const ViewTypes bytes;
  return pattern_of(
      log, [&](std::uint32_t) { return &bytes; }, limit);
}

}  // namespace

bool describe(const RunLog& log, const std::function<bool(std::uint32_t types)>& is_plain, Part& part) {
  if (log.put_off().words() < fewest_words) return false;
  std::map<std::uint32_t, CallKind> kinds;
  bool possible = true;
  const auto note = [&](std::uint32_t kind) {
    if (!possible || kinds.contains(kind)) return;
    possible = log.knows(kind) && kinds.size() < most_kinds && is_plain(log.kind(kind).types);
    if (possible) kinds.emplace(kind, log.kind(kind));
  };
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> hash(XXH3_createState(),
                                                                              &XXH3_freeState);
  if (!hash) throw std::bad_alloc();
  XXH3_64bits_reset(hash.get());
  log.put_off().for_each_chunk([&](std::span<const std::int64_t> words) {
    CallBacklog::for_each_kind(words, note);
    XXH3_64bits_update(hash.get(), words.data(), words.size_bytes());
  });
  if (!possible) return false;
  part.words = log.put_off().words();
  part.checksum = XXH3_64bits_digest(hash.get());
  part.kinds.clear();
  for (const auto& [number, kind] : kinds) {
    part.kinds.push_back({number, kind});
    part.kinds.back().kind.types = 0;
  }
  return true;
}

Index joined(Index first, Index second) {
  Index both{Pattern(first.pattern.ranks + second.pattern.ranks), std::move(first.parts)};
  add_files_of(first.pattern, 0, both.pattern);
  add_files_of(second.pattern, first.pattern.ranks, both.pattern);
  for (Part& part : second.parts) {
    part.rank += first.pattern.ranks;
    both.parts.push_back(std::move(part));
  }
  return both;
}

std::string encode(const Index& index) {
  pattern::NumberWriter out;
  out.text(pattern::encode(index.pattern));
  out.number(index.parts.size());
  for (const Part& part : index.parts) {
    out.number(part.rank);
    out.text(part.file);
    out.number(part.words);
    out.number(part.checksum);
    out.number(part.kinds.size());
    for (const PartKind& kind : part.kinds) {
      out.number(kind.number);
      out.number(kind.kind.writes ? 1 : 0);
      out.difference(0, kind.kind.displacement);
      out.number(kind.kind.bytes);
    }
  }
  return out.take();
}

namespace {

Result<Part> read_part(pattern::NumberReader& in) {
  Part part;
  WEIR_ASSIGN(part.rank, in.number());
  WEIR_ASSIGN(part.file, in.text());
  WEIR_ASSIGN(part.words, in.number());
  WEIR_ASSIGN(part.checksum, in.number());
  WEIR_ASSIGN(const std::uint64_t kinds, in.count(4));
  for (std::uint64_t at = 0; at < kinds; ++at) {
    WEIR_ASSIGN(const std::uint64_t number, in.number());
    if (number > UINT32_MAX) return in.broken("has a number that is too large");
    PartKind kind{.number = static_cast<std::uint32_t>(number), .kind = {}};
    WEIR_ASSIGN(const std::uint64_t writes, in.number());
    kind.kind.writes = writes != 0;
    WEIR_ASSIGN(kind.kind.displacement, in.difference(0));
    WEIR_ASSIGN(kind.kind.bytes, in.number());
    part.kinds.push_back(kind);
  }
  return part;
}

Result<Index> decode_index(std::string_view body, std::uint64_t allowance) {
  pattern::NumberReader in(body);
  WEIR_ASSIGN(const std::string_view encoded, in.text());
  Index index;
  WEIR_ASSIGN(index.pattern, pattern::decode(encoded, allowance));
  WEIR_ASSIGN(const std::uint64_t parts, in.count(5));
  for (std::uint64_t at = 0; at < parts; ++at) {
    WEIR_ASSIGN(Part part, read_part(in));
    if (part.rank >= index.pattern.ranks) return in.broken("has calls of a rank that does not exist");
    if (at > 0 && part.rank < index.parts.back().rank) return in.broken("has its ranks in disorder");
    index.parts.push_back(std::move(part));
  }
  if (!in.done()) return in.broken("goes on behind its end");
  return index;
}

}  // namespace

Result<Index> decode_index(std::string_view body) {
  return decode_index(body, std::uint64_t{1} << 26U);
}

namespace {

// Each part behind what its rank did to its file before.
Result<Loaded> put_together(const Index& index, std::string_view parts) {
  struct Placed {
    const Part* part;
    std::vector<std::int64_t> words() const {
      std::vector<std::int64_t> copy(part->words);  // the file's own may stand anywhere in memory
      if (!copy.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
      return copy;
    }
    std::string_view bytes;
  };
  std::map<std::string_view, std::vector<Placed>> by_file;
  for (const Part& part : index.parts) {
    if (part.words > parts.size() / word_size)
      return fail(ErrorCode::corrupt,
                  fmt::format("the recording is truncated: {} are missing", name_of(part)),
                  "record the program again");
    by_file[part.file].push_back({&part, parts.substr(0, part.words * word_size)});
    parts.remove_prefix(part.words * word_size);
  }
  if (!parts.empty())
    return fail(ErrorCode::corrupt, "the recording has calls of nobody", "record the program again");

  Loaded loaded{.pattern = Pattern(index.pattern.ranks)};
  for (const pattern::FilePattern& file : index.pattern.files) {
    pattern::FilePattern& to = loaded.pattern.add_file(file.name);
    to.reads.collective_calls = file.reads.collective_calls;
    to.writes.collective_calls = file.writes.collective_calls;
    const auto found = by_file.find(file.name);
    std::uint64_t rank = 0;
    const auto add_until = [&](std::uint64_t end) {
      for (; rank < std::min(end, ranks_of(file)); ++rank)
        add_rank(index.pattern, file, rank, loaded.pattern, to, rank);
    };
    if (found != by_file.end()) {
      for (const Placed& placed : found->second) {
        add_until(placed.part->rank + 1);
        WEIR_ASSIGN(const LogPattern calls, work_out(*placed.part, placed.words(), loaded.worked_out));
        loaded.lost += calls.lost;
        for (const auto& access : calls.reads) loaded.pattern.add(to.reads, placed.part->rank, access);
        for (const auto& access : calls.writes) loaded.pattern.add(to.writes, placed.part->rank, access);
      }
      by_file.erase(found);
    }
    add_until(ranks_of(file));
  }
  if (!by_file.empty())
    return fail(
        ErrorCode::corrupt,
        fmt::format("the recording has calls to '{}', a file that it does not know", by_file.begin()->first),
        "record the program again");
  return loaded;
}

}  // namespace

Result<Loaded> decode(std::string_view bytes, std::uint64_t allowance) {
  WEIR_ASSIGN(const pattern::PackedHeader header, pattern::PackedHeader::read(bytes));
  if (header.version != version_with_parts) {
    Loaded loaded;
    WEIR_ASSIGN(loaded.pattern, pattern::decode(bytes, allowance));
    return loaded;
  }
  const std::string_view rest = bytes.substr(parts_begin);
  const std::string_view body =
      rest.substr(rest.size() - std::min<std::uint64_t>(rest.size(), header.body_size));
  WEIR_TRY(header.check(body));
  WEIR_ASSIGN(const Index index, decode_index(body, allowance));
  return put_together(index, rest.substr(0, rest.size() - body.size()));
}

Result<Loaded> load(const std::filesystem::path& path) {
  WEIR_ASSIGN(const std::string bytes, read_text(path));
  return in(decode(bytes), "load the recording", path.string());
}

}  // namespace weir::recording
