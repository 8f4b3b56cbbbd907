#include "platform/node_type_json.hpp"

#include <algorithm>
#include <map>

#include "core/options.hpp"

namespace weir {

namespace {

tl::unexpected<Failure> bad(const std::string& where, std::string_view what) {
  return fail(ErrorCode::corrupt, fmt::format("'{}' {}", where, what));
}

Result<Numbers> read_numbers(const JsonObject& object, const std::string& key, std::size_t at_most) {
  WEIR_ASSIGN(const std::string text, object.text(key));
  auto numbers = parse_numbers(text, at_most);
  if (!numbers) return bad(object.where() + "." + key, ": " + numbers.error().cause);
  return numbers;
}

// A number of bytes, or text like "16MiB".
Result<std::uint64_t> read_bytes(const JsonObject& object, const std::string& key) {
  if (!object.has(key)) return 0;
  WEIR_ASSIGN(const Json* value, object.any(key));
  if (!value->is_string()) return object.size(key);
  const auto bytes = parse_bytes(value->get<std::string>());
  if (!bytes) return bad(object.where() + "." + key, ": " + bytes.error().cause);
  return static_cast<std::uint64_t>(*bytes);
}

Result<std::uint32_t> read_count(const JsonObject& object, const std::string& key, std::uint32_t least,
                                 std::uint32_t most) {
  WEIR_ASSIGN(const std::uint64_t value, object.size(key));
  if (value >= least && value <= most) return static_cast<std::uint32_t>(value);
  return bad(object.where() + "." + key, fmt::format("is {}; it can be {} to {}", value, least, most));
}

// Spans of cores given by their lengths, one after the other or at stated starts.
Result<std::vector<CoreSpan>> read_spans(const JsonObject& object, std::uint32_t cores) {
  WEIR_ASSIGN(const Numbers counts, read_numbers(object, "cores", most_cores));
  Numbers first;
  if (object.has("first")) {
    WEIR_ASSIGN(first, read_numbers(object, "first", most_cores));
    if (first.size() != counts.size()) {
      return bad(object.where(), fmt::format("has {} parts but {} starts", counts.size(), first.size()));
    }
  }
  std::vector<CoreSpan> spans;
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::uint64_t start = first.empty() ? next : first[i];
    if (counts[i] == 0 || start + counts[i] > cores) {
      return bad(object.where(), fmt::format("part {} is not within the {} cores", i, cores));
    }
    spans.push_back({static_cast<std::uint32_t>(start), counts[i]});
    next = start + counts[i];
  }
  return spans;
}

void write_spans(Json& json, const std::vector<CoreSpan>& spans) {
  Numbers counts, first;
  std::uint32_t next = 0;
  bool consecutive = true;
  for (const CoreSpan& span : spans) {
    counts.push_back(span.count);
    first.push_back(span.first);
    consecutive = consecutive && span.first == next;
    next = span.first + span.count;
  }
  json["cores"] = format_numbers(counts);
  if (!consecutive) json["first"] = format_numbers(first);
}

// ---- threads ----

Status read_threads(const JsonObject& object, NodeType& type) {
  WEIR_ASSIGN(const Json* value, object.any("threads"));
  const std::string where = object.where() + ".threads";
  const std::uint32_t cores = type.core_count();
  if (!value->is_array()) {
    WEIR_ASSIGN(const std::uint32_t threads, read_count(object, "threads", 1, most_threads_per_core));
    for (std::uint32_t core = 0; core < cores; ++core) {
      for (std::uint32_t thread = 0; thread < threads; ++thread)
        type.cores[core].pus.push_back(thread * cores + core);
    }
    return {};
  }
  if (value->size() > most_threads_per_core)
    return bad(where, fmt::format("has more than {} entries", most_threads_per_core));
  for (std::size_t i = 0; i < value->size(); ++i) {
    const Json& entry = (*value)[i];
    const std::string place = fmt::format("{}[{}]", where, i);
    Json wrapped;
    if (entry.is_string()) wrapped["pus"] = entry;
    WEIR_ASSIGN(const JsonObject thread, JsonObject::of(entry.is_string() ? wrapped : entry, place));
    WEIR_TRY(thread.only({"cores", "pus"}));
    WEIR_ASSIGN(const Numbers pus, read_numbers(thread, "pus", most_cores));
    Numbers at;
    if (thread.has("cores")) {
      WEIR_ASSIGN(at, read_numbers(thread, "cores", most_cores));
    } else {
      for (std::uint32_t core = 0; core < cores; ++core) at.push_back(core);
    }
    if (at.size() != pus.size())
      return bad(place, fmt::format("numbers {} threads for {} cores", pus.size(), at.size()));
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (at[k] >= cores)
        return bad(place, fmt::format("names core {}, but there are only {}", at[k], cores));
      type.cores[at[k]].pus.push_back(pus[k]);
    }
  }
  return {};
}

