#include "core/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace weir {

namespace {

struct Unit {
  std::string_view suffix;
  double factor;
};

constexpr std::array<Unit, 14> byte_units = {{{"", 1},
                                              {"B", 1},
                                              {"K", 0x1p10},
                                              {"M", 0x1p20},
                                              {"G", 0x1p30},
                                              {"T", 0x1p40},
                                              {"KiB", 0x1p10},
                                              {"MiB", 0x1p20},
                                              {"GiB", 0x1p30},
                                              {"TiB", 0x1p40},
                                              {"k", 0x1p10},
                                              {"m", 0x1p20},
                                              {"g", 0x1p30},
                                              {"t", 0x1p40}}};
constexpr std::array<Unit, 6> time_units = {
    {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"min", 60}, {"h", 3600}}};

// "1.5GiB" -> 1.5 x the factor of the unit. The text must be used up.
Result<double> parse_quantity(std::string_view text, std::span<const Unit> units, std::string_view example) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && std::isfinite(number) && number >= 0) {
    std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
    while (suffix.starts_with(' ')) suffix.remove_prefix(1);
    for (const Unit& unit : units) {
      if (unit.suffix == suffix) return number * unit.factor;
    }
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("'{}' is not a quantity; write it like {}", text, example));
}

std::optional<bool> parse_flag(std::string_view text) {
  for (const std::string_view yes : {"yes", "true", "on", "1"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"no", "false", "off", "0"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

// "0+2+4"; nothing is an empty list.
Result<std::vector<std::int64_t>> parse_numbers(std::string_view text) {
  std::vector<std::int64_t> numbers;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('+'), text.size());
    WEIR_ASSIGN(const std::int64_t number, parse_integer(text.substr(0, end)));
    numbers.push_back(number);
    if (end + 1 == text.size())
      return fail(ErrorCode::invalid_argument, "a number is missing behind the last '+'");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return numbers;
}

Status check_bounds(const Option& option, std::int64_t value) {
  if (value >= option.least && value <= option.most) return {};
  if (option.or_zero && value == 0) return {};
  const std::string least = option.least == INT64_MIN ? ""
                            : option.or_zero          ? fmt::format(" 0, or at least {}", option.least)
                                                      : fmt::format(" at least {}", option.least);
  const std::string most = option.most == INT64_MAX ? "" : fmt::format(" at most {}", option.most);
  return fail(ErrorCode::invalid_argument, fmt::format("{} is out of range; it must be{}{}{}", value, least,
                                                       least.empty() || most.empty() ? "" : " and", most));
}

// The value in the spelling the getters read: numbers in plain units, flags as yes/no.
Result<std::string> normalise(const Option& option, const std::string& value) {
  switch (option.kind) {
    case Option::Kind::boolean: {
      const auto flag = parse_flag(value);
      if (!flag) return fail(ErrorCode::invalid_argument, fmt::format("'{}' is neither yes nor no", value));
      return std::string(*flag ? "yes" : "no");
    }
    case Option::Kind::integer:
    case Option::Kind::bytes: {
      WEIR_ASSIGN(const std::int64_t number,
                  option.kind == Option::Kind::bytes ? parse_bytes(value) : parse_integer(value));
      WEIR_TRY(check_bounds(option, number));
      return std::to_string(number);
    }
    case Option::Kind::seconds: {
      WEIR_ASSIGN(const double seconds, parse_seconds(value));
      return fmt::format("{}", seconds);
    }
    case Option::Kind::word: {
      if (std::find(option.words.begin(), option.words.end(), value) != option.words.end()) return value;
      return fail(ErrorCode::invalid_argument,
                  fmt::format("unknown value '{}'{}", value,
                              suggest(value, {option.words.begin(), option.words.end()})));
    }
    case Option::Kind::numbers: {
      WEIR_ASSIGN(const std::vector<std::int64_t> numbers, parse_numbers(value));
      for (const std::int64_t number : numbers) WEIR_TRY(check_bounds(option, number));
      return value;
    }
    case Option::Kind::text:
      return value;
  }
  throw std::logic_error("unknown kind of option");
}

}  // namespace

Result<Options> parse_options(std::string_view owner, std::span<const Option> declared,
                              const OptionMap& given) {
  for (const auto& [name, value] : given) {
    if (std::none_of(declared.begin(), declared.end(),
                     [&name = name](const Option& o) { return o.name == name; })) {
      std::vector<std::string> names;
      for (const Option& option : declared) names.emplace_back(option.name);
      const std::string known = names.empty() ? "; it has no options" : suggest(name, names);
      return fail(ErrorCode::invalid_argument, fmt::format("{} has no option '{}'{}", owner, name, known));
    }
  }
  Options options;
  for (const Option& option : declared) {
    const auto said = given.find(std::string(option.name));
    auto value = normalise(option, said == given.end() ? std::string(option.fallback) : said->second);
    if (!value) {
      Failure failure = value.error();
      failure.cause = fmt::format("{}, option '{}': {}", owner, option.name, failure.cause);
      return tl::make_unexpected(failure);
    }
    options.values_.emplace(option.name, *value);
    options.given_.emplace(option.name, said != given.end());
  }
  return options;
}

bool Options::flag(std::string_view name) const {
  return text(name) == "yes";
}
std::int64_t Options::integer(std::string_view name) const {
  return std::stoll(text(name));
}
double Options::seconds(std::string_view name) const {
  return std::stod(text(name));
}
bool Options::given(std::string_view name) const {
  return given_.find(name)->second;
}

std::vector<std::int64_t> Options::numbers(std::string_view name) const {
  return parse_numbers(text(name)).value();
}

const std::string& Options::text(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw std::logic_error("option not declared: " + std::string(name));
  return found->second;
}

Result<OptionMap> split_options(std::string_view text) {
  OptionMap map;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const auto equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return fail(ErrorCode::invalid_argument, fmt::format("'{}' is not of the form name=value", item));
    }
    if (!map.emplace(item.substr(0, equals), item.substr(equals + 1)).second) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("option '{}' is given twice", item.substr(0, equals)));
    }
  }
  return map;
}

Result<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size()) return value;
  return fail(ErrorCode::invalid_argument, fmt::format("'{}' is not a whole number", text));
}

Result<std::int64_t> parse_bytes(std::string_view text) {
  if (auto plain = parse_integer(text); plain && *plain >= 0) return plain;
  WEIR_ASSIGN(const double bytes, parse_quantity(text, byte_units, "4194304, 4MiB or 1.5GiB"));
  if (bytes >= 0x1p63)
    return fail(ErrorCode::invalid_argument, fmt::format("'{}' is more than 2^63 bytes", text));
  return static_cast<std::int64_t>(bytes);
}

Result<double> parse_seconds(std::string_view text) {
  return parse_quantity(text, time_units, "2, 1.5s, 20ms or 5min");
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 7> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  auto scaled = static_cast<double>(bytes);
  while (scaled >= 1024 && unit + 1 < units.size()) {
    scaled /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", scaled, units[unit]);
}

std::string describe_options(std::span<const Option> declared) {
  std::string text;
  for (const Option& option : declared) {
    std::string values;
    for (const std::string_view word : option.words)
      values += fmt::format("{}{}", values.empty() ? "" : "|", word);
    if (option.kind == Option::Kind::boolean) values = "yes|no";
    text +=
        fmt::format("  {:<18} {}{}{} (default {})\n", option.name, option.help, values.empty() ? "" : ": ",
                    values, option.fallback.empty() ? "none" : option.fallback);
  }
  return text;
}

}  // namespace weir
