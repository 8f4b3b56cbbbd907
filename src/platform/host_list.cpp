#include "platform/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

namespace weir {

namespace {

constexpr std::size_t longest_name = 255;
constexpr std::size_t most_digits = 18;  // of a number in a name: fits 64 bits

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
}

// Hosts in order of first mention; a further mention adds slots.
class HostTable {
 public:
  void add(std::string name, std::uint32_t slots) {
    const auto [found, is_new] = index_.emplace(name, hosts_.size());
    if (is_new) {
      hosts_.push_back({std::move(name), slots});
      return;
    }
    Host& host = hosts_[found->second];
    const std::uint64_t sum = std::uint64_t{std::max(host.slots, 1U)} + std::max(slots, 1U);
    host.slots = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, most_slots));
  }
  std::size_t mentions = 0;
  std::vector<Host> take() { return std::move(hosts_); }

 private:
  std::vector<Host> hosts_;
  std::unordered_map<std::string, std::size_t> index_;
};

struct NumberRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::size_t width = 0;  // digits at least; 0: as many as needed
};

// Either plain text or the ranges of one pair of brackets.
struct Part {
  std::string text;
  std::vector<NumberRange> ranges;
};

class HostListParser {
 public:
  // `before` is put in front of an error: "host list" or "line 3".
  HostListParser(std::string_view text, std::string before) : text_(text), before_(std::move(before)) {}

  // `default_slots` is for entries that say none themselves.
  Status parse(HostTable& hosts, std::uint32_t default_slots) {
    do {
      WEIR_TRY(entry(hosts, default_slots));
    } while (take(','));
    if (position_ < text_.size()) return wrong(fmt::format("unexpected '{}'", printable(text_[position_])));
    return {};
  }

 private:
  static std::string printable(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte >= 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }

  tl::unexpected<Failure> wrong(std::string what) const {
    return fail(ErrorCode::invalid_argument, fmt::format("{}, column {}: {}", before_, position_ + 1, what));
  }

  bool at(char c) const { return position_ < text_.size() && text_[position_] == c; }
  bool take(char c) {
    if (!at(c)) return false;
    ++position_;
    return true;
  }

  std::string_view digits() {
    const std::size_t start = position_;
    while (position_ < text_.size() && is_digit(text_[position_])) ++position_;
    return text_.substr(start, position_ - start);
  }

  Result<std::uint64_t> value_of(std::string_view digits) const {
    if (digits.empty()) return wrong("a number is expected");
    if (digits.size() > most_digits)
      return wrong(fmt::format("the number has more than {} digits", most_digits));
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  }

  Result<NumberRange> range() {
    NumberRange range;
    const std::string_view first = digits();
    WEIR_ASSIGN(range.first, value_of(first));
    range.last = range.first;
    if (first.size() > 1 && first.front() == '0') range.width = first.size();
    if (take('-')) {
      const std::string_view last = digits();
      WEIR_ASSIGN(range.last, value_of(last));
      if (range.last < range.first)
        return wrong(fmt::format("the range {}-{} ends before it starts", first, last));
      const bool mixed =
          range.width != 0 ? last.size() != range.width : last.size() > 1 && last.front() == '0';
      if (mixed)
        return wrong(fmt::format("the ends of {}-{} have leading zeros of different width", first, last));
    }
    return range;
  }

  Result<std::vector<NumberRange>> brackets() {
    std::vector<NumberRange> ranges;
    do {
      WEIR_ASSIGN(const NumberRange one, range());
      ranges.push_back(one);
    } while (take(','));
    if (!take(']'))
      return wrong(position_ == text_.size() ? "']' is missing" : "',', '-' or ']' is expected");
    return ranges;
  }

  Result<std::uint32_t> slot_count() {
    WEIR_ASSIGN(const std::uint64_t count, value_of(digits()));
    if (count == 0) return wrong("a host needs at least one slot");
    if (count > most_slots) return wrong(fmt::format("more than {} slots on a host", most_slots));
    return static_cast<std::uint32_t>(count);
  }

  Status entry(HostTable& hosts, std::uint32_t default_slots) {
    std::vector<Part> parts;
    while (position_ < text_.size() && !at(',') && !at(':')) {
      if (take('[')) {
        WEIR_ASSIGN(auto ranges, brackets());
        parts.push_back({.ranges = std::move(ranges)});
        continue;
      }
      const std::size_t start = position_;
      while (position_ < text_.size() && is_name_character(text_[position_])) ++position_;
      if (position_ == start)
        return wrong(fmt::format("'{}' cannot be part of a host name", printable(text_[position_])));
      parts.push_back({.text = std::string(text_.substr(start, position_ - start))});
    }
    if (parts.empty()) return wrong("a host name is expected");
    std::uint32_t slots = default_slots;
    if (take(':')) {
      WEIR_ASSIGN(slots, slot_count());
    }
    WEIR_TRY(count_hosts(parts, hosts));
    return expand(parts, 0, std::string(), slots, hosts);
  }

