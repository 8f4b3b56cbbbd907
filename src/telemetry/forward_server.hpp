// A server of fluentd's forward protocol, version 1: takes in samples from `weir collect --forward`, fluentd,
// fluent-bit and the client libraries of fluentd.
//
// All four modes (Message, Forward, PackedForward, CompressedPackedForward with gzip or zstd), EventTime and
// whole seconds, heartbeats, acknowledgements, and the HELO/PING/PONG handshake with a shared key.
//
// What it promises: a chunk is acknowledged after `store` has taken its samples, never before. Messages of
// several clients that arrive together are stored by one call. If `store` fails, nothing of that call is
// acknowledged, the clients concerned are disconnected, and they send it again: a store must take a sample
// twice without harm.
//
// What it bounds: clients, bytes of a message before and after decompression, nesting, silence during the
// handshake. A client that breaks the protocol is told about through `problem` with its address, counted and
// disconnected; a single record that is wrong is counted and passed over.
//
// Threads: everything runs on the thread that calls run(); stop() from any thread or signal handler.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/error.hpp"
#include "telemetry/record.hpp"

namespace weir::telemetry {

struct ForwardServerOptions {
  std::string host = "127.0.0.1";  // other machines reach it only if told otherwise: "0.0.0.0", "::"
  std::uint16_t port = 24224;      // 0: any that is free
  std::string shared_key;          // empty: whoever can connect may send
  std::string name;                // told to clients in the handshake; empty: the host name
  std::uint64_t largest_message = std::uint64_t{64} << 20U;    // as sent
  std::uint64_t largest_unpacked = std::uint64_t{256} << 20U;  // after decompression
  std::size_t most_clients = 1024;
  double handshake_seconds = 10;
};

struct ForwardServerTally {
  Tally tally;
  std::uint64_t messages = 0;
  std::uint64_t clients = 0;  // that were let in
  std::uint64_t refused = 0;  // wrong key, or too many
  std::uint64_t broken = 0;   // disconnected for breaking the protocol
};

class ForwardServer {
 public:
  using Store = std::function<Status(const Batch&)>;
  using Problem =
      std::function<void(const std::string&)>;  // "192.168.0.7:41213: nested deeper than 16 levels"

  static Result<ForwardServer> listen(ForwardServerOptions options, Store store, Problem problem);
  ForwardServer(ForwardServer&&) noexcept;
  ForwardServer& operator=(ForwardServer&&) noexcept;
  ~ForwardServer();

  std::string address() const;  // "127.0.0.1:24224", with the port it got
  std::uint16_t port() const;

  // Serves until stop(); what has arrived by then is stored and acknowledged. Fails if the system does not
  // let it wait.
  Status run();
  void stop();
  ForwardServerTally tally() const;  // from the thread of run(), or after it

 private:
  struct State;
  explicit ForwardServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weir::telemetry
