// What a user can say about collective I/O, by hints (MPI_Info), environment, or a configuration in the words
// of EARTH: "T:agg=1,rr=1,req=4", "N:req=4", "original". Each setting is declared once.
//
// Threads: plain values; functions only read them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aggregation/striping.hpp"
#include "core/error.hpp"
#include "core/options.hpp"

namespace weir::aggregation {

enum class Algorithm : std::uint8_t {
  automatic,  // by what the call looks like: see decide.hpp
  two_phase,  // T: file domains over all ranks, aggregators touch the file
  segmented,  // dynamic segmentation: groups of ranks, each gathers within itself and touches the file for
              // itself
  direct,     // N: each rank touches the file for itself
};
std::string_view to_string(Algorithm algorithm);

enum class DomainKind : std::uint8_t { automatic, even, aligned, cyclic };
std::string_view to_string(DomainKind kind);

struct Settings {
  Algorithm algorithm = Algorithm::automatic;
  DomainKind domains = DomainKind::automatic;
  bool striping_aware = false;    // agg
  bool round_robin = false;       // rr
  std::uint32_t requests = 0;     // req: per target and step; 0: no throttling
  std::uint32_t aggregators = 0;  // cb_nodes; 0: as many as suit
  std::uint64_t buffer = 0;       // bytes that an aggregator takes in one cycle; 0: as many as suit
  Striping striping = {};         // where the file system does not say; of new files, as it is asked for
  std::vector<std::uint32_t> ranks =
      {};            // the aggregators by rank, in serving order, as a plan chose them; empty: chosen here
  bool fill = true;  // small holes may be written back as they were, where nobody can be writing there
  bool allocate = true;  // blocks for what a call appends may be asked for at once
  std::uint32_t team =
      0;  // pretend that so many ranks of a node are a node of their own; 0: nodes as they are
  bool operator==(const Settings&) const = default;
};
Status check(const Settings& settings);

// What suits: small enough to stay in a cache between ranks and aggregator, large enough for a file system
// that is far away.
std::uint64_t suitable_buffer(bool shared_locks);

// Memory that a run of these settings takes for buffers, whatever the file's size.
// REQUIRES: buffer > 0.
std::uint64_t aggregator_memory(const Settings& settings);
std::uint64_t node_memory(const Settings& settings, std::uint32_t aggregators_on_node);

// "original", "T:agg=1,rr=1,req=4", "N:req=2", "S:", "auto". What it does not name keeps its value of `base`.
Result<Settings> parse_configuration(std::string_view text, Settings base = {});
std::string configuration_of(const Settings& settings);
// The same as variables of the environment. What it does not name of agg, rr and req is off.
Result<std::map<std::string, std::string>> variables_of(std::string_view configuration);

// The names under which settings are looked up. `word` is the key in a configuration (empty: it has none
// there), `hint` of an MPI_Info, `variable` of the environment.
struct SettingName {
  std::string_view word;
  std::string_view hint;
  std::string_view variable;
  std::string_view help;
};
std::span<const SettingName> setting_names();

// The settings as hints; without those that are left to what suits.
std::map<std::string, std::string> hints_of(const Settings& settings);

// Whether the value of a hint can be used. REQUIRES: a hint of setting_names().
Status check_hint(std::string_view hint, const std::string& value);

// Settings from hints first, then the environment, then `base`. `hint` and `variable` return the value of a
// name, if it has one. A wrong value is a failure that names where it stood.
using Lookup = std::function<std::optional<std::string>(std::string_view name)>;
Result<Settings> read_settings(const Lookup& hint, const Lookup& variable, Settings base = {});

}  // namespace weir::aggregation
