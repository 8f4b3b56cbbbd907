#include "aggregation/domains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace weir::aggregation {

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

__extension__ typedef unsigned __int128 Wide;  // NOLINT(modernize-use-using): the keyword needs it

// floor(a * b / c) of numbers whose product may need 128 bits.
std::uint64_t scaled(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b / c);
}

}  // namespace

Domains Domains::even(std::uint64_t begin, std::uint64_t end, std::uint32_t aggregators) {
  require(aggregators > 0 && begin <= end, "file domains need an aggregator and a range");
  Domains domains;
  domains.begin_ = begin;
  domains.end_ = end;
  domains.aggregators_ = aggregators;
  return domains;
}

Domains Domains::aligned(std::uint64_t begin, std::uint64_t end, std::uint32_t aggregators,
                         const Striping& striping) {
  require(striping.known(), "aligned file domains need stripes");
  Domains domains = even(begin, end, aggregators);
  domains.kind_ = DomainKind::aligned;
  domains.unit_ = striping.unit;
  return domains;
}

Domains Domains::cyclic(std::uint64_t begin, std::uint64_t end, std::uint32_t aggregators,
                        const Striping& striping) {
  require(striping.known() && striping.factor > 0, "cyclic file domains need stripes");
  Domains domains = aligned(begin, end, aggregators, striping);
  domains.kind_ = DomainKind::cyclic;
  domains.targets_ = striping.factor;
  return domains;
}

Domains::Part Domains::part_at(std::uint64_t offset) const {
  require(offset >= begin_ && offset < end_, "a byte outside of all file domains");
  if (kind_ == DomainKind::even) {
    // Domain k is [length*k/A, length*(k+1)/A): the first k whose end is behind the byte.
    const std::uint64_t length = end_ - begin_;
    std::uint64_t k = scaled(offset - begin_, aggregators_, length);
    while (scaled(length, k + 1, aggregators_) <= offset - begin_) ++k;
    return {static_cast<std::uint32_t>(k), begin_ + scaled(length, k + 1, aggregators_)};
  }
  const std::uint64_t stripe = offset / unit_;
  if (kind_ == DomainKind::aligned) {
    const std::uint64_t first = begin_ / unit_;
    const std::uint64_t stripes = (end_ - 1) / unit_ - first + 1;
    std::uint64_t k = scaled(stripe - first, aggregators_, stripes);
    while (scaled(stripes, k + 1, aggregators_) <= stripe - first) ++k;
    return {static_cast<std::uint32_t>(k),
            std::min(end_, (first + scaled(stripes, k + 1, aggregators_)) * unit_)};
  }
  const std::uint64_t part_end = std::min(end_, (stripe + 1) * unit_);
  const auto target = static_cast<std::uint32_t>(stripe % targets_);
  if (aggregators_ < targets_) return {target % aggregators_, part_end};
  const std::uint32_t servers = (aggregators_ - target + targets_ - 1) / targets_;  // target, target+T, ...
  const auto turn = static_cast<std::uint32_t>(stripe / targets_ % servers);
  return {target + turn * targets_, part_end};
}

void Domains::for_each_part(std::uint32_t aggregator, std::uint64_t begin, std::uint64_t end,
                            const std::function<void(std::uint64_t, std::uint64_t)>& visit) const {
  begin = std::max(begin, begin_);
  end = std::min(end, end_);
  while (begin < end) {
    const Part part = part_at(begin);
    const std::uint64_t to = std::min(end, part.end);
    if (part.aggregator == aggregator) visit(begin, to);
    begin = to;
  }
}

bool Domains::move_with(std::int64_t shift) const {
  if (kind_ == DomainKind::even || shift == 0) return true;
  const std::uint64_t distance =
      shift < 0 ? 0 - static_cast<std::uint64_t>(shift) : static_cast<std::uint64_t>(shift);
  if (distance % unit_ != 0) return false;
  if (kind_ == DomainKind::aligned) return true;
  // Turns repeat after lcm of all numbers of servers; a shift by a whole turn of all aggregators is enough to
  // ask for.
  const std::uint64_t servers = aggregators_ < targets_ ? 1 : aggregators_ / targets_;
  const bool uneven = aggregators_ > targets_ && aggregators_ % targets_ != 0;
  return distance / unit_ % (targets_ * servers * (uneven ? servers + 1 : 1)) == 0;
}

Domains Domains::moved(std::int64_t shift) const {
  require(move_with(shift), "file domains that cannot be moved were moved");
  Domains domains = *this;
  domains.begin_ += static_cast<std::uint64_t>(shift);
  domains.end_ += static_cast<std::uint64_t>(shift);
  return domains;
}

Status check(const Domains& domains, std::uint64_t most) {
  std::uint64_t at = domains.begin();
  for (std::uint64_t i = 0; i < most && at < domains.end(); ++i) {
    const Domains::Part part = domains.part_at(at);
    if (part.aggregator >= domains.aggregators())
      return fail(ErrorCode::invalid_argument, fmt::format("byte {} belongs to aggregator {} of {}", at,
                                                           part.aggregator, domains.aggregators()));
    if (part.end <= at || part.end > domains.end())
      return fail(ErrorCode::invalid_argument, fmt::format("the part of byte {} ends at {}", at, part.end));
    const Domains::Part last = domains.part_at(part.end - 1);
    if (last.aggregator != part.aggregator || last.end != part.end)
      return fail(ErrorCode::invalid_argument, fmt::format("the part of byte {} is not one part", at));
    at = part.end;
  }
  return {};
}

std::vector<Rows> by_aggregator(std::span<const Row> rows, const Domains& domains) {
  std::vector<RowBuilder> builders(domains.aggregators());
  for (const Row& row : rows) {
    std::uint64_t at = row.offset;
    const std::uint64_t row_end = row.end();
    while (at < row_end) {
      const Domains::Part part = domains.part_at(at);
      clip(row, at, part.end, builders[part.aggregator]);
      at = part.end;
      if (row.count > 1 && at < row_end) {  // on to the next byte of the row: a hole may span many parts
        const std::uint64_t piece = (at - row.offset) / row.stride;
        if (at >= row.begin_of(piece) + row.length) at = row.begin_of(piece + 1);
      }
    }
  }
  std::vector<Rows> all(domains.aggregators());
  for (std::size_t a = 0; a < all.size(); ++a) all[a] = builders[a].take();
  return all;
}

}  // namespace weir::aggregation
