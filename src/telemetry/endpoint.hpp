// Addresses and sockets of TCP, with failures in words.
//
// Threads: reentrant; resolving a name may wait for the name service.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/file.hpp"

namespace weir::telemetry {

struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
  bool operator==(const Endpoint&) const = default;
};

// "host:24224", "127.0.0.1:24224", "[::1]:24224"; without a port, `default_port`.
Result<Endpoint> parse_endpoint(std::string_view text, std::uint16_t default_port);
std::string to_string(const Endpoint& endpoint);

// A socket that listens; does not block.
Result<Descriptor> listen_at(const Endpoint& endpoint);
Result<Endpoint> local_endpoint(int socket);
std::string peer_name(int socket);  // "127.0.0.1:41213"

// A connected socket that does not block. Gives up after `seconds`, or when `stop` (a descriptor, or -1) can
// be read.
Result<Descriptor> connect_to(const Endpoint& endpoint, double seconds, int stop);

}  // namespace weir::telemetry
