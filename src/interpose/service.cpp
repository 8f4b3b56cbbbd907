#include "interpose/service.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include "aggregation/file_system.hpp"
#include "core/options.hpp"
#include "interpose/passed_writes.hpp"
#include "interpose/plan_settings.hpp"
#include "interpose/served_file.hpp"

namespace weir::interpose {

using collective::Accounting;

// A file that the program has open.
struct Service::OpenFile {
  MPI_File handle = MPI_FILE_NULL;
  std::unique_ptr<ServedFile> served;    // null: left to the MPI library
  std::unique_ptr<PassedWrites> writes;  // null: it has none that anybody must be kept away from
  int further_mode = 0;
};

namespace {

// Of this rank; files are counted by their rank 0.
struct Tally {
  std::uint64_t served = 0;      // files
  std::uint64_t passed = 0;      // files left to the MPI library
  std::uint64_t unthreaded = 0;  // non-blocking calls left to it for want of threads
};

}  // namespace

struct Service::State {
  Status environment;
  std::mutex mutex;  // of the list, not of the files in it
  std::vector<OpenFile> files;
  Accounting closed;  // of files that are closed
  Tally tally;
  std::set<std::string> said;
  std::set<std::string> without_effect;  // settings of closed files, in words

  ServedFile* find(MPI_File handle) {
    const std::lock_guard lock(mutex);
    for (const OpenFile& file : files)
      if (file.handle == handle) return file.served.get();
    return nullptr;
  }
  // Programs open many files with the same hints.
  void say_once(const std::string& message) {
    const std::lock_guard lock(mutex);
    if (said.insert(message).second) fmt::print(stderr, "libweir-mpiio: {}\n", message);
  }
  PassedWrites* find_writes(MPI_File handle) {
    const std::lock_guard lock(mutex);
    for (const OpenFile& file : files)
      if (file.handle == handle) return file.writes.get();
    return nullptr;
  }
};

Service::Service(Status environment) : state_(std::make_unique<State>()) {
  state_->environment = std::move(environment);
}
Service::~Service() = default;

namespace {

constexpr const char* aggregators_hint = "weir_aggregators";

// Of one rank, before the file is open. LOCAL. The list of aggregators goes among the hints as it was said,
// wherever that was, to be reported.
Result<aggregation::Settings> settings_for(MPI_Comm comm, const Status& environment, Hints& hints) {
  WEIR_TRY(environment);
  WEIR_ASSIGN(const aggregation::Settings planned, settings_of_plan());
  WEIR_ASSIGN(aggregation::Settings settings, settings_of(hints, planned));
  const char* const where =
      hints.contains(aggregators_hint) ? "hint weir_aggregators" : "environment variable WEIR_AGGREGATORS";
  if (!settings.ranks.empty()) hints[aggregators_hint] = hints_of(settings).at(aggregators_hint);
  WEIR_ASSIGN(settings.ranks, in(aggregators_in(comm, settings.ranks), where));
  return settings;
}

std::string text_of(const Hints& hints) {
  std::string text;
  for (const auto& [key, value] : hints) text += fmt::format("{}={} ", key, value);
  return text;
}

}  // namespace

Result<Service::Opening> Service::prepare(MPI_Comm comm, MPI_Info info, const char* name, int mode) {
  Opening opening{
      .comm = mpi::Comm::duplicate(comm), .hints = read_hints(info), .settings = {}, .mode = mode};
  const std::vector<std::string> differing = take_advice_of_first(opening.comm, opening.hints);
  const Hints advice = opening.hints;
  const std::vector<std::string> useless = drop_useless(opening.hints);
  const std::string said = text_of(opening.hints);
  WEIR_ASSIGN(
      opening.settings,
      in(agree(opening.comm, settings_for(comm, state_->environment, opening.hints)), "MPI_File_open", name));
  WEIR_TRY(mpi::same_everywhere(opening.comm, said, fmt::format("what hints say of '{}'", name)));
  WEIR_TRY(mpi::same_everywhere(opening.comm, text_of(hints_of(opening.settings)),
                                fmt::format("what the environment says of '{}'", name)));
  if (opening.comm.rank() == 0) {
    for (const std::string& message : useless) state_->say_once(message + " (the hint is ignored)");
    for (const std::string& hint : differing)
      state_->say_once(
          fmt::format("hint {} of MPI_File_open differs between ranks (that of rank 0 is taken)", hint));
  }
  // ROMIO waits for ever, or ends the job, where ranks give different advice.
  if (!differing.empty()) opening.info = with_advice(info, advice);
  // What goes wrong here goes wrong again in MPI_File_open, which has the words for it. Which file a name
  // with a colon stands for is only known once it is open.
  if (!opening.settings.striping.asked_for()) return opening;
  const bool makes = (mode & MPI_MODE_CREATE) != 0 && std::strchr(name, ':') == nullptr;
  std::int64_t made = 0;
  if (makes && opening.comm.rank() == 0)
    made = aggregation::create_striped(name, opening.settings.striping).value_or(false) ? 1 : 0;
  // The MPI library must not insist on making it.
  opening.made = opening.comm.max(made) == 1 && (mode & MPI_MODE_EXCL) != 0;
  if (opening.made) opening.mode &= ~MPI_MODE_EXCL;
  return opening;
}

namespace {

// Writes of a file that is left to the MPI library as a whole. Other files of that name may be served.
std::unique_ptr<PassedWrites> writes_of(const std::string& name) {
  const auto path = opened_path(name);
  struct stat status {};
  if (!path || ::stat(path->c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  auto file = open_file(*path, O_RDWR | O_CLOEXEC);
  if (!file) file = open_file(*path, O_WRONLY | O_CLOEXEC);
  if (!file || aggregation::ask_file_system(file->get()).shared_locks) return nullptr;
  return std::make_unique<PassedWrites>(std::move(*file));
}

}  // namespace

void Service::opened(Opening opening, MPI_File file, const char* name, bool succeeded) {
  OpenFile open{.handle = file};
  if (opening.made) open.further_mode = MPI_MODE_EXCL;
  if (opening.made && !succeeded && opening.comm.rank() == 0) ::unlink(name);
  const bool writes = (opening.mode & MPI_MODE_RDONLY) == 0;
  // Ranks may differ in what they saw: then there is nothing to serve.
  if (opening.comm.min(succeeded ? 1 : 0) == 1) {
    auto served =
        ServedFile::open(opening.comm, file, name, opening.mode, opening.settings, std::move(opening.hints));
    if (served) open.served = std::move(*served);
  }
  if (!succeeded) return;
  if (writes && !open.served)
    open.writes = writes_of(name);
  else if (writes && open.served->collective().locks())
    open.writes = std::make_unique<PassedWrites>(open.served->descriptor());
  const std::lock_guard lock(state_->mutex);
  if (opening.comm.rank() == 0) ++(open.served ? state_->tally.served : state_->tally.passed);
  state_->files.push_back(std::move(open));
}

void Service::closing(MPI_File file) {
  OpenFile closed;
  {
    const std::lock_guard lock(state_->mutex);
    const auto found = std::find_if(state_->files.begin(), state_->files.end(),
                                    [&](const OpenFile& open) { return open.handle == file; });
    if (found == state_->files.end()) return;
    closed = std::move(*found);
    state_->files.erase(found);
  }
  if (!closed.served) return;
  closed.served->finish();
  const std::lock_guard lock(state_->mutex);
  state_->closed += closed.served->collective().accounting();
  if (const aggregation::Decision* const last = closed.served->collective().last_decision())
    for (std::string& note : settings_without_effect(*last, closed.served->collective().settings()))
      state_->without_effect.insert(std::move(note));
}

void Service::view_set(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                       const char* representation, bool succeeded) {
  if (ServedFile* const served = state_->find(file))
    served->set_view(displacement, etype, filetype, representation, succeeded);
}

void Service::atomicity_set(MPI_File file, bool atomic) {
  if (ServedFile* const served = state_->find(file)) {
    served->finish();
    served->set_atomic(atomic);
  }
}

namespace {

bool has_threads() {
  int threads = MPI_THREAD_SINGLE;
  return PMPI_Query_thread(&threads) == MPI_SUCCESS && threads >= MPI_THREAD_MULTIPLE;
}

}  // namespace

std::optional<int> Service::transfer(const Call& call) {
  if (call.reach != Reach::together) return std::nullopt;
  ServedFile* const served = state_->find(call.file);
  if (served == nullptr) return std::nullopt;
  // A call that must return at once, though other ranks may make theirs much later: another thread waits for
  // them, if MPI allows it one. That is the same on all ranks, as far as programs are sane.
  if (call.phase == Phase::started && !has_threads()) {
    const std::lock_guard lock(state_->mutex);
    ++state_->tally.unthreaded;
    return std::nullopt;
  }
  return served->transfer(call);
}

int Service::pass(const Call& call, const Next& next) {
  if (call.direction != Direction::write) return next();
  PassedWrites* const writes = state_->find_writes(call.file);
  return writes == nullptr ? next() : writes->carry_out(call, next);
}

int Service::further_mode(MPI_File file) {
  const std::lock_guard lock(state_->mutex);
  for (const OpenFile& open : state_->files)
    if (open.handle == file) return open.further_mode;
  return 0;
}

void Service::describe(MPI_File file, MPI_Info info) {
  if (ServedFile* const served = state_->find(file))
    report_hints(info, served->hints_in_use(), served->collective().settings());
}

void Service::hints_came(MPI_File file, MPI_Info info, const char* call) {
  ServedFile* const served = state_->find(file);
  if (served == nullptr || !served->leads()) return;
  const Hints used = served->hints_in_use();
  for (const auto& [key, value] : read_hints(info)) {
    const auto found = used.find(key);
    if (!is_of_weir(key) || (found != used.end() && found->second == value)) continue;
    state_->say_once(
        fmt::format("hint {}={} of {}: the file goes on with what it was opened with (the hint is ignored)",
                    key, value, call));
  }
}

namespace {

// Summed over ranks, the seconds also as the slowest rank had them. On rank 0.
struct Totals {
  Tally tally;
  Accounting sum;
  Accounting most;
};

Totals over_ranks(const Tally& tally, const Accounting& mine) {
  Totals totals;
  PMPI_Reduce(mine.seconds.data(), totals.sum.seconds.data(), collective::phase_count, MPI_DOUBLE, MPI_SUM, 0,
              MPI_COMM_WORLD);
  PMPI_Reduce(mine.seconds.data(), totals.most.seconds.data(), collective::phase_count, MPI_DOUBLE, MPI_MAX,
              0, MPI_COMM_WORLD);
  const std::array<std::uint64_t, 9> counts = {
      tally.served,   tally.passed, tally.unthreaded,        mine.calls,
      mine.schedules, mine.bytes,   mine.sent_between_nodes, mine.model_between_nodes,
      mine.requests};
  std::array<std::uint64_t, counts.size()> sums{};
  PMPI_Reduce(counts.data(), sums.data(), static_cast<int>(counts.size()), MPI_UINT64_T, MPI_SUM, 0,
              MPI_COMM_WORLD);
  totals.tally = {.served = sums[0], .passed = sums[1], .unthreaded = sums[2]};
  totals.sum.calls = sums[3];
  totals.sum.schedules = sums[4];
  totals.sum.bytes = sums[5];
  totals.sum.sent_between_nodes = sums[6];
  totals.sum.model_between_nodes = sums[7];
  totals.sum.requests = sums[8];
  return totals;
}

std::string summary_text(const Totals& totals, int ranks) {
  const Accounting& sum = totals.sum;
  const auto [served, passed, unthreaded] = totals.tally;
  std::string text = fmt::format(
      "weir: collective I/O of {} file{}: {} in {} calls of {} ranks; {} schedules; {} between nodes ({} by "
      "the file domains); {} requests to the file system\n",
      served, served == 1 ? "" : "s", format_bytes(sum.bytes), sum.calls, ranks, sum.schedules,
      format_bytes(sum.sent_between_nodes), format_bytes(sum.model_between_nodes), sum.requests);
  if (passed != 0)
    text += fmt::format("weir: {} file{} left to the MPI library\n", passed, passed == 1 ? " was" : "s were");
  if (unthreaded != 0)
    text += fmt::format(
        "weir: {} non-blocking call{} left to the MPI library, which the program started without "
        "MPI_THREAD_MULTIPLE (WEIR_NONBLOCKING=on starts it so)\n",
        unthreaded, unthreaded == 1 ? " was" : "s were");
  double total = 0;
  for (const double seconds : sum.seconds) total += seconds;
  text += fmt::format("weir: {:<26} {:>10} {:>12} {:>7}\n", "where the time went", "mean/s", "slowest/s",
                      "share");
  for (std::size_t i = 0; i < collective::phase_count; ++i) {
    text += fmt::format("weir:   {:<24} {:>10.4f} {:>12.4f} {:>6.1f}%\n",
                        collective::to_string(static_cast<collective::Phase>(i)), sum.seconds[i] / ranks,
                        totals.most.seconds[i], total > 0 ? 100 * sum.seconds[i] / total : 0.0);
  }
  return text;
}

}  // namespace

void Service::print_summary() {
  Accounting mine = state_->closed;
  for (const OpenFile& file : state_->files)
    if (file.served) mine += file.served->collective().accounting();
  const Totals totals = over_ranks(state_->tally, mine);
  int rank = 0, ranks = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank != 0) return;
  std::string text = summary_text(totals, ranks);
  for (const std::string& note : state_->without_effect) text += fmt::format("weir: note: {}\n", note);
  std::fputs(text.c_str(), stderr);
}

}  // namespace weir::interpose
