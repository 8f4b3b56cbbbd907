// What any Linux machine has: network interfaces, block devices, the node itself.
#include <fmt/format.h>
#include <unistd.h>

#include "telemetry/kept_file.hpp"
#include "telemetry/linux_stats.hpp"
#include "telemetry/sources.hpp"
#include "telemetry/text_fields.hpp"

namespace weir::telemetry {

namespace {

// Adds points of one component.
class Putter {
 public:
  Putter(Round& round, const std::string& node, std::string_view component)
      : round_(round), origin_(round.batch.table.origin(node, component, {})) {}
  void operator()(CounterId counter, std::uint64_t value) {
    round_.batch.points.push_back({round_.batch.table.series(origin_, counter), round_.time, value});
  }

 private:
  Round& round_;
  std::uint32_t origin_;
};

class NetworkSource final : public Source {
 public:
  explicit NetworkSource(SourceSetting setting)
      : setting_(std::move(setting)), file_(setting_.root / "proc/net/dev", KeptFile::Kind::sequence) {}
  std::string_view name() const override { return "net"; }
  void rescan() override {
    const auto text = file_.read(buffer_);
    interfaces_ = 0;
    if (!text) return;
    for (const NetworkLine& line : parse_network(*text).lines) interfaces_ += line.interface != "lo" ? 1 : 0;
  }
  std::size_t components() const override { return interfaces_; }

  void sample(Round& round) override {
    const auto text = file_.read(buffer_);
    if (!text) return;
    const NetworkLines found = parse_network(*text);
    for (const NetworkLine& line : found.lines) {
      if (line.interface == "lo") continue;
      Putter put(round, setting_.node, line.interface);
      put(counter_id("net.rx_bytes"), line.rx_bytes);
      put(counter_id("net.tx_bytes"), line.tx_bytes);
      put(counter_id("net.rx_packets"), line.rx_packets);
      put(counter_id("net.tx_packets"), line.tx_packets);
      put(counter_id("net.rx_dropped"), line.rx_dropped);
      put(counter_id("net.tx_dropped"), line.tx_dropped);
    }
    for (const std::string& problem : found.problems)
      round.problems.push_back(fmt::format("{}: {}", file_.path().string(), problem));
  }

 private:
  SourceSetting setting_;
  KeptFile file_;
  std::size_t interfaces_ = 0;
  std::string buffer_;
};

class BlockSource final : public Source {
 public:
  explicit BlockSource(SourceSetting setting) : setting_(std::move(setting)) {}
  std::string_view name() const override { return "block"; }

  void rescan() override {
    devices_.clear();
    const auto folder = setting_.root / "sys/block";
    for (const std::string& device : names_in(folder)) {
      // Loop devices that stand for no file are of no size; RAM disks are no storage.
      const KeptFile size(folder / device / "size", KeptFile::Kind::attribute);
      std::string_view text = size.read(buffer_).value_or("0");
      if (device.starts_with("ram") || whole_number(take_line(text)).value_or(0) == 0) continue;
      KeptFile file(folder / device / "stat", KeptFile::Kind::attribute);
      if (file) devices_.push_back({device, std::move(file)});
    }
  }
  std::size_t components() const override { return devices_.size(); }

  void sample(Round& round) override {
    for (const Device& device : devices_) {
      const auto text = device.file.read(buffer_);
      if (!text) continue;
      const auto stat = parse_block_stat(*text);
      if (!stat) {
        round.problems.push_back(fmt::format("{}: {}", device.file.path().string(), stat.error().cause));
        continue;
      }
      Putter put(round, setting_.node, device.name);
      put(counter_id("block.read_bytes"), stat->read_bytes);
      put(counter_id("block.read_ops"), stat->read_ops);
      put(counter_id("block.read_ms"), stat->read_ms);
      put(counter_id("block.write_bytes"), stat->write_bytes);
      put(counter_id("block.write_ops"), stat->write_ops);
      put(counter_id("block.write_ms"), stat->write_ms);
      put(counter_id("block.busy_ms"), stat->busy_ms);
      put(counter_id("block.queue_ms"), stat->queue_ms);
      put(counter_id("block.in_flight"), stat->in_flight);
    }
  }

 private:
  struct Device {
    std::string name;
    KeptFile file;
  };
  SourceSetting setting_;
  std::vector<Device> devices_;
  std::string buffer_;
};

class HostSource final : public Source {
 public:
  explicit HostSource(SourceSetting setting)
      : setting_(std::move(setting)),
        stat_(setting_.root / "proc/stat", KeptFile::Kind::sequence),
        vmstat_(setting_.root / "proc/vmstat", KeptFile::Kind::sequence),
        meminfo_(setting_.root / "proc/meminfo", KeptFile::Kind::sequence),
        pressure_(setting_.root / "proc/pressure/io", KeptFile::Kind::sequence),
        milliseconds_per_tick_(1000 / static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)))) {}
  std::string_view name() const override { return "host"; }
  void rescan() override {}
  std::size_t components() const override { return stat_ || vmstat_ || meminfo_ || pressure_ ? 1 : 0; }

  void sample(Round& round) override {
    Putter put(round, setting_.node, {});
    const auto put_known = [&](CounterId counter, std::optional<std::uint64_t> value, std::uint64_t factor) {
      if (value) put(counter, *value * factor);
    };
    if (const auto text = stat_.read(buffer_)) {
      if (const auto ticks = parse_processor_ticks(*text)) {
        put(counter_id("host.cpu_busy_ms"), ticks->busy * milliseconds_per_tick_);
        put(counter_id("host.cpu_iowait_ms"), ticks->iowait * milliseconds_per_tick_);
      } else {
        round.problems.push_back(fmt::format("{}: {}", stat_.path().string(), ticks.error().cause));
      }
    }
    constexpr std::uint64_t kibibyte = 1024;
    if (const auto text = vmstat_.read(buffer_)) {
      put_known(counter_id("host.paged_in_bytes"), find_number(*text, "pgpgin"), kibibyte);
      put_known(counter_id("host.paged_out_bytes"), find_number(*text, "pgpgout"), kibibyte);
    }
    if (const auto text = meminfo_.read(buffer_)) {
      put_known(counter_id("host.dirty_bytes"), find_number(*text, "Dirty"), kibibyte);
      put_known(counter_id("host.writeback_bytes"), find_number(*text, "Writeback"), kibibyte);
    }
    if (const auto text = pressure_.read(buffer_)) {
      put_known(counter_id("host.io_some_us"), find_pressure_total(*text, "some"), 1);
      put_known(counter_id("host.io_full_us"), find_pressure_total(*text, "full"), 1);
    }
  }

 private:
  SourceSetting setting_;
  KeptFile stat_, vmstat_, meminfo_, pressure_;
  std::uint64_t milliseconds_per_tick_;
  std::string buffer_;
};

}  // namespace

std::unique_ptr<Source> make_network_source(const SourceSetting& setting) {
  return std::make_unique<NetworkSource>(setting);
}

std::unique_ptr<Source> make_block_source(const SourceSetting& setting) {
  return std::make_unique<BlockSource>(setting);
}

std::unique_ptr<Source> make_host_source(const SourceSetting& setting) {
  return std::make_unique<HostSource>(setting);
}

}  // namespace weir::telemetry
