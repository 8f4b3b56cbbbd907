#include "announced_nodes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>
#include <thread>

#include "core/file.hpp"
#include "core/no_signals.hpp"
#include "sampled_nodes.hpp"
#include "telemetry/source.hpp"

namespace weir::cli {

namespace fs = std::filesystem;

struct AnnouncedNodes::State {
  RemoteSettings settings;
  std::string path;
  Descriptor changes;  // readable: something in the folder has changed
  Descriptor stop;     // readable: the job is over
  mutable std::mutex mutex;
  JoinedNodes joined;                                    // under the mutex
  Result<telemetry::Batch> samples{telemetry::Batch{}};  // of the thread until it has ended
  std::thread thread;

  void work();
  Status sample();
  bool wait_for_stop() const;
  void end();
};

// Whether the job is over; else something may have been announced.
bool AnnouncedNodes::State::wait_for_stop() const {
  pollfd both[] = {{stop.get(), POLLIN, 0}, {changes.get(), POLLIN, 0}};
  while (::poll(both, 2, -1) < 0 && errno == EINTR) {
  }
  char events[4096];
  while (::read(changes.get(), events, sizeof events) > 0) {
  }
  return both[0].revents != 0;
}

// What was started lives as long as this thread: sampling starts and ends in it.
Status AnnouncedNodes::State::sample() {
  WEIR_ASSIGN(const std::string text, read_text(path));
  WEIR_ASSIGN(const SampledNodes announced, in(parse_announcement(text), "read", path));
  RemoteSettings wanted = settings;
  wanted.nodes = announced.nodes;
  wanted.reach = announced.reach;
  if (wanted.sources.empty()) wanted.sources = announced.sources;
  WEIR_ASSIGN(RemoteSamples remote, RemoteSamples::start(wanted));
  {
    const std::lock_guard lock(mutex);
    joined = {.nodes = announced.nodes, .since = telemetry::now()};
  }
  WEIR_TRY(write_text_atomically(path + ".answer", "sampled\n"));
  while (!wait_for_stop()) {
  }
  samples = remote.finish();
  return {};
}

void AnnouncedNodes::State::work() {
  std::error_code error;
  while (!fs::exists(path, error)) {
    if (wait_for_stop()) return;
  }
  if (Status sampled = sample(); !sampled) {
    samples = tl::make_unexpected(std::move(sampled).error());
    (void)write_text_atomically(path + ".answer", "not sampled\n");
  }
}

void AnnouncedNodes::State::end() {
  if (!thread.joinable()) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop.get(), &one, sizeof one);
  thread.join();
}

AnnouncedNodes::AnnouncedNodes(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<AnnouncedNodes>> AnnouncedNodes::start(const RemoteSettings& settings) {
  auto state = std::make_unique<State>();
  state->settings = settings;
  state->path = settings.folder + "/nodes.json";
  state->changes = Descriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!state->changes || ::inotify_add_watch(state->changes.get(), settings.folder.c_str(), IN_MOVED_TO) < 0)
    return fail_errno(errno, "watch", settings.folder);
  state->stop = Descriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!state->stop) return fail_errno(errno, "make an eventfd", "announced nodes");
  {
    const NoSignalsHere around;
    state->thread = std::thread([raw = state.get()] { raw->work(); });
  }
  return std::unique_ptr<AnnouncedNodes>(new AnnouncedNodes(std::move(state)));
}

AnnouncedNodes::~AnnouncedNodes() {
  state_->end();
}

const std::string& AnnouncedNodes::path() const {
  return state_->path;
}

JoinedNodes AnnouncedNodes::joined() const {
  const std::lock_guard lock(state_->mutex);
  return state_->joined;
}

Result<telemetry::Batch> AnnouncedNodes::finish() {
  state_->end();
  return std::move(state_->samples);
}

}  // namespace weir::cli
