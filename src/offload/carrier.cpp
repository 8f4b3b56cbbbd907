#include "offload/carrier.hpp"

#include <fmt/format.h>

#include <chrono>

#include "core/no_signals.hpp"
#include "core/this_thread.hpp"
#include "core/timed.hpp"

namespace weir::offload {

namespace {

using namespace std::chrono_literals;

constexpr auto between_looks_at_the_server = 100ms;
constexpr auto between_tries_to_send = 1ms;

}  // namespace

Carrier::Carrier(Region region, Mailbox mailbox, ServerAddress server)
    : region_(std::move(region)),
      mailbox_(mailbox),
      server_(std::move(server)),
      server_watch_(server_.process),
      server_peer_({{}, collective::Peers::find(static_cast<pid_t>(server_.process), server_.rank)}, 0),
      backlog_(mailbox_.data_room(), true),
      warm_up_(region_, static_cast<std::uint64_t>(mailbox_.data() - region_.data()), mailbox_.data_room()),
      thread_(thread_without_signals([this] { work(); })) {
  backlog_.look_out_for(ColdBlocks::beside(distance_));
}

Carrier::~Carrier() {
  backlog_.end();
  mailbox_.client_bell().ring();
  thread_.join();
  // Whoever still waits for anything would wait for ever.
  backlog_.give_up({.code = ErrorCode::state, .cause = "the session is over"});
}

void Carrier::submit(Operation operation) {
  backlog_.submit(std::move(operation));
  mailbox_.client_bell().ring();
}

void Carrier::leave(int rank) {
  backlog_.leave(rank);
}

Report Carrier::report() {
  Report report = backlog_.report();
  report.transport = "shared memory";
  return report;
}

void Carrier::say_goodbye() {
  const auto letter = backlog_.last_letter();
  if (!letter) return;
  constexpr int most_tries = 1000;
  letters_.add(*letter);
  for (int i = 0; i < most_tries && !letters_.empty() && server_watch_.alive(); ++i) {
    mailbox_.send(letters_);
    if (!letters_.empty()) std::this_thread::sleep_for(between_tries_to_send);
  }
}

bool Carrier::read_answers() {
  bool any = false;
  while (const auto answer = mailbox_.next_answer(answers_)) {
    backlog_.settle(*answer);
    any = true;
  }
  return any;
}

bool Carrier::begin_next() {
  const auto letter = backlog_.begin_next();
  if (letter) letters_.add(*letter);
  return letter.has_value();
}

double Carrier::copy(std::byte* to, const Backlog::Part& part) {
  double seconds = 0;
  const auto together = std::make_shared<SharedCopy>(to, part.data, part.bytes, part.cold);
  const auto show = [&](std::shared_ptr<SharedCopy> what) {
    const std::scoped_lock lock(copy_mutex_);
    copy_ = std::move(what);
  };
  {
    const Timed timed(seconds);
    show(together);
    together->run();
    show(nullptr);
  }
  return seconds;
}

bool Carrier::help() {
  std::shared_ptr<SharedCopy> copy;
  {
    const std::scoped_lock lock(copy_mutex_);
    copy = copy_;
  }
  return copy && copy->help();
}

bool Carrier::copy_parts() {
  bool any = false;
  while (const auto part = backlog_.next_part()) {
    const auto place = mailbox_.find_room(part->bytes);
    if (!place) return any;
    const double seconds = copy(mailbox_.at(*place), *part);
    letters_.add(to_letter(Piece{.box = part->box, .place = *place, .end = mailbox_.end_of_last()}));
    backlog_.moved_part(part->bytes, seconds);
    // The program is told before the server is: on a core that we share with it, the server may begin to
    // write at once, and the program would wait for that.
    backlog_.finish_moving();
    mailbox_.send(letters_);
    any = true;
  }
  return backlog_.finish_moving() || any;
}

std::optional<std::string> Carrier::look_after_server() {
  if (!server_watch_.alive())
    return fmt::format("the I/O server (rank {} of the job) has ended", server_.rank);
  const auto stopped = server_peer_.look();
  if (!stopped) return std::nullopt;
  return fmt::format("the I/O server (rank {} of the job) is lost: {}", server_.rank, *stopped);
}

void Carrier::work() {
  run_this_thread_on(server_.cores);
  ColdBlocks::answer(distance_);
  while (true) {
    const std::uint32_t heard = mailbox_.client_bell().heard();
    bool moved = read_answers();
    moved |= begin_next();
    moved |= copy_parts();  // the letter goes with the first part: the server is woken once
    moved |= mailbox_.send(letters_);
    if (moved || warm_up_.do_some(mailbox_.warm())) continue;
    if (backlog_.ending()) return say_goodbye();
    if (backlog_.awaits_answers()) {
      if (const auto lost = look_after_server()) {
        backlog_.give_up(server_lost(*lost));
        continue;
      }
    }
    mailbox_.client_bell().wait(heard,
                                letters_.empty() ? between_looks_at_the_server : between_tries_to_send);
  }
}

}  // namespace weir::offload
