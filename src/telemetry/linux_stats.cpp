#include "telemetry/linux_stats.hpp"

#include <fmt/format.h>

#include "telemetry/text_fields.hpp"

namespace weir::telemetry {

namespace {

constexpr std::uint64_t sector = 512;

// Fills the numbers from the words of a line; how many there were.
template <std::size_t N>
std::size_t take_numbers(std::string_view line, std::array<std::uint64_t, N>& numbers) {
  for (std::size_t i = 0; i < N; ++i) {
    const auto value = whole_number(take_word(line));
    if (!value) return i;
    numbers[i] = *value;
  }
  return N;
}

}  // namespace

NetworkLines parse_network(std::string_view text) {
  constexpr std::size_t most_problems = 10;
  NetworkLines result;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.find_first_not_of(" \t") == std::string_view::npos || line.find('|') != std::string_view::npos)
      continue;
    const auto colon = line.rfind(':');  // an alias has one in its name
    std::string_view name = line.substr(0, colon);
    name = take_word(name);
    std::array<std::uint64_t, 12> numbers{};
    if (colon == std::string_view::npos || name.empty() ||
        take_numbers(line.substr(colon + 1), numbers) < numbers.size()) {
      if (result.problems.size() < most_problems)
        result.problems.push_back(fmt::format("line {}: not 'INTERFACE: NUMBERS'", number));
      continue;
    }
    result.lines.push_back({.interface = name,
                            .rx_bytes = numbers[0],
                            .rx_packets = numbers[1],
                            .rx_dropped = numbers[3],
                            .tx_bytes = numbers[8],
                            .tx_packets = numbers[9],
                            .tx_dropped = numbers[11]});
  }
  return result;
}

Result<BlockStat> parse_block_stat(std::string_view text) {
  std::array<std::uint64_t, 11> numbers{};  // newer kernels have more, about discards and flushes
  if (take_numbers(take_line(text), numbers) < numbers.size())
    return fail(ErrorCode::corrupt, "line 1: not the 11 numbers of a block device");
  return BlockStat{.read_ops = numbers[0],
                   .read_bytes = numbers[2] * sector,
                   .read_ms = numbers[3],
                   .write_ops = numbers[4],
                   .write_bytes = numbers[6] * sector,
                   .write_ms = numbers[7],
                   .in_flight = numbers[8],
                   .busy_ms = numbers[9],
                   .queue_ms = numbers[10]};
}

Result<ProcessorTicks> parse_processor_ticks(std::string_view text) {
  std::string_view line = take_line(text);
  std::array<std::uint64_t, 8> ticks{};  // user nice system idle iowait irq softirq steal
  if (take_word(line) != "cpu" || take_numbers(line, ticks) < 5)
    return fail(ErrorCode::corrupt, "line 1: not 'cpu' and its ticks");
  return ProcessorTicks{.busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7],
                        .iowait = ticks[4]};
}

std::optional<std::uint64_t> find_number(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = take_line(text);
    std::string_view word = take_word(line);
    if (word.ends_with(':')) word.remove_suffix(1);
    if (word == name) return whole_number(take_word(line));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> find_pressure_total(std::string_view text, std::string_view kind) {
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (take_word(line) != kind) continue;
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      if (word.starts_with("total=")) return whole_number(word.substr(6));
    }
  }
  return std::nullopt;
}

}  // namespace weir::telemetry
