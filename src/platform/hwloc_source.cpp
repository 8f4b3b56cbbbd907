#include "platform/hwloc_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "platform/hwloc_handles.hpp"
#include "platform/node_builder.hpp"

namespace weir {

namespace {

constexpr std::size_t longest_synthetic = 4096;
constexpr std::uint64_t most_synthetic_pus =
    4096;  // hwloc takes quadratic time and more: 65,536 in a row are minutes

tl::unexpected<Failure> hwloc_failure(std::string_view what) {
  return fail(ErrorCode::io, fmt::format("hwloc: {} failed", what));
}

Result<HwlocTopology> new_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return hwloc_failure("making a topology");
  return HwlocTopology(raw);
}

NodeBuilder::Object describe(hwloc_obj_t object) {
  using Kind = NodeBuilder::Kind;
  NodeBuilder::Object result{.os_number = object->os_index};
  switch (object->type) {
    case HWLOC_OBJ_MACHINE:
      result.kind = Kind::machine;
      break;
    case HWLOC_OBJ_PACKAGE:
      result.kind = Kind::package;
      break;
    case HWLOC_OBJ_CORE:
      result.kind = Kind::core;
      break;
    case HWLOC_OBJ_PU:
      result.kind = Kind::pu;
      break;
    case HWLOC_OBJ_MEMCACHE:
      result.kind = Kind::memory_cache;
      break;
    case HWLOC_OBJ_NUMANODE:
      result.kind = Kind::numa;
      result.bytes = object->attr->numanode.local_memory;
      break;
    default:
      if (hwloc_obj_type_is_dcache(object->type) != 0) {
        result.kind = Kind::cache;
        result.cache_level = object->attr->cache.depth;
        result.bytes = object->attr->cache.size;
      }
  }
  return result;
}

Status walk(hwloc_obj_t object, NodeBuilder& builder) {
  WEIR_TRY(builder.begin(describe(object)));
  if (const char* model = hwloc_obj_get_info_by_name(object, "CPUModel")) builder.set_model(model);
  for (hwloc_obj_t child = object->memory_first_child; child != nullptr; child = child->next_sibling) {
    WEIR_TRY(walk(child, builder));
  }
  for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) {
    WEIR_TRY(walk(child, builder));
  }
  builder.end();
  return {};
}

Result<NodeType> convert(hwloc_topology_t topology, std::string name) {
  NodeBuilder builder;
  WEIR_TRY(walk(hwloc_get_root_obj(topology), builder));
  return builder.finish(std::move(name));
}

// What the machine has and we may not use.
Numbers find_unusable(hwloc_topology_t topology, const NodeType& type) {
  const HwlocBitmap bound(hwloc_bitmap_alloc());
  const bool is_bound = hwloc_topology_is_thissystem(topology) != 0 &&
                        hwloc_get_cpubind(topology, bound.get(), HWLOC_CPUBIND_PROCESS) == 0;
  Numbers unusable;
  for (const std::uint32_t pu : type.all_pus()) {
    const bool allowed = hwloc_bitmap_isset(hwloc_topology_get_allowed_cpuset(topology), pu) != 0;
    if (!allowed || (is_bound && hwloc_bitmap_isset(bound.get(), pu) == 0)) unusable.push_back(pu);
  }
  return unusable;
}

tl::unexpected<Failure> bad_synthetic(std::string what) {
  return fail(ErrorCode::invalid_argument, "synthetic description: " + what,
              "write it like 'pack:2 core:4 pu:2'");
}

// "pu:2(indexes=...)" -> 2. Tokens in parentheses or brackets describe memory or the machine: no level, 1.
Result<std::uint64_t> count_of_level(std::string_view token) {
  const auto open = token.find_first_of("([");
  if (open != std::string_view::npos &&
      token.find(token[open] == '(' ? ')' : ']', open) != token.size() - 1) {
    return bad_synthetic(fmt::format("'{}' goes on behind its attributes; a blank is missing", token));
  }
  if (open == 0) return 1;
  std::string_view digits = token.substr(0, open);
  if (const auto colon = digits.find(':'); colon != std::string_view::npos) digits.remove_prefix(colon + 1);
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc{} || end != digits.data() + digits.size() || count == 0) {
    return bad_synthetic(fmt::format("'{}' does not say how many", token));
  }
  return count;
}

