#include "collective/peers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <csignal>
#include <sstream>

#include "core/file.hpp"
#include "mpi/comm.hpp"

namespace weir::collective {

using namespace std::chrono_literals;

namespace {

constexpr auto between_looks = 1s;
constexpr auto looked_away = 5s;  // a job that was stopped as a whole must not take that for one lost rank

// A process as the kernel shows it: proc(5), /proc/PID/stat.
struct Seen {
  char state = '?';
  std::uint64_t threads = 0;
  std::uint64_t began = 0;

  // One whose first thread has ended, and others not, lives on.
  bool ended() const { return (state == 'Z' || state == 'X') && threads <= 1; }
};

std::optional<Seen> see(pid_t process) {
  const auto text = read_text(fmt::format("/proc/{}/stat", process));
  if (!text) return std::nullopt;
  // Fields are counted from behind the name, which may hold anything.
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(name_end + 1));
  Seen seen;
  std::string skipped;
  fields >> seen.state;
  for (int field = 4; field < 20; ++field) fields >> skipped;
  fields >> seen.threads >> skipped >> seen.began;
  if (!fields) return std::nullopt;
  return seen;
}

}  // namespace

Peers::Peer Peers::find(pid_t process, std::int64_t rank) {
  const auto seen = see(process);
  return {.process = process, .began = seen ? seen->began : 0, .rank = rank};
}

Peers::Peers(const std::vector<Peer>& peers, std::uint32_t mine) {
  for (std::size_t i = 1; i < peers.size(); ++i) watched_.push_back(peers[(mine + i) % peers.size()]);
}

Peers::State Peers::state_of(const Peer& peer) {
  if (::kill(peer.process, 0) != 0 && errno == ESRCH) return State::gone;
  const auto seen = see(peer.process);
  if (!seen || peer.began == 0) return State::well;  // as far as one can tell
  if (seen->began != peer.began || seen->ended()) return State::gone;
  return seen->state == 'T' ? State::stopped : State::well;
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
  for (const Peer& peer : watched_) {
    const State state = state_of(peer);
    if (state == State::well) continue;
    lost.push_back(fmt::format("rank {} (process {}) is {}", peer.rank, peer.process,
                               state == State::gone ? "gone" : "stopped"));
  }
  return fmt::format("{}{}", fmt::join(lost, ", "),
                     gone ? "" : fmt::format("; waited {} s for it (WEIR_TIMEOUT)", patience));
}

}  // namespace weir::collective
