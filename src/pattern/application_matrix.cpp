#include "pattern/application_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "pattern/pair_sums.hpp"

namespace weir::pattern {

namespace {

// An access, or what is left of it: the shape without its first `skip` levels, the next of which has `count`
// parts.
struct Item {
  std::int64_t offset;
  std::uint64_t count;  // of the level after those skipped; 1 if there is none
  std::uint32_t rank;
  std::uint32_t shape;
  std::uint32_t repeat;
  std::uint32_t skip;
};

bool in_file_order(const Item& a, const Item& b) {
  return std::tie(a.offset, a.rank) < std::tie(b.offset, b.rank);
}

// A piece as far as its neighbours are concerned.
struct Mark {
  std::uint32_t rank = 0, repeat = 0;
  std::uint64_t bytes = 0;
};

// The first and the last piece of a part of the file.
struct Marks {
  Mark first, last;
};

class Sweep {
 public:
  Sweep(const ShapeTable& shapes, Weight weight, PairSums& sums)
      : shapes_(shapes), weight_(weight), sums_(sums) {}

  void run(const AccessTable& table) {
    std::vector<Item> items;
    items.reserve(table.uses.size());
    for (std::uint64_t rank = 0; rank < table.ranks(); ++rank) {
      for (const Use& use : table.of(rank)) {
        Item item{use.offset, 1, static_cast<std::uint32_t>(rank), use.shape, use.repeat, 0};
        settle(item);
        items.push_back(item);
      }
    }
    std::stable_sort(items.begin(), items.end(), in_file_order);
    if (!items.empty()) sweep(items, 1, 0);
  }

 private:
  const Level* level(const Item& item) const {
    const Shape& shape = shapes_[item.shape];
    return item.skip < shape.levels.size() ? &shape.levels[item.skip] : nullptr;
  }

  // Goes past levels of one part, and takes the count of the next one.
  void settle(Item& item) const {
    while (level(item) != nullptr && level(item)->count == 1) ++item.skip;
    item.count = level(item) != nullptr ? level(item)->count : 1;
  }

  // A single part of its outermost level.
  Item inside(Item item) const {
    ++item.skip;
    settle(item);
    return item;
  }

  std::int64_t stride(const Item& item) const { return level(item) != nullptr ? level(item)->stride : 0; }

  std::int64_t end_of_part(const Item& item) const {
    const Shape& shape = shapes_[item.shape];
    std::int64_t end = item.offset + static_cast<std::int64_t>(shape.block);
    for (std::size_t at = item.skip + 1; at < shape.levels.size(); ++at)
      end += static_cast<std::int64_t>(shape.levels[at].count - 1) * shape.levels[at].stride;
    return end;
  }

  std::int64_t end_of(const Item& item) const {
    return end_of_part(item) + static_cast<std::int64_t>(item.count - 1) * stride(item);
  }

  Mark mark(const Item& item) const { return {item.rank, item.repeat, shapes_[item.shape].block}; }

  void link(const Mark& a, const Mark& b, double times) {
    if (a.rank == b.rank || times == 0) return;
    double value = times * std::min(a.repeat, b.repeat);
    if (weight_ == Weight::bytes) value *= static_cast<double>(std::min(a.bytes, b.bytes));
    sums_.add(a.rank, b.rank, value);
  }

  // All items, in file order, each `times` times. Groups of items that overlap are looked into; the others
  // follow each other as wholes.
  Marks sweep(std::span<const Item> items, double times, unsigned depth) {
    Chain chain(*this, times);
    for (std::size_t begin = 0; begin < items.size();) {
      std::int64_t reach = end_of(items[begin]);
      std::size_t end = begin + 1;
      while (end < items.size() && items[end].offset < reach) reach = std::max(reach, end_of(items[end++]));
      chain.append(end - begin == 1 ? Marks{mark(items[begin]), mark(items[begin])}
                                    : sweep_group(items.subspan(begin, end - begin), times, depth));
      begin = end;
    }
    return chain.marks;
  }

