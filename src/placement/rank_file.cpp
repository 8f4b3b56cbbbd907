#include "placement/rank_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

#include "placement/roles.hpp"
#include "platform/host_list.hpp"
#include "platform/lookup.hpp"

namespace weir {

namespace {

constexpr std::string_view blanks = " \t\r";

class Line {
 public:
  Line(std::string_view text, std::size_t number) : text_(text), number_(number) {}

  template <class... Arguments>
  tl::unexpected<Failure> wrong(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    return fail(ErrorCode::corrupt, fmt::format("line {}: {}", number_,
                                                fmt::format(format, std::forward<Arguments>(arguments)...)));
  }
  bool done() const { return text_.empty(); }
  bool blank() const { return text_.find_first_not_of(blanks) == std::string_view::npos; }
  void skip_blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(blanks), text_.size())); }
  bool skip(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  bool number(std::uint32_t& value) {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc{}) return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return true;
  }
  std::string_view word(std::string_view ends) {
    const std::string_view result = text_.substr(0, text_.find_first_of(ends));
    text_.remove_prefix(result.size());
    return result;
  }
  std::string_view rest() const { return text_.substr(0, 40); }

 private:
  std::string_view text_;
  std::size_t number_;
};

Result<Numbers> parse_slots(Line& line) {
  Numbers slots;
  do {
    std::uint32_t first = 0, last = 0;
    if (!line.number(first)) return line.wrong("a number is expected at '{}'", line.rest());
    last = first;
    if (line.skip("-") && !line.number(last)) return line.wrong("a number is expected at '{}'", line.rest());
    if (first > last) return line.wrong("the range {}-{} runs backwards", first, last);
    if (last > largest_pu) return line.wrong("slot {} is above {}", last, largest_pu);
    if (slots.size() + (last - first) >= most_cores) return line.wrong("more than {} slots", most_cores);
    for (std::uint32_t slot = first; slot <= last; ++slot) slots.push_back(slot);
  } while (line.skip(","));
  std::sort(slots.begin(), slots.end());
  if (std::adjacent_find(slots.begin(), slots.end()) != slots.end())
    return line.wrong("a slot is named twice");
  return slots;
}

struct Parsed {
  std::uint32_t rank = 0;
  RankLine line;
};

Result<Parsed> parse_line(Line& line) {
  Parsed parsed;
  line.skip_blanks();
  if (!line.skip("rank")) return line.wrong("'rank' is expected, not '{}'", line.rest());
  line.skip_blanks();
  if (!line.number(parsed.rank)) return line.wrong("the number of a rank is expected at '{}'", line.rest());
  if (parsed.rank >= most_ranks) return line.wrong("rank {} is above {}", parsed.rank, most_ranks - 1);
  line.skip_blanks();
  if (!line.skip("=")) return line.wrong("'=' is expected behind the rank, at '{}'", line.rest());
  line.skip_blanks();
  std::string_view host = line.word(" \t\r");
  parsed.line.host = host;
  const bool relative = host.starts_with("+n") && host.size() > 2 && host.size() < 12 &&
                        host.substr(2).find_first_not_of("0123456789") == std::string_view::npos;
  if (!relative && !is_host_name(host))
    return line.wrong("'{}' is not the name of a host", host.substr(0, 40));
  line.skip_blanks();
  if (!line.skip("slot=")) return line.wrong("'slot=' is expected, not '{}'", line.rest());
  WEIR_ASSIGN(parsed.line.slots, parse_slots(line));
  if (line.skip(":")) {
    if (parsed.line.slots.size() != 1) return line.wrong("one socket is expected before ':'");
    parsed.line.socket = static_cast<std::int32_t>(parsed.line.slots[0]);
    WEIR_ASSIGN(parsed.line.slots, parse_slots(line));
  }
  if (!line.blank()) return line.wrong("'{}' is left over behind the slots", line.rest());
  return parsed;
}

}  // namespace

Result<std::vector<RankLine>> parse_rank_file(std::string_view text) {
  if (text.size() > largest_rank_file)
    return fail(ErrorCode::corrupt, fmt::format("a rank file of more than {} bytes", largest_rank_file));
  std::map<std::uint32_t, std::pair<RankLine, std::size_t>> lines;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    content = content.substr(0, content.find('#'));
    Line line(content, number);
    if (line.blank()) continue;
    WEIR_ASSIGN(Parsed parsed, parse_line(line));
    const auto [at, added] = lines.try_emplace(parsed.rank, std::move(parsed.line), number);
    if (!added) return line.wrong("rank {} stands on line {} already", parsed.rank, at->second.second);
  }
  std::vector<RankLine> result;
  result.reserve(lines.size());
  for (auto& [rank, entry] : lines) {
    if (rank != result.size())
      return fail(ErrorCode::corrupt,
                  fmt::format("rank {} is missing, but there is a rank {}", result.size(), rank));
    result.push_back(std::move(entry.first));
  }
  if (result.empty()) return fail(ErrorCode::corrupt, "there is no rank in it");
  return result;
}

Status check(const std::vector<RankLine>& lines, const Platform& platform, bool physical) {
  std::unordered_map<std::string, std::uint32_t> index;
  for (std::uint32_t node = 0; node < platform.nodes.size(); ++node)
    index.emplace(platform.nodes[node].name, node);
  const PlatformLookup lookup(platform);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> taken;
  for (std::size_t rank = 0; rank < lines.size(); ++rank) {
    const RankLine& line = lines[rank];
    const auto wrong = [&](const std::string& what) {
      return fail(ErrorCode::invalid_argument, fmt::format("rank {}: {}", rank, what));
    };
    std::uint32_t node = 0;
    if (line.host.starts_with("+n")) {
      std::from_chars(line.host.data() + 2, line.host.data() + line.host.size(), node);
      if (node >= platform.nodes.size())
        return wrong(fmt::format("node {} does not exist, there are {}", line.host, platform.nodes.size()));
    } else {
      const auto found = index.find(line.host);
      if (found == index.end()) return wrong(fmt::format("host '{}' is not in the platform", line.host));
      node = found->second;
    }
    const NodeType& type = platform.type_of(node);
    for (std::uint32_t slot : line.slots) {
      if (line.socket >= 0) {
        const auto socket = static_cast<std::size_t>(line.socket);
        if (socket >= type.packages.size() || slot >= type.packages[socket].cores.count)
          return wrong(fmt::format("host '{}' has no core {}:{}", platform.nodes[node].name, socket, slot));
        slot += type.packages[socket].cores.first;
      } else if (physical ? !lookup.node(node).core_of(slot) : slot >= type.core_count()) {
        return wrong(fmt::format("host '{}' has no {} {}", platform.nodes[node].name,
                                 physical ? "hardware thread" : "core", slot));
      }
      const auto [at, added] = taken.try_emplace({node, slot}, rank);
      if (!added)
        return wrong(fmt::format("slot {} of host '{}' is that of rank {} too", slot,
                                 platform.nodes[node].name, at->second));
    }
  }
  return {};
}

}  // namespace weir