Json write_threads(const NodeType& type) {
  const std::uint32_t cores = type.core_count();
  std::size_t most = 0;
  bool regular = true;
  for (std::uint32_t core = 0; core < cores; ++core) {
    const Numbers& pus = type.cores[core].pus;
    most = std::max(most, pus.size());
    regular = regular && pus.size() == type.cores[0].pus.size();
    for (std::uint32_t thread = 0; thread < pus.size(); ++thread)
      regular = regular && pus[thread] == thread * cores + core;
  }
  if (regular) return most;
  Json list = Json::array();
  for (std::size_t thread = 0; thread < most; ++thread) {
    Numbers at, pus;
    for (std::uint32_t core = 0; core < cores; ++core) {
      if (type.cores[core].pus.size() <= thread) continue;
      at.push_back(core);
      pus.push_back(type.cores[core].pus[thread]);
    }
    if (at.size() == cores) {
      list.push_back(format_numbers(pus));
    } else {
      list.push_back({{"cores", format_numbers(at)}, {"pus", format_numbers(pus)}});
    }
  }
  return list;
}

// ---- packages ----

Status read_packages(const JsonObject& object, NodeType& type) {
  const std::uint32_t cores = type.core_count();
  const std::string where = object.where() + ".packages";
  Numbers counts{cores};
  if (object.has("packages")) {
    WEIR_ASSIGN(const Json* value, object.any("packages"));
    if (value->is_string()) {
      WEIR_ASSIGN(counts, read_numbers(object, "packages", most_cores));
    } else {
      WEIR_ASSIGN(const std::uint32_t parts, read_count(object, "packages", 1, cores));
      if (cores % parts != 0)
        return bad(where, fmt::format(": {} packages do not divide {} cores evenly", parts, cores));
      counts.assign(parts, cores / parts);
    }
  }
  std::uint64_t next = 0;
  for (const std::uint32_t count : counts) {
    if (count == 0 || next + count > cores) return bad(where, fmt::format("do not fit the {} cores", cores));
    type.packages.push_back({{static_cast<std::uint32_t>(next), count}});
    next += count;
  }
  return {};
}

Json write_packages(const NodeType& type) {
  Numbers counts;
  for (const Package& package : type.packages) counts.push_back(package.cores.count);
  const bool equal =
      std::all_of(counts.begin(), counts.end(), [&](std::uint32_t count) { return count == counts[0]; });
  return equal ? Json(counts.size()) : Json(format_numbers(counts));
}

// ---- NUMA domains ----

Status read_numa(const JsonObject& object, NodeType& type) {
  const std::uint32_t cores = type.core_count();
  const std::string where = object.where() + ".numa";
  const bool in_full = object.has("numa") && (*object.any("numa"))->is_array();
  if (!in_full) {
    std::uint32_t parts = 1;
    if (object.has("numa")) {
      WEIR_ASSIGN(parts, read_count(object, "numa", 1, cores));
    }
    if (cores % parts != 0)
      return bad(where, fmt::format(": {} NUMA domains do not divide {} cores evenly", parts, cores));
    WEIR_ASSIGN(const std::uint64_t memory, read_bytes(object, "memory"));
    for (std::uint32_t i = 0; i < parts; ++i) {
      type.numa_domains.push_back({i, memory / parts, {i * (cores / parts), cores / parts}});
    }
    return {};
  }
  if (object.has("memory"))
    return bad(object.where() + ".memory", "is said already by the bytes of the NUMA domains");
  WEIR_ASSIGN(const Json* list, object.array("numa"));
  for (std::size_t i = 0; i < list->size(); ++i) {
    WEIR_ASSIGN(const JsonObject group, JsonObject::of((*list)[i], fmt::format("{}[{}]", where, i)));
    WEIR_TRY(group.only({"os", "bytes", "cores", "first"}));
    WEIR_ASSIGN(const Numbers numbers, read_numbers(group, "os", most_cores));
    WEIR_ASSIGN(const auto spans, read_spans(group, cores));
    WEIR_ASSIGN(const std::uint64_t bytes, read_bytes(group, "bytes"));
    if (numbers.size() != spans.size()) {
      return bad(group.where(), fmt::format("has {} numbers for {} domains", numbers.size(), spans.size()));
    }
    for (std::size_t k = 0; k < spans.size(); ++k) type.numa_domains.push_back({numbers[k], bytes, spans[k]});
  }
  return {};
}

void write_numa(const NodeType& type, Json& json) {
  const auto& domains = type.numa_domains;
  const std::size_t parts = domains.size();
  bool regular = type.core_count() % parts == 0;
  for (std::uint32_t i = 0; i < parts && regular; ++i) {
    const auto share = static_cast<std::uint32_t>(type.core_count() / parts);
    regular = domains[i] == NumaDomain{i, domains[0].memory_bytes, {i * share, share}};
  }
  if (regular && domains[0].memory_bytes <= UINT64_MAX / parts) {
    json["numa"] = parts;
    if (domains[0].memory_bytes != 0) json["memory"] = domains[0].memory_bytes * parts;
    return;
  }
  Json list = Json::array();
  for (std::size_t i = 0; i < parts;) {
    Numbers numbers;
    std::vector<CoreSpan> spans;
    const std::uint64_t bytes = domains[i].memory_bytes;
    for (; i < parts && domains[i].memory_bytes == bytes; ++i) {
      numbers.push_back(domains[i].os_number);
      spans.push_back(domains[i].cores);
    }
    Json group{{"os", format_numbers(numbers)}, {"bytes", bytes}};
    write_spans(group, spans);
    list.push_back(std::move(group));
  }
  json["numa"] = std::move(list);
}

