#include "collective/peers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpi/comm.hpp"

namespace weir::collective {

using namespace std::chrono_literals;

namespace {

constexpr auto between_looks = 1s;
constexpr auto looked_away = 5s;  // a job that was stopped as a whole must not take that for one lost rank

}  // namespace

Peers::Peers(const std::vector<Peer>& peers, std::uint32_t mine) {
  for (std::size_t i = 1; i < peers.size(); ++i) {
    const Peer& peer = peers[(mine + i) % peers.size()];
    watched_.push_back({peer, Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, peer.process, 0)))});
  }
}

Peers::State Peers::state_of(const Watched& watched) {
  if (watched.process.get() < 0) return State::well;  // as far as one can tell
  pollfd ended{.fd = watched.process.get(), .events = POLLIN, .revents = 0};
  if (::poll(&ended, 1, 0) > 0) return State::gone;
  const auto text = read_text(fmt::format("/proc/{}/stat", watched.peer.process));
  if (!text) return State::well;
  const std::size_t name_end = text->rfind(')');
  return name_end != std::string::npos && text->substr(name_end).starts_with(") T") ? State::stopped
                                                                                    : State::well;
}

std::optional<std::string> Peers::look() {
  const auto now = Clock::now();
  if (watched_.empty() || now - last_look_ < between_looks) return std::nullopt;
  if (now - last_look_ > looked_away) {
    stopped_since_.reset();
    gone_before_ = false;
  }
  last_look_ = now;
  const State next = state_of(watched_.front());
  if (next != State::stopped) stopped_since_.reset();
  if (next == State::stopped && !stopped_since_) stopped_since_ = now;
  // Who launched it may be about to end the job; its words are better.
  const bool gone = next == State::gone && gone_before_;
  gone_before_ = next == State::gone;
  const double patience = mpi::patience();
  if (!gone && (!stopped_since_ || now - *stopped_since_ < std::chrono::duration<double>(patience)))
    return std::nullopt;
  std::vector<std::string> lost;
  for (const Watched& watched : watched_) {
    const State state = state_of(watched);
    if (state == State::well) continue;
    lost.push_back(fmt::format("rank {} (process {}) is {}", watched.peer.rank, watched.peer.process,
                               state == State::gone ? "gone" : "stopped"));
  }
  return fmt::format("{}{}", fmt::join(lost, ", "),
                     gone ? "" : fmt::format("; waited {} s for it (WEIR_TIMEOUT)", patience));
}

}  // namespace weir::collective
