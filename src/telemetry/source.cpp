#include "telemetry/source.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "telemetry/sources.hpp"

namespace weir::telemetry {

namespace {

constexpr std::array table = {
    SourceEntry{"lustre-server", "requests of a Lustre server: queue, wait, busy threads (ost_io/stats)",
                make_lustre_server_source},
    SourceEntry{"lustre-targets", "bytes and calls of each Lustre target (obdfilter/*/stats)",
                make_lustre_target_source},
    SourceEntry{"lustre-jobs", "bytes and calls of each job on each Lustre target (job_stats)",
                make_lustre_job_source},
    SourceEntry{"tofu", "links of a Tofu network router, from /run/weir/tofu_pa", make_tofu_source},
    SourceEntry{"infiniband", "InfiniBand ports: bytes, packets, time waiting for credits",
                make_infiniband_source},
    SourceEntry{"slingshot", "Slingshot interfaces: bytes, pauses", make_slingshot_source},
    SourceEntry{"net", "network interfaces of Linux except the loopback: bytes, packets, drops",
                make_network_source},
    SourceEntry{"block", "block devices of Linux: bytes, calls, queue, busy time", make_block_source},
    SourceEntry{"host", "the node: processors, page cache, pressure of I/O", make_host_source},
};

}  // namespace

std::span<const SourceEntry> source_table() {
  return table;
}

Result<std::vector<std::unique_ptr<Source>>> open_sources(const std::vector<std::string>& names,
                                                          const SourceSetting& setting) {
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<std::string> known;
  for (const SourceEntry& entry : table) known.emplace_back(entry.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return fail(ErrorCode::invalid_argument,
                  fmt::format("unknown source '{}'{}", name, suggest(name, known)));
  }
  for (const SourceEntry& entry : table) {
    const bool named = std::find(names.begin(), names.end(), entry.name) != names.end();
    if (!names.empty() && !named) continue;
    auto source = entry.make(setting);
    source->rescan();
    if (source->components() > 0) {
      sources.push_back(std::move(source));
    } else if (named) {
      return fail(ErrorCode::not_found,
                  fmt::format("source '{}' finds nothing under {}", entry.name, setting.root.string()),
                  "leave --sources away to sample what there is");
    }
  }
  if (sources.empty())
    return fail(ErrorCode::not_found, fmt::format("nothing to sample under {}", setting.root.string()));
  return sources;
}

Nanoseconds now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 && names.nodename[0] != '\0' ? names.nodename : "localhost";
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace weir::telemetry
