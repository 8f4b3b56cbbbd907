// A Tofu network router, through the text described in tofu_pa.hpp.
#include <fmt/format.h>

#include "telemetry/kept_file.hpp"
#include "telemetry/sources.hpp"
#include "telemetry/tofu_pa.hpp"

namespace weir::telemetry {

namespace {

class TofuSource final : public Source {
 public:
  explicit TofuSource(SourceSetting setting)
      : setting_(std::move(setting)), path_(setting_.root / "run/weir/tofu_pa") {}
  std::string_view name() const override { return "tofu"; }
  void rescan() override {
    std::error_code error;
    there_ = std::filesystem::exists(path_, error);
  }
  std::size_t components() const override { return there_ ? tofu_links.size() : 0; }

  void sample(Round& round) override {
    // Opened anew each time: the file is replaced, not changed.
    const KeptFile file(path_, KeptFile::Kind::sequence);
    const auto text = file.read(buffer_);
    if (!text) return;
    const TofuCounters counters = parse_tofu_pa(*text);
    for (const TofuLink& link : counters.links) {
      const std::uint32_t origin = round.batch.table.origin(setting_.node, link.name, {});
      const auto put = [&](CounterId counter, std::uint64_t value) {
        round.batch.points.push_back({round.batch.table.series(origin, counter), round.time, value});
      };
      put(counter_id("link.wait_cycles"), link.wait_cycles);
      put(counter_id("link.bytes"), link.bytes);
      if (link.packets) put(counter_id("link.packets"), *link.packets);
    }
    for (const std::string& problem : counters.problems)
      round.problems.push_back(fmt::format("{}: {}", path_.string(), problem));
  }

 private:
  SourceSetting setting_;
  std::filesystem::path path_;
  bool there_ = false;
  std::string buffer_;
};

}  // namespace

std::unique_ptr<Source> make_tofu_source(const SourceSetting& setting) {
  return std::make_unique<TofuSource>(setting);
}

}  // namespace weir::telemetry
