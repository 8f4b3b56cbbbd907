#include "telemetry/prometheus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "telemetry/record_builder.hpp"
#include "telemetry/text_fields.hpp"

namespace weir::telemetry {

namespace {

constexpr std::size_t most_labels = 64;
constexpr std::size_t longest_name = 255;

struct Metric {
  std::string_view name;
  CounterId counter;
  double factor = 1;                // from the metric's unit to the counter's
  std::string_view component = {};  // the label that names the component
};

constexpr double to_milliseconds = 1000;
constexpr std::array metrics = {
    // lustre_exporter
    Metric{"lustre_read_bytes_total", counter_id("ost.read_bytes"), 1, "target"},
    Metric{"lustre_read_samples_total", counter_id("ost.read_ops"), 1, "target"},
    Metric{"lustre_write_bytes_total", counter_id("ost.write_bytes"), 1, "target"},
    Metric{"lustre_write_samples_total", counter_id("ost.write_ops"), 1, "target"},
    Metric{"lustre_job_read_bytes_total", counter_id("job.read_bytes"), 1, "target"},
    Metric{"lustre_job_read_samples_total", counter_id("job.read_ops"), 1, "target"},
    Metric{"lustre_job_write_bytes_total", counter_id("job.write_bytes"), 1, "target"},
    Metric{"lustre_job_write_samples_total", counter_id("job.write_ops"), 1, "target"},
    // node_exporter
    Metric{"node_disk_read_bytes_total", counter_id("block.read_bytes"), 1, "device"},
    Metric{"node_disk_reads_completed_total", counter_id("block.read_ops"), 1, "device"},
    Metric{"node_disk_read_time_seconds_total", counter_id("block.read_ms"), to_milliseconds, "device"},
    Metric{"node_disk_written_bytes_total", counter_id("block.write_bytes"), 1, "device"},
    Metric{"node_disk_writes_completed_total", counter_id("block.write_ops"), 1, "device"},
    Metric{"node_disk_write_time_seconds_total", counter_id("block.write_ms"), to_milliseconds, "device"},
    Metric{"node_disk_io_time_seconds_total", counter_id("block.busy_ms"), to_milliseconds, "device"},
    Metric{"node_disk_io_time_weighted_seconds_total", counter_id("block.queue_ms"), to_milliseconds,
           "device"},
    Metric{"node_disk_io_now", counter_id("block.in_flight"), 1, "device"},
    Metric{"node_network_receive_bytes_total", counter_id("net.rx_bytes"), 1, "device"},
    Metric{"node_network_transmit_bytes_total", counter_id("net.tx_bytes"), 1, "device"},
    Metric{"node_network_receive_packets_total", counter_id("net.rx_packets"), 1, "device"},
    Metric{"node_network_transmit_packets_total", counter_id("net.tx_packets"), 1, "device"},
    Metric{"node_network_receive_drop_total", counter_id("net.rx_dropped"), 1, "device"},
    Metric{"node_network_transmit_drop_total", counter_id("net.tx_dropped"), 1, "device"},
    Metric{"node_infiniband_port_data_received_bytes_total", counter_id("ib.rx_bytes"), 1, "device"},
    Metric{"node_infiniband_port_data_transmitted_bytes_total", counter_id("ib.tx_bytes"), 1, "device"},
    Metric{"node_infiniband_port_packets_received_total", counter_id("ib.rx_packets"), 1, "device"},
    Metric{"node_infiniband_port_packets_transmitted_total", counter_id("ib.tx_packets"), 1, "device"},
    Metric{"node_infiniband_port_transmit_wait_total", counter_id("ib.wait_ticks"), 1, "device"},
    Metric{"node_memory_Dirty_bytes", counter_id("host.dirty_bytes")},
    Metric{"node_memory_Writeback_bytes", counter_id("host.writeback_bytes")},
    Metric{"node_vmstat_pgpgin", counter_id("host.paged_in_bytes"), 1024},
    Metric{"node_vmstat_pgpgout", counter_id("host.paged_out_bytes"), 1024},
    Metric{"node_pressure_io_waiting_seconds_total", counter_id("host.io_some_us"), 1e6},
    Metric{"node_pressure_io_stalled_seconds_total", counter_id("host.io_full_us"), 1e6},
};

bool is_name_character(char c, bool first) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
         (!first && c >= '0' && c <= '9');
}

std::string_view take_name(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && is_name_character(text[size], size == 0)) ++size;
  const std::string_view name = text.substr(0, size);
  text.remove_prefix(size);
  return name;
}

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

// The value of a label, from behind its first quote to behind its last.
std::optional<std::string> take_quoted(std::string_view& text) {
  std::string value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return value;
    }
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      value += text[i] == 'n' ? '\n' : text[i];
    } else {
      value += text[i];
    }
  }
  return std::nullopt;
}

