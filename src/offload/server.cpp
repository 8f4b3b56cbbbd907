#include "offload/server.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "core/caches.hpp"
#include "core/timed.hpp"
#include "offload/meeting.hpp"
#include "offload/merge.hpp"

namespace weir::offload {

namespace {

using namespace std::chrono_literals;

constexpr auto between_looks_at_clients = 100ms;
constexpr auto between_tries_to_answer = 1ms;

std::uint64_t bytes_of(const Operation& operation, const Box& box) {
  return volume(box.count) * size_of(operation.heading.type);
}

}  // namespace

Server::Server(mpi::Comm servers, Bell& bell, std::vector<Client> clients, Courtesy courtesy,
               std::uint64_t aside, Lookout& lookout)
    : servers_(std::move(servers)), bell_(bell), courtesy_(courtesy), aside_(aside), lookout_(lookout) {
  for (Client& client : clients)
    links_.push_back(
        {.client = std::move(client), .letters = {}, .answers = {}, .queue = {}, .regions = {}, .gone = {}});
}

bool Server::receive() {
  bool any = false;
  for (Link& link : links_) {
    while (const auto text = link.client.mailbox.next_letter(link.letters)) {
      any = true;
      const Json letter = Json::from_cbor(*text);
      if (is_piece(letter)) {
        Arrived& newest = link.queue.back();
        newest.pieces.push_back(piece_from_letter(letter));
        ++newest.received;
        held_ += bytes_of(newest.operation, newest.pieces.back().box);
        note_memory();
        continue;
      }
      Operation operation = from_letter(letter);
      if (operation.unseen) operation.unseen = from_client(*operation.unseen);
      if (operation.kind == Operation::Kind::stop && operation.unseen) {
        note_leaving(link, operation);
      } else {
        link.queue.push_back({.operation = std::move(operation), .pieces = {}, .received = 0, .status = {}});
      }
    }
  }
  return any;
}

void Server::note_leaving(Link& link, const Operation& letter) {
  link.gone = letter.unseen;
  link.listens = false;
  if (link.queue.empty()) return;
  Arrived& newest = link.queue.back();
  if (newest.received == newest.operation.pieces) return;
  // The rest of it will not come.
  newest.operation.pieces = newest.received;
  newest.operation.unseen = link.gone;
  newest.status = tl::make_unexpected(*link.gone);
}

bool Server::send_answers() {
  bool all = true;
  for (Link& link : links_) {
    link.client.mailbox.answer(link.answers);
    all = all && (link.answers.empty() || !link.listens);
  }
  return all;
}

Status Server::check_clients() const {
  for (const Link& link : links_) {
    if (!link.gone && link.client.watch && !link.client.watch->alive()) {
      const std::vector<std::string> lost = open_paths();
      return fail(ErrorCode::io,
                  fmt::format("compute rank {} has ended without ending its session{}", link.client.rank,
                              lost.empty() ? "" : fmt::format("; lost: {}", fmt::join(lost, ", "))),
                  "see what it printed; what was closed before is whole");
    }
  }
  return {};
}

Status Server::wait_until(const std::function<bool()>& condition) {
  while (true) {
    const std::uint32_t heard = bell_.heard();
    const bool moved = receive();
    const bool answered = send_answers();
    if (condition()) return {};
    if (moved || warm_up()) continue;
    WEIR_TRY(check_clients());
    bell_.wait(heard, answered ? between_looks_at_clients : between_tries_to_answer);
  }
}

// A program that has no file open may never write anything.
bool Server::warm_up() {
  return !files_.empty() && std::any_of(links_.begin(), links_.end(), [](Link& link) {
    Client& client = link.client;
    if (!client.warm_up.do_some()) return false;
    client.mailbox.note_warm(client.warm_up.done(), client.warm_up.complete());
    return true;
  });
}

bool Server::is_ready() const {
  return std::all_of(links_.begin(), links_.end(), [&](const Link& link) {
    return link.idle() || (!link.queue.empty() && concerns_all(link.queue.front().operation));
  });
}

Status Server::run() {
  while (!stopped_) {
    WEIR_TRY(wait_until([&] { return work_for_single_clients() || is_ready(); }));
    if (is_ready()) WEIR_TRY(perform());
  }
  return wait_until([&] { return send_answers(); });
}

// A file that is no more cannot be used together, and every server knows of it since the same request.
bool Server::concerns_all(const Operation& operation) const {
  const auto found = files_.find(operation.file);
  return operation.collective() && (found == files_.end() || found->second.file);
}

// True if anything was done.
bool Server::work_for_single_clients() {
  bool any = false;
  for (Link& link : links_) {
    while (!link.queue.empty() && !concerns_all(link.queue.front().operation)) {
      Arrived& arrived = link.queue.front();
      if (arrived.operation.collective() && arrived.operation.kind != Operation::Kind::write) {
        answer(link, tl::make_unexpected(*files_[arrived.operation.file].failed));
        if (arrived.operation.kind == Operation::Kind::close) note_closed(arrived.operation.file);
      } else if (arrived.operation.kind != Operation::Kind::write) {
        share_memory(link, arrived.operation);
        answer(link, {});
      } else {
        // Written piece by piece as they come, since not all of it may fit into the mailbox at once.
        const bool news = !arrived.pieces.empty() || arrived.operation.pieces == 0;
        if (news) write_alone(link, arrived);
        if (arrived.received < arrived.operation.pieces) {
          any = any || news;
          break;
        }
        answer(link, arrived.status);
      }
      link.queue.pop_front();
      any = true;
    }
  }
  return any;
}

void Server::share_memory(Link& link, const Operation& operation) {
  if (operation.kind == Operation::Kind::unmap) {
    link.regions.erase(operation.region);
    return;
  }
  // Where it cannot be mapped, a write from it says so.
  auto region = Region::open({operation.process, operation.descriptor, operation.bytes});
  if (region) region->touch(0, region->bytes());
  link.regions.insert_or_assign(operation.region, std::move(region));
}

Result<const std::byte*> Server::find_in_region(const Link& link, const Operation& operation) const {
  const auto found = link.regions.find(operation.region);
  if (found == link.regions.end() || !found->second) {
    const std::string why = found == link.regions.end() ? "it is gone" : found->second.error().message();
    return fail(ErrorCode::io, fmt::format("the shared memory of compute rank {} cannot be read: {}",
                                           link.client.rank, why));
  }
  return found->second->data() + operation.place;
}

void Server::give_back(Link& link, Arrived& arrived) {
  const Piece& piece = arrived.pieces.front();
  held_ -= bytes_of(arrived.operation, piece.box);
  link.client.mailbox.give_back(piece.end);
  arrived.pieces.pop_front();
}

void Server::note_memory(std::uint64_t copied) {
  std::uint64_t bytes = held_ + copied;
  for (const auto& [number, open] : files_) bytes += open.file ? open.file->peak_reducing_memory() : 0;
  peak_ = std::max(peak_, bytes);
}

void Server::write_alone(Link& link, Arrived& arrived) {
  const Timed timed(storing_seconds_);
  const Operation& operation = arrived.operation;
  const auto open = find(operation);
  Status& status = arrived.status;
  if (!open) status = tl::make_unexpected(open.error());
  const auto store = [&](const Box& box, const std::byte* data) {
    if (status) status = (*open)->file->store_independently(operation.heading, {box, data}, link.client.rank);
  };
  if (operation.has_data() && operation.region != 0) {
    const auto data = find_in_region(link, operation);
    if (data) store(operation.box, *data);
    if (!data) status = tl::make_unexpected(data.error());
  }
  while (!arrived.pieces.empty()) {
    store(arrived.pieces.front().box, link.client.mailbox.at(arrived.pieces.front().place));
    give_back(link, arrived);
  }
  if (!status && open) remember(**open, status.error());
}

const Operation* Server::first_request() const {
  for (const Link& link : links_) {
    if (!link.queue.empty()) return &link.queue.front().operation;
  }
  return nullptr;
}

// One collective operation, that of the front of all queues.
Status Server::perform() {
  courtesy_.reconsider();
  meet_quietly(servers_);
  const Operation* const first = first_request();
  const Status same = agree_on_request();
  if (!same && servers_.max(first != nullptr ? 1 : 0) == 0) return leave();
  if (same && first->kind == Operation::Kind::stop) return stop();
  Status status = same ? carry_out() : same;
  if (!same) note_refused(same.error());
  for (Link& link : links_) {
    if (link.queue.empty()) continue;
    Arrived& arrived = link.queue.front();
    WEIR_TRY(wait_until([&] {
      drop_data(link, arrived);
      return arrived.received == arrived.operation.pieces;
    }));
    if (!same) status = tl::make_unexpected(cause_of_refusal(arrived.operation, same.error()));
    answer(link, status);
    if (!same && arrived.operation.kind == Operation::Kind::close) note_closed(arrived.operation.file);
    // Where not all ranks end the session, those that do are told so, and do not come again.
    if (arrived.operation.kind == Operation::Kind::stop && !status) link.gone = status.error();
    link.queue.pop_front();
  }
  send_answers();
  return {};
}

std::vector<std::string> Server::open_paths() const {
  std::vector<std::string> paths;
  for (const auto& [number, open] : files_) paths.push_back(open.path);
  return paths;
}

Status Server::carry_out() {
  const Operation& first = links_.front().queue.front().operation;
  if (first.kind == Operation::Kind::create) return create(first);
  if (first.kind == Operation::Kind::close) return close(first);
  auto open = find(first);
  if (first.kind == Operation::Kind::write) {
    if (!open) return tl::make_unexpected(open.error());  // the same on every server
    const Status status = write(**open);
    if (!status) remember(**open, status.error());
    return status;
  }
  if (!open) return tl::make_unexpected(open.error());
  const Timed timed(storing_seconds_);
  const Status status = first.kind == Operation::Kind::reserve
                            ? (*open)->file->reserve(first.heading)
                            : (*open)->file->set_attribute(first.attribute);
  if (!status) remember(**open, status.error());
  return status;
}

Status Server::create(const Operation& operation) {
  const Timed timed(storing_seconds_);
  files::CreateOptions options = operation.options;
  options.memory = aside_;
  auto file = files::OutputFile::create(servers_, operation.path, options);
  OpenFile& open = files_[operation.file];
  open.path = operation.path;
  if (!file) {
    remember(open, file.error());
    return tl::make_unexpected(file.error());
  }
  open.file = std::move(*file);
  lookout_.note_open(open_paths());
  return {};
}

Result<Server::OpenFile*> Server::find(const Operation& operation) {
  const auto found = files_.find(operation.file);
  if (found == files_.end()) return fail(ErrorCode::state, "the file is closed");
  if (!found->second.file) return tl::make_unexpected(*found->second.failed);
  return &found->second;
}

// The blocks of one round, and what is wrong with them.
Result<std::vector<files::ReducedBlock>> Server::blocks_of(std::uint64_t round) const {
  std::vector<files::ReducedBlock> blocks;
  for (const Link& link : links_) {
    const Arrived& arrived = link.queue.front();
    const Operation& operation = arrived.operation;
    if (operation.has_data() && operation.region != 0) {
      if (round >= arrived.in_place.size()) continue;
      WEIR_ASSIGN(const std::byte* data, find_in_region(link, operation));
      const Box& box = arrived.in_place[round];
      data += position_of(box, operation.box) * size_of(operation.heading.type);
      blocks.push_back({box, data, link.client.rank});
    } else if (round < operation.pieces) {
      const Piece& piece = arrived.pieces.front();
      blocks.push_back({piece.box, link.client.mailbox.at(piece.place), link.client.rank});
    }
  }
  return blocks;
}

Status Server::write(OpenFile& open) {
  const Operation& first = links_.front().queue.front().operation;
  const bool reduced = files::reduces(first.reduce) || open.file->is_reduced(first.heading.name);
  std::vector<files::OwnedBox> boxes;
  std::uint64_t rounds = 1;
  for (Link& link : links_) {
    Arrived& arrived = link.queue.front();
    const Operation& operation = arrived.operation;
    if (operation.has_data()) boxes.push_back({link.client.rank, operation.box});
    // Of a reduced variable, blocks are the same in every step, wherever their data lies.
    if (operation.has_data() && operation.region != 0)
      arrived.in_place =
          reduced ? cut(operation, link.client.mailbox.data_room()) : std::vector{operation.box};
    rounds = std::max({rounds, operation.pieces, std::uint64_t{arrived.in_place.size()}});
  }
  rounds = static_cast<std::uint64_t>(servers_.max(static_cast<std::int64_t>(rounds)));
  std::optional<files::OutputFile::Ongoing> ongoing;
  if (!reduced) {
    const Timed timed(storing_seconds_);
    WEIR_ASSIGN(ongoing, open.file->begin(first.heading, boxes, {}));
  }
  for (std::uint64_t round = 0; round < rounds; ++round) {
    WEIR_TRY(wait_until([&] {
      return std::all_of(links_.begin(), links_.end(), [&](const Link& link) {
        return link.queue.front().received > round || link.queue.front().operation.pieces <= round;
      });
    }));
    const Timed timed(storing_seconds_);
    const auto blocks = blocks_of(round);
    const std::vector<files::ReducedBlock> there = blocks.value_or(std::vector<files::ReducedBlock>());
    const Status mine = blocks ? Status() : Status(tl::make_unexpected(blocks.error()));
    if (reduced) {
      const Status stored = open.file->store_reduced(first.heading, first.reduce, there, mine);
      note_memory();
      WEIR_TRY(stored);
    } else {
      const MergedBlocks merged(there, size_of(first.heading.type), aside_);
      note_memory(merged.copied());
      WEIR_TRY(open.file->store(*ongoing, merged.blocks(), mine));
    }
    for (Link& link : links_) {
      if (round < link.queue.front().operation.pieces) give_back(link, link.queue.front());
    }
  }
  return {};
}

Status Server::close(const Operation& operation) {
  const Timed timed(storing_seconds_);
  const auto found = files_.find(operation.file);
  if (found == files_.end()) return fail(ErrorCode::state, "the file is closed");
  OpenFile& open = found->second;
  std::optional<Failure> unseen = operation.later ? open.failed : std::nullopt;
  if (const Status reason = reason_to_close(); !unseen && !reason) unseen = reason.error();
  Status status = open.file->close(unseen);
  if (status) stored_bytes_ += open.file->stored_bytes();
  files_.erase(found);
  lookout_.note_open(open_paths());
  return status;
}

void Server::drop_data(Link& link, Arrived& arrived) {
  while (!arrived.pieces.empty()) give_back(link, arrived);
}

// The rank of a failure means a compute rank to the program, and a server where storage failed. While a
// failure of a client is among servers, its rank is moved out of the way. A client's failure without a rank
// is one that a server told it before.
Failure Server::told(Failure failure) const {
  if (failure.rank >= first_client) {
    failure.rank -= first_client;
  } else if (failure.rank == nobody) {
    failure.rank = -1;
  } else if (failure.rank >= 0) {
    failure.cause += fmt::format(" (on I/O server {})", failure.rank);
    failure.rank = -1;
  }
  return failure;
}

Failure Server::from_client(Failure failure) {
  failure.rank = failure.rank < 0 ? nobody : failure.rank + first_client;
  return failure;
}

// The program is told next, and may go on to work on it.
void Server::let_go_of_data(const Link& link, const Operation& operation) const {
  if (!operation.has_data() || operation.region == 0 || !operation.cold) return;
  if (const auto data = find_in_region(link, operation)) evict(*data, bytes_of(operation, operation.box));
}

// Of its oldest operation.
void Server::answer(Link& link, const Status& status) {
  let_go_of_data(link, link.queue.front().operation);
  Json json = Json::object();
  if (!status) json["failure"] = to_json(told(status.error()));
  // What was stored is told to one of the clients: they add up what they know.
  json["report"] = {storing_seconds_, peak_, &link == &links_.front() ? stored_bytes_ : 0};
  if (link.listens) link.answers.add(pack(json));
}

Status Server::leave() {
  files_.clear();
  stopped_ = true;
  return {};
}

Status Server::stop() {
  Status status;
  if (!files_.empty()) {
    const std::vector<std::string> paths = open_paths();
    status = fail(ErrorCode::state,
                  fmt::format("{} file{} not closed, and given up: {}", paths.size(),
                              paths.size() == 1 ? " was" : "s were", fmt::join(paths, ", ")),
                  "close files before the session ends");
    files_.clear();
  }
  meet_quietly(servers_);  // whoever is told may end the job before another server has removed its part
  for (Link& link : links_) {
    answer(link, status);
    link.queue.pop_front();
  }
  stopped_ = true;
  return {};
}

}  // namespace weir::offload
