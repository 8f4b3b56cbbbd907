#include "pattern/type_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace weir::pattern {

namespace {

constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();

tl::unexpected<Failure> too_large() {
  return fail(ErrorCode::invalid_argument, "a data type is larger than any file or memory");
}

bool add(std::int64_t a, std::int64_t b, std::int64_t& sum) {
  return !__builtin_add_overflow(a, b, &sum);
}

bool same(const Placed& a, const Placed& b) {
  if (a.node == b.node) return true;
  return a.node->is_block() && b.node->is_block() && a.node->size == b.node->size;
}

// Blocks that touch become one.
Result<std::vector<Placed>> merge_blocks(std::vector<Placed> parts) {
  std::vector<Placed> merged;
  for (std::size_t at = 0; at < parts.size();) {
    if (!parts[at].node) {
      ++at;
      continue;
    }
    Placed here = parts[at++];
    if (here.node->is_block()) {
      std::uint64_t size = here.node->size;
      for (; at < parts.size(); ++at) {
        if (!parts[at].node) continue;
        std::int64_t end = 0;
        if (!parts[at].node->is_block() || !add(here.offset, static_cast<std::int64_t>(size), end) ||
            parts[at].offset != end)
          break;
        size += parts[at].node->size;
        if (size > most) return too_large();
      }
      if (size != here.node->size) {
        const std::int64_t offset = here.offset;
        WEIR_ASSIGN(here, make_block(size));
        here.offset = offset;
      }
    }
    merged.push_back(std::move(here));
  }
  return merged;
}

// Three or more of the same at a constant distance become a loop.
Result<std::vector<Placed>> merge_runs(std::vector<Placed> parts) {
  std::vector<Placed> merged;
  for (std::size_t at = 0; at < parts.size();) {
    std::size_t end = at + 1;
    std::int64_t stride = 0;
    if (end < parts.size() && same(parts[at], parts[end]) &&
        !__builtin_sub_overflow(parts[end].offset, parts[at].offset, &stride)) {
      std::int64_t next = parts[end].offset;
      for (++end; end < parts.size() && same(parts[at], parts[end]); ++end) {
        if (!add(next, stride, next) || parts[end].offset != next) break;
      }
    }
    if (end - at >= 3) {
      const std::int64_t offset = parts[at].offset;
      WEIR_ASSIGN(Placed loop, make_loop(end - at, stride, {0, parts[at].node}));
      WEIR_ASSIGN(loop, shifted(std::move(loop), offset));
      merged.push_back(std::move(loop));
      at = end;
    } else {
      merged.push_back(std::move(parts[at++]));
    }
  }
  return merged;
}

}  // namespace

Result<Placed> make_block(std::uint64_t size) {
  if (size == 0) return Placed{};
  if (size > most) return too_large();
  auto node = std::make_shared<TypeNode>();
  node->size = size;
  node->upper = static_cast<std::int64_t>(size);
  return Placed{0, std::move(node)};
}

Result<Placed> shifted(Placed placed, std::int64_t by) {
  if (!placed.node) return placed;
  std::int64_t edge = 0;
  if (!add(placed.offset, by, placed.offset) || !add(placed.offset, placed.node->lower, edge) ||
      !add(placed.offset, placed.node->upper, edge))
    return too_large();
  return placed;
}

Result<Placed> make_loop(std::uint64_t count, std::int64_t stride, const Placed& body) {
  if (count == 0 || !body.node) return Placed{};
  if (count == 1) return body;
  auto node = std::make_shared<TypeNode>();
  std::int64_t reach = 0;
  if (count > most || __builtin_mul_overflow(count, body.node->size, &node->size) || node->size > most ||
      __builtin_mul_overflow(static_cast<std::int64_t>(count - 1), stride, &reach) ||
      !add(body.node->lower, std::min<std::int64_t>(reach, 0), node->lower) ||
      !add(body.node->upper, std::max<std::int64_t>(reach, 0), node->upper))
    return too_large();
  Placed result;
  if (body.node->is_block() && stride == static_cast<std::int64_t>(body.node->size)) {
    WEIR_ASSIGN(result, make_block(node->size));
  } else {
    node->count = count;
    node->stride = stride;
    node->body = {0, body.node};
    const TypeNode& inside = *body.node;
    std::int64_t length = 0;
    if (inside.count > 0 &&
        !__builtin_mul_overflow(static_cast<std::int64_t>(inside.count), inside.stride, &length) &&
        length == stride && inside.count <= most / count) {
      node->count = count * inside.count;
      node->stride = inside.stride;
      node->body = inside.body;
    }
    result.node = std::move(node);
  }
  return shifted(std::move(result), body.offset);
}

