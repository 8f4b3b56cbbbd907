// Just enough HTTP to read an exporter's page on this machine.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include "core/file.hpp"
#include "http_text.hpp"
#include "ingest_parts.hpp"

namespace weir::cli {

namespace {

constexpr std::size_t longest_answer = std::size_t{256} << 20U;
constexpr auto patience = std::chrono::seconds(30);

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24) == 127;
  if (address->sa_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
  return false;
}

Status wait_for(int fd, short events, std::chrono::steady_clock::time_point until) {
  pollfd entry{fd, events, 0};
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return fail(ErrorCode::io, "no answer within 30 seconds");
    const int ready = ::poll(&entry, 1, static_cast<int>(left.count()));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail_errno(errno, "wait", "");
  }
}

Result<Descriptor> connect_loopback(const Url& url) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (const int error = ::getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &found); error != 0)
    return fail(ErrorCode::not_found, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  int error = ECONNREFUSED;
  bool any = false;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    if (!is_loopback(at->ai_addr)) continue;
    any = true;
    Descriptor socket(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
    if (socket && ::connect(socket.get(), at->ai_addr, at->ai_addrlen) == 0) return socket;
    error = errno;
  }
  if (!any)
    return fail(ErrorCode::invalid_argument, "this is another machine, and Weir asks only this one",
                "run it there, or save the page and name the file");
  return fail_errno(error, "connect", "");
}

}  // namespace

Result<std::string> http_get(const std::string& url) {
  const auto work = [&]() -> Result<std::string> {
    WEIR_ASSIGN(const Url parts, split_url(url));
    WEIR_ASSIGN(const Descriptor socket, connect_loopback(parts));
    const auto until = std::chrono::steady_clock::now() + patience;
    // Version 1.0: the answer ends with the connection, and is not sent in chunks.
    const std::string question =
        fmt::format("GET {} HTTP/1.0\r\nHost: {}\r\nAccept: text/plain\r\nConnection: close\r\n\r\n",
                    parts.path, parts.host);
    for (std::size_t sent = 0; sent < question.size();) {
      WEIR_TRY(wait_for(socket.get(), POLLOUT, until));
      const ssize_t some = ::send(socket.get(), question.data() + sent, question.size() - sent, MSG_NOSIGNAL);
      if (some < 0 && errno != EINTR) return fail_errno(errno, "ask", "");
      if (some > 0) sent += static_cast<std::size_t>(some);
    }
    std::string answer;
    std::string part(65536, 0);
    while (true) {
      WEIR_TRY(wait_for(socket.get(), POLLIN, until));
      const ssize_t some = ::recv(socket.get(), part.data(), part.size(), 0);
      if (some < 0 && errno == EINTR) continue;
      if (some < 0) return fail_errno(errno, "read", "");
      if (some == 0) return body_of(std::move(answer));
      answer.append(part.data(), static_cast<std::size_t>(some));
      if (answer.size() > longest_answer) return fail(ErrorCode::io, "the answer is too long");
    }
  };
  return in(work(), "read metrics", url);
}

}  // namespace weir::cli
