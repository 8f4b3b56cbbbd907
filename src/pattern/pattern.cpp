#include "pattern/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "core/options.hpp"

namespace weir::pattern {

namespace {

std::size_t hash(const Shape& shape) {
  std::uint64_t result = shape.block;
  const auto mix = [&result](std::uint64_t value) {
    result = (result ^ value) * 0x9e3779b97f4a7c15ULL;
    result ^= result >> 29U;
  };
  for (const Level& level : shape.levels) {
    mix(level.count);
    mix(static_cast<std::uint64_t>(level.stride));
  }
  return result;
}

Status check_table(const Pattern& pattern, const AccessTable& table,
                   const std::vector<std::uint64_t>& spans) {
  const auto wrong = [](std::string what) { return fail(ErrorCode::invalid_argument, std::move(what)); };
  if (table.rank_begin.empty() || table.rank_begin.front() != 0 ||
      table.rank_begin.back() != table.uses.size())
    return wrong("the table of accesses is broken");
  if (table.ranks() > pattern.ranks)
    return wrong(fmt::format("rank {} of {} does not exist", table.ranks() - 1, pattern.ranks));
  for (std::uint64_t rank = 0; rank < table.ranks(); ++rank) {
    if (table.rank_begin[rank] > table.rank_begin[rank + 1] || table.rank_begin[rank + 1] > table.uses.size())
      return wrong(fmt::format("rank {}: the table of accesses is broken", rank));
    for (const Use& use : table.of(rank)) {
      if (use.shape >= pattern.shapes.size())
        return wrong(
            fmt::format("rank {}: shape {} of {} does not exist", rank, use.shape, pattern.shapes.size()));
      if (use.repeat == 0) return wrong(fmt::format("rank {}: an access repeated 0 times", rank));
      if (use.offset < 0 || spans[use.shape] > static_cast<std::uint64_t>(
                                                   std::numeric_limits<std::int64_t>::max() - use.offset))
        return wrong(
            fmt::format("rank {}: an access at offset {} leaves the largest file", rank, use.offset));
    }
  }
  return {};
}

}  // namespace

std::uint32_t ShapeTable::number_of(const Shape& shape) {
  const std::size_t key = hash(shape);
  const auto [begin, end] = by_hash_.equal_range(key);
  for (auto at = begin; at != end; ++at) {
    if (shapes_[at->second] == shape) return at->second;
  }
  const auto number = static_cast<std::uint32_t>(shapes_.size());
  shapes_.push_back(shape);
  by_hash_.emplace(key, number);
  return number;
}

FilePattern& Pattern::add_file(std::string name) {
  return files.emplace_back(FilePattern{.name = std::move(name)});
}

void Pattern::add(AccessTable& table, std::uint64_t rank, const Access& access) {
  if (rank >= ranks) throw std::logic_error(fmt::format("rank {} of {} does not exist", rank, ranks));
  if (rank + 1 < table.ranks())
    throw std::logic_error(
        fmt::format("accesses of rank {} after those of rank {}", rank, table.ranks() - 1));
  if (table.rank_begin.size() < rank + 2) table.rank_begin.resize(rank + 2, table.uses.size());
  table.uses.push_back({access.offset, shapes.number_of(access.shape), access.repeat});
  table.rank_begin.back() = table.uses.size();
}

Totals Pattern::totals(const AccessTable& table) const {
  std::vector<std::uint64_t> pieces_of(shapes.size()), bytes_of(shapes.size()), span_of(shapes.size());
  for (std::uint32_t shape = 0; shape < shapes.size(); ++shape) {
    pieces_of[shape] = pieces(shapes[shape]);
    bytes_of[shape] = bytes(shapes[shape]);
    span_of[shape] = span(shapes[shape]);
  }
  Totals totals{.accesses = table.uses.size()};
  if (table.uses.empty()) return totals;
  totals.begin = std::numeric_limits<std::int64_t>::max();
  for (const Use& use : table.uses) {
    totals.pieces += pieces_of[use.shape] * use.repeat;
    totals.bytes += bytes_of[use.shape] * use.repeat;
    totals.begin = std::min(totals.begin, use.offset);
    totals.end = std::max(totals.end, use.offset + static_cast<std::int64_t>(span_of[use.shape]));
  }
  for (std::uint64_t rank = 0; rank < table.ranks(); ++rank) totals.ranks += table.of(rank).empty() ? 0 : 1;
  return totals;
}

Status Pattern::check() const {
  if (ranks == 0 || ranks > most_ranks)
    return fail(ErrorCode::invalid_argument,
                fmt::format("a pattern of {} ranks; 1 to {} can be", ranks, most_ranks));
  std::vector<std::uint64_t> spans(shapes.size());
  for (std::uint32_t shape = 0; shape < shapes.size(); ++shape) {
    WEIR_TRY(in(pattern::check(shapes[shape]), [&] { return fmt::format("check shape {}", shape); }));
    spans[shape] = span(shapes[shape]);
  }
  for (const FilePattern& file : files) {
    WEIR_TRY(in(check_table(*this, file.reads, spans), "check reads", file.name));
    WEIR_TRY(in(check_table(*this, file.writes, spans), "check writes", file.name));
  }
  return {};
}

AccessTable& table_of(FilePattern& file, Direction direction) {
  return direction == Direction::read ? file.reads : file.writes;
}

const AccessTable& table_of(const FilePattern& file, Direction direction) {
  return direction == Direction::read ? file.reads : file.writes;
}

Result<std::size_t> find_file(const Pattern& pattern, const std::string& name) {
  if (pattern.files.empty()) return fail(ErrorCode::not_found, "the pattern has no file");
  std::vector<std::string> names;
  for (std::size_t file = 0; file < pattern.files.size(); ++file) {
    if (pattern.files[file].name == name) return file;
    names.push_back(pattern.files[file].name);
  }
  if (!name.empty())
    return fail(ErrorCode::not_found,
                fmt::format("the pattern has no file '{}'{}", name, suggest(name, names)));
  if (pattern.files.size() == 1) return std::size_t{0};
  return fail(ErrorCode::invalid_argument, fmt::format("the pattern has {} files", pattern.files.size()),
              fmt::format("say which one: '{}'", fmt::join(names, "', '")));
}

namespace {

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const Level& level : shape.levels) text += fmt::format("{} x (every {}) ", level.count, level.stride);
  return text + fmt::format("{} bytes", shape.block);
}

