#include "pattern/pattern_file.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>
#include <limits>

#include "core/file.hpp"

namespace weir::pattern {

namespace {

constexpr std::string_view magic = "WEIRPATT";
constexpr std::uint64_t version = 2;
constexpr std::uint64_t version_without_calls = 1;
constexpr std::size_t header_size = 32;  // magic, version, length of the rest, its checksum

void put_fixed(std::string& out, std::uint64_t value) {
  for (unsigned shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(value >> shift & 0xffU));
}

std::uint64_t get_fixed(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (unsigned byte = 0; byte < 8; ++byte)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + byte])} << (8 * byte);
  return value;
}

// Seven bits a byte, the lowest first.
class Writer {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) out_.push_back(static_cast<char>(value | 0x80U));
    out_.push_back(static_cast<char>(value));
  }
  // Small numbers of either sign become small numbers. Differences wrap around, here and in the reader.
  void difference(std::int64_t from, std::int64_t to) {
    const std::uint64_t value = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
    number(value << 1U ^ (value >> 63U ? ~std::uint64_t{0} : 0));
  }
  void text(std::string_view value) {
    number(value.size());
    out_ += value;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  Result<std::uint64_t> number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) return broken("ends in the middle of a number");
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    return broken("has a number beyond 64 bits");
  }
  // A number of things each of which takes at least `each` bytes.
  Result<std::uint64_t> count(std::uint64_t each) {
    WEIR_ASSIGN(const std::uint64_t value, number());
    if (value > (bytes_.size() - at_) / each) return broken("announces more than it holds");
    return value;
  }
  Result<std::int64_t> difference(std::int64_t from) {
    WEIR_ASSIGN(const std::uint64_t value, number());
    const std::uint64_t change = value >> 1U ^ (value & 1U ? ~std::uint64_t{0} : 0);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(from) + change);
  }
  Result<std::string> text() {
    WEIR_ASSIGN(const std::uint64_t size, count(1));
    at_ += size;
    return std::string(bytes_.substr(at_ - size, size));
  }
  bool done() const { return at_ == bytes_.size(); }
  tl::unexpected<Failure> broken(std::string_view what) const {
    return fail(ErrorCode::corrupt, fmt::format("the pattern file {} (at byte {})", what, header_size + at_));
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

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

void write_table(Writer& out, const AccessTable& table) {
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

Status read_table(Reader& in, std::uint64_t found, std::uint64_t ranks, std::uint64_t& allowance,
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

Result<Pattern> read_pattern(Reader& in, std::uint64_t found, std::uint64_t allowance) {
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
    WEIR_ASSIGN(auto name, in.text());
    FilePattern& file = pattern.add_file(std::move(name));
    WEIR_TRY(read_table(in, found, ranks, allowance, file.reads));
    WEIR_TRY(read_table(in, found, ranks, allowance, file.writes));
  }
  if (!in.done()) return in.broken("goes on behind its end");
  return pattern;
}

}  // namespace

std::string encode(const Pattern& pattern) {
  Writer out;
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
  std::string bytes(magic);
  put_fixed(bytes, version);
  put_fixed(bytes, body.size());
  put_fixed(bytes, XXH3_64bits(body.data(), body.size()));
  return bytes + body;
}

Result<Pattern> decode(std::string_view bytes, std::uint64_t allowance) {
  const auto corrupt = [](std::string what, std::string advice) {
    return fail(ErrorCode::corrupt, std::move(what), std::move(advice));
  };
  if (bytes.size() < magic.size() || bytes.substr(0, magic.size()) != magic)
    return corrupt("this is no pattern file", "make one with weir record");
  if (bytes.size() < header_size) return corrupt("the pattern file is truncated", "record the program again");
  const std::uint64_t found = get_fixed(bytes, 8);
  if (found != version && found != version_without_calls)
    return fail(ErrorCode::unsupported,
                fmt::format("a pattern file of version {}; this is for versions {} and {}", found,
                            version_without_calls, version),
                "record the program again with this version of Weir");
  const std::string_view body = bytes.substr(header_size);
  const std::uint64_t size = get_fixed(bytes, 16);
  if (size > body.size())
    return corrupt(fmt::format("the pattern file is truncated: {} of {} bytes are there", body.size(), size),
                   "record the program again");
  if (size < body.size())
    return corrupt("the pattern file goes on behind its end", "record the program again");
  if (XXH3_64bits(body.data(), body.size()) != get_fixed(bytes, 24))
    return corrupt("the pattern file is damaged: its checksum is wrong", "record the program again");
  Reader in(body);
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
