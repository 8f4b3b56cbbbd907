// What is counted: every counter Weir knows, declared once. The declaration gives its unit, how its values
// are to be differenced, and which direction is good; sources, stores, metrics and reports ask here.
//
// A value is always an unsigned 64-bit whole number, so that no counter is ever rounded. A gauge has a unit
// fine enough for whole numbers.
//
// An id is the place in the table and belongs to this build: what is stored or sent names counters by name.
//
// Threads: constants.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weir::telemetry {

enum class CounterKind : std::uint8_t {
  cumulative,  // only its growth means something
  gauge,       // a state at one moment
};

// Which way is better for whoever waits for I/O.
enum class Direction : std::uint8_t { neither, high, low };

struct Counter {
  std::string_view name;  // "ost.write_bytes": what is counted on, a dot, what is counted
  std::string_view unit;  // "bytes", "requests", "cycles", "us", ...; empty: a plain number
  CounterKind kind = CounterKind::cumulative;
  std::uint8_t wrap_bits = 64;  // it goes back to 0 after 2^wrap_bits - 1; 0: never
  Direction good = Direction::neither;
  std::string_view what;        // one line for --help and reports
  std::string_view start = {};  // the gauge that says when counting began; a change of it is a reset
};

using CounterId = std::uint16_t;

namespace detail {
constexpr auto cumulative = CounterKind::cumulative;
constexpr auto gauge = CounterKind::gauge;
constexpr auto neither = Direction::neither;
constexpr auto high = Direction::high;
constexpr auto low = Direction::low;
}  // namespace detail