std::optional<double> parse_value(std::string_view word) {
  if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (word.starts_with('+')) word.remove_prefix(1);
  if (word == "Inf") return std::numeric_limits<double>::infinity();
  if (word == "-Inf") return -std::numeric_limits<double>::infinity();
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::string_view label(const PrometheusSample& sample, std::string_view name) {
  for (const auto& [key, value] : sample.labels) {
    if (key == name) return value;
  }
  return {};
}

std::string_view without_port(std::string_view instance) {
  const auto colon = instance.rfind(':');
  const bool port = colon != std::string_view::npos && whole_number(instance.substr(colon + 1)).has_value();
  return port ? instance.substr(0, colon) : instance;
}

bool is_series_name(std::string_view name) {
  return name.size() <= longest_name && is_utf8(name) &&
         std::none_of(name.begin(), name.end(), [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; });
}

// The counter's value, or what is wrong with it.
Result<std::uint64_t> counter_value(const Metric& metric, double value) {
  const double scaled = value * metric.factor;
  const double whole = std::nearbyint(scaled);
  if (!(whole >= 0 && whole < 0x1p64)) return fail(ErrorCode::corrupt, "the value is not between 0 and 2^64");
  const bool exact = counter(metric.counter).kind == CounterKind::cumulative && metric.factor == 1;
  if (exact && whole != scaled) return fail(ErrorCode::corrupt, "the value is not a whole number");
  return static_cast<std::uint64_t>(whole);
}

Status add_sample(const PrometheusSample& sample, const Metric& metric, const PrometheusDefaults& defaults,
                  Batch& batch) {
  std::string_view node = label(sample, "node");
  if (node.empty()) node = label(sample, "hostname");
  if (node.empty()) node = without_port(label(sample, "instance"));
  if (node.empty()) node = defaults.node;
  std::string component(metric.component.empty() ? std::string_view() : label(sample, metric.component));
  if (const auto port = label(sample, "port"); !port.empty()) component += "/" + std::string(port);
  const std::string_view job = label(sample, "jobid");
  if (node.empty()) return fail(ErrorCode::corrupt, "no label says the node");
  if (!is_series_name(node) || !is_series_name(component) || !is_series_name(job))
    return fail(ErrorCode::corrupt,
                "a label is not a name of up to 255 bytes of UTF-8 without control characters");
  const Nanoseconds time = sample.time_ms > 0 ? sample.time_ms * 1'000'000 : defaults.time;
  if (time <= 0) return fail(ErrorCode::corrupt, "there is no time");
  WEIR_ASSIGN(const std::uint64_t value, counter_value(metric, sample.value));
  batch.points.push_back(
      {batch.table.series(batch.table.origin(node, component, job), metric.counter), time, value});
  return {};
}

}  // namespace

Result<PrometheusSample> parse_prometheus_line(std::string_view line) {
  const auto wrong = [](std::string what) { return fail(ErrorCode::corrupt, std::move(what)); };
  PrometheusSample sample;
  skip_blanks(line);
  sample.name = take_name(line);
  if (sample.name.empty()) return wrong("the line does not begin with the name of a metric");
  skip_blanks(line);
  if (line.starts_with('{')) {
    line.remove_prefix(1);
    for (;;) {
      skip_blanks(line);
      if (line.starts_with('}')) break;
      const std::string_view key = take_name(line);
      skip_blanks(line);
      if (key.empty() || !line.starts_with('=')) return wrong("the labels are not NAME=\"VALUE\", ...");
      line.remove_prefix(1);
      skip_blanks(line);
      if (!line.starts_with('"'))
        return wrong(fmt::format("the value of label '{}' has no quotes", shown(key)));
      line.remove_prefix(1);
      auto value = take_quoted(line);
      if (!value) return wrong(fmt::format("the value of label '{}' does not end", shown(key)));
      if (sample.labels.size() == most_labels) return wrong(fmt::format("more than {} labels", most_labels));
      sample.labels.emplace_back(key, std::move(*value));
      skip_blanks(line);
      if (line.starts_with(',')) {
        line.remove_prefix(1);
      } else if (!line.starts_with('}')) {
        return wrong("the labels do not end with '}'");
      }
    }
    line.remove_prefix(1);
  }
  const std::string_view number = take_word(line);
  const auto value = parse_value(number);
  if (!value) return wrong(fmt::format("'{}' is not a value", shown(number)));
  sample.value = *value;
  const std::string_view time = take_word(line);
  if (!time.empty() && time != "#") {  // behind '#' come examples, in a newer form
    const auto milliseconds = whole_number(time);
    if (!milliseconds || *milliseconds > 9'000'000'000'000)
      return wrong(fmt::format("'{}' is not a time in milliseconds", shown(time)));
    sample.time_ms = static_cast<std::int64_t>(*milliseconds);
  }
  return sample;
}

Tally add_prometheus(std::string_view text, const PrometheusDefaults& defaults, Batch& batch,
                     const std::function<void(const std::string&)>& problem) {
  Tally tally;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = take_line(text);
    skip_blanks(line);
    if (line.empty() || line.front() == '#') continue;
    const auto reject = [&](const Failure& failure) {
      ++tally.rejected;
      problem(fmt::format("{}:{}: {}", defaults.file, number, failure.message()));
    };
    const auto sample = parse_prometheus_line(line);
    if (!sample) {
      reject(sample.error());
      continue;
    }
    const auto metric = std::find_if(metrics.begin(), metrics.end(),
                                     [&](const Metric& known) { return known.name == sample->name; });
    if (metric == metrics.end()) {
      ++tally.ignored;
      continue;
    }
    if (const Status added = add_sample(*sample, *metric, defaults, batch); !added) {
      reject(added.error());
      continue;
    }
    ++tally.records;
    ++tally.samples;
  }
  return tally;
}

}  // namespace weir::telemetry
