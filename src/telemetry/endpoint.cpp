#include "telemetry/endpoint.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <charconv>
#include <memory>

namespace weir::telemetry {

namespace {

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Result<Addresses> resolve(const Endpoint& endpoint, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (error != 0) {
    const char* const why = ::gai_strerror(error);
    return in(Result<Addresses>(fail(ErrorCode::invalid_argument, why)), "find the host", endpoint.host);
  }
  return Addresses(found, ::freeaddrinfo);
}

std::string address_text(const sockaddr_storage& address, socklen_t size) {
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "unknown";
  return address.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host, port)
                                       : fmt::format("{}:{}", host, port);
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view text, std::uint16_t default_port) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::invalid_argument, fmt::format("'{}' {}", text.substr(0, 200), what),
                "give HOST:PORT, such as 127.0.0.1:24224 or [::1]:24224");
  };
  Endpoint endpoint{.port = default_port};
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return wrong("has no ']'");
    endpoint.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && port.front() != ':') return wrong("has something other than a port behind ']'");
    if (port == ":") return wrong("has no port behind ':'");
    if (!port.empty()) port.remove_prefix(1);
  } else {
    const auto colon = text.find(':');
    if (colon != std::string_view::npos && text.find(':', colon + 1) != std::string_view::npos)
      return wrong("has several ':' and no brackets");
    endpoint.host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon + 1);
    if (colon != std::string_view::npos && port.empty()) return wrong("has no port behind ':'");
  }
  if (endpoint.host.empty()) return wrong("has no host");
  if (endpoint.host.find('\0') != std::string::npos) return wrong("has a zero in its host");
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
    if (error != std::errc() || end != port.data() + port.size())
      return wrong("has a port that is not 0 to 65535");
  }
  return endpoint;
}

std::string to_string(const Endpoint& endpoint) {
  const bool brackets = endpoint.host.find(':') != std::string::npos;
  return brackets ? fmt::format("[{}]:{}", endpoint.host, endpoint.port)
                  : fmt::format("{}:{}", endpoint.host, endpoint.port);
}

Result<Descriptor> listen_at(const Endpoint& endpoint) {
  WEIR_ASSIGN(const Addresses addresses, resolve(endpoint, AI_PASSIVE));
  int error = EADDRNOTAVAIL;
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    Descriptor socket(::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) {
      error = errno;
      continue;
    }
    const int yes = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(socket.get(), at->ai_addr, at->ai_addrlen) == 0 && ::listen(socket.get(), SOMAXCONN) == 0)
      return socket;
    error = errno;
  }
  return fail_errno(error, "listen", to_string(endpoint));
}

Result<Endpoint> local_endpoint(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return fail_errno(errno, "ask for the address", "socket");
  return parse_endpoint(address_text(address, size), 0);
}

std::string peer_name(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "unknown";
  return address_text(address, size);
}

Result<Descriptor> connect_to(const Endpoint& endpoint, double seconds, int stop) {
  WEIR_ASSIGN(const Addresses addresses, resolve(endpoint, 0));
  int error = EADDRNOTAVAIL;
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    Descriptor socket(::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) {
      error = errno;
      continue;
    }
    if (::connect(socket.get(), at->ai_addr, at->ai_addrlen) != 0) {
      error = errno;
      if (error != EINPROGRESS) continue;
      pollfd waiting[2] = {{socket.get(), POLLOUT, 0}, {stop, POLLIN, 0}};
      const int ready = ::poll(waiting, stop >= 0 ? 2 : 1, static_cast<int>(seconds * 1000));
      socklen_t size = sizeof error;
      if (ready == 0) {
        error = ETIMEDOUT;
      } else if (ready < 0) {
        error = errno;
      } else if (waiting[0].revents == 0) {
        return fail(ErrorCode::io, "asked to stop");
      } else {
        ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      }
      if (error != 0) continue;
    }
    const int yes = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return socket;
  }
  return fail_errno(error, "connect", to_string(endpoint));
}

}  // namespace weir::telemetry
