#include "pattern/pattern_file.hpp"

#include <fmt/format.h>
#include "core/file.hpp"
#include "pattern/packed_file.hpp"

namespace weir::pattern {

namespace {

constexpr std::uint64_t version = 2;
constexpr std::uint64_t version_without_calls = 1;

// Ranks from `rank` on that touch the file alike, each a constant distance further than the one before it.
std::uint64_t alike(const AccessTable& table, std::uint64_t rank) {
  const auto first = table.of(rank);
  std::uint64_t last = rank;
  for (; last + 1 < table.ranks(); ++last) {
    const auto here = table.of(last), next = table.of(last + 1), second = table.of(rank + 1);
    if (next.size() != first.size()) break;
    bool same = true;
    for (std::size_t at = 0; at < first.size() && same; ++at) {
      const auto distance = [&](const Use& a, const Use& b) {
        return static_cast<std::uint64_t>(b.offset) - static_cast<std::uint64_t>(a.offset);
      };
      same = next[at].shape == first[at].shape && next[at].repeat == first[at].repeat &&
             distance(here[at], next[at]) == distance(first[at], second[at]);
    }
    if (!same) break;
  }
  return last - rank + 1;
}

void write_table(NumberWriter& out, const AccessTable& table) {
  out.number(table.ranks());
  std::int64_t before = 0;
  for (std::uint64_t rank = 0; rank < table.ranks();) {
    const std::uint64_t count = alike(table, rank);
    const auto uses = table.of(rank);
    out.number(count);
    out.number(uses.size());
    for (std::size_t at = 0; at < uses.size(); ++at) {
      out.number(uses[at].shape);
      out.number(uses[at].repeat);
      out.difference(before, uses[at].offset);
      before = uses[at].offset;
      if (count > 1) out.difference(uses[at].offset, table.of(rank + 1)[at].offset);
    }
    rank += count;
  }
  out.number(table.collective_calls);
}

struct RankedUse {
  Use use;
  std::int64_t step = 0;  // from rank to rank
};

Status read_table(NumberReader& in, std::uint64_t found, std::uint64_t ranks, std::uint64_t& allowance,
                  AccessTable& table) {
  WEIR_ASSIGN(const std::uint64_t touched, in.number());
  if (touched > ranks)
    return in.broken(fmt::format("has accesses of {} ranks, more than {}", touched, ranks));
  if (touched > allowance) return in.broken("needs too much memory");
  allowance -= touched;
  table.rank_begin.reserve(touched + 1);
  std::int64_t before = 0;
  std::vector<RankedUse> uses;
  while (table.ranks() < touched) {
    WEIR_ASSIGN(const std::uint64_t count, in.number());
    if (count == 0 || count > touched - table.ranks()) return in.broken("has a wrong number of ranks");
    WEIR_ASSIGN(const std::uint64_t each, in.count(3));
    if (each > 0 && count > allowance / each) return in.broken("needs too much memory");
    allowance -= count * each;
    uses.assign(each, {});
    for (RankedUse& ranked : uses) {
      WEIR_ASSIGN(const std::uint64_t shape, in.number());
      WEIR_ASSIGN(const std::uint64_t repeat, in.number());
      if (shape > UINT32_MAX || repeat > UINT32_MAX) return in.broken("has a number that is too large");
      ranked.use.shape = static_cast<std::uint32_t>(shape);
      ranked.use.repeat = static_cast<std::uint32_t>(repeat);
      WEIR_ASSIGN(ranked.use.offset, in.difference(before));
      before = ranked.use.offset;
      if (count > 1) {
        WEIR_ASSIGN(ranked.step, in.difference(0));
      }
    }
    for (std::uint64_t rank = 0; rank < count; ++rank) {
      for (RankedUse& ranked : uses) {
        table.uses.push_back(ranked.use);
        ranked.use.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(ranked.use.offset) +
                                                      static_cast<std::uint64_t>(ranked.step));
      }
      table.rank_begin.push_back(table.uses.size());
    }
  }
  if (found > version_without_calls) {
    WEIR_ASSIGN(table.collective_calls, in.number());
  }
  return {};
}

Result<Pattern> read_pattern(NumberReader& in, std::uint64_t found, std::uint64_t allowance) {
  WEIR_ASSIGN(const std::uint64_t ranks, in.number());
  if (ranks > most_ranks) return in.broken(fmt::format("is for {} ranks, more than {}", ranks, most_ranks));
  Pattern pattern(ranks);
  WEIR_ASSIGN(const std::uint64_t shapes, in.count(2));
  for (std::uint64_t at = 0; at < shapes; ++at) {
    Shape shape;
    WEIR_ASSIGN(shape.block, in.number());
    WEIR_ASSIGN(const std::uint64_t levels, in.count(2));
    if (levels > most_levels) return in.broken("has an access of too many levels");
    for (std::uint64_t level = 0; level < levels; ++level) {
      WEIR_ASSIGN(const std::uint64_t count, in.number());
      WEIR_ASSIGN(const std::int64_t stride, in.difference(0));
      shape.levels.push_back({count, stride});
    }
    if (pattern.shapes.number_of(shape) != at) return in.broken("has a shape twice");
  }
  WEIR_ASSIGN(const std::uint64_t files, in.count(3));
  if (files > most_files) return in.broken(fmt::format("has {} files, more than {}", files, most_files));
  for (std::uint64_t at = 0; at < files; ++at) {
    WEIR_ASSIGN(const std::string_view name, in.text());
    FilePattern& file = pattern.add_file(std::string(name));
    WEIR_TRY(read_table(in, found, ranks, allowance, file.reads));
    WEIR_TRY(read_table(in, found, ranks, allowance, file.writes));
  }
  if (!in.done()) return in.broken("goes on behind its end");
  return pattern;
}

}  // namespace

