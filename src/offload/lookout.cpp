#include "offload/lookout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "core/no_signals.hpp"

namespace weir::offload {

namespace {

using namespace std::chrono_literals;

constexpr auto between_looks = 1s;
constexpr auto for_others_to_speak = 5s;

}  // namespace

Lookout::Lookout(int server, std::vector<Look> watched) : server_(server), watched_(std::move(watched)) {
  if (!watched_.empty()) thread_ = thread_without_signals([this] { look(); });
}

Lookout::~Lookout() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Lookout::note_open(std::vector<std::string> paths) {
  const std::scoped_lock lock(mutex_);
  open_ = std::move(paths);
}

std::string Lookout::describe_loss(const std::string& cause) const {
  return fmt::format(
      "weir: I/O server (rank {} of the job): {}{}; what was closed before is whole; ending the job\n",
      server_, cause, open_.empty() ? "" : fmt::format("; lost: {}", fmt::join(open_, ", ")));
}

void Lookout::look() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, between_looks, [this] { return over_; })) {
    for (const Look& look_at_one : watched_) {
      const auto cause = look_at_one();
      if (!cause) continue;
      const std::string loss = describe_loss(*cause);
      if (changed_.wait_for(lock, for_others_to_speak, [this] { return over_; })) return;
      std::fputs(loss.c_str(), stderr);
      std::fflush(stderr);
      std::_Exit(1);  // not MPI_Abort: the other threads are inside MPI. The launcher ends the rest
    }
  }
}

}  // namespace weir::offload
