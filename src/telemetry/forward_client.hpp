// The sending side of the forward protocol: one connection, one message at a time, each acknowledged.
//
// Threads: belongs to one thread. Every call ends within its time limit, or soon after `stop` can be read.
#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/file.hpp"
#include "telemetry/compression.hpp"
#include "telemetry/endpoint.hpp"

namespace weir::telemetry {

struct ForwardClientOptions {
  Endpoint server;
  std::string shared_key;  // empty: the server has none
  std::string name;        // told in the handshake; empty: the host name
  std::string tag = "weir";
  Compression compression = Compression::none;
  double connect_seconds = 10;
  double answer_seconds = 60;
};

class ForwardClient {
 public:
  // `stop` is a descriptor that becomes readable when waiting is to end early, or -1.
  ForwardClient(ForwardClientOptions options, int stop);

  // Connects if need be, sends the entries (forward_message.hpp) and waits until the server says that it has
  // them. After a failure it is not known whether it has; the connection is closed, and the next call makes a
  // new one.
  Status send(std::string_view entries, std::string_view chunk);
  const ForwardClientOptions& options() const { return options_; }

 private:
  Status connect();
  Status greet();
  Status write_all(std::string_view bytes);
  Result<std::string> read_message();
  Status wait(short events, double seconds);

  ForwardClientOptions options_;
  int stop_;
  Descriptor socket_;
  std::string input_;
};

}  // namespace weir::telemetry
