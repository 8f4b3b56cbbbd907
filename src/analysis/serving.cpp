#include "analysis/serving.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace weir::analysis {

namespace {

std::optional<std::size_t> dimension(const store::Topology& topology, std::string_view name) {
  for (std::size_t i = 0; i < topology.dimensions.size(); ++i) {
    if (topology.dimensions[i].name == name) return i;
  }
  return std::nullopt;
}

std::vector<std::int32_t> without(std::vector<std::int32_t> coordinates, std::size_t dimension) {
  if (dimension < coordinates.size())
    coordinates.erase(coordinates.begin() + static_cast<std::ptrdiff_t>(dimension));
  return coordinates;
}

}  // namespace

ServerFinder::ServerFinder(std::vector<store::Node> nodes, std::optional<store::Topology> topology)
    : topology_(std::move(topology)) {
  std::vector<store::Node> compute;
  for (store::Node& node : nodes) {
    (node.role == store::NodeRole::compute ? compute : io_nodes_).push_back(std::move(node));
  }
  if (!topology_) return;
  if (topology_->serving_rule == "table") {
    rule_ = Rule::table;
    std::unordered_map<std::string, std::uint32_t> place;
    for (std::uint32_t i = 0; i < io_nodes_.size(); ++i) place.emplace(io_nodes_[i].name, i);
    for (const store::Node& node : compute) {
      column_of_.emplace(node.name, static_cast<std::uint32_t>(servers_in_.size()));
      servers_in_.emplace_back();
      for (const std::string& server : node.servers) {
        if (const auto found = place.find(server); found != place.end())
          servers_in_.back().push_back(found->second);
      }
    }
    return;
  }
  if (topology_->serving_rule != "z-link") return;
  const auto z = dimension(*topology_, "Z");
  if (!z) {
    notes_.push_back(
        "The site's rule is z-link, but its topology has no dimension Z: all servers are counted.");
    return;
  }
  rule_ = Rule::z_link;
  std::map<std::vector<std::int32_t>, std::uint32_t> columns;
  const auto column = [&](const store::Node& node) {
    const auto [place, fresh] =
        columns.emplace(without(node.coordinates, *z), static_cast<std::uint32_t>(columns.size()));
    if (fresh) servers_in_.emplace_back();
    return place->second;
  };
  for (std::uint32_t i = 0; i < io_nodes_.size(); ++i) {
    if (io_nodes_[i].coordinates.size() == topology_->dimensions.size())
      servers_in_[column(io_nodes_[i])].push_back(i);
  }
  column_of_.reserve(compute.size());
  for (const store::Node& node : compute) {
    if (node.coordinates.size() == topology_->dimensions.size()) column_of_.emplace(node.name, column(node));
  }
}

std::vector<std::uint32_t> ServerFinder::servers(const store::Job& job) const {
  std::vector<std::uint32_t> result;
  if (rule_ == Rule::all) {
    const bool any_targets = std::any_of(io_nodes_.begin(), io_nodes_.end(),
                                         [](const auto& node) { return !node.targets.empty(); });
    for (std::uint32_t i = 0; i < io_nodes_.size(); ++i) {
      if (!any_targets || !io_nodes_[i].targets.empty()) result.push_back(i);
    }
    return result;
  }
  std::vector<bool> used(io_nodes_.size(), false);
  std::vector<bool> seen(servers_in_.size(), false);
  for (const std::string& node : job.nodes) {
    const auto found = column_of_.find(node);
    if (found == column_of_.end() || seen[found->second]) continue;
    seen[found->second] = true;
    for (const std::uint32_t server : servers_in_[found->second]) used[server] = true;
  }
  for (std::uint32_t i = 0; i < used.size(); ++i) {
    if (used[i]) result.push_back(i);
  }
  return result;
}

Serving ServerFinder::serving(const store::Job& job) const {
  Serving result;
  result.notes = notes_;
  if (io_nodes_.empty()) {
    result.rule = "own nodes";
    result.own_nodes = true;
    for (const std::string& name : job.nodes) {
      result.servers.emplace_back();
      result.servers.back().name = name;
    }
    return result;
  }
  result.rule = rule_ == Rule::z_link  ? "I/O zoning: the I/O nodes on the same Z links"
                : rule_ == Rule::table ? "the site's table of servers"
                                       : "all servers serve every job";
  for (const std::uint32_t server : servers(job)) {
    result.servers.push_back(io_nodes_[server]);
    result.targets.insert(result.targets.end(), io_nodes_[server].targets.begin(),
                          io_nodes_[server].targets.end());
  }
  if (rule_ == Rule::all) return result;
  std::vector<std::string> strangers;
  for (const std::string& node : job.nodes) {
    if (!column_of_.contains(node)) strangers.push_back(node);
  }
  if (job.nodes.empty()) {
    result.notes.push_back(
        "The job's nodes are not known, so neither are its servers: import them with the job.");
  } else if (!strangers.empty()) {
    const std::size_t count = strangers.size();
    strangers.resize(std::min<std::size_t>(3, count));
    result.notes.push_back(
        fmt::format("{} of the job's {} nodes are not in the node table ({}{}): servers may be missing here.",
                    count, job.nodes.size(), fmt::join(strangers, ", "), count > 3 ? ", ..." : ""));
  }
  return result;
}

TargetGrid target_grid(const Serving& serving) {
  TargetGrid grid;
  // Servers that agree in the first two coordinates stand in one place (on the K computer: X and Y, a
  // cabinet's column).
  std::map<std::vector<std::int32_t>, std::vector<std::string>> places;
  bool placed = true;
  for (const store::Node& server : serving.servers) {
    if (server.targets.empty()) continue;
    placed = placed && server.coordinates.size() > 2;
    std::vector<std::int32_t> place = server.coordinates;
    place.resize(std::min<std::size_t>(2, place.size()));
    auto& there = places[place];
    there.insert(there.end(), server.targets.begin(), server.targets.end());
  }
  if (placed && !places.empty()) {
    std::size_t most = 0;
    for (const auto& [place, targets] : places) most = std::max(most, targets.size());
    for (std::size_t i = 0; i < places.size(); ++i) grid.columns.push_back(std::to_string(i));
    for (std::size_t i = 0; i < most; ++i) grid.rows.push_back(std::to_string(i));
    grid.targets.resize(grid.rows.size() * grid.columns.size());
    std::size_t column = 0;
    for (const auto& [place, targets] : places) {
      for (std::size_t row = 0; row < targets.size(); ++row)
        grid.targets[row * grid.columns.size() + column] = targets[row];
      ++column;
    }
    return grid;
  }
  // Without coordinates: in the order of the table, a little wider than high.
  const auto count = static_cast<double>(serving.targets.size());
  const auto wide = static_cast<std::size_t>(std::ceil(std::sqrt(count * 4.0 / 3.0)));
  if (wide == 0) return grid;
  const std::size_t high = (serving.targets.size() + wide - 1) / wide;
  for (std::size_t i = 0; i < wide; ++i) grid.columns.push_back(std::to_string(i));
  for (std::size_t i = 0; i < high; ++i) grid.rows.push_back(std::to_string(i * wide));
  grid.targets = serving.targets;
  grid.targets.resize(wide * high);
  return grid;
}

}  // namespace weir::analysis
