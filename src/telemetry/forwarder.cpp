#include "telemetry/forwarder.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include "telemetry/forward_message.hpp"
#include "telemetry/source.hpp"
#include "telemetry/spool.hpp"

namespace weir::telemetry {

namespace {

constexpr std::uint64_t message_bytes = std::uint64_t{4} << 20U;

}  // namespace

struct Forwarder::State {
  State(ForwarderOptions given, Problem tell, Spool opened)
      : options(std::move(given)),
        problem(std::move(tell)),
        spool(std::move(opened)),
        wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
        client(options.client, wake.get()) {}

  void work();
  void keep();
  bool send_oldest(std::unique_lock<std::mutex>& lock);
  ForwarderTally count() const;  // REQUIRES: the mutex

  ForwarderOptions options;
  Problem problem;
  mutable std::mutex mutex;
  std::condition_variable changed;
  Spool spool;  // under the mutex
  std::uint64_t sent = 0;
  bool ending = false;
  bool away = false;  // the server, as far as the last attempt knows
  Descriptor wake;    // readable: the client is to give up waiting
  ForwardClient client;
  std::thread keeper, thread;  // last: they use all of the above
};

// One message of the oldest chunks. The mutex is not held while the network is waited for: what add() pushes
// out of a full spool meanwhile was dropped, and if it arrives nevertheless, all the better.
bool Forwarder::State::send_oldest(std::unique_lock<std::mutex>& lock) {
  const auto taken = spool.oldest(message_bytes);
  if (!taken) return true;
  lock.unlock();
  const std::string chunk = fmt::format("{}-{:x}", client.options().name, taken->last);
  const Status outcome = client.send(taken->bytes, chunk);
  lock.lock();
  if (outcome) {
    spool.remove_until(taken->last);
    sent += taken->samples;
    if (std::exchange(away, false)) problem(fmt::format("{} is back", to_string(options.client.server)));
  } else if (!ending && !std::exchange(away, true)) {
    problem(fmt::format("{}; samples are kept in {} until it can be reached", outcome.error().message(),
                        spool.folder().string()));
  }
  changed.notify_all();
  return outcome.has_value();
}

void Forwarder::State::work() {
  std::minstd_rand random(std::random_device{}());
  std::uniform_real_distribution<double> scatter(0.75, 1.25);
  std::unique_lock lock(mutex);
  double pause = options.first_pause;
  while (!ending) {
    if (spool.empty()) {
      changed.wait(lock, [&] { return ending || !spool.empty(); });
      continue;
    }
    if (send_oldest(lock)) {
      pause = options.first_pause;
      continue;
    }
    changed.wait_for(lock, std::chrono::duration<double>(pause * scatter(random)), [&] { return ending; });
    pause = std::min(pause * 2, options.longest_pause);
  }
}

// What comes and goes within a period is never forced. At the end everything that stays behind is.
void Forwarder::State::keep() {
  std::unique_lock lock(mutex);
  std::uint64_t seen = 0;
  bool told = false;
  for (bool last = false; !last;) {
    last = changed.wait_for(lock, std::chrono::duration<double>(options.force_after), [&] { return ending; });
    const Spool::Waiting waiting = spool.waiting(last ? spool.last() : seen);
    seen = spool.last();
    if (waiting.chunks.empty()) continue;
    lock.unlock();
    const Status forced = Spool::force(waiting);
    lock.lock();
    if (forced) {
      spool.forced(waiting);
    } else if (!std::exchange(told, true)) {
      problem(forced.error().message());
    }
  }
}

ForwarderTally Forwarder::State::count() const {
  return {.sent = sent,
          .waiting = spool.samples(),
          .dropped = spool.dropped_samples(),
          .broken_chunks = spool.broken_chunks()};
}

Forwarder::Forwarder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Forwarder::Forwarder(Forwarder&&) noexcept = default;
Forwarder& Forwarder::operator=(Forwarder&&) noexcept = default;

Forwarder::~Forwarder() {
  if (state_ && state_->thread.joinable()) finish(0);
}

Result<Forwarder> Forwarder::start(ForwarderOptions options, Problem problem) {
  WEIR_ASSIGN(Spool spool, Spool::open(options.spool, options.spool_bytes));
  if (options.client.name.empty()) options.client.name = host_name();
  auto state = std::make_unique<State>(std::move(options), std::move(problem), std::move(spool));
  if (!state->wake) return fail_errno(errno, "make an eventfd", "forwarder");
  state->thread = std::thread([raw = state.get()] { raw->work(); });
  state->keeper = std::thread([raw = state.get()] { raw->keep(); });
  return Forwarder(std::move(state));
}

Status Forwarder::add(const Batch& batch) {
  if (batch.points.empty()) return {};
  const std::string entries = pack_entries(batch);
  const std::lock_guard lock(state_->mutex);
  const Status added = state_->spool.add(entries, batch.points.size());
  state_->changed.notify_all();
  return added;
}

ForwarderTally Forwarder::finish(double seconds) {
  State& state = *state_;
  {
    std::unique_lock lock(state.mutex);
    state.changed.wait_for(lock, std::chrono::duration<double>(seconds),
                           [&] { return state.spool.empty() || state.away; });
    state.ending = true;
    state.changed.notify_all();
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(state.wake.get(), &one, sizeof one);
  if (state.thread.joinable()) state.thread.join();
  if (state.keeper.joinable()) state.keeper.join();
  return tally();
}

ForwarderTally Forwarder::tally() const {
  const std::lock_guard lock(state_->mutex);
  return state_->count();
}

}  // namespace weir::telemetry
