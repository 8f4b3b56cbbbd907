#include "offload/mpi_link.hpp"

#include <algorithm>
#include <chrono>

#include "offload/meeting.hpp"

namespace weir::offload {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

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

// So that a block that does not fit at once moves on while the server writes its first pieces.
std::deque<Box> cut_into_pieces(const Operation& operation, std::uint64_t room) {
  if (operation.bytes <= room / 2) return {operation.box};
  const std::size_t size = size_of(operation.heading.type);
  const auto boxes = split(operation.box, std::max<std::uint64_t>(1, room / 4 / size));
  return {boxes.begin(), boxes.end()};
}

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

MpiCarrier::MpiCarrier(mpi::Comm comm, int server, std::uint64_t room)
    : comm_(std::move(comm)), server_(server), ring_(room), outbox_(comm_.get(), server), thread_([this] {
        work();
      }) {}

MpiCarrier::~MpiCarrier() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  bell_.ring();
  thread_.join();
  // Whoever still waits for anything would wait for ever.
  const Failure over{.code = ErrorCode::state, .cause = "the session is over"};
  for (const auto& progress : unanswered_) {
    if (progress) progress->mark_done(tl::make_unexpected(over));
  }
  for (const Operation& operation : queue_) {
    if (operation.progress) operation.progress->mark_done(tl::make_unexpected(over));
  }
}

void MpiCarrier::leave(int rank) {
  const std::scoped_lock lock(mutex_);
  leaving_ = leaving(rank);
}

void MpiCarrier::submit(Operation operation) {
  {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(operation));
  }
  bell_.ring();
}

Report MpiCarrier::report() {
  const std::scoped_lock lock(mutex_);
  report_.transport = "MPI";
  return report_;
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
      MPI_Recv(&freed_, 1, MPI_UINT64_T, server_, freed_tag, comm_.get(), MPI_STATUS_IGNORE);
      continue;
    }
    const Json answer = Json::from_cbor(receive_text(comm_.get(), status));
    {
      const std::scoped_lock lock(mutex_);
      report_.storing_seconds = answer.at("report").at(0);
      report_.peak_memory = answer.at("report").at(1);
    }
    const auto progress = unanswered_.front();
    unanswered_.pop_front();
    Status outcome;
    if (answer.contains("failure")) outcome = tl::make_unexpected(failure_from_json(answer.at("failure")));
    if (progress) progress->mark_done(std::move(outcome));
  }
}

bool MpiCarrier::begin_next() {
  if (current_) return false;
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.empty()) return false;
    current_ = std::move(queue_.front());
    queue_.pop_front();
  }
  pieces_.clear();
  if (current_->has_data()) pieces_ = cut_into_pieces(*current_, ring_.room());
  current_->pieces = pieces_.size();
  outbox_.send(to_letter(*current_), letter_tag);
  unanswered_.push_back(current_->progress);
  return true;
}

bool MpiCarrier::send_pieces() {
  if (!current_) return false;
  const std::size_t size = pieces_.empty() ? 1 : size_of(current_->heading.type);
  const auto start = Clock::now();
  bool any = false;
  while (!pieces_.empty()) {
    const Box& box = pieces_.front();
    const std::uint64_t bytes = volume(box.count) * size;
    const auto place = ring_.find_room(bytes, freed_);
    if (!place) return any;
    outbox_.send(to_letter(Piece{.box = box, .place = *place, .end = ring_.end_of_last(), .bytes = bytes}),
                 letter_tag);
    outbox_.send(current_->data + position_of(box, current_->box) * size, bytes, data_tag);
    // Until it is gone: one piece at a time is enough to keep a network busy.
    for (Patience patience; !outbox_.sent(); patience.wait()) read_messages();
    const std::scoped_lock lock(mutex_);
    report_.transport_seconds += std::chrono::duration<double>(Clock::now() - start).count();
    report_.transport_bytes += bytes;
    pieces_.pop_front();
    any = true;
  }
  if (!current_->unseen && current_->progress) current_->progress->mark_taken();
  current_.reset();
  return true;
}

void MpiCarrier::work() {
  Patience patience;
  while (true) {
    const std::uint32_t heard = bell_.heard();
    bool moved = read_messages();
    moved |= begin_next();
    moved |= send_pieces();
    const bool quiet = outbox_.sent() && unanswered_.empty();
    if (moved) {
      patience.reset();
      continue;
    }
    {
      const std::scoped_lock lock(mutex_);
      if (ending_) {
        if (leaving_) outbox_.send(to_letter(*leaving_), letter_tag);
        return;
      }
    }
    if (quiet) {
      bell_.wait(heard, 100ms);
    } else {
      patience.wait();
    }
  }
}

MpiReceiver::MpiReceiver(mpi::Comm comm, const std::vector<std::pair<int, Mailbox>>& clients)
    : comm_(std::move(comm)) {
  for (const auto& [rank, mailbox] : clients) links_.emplace_back(comm_.get(), rank, mailbox);
  thread_ = std::thread([this] { work(); });
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