std::string encode(const Pattern& pattern) {
  NumberWriter out;
  out.number(pattern.ranks);
  out.number(pattern.shapes.size());
  for (std::uint32_t at = 0; at < pattern.shapes.size(); ++at) {
    const Shape& shape = pattern.shapes[at];
    out.number(shape.block);
    out.number(shape.levels.size());
    for (const Level& level : shape.levels) {
      out.number(level.count);
      out.difference(0, level.stride);
    }
  }
  out.number(pattern.files.size());
  for (const FilePattern& file : pattern.files) {
    out.text(file.name);
    write_table(out, file.reads);
    write_table(out, file.writes);
  }
  const std::string body = out.take();
  return PackedHeader::of(version, body).text() + body;
}

Result<Pattern> decode(std::string_view bytes, std::uint64_t allowance) {
  WEIR_ASSIGN(const PackedHeader header, PackedHeader::read(bytes));
  const std::uint64_t found = header.version;
  if (found != version && found != version_without_calls)
    return fail(ErrorCode::unsupported,
                fmt::format("a pattern file of version {}; this is for versions {} and {}", found,
                            version_without_calls, version),
                "record the program again with this version of Weir");
  const std::string_view body = bytes.substr(PackedHeader::size);
  WEIR_TRY(header.check(body));
  NumberReader in(body);
  WEIR_ASSIGN(Pattern pattern, read_pattern(in, found, allowance + body.size()));
  if (const Status sound = pattern.check(); !sound)
    return fail(ErrorCode::corrupt, "the pattern file is damaged: " + sound.error().message(),
                "record the program again");
  return pattern;
}

Status save(const Pattern& pattern, const std::filesystem::path& path) {
  return in(write_text_atomically(path, encode(pattern)), "save the pattern", path.string());
}

Result<Pattern> load(const std::filesystem::path& path, std::optional<std::uint64_t> ranks) {
  WEIR_ASSIGN(const std::string bytes, read_text(path));
  WEIR_ASSIGN(Pattern pattern, in(decode(bytes), "load the pattern", path.string()));
  if (ranks && *ranks != pattern.ranks) {
    auto mismatch = fail(ErrorCode::invalid_argument,
                         fmt::format("the pattern is of {} ranks, not {}", pattern.ranks, *ranks),
                         fmt::format("use {} ranks, or record the program with {}", pattern.ranks, *ranks));
    return in(Result<Pattern>(mismatch), "load the pattern", path.string());
  }
  return pattern;
}

}  // namespace weir::pattern