Result<Placed> make_list(std::vector<Placed> parts) {
  WEIR_ASSIGN(parts, merge_blocks(std::move(parts)));
  WEIR_ASSIGN(parts, merge_runs(std::move(parts)));
  if (parts.empty()) return Placed{};
  if (parts.size() == 1) return parts.front();
  auto node = std::make_shared<TypeNode>();
  node->lower = std::numeric_limits<std::int64_t>::max();
  node->upper = std::numeric_limits<std::int64_t>::min();
  for (const Placed& part : parts) {
    std::int64_t lower = 0, upper = 0;
    node->before.push_back(node->size);
    if (__builtin_add_overflow(node->size, part.node->size, &node->size) || node->size > most ||
        !add(part.offset, part.node->lower, lower) || !add(part.offset, part.node->upper, upper))
      return too_large();
    node->lower = std::min(node->lower, lower);
    node->upper = std::max(node->upper, upper);
  }
  node->parts = std::move(parts);
  return Placed{0, std::move(node)};
}

// Bounds were checked when the type was made, and by View for where it stands in the file; so offsets inside
// of a type do not overflow.
Status Emit::whole(const Placed& placed, std::int64_t origin) {
  const TypeNode& node = *placed.node;
  const std::int64_t at = origin + placed.offset;
  if (node.is_block()) {
    if (out.size() >= limit)
      return fail(ErrorCode::unsupported,
                  fmt::format("a data type is too irregular: more than {} parts", limit),
                  "use fewer blocks in one type");
    out.push_back({at, {node.size, levels}, 1});
    return {};
  }
  if (node.count > 0) {
    levels.push_back({node.count, node.stride});
    const Status done = whole(node.body, at);
    levels.pop_back();
    return done;
  }
  for (const Placed& part : node.parts) WEIR_TRY(whole(part, at));
  return {};
}

Status Emit::part(const Placed& placed, std::int64_t origin, std::uint64_t begin, std::uint64_t end) {
  const TypeNode& node = *placed.node;
  if (begin == 0 && end == node.size) return whole(placed, origin);
  const std::int64_t at = origin + placed.offset;
  if (node.is_block()) {
    if (out.size() >= limit) return fail(ErrorCode::unsupported, "a data type is too irregular");
    out.push_back({at + static_cast<std::int64_t>(begin), {end - begin, levels}, 1});
    return {};
  }
  if (node.count > 0) {
    const std::uint64_t each = node.body.node->size;
    const std::uint64_t first = begin / each, last = (end - 1) / each;
    const auto place = [&](std::uint64_t index) {
      return at + static_cast<std::int64_t>(index) * node.stride;
    };
    if (first == last) return part(node.body, place(first), begin - first * each, end - first * each);
    std::uint64_t full = first;
    if (begin % each != 0) WEIR_TRY(part(node.body, place(full++), begin % each, each));
    const std::uint64_t full_end = end / each;
    if (full < full_end) {
      levels.push_back({full_end - full, node.stride});
      const Status done = whole(node.body, place(full));
      levels.pop_back();
      WEIR_TRY(done);
    }
    if (end % each != 0) WEIR_TRY(part(node.body, place(full_end), 0, end % each));
    return {};
  }
  auto index = static_cast<std::size_t>(std::upper_bound(node.before.begin(), node.before.end(), begin) -
                                        node.before.begin() - 1);
  for (; index < node.parts.size() && node.before[index] < end; ++index) {
    const std::uint64_t before = node.before[index], size = node.parts[index].node->size;
    WEIR_TRY(part(node.parts[index], at, begin > before ? begin - before : 0, std::min(end - before, size)));
  }
  return {};
}

}  // namespace weir::pattern
