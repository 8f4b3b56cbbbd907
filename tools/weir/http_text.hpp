// The texts of HTTP, as far as an exporter's page needs them. Pure.
#pragma once

#include <string>

#include "core/error.hpp"

namespace weir::cli {

struct Url {
  std::string host, port = "80", path = "/";
};
// http://HOST[:PORT][/PATH]; a host in brackets is an IPv6 address.
Result<Url> split_url(const std::string& url);

// What a server answered, without its head; anything but 200 is a failure.
Result<std::string> body_of(std::string answer);

}  // namespace weir::cli
