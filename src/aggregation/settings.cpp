#include "aggregation/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace weir::aggregation {

namespace {

constexpr std::int64_t least_buffer = 4096;
constexpr std::int64_t most_buffer = std::int64_t{1} << 30;

constexpr std::array<std::string_view, 4> algorithm_names = {"automatic", "two-phase", "segmented", "direct"};
constexpr std::array<std::string_view, 4> domain_names = {"automatic", "even", "aligned", "cyclic"};

// One setting: its names, what a value does to Settings, and the value that Settings have; nothing: as suits.
struct Declaration {
  SettingName name;
  Status (*apply)(Settings&, const std::string&);
  std::string (*text)(const Settings&);
};

Result<std::uint32_t> small_number(const std::string& text, std::int64_t least = 0) {
  WEIR_ASSIGN(const std::int64_t value, parse_integer(text));
  if (value < least || value > INT32_MAX)
    return fail(ErrorCode::invalid_argument, fmt::format("'{}' is out of range", text),
                fmt::format("give a whole number from {} on", least));
  return static_cast<std::uint32_t>(value);
}

Result<bool> truth(const std::string& text) {
  for (const std::string_view yes : {"1", "true", "yes", "on", "enable"})
    if (text == yes) return true;
  for (const std::string_view no : {"0", "false", "no", "off", "disable"})
    if (text == no) return false;
  return fail(ErrorCode::invalid_argument, fmt::format("'{}' is neither yes nor no", text), "give 0 or 1");
}

Result<std::vector<std::uint32_t>> rank_list(const std::string& text) {
  std::vector<std::uint32_t> ranks;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    WEIR_ASSIGN(const std::uint32_t rank, small_number(text.substr(at, comma - at)));
    ranks.push_back(rank);
    at = comma + 1;
  }
  return ranks;
}

Status set_algorithm(Settings& settings, const std::string& text) {
  if (text == "T" || text == "two-phase")
    settings.algorithm = Algorithm::two_phase;
  else if (text == "N" || text == "direct")
    settings.algorithm = Algorithm::direct;
  else if (text == "S" || text == "segmented")
    settings.algorithm = Algorithm::segmented;
  else if (text == "auto" || text == "automatic")
    settings.algorithm = Algorithm::automatic;
  else
    return fail(ErrorCode::invalid_argument, fmt::format("'{}' is no way of collective I/O", text),
                "it can be T (two-phase), N (without), S (segmented) or auto");
  return {};
}

std::string algorithm_text(const Settings& settings) {
  constexpr std::array<const char*, 4> words = {"auto", "T", "S", "N"};
  return words.at(static_cast<std::size_t>(settings.algorithm));
}

Status set_domains(Settings& settings, const std::string& text) {
  for (std::size_t i = 0; i < domain_names.size(); ++i) {
    if (text != domain_names[i]) continue;
    settings.domains = static_cast<DomainKind>(i);
    return {};
  }
  return fail(ErrorCode::invalid_argument, fmt::format("'{}' is no kind of file domain", text),
              "it can be automatic, even, aligned or cyclic");
}

template <auto Member>
Status set_number(Settings& settings, const std::string& text) {
  WEIR_ASSIGN(settings.*Member, small_number(text));
  return {};
}

template <auto Member>
Status set_truth(Settings& settings, const std::string& text) {
  WEIR_ASSIGN(settings.*Member, truth(text));
  return {};
}

std::string text_of(std::uint64_t number) {
  return number == 0 ? std::string() : std::to_string(number);
}

template <auto Member>
std::string number_text(const Settings& settings) {
  return text_of(settings.*Member);
}

template <auto Member>
std::string truth_text(const Settings& settings) {
  return settings.*Member ? "1" : "0";
}

Status set_buffer(Settings& settings, const std::string& text) {
  WEIR_ASSIGN(const std::int64_t bytes, parse_bytes(text));
  if (bytes < least_buffer || bytes > most_buffer)
    return fail(ErrorCode::invalid_argument, fmt::format("a buffer of '{}'", text), "give 4 KiB to 1 GiB");
  settings.buffer = static_cast<std::uint64_t>(bytes);
  return {};
}

Status set_unit(Settings& settings, const std::string& text) {
  WEIR_ASSIGN(const std::int64_t bytes, parse_bytes(text));
  if (bytes < 0 || bytes > (std::int64_t{1} << 40))
    return fail(ErrorCode::invalid_argument, fmt::format("stripes of '{}'", text), "give up to 1 TiB");
  settings.striping.unit = static_cast<std::uint64_t>(bytes);
  settings.striping.targets.clear();
  return {};
}

Status set_factor(Settings& settings, const std::string& text) {
  WEIR_ASSIGN(settings.striping.factor, small_number(text, 1));
  settings.striping.targets.clear();
  return {};
}

