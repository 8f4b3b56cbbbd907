#include "offload/mpi_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/no_signals.hpp"
#include "core/timed.hpp"
#include "offload/meeting.hpp"

namespace weir::offload {

namespace {

using namespace std::chrono_literals;

enum Tag : int { letter_tag = 1, data_tag = 2, answer_tag = 3, freed_tag = 4 };
constexpr std::uint64_t chunk = 4U << 20U;

std::string receive_text(MPI_Comm comm, const MPI_Status& status) {
  int size = 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  std::string text(static_cast<std::size_t>(size), '\0');
  MPI_Recv(text.data(), size, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, comm, MPI_STATUS_IGNORE);
  return text;
}

}  // namespace

Outbox::~Outbox() {
  for (Message& message : messages_) MPI_Wait(&message.request, MPI_STATUS_IGNORE);
}

void Outbox::send(std::string bytes, int tag) {
  Message& message = messages_.emplace_back(Message{.bytes = std::move(bytes)});
  MPI_Isend(message.bytes.data(), static_cast<int>(message.bytes.size()), MPI_CHAR, peer_, tag, comm_,
            &message.request);
}

void Outbox::send(const std::byte* bytes, std::uint64_t size, int tag) {
  for (std::uint64_t at = 0; at < size; at += chunk) {
    Message& message = messages_.emplace_back();
    MPI_Isend(bytes + at, static_cast<int>(std::min(chunk, size - at)), MPI_BYTE, peer_, tag, comm_,
              &message.request);
  }
}

bool Outbox::sent() {
  for (auto message = messages_.begin(); message != messages_.end();) {
    int done = 0;
    MPI_Test(&message->request, &done, MPI_STATUS_IGNORE);
    message = done != 0 ? messages_.erase(message) : std::next(message);
  }
  return messages_.empty();
}

void Outbox::abandon() {
  // MPI may still read from them.
  static_cast<void>(new std::list<Message>(std::move(messages_)));
  messages_.clear();
}

MpiCarrier::MpiCarrier(mpi::Comm comm, int server, std::uint64_t room, collective::NextNode watch)
    : comm_(std::move(comm)),
      server_(server),
      watch_(std::move(watch)),
      ring_(room),
      backlog_(room, false),
      outbox_(comm_.get(), server),
      thread_(thread_without_signals([this] { work(); })) {}

MpiCarrier::~MpiCarrier() {
  backlog_.end();
  bell_.ring();
  thread_.join();
  // Whoever still waits for anything would wait for ever.
  backlog_.give_up({.code = ErrorCode::state, .cause = "the session is over"});
}

void MpiCarrier::submit(Operation operation) {
  backlog_.submit(std::move(operation));
  bell_.ring();
}

void MpiCarrier::leave(int rank) {
  backlog_.leave(rank);
}

Report MpiCarrier::report() {
  Report report = backlog_.report();
  report.transport = "MPI";
  return report;
}

bool MpiCarrier::read_messages() {
  bool any = false;
  while (true) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(server_, MPI_ANY_TAG, comm_.get(), &there, &status);
    if (there == 0) return any;
    any = true;
    if (status.MPI_TAG == freed_tag) {
      MPI_Recv(&freed_, sizeof freed_, MPI_BYTE, server_, freed_tag, comm_.get(), MPI_STATUS_IGNORE);
    } else {
      backlog_.settle(receive_text(comm_.get(), status));
    }
  }
}

bool MpiCarrier::begin_next() {
  auto letter = backlog_.begin_next();
  if (!letter) return false;
  outbox_.send(std::move(*letter), letter_tag);
  return true;
}

bool MpiCarrier::send_parts() {
  bool any = false;
  while (const auto part = backlog_.next_part()) {
    const auto place = ring_.find_room(part->bytes, freed_);
    if (!place) return any;
    double seconds = 0;
    {
      const Timed timed(seconds);
      outbox_.send(to_letter(Piece{
                       .box = part->box, .place = *place, .end = ring_.end_of_last(), .bytes = part->bytes}),
                   letter_tag);
      outbox_.send(part->data, part->bytes, data_tag);
      // Until it is gone: one part at a time is enough to keep a network busy.
      for (Patience patience; !outbox_.sent(); patience.wait()) {
        read_messages();
        if (server_is_lost()) return true;
      }
    }
    backlog_.moved_part(part->bytes, seconds);
    any = true;
  }
  return backlog_.finish_moving() || any;
}