// clang-format off
inline constexpr std::array counter_table = {
    // Lustre object storage server, all its targets together. Sampled once per request taken from the queue:
    // d(sum)/d(count) is the mean over requests, not over time.
    Counter{"ost_io.req_waittime.count", "requests", detail::cumulative, 64, detail::neither, "requests whose wait was measured", "ost_io.start_time"},
    Counter{"ost_io.req_waittime.sum",   "us",       detail::cumulative, 64, detail::low,     "time requests waited in the queue", "ost_io.start_time"},
    Counter{"ost_io.req_waittime.sumsq", "us^2",     detail::cumulative, 64, detail::neither, "squares of those times", "ost_io.start_time"},
    Counter{"ost_io.req_qdepth.count",   "requests", detail::cumulative, 64, detail::neither, "requests at which the queue was measured", "ost_io.start_time"},
    Counter{"ost_io.req_qdepth.sum",     "requests", detail::cumulative, 64, detail::low,     "length of the queue, summed over requests", "ost_io.start_time"},
    Counter{"ost_io.req_qdepth.sumsq",   "requests^2", detail::cumulative, 64, detail::neither, "squares of those lengths", "ost_io.start_time"},
    Counter{"ost_io.req_active.count",   "requests", detail::cumulative, 64, detail::neither, "requests at which busy threads were counted", "ost_io.start_time"},
    Counter{"ost_io.req_active.sum",     "requests", detail::cumulative, 64, detail::high,    "requests being served, summed over requests", "ost_io.start_time"},
    Counter{"ost_io.req_active.sumsq",   "requests^2", detail::cumulative, 64, detail::neither, "squares of those numbers", "ost_io.start_time"},
    Counter{"ost_io.req_timeout.count",  "requests", detail::cumulative, 64, detail::neither, "requests given a time limit", "ost_io.start_time"},
    Counter{"ost_io.req_timeout.sum",    "s",        detail::cumulative, 64, detail::low,     "time limits, summed over requests", "ost_io.start_time"},
    Counter{"ost_io.reqbuf_avail.count", "requests", detail::cumulative, 64, detail::neither, "times free request buffers were counted", "ost_io.start_time"},
    Counter{"ost_io.reqbuf_avail.sum",   "buffers",  detail::cumulative, 64, detail::high,    "free request buffers, summed over those times", "ost_io.start_time"},
    Counter{"ost_io.read.count",         "requests", detail::cumulative, 64, detail::neither, "read requests served", "ost_io.start_time"},
    Counter{"ost_io.read.sum",           "us",       detail::cumulative, 64, detail::low,     "time spent serving reads", "ost_io.start_time"},
    Counter{"ost_io.write.count",        "requests", detail::cumulative, 64, detail::neither, "write requests served", "ost_io.start_time"},
    Counter{"ost_io.write.sum",          "us",       detail::cumulative, 64, detail::low,     "time spent serving writes", "ost_io.start_time"},
    Counter{"ost_io.start_time",         "ns",       detail::gauge,       0, detail::neither, "when the server began to count"},
    // One Lustre object storage target.
    Counter{"ost.read_bytes",  "bytes",    detail::cumulative, 64, detail::high,    "bytes read from a target", "ost.start_time"},
    Counter{"ost.read_ops",    "requests", detail::cumulative, 64, detail::neither, "reads of a target", "ost.start_time"},
    Counter{"ost.write_bytes", "bytes",    detail::cumulative, 64, detail::high,    "bytes written to a target", "ost.start_time"},
    Counter{"ost.write_ops",   "requests", detail::cumulative, 64, detail::neither, "writes to a target", "ost.start_time"},
    Counter{"ost.start_time",  "ns",       detail::gauge,       0, detail::neither, "when the target began to count"},
    // One job on one target (Lustre job_stats). An idle job is forgotten by the server: its counts begin anew.
    Counter{"job.read_bytes",  "bytes",    detail::cumulative, 64, detail::high,    "bytes a job read from a target", "job.start_time"},
    Counter{"job.read_ops",    "requests", detail::cumulative, 64, detail::neither, "reads of a job from a target", "job.start_time"},
    Counter{"job.write_bytes", "bytes",    detail::cumulative, 64, detail::high,    "bytes a job wrote to a target", "job.start_time"},
    Counter{"job.write_ops",   "requests", detail::cumulative, 64, detail::neither, "writes of a job to a target", "job.start_time"},
    Counter{"job.start_time",  "ns",       detail::gauge,       0, detail::neither, "when the target began to count for a job"},
    // One link of a Tofu network router.
    Counter{"link.wait_cycles", "cycles",  detail::cumulative, 64, detail::low,     "cycles packets waited for a transfer buffer"},
    Counter{"link.bytes",       "bytes",   detail::cumulative, 64, detail::high,    "bytes sent over a link"},
    Counter{"link.packets",     "packets", detail::cumulative, 64, detail::neither, "packets sent over a link"},
    // One InfiniBand port.
    Counter{"ib.rx_bytes",   "bytes",   detail::cumulative, 64, detail::high,    "bytes a port received"},
    Counter{"ib.tx_bytes",   "bytes",   detail::cumulative, 64, detail::high,    "bytes a port sent"},
    Counter{"ib.rx_packets", "packets", detail::cumulative, 64, detail::neither, "packets a port received"},
    Counter{"ib.tx_packets", "packets", detail::cumulative, 64, detail::neither, "packets a port sent"},
    Counter{"ib.wait_ticks", "ticks",   detail::cumulative, 64, detail::low,     "ticks a port had data and could not send"},
    // One Slingshot network interface; its registers have 56 bits.
    Counter{"cxi.rx_bytes",  "bytes",  detail::cumulative, 56, detail::high, "bytes a Slingshot interface received"},
    Counter{"cxi.tx_bytes",  "bytes",  detail::cumulative, 56, detail::high, "bytes a Slingshot interface sent"},
    Counter{"cxi.rx_paused", "cycles", detail::cumulative, 56, detail::low,  "cycles a Slingshot interface made its peer pause"},
    Counter{"cxi.tx_paused", "cycles", detail::cumulative, 56, detail::low,  "cycles a Slingshot interface was made to pause"},
    // One network interface of Linux.
    Counter{"net.rx_bytes",   "bytes",   detail::cumulative, 64, detail::high,    "bytes a network interface received"},
    Counter{"net.tx_bytes",   "bytes",   detail::cumulative, 64, detail::high,    "bytes a network interface sent"},
    Counter{"net.rx_packets", "packets", detail::cumulative, 64, detail::neither, "packets a network interface received"},
    Counter{"net.tx_packets", "packets", detail::cumulative, 64, detail::neither, "packets a network interface sent"},
    Counter{"net.rx_dropped", "packets", detail::cumulative, 64, detail::low,     "packets dropped on receipt"},
    Counter{"net.tx_dropped", "packets", detail::cumulative, 64, detail::low,     "packets dropped instead of sent"},
    // One block device of Linux. Its times are 32-bit milliseconds.
    Counter{"block.read_bytes",  "bytes",    detail::cumulative, 64, detail::high,    "bytes read from a device"},
    Counter{"block.read_ops",    "requests", detail::cumulative, 64, detail::neither, "reads of a device"},
    Counter{"block.read_ms",     "ms",       detail::cumulative, 32, detail::low,     "time of reads, summed over reads"},
    Counter{"block.write_bytes", "bytes",    detail::cumulative, 64, detail::high,    "bytes written to a device"},
    Counter{"block.write_ops",   "requests", detail::cumulative, 64, detail::neither, "writes to a device"},
    Counter{"block.write_ms",    "ms",       detail::cumulative, 32, detail::low,     "time of writes, summed over writes"},
    Counter{"block.busy_ms",     "ms",       detail::cumulative, 32, detail::neither, "time with at least one request under way"},
    Counter{"block.queue_ms",    "ms",       detail::cumulative, 32, detail::low,     "time of all requests; its rate is the mean queue depth"},
    Counter{"block.in_flight",   "requests", detail::gauge,       0, detail::low,     "requests under way"},
    // A node as a whole.
    Counter{"host.cpu_busy_ms",     "ms",    detail::cumulative, 64, detail::neither, "processor time used, all cores together"},
    Counter{"host.cpu_iowait_ms",   "ms",    detail::cumulative,  0, detail::low,     "processor time idle while I/O was under way"},
    Counter{"host.paged_in_bytes",  "bytes", detail::cumulative, 64, detail::high,    "bytes read from block devices"},
    Counter{"host.paged_out_bytes", "bytes", detail::cumulative, 64, detail::high,    "bytes written to block devices"},
    Counter{"host.dirty_bytes",     "bytes", detail::gauge,       0, detail::low,     "file data in memory that is not on disk yet"},
    Counter{"host.writeback_bytes", "bytes", detail::gauge,       0, detail::low,     "file data being written to disk"},
    Counter{"host.io_some_us",      "us",    detail::cumulative, 64, detail::low,     "time in which some task waited for I/O"},
    Counter{"host.io_full_us",      "us",    detail::cumulative, 64, detail::low,     "time in which all tasks waited for I/O"},
};
// clang-format on

inline constexpr std::size_t counter_count = counter_table.size();

constexpr std::span<const Counter> counters() {
  return counter_table;
}

constexpr const Counter& counter(CounterId id) {
  return counter_table.at(id);
}

// At run time, for names from outside. Quick: a hash.
std::optional<CounterId> find_counter(std::string_view name);

// In code: a name that does not exist does not compile. counter_id("ost.write_bytes")
consteval CounterId counter_id(std::string_view name) {
  for (std::size_t i = 0; i < counter_count; ++i) {
    if (counter_table[i].name == name) return static_cast<CounterId>(i);
  }
  throw "there is no counter of this name";  // not a constant expression: an error of the compiler
}

}  // namespace weir::telemetry
