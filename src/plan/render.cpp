#include "plan/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "platform/host_list.hpp"

namespace weir {

namespace {

constexpr std::size_t width = 80;
constexpr std::size_t title_width = 13;

std::string line(std::string_view title, const std::string& text) {
  std::string line = fmt::format("  {:<{}}{}", title, title_width, text);
  if (line.size() > width) line = line.substr(0, width - 3) + "...";
  return line + "\n";
}

std::string ranks_text(const Numbers& ranks) {
  return fmt::format("{} {}: {}", ranks.size(), ranks.size() == 1 ? "rank" : "ranks", format_numbers(ranks));
}

std::string head(const Plan& plan) {
  const std::string ranks = plan.ranks == 0 ? "any number of ranks" : fmt::format("{} ranks", plan.ranks);
  switch (plan.mode) {
    case Mode::synchronous:
      return fmt::format("plan for {}: synchronous I/O\n", ranks);
    case Mode::servers:
      return fmt::format("plan for {}: I/O servers, mapping {}\n", ranks, plan.roles.mapping);
    case Mode::thread:
      return fmt::format("plan for {}: an I/O thread in each rank\n", ranks);
  }
  return {};
}

std::string placement_text(const Placement& placement) {
  if (placement.node_of.empty()) return "as the launcher does it";
  const std::unordered_set<std::uint32_t> used(placement.node_of.begin(), placement.node_of.end());
  std::string text = fmt::format("{} {}", used.size(), used.size() == 1 ? "node" : "nodes");
  if (placement.pus_of.empty()) {
    text += ", not bound";
  } else {
    std::size_t least = SIZE_MAX, most = 0;
    for (std::size_t rank = 0; rank < placement.pus_of.size(); ++rank) {
      least = std::min(least, placement.pus_of[rank].size());
      most = std::max(most, placement.pus_of[rank].size());
    }
    text += least == most ? fmt::format(", {} hardware {} a rank", most, most == 1 ? "thread" : "threads")
                          : fmt::format(", {} to {} hardware threads a rank", least, most);
  }
  if (placement.oversubscribe) text += ", shared";
  return text;
}

}  // namespace

std::string render(const Plan& plan) {
  std::string text = head(plan);
  if (!plan.roles.servers.empty()) {
    text += line("compute", ranks_text(plan.compute_ranks()));
    text += line("servers", ranks_text(plan.roles.servers));
    if (!plan.roles.server_of.empty()) text += line("served by", format_numbers(plan.roles.server_of));
  }
  text += line("placement", placement_text(plan.placement));
  if (!plan.placement.hosts.empty()) text += line("  hosts", format_host_list(plan.placement.hosts));
  if (!plan.placement.node_of.empty()) text += line("  nodes", format_numbers(plan.placement.node_of));
  if (!plan.placement.pus_of.empty())
    text += line("  threads", format_numbers(plan.placement.pus_of.values()));
  text += line("aggregators",
               plan.aggregators.ranks.empty() ? "chosen by the run" : ranks_text(plan.aggregators.ranks));
  if (!plan.aggregators.targets_of.empty())
    text += line("  targets", format_numbers(plan.aggregators.targets_of.values()));
  text += line("throttle",
               plan.throttle.requests_per_target == 0
                   ? "none"
                   : fmt::format("{} requests per target and step", plan.throttle.requests_per_target));
  std::string backend = plan.backend.name.empty() ? "the program's choice" : plan.backend.name;
  for (const auto& [name, value] : plan.backend.options) backend += fmt::format(" {}={}", name, value);
  text += line("backend", backend);
  return text;
}

}  // namespace weir