Status set_striping(Settings& settings, const std::string& text) {
  WEIR_ASSIGN(settings.striping, parse_striping(text));
  return {};
}

Status set_ranks(Settings& settings, const std::string& text) {
  settings.ranks.clear();
  if (text.empty()) return {};
  WEIR_ASSIGN(settings.ranks, rank_list(text));
  return {};
}

const std::array<Declaration, 14>& declarations() {
  static const std::array<Declaration, 14> all = {{
      {{"", "weir_two_phase", "WEIR_TWO_PHASE", "T, N (without two-phase I/O), S (segmented) or auto"},
       set_algorithm,
       algorithm_text},
      {{"agg", "weir_agg", "WEIR_AGG", "1: order of aggregators that knows the striping"},
       set_truth<&Settings::striping_aware>,
       truth_text<&Settings::striping_aware>},
      {{"rr", "weir_rr", "WEIR_RR", "1: aggregators round-robin over nodes"},
       set_truth<&Settings::round_robin>,
       truth_text<&Settings::round_robin>},
      {{"req", "weir_req", "WEIR_REQ", "requests per target and step; 0: no throttling"},
       set_number<&Settings::requests>,
       [](const Settings& settings) { return std::to_string(settings.requests); }},
      {{"cb_nodes", "cb_nodes", "WEIR_CB_NODES", "number of aggregators; 0: as many as suit"},
       set_number<&Settings::aggregators>,
       number_text<&Settings::aggregators>},
      {{"buffer", "cb_buffer_size", "WEIR_CB_BUFFER",
        "bytes that an aggregator takes in one cycle; unset: as many as suit"},
       set_buffer,
       number_text<&Settings::buffer>},
      {{"striping", "weir_striping", "WEIR_STRIPING", "stripes and storage targets in one: 1MiB x 4"},
       set_striping,
       [](const Settings&) { return std::string(); }},  // said by the two that follow
      {{"unit", "striping_unit", "WEIR_STRIPING_UNIT", "bytes of a stripe"},
       set_unit,
       [](const Settings& settings) { return text_of(settings.striping.unit); }},
      {{"factor", "striping_factor", "WEIR_STRIPING_FACTOR", "number of storage targets"},
       set_factor,
       [](const Settings& settings) {
         return settings.striping.asked_for() ? text_of(settings.striping.factor) : std::string();
       }},
      {{"domains", "weir_domains", "WEIR_DOMAINS", "file domains: automatic, even, aligned or cyclic"},
       set_domains,
       [](const Settings& settings) { return std::string(to_string(settings.domains)); }},
      {{"", "weir_aggregators", "WEIR_AGGREGATORS", "the aggregators by rank: 0,4,8"},
       set_ranks,
       [](const Settings& settings) { return fmt::format("{}", fmt::join(settings.ranks, ",")); }},
      {{"", "weir_fill", "WEIR_FILL",
        "0: small holes between pieces are never written, not even as they were"},
       set_truth<&Settings::fill>,
       truth_text<&Settings::fill>},
      {{"", "weir_allocate", "WEIR_ALLOCATE",
        "0: blocks of a growing file are not asked for before they are written"},
       set_truth<&Settings::allocate>,
       truth_text<&Settings::allocate>},
      {{"", "weir_team", "WEIR_TEAM", "take so many ranks for a node, to try things on one machine"},
       set_number<&Settings::team>,
       number_text<&Settings::team>},
  }};
  return all;
}

}  // namespace

std::string_view to_string(Algorithm algorithm) {
  return algorithm_names.at(static_cast<std::size_t>(algorithm));
}
std::string_view to_string(DomainKind kind) {
  return domain_names.at(static_cast<std::size_t>(kind));
}

Status check(const Settings& settings) {
  if ((settings.buffer > 0 && settings.buffer < static_cast<std::uint64_t>(least_buffer)) ||
      settings.buffer > static_cast<std::uint64_t>(most_buffer))
    return fail(ErrorCode::invalid_argument, fmt::format("a buffer of {} bytes", settings.buffer),
                "give 4 KiB to 1 GiB");
  if ((settings.domains == DomainKind::cyclic || settings.domains == DomainKind::aligned) &&
      settings.striping.factor == 0)
    return fail(ErrorCode::invalid_argument, "stripes on no target");
  return check(settings.striping);
}

std::uint64_t suitable_buffer(bool shared_locks) {
  return shared_locks ? 4U << 20U : 512U << 10U;
}

std::uint64_t aggregator_memory(const Settings& settings) {
  return 6 * settings.buffer;  // four cycles under way between nodes, two buffers to sort in
}

std::uint64_t node_memory(const Settings& settings, std::uint32_t aggregators_on_node) {
  return settings.buffer * (4 * std::uint64_t{aggregators_on_node} + 2);
}

