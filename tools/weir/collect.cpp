#include "collect.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "core/file.hpp"
#include "core/json.hpp"
#include "core/options.hpp"
#include "store/spool.hpp"
#include "telemetry/collector.hpp"
#include "telemetry/fluentd_file.hpp"
#include "telemetry/forwarder.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace fs = std::filesystem;
using namespace telemetry;

namespace {

constexpr std::uint16_t forward_port = 24224;

void tell(const std::string& problem) {
  fmt::print(stderr, "weir collect: {}\n", problem);
}

// SIGINT and SIGTERM as a descriptor that can be waited for. Made before any thread, which inherits the mask.
Result<Descriptor> interruptions() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  if (::pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0)
    return fail_errno(errno, "block signals", "weir collect");
  Descriptor descriptor(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor) return fail_errno(errno, "wait for signals", "weir collect");
  return descriptor;
}

// Lines as fluentd's out_file writes them, each round with one write: whoever reads along sees whole lines.
class LineFile {
 public:
  static Result<LineFile> open(const std::string& path, std::string tag) {
    LineFile file(path, std::move(tag));
    if (path == "-") return file;
    WEIR_ASSIGN(file.file_, open_file(path, O_WRONLY | O_CREAT | O_APPEND));
    return file;
  }

  Status add(const Batch& batch) {
    std::string lines;
    for (std::size_t first = 0; first < batch.points.size();) {
      const std::size_t count = same_record(batch, first);
      lines += fluentd_line(batch, first, count, tag_);
      first += count;
    }
    const int fd = file_ ? file_.get() : STDOUT_FILENO;
    std::string_view rest = lines;
    while (!rest.empty()) {
      const ssize_t written = ::write(fd, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail_errno(errno, "write", path_ == "-" ? "standard output" : path_);
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

 private:
  LineFile(std::string path, std::string tag) : path_(std::move(path)), tag_(std::move(tag)) {}
  std::string path_, tag_;
  Descriptor file_;
};

Result<fs::path> default_spool(const Endpoint& server) {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  fs::path base;
  if (state != nullptr && *state != '\0') {
    base = state;
  } else if (home != nullptr && *home != '\0') {
    base = fs::path(home) / ".local/state";
  } else {
    return fail(ErrorCode::invalid_argument, "neither XDG_STATE_HOME nor HOME says where the spool may be",
                "give its folder with --spool");
  }
  return base / "weir" / fmt::format("spool-{}-{}-{}", host_name(), server.host, server.port);
}

Result<std::string> shared_key(const std::string& file) {
  if (!file.empty()) {
    WEIR_ASSIGN(std::string key, read_text(file));
    while (!key.empty() && (key.back() == '\n' || key.back() == '\r')) key.pop_back();
    if (key.empty())
      return fail(ErrorCode::invalid_argument, file + " is empty", "put the shared key into it");
    return key;
  }
  const char* key = std::getenv("WEIR_SHARED_KEY");
  return std::string(key != nullptr ? key : "");
}

Result<ForwarderOptions> forwarder_options(const CollectArguments& arguments) {
  ForwarderOptions options;
  WEIR_ASSIGN(options.client.server, parse_endpoint(arguments.forward, forward_port));
  WEIR_ASSIGN(options.client.shared_key, shared_key(arguments.shared_key_file));
  WEIR_ASSIGN(options.client.compression, parse_compression(arguments.compress));
  options.client.tag = arguments.tag;
  options.client.name = arguments.node;
  if (arguments.spool.empty()) {
    WEIR_ASSIGN(options.spool, default_spool(options.client.server));
  } else {
    options.spool = arguments.spool;
  }
  WEIR_ASSIGN(const std::int64_t bytes, parse_bytes(arguments.spool_size));
  if (bytes < 1 << 16)
    return fail(ErrorCode::invalid_argument, "--spool-size " + arguments.spool_size + " is less than 64K");
  options.spool_bytes = static_cast<std::uint64_t>(bytes);
  return options;
}

// With --spool (and no --forward, whose spool it is then) rounds wait on disk while the store is away.
Result<store::SpooledStore> open_store(const CollectArguments& arguments) {
  store::SpoolOptions options{.tell = tell};
  if (!arguments.spool.empty() && arguments.forward.empty()) {
    options.path = arguments.spool;
    WEIR_ASSIGN(const std::int64_t bytes, parse_bytes(arguments.spool_size));
    options.most_bytes = static_cast<std::uint64_t>(bytes);
  }
  return store::SpooledStore::open(arguments.store, std::move(options));
}

void print_sources(const Collector& collector, bool json) {
  if (json) {
    Json all = Json::array();
    for (const auto& source : collector.sources())
      all.push_back({{"source", source->name()}, {"components", source->components()}});
    fmt::print("{}\n", pretty(all));
    return;
  }
  Table table({"source", "components", "what"},
              {Table::Align::left, Table::Align::right, Table::Align::left});
  for (const auto& source : collector.sources()) {
    for (const SourceEntry& entry : source_table()) {
      if (entry.name == source->name())
        table.add({std::string(entry.name), std::to_string(source->components()), std::string(entry.what)});
    }
  }
  fmt::print("{}", table.text());
}

void print_overhead(Collector& collector, double interval, bool json) {
  constexpr double seconds = 2;
  constexpr double usual_counters = 50;
  const Overhead overhead = collector.measure(seconds);
  const double microseconds = overhead.round_seconds * 1e6;
  const double each = microseconds / static_cast<double>(std::max<std::size_t>(overhead.counters, 1));
  if (json) {
    const Json figures = {{"counters", overhead.counters},
                          {"rounds", overhead.rounds},
                          {"microseconds_per_round", microseconds},
                          {"microseconds_per_counter", each},
                          {"interval_seconds", interval},
                          {"core_share_percent", 100 * overhead.share(interval)},
                          {"core_share_percent_50_counters", each * usual_counters * 1e-4 / interval}};
    fmt::print("{}\n", pretty(figures));
    return;
  }
  fmt::print("{} counters: {:.1f} us of processor time a round, {:.2f} us a counter ({} rounds measured)\n",
             overhead.counters, microseconds, each, overhead.rounds);
  fmt::print("every {:g} s: {:.4f}% of a core; {:g} counters at that price: {:.4f}%\n", interval,
             100 * overhead.share(interval), usual_counters, each * usual_counters * 1e-4 / interval);
}

void print_summary(const CollectorTally& tally, const std::optional<ForwarderTally>& sent, bool json,
                   bool to_stdout) {
  if (json) {
    Json summary = {{"rounds", tally.rounds},
                    {"samples", tally.samples},
                    {"late_rounds", tally.late},
                    {"problems", tally.problems},
                    {"failures", tally.failures}};
    if (sent) {
      summary["sent"] = sent->sent;
      summary["waiting"] = sent->waiting;
      summary["dropped"] = sent->dropped;
      summary["broken_chunks"] = sent->broken_chunks;
    }
    fmt::print(to_stdout ? stderr : stdout, "{}\n", pretty(summary));
    return;
  }
  std::string line = fmt::format("{} samples in {} rounds", tally.samples, tally.rounds);
  if (tally.late > 0) line += fmt::format(", {} rounds left out", tally.late);
  if (tally.problems > 0) line += fmt::format(", {} lines not read", tally.problems);
  if (sent)
    line +=
        fmt::format("; {} sent, {} kept in the spool, {} dropped", sent->sent, sent->waiting, sent->dropped);
  fmt::print(stderr, "weir collect: {}\n", line);
}

}  // namespace

std::string describe_sources() {
  std::string text;
  for (const SourceEntry& entry : source_table()) text += fmt::format("  {:<16}{}\n", entry.name, entry.what);
  return text;
}

Status collect(const CollectArguments& arguments) {
  CollectorOptions options{.sources = arguments.sources,
                           .setting = {.root = arguments.root, .node = arguments.node}};
  WEIR_ASSIGN(options.interval, parse_seconds(arguments.interval));
  if (!arguments.duration.empty()) {
    WEIR_ASSIGN(options.duration, parse_seconds(arguments.duration));
  }
  WEIR_ASSIGN(const double drain, parse_seconds(arguments.drain));
  WEIR_ASSIGN(Collector collector, Collector::open(options));
  if (arguments.list) {
    print_sources(collector, arguments.json);
    return {};
  }
  if (arguments.overhead) {
    print_overhead(collector, options.interval, arguments.json);
    return {};
  }

  WEIR_ASSIGN(const Descriptor stop, interruptions());
  std::optional<Forwarder> forwarder;
  if (!arguments.forward.empty()) {
    WEIR_ASSIGN(ForwarderOptions forwarding, forwarder_options(arguments));
    WEIR_ASSIGN(forwarder, Forwarder::start(std::move(forwarding), tell));
  }
  std::optional<store::SpooledStore> store;
  if (!arguments.store.empty()) {
    WEIR_ASSIGN(store, open_store(arguments));
  }
  std::optional<LineFile> file;
  const bool to_stdout = arguments.output == "-" || (arguments.output.empty() && !forwarder && !store);
  if (to_stdout || !arguments.output.empty()) {
    WEIR_ASSIGN(file, LineFile::open(to_stdout ? "-" : arguments.output, arguments.tag));
  }
  const CollectorTally tally = collector.run(
      [&](const Batch& batch) -> Status {
        if (file) WEIR_TRY(file->add(batch));
        if (store) WEIR_TRY(store->write(batch));
        if (forwarder) WEIR_TRY(forwarder->add(batch));
        return {};
      },
      tell, stop.get());
  if (store) {
    if (const Status delivered = store->deliver(); !delivered) tell(delivered.error().message());
  }
  std::optional<ForwarderTally> sent;
  if (forwarder) sent = forwarder->finish(drain);
  print_summary(tally, sent, arguments.json, to_stdout);
  if (tally.failures > 0)
    return fail(ErrorCode::io,
                fmt::format("{} of {} rounds could not be delivered", tally.failures, tally.rounds));
  return {};
}

}  // namespace weir::cli
