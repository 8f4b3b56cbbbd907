#include "telemetry/forward_peer.hpp"

#include <fmt/format.h>

#include "telemetry/forward_handshake.hpp"

namespace weir::telemetry {

namespace {

constexpr std::size_t nonce_size = 16;
constexpr std::uint64_t largest_greeting = 64 << 10U;  // before a client has shown its key
constexpr std::size_t kept_capacity = std::size_t{1} << 20U;

}  // namespace

ForwardPeer::ForwardPeer(const ForwardServerOptions& options) : options_(options) {
  if (options_.shared_key.empty()) {
    let_in_ = true;
    return;
  }
  nonce_ = random_bytes(nonce_size);
  output = make_helo(nonce_);
}

Status ForwardPeer::receive(std::string_view bytes, ForwardDecoder& decoder, Batch& batch,
                            ForwardServerTally& tally, const ForwardServer::Problem& problem) {
  input_.append(bytes);
  std::string_view rest = input_;
  for (;;) {
    const std::uint64_t longest = let_in_ ? options_.largest_message : largest_greeting;
    WEIR_ASSIGN(const std::optional<std::size_t> length, measure_.measure(rest, longest));
    if (!length) break;
    measure_.restart();
    WEIR_TRY(take(rest.substr(0, *length), decoder, batch, tally, problem));
    rest.remove_prefix(*length);
    if (rest.empty()) break;
  }
  input_.erase(0, input_.size() - rest.size());
  if (input_.empty() && input_.capacity() > kept_capacity) input_.shrink_to_fit();
  return {};
}

Status ForwardPeer::take(std::string_view bytes, ForwardDecoder& decoder, Batch& batch,
                         ForwardServerTally& tally, const ForwardServer::Problem& problem) {
  if (!let_in_) {
    WEIR_ASSIGN(const PingAnswer answer, answer_ping(bytes, options_.name, nonce_, options_.shared_key));
    output += answer.pong;
    if (!answer.accepted) {
      refused_ = true;
      return fail(ErrorCode::invalid_argument, "its shared key is wrong",
                  "give the sender the server's shared key");
    }
    let_in_ = true;
    return {};
  }
  WEIR_ASSIGN(ForwardMessage message, decoder.decode(bytes, batch));
  tally.tally += message.tally;
  ++tally.messages;
  unstored_ = unstored_ || message.tally.samples > 0;
  if (message.tally.rejected > 0) {
    problem(fmt::format("{} of {} records rejected; the first: {}", message.tally.rejected,
                        message.tally.rejected + message.tally.records, message.first_rejected));
  }
  // Even one without samples waits for the next stored(): acknowledgements keep the order of the chunks.
  if (!message.chunk.empty()) {
    chunks_.push_back(std::move(message.chunk));
    unstored_ = true;
  }
  return {};
}

void ForwardPeer::stored() {
  for (const std::string& chunk : chunks_) output += acknowledgement(chunk);
  chunks_.clear();
  unstored_ = false;
}

}  // namespace weir::telemetry