bool MpiCarrier::server_is_lost() {
  if (const auto silent = watch_.look(); silent && !lost_) {
    lost_ = true;
    outbox_.abandon();
    backlog_.give_up(
        server_lost(fmt::format("the I/O server (rank {} of the job) is lost: {}", server_, *silent)));
  }
  return lost_;
}

void MpiCarrier::work() {
  Patience patience;
  while (true) {
    const std::uint32_t heard = bell_.heard();
    if (server_is_lost()) {
      if (backlog_.ending()) return;
      bell_.wait(heard, 100ms);
      continue;
    }
    bool moved = read_messages();
    moved |= begin_next();
    moved |= send_parts();
    const bool quiet = outbox_.sent() && !backlog_.awaits_answers();
    if (moved) {
      patience.reset();
    } else if (backlog_.ending()) {
      if (auto letter = backlog_.last_letter()) outbox_.send(std::move(*letter), letter_tag);
      return;
    } else if (quiet) {
      bell_.wait(heard, 100ms);
    } else {
      patience.wait();
    }
  }
}

MpiReceiver::MpiReceiver(mpi::Comm comm, const std::vector<std::pair<int, Mailbox>>& clients)
    : comm_(std::move(comm)) {
  for (const auto& [rank, mailbox] : clients) links_.emplace_back(comm_.get(), rank, mailbox);
  thread_ = thread_without_signals([this] { work(); });
}

MpiReceiver::~MpiReceiver() {
  ending_ = true;
  thread_.join();
}

// Letters go on in order: one that announces data waits for it.
bool MpiReceiver::receive(Link& link) {
  bool any = link.mailbox.send(link.letters);
  if (!link.arriving.empty()) {
    int done = 0;
    MPI_Testall(static_cast<int>(link.arriving.size()), link.arriving.data(), &done, MPI_STATUSES_IGNORE);
    if (done == 0) return any;
    link.arriving.clear();
    link.letters.add(link.piece);
    link.mailbox.send(link.letters);
    return true;
  }
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(link.rank, letter_tag, comm_.get(), &there, &status);
  if (there == 0) return any;
  std::string text = receive_text(comm_.get(), status);
  const Json letter = Json::from_cbor(text);
  if (!is_piece(letter)) {
    link.letters.add(text);
    link.mailbox.send(link.letters);
    return true;
  }
  const Piece piece = piece_from_letter(letter);
  std::byte* const to = link.mailbox.at(piece.place);
  for (std::uint64_t at = 0; at < piece.bytes; at += chunk) {
    MPI_Irecv(to + at, static_cast<int>(std::min(chunk, piece.bytes - at)), MPI_BYTE, link.rank, data_tag,
              comm_.get(), &link.arriving.emplace_back(MPI_REQUEST_NULL));
  }
  link.piece = std::move(text);
  return true;
}

bool MpiReceiver::answer(Link& link) {
  bool any = false;
  if (const std::uint64_t freed = link.mailbox.freed(); freed != link.freed) {
    link.freed = freed;
    link.outbox.send(std::string(reinterpret_cast<const char*>(&freed), sizeof freed), freed_tag);
    any = true;
  }
  while (const auto text = link.mailbox.next_answer(link.answers)) {
    link.outbox.send(*text, answer_tag);
    any = true;
  }
  return any;
}

void MpiReceiver::work() {
  Patience patience;
  while (true) {
    const bool ending = ending_;
    bool moved = false;
    bool quiet = true;
    for (Link& link : links_) {
      moved |= receive(link);
      moved |= answer(link);
      quiet = link.outbox.sent() && quiet;
    }
    if (ending && quiet && !moved) return;
    if (moved) {
      patience.reset();
    } else {
      patience.wait();
    }
  }
}

}  // namespace weir::offload