namespace {

struct Named {
  const Declaration* setting;
  std::string value;
};

const Declaration& named_by(std::string_view hint) {
  for (const Declaration& declaration : declarations())
    if (declaration.name.hint == hint) return declaration;
  throw std::logic_error("no hint of Weir");
}

Result<Named> named_by_word(const std::string& word, const std::string& value) {
  std::vector<std::string> words;
  for (const Declaration& declaration : declarations()) {
    if (declaration.name.word.empty()) continue;
    if (declaration.name.word == word) return Named{&declaration, value};
    words.emplace_back(declaration.name.word);
  }
  return fail(ErrorCode::invalid_argument, fmt::format("there is no '{}'", word) + suggest(word, words));
}

// The settings that a configuration names.
Result<std::vector<Named>> named_in(std::string_view text) {
  const Declaration& way = named_by("weir_two_phase");
  if (text == "auto" || text.empty()) return std::vector<Named>{{&way, "auto"}};
  if (text == "original") text = "T:original";
  if (text.size() < 2 || text[1] != ':')
    return fail(ErrorCode::invalid_argument, "it names no way of collective I/O",
                "begin with T: (two-phase), N: (without) or S: (segmented), as in T:agg=1,rr=1,req=4");
  std::vector<Named> named = {{&way, std::string(text.substr(0, 1))}};
  text.remove_prefix(2);
  WEIR_ASSIGN(const OptionMap options, split_options(text == "original" ? "agg=0,rr=0,req=0" : text));
  for (const auto& [word, value] : options) {
    WEIR_ASSIGN(Named one, named_by_word(word, value));
    named.push_back(std::move(one));
  }
  return named;
}

}  // namespace

Result<Settings> parse_configuration(std::string_view text, Settings base) {
  const auto apply = [&]() -> Status {
    WEIR_ASSIGN(const std::vector<Named> named, named_in(text));
    for (const Named& one : named) WEIR_TRY(one.setting->apply(base, one.value));
    return {};
  };
  WEIR_TRY(in(apply(), fmt::format("configuration '{}'", text)));
  return base;
}

Result<std::map<std::string, std::string>> variables_of(std::string_view configuration) {
  WEIR_TRY(parse_configuration(configuration));
  std::map<std::string, std::string> variables;
  for (const char* hint : {"weir_agg", "weir_rr", "weir_req"})
    variables.emplace(named_by(hint).name.variable, "0");
  WEIR_ASSIGN(const std::vector<Named> named, named_in(configuration));
  for (const Named& one : named) variables[std::string(one.setting->name.variable)] = one.value;
  return variables;
}

std::string configuration_of(const Settings& settings) {
  if (settings.algorithm == Algorithm::automatic) return "auto";
  const char way = settings.algorithm == Algorithm::two_phase ? 'T'
                   : settings.algorithm == Algorithm::direct  ? 'N'
                                                              : 'S';
  std::string text = fmt::format("{}:agg={},rr={},req={}", way, settings.striping_aware ? 1 : 0,
                                 settings.round_robin ? 1 : 0, settings.requests);
  if (settings.aggregators > 0) text += fmt::format(",cb_nodes={}", settings.aggregators);
  return text;
}

std::span<const SettingName> setting_names() {
  static const std::vector<SettingName> names = [] {
    std::vector<SettingName> all;
    for (const Declaration& declaration : declarations()) all.push_back(declaration.name);
    return all;
  }();
  return names;
}

std::map<std::string, std::string> hints_of(const Settings& settings) {
  std::map<std::string, std::string> hints;
  for (const Declaration& declaration : declarations())
    if (std::string value = declaration.text(settings); !value.empty())
      hints.emplace(declaration.name.hint, std::move(value));
  return hints;
}

Status check_hint(std::string_view hint, const std::string& value) {
  Settings tried;
  return in(named_by(hint).apply(tried, value), fmt::format("hint {}", hint));
}

Result<Settings> read_settings(const Lookup& hint, const Lookup& variable, Settings base) {
  // All variables before the first hint: a setting may say what another one says, too.
  std::vector<std::pair<const Declaration*, std::string>> hints;
  for (const Declaration& declaration : declarations()) {
    if (hint) {
      if (auto said = hint(declaration.name.hint)) {
        hints.emplace_back(&declaration, std::move(*said));
        continue;
      }
    }
    const auto value = variable ? variable(declaration.name.variable) : std::nullopt;
    if (value && !value->empty())
      WEIR_TRY(in(declaration.apply(base, *value),
                  fmt::format("environment variable {}", declaration.name.variable)));
  }
  for (const auto& [declaration, value] : hints)
    WEIR_TRY(in(declaration->apply(base, value), fmt::format("hint {}", declaration->name.hint)));
  WEIR_TRY(check(base));
  return base;
}

}  // namespace weir::aggregation