// The number of hardware threads it describes.
// hwloc allocates what the text asks for and reads some of it without looking twice: only plain text of a
// sane size reaches it.
Result<std::uint64_t> count_synthetic_pus(std::string_view text) {
  if (text.size() > longest_synthetic)
    return bad_synthetic(fmt::format("longer than {} characters", longest_synthetic));
  std::uint64_t pus = 1;
  int depth = 0;
  std::size_t start = std::string_view::npos;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view(" :()[]=*,.").find(c) != std::string_view::npos;
    if (!plain) return bad_synthetic(fmt::format("column {} holds a character that it cannot have", i + 1));
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth < 0)
      return bad_synthetic(fmt::format("column {}: nothing is open that could be closed", i + 1));
    if (depth > 2) return bad_synthetic(fmt::format("column {}: nested too deep", i + 1));
    if (c != ' ' && start == std::string_view::npos) start = i;
    if (c == ' ' && depth == 0 && start != std::string_view::npos) {
      WEIR_ASSIGN(const std::uint64_t count, count_of_level(text.substr(start, i - start)));
      start = std::string_view::npos;
      if (count > most_synthetic_pus || pus * count > most_synthetic_pus) {
        return bad_synthetic(fmt::format("more than {} hardware threads", most_synthetic_pus));
      }
      pus *= count;
    }
  }
  if (depth != 0) return bad_synthetic("a bracket is not closed");
  return pus;
}

// Whether `flat`, cut into cores, holds the same cores; hwloc sorts the threads of a core and the cores.
bool same_cores(std::vector<Numbers> cores, const Numbers& flat) {
  const std::size_t threads = cores[0].size();
  if (flat.size() != cores.size() * threads) return false;
  std::vector<Numbers> wanted;
  for (auto at = flat.begin(); at != flat.end(); at += static_cast<std::ptrdiff_t>(threads)) {
    wanted.emplace_back(at, at + static_cast<std::ptrdiff_t>(threads));
  }
  for (auto* list : {&cores, &wanted}) {
    for (Numbers& core : *list) std::sort(core.begin(), core.end());
    std::sort(list->begin(), list->end());
  }
  return cores == wanted;
}

// REQUIRES: all cores have the same number of threads. hwloc drops indexes that it cannot use and numbers the
// hardware threads in tree order; the user would never know.
Status check_indexes(std::string_view text, const NodeType& type) {
  auto pu = text.rfind("pu:");
  if (pu == std::string_view::npos) pu = text.rfind("PU:");
  const auto attribute = pu == std::string_view::npos ? pu : text.find("indexes=", pu);
  if (attribute == std::string_view::npos) return {};
  std::string_view wanted = text.substr(attribute + 8);
  wanted = wanted.substr(0, wanted.find_first_of(" )"));
  const bool is_list = wanted.find_first_not_of("0123456789,") == std::string_view::npos;
  const std::size_t threads = type.cores[0].pus.size();
  std::vector<Numbers> got;
  bool in_order = true;
  for (std::size_t core = 0; core < type.cores.size(); ++core) {
    got.push_back(type.cores[core].pus);
    for (std::size_t thread = 0; thread < threads; ++thread)
      in_order = in_order && got[core][thread] == core * threads + thread;
  }
  const bool used = is_list ? same_cores(got, parse_numbers(wanted).value_or(Numbers{})) : !in_order;
  if (used) return {};
  return bad_synthetic(
      fmt::format("hwloc cannot number {} hardware threads by indexes={}", type.pu_count(), wanted));
}

}  // namespace

Result<NodeType> node_type_of_this_machine() {
  WEIR_ASSIGN(const HwlocTopology topology, new_topology());
  hwloc_topology_set_flags(topology.get(), HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_load(topology.get()) != 0) return hwloc_failure("reading this machine");
  WEIR_ASSIGN(NodeType type, convert(topology.get(), "this"));
  type.unusable_pus = find_unusable(topology.get(), type);
  WEIR_TRY(check(type));
  return type;
}

Result<NodeType> node_type_from_synthetic(std::string_view description) {
  WEIR_ASSIGN(const std::uint64_t pus, count_synthetic_pus(description));
  WEIR_ASSIGN(const HwlocTopology topology, new_topology());
  if (hwloc_topology_set_synthetic(topology.get(), std::string(description).c_str()) != 0) {
    return bad_synthetic(fmt::format("hwloc does not accept '{}'", description));
  }
  if (hwloc_topology_load(topology.get()) != 0)
    return bad_synthetic(fmt::format("hwloc cannot build '{}'", description));
  WEIR_ASSIGN(NodeType type, convert(topology.get(), "synthetic"));
  const std::size_t threads = type.cores[0].pus.size();
  const bool regular =
      type.pu_count() == pus && std::all_of(type.cores.begin(), type.cores.end(),
                                            [&](const Core& core) { return core.pus.size() == threads; });
  if (!regular) return bad_synthetic("hwloc merges objects with the same index");
  WEIR_TRY(check_indexes(description, type));
  return type;
}

}  // namespace weir
