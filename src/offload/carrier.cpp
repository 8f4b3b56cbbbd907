#include "offload/carrier.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "offload/mpi_link.hpp"

namespace weir::offload {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto between_looks_at_the_server = 100ms;
constexpr auto between_tries_to_send = 1ms;

void run_on(const std::vector<int>& cores) {
  if (cores.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) {
    if (core < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(core), &set);
  }
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);  // if it is not allowed, any core will do
}

}  // namespace

Carrier::Carrier(Region region, Mailbox mailbox, ServerAddress server)
    : region_(std::move(region)),
      mailbox_(mailbox),
      server_(std::move(server)),
      server_watch_(server_.process),
      warm_up_(region_, static_cast<std::uint64_t>(mailbox_.data() - region_.data()), mailbox_.data_room()),
      thread_([this] { work(); }) {}

Carrier::~Carrier() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  mailbox_.client_bell().ring();
  thread_.join();
  // Whoever still waits for anything would wait for ever.
  give_up({.code = ErrorCode::state, .cause = "the session is over"});
}

void Carrier::submit(Operation operation) {
  {
    const std::scoped_lock lock(mutex_);
    if (lost_) {
      if (operation.progress) operation.progress->mark_done(tl::make_unexpected(*lost_));
      return;
    }
    queue_.push_back(std::move(operation));
  }
  mailbox_.client_bell().ring();
}

void Carrier::leave(int rank) {
  const std::scoped_lock lock(mutex_);
  leaving_ = leaving(rank);
}

void Carrier::say_goodbye() {
  if (!leaving_) return;
  constexpr int most_tries = 1000;
  letters_.add(to_letter(*leaving_));
  for (int i = 0; i < most_tries && !letters_.empty() && server_watch_.alive(); ++i) {
    mailbox_.send(letters_);
    if (!letters_.empty()) std::this_thread::sleep_for(between_tries_to_send);
  }
}

Report Carrier::report() {
  const std::scoped_lock lock(mutex_);
  report_.transport = "shared memory";
  return report_;
}

bool Carrier::read_answers() {
  bool any = false;
  while (const auto text = mailbox_.next_answer(answers_)) {
    any = true;
    const Json answer = Json::from_cbor(*text);
    if (answer.contains("report")) {
      const std::scoped_lock lock(mutex_);
      report_.storing_seconds = answer.at("report").at(0);
      report_.peak_memory = answer.at("report").at(1);
    }
    const auto progress = unanswered_.front();
    unanswered_.pop_front();
    Status status;
    if (answer.contains("failure")) status = tl::make_unexpected(failure_from_json(answer.at("failure")));
    if (progress) progress->mark_done(std::move(status));
  }
  return any;
}

bool Carrier::begin_next() {
  if (current_) return false;
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.empty()) return false;
    current_ = std::move(queue_.front());
    queue_.pop_front();
  }
  pieces_.clear();
  if (current_->has_data() && current_->region == 0)
    pieces_ = cut_into_pieces(*current_, mailbox_.data_room());
  current_->pieces = pieces_.size();
  letters_.add(to_letter(*current_));
  unanswered_.push_back(current_->progress);
  return true;
}

void Carrier::copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  const auto start = Clock::now();
  const auto together = std::make_shared<SharedCopy>(to, from, bytes);
  const auto show = [&](std::shared_ptr<SharedCopy> what) {
    const std::scoped_lock lock(copy_mutex_);
    copy_ = std::move(what);
  };
  show(together);
  together->run();
  show(nullptr);
  const std::scoped_lock lock(mutex_);
  report_.transport_seconds += std::chrono::duration<double>(Clock::now() - start).count();
  report_.transport_bytes += bytes;
}

bool Carrier::help() {
  std::shared_ptr<SharedCopy> copy;
  {
    const std::scoped_lock lock(copy_mutex_);
    copy = copy_;
  }
  return copy && copy->help();
}

bool Carrier::copy_pieces() {
  if (!current_) return false;
  const std::size_t size = pieces_.empty() ? 1 : size_of(current_->heading.type);
  bool any = false;
  while (!pieces_.empty()) {
    const Box& box = pieces_.front();
    const std::uint64_t bytes = volume(box.count) * size;
    const auto place = mailbox_.find_room(bytes);
    if (!place) return any;
    copy(mailbox_.at(*place), current_->data + position_of(box, current_->box) * size, bytes);
    letters_.add(to_letter(Piece{.box = box, .place = *place, .end = mailbox_.end_of_last()}));
    mailbox_.send(letters_);
    pieces_.pop_front();
    any = true;
  }
  // What lies in a region is read there: it may be changed when it has been written.
  if (current_->region == 0 && current_->progress && !current_->progress->done())
    current_->progress->mark_taken();
  current_.reset();
  return true;
}

void Carrier::give_up(const Failure& failure) {
  const std::scoped_lock lock(mutex_);
  lost_ = failure;
  const auto end = [&](const std::shared_ptr<Progress>& progress) {
    if (progress) progress->mark_done(tl::make_unexpected(failure));
  };
  std::for_each(unanswered_.begin(), unanswered_.end(), end);
  for (const Operation& operation : queue_) end(operation.progress);
  unanswered_.clear();
  queue_.clear();
  current_.reset();
  pieces_.clear();
}

void Carrier::work() {
  run_on(server_.cores);
  while (true) {
    const std::uint32_t heard = mailbox_.client_bell().heard();
    bool moved = read_answers();
    moved |= begin_next();
    moved |= mailbox_.send(letters_);
    moved |= copy_pieces();
    if (moved || warm_up_.do_some()) continue;
    {
      const std::scoped_lock lock(mutex_);
      if (ending_) {
        say_goodbye();
        return;
      }
    }
    if (!unanswered_.empty() && !server_watch_.alive()) {
      give_up({.code = ErrorCode::io,
               .cause = fmt::format("the I/O server (rank {} of the job) has ended", server_.rank),
               .advice = "see what it printed; what was closed before is whole"});
      continue;
    }
    mailbox_.client_bell().wait(heard,
                                letters_.empty() ? between_looks_at_the_server : between_tries_to_send);
  }
}

}  // namespace weir::offload
