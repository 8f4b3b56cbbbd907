// InfiniBand and Slingshot: one file a counter, in sysfs.
#include <fmt/format.h>

#include "telemetry/fabric_values.hpp"
#include "telemetry/kept_file.hpp"
#include "telemetry/sources.hpp"

namespace weir::telemetry {

namespace {

class InfinibandSource final : public Source {
 public:
  explicit InfinibandSource(SourceSetting setting) : setting_(std::move(setting)) {}
  std::string_view name() const override { return "infiniband"; }

  void rescan() override {
    struct Wanted {
      const char* file;
      CounterId counter;
      std::uint64_t factor;
    };
    // Data are counted in words of 4 bytes. Multiplying wraps where the counter itself does.
    static constexpr std::array wanted = {Wanted{"port_rcv_data", counter_id("ib.rx_bytes"), 4},
                                          Wanted{"port_xmit_data", counter_id("ib.tx_bytes"), 4},
                                          Wanted{"port_rcv_packets", counter_id("ib.rx_packets"), 1},
                                          Wanted{"port_xmit_packets", counter_id("ib.tx_packets"), 1},
                                          Wanted{"port_xmit_wait", counter_id("ib.wait_ticks"), 1}};
    values_.clear();
    ports_ = 0;
    const auto devices = setting_.root / "sys/class/infiniband";
    for (const std::string& device : names_in(devices)) {
      for (const std::string& port : names_in(devices / device / "ports")) {
        const std::string component = device + "/" + port;
        const std::size_t before = values_.size();
        for (const Wanted& want : wanted) {
          KeptFile file(devices / device / "ports" / port / "counters" / want.file,
                        KeptFile::Kind::attribute);
          if (file) values_.push_back({component, want.counter, want.factor, std::move(file)});
        }
        if (values_.size() > before) ++ports_;
      }
    }
  }
  std::size_t components() const override { return ports_; }

  void sample(Round& round) override {
    for (const Value& value : values_) {
      const auto text = value.file.read(buffer_);
      if (!text) continue;
      const auto number = parse_infiniband_value(*text);
      if (!number) {
        round.problems.push_back(fmt::format("{}: {}", value.file.path().string(), number.error().cause));
      } else if (*number) {
        const std::uint32_t origin = round.batch.table.origin(setting_.node, value.component, {});
        round.batch.points.push_back(
            {round.batch.table.series(origin, value.counter), round.time, **number * value.factor});
      }
    }
  }

 private:
  struct Value {
    std::string component;
    CounterId counter;
    std::uint64_t factor;
    KeptFile file;
  };
  SourceSetting setting_;
  std::vector<Value> values_;
  std::size_t ports_ = 0;
  std::string buffer_;
};

class SlingshotSource final : public Source {
 public:
  explicit SlingshotSource(SourceSetting setting) : setting_(std::move(setting)) {}
  std::string_view name() const override { return "slingshot"; }

  void rescan() override {
    values_.clear();
    interfaces_ = 0;
    const auto devices = setting_.root / "sys/class/cxi";
    for (const std::string& device : names_in(devices)) {
      const auto folder = devices / device / "device/telemetry";
      const std::size_t before = values_.size();
      add(device, counter_id("cxi.rx_bytes"), {folder / "hni_sts_rx_ok_octets"});
      add(device, counter_id("cxi.tx_bytes"), {folder / "hni_sts_tx_ok_octets"});
      // One pause counter for each traffic class; their sum wraps where each of them does.
      std::vector<std::filesystem::path> received;
      std::vector<std::filesystem::path> sent;
      for (int traffic_class = 0; traffic_class < 8; ++traffic_class) {
        received.push_back(folder / fmt::format("hni_rx_paused_{}", traffic_class));
        sent.push_back(folder / fmt::format("hni_tx_paused_{}", traffic_class));
      }
      add(device, counter_id("cxi.rx_paused"), received);
      add(device, counter_id("cxi.tx_paused"), sent);
      if (values_.size() > before) ++interfaces_;
    }
  }
  std::size_t components() const override { return interfaces_; }

  void sample(Round& round) override {
    for (const Value& value : values_) {
      std::uint64_t sum = 0;
      Nanoseconds time = 0;
      std::size_t found = 0;
      for (const KeptFile& file : value.files) {
        const auto text = file.read(buffer_);
        if (!text) continue;
        const auto read = parse_slingshot_value(*text);
        if (!read) {
          round.problems.push_back(fmt::format("{}: {}", file.path().string(), read.error().cause));
          continue;
        }
        sum += read->value;
        time = std::max(time, read->time);
        ++found;
      }
      // A sum that lacks one of its parts would look like a reset.
      if (found != value.files.size()) continue;
      const std::uint32_t origin = round.batch.table.origin(setting_.node, value.component, {});
      // The driver does not read its registers at every look: the time is that of the registers.
      round.batch.points.push_back({round.batch.table.series(origin, value.counter),
                                    time > 0 ? time : round.time, sum & ((std::uint64_t{1} << 56U) - 1)});
    }
  }

 private:
  struct Value {
    std::string component;
    CounterId counter;
    std::vector<KeptFile> files;
  };

  void add(const std::string& component, CounterId counter, const std::vector<std::filesystem::path>& paths) {
    Value value{.component = component, .counter = counter};
    for (const auto& path : paths) {
      KeptFile file(path, KeptFile::Kind::attribute);
      if (file) value.files.push_back(std::move(file));
    }
    if (!value.files.empty()) values_.push_back(std::move(value));
  }

  SourceSetting setting_;
  std::vector<Value> values_;
  std::size_t interfaces_ = 0;
  std::string buffer_;
};

}  // namespace

std::unique_ptr<Source> make_infiniband_source(const SourceSetting& setting) {
  return std::make_unique<InfinibandSource>(setting);
}

std::unique_ptr<Source> make_slingshot_source(const SourceSetting& setting) {
  return std::make_unique<SlingshotSource>(setting);
}

}  // namespace weir::telemetry
