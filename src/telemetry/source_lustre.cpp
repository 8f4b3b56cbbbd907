// Lustre servers: ost_io/stats, obdfilter/*/stats and obdfilter/*/job_stats.
#include <fmt/format.h>

#include <array>

#include "telemetry/kept_file.hpp"
#include "telemetry/lustre_jobs.hpp"
#include "telemetry/lustre_stats.hpp"
#include "telemetry/sources.hpp"

namespace weir::telemetry {

namespace {

// Statistics moved from /proc to debugfs, each at its own time: whichever is there.
constexpr std::array lustre_folders = {"proc/fs/lustre", "sys/kernel/debug/lustre"};

struct Component {
  std::string name;
  KeptFile file;
};

// What the three sources have in common: files named alike below folders named after targets.
class LustreSource : public Source {
 public:
  LustreSource(const SourceSetting& setting, std::string_view file_name)
      : setting_(setting), file_name_(file_name) {}

  void rescan() override {
    components_.clear();
    for (const char* folder : lustre_folders) {
      const auto targets = setting_.root / folder / "obdfilter";
      for (const std::string& target : names_in(targets)) add(target, targets / target / file_name_);
      if (!components_.empty()) return;
    }
  }
  std::size_t components() const override { return components_.size(); }

  void sample(Round& round) override {
    for (const Component& component : components_) {
      const auto text = component.file.read(buffer_);
      if (!text) continue;
      for (const std::string& problem : take(*text, component.name, round))
        round.problems.push_back(fmt::format("{}: {}", component.file.path().string(), problem));
    }
  }

 protected:
  // Puts the samples of one file into the round; what could not be read.
  virtual std::vector<std::string> take(std::string_view text, const std::string& component,
                                        Round& round) = 0;

  void add(const std::string& name, const std::filesystem::path& path) {
    KeptFile file(path, KeptFile::Kind::sequence);
    if (file) components_.push_back({name, std::move(file)});
  }

  SourceSetting setting_;
  std::vector<Component> components_;

 private:
  std::string file_name_;
  std::string buffer_;
};

void add_start(std::optional<Nanoseconds> start, CounterId counter, std::uint32_t origin, Round& round) {
  if (start)
    round.batch.points.push_back(
        {round.batch.table.series(origin, counter), round.time, static_cast<std::uint64_t>(*start)});
}

class ServerSource final : public LustreSource {
 public:
  explicit ServerSource(const SourceSetting& setting) : LustreSource(setting, {}) {}
  std::string_view name() const override { return "lustre-server"; }

  void rescan() override {
    components_.clear();
    for (const char* folder : lustre_folders) {
      add({}, setting_.root / folder / "ost/OSS/ost_io/stats");
      if (!components_.empty()) return;
    }
  }

