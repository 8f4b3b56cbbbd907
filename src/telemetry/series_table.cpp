#include <stdexcept>
#include <unordered_map>

#include "telemetry/record.hpp"

namespace weir::telemetry {

namespace {

constexpr std::uint32_t none = UINT32_MAX;

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

struct Origin {
  // "io0001\0X+\0": node, component and job in one text, which is the key of the map: it stays where it is.
  std::string_view names;
  std::uint32_t node_size = 0;
  std::uint32_t component_size = 0;
  std::uint32_t first = none;  // its series, as a chain
  std::uint32_t hint = none;   // the one asked for last; records name their counters in one order
};

struct Entry {
  std::uint32_t origin = 0;
  CounterId counter = 0;
  std::uint32_t next = none;
};

}  // namespace

struct SeriesTable::State {
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> by_names;
  std::vector<Origin> origins;
  std::vector<Entry> entries;
  std::string names;  // kept for its memory

  const Origin& origin_of(std::uint32_t series) const { return origins.at(entries.at(series).origin); }
};

SeriesTable::SeriesTable() : state_(std::make_unique<State>()) {}
SeriesTable::SeriesTable(SeriesTable&&) noexcept = default;
SeriesTable& SeriesTable::operator=(SeriesTable&&) noexcept = default;
SeriesTable::~SeriesTable() = default;

std::uint32_t SeriesTable::origin(std::string_view node, std::string_view component, std::string_view job) {
  State& state = *state_;
  state.names.assign(node);
  state.names.push_back('\0');
  state.names.append(component);
  state.names.push_back('\0');
  state.names.append(job);
  const auto found = state.by_names.find(std::string_view(state.names));
  // Sizes are compared too: a name may itself contain a zero.
  if (found != state.by_names.end()) {
    const Origin& known = state.origins[found->second];
    if (known.node_size == node.size() && known.component_size == component.size()) return found->second;
    throw std::logic_error("a node or a component with a zero in its name");
  }
  const auto id = static_cast<std::uint32_t>(state.origins.size());
  const auto added = state.by_names.emplace(state.names, id).first;
  state.origins.push_back({.names = added->first,
                           .node_size = static_cast<std::uint32_t>(node.size()),
                           .component_size = static_cast<std::uint32_t>(component.size())});
  return id;
}

std::uint32_t SeriesTable::series(std::uint32_t origin, CounterId counter) {
  State& state = *state_;
  Origin& from = state.origins.at(origin);
  if (from.hint != none) {
    const std::uint32_t next = state.entries[from.hint].next;
    if (next != none && state.entries[next].counter == counter) return from.hint = next;
  }
  std::uint32_t last = none;
  for (std::uint32_t at = from.first; at != none; at = state.entries[at].next) {
    if (state.entries[at].counter == counter) return from.hint = at;
    last = at;
  }
  const auto id = static_cast<std::uint32_t>(state.entries.size());
  state.entries.push_back({.origin = origin, .counter = counter});
  (last == none ? from.first : state.entries[last].next) = id;
  return from.hint = id;
}

std::size_t SeriesTable::size() const {
  return state_->entries.size();
}

CounterId SeriesTable::counter_of(std::uint32_t series) const {
  return state_->entries.at(series).counter;
}

std::string_view SeriesTable::node_of(std::uint32_t series) const {
  const Origin& origin = state_->origin_of(series);
  return origin.names.substr(0, origin.node_size);
}

std::string_view SeriesTable::component_of(std::uint32_t series) const {
  const Origin& origin = state_->origin_of(series);
  return origin.names.substr(origin.node_size + 1, origin.component_size);
}

std::string_view SeriesTable::job_of(std::uint32_t series) const {
  const Origin& origin = state_->origin_of(series);
  return origin.names.substr(origin.node_size + 1 + origin.component_size + 1);
}

SeriesKey SeriesTable::key(std::uint32_t series) const {
  return {.counter = counter_of(series),
          .node = std::string(node_of(series)),
          .component = std::string(component_of(series)),
          .job = std::string(job_of(series))};
}

bool SeriesTable::same_origin(std::uint32_t series, std::uint32_t other) const {
  return state_->entries.at(series).origin == state_->entries.at(other).origin;
}

void SeriesTable::clear() {
  state_->by_names.clear();
  state_->origins.clear();
  state_->entries.clear();
}

Sample Batch::sample(std::size_t point) const {
  const Point& at = points.at(point);
  return {.key = table.key(at.series), .time = at.time, .value = at.value};
}

void Batch::clear() {
  table.clear();
  points.clear();
}

}  // namespace weir::telemetry