void describe_table(const Pattern& pattern, const AccessTable& table, std::string_view what,
                    std::string& out) {
  const Totals totals = pattern.totals(table);
  if (totals.accesses == 0) return;
  out += fmt::format("  {} by {} of {} ranks, {} in {} pieces, offsets {} to {}\n", what, totals.ranks,
                     pattern.ranks, format_bytes(totals.bytes), totals.pieces, totals.begin, totals.end);
  if (table.collective_calls != 0)
    out += fmt::format("    in {} collective call{}\n", table.collective_calls,
                       table.collective_calls == 1 ? "" : "s");
  std::vector<std::uint64_t> uses(pattern.shapes.size(), 0);
  for (const Use& use : table.uses) ++uses[use.shape];
  std::vector<std::uint32_t> order(uses.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t shown = std::min<std::size_t>(3, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
      [&](std::uint32_t a, std::uint32_t b) { return uses[a] != uses[b] ? uses[a] > uses[b] : a < b; });
  for (std::size_t at = 0; at < shown && uses[order[at]] > 0; ++at)
    out += fmt::format("    {:>8} times  {}\n", uses[order[at]], shape_text(pattern.shapes[order[at]]));
}

}  // namespace

std::string summary(const Pattern& pattern) {
  std::string out = fmt::format("{} ranks, {} file{}\n", pattern.ranks, pattern.files.size(),
                                pattern.files.size() == 1 ? "" : "s");
  for (const FilePattern& file : pattern.files) {
    out += fmt::format("{}\n", file.name);
    describe_table(pattern, file.writes, "written", out);
    describe_table(pattern, file.reads, "read", out);
    if (file.reads.uses.empty() && file.writes.uses.empty())
      out += "  opened, but nothing was read or written\n";
  }
  return out;
}

}  // namespace weir::pattern
