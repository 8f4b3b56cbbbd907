#include "platform/render.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/options.hpp"
#include "platform/host_list.hpp"

namespace weir {

namespace {

constexpr std::size_t width = 80;
constexpr std::size_t most_rows = 16;          // NUMA domains shown of one node type
constexpr std::size_t longest_cell = 22;       // of a list of hardware threads
constexpr std::uint32_t longest_drawing = 16;  // cores drawn one by one

using Row = std::vector<std::string>;

std::string shorten(std::string text, std::size_t room) {
  if (text.size() > room) text = text.substr(0, room > 3 ? room - 3 : 0) + "...";
  return text;
}

std::string count_of(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string rate(double bytes_per_second) {
  return fmt::format("{:.4g} GB/s", bytes_per_second / 1e9);
}

std::string_view link_name(Level level) {
  switch (level) {
    case Level::core:
      return "between threads of a core";
    case Level::cache:
      return "between cores on one cache";
    case Level::numa:
      return "within a NUMA domain";
    case Level::package:
      return "within a package";
    case Level::node:
      return "within a node";
    case Level::network_switch:
      return "between nodes on one switch";
    case Level::machine:
      return "between nodes";
  }
  return "";
}

std::size_t most_threads(const NodeType& type) {
  std::size_t most = 0;
  for (const Core& core : type.cores) most = std::max(most, core.pus.size());
  return most;
}

// "[::::][::::]": a character for each core that tells its threads, brackets around those that share a cache
// within the span.
std::string draw_cores(const NodeType& type, const CoreSpan& span) {
  std::uint32_t level = 0;
  for (const Cache& cache : type.caches) {
    const bool inside =
        cache.cores.first >= span.first && cache.cores.first + cache.cores.count <= span.first + span.count;
    if (inside && cache.cores.count > 1) level = std::max(level, cache.level);
  }
  const auto draw_run = [&](std::uint32_t first, std::uint32_t count) {
    std::string run;
    for (std::uint32_t core = first; core < first + count; ++core) {
      const std::size_t threads = type.cores[core].pus.size();
      run += threads == 1 ? '.' : threads == 2 ? ':' : threads <= 9 ? static_cast<char>('0' + threads) : '+';
    }
    const bool uniform = run.find_first_not_of(run[0]) == std::string::npos;
    return uniform && count > longest_drawing ? fmt::format("{} x {}", count, run[0]) : run;
  };
  if (level == 0) return draw_run(span.first, span.count);
  std::string text;
  std::uint32_t next = span.first;
  for (const Cache& cache : type.caches) {
    if (cache.level != level || !span.contains(cache.cores.first)) continue;
    if (cache.cores.first > next) text += draw_run(next, cache.cores.first - next);
    text += "[" + draw_run(cache.cores.first, cache.cores.count) + "]";
    next = cache.cores.first + cache.cores.count;
  }
  if (next < span.first + span.count) text += draw_run(next, span.first + span.count - next);
  return text;
}

std::uint32_t package_of(const NodeType& type, std::uint32_t core) {
  const auto found = std::find_if(type.packages.begin(), type.packages.end(),
                                  [&](const Package& p) { return p.cores.contains(core); });
  return static_cast<std::uint32_t>(found - type.packages.begin());
}

std::string span_text(const CoreSpan& span) {
  return span.count == 1 ? std::to_string(span.first)
                         : fmt::format("{}-{}", span.first, span.first + span.count - 1);
}

std::vector<Row> numa_rows(const NodeType& type) {
  const std::size_t threads = most_threads(type);
  Row titles{"package", "NUMA", "memory", "cores"};
  for (std::size_t thread = 0; thread < threads; ++thread) titles.push_back(fmt::format("thread {}", thread));
  titles.push_back("drawn");
  std::vector<Row> rows{titles};
  std::uint32_t last_package = UINT32_MAX;
  const std::size_t domains = type.numa_domains.size();
  for (std::size_t i = 0; i < domains; ++i) {
    if (domains > most_rows && i >= most_rows - 2 && i + 1 < domains) {
      if (i == most_rows - 2) rows.push_back({"...", fmt::format("{} more", domains - most_rows + 1)});
      continue;
    }
    const NumaDomain& domain = type.numa_domains[i];
    const std::uint32_t package = package_of(type, domain.cores.first);
    const std::uint32_t to_package = package_of(type, domain.cores.first + domain.cores.count - 1);
    const std::string packages =
        to_package == package ? std::to_string(package) : fmt::format("{}-{}", package, to_package);
    Row row{package == last_package ? "" : packages, std::to_string(domain.os_number),
            domain.memory_bytes == 0 ? "-" : format_bytes(domain.memory_bytes), span_text(domain.cores)};
    last_package = to_package;
    for (std::size_t thread = 0; thread < threads; ++thread) {
      Numbers pus;
      for (std::uint32_t core = domain.cores.first; core < domain.cores.first + domain.cores.count; ++core) {
        if (thread < type.cores[core].pus.size()) pus.push_back(type.cores[core].pus[thread]);
      }
      row.push_back(pus.empty() ? "-" : shorten(format_numbers(pus), longest_cell));
    }
    row.push_back(draw_cores(type, domain.cores));
    rows.push_back(std::move(row));
  }
  return rows;
}

// Left-aligned but for NUMA number and memory. Columns at the right that do not fit are left out, the drawing
// first.
std::string table(const std::vector<Row>& rows, bool& drawn) {
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::size_t columns = 0;
  std::size_t used = 0;
  while (columns < widths.size() && used + 2 + widths[columns] <= width) used += 2 + widths[columns++];
  drawn = columns == widths.size();
  if (columns + 1 < widths.size() && used + 5 > width)
    --columns;  // room for the sign that something is missing
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < std::min(columns, row.size()); ++i) {
      const bool right = (i == 1 || i == 2) && row[0] != "...";
      line += right ? fmt::format("  {:>{}}", row[i], widths[i]) : fmt::format("  {:<{}}", row[i], widths[i]);
    }
    if (columns + 1 < widths.size()) line += "  ...";
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string cache_line(const NodeType& type) {
  std::string text;
  for (std::size_t i = 0; i < type.caches.size(); ++i) {
    const Cache& cache = type.caches[i];
    const auto same = [&](const Cache& other) {
      return other.level == cache.level && other.bytes == cache.bytes &&
             other.cores.count == cache.cores.count;
    };
    if (std::any_of(type.caches.begin(), type.caches.begin() + static_cast<std::ptrdiff_t>(i), same))
      continue;
    text += fmt::format("{}L{}", text.empty() ? "" : ", ", cache.level);
    if (cache.bytes != 0) text += " " + format_bytes(cache.bytes);
    text += cache.cores.count == 1 ? " a core" : fmt::format(" for {} cores", cache.cores.count);
  }
  return text;
}

std::string render_type(const Platform& platform, std::uint32_t index) {
  const NodeType& type = platform.node_types[index];
  std::vector<std::string> names;
  for (const Node& node : platform.nodes) {
    if (node.type == index) names.push_back(node.name);
  }
  std::string text = fmt::format("{} x {}", names.size(), type.name);
  if (!names.empty()) text += ": " + shorten(format_host_list(names), width - text.size() - 2);
  text += "\n";
  if (!type.model.empty()) text += shorten("  " + type.model, width) + "\n";
  text += fmt::format("  {}, {}, {}, {}\n", count_of(type.packages.size(), "package", "packages"),
                      count_of(type.numa_domains.size(), "NUMA domain", "NUMA domains"),
                      count_of(type.core_count(), "core", "cores"),
                      count_of(type.pu_count(), "hardware thread", "hardware threads"));
  if (!type.caches.empty()) text += shorten("  caches: " + cache_line(type), width) + "\n";
  if (!type.unusable_pus.empty()) {
    const Numbers usable = type.usable_pus();
    text += shorten(fmt::format("  usable here: {} of the {} hardware threads: {}", usable.size(),
                                type.pu_count(), format_set(usable)),
                    width) +
            "\n";
  }
  bool drawn = false;
  text += "\n" + table(numa_rows(type), drawn);
  if (drawn) {
    const std::size_t threads = most_threads(type);
    text += fmt::format("\n  drawn: a core is . {}; [] share a cache\n",
                        threads == 1   ? "(one thread)"
                        : threads == 2 ? "(one thread) or : (two)"
                                       : "(one thread), : (two) or the number of its threads");
  }
  return text;
}

}  // namespace

std::string render(const Platform& platform) {
  std::string text = fmt::format("{}{}, {}, {}", platform.name.empty() ? "" : platform.name + ": ",
                                 count_of(platform.nodes.size(), "node", "nodes"),
                                 count_of(platform.core_count(), "core", "cores"),
                                 count_of(platform.pu_count(), "hardware thread", "hardware threads"));
  if (platform.memory_bytes() != 0)
    text += fmt::format(", {} of memory", format_bytes(platform.memory_bytes()));
  text = shorten(text, width) + "\n";

  for (std::uint32_t type = 0; type < platform.node_types.size(); ++type)
    text += "\n" + render_type(platform, type);

  std::string more;
  std::uint64_t slots = 0;
  for (const Node& node : platform.nodes) slots += node.slots;
  if (slots != 0) more += fmt::format("slots: {} on the nodes that state them\n", slots);
  if (!platform.switches.empty())
    more += fmt::format("network: {}\n", count_of(platform.switches.size(), "switch", "switches"));
  for (const Link& link : platform.links) {
    more += fmt::format("{}: {}", link_name(link.level), rate(link.bytes_per_second));
    if (link.latency_seconds > 0) more += fmt::format(", {:.3g} us", link.latency_seconds * 1e6);
    more += "\n";
  }
  if (!platform.storage.empty()) {
    std::vector<std::string> names;
    for (const StorageTarget& target : platform.storage) names.push_back(target.name);
    more += shorten(fmt::format("storage: {}: {}", count_of(names.size(), "target", "targets"),
                                format_host_list(names)),
                    width) +
            "\n";
  }
  return more.empty() ? text : text + "\n" + more;
}

}  // namespace weir
