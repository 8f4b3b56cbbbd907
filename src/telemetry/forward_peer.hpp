// One client of the forward server, as far as bytes go: the handshake, messages as they arrive in pieces, and
// what is to be answered. Knows nothing of sockets.
//
// Threads: belongs to the server's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "telemetry/forward_message.hpp"
#include "telemetry/forward_server.hpp"
#include "telemetry/msgpack.hpp"

namespace weir::telemetry {

class ForwardPeer {
 public:
  // With a shared key the first thing to be sent is HELO, which stands in output at once.
  explicit ForwardPeer(const ForwardServerOptions& options);

  // Takes what arrived. Samples go into the batch; a chunk that is to be acknowledged waits for stored(). A
  // failure: this client is to be disconnected (after what is in output was sent).
  Status receive(std::string_view bytes, ForwardDecoder& decoder, Batch& batch, ForwardServerTally& tally,
                 const ForwardServer::Problem& problem);
  // The batch is safe: acknowledges everything taken in so far.
  void stored();

  bool let_in() const { return let_in_; }
  bool refused() const { return refused_; }            // its key was wrong
  bool in_message() const { return !input_.empty(); }  // the beginning of a message is there
  bool owes() const { return unstored_; }              // its samples are in the batch
  std::size_t buffered() const { return input_.capacity(); }

  std::string output;  // to be sent; the server takes away what was

 private:
  Status take(std::string_view message, ForwardDecoder& decoder, Batch& batch, ForwardServerTally& tally,
              const ForwardServer::Problem& problem);

  const ForwardServerOptions& options_;
  std::string nonce_;
  bool let_in_ = false;
  bool refused_ = false;
  bool unstored_ = false;
  std::string input_;
  MsgPackMeasure measure_;
  std::vector<std::string> chunks_;  // to be acknowledged once stored
};

}  // namespace weir::telemetry