  // Refuses before anything is expanded.
  Status count_hosts(const std::vector<Part>& parts, HostTable& hosts) const {
    std::uint64_t product = 1;
    for (const Part& part : parts) {
      if (part.ranges.empty()) continue;
      std::uint64_t sum = 0;  // at most 10^18 a range and checked after each: cannot overflow
      for (const NumberRange& range : part.ranges) {
        sum += range.last - range.first + 1;
        if (sum > most_hosts) break;
      }
      product *= std::min<std::uint64_t>(sum, most_hosts + 1);
      if (product > most_hosts) break;
    }
    hosts.mentions += product;
    if (hosts.mentions <= most_hosts) return {};
    return wrong(fmt::format("the list names more than {} hosts", most_hosts));
  }

  Status expand(const std::vector<Part>& parts, std::size_t next, const std::string& before,
                std::uint32_t slots, HostTable& hosts) const {
    if (before.size() > longest_name)
      return wrong(fmt::format("a host name is longer than {} characters", longest_name));
    if (next == parts.size()) {
      hosts.add(before, slots);
      return {};
    }
    const Part& part = parts[next];
    if (part.ranges.empty()) return expand(parts, next + 1, before + part.text, slots, hosts);
    for (const NumberRange& range : part.ranges) {
      for (std::uint64_t value = range.first; value <= range.last; ++value) {
        WEIR_TRY(expand(parts, next + 1, fmt::format("{}{:0{}}", before, value, range.width), slots, hosts));
      }
    }
    return {};
  }

  std::string_view text_;
  std::string before_;
  std::size_t position_ = 0;
};

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// "slots=4 max_slots=8" behind a host. Gives the slots; 0 where they are not said.
Result<std::uint32_t> parse_host_keys(std::string_view text, const std::string& line) {
  std::uint32_t slots = 0;
  while (!(text = trim(text)).empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    text.remove_prefix(word.size());
    const auto equals = word.find('=');
    std::string key(word.substr(0, equals));
    std::replace(key.begin(), key.end(), '-', '_');
    if (key != "slots" && key != "max_slots") {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{}: unknown word '{}'{}", line, word, suggest(key, {"slots", "max_slots"})));
    }
    const std::string_view digits =
        equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value == 0 || value > most_slots) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{}: '{}' does not give a number from 1 to {}", line, word, most_slots));
    }
    if (key == "slots") slots = value;
  }
  return slots;
}

// A name as text around its last number: "c0n07-ib" is "c0n", 7 in two digits, "-ib".
struct NumberedName {
  std::string_view before, digits, after;
  std::uint64_t value = 0;

  bool zero_padded() const { return digits.size() > 1 && digits.front() == '0'; }
  // Whether `next` carries on the range that started with *this and has come to `last`.
  bool continues(const NumberedName& next, std::uint64_t last) const {
    return next.value == last + 1 &&
           (zero_padded() ? next.digits.size() == digits.size() : !next.zero_padded());
  }
};

std::optional<NumberedName> split_name(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && !is_digit(name[end - 1])) --end;
  std::size_t start = end;
  while (start > 0 && is_digit(name[start - 1])) --start;
  if (start == end || end - start > most_digits) return std::nullopt;
  NumberedName split{name.substr(0, start), name.substr(start, end - start), name.substr(end)};
  std::from_chars(split.digits.data(), split.digits.data() + split.digits.size(), split.value);
  return split;
}

}  // namespace

bool is_host_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name &&
         std::all_of(name.begin(), name.end(), is_name_character);
}

Result<std::vector<Host>> parse_host_list(std::string_view text) {
  HostTable hosts;
  WEIR_TRY(HostListParser(trim(text), "host list").parse(hosts, 0));
  return hosts.take();
}

Result<std::vector<Host>> parse_host_file(std::string_view text) {
  HostTable hosts;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::string_view names = line.substr(0, line.find_first_of(" \t"));
    const std::string where = fmt::format("line {}", number);
    WEIR_ASSIGN(const std::uint32_t slots, parse_host_keys(line.substr(names.size()), where));
    WEIR_TRY(HostListParser(names, where).parse(hosts, slots));
  }
  auto list = hosts.take();
  if (list.empty()) return fail(ErrorCode::invalid_argument, "the host file names no host");
  return list;
}

std::string format_host_list(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size();) {
    if (!text.empty()) text += ',';
    const auto head = split_name(names[i]);
    if (!head) {
      text += names[i++];
      continue;
    }
    // All that follows with the same text around the number goes into one pair of brackets.
    std::string ranges;
    std::size_t members = 0;
    std::optional<NumberedName> name = head;
    while (name) {
      const NumberedName first = *name;
      NumberedName last = first;
      do {
        last = *name;
        ++members;
        name = i + members < names.size() ? split_name(names[i + members]) : std::nullopt;
        if (name && (name->before != head->before || name->after != head->after)) name.reset();
      } while (name && first.continues(*name, last.value));
      ranges += fmt::format("{}{}", ranges.empty() ? "" : ",", first.digits);
      if (last.value != first.value) ranges += fmt::format("-{}", last.digits);
    }
    text += members == 1 ? names[i] : fmt::format("{}[{}]{}", head->before, ranges, head->after);
    i += members;
  }
  return text;
}

}  // namespace weir
