// The handshake of the forward protocol, as values: both sides show that they know the shared key without
// sending it.
//
//   server  ["HELO", {"nonce": ..., "auth": "", "keepalive": true}]
//   client  ["PING", client name, salt, sha512(salt + client name + nonce + key), "", ""]
//   server  ["PONG", true or false, reason, server name, sha512(salt + server name + nonce + key)]
//
// Users and passwords (the last two of PING) are not asked for.
//
// Threads: reentrant.
#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace weir::telemetry {

std::string random_bytes(std::size_t count);

std::string make_helo(std::string_view nonce);
Result<std::string> parse_helo(std::string_view message);  // the nonce

std::string make_ping(std::string_view client_name, std::string_view salt, std::string_view nonce,
                      std::string_view shared_key);

struct PingAnswer {
  bool accepted = false;
  std::string pong;    // to be sent in either case
  std::string client;  // the name it gave
};
// A failure means that this is no PING.
Result<PingAnswer> answer_ping(std::string_view message, std::string_view server_name, std::string_view nonce,
                               std::string_view shared_key);

// Whether the server accepted, and knows the key itself.
Status check_pong(std::string_view message, std::string_view salt, std::string_view nonce,
                  std::string_view shared_key);

}  // namespace weir::telemetry