 protected:
  std::vector<std::string> take(std::string_view text, const std::string& component, Round& round) override {
    struct Wanted {
      std::string_view line;
      CounterId count, sum;
      std::optional<CounterId> sumsq;
    };
    static constexpr std::array wanted = {
        Wanted{"req_waittime", counter_id("ost_io.req_waittime.count"), counter_id("ost_io.req_waittime.sum"),
               counter_id("ost_io.req_waittime.sumsq")},
        Wanted{"req_qdepth", counter_id("ost_io.req_qdepth.count"), counter_id("ost_io.req_qdepth.sum"),
               counter_id("ost_io.req_qdepth.sumsq")},
        Wanted{"req_active", counter_id("ost_io.req_active.count"), counter_id("ost_io.req_active.sum"),
               counter_id("ost_io.req_active.sumsq")},
        Wanted{
            "req_timeout", counter_id("ost_io.req_timeout.count"), counter_id("ost_io.req_timeout.sum"), {}},
        Wanted{"reqbuf_avail",
               counter_id("ost_io.reqbuf_avail.count"),
               counter_id("ost_io.reqbuf_avail.sum"),
               {}},
        Wanted{"ost_read", counter_id("ost_io.read.count"), counter_id("ost_io.read.sum"), {}},
        Wanted{"ost_write", counter_id("ost_io.write.count"), counter_id("ost_io.write.sum"), {}},
    };
    LustreStats stats = parse_lustre_stats(text);
    const std::uint32_t origin = round.batch.table.origin(setting_.node, component, {});
    const auto put = [&](CounterId counter, std::uint64_t value) {
      round.batch.points.push_back({round.batch.table.series(origin, counter), round.time, value});
    };
    for (const Wanted& want : wanted) {
      const LustreLine* line = stats.find(want.line);
      if (line == nullptr) continue;  // Lustre leaves out what has not happened yet
      put(want.count, line->count);
      put(want.sum, line->sum.value_or(0));
      if (want.sumsq && line->sumsq) put(*want.sumsq, *line->sumsq);
    }
    add_start(stats.start_time, counter_id("ost_io.start_time"), origin, round);
    return std::move(stats.problems);
  }
};

class TargetSource final : public LustreSource {
 public:
  explicit TargetSource(const SourceSetting& setting) : LustreSource(setting, "stats") {}
  std::string_view name() const override { return "lustre-targets"; }

 protected:
  std::vector<std::string> take(std::string_view text, const std::string& component, Round& round) override {
    LustreStats stats = parse_lustre_stats(text);
    const std::uint32_t origin = round.batch.table.origin(setting_.node, component, {});
    const auto put = [&](CounterId counter, std::uint64_t value) {
      round.batch.points.push_back({round.batch.table.series(origin, counter), round.time, value});
    };
    // A target that nobody has read from or written to has no such line: that is a 0, and the first bytes
    // count.
    const LustreLine* read = stats.find("read_bytes");
    const LustreLine* write = stats.find("write_bytes");
    put(counter_id("ost.read_bytes"), read != nullptr ? read->sum.value_or(0) : 0);
    put(counter_id("ost.read_ops"), read != nullptr ? read->count : 0);
    put(counter_id("ost.write_bytes"), write != nullptr ? write->sum.value_or(0) : 0);
    put(counter_id("ost.write_ops"), write != nullptr ? write->count : 0);
    add_start(stats.start_time, counter_id("ost.start_time"), origin, round);
    return std::move(stats.problems);
  }
};

class JobSource final : public LustreSource {
 public:
  explicit JobSource(const SourceSetting& setting) : LustreSource(setting, "job_stats") {}
  std::string_view name() const override { return "lustre-jobs"; }

 protected:
  std::vector<std::string> take(std::string_view text, const std::string& component, Round& round) override {
    LustreJobs found = parse_lustre_jobs(text);
    for (const LustreJob& job : found.jobs) {
      const std::uint32_t origin = round.batch.table.origin(setting_.node, component, job.id);
      const auto put = [&](CounterId counter, std::uint64_t value) {
        round.batch.points.push_back({round.batch.table.series(origin, counter), round.time, value});
      };
      put(counter_id("job.read_bytes"), job.read_bytes);
      put(counter_id("job.read_ops"), job.read_ops);
      put(counter_id("job.write_bytes"), job.write_bytes);
      put(counter_id("job.write_ops"), job.write_ops);
      add_start(job.start_time, counter_id("job.start_time"), origin, round);
    }
    return std::move(found.problems);
  }
};

}  // namespace

std::unique_ptr<Source> make_lustre_server_source(const SourceSetting& setting) {
  return std::make_unique<ServerSource>(setting);
}

std::unique_ptr<Source> make_lustre_target_source(const SourceSetting& setting) {
  return std::make_unique<TargetSource>(setting);
}

std::unique_ptr<Source> make_lustre_job_source(const SourceSetting& setting) {
  return std::make_unique<JobSource>(setting);
}

}  // namespace weir::telemetry