  // Items that overlap as wholes. They are cut into periods of the longest stride: what lies in one period
  // and is repeated in the next ones is swept once.
  Marks sweep_group(std::span<const Item> items, double times, unsigned depth) {
    std::int64_t period = 0;
    for (const Item& item : items) period = std::max(period, stride(item));
    Chain chain(*this, times);
    if (period == 0) {
      for (const Item& item : items) chain.append({mark(item), mark(item)});
      return chain.marks;
    }
    // Strides that differ from item to item make no progress by periods.
    if (depth > most_levels) return expand(items, {}, 0, times, depth);
    std::vector<Item> live;  // what is left of items of earlier periods, in file order
    std::vector<Item> window, parts;
    std::size_t next = 0;
    while (next < items.size() || !live.empty()) {
      std::int64_t base = INT64_MAX;
      if (!live.empty()) base = live.front().offset;
      if (next < items.size()) base = std::min(base, items[next].offset);
      const auto in_window = [&](const Item& item) { return item.offset - base < period; };
      std::size_t stop = next;
      while (stop < items.size() && in_window(items[stop])) ++stop;
      window.resize(live.size() + (stop - next));
      std::merge(live.begin(), live.end(), items.begin() + static_cast<std::ptrdiff_t>(next),
                 items.begin() + static_cast<std::ptrdiff_t>(stop), window.begin(), in_file_order);

      bool fits = true;
      std::uint64_t periods =
          stop < items.size() ? static_cast<std::uint64_t>((items[stop].offset - base) / period) : UINT64_MAX;
      parts.clear();
      for (const Item& item : window) {
        const bool repeats = stride(item) == period;
        const std::int64_t end = repeats ? end_of_part(item) : end_of(item);
        fits = fits && end - base <= period;
        periods = std::min(periods, repeats ? item.count : 1);
        parts.push_back(repeats ? inside(item) : item);
      }
      if (!fits) {
        chain.append(expand(window, items.subspan(stop), period, times, depth));
        return chain.marks;
      }
      const Marks part = sweep(parts, times * static_cast<double>(periods), depth + 1);
      link(part.last, part.first, times * static_cast<double>(periods - 1));
      chain.append(part);
      live.clear();
      for (Item item : window) {
        if (stride(item) != period || item.count == periods) continue;
        item.offset += static_cast<std::int64_t>(periods) * period;
        item.count -= periods;
        live.push_back(item);
      }
      next = stop;
    }
    return chain.marks;
  }

  // Where parts of one period reach into the next one: each part of the longest stride by itself, in file
  // order, swept in groups of those that overlap. `period` 0: parts of any stride.
  Marks expand(std::span<const Item> some, std::span<const Item> more, std::int64_t period, double times,
               unsigned depth) {
    const auto later = [](const Item& a, const Item& b) { return in_file_order(b, a); };
    std::vector<Item> heap(some.begin(), some.end());
    heap.insert(heap.end(), more.begin(), more.end());
    std::make_heap(heap.begin(), heap.end(), later);
    Chain chain(*this, times);
    std::vector<Item> group;
    std::int64_t reach = 0;
    const auto flush = [&] {
      if (!group.empty()) chain.append(sweep(group, times, depth + 1));
      group.clear();
    };
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      Item item = heap.back();
      heap.pop_back();
      const std::int64_t apart = stride(item);
      const Item part = apart > 0 && (period == 0 || apart == period) ? inside(item) : item;
      if (part.offset >= reach) flush();
      reach = std::max(reach, end_of(part));
      group.push_back(part);
      if (part.skip != item.skip && item.count > 1) {
        item.offset += apart;
        --item.count;
        heap.push_back(item);
        std::push_heap(heap.begin(), heap.end(), later);
      }
    }
    flush();
    return chain.marks;
  }

  // Parts of a file that follow each other.
  struct Chain {
    Chain(Sweep& owner, double how_often) : sweep(owner), times(how_often) {}
    void append(const Marks& part) {
      if (any) {
        sweep.link(marks.last, part.first, times);
        marks.last = part.last;
      } else {
        marks = part;
        any = true;
      }
    }
    Sweep& sweep;
    double times;
    Marks marks{};
    bool any = false;
  };

  const ShapeTable& shapes_;
  Weight weight_;
  PairSums& sums_;
};

}  // namespace

SparseMatrix application_matrix(const Pattern& pattern, const MatrixRequest& request) {
  PairSums sums;
  Sweep sweep(pattern.shapes, request.weight, sums);
  for (std::size_t file = 0; file < pattern.files.size(); ++file) {
    if (request.file.value_or(file) != file) continue;
    for (const Direction direction : {Direction::read, Direction::write}) {
      if (request.direction.value_or(direction) == direction)
        sweep.run(table_of(pattern.files[file], direction));
    }
  }
  return from_pairs(pattern.ranks, sums.pairs());
}

Result<SparseMatrix> cartesian_matrix(const CartesianMatrix& request) {
  std::uint64_t ranks = 1;
  for (const std::uint64_t count : request.processes) {
    if (count == 0 || count > most_ranks || (ranks *= count) > most_ranks)
      return fail(ErrorCode::invalid_argument, fmt::format("a grid of {} processes; 1 to {} ranks can be",
                                                           fmt::join(request.processes, "x"), most_ranks));
  }
  if (request.processes.empty()) return fail(ErrorCode::invalid_argument, "a grid without dimensions");
  const std::uint64_t row = ranks / request.processes.front();
  const bool clique = row <= request.longest_clique;
  std::vector<Triple> pairs;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const std::uint64_t row_end = (rank / row + 1) * row;
    const std::uint64_t end = clique ? row_end : std::min(row_end, rank + 2);
    const auto from = static_cast<std::uint32_t>(rank);
    for (std::uint64_t other = rank + 1; other < end; ++other)
      pairs.push_back({from, static_cast<std::uint32_t>(other), request.strong});
    if (rank + row < ranks) pairs.push_back({from, static_cast<std::uint32_t>(rank + row), request.weak});
  }
  return from_pairs(ranks, pairs);
}

}  // namespace weir::pattern
