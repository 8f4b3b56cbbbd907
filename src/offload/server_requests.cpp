// What an I/O server does where ranks do not make the same request: who is told what, and which files are
// given up.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/timed.hpp"
#include "offload/server.hpp"

namespace weir::offload {

namespace {

// The same for the same request, though two files may have one path.
std::string identity_of(const Operation& operation) {
  return describe(operation, std::to_string(operation.file));
}

}  // namespace

// COLLECTIVE.
Status Server::agree_on_request() {
  const Timed timed(storing_seconds_);
  const Operation* const first = first_request();
  const auto voted =
      mpi::vote(servers_, first != nullptr ? identity_of(*first) : "leave the session without ending it",
                compare_requests());
  if (voted) return {};
  if (voted.error().code != ErrorCode::disagreement) return tl::make_unexpected(voted.error());
  // A rank that closes a file because of a failure knows more than that others do something else.
  WEIR_TRY(mpi::agree(servers_, reason_to_close()));
  return tl::make_unexpected(what_differs().value_or(voted.error()));
}

Status Server::compare_requests() const {
  const Operation* const first = first_request();
  for (const Link& link : links_) {
    if (link.idle()) return tl::make_unexpected(*link.gone);
  }
  for (const Link& link : links_) {
    const Operation& operation = link.queue.front().operation;
    if (operation.unseen && operation.kind != Operation::Kind::close)
      return tl::make_unexpected(*operation.unseen);
  }
  const std::string text = identity_of(*first);
  for (const Link& link : links_) {
    if (identity_of(link.queue.front().operation) != text)
      return fail(ErrorCode::disagreement, "the call differs between ranks");
  }
  return {};
}

// The request of the lowest compute rank, and of the next one that makes another. None: some ranks have left
// after they disagreed. COLLECTIVE.
std::optional<Failure> Server::what_differs() const {
  std::map<std::string, Json> mine;  // by identity: the lowest rank, and the request in words
  for (const Link& link : links_) {
    if (link.queue.empty()) continue;
    const Operation& request = link.queue.front().operation;
    mine.try_emplace(identity_of(request), Json{link.client.rank, words_for(request)});
  }
  std::map<std::string, std::pair<int, std::string>> all;
  for (const std::string& bytes : servers_.gather_to_all(pack(mine))) {
    const Json theirs = Json::from_cbor(bytes);
    for (const auto& [identity, request] : theirs.items()) {
      const std::pair<int, std::string> one{request.at(0), request.at(1)};
      auto& lowest = all.try_emplace(identity, one).first->second;
      lowest = std::min(lowest, one);
    }
  }
  std::set<std::pair<int, std::string>> by_rank;
  for (const auto& [identity, request] : all) by_rank.insert(request);
  if (by_rank.size() < 2) return std::nullopt;
  const auto& [rank, words] = *by_rank.begin();
  const auto& [other_rank, other_words] = *std::next(by_rank.begin());
  return Failure{.code = ErrorCode::disagreement,
                 .cause = fmt::format("the call differs between ranks: {} on rank {}, {} on rank {}", words,
                                      rank, other_words, other_rank),
                 .advice = "pass the same on every rank",
                 .rank = nobody};
}

std::string Server::words_for(const Operation& operation) const {
  const auto found = files_.find(operation.file);
  return describe(operation, found == files_.end() ? "" : found->second.path);
}

// What was refused is known of its file from now on: where it is closed later, nobody else would tell. A file
// that was closed or created by some is no more. COLLECTIVE.
void Server::note_refused(const Failure& failure) {
  std::map<std::string, std::string> mine;  // the paths of files that are given up, by their numbers
  for (const Link& link : links_) {
    if (link.queue.empty()) continue;
    const Operation& operation = link.queue.front().operation;
    const auto found = files_.find(operation.file);
    if (found != files_.end()) remember(found->second, failure);
    if (operation.kind == Operation::Kind::create) mine[std::to_string(operation.file)] = operation.path;
    if (operation.kind == Operation::Kind::close && found != files_.end())
      mine[std::to_string(operation.file)] = found->second.path;
  }
  std::map<std::uint64_t, std::string> given_up;
  for (const std::string& bytes : servers_.gather_to_all(pack(mine))) {
    const Json theirs = Json::from_cbor(bytes);
    for (const auto& [number, path] : theirs.items()) given_up[std::stoull(number)] = path;
  }
  for (const auto& [number, path] : given_up) {
    OpenFile& open = files_[number];
    open.path = path;
    open.failed = open.file && open.file->lost() ? open.file->lost() : std::nullopt;
    remember(open, failure);
    open.file.reset();
  }
}

// Of a file that is no more.
void Server::note_closed(std::uint64_t file) {
  const auto found = files_.find(file);
  if (found != files_.end() && ++found->second.closed == links_.size()) files_.erase(found);
}

void Server::remember(OpenFile& open, Failure failure) {
  if (failure.rank < 0) failure.rank = nobody;
  if (!open.failed) open.failed = std::move(failure);
}

// Requests often differ because ranks heard of an earlier failure at different times: that one is the cause.
Failure Server::cause_of_refusal(const Operation& operation, const Failure& failure) const {
  const auto found = files_.find(operation.file);
  if (failure.code != ErrorCode::disagreement || found == files_.end()) return failure;
  const OpenFile& open = found->second;
  return !open.file ? *open.failed : open.file->lost().value_or(failure);
}

// Why a client closes a file that is not whole; the first one that says so. One that gave the file up says
// only that: what failed before is most likely why.
Status Server::reason_to_close() const {
  for (const bool gave_up : {false, true}) {
    for (const Link& link : links_) {
      if (link.queue.empty()) continue;
      const Operation& request = link.queue.front().operation;
      if (request.kind != Operation::Kind::close || !request.unseen || request.gave_up != gave_up) continue;
      const auto found = files_.find(request.file);
      const bool known = gave_up && found != files_.end() && found->second.failed;
      return tl::make_unexpected(known ? *found->second.failed : *request.unseen);
    }
  }
  return {};
}

}  // namespace weir::offload