// ---- caches ----

Status read_caches(const JsonObject& object, NodeType& type) {
  if (!object.has("caches")) return {};
  const std::uint32_t cores = type.core_count();
  WEIR_ASSIGN(const Json* list, object.array("caches"));
  for (std::size_t i = 0; i < list->size(); ++i) {
    WEIR_ASSIGN(const JsonObject group,
                JsonObject::of((*list)[i], fmt::format("{}.caches[{}]", object.where(), i)));
    WEIR_TRY(group.only({"level", "bytes", "cores", "first"}));
    WEIR_ASSIGN(const std::uint32_t level, read_count(group, "level", 1, 9));
    WEIR_ASSIGN(const std::uint64_t bytes, read_bytes(group, "bytes"));
    WEIR_ASSIGN(const Json* shared_by, group.any("cores"));
    std::vector<CoreSpan> spans;
    if (shared_by->is_string()) {
      WEIR_ASSIGN(spans, read_spans(group, cores));
    } else {
      WEIR_ASSIGN(const std::uint32_t share, read_count(group, "cores", 1, cores));
      if (cores % share != 0)
        return bad(group.where(), fmt::format(": {} cores do not divide {} evenly", share, cores));
      for (std::uint32_t first = 0; first < cores; first += share) spans.push_back({first, share});
    }
    if (type.caches.size() + spans.size() > std::size_t{10} * most_cores)
      return bad(group.where(), "makes too many caches");
    for (const CoreSpan& span : spans) type.caches.push_back({level, bytes, span});
  }
  std::stable_sort(type.caches.begin(), type.caches.end(), [](const Cache& a, const Cache& b) {
    return std::pair(a.level, a.cores.first) < std::pair(b.level, b.cores.first);
  });
  return {};
}

Json write_caches(const NodeType& type) {
  Json list = Json::array();
  const auto& caches = type.caches;
  for (std::size_t i = 0; i < caches.size();) {
    // Caches of one kind need not follow each other (two kinds of cores), so all of a level and size are
    // gathered.
    std::size_t end = i;
    std::map<std::uint64_t, std::vector<CoreSpan>> by_size;
    for (; end < caches.size() && caches[end].level == caches[i].level; ++end)
      by_size[caches[end].bytes].push_back(caches[end].cores);
    for (const auto& entry : by_size) {
      const std::vector<CoreSpan>& spans = entry.second;
      Json group{{"level", caches[i].level}, {"bytes", entry.first}};
      const bool regular = spans.size() * spans[0].count == type.core_count() &&
                           std::all_of(spans.begin(), spans.end(),
                                       [&](const CoreSpan& s) { return s.count == spans[0].count; });
      if (regular) {
        group["cores"] = spans[0].count;
      } else {
        write_spans(group, spans);
      }
      list.push_back(std::move(group));
    }
    i = end;
  }
  return list;
}

}  // namespace

Json node_type_to_json(const NodeType& type) {
  Json json{{"name", type.name}};
  if (!type.model.empty()) json["model"] = type.model;
  json["cores"] = type.core_count();
  json["threads"] = write_threads(type);
  json["packages"] = write_packages(type);
  write_numa(type, json);
  if (!type.caches.empty()) json["caches"] = write_caches(type);
  if (!type.unusable_pus.empty()) json["unusable"] = format_numbers(type.unusable_pus);
  return json;
}

Result<NodeType> node_type_from_json(const Json& json, const std::string& where) {
  WEIR_ASSIGN(const JsonObject object, JsonObject::of(json, where));
  WEIR_TRY(
      object.only({"name", "model", "cores", "threads", "packages", "numa", "memory", "caches", "unusable"}));
  NodeType type;
  WEIR_ASSIGN(type.name, object.text("name"));
  if (object.has("model")) {
    WEIR_ASSIGN(type.model, object.text("model"));
  }
  WEIR_ASSIGN(const std::uint32_t cores, read_count(object, "cores", 1, most_cores));
  type.cores.resize(cores);
  if (object.has("threads")) {
    WEIR_TRY(read_threads(object, type));
  } else {
    for (std::uint32_t core = 0; core < cores; ++core) type.cores[core].pus = {core};
  }
  WEIR_TRY(read_packages(object, type));
  WEIR_TRY(read_numa(object, type));
  WEIR_TRY(read_caches(object, type));
  if (object.has("unusable")) {
    WEIR_ASSIGN(type.unusable_pus, read_numbers(object, "unusable", std::size_t{largest_pu} + 1));
  }
  return type;
}

}  // namespace weir
