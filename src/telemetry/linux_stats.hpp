// The files in which Linux says what its network interfaces, block devices and the node itself did. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace weir::telemetry {

// A line of /proc/net/dev.
struct NetworkLine {
  std::string_view interface;
  std::uint64_t rx_bytes = 0, rx_packets = 0, rx_dropped = 0;
  std::uint64_t tx_bytes = 0, tx_packets = 0, tx_dropped = 0;
};
struct NetworkLines {
  std::vector<NetworkLine> lines;
  std::vector<std::string> problems;  // "line 3: ..."
};
NetworkLines parse_network(std::string_view text);

// /sys/block/DEVICE/stat, with its sectors of 512 bytes made bytes.
struct BlockStat {
  std::uint64_t read_ops = 0, read_bytes = 0, read_ms = 0;
  std::uint64_t write_ops = 0, write_bytes = 0, write_ms = 0;
  std::uint64_t in_flight = 0, busy_ms = 0, queue_ms = 0;
  bool operator==(const BlockStat&) const = default;
};
Result<BlockStat> parse_block_stat(std::string_view text);

// The first line of /proc/stat, in ticks.
struct ProcessorTicks {
  std::uint64_t busy = 0;
  std::uint64_t iowait = 0;
};
Result<ProcessorTicks> parse_processor_ticks(std::string_view text);

// The number behind a name at the beginning of a line: /proc/vmstat ("pgpgin 123") and /proc/meminfo
// ("Dirty:   12 kB").
std::optional<std::uint64_t> find_number(std::string_view text, std::string_view name);

// /proc/pressure/io: "some avg10=0.00 avg60=0.00 avg300=0.00 total=123".
std::optional<std::uint64_t> find_pressure_total(std::string_view text, std::string_view kind);

}  // namespace weir::telemetry
