// Texts of kernels, drivers, exporters and log files: no crash, and what is accepted keeps its form.
#include <cstdlib>

#include "telemetry/fabric_values.hpp"
#include "telemetry/fluentd_file.hpp"
#include "telemetry/forward_message.hpp"
#include "telemetry/linux_stats.hpp"
#include "telemetry/lustre_jobs.hpp"
#include "telemetry/lustre_stats.hpp"
#include "telemetry/prometheus.hpp"
#include "telemetry/tofu_pa.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::telemetry;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto quiet = [](const std::string&) {};
  Batch batch;
  Tally tally;
  switch (data[0] % 6) {
    case 0:
      (void)parse_lustre_stats(text);
      (void)parse_lustre_time(text);
      break;
    case 1:
      for (const LustreJob& job : parse_lustre_jobs(text).jobs) {
        if (job.id.empty() || job.id.size() > 255) std::abort();
        batch.add({counter_id("job.read_bytes"), "oss", "ost", job.id}, 1, job.read_bytes);
      }
      break;
    case 2:
      if (parse_tofu_pa(text).links.size() > tofu_links.size()) std::abort();
      (void)parse_infiniband_value(text);
      (void)parse_slingshot_value(text);
      break;
    case 3:
      (void)parse_network(text);
      (void)parse_block_stat(text);
      (void)parse_processor_ticks(text);
      (void)find_number(text, "Dirty");
      (void)find_pressure_total(text, "some");
      break;
    case 4:
      tally = add_prometheus(text, {.file = "f", .node = "n", .time = 1}, batch, quiet);
      break;
    default:
      (void)add_fluentd_line(text, batch, tally);
      if (const auto time = parse_log_time(text)) {
        if (parse_log_time(format_log_time(*time)) != *time) std::abort();
      }
      break;
  }
  if (tally.samples != batch.points.size() && data[0] % 6 != 1) std::abort();
  // Whatever became a sample can be written as a line and sent.
  for (std::size_t first = 0; first < batch.points.size();) {
    const std::size_t count = same_record(batch, first);
    std::string line = fluentd_line(batch, first, count, "t");
    line.pop_back();
    Batch again;
    Tally counted;
    if (!add_fluentd_line(line, again, counted) || again.points.size() != count) std::abort();
    first += count;
  }
  ForwardDecoder decoder(1 << 20U);
  Batch sent;
  const auto decoded = decoder.decode(forward_message("t", pack_entries(batch), Compression::none, ""), sent);
  if (!decoded || sent.points.size() != batch.points.size()) std::abort();
  return 0;
}
