#include "session/session_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <thread>
#include <utility>

#include "core/options.hpp"
#include "core/timed.hpp"
#include "offload/own_thread.hpp"
#include "offload/start.hpp"
#include "session/session_plan.hpp"
#include "session/summary_file.hpp"

namespace weir::session {

namespace {

// For every file of a program that cannot be changed, and for comparing storage instead of memory: WEIR_FSYNC
// asks for what `fsync` of a file asks for ("close"), or for the same after every write ("write").
Status apply_fsync_of_environment(files::CreateOptions& options) {
  const char* text = std::getenv("WEIR_FSYNC");
  if (text == nullptr || *text == '\0') return {};
  const std::string_view when = text;
  if (when != "close" && when != "write")
    return fail(ErrorCode::invalid_argument, fmt::format("WEIR_FSYNC is '{}'", when),
                "make it 'close' or 'write'");
  options.fsync = true;
  options.fsync_writes = when == "write";
  return {};
}

[[noreturn]] void leave(int code) {
  MPI_Finalize();
  std::exit(code);
}

}  // namespace

bool mpi_is_running() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

Result<std::shared_ptr<State>> State::start(MPI_Comm comm, const SessionOptions& options) {
  if (!mpi_is_running()) {
    return in(Result<std::shared_ptr<State>>(fail(ErrorCode::state, "MPI is not initialised",
                                                  "call MPI_Init first, or use weir::Session::serial()")),
              "start a session");
  }
  std::shared_ptr<State> state(new State);
  WEIR_TRY(in(check_no_servers_among(comm), "start a session"));
  state->job_ = mpi::Comm::duplicate(comm);
  auto decision = decide(options, static_cast<std::uint32_t>(state->job_.size()));
  if (const auto patience = mpi::patience_of_environment(); !patience)
    decision = tl::make_unexpected(patience.error());
  if (decision) {
    if (const Status pinned = pin(decision->plan.placement, state->job_.rank()); !pinned)
      decision = tl::make_unexpected(pinned.error());
  }
  WEIR_TRY(in(agree_on(state->job_, decision), "start a session"));
  state->comm_ = state->job_;
  state->file_comm_ = state->job_;
  WEIR_TRY(in(state->connect(std::move(*decision), options), "start a session"));
  state->arrays_ = std::make_shared<offload::Arrays>(state->conduit_.get());
  state->end_with_mpi();
  return state;
}

Result<std::shared_ptr<State>> State::start_serial() {
  std::shared_ptr<State> state(new State);
  WEIR_ASSIGN(const Decision decision, decide({}, 1));
  state->plan_ = decision.plan;
  if (state->plan_.mode == Mode::thread)
    state->conduit_ = std::make_unique<offload::OwnThread>(mpi::Comm::serial());
  state->in_thread_ = state->plan_.mode == Mode::thread;
  state->arrays_ = std::make_shared<offload::Arrays>(state->conduit_.get());
  return state;
}

Status State::connect(Decision decision, const SessionOptions& options) {
  plan_ = std::move(decision.plan);
  if (decision.plan_is_over && plan_.mode == Mode::synchronous && comm_.rank() == 0)
    fmt::print(stderr,
               "weir: the I/O servers of WEIR_PLAN ended with the first session: the ranks of this one "
               "write synchronously\n");
  const auto nodes =
      plan_.mode == Mode::servers || decision.places ? offload::nodes_of(job_) : std::vector<std::uint32_t>();
  if (plan_.mode == Mode::servers) return start_servers(options, nodes, decision.places);
  if (decision.places) WEIR_TRY(pin_by_mapping(job_, plan_.roles, nodes));
  if (plan_.mode == Mode::thread) return start_thread();
  if (comm_.size() > 1) farewell_ = job_.duplicate();
  return {};
}

Status State::start_servers(const SessionOptions& options, const std::vector<std::uint32_t>& nodes,
                            bool places) {
  const auto parts = mpi::agree(job_, assign_parts(plan_.roles, options, nodes));
  if (!parts) return tl::make_unexpected(parts.error());
  const auto budget = mpi::agree(job_, decide_budget(options));
  if (!budget) return tl::make_unexpected(budget.error());
  if (places) WEIR_TRY(pin_by_mapping(job_, plan_.roles, nodes));
  auto connected = offload::start(job_, *parts, *budget);
  if (!connected) {
    if (parts->server_of[static_cast<std::size_t>(job_.rank())] >= 0)
      return tl::make_unexpected(connected.error());
    fmt::print(stderr, "weir: I/O server (rank {} of the job): {}\n", job_.rank(),
               connected.error().message());
    std::fflush(stderr);
    // Where the session never began, the compute ranks know; where it broke, nobody else can end the job.
    mpi::end_job();
    leave(1);
  }
  if (!*connected) leave(0);
  note_servers(job_, parts->servers);
  comm_ = (*connected)->compute;
  if (comm_.size() > 1) farewell_ = comm_.duplicate();
  file_comm_ = comm_;
  conduit_ = std::move((*connected)->conduit);
  return {};
}

Status State::start_thread() {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  const Status possible =
      provided == MPI_THREAD_MULTIPLE
          ? Status()
          : Status(fail(ErrorCode::unsupported, "mode 'thread' needs MPI to be used by two threads at once",
                        "start MPI by MPI_Init_thread(..., MPI_THREAD_MULTIPLE, ...), or use servers"));
  WEIR_TRY(mpi::agree(job_, possible));
  file_comm_ = job_.duplicate();
  conduit_ = std::make_unique<offload::OwnThread>(file_comm_);
  in_thread_ = true;
  return {};
}

// The plan's aggregators and its limit of requests hold for whoever writes the file, ranks or servers, where
// the backend can keep to them. A plan names ranks of the job; a backend counts those who write.
void State::apply_plan(const std::string& path, bool by_servers, files::CreateOptions& wanted) const {
  std::vector<std::uint32_t> writers;
  if (plan_.mode != Mode::servers || by_servers) writers = plan_.aggregators_among_writers();
  if (plan_.throttle.requests_per_target == 0 && writers.empty()) return;
  const auto entry = files::backend_for(path, wanted, !comm_.is_serial());
  if (!entry) return;  // said when the file is created
  const auto has = [&](std::string_view name) {
    return std::any_of((*entry)->options.begin(), (*entry)->options.end(),
                       [&](const Option& option) { return option.name == name; });
  };
  if (!has("req") || !has("collective")) return;
  if (plan_.throttle.requests_per_target > 0)
    wanted.options.insert({"req", std::to_string(plan_.throttle.requests_per_target)});
  if (!writers.empty()) wanted.options.insert({"aggregators", fmt::format("{}", fmt::join(writers, "+"))});
  wanted.options.insert({"collective", "auto"});
}

Result<std::unique_ptr<Sink>> State::create(const std::string& path, const FileOptions& options) {
  files::CreateOptions wanted{options.backend, options.options, options.checksums, options.fsync,
                              /*fsync_writes=*/false};
  Status mine = apply_fsync_of_environment(wanted);
  if (mine && options.policy == Policy::throttled && options.in_flight == 0)
    mine = fail(ErrorCode::invalid_argument, "in_flight is 0", "make it 1 or more");
  if (wanted.backend.empty() && !plan_.backend.name.empty()) {
    wanted.backend = plan_.backend.name;
    // What the program says about its backend's options holds; the plan fills in the rest.
    wanted.options.insert(plan_.backend.options.begin(), plan_.backend.options.end());
  }
  apply_plan(path, conduit_ && options.policy != Policy::synchronous, wanted);
  if (ended_)
    return in(Result<std::unique_ptr<Sink>>(fail(ErrorCode::state, "the session has ended")), "create", path);
  if (!conduit_ || options.policy == Policy::synchronous) {
    Result<std::unique_ptr<files::OutputFile>> file = tl::make_unexpected(Failure{});
    const Timed timed(meter_.storing_seconds);
    run_together([&] { file = files::OutputFile::create(file_comm_, path, wanted, mine); });
    if (!file) return tl::make_unexpected(file.error());
    return std::make_unique<DirectSink>(std::move(*file), *this);
  }
  auto entry = files::backend_for(path, wanted, !comm_.is_serial());
  if (!mine) entry = tl::make_unexpected(mine.error());
  entry = in(std::move(entry), "create", path);
  const std::uint64_t number = next_file_++;
  if (!entry) {
    entry.error().rank = comm_.rank();
    return tl::make_unexpected(offload::RemoteFile::refuse(*conduit_, number, path, entry.error()));
  }
  const std::uint32_t most = options.policy == Policy::throttled ? options.in_flight : 0;
  auto file = std::make_unique<offload::RemoteFile>(*conduit_, *arrays_, number, path, wanted, **entry, most);
  return std::make_unique<OffloadSink>(std::move(file), comm_.rank());
}

void State::wait_taken(const offload::Progress& progress) {
  // The data is usually being copied right now, or about to be.
  constexpr auto soon = std::chrono::microseconds(300);
  if (conduit_ && !in_thread_) {
    const auto start = std::chrono::steady_clock::now();
    while (!progress.taken() && (conduit_->help() || std::chrono::steady_clock::now() - start < soon))
      std::this_thread::yield();
  }
  progress.wait_taken();
}

void State::let_go_of(const offload::Progress& progress) noexcept {
  using std::chrono::steady_clock;
  // All that goes with one exception goes within moments.
  constexpr auto of_the_same = std::chrono::seconds(1);
  constexpr auto long_enough = std::chrono::seconds(5);
  if (steady_clock::now() - last_let_go_ > of_the_same) began_to_let_go_ = steady_clock::now();
  while (!progress.taken() && !progress.refused() && steady_clock::now() - began_to_let_go_ < long_enough)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  last_let_go_ = steady_clock::now();
}

void State::run_where_files_are(const std::function<void()>& body) {
  if (in_thread_ && conduit_) {  // files and readers may outlive the session, and its thread
    static_cast<offload::OwnThread&>(*conduit_).run(body);
  } else {
    body();
  }
}

void State::run_together(const std::function<void()>& body) {
  close_given_up();
  run_where_files_are(body);
}

void State::give_up(std::unique_ptr<files::OutputFile> file) {
  run_where_files_are([&] {
    file->give_up({.code = ErrorCode::state,
                   .cause = "given up by the program",
                   .object = file->path(),
                   .rank = comm_.rank()});
    if (in_thread_) file.reset();
  });
  if (file && file_comm_.size() > 1) given_up_.push_back(std::move(file));
}

// The ranks that go on with such a file, and come to its close, do not wait for ever, nor do they take
// another call of this rank for that one.
void State::close_given_up() {
  for (const auto& file : std::exchange(given_up_, {})) (void)file->close({});
}

Status State::give_up_direct_files() {
  std::vector<std::string> paths;
  for (DirectSink* file : direct_files_) {
    if (!file->is_open()) continue;
    paths.push_back(file->path());
    file->give_up();
  }
  if (paths.empty()) return {};
  return in(Status(fail(ErrorCode::state,
                        fmt::format("{} file{} not closed, and given up: {}", paths.size(),
                                    paths.size() == 1 ? " was" : "s were", fmt::join(paths, ", ")),
                        "close files before the session ends")),
            "end the session");
}

// A program may close a file thousands of times: what ended well, or was told, is forgotten.
void State::count_closings() {
  std::erase_if(closings_, [this](Closing& closing) {
    if (!closing.progress->done()) return false;
    if (closing.progress->failed()) return closing.progress->seen();
    closing.writes.count(meter_);
    return true;
  });
}

Status State::end() {
  if (ended_) return {};
  ended_ = true;
  FinalizeHook* const hook = hook_;
  stop_ending_with_mpi();
  Status status;
  offload::Report report;
  if (conduit_) {
    offload::Operation stop;
    stop.kind = offload::Operation::Kind::stop;
    stop.progress = std::make_shared<offload::Progress>();
    const auto progress = stop.progress;
    arrays_->disconnect();
    conduit_->submit(std::move(stop));
    {
      const Timed timed(meter_.closing_seconds);
      progress->wait_done();
    }
    status = in(progress->status(), "end the session");
    report = conduit_->report();
    if (hook != nullptr) hook->server_lost = report.lost;
    // Where the session could not be ended together, the others may be elsewhere: no sums then.
    if (!progress->status()) {
      final_summary_ = summary();
      if (hook != nullptr) hook->left = farewell_;
    }
    conduit_.reset();
    if (final_summary_) return status;
  }
  if (status) status = give_up_direct_files();
  close_given_up();
  if (plan_.mode == Mode::synchronous) {
    if (const Status together = mpi::vote_to_end(file_comm_, "end the session"); !together) {
      final_summary_ = summary();
      return status ? in(together, "end the session") : status;
    }
  }
  farewell_.reset();
  count_closings();
  for (const Closing& closing : closings_) {
    if (status && !closing.progress->seen()) status = closing.progress->status();
  }
  Summary total;
  const auto seconds = [&](double mine) {
    return static_cast<double>(comm_.max(static_cast<std::int64_t>(mine * 1e9))) * 1e-9;
  };
  const auto sum = [&](std::uint64_t mine) {
    return static_cast<std::uint64_t>(comm_.sum(static_cast<std::int64_t>(mine)));
  };
  total.files = meter_.files;
  total.writes = sum(meter_.writes);
  total.bytes = sum(meter_.bytes);
  total.stored_bytes = sum(meter_.stored_bytes + report.stored_bytes);
  total.storing_seconds = seconds(report.storing_seconds + meter_.storing_seconds);
  total.sending_seconds = seconds(meter_.sending_seconds);
  total.waiting_seconds = seconds(meter_.waiting_seconds + arrays_->waited_seconds());
  total.closing_seconds = seconds(meter_.closing_seconds);
  total.peak_memory = static_cast<std::uint64_t>(comm_.max(static_cast<std::int64_t>(report.peak_memory)));
  total.transport_seconds = seconds(report.transport_seconds);
  total.transport_bytes = sum(report.transport_bytes);
  if (total.transport_seconds > 0)
    total.transport_bytes_per_second = static_cast<double>(total.transport_bytes) / total.transport_seconds;
  total.transports = report.transport;
  final_summary_ = total;
  const char* wanted = std::getenv("WEIR_SUMMARY");
  if (wanted != nullptr && std::string_view(wanted) == "1" && comm_.rank() == 0)
    fmt::print(stderr, "{}", total.text());
  if (const char* path = std::getenv("WEIR_SUMMARY_FILE");
      path != nullptr && *path != '\0' && comm_.rank() == 0) {
    if (const Status appended = append_summary(total, path); !appended)
      fmt::print(stderr, "weir: {}\n", appended.error().message());
  }
  return status;
}

State::~State() {
  if (hook_ != nullptr && !ended_) hook_->left = farewell_;
  if (hook_ != nullptr && !ended_ && conduit_ && !in_thread_) hook_->server_lost = conduit_->report().lost;
  stop_ending_with_mpi();
  if (arrays_) arrays_->disconnect();
  // After an exception, most likely. Nobody waits here, neither for other ranks nor for data.
  if (conduit_ && !ended_) conduit_->leave(comm_.rank());
}

Summary State::summary() {
  if (final_summary_) return *final_summary_;
  count_closings();
  Summary mine;
  mine.files = meter_.files;
  mine.writes = meter_.writes;
  mine.bytes = meter_.bytes;
  mine.stored_bytes = meter_.stored_bytes;
  mine.storing_seconds = meter_.storing_seconds;
  mine.sending_seconds = meter_.sending_seconds;
  mine.waiting_seconds = meter_.waiting_seconds + arrays_->waited_seconds();
  mine.closing_seconds = meter_.closing_seconds;
  if (conduit_) {
    const offload::Report report = conduit_->report();
    mine.storing_seconds += report.storing_seconds;
    // A server tells one of its clients what it stored for all.
    mine.stored_bytes = in_thread_ ? mine.stored_bytes + report.stored_bytes : 0;
    mine.peak_memory = report.peak_memory;
    mine.transport_seconds = report.transport_seconds;
    mine.transport_bytes = report.transport_bytes;
    if (report.transport_seconds > 0)
      mine.transport_bytes_per_second =
          static_cast<double>(report.transport_bytes) / report.transport_seconds;
    mine.transports = report.transport;
  }
  return mine;
}

namespace {

[[noreturn]] void fail_now() {
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace

// MPI_Abort within MPI_Finalize often makes the launcher of Open MPI 4 crash or hang.
void fail_at_exit() {
  static const int once = std::atexit([] { fail_now(); });
  static_cast<void>(once);
}

// A program that finalises MPI without ending its session would leave the servers waiting, and itself with
// them; or a file that nobody closed.
void State::end_with_mpi() {
  const auto end_session = [](MPI_Comm, int, void* value, void*) -> int {
    const std::unique_ptr<FinalizeHook> hook(static_cast<FinalizeHook*>(value));
    State* self = std::exchange(hook->session, nullptr);
    // Others that have not left, too, may wait for this rank, in a call of the library or of their own: for
    // a while, and then the job ends.
    if (hook->left && !hook->server_lost)
      (void)mpi::agree(*hook->left, fail(ErrorCode::state,
                                         "this rank left its session by an exception, or after a failure"));
    if (const Status ended = self != nullptr ? self->end() : Status(); !ended) {
      fmt::print(stderr, "weir: {}\n", ended.error().message());
      std::fflush(stderr);
      // Something is lost, and nobody is left to be told but whoever looks at the job's status.
      fail_at_exit();
    }
    if (hook->server_lost) {
      fmt::print(stderr, "weir: an I/O server is lost, and MPI would wait for it: ending the job\n");
      fail_now();
    }
    return MPI_SUCCESS;
  };
  auto hook = std::make_unique<FinalizeHook>(FinalizeHook{.session = this});
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_session, &key, nullptr);
  if (MPI_Comm_set_attr(MPI_COMM_SELF, key, hook.get()) == MPI_SUCCESS) hook_ = hook.release();
  MPI_Comm_free_keyval(&key);
}

// The attribute stays: a session may end while MPI deletes another one, and MPICH allows no change then.
void State::stop_ending_with_mpi() {
  if (hook_ == nullptr) return;
  if (is_shared_) hook_->shared = comm_;
  std::exchange(hook_, nullptr)->session = nullptr;
}

MPI_Comm State::share_compute() {
  is_shared_ = true;
  return comm_.get();
}

}  // namespace weir::session
