#include "telemetry/forward_client.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>

#include "telemetry/forward_handshake.hpp"
#include "telemetry/forward_message.hpp"
#include "telemetry/msgpack.hpp"
#include "telemetry/source.hpp"

namespace weir::telemetry {

namespace {

constexpr std::uint64_t longest_answer = 64 << 10U;
constexpr std::size_t salt_size = 16;

}  // namespace

ForwardClient::ForwardClient(ForwardClientOptions options, int stop)
    : options_(std::move(options)), stop_(stop) {
  if (options_.name.empty()) options_.name = host_name();
}

Status ForwardClient::wait(short events, double seconds) {
  pollfd waiting[2] = {{socket_.get(), events, 0}, {stop_, POLLIN, 0}};
  for (;;) {
    const int ready = ::poll(waiting, stop_ >= 0 ? 2 : 1, static_cast<int>(seconds * 1000));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return fail_errno(errno, "wait", to_string(options_.server));
    if (ready == 0) return fail(ErrorCode::io, fmt::format("no answer for {:g} s", seconds));
    if (waiting[0].revents != 0) return {};
    return fail(ErrorCode::io, "asked to stop");
  }
}

Status ForwardClient::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      WEIR_TRY(wait(POLLOUT, options_.answer_seconds));
    } else if (errno != EINTR) {
      return fail_errno(errno, "send", to_string(options_.server));
    }
  }
  return {};
}

Result<std::string> ForwardClient::read_message() {
  MsgPackMeasure measure;
  for (;;) {
    WEIR_ASSIGN(const std::optional<std::size_t> length, measure.measure(input_, longest_answer));
    if (length) {
      std::string message = input_.substr(0, *length);
      input_.erase(0, *length);
      return message;
    }
    WEIR_TRY(wait(POLLIN, options_.answer_seconds));
    std::array<char, 4096> buffer{};
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got == 0) return fail(ErrorCode::io, "the server closed the connection");
    if (got < 0 && errno != EAGAIN && errno != EINTR)
      return fail_errno(errno, "receive", to_string(options_.server));
    if (got > 0) input_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

Status ForwardClient::greet() {
  if (options_.shared_key.empty()) return {};
  WEIR_ASSIGN(const std::string helo, read_message());
  WEIR_ASSIGN(const std::string nonce, parse_helo(helo));
  const std::string salt = random_bytes(salt_size);
  WEIR_TRY(write_all(make_ping(options_.name, salt, nonce, options_.shared_key)));
  WEIR_ASSIGN(const std::string pong, read_message());
  return check_pong(pong, salt, nonce, options_.shared_key);
}

Status ForwardClient::connect() {
  if (socket_) {
    // A server that has left is noticed here, not by an answer that never comes.
    char byte = 0;
    const ssize_t got = ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return {};
    socket_ = Descriptor();
  }
  input_.clear();
  WEIR_ASSIGN(socket_, connect_to(options_.server, options_.connect_seconds, stop_));
  return greet();
}

Status ForwardClient::send(std::string_view entries, std::string_view chunk) {
  const Status sent = [&]() -> Status {
    WEIR_TRY(connect());
    WEIR_TRY(write_all(forward_message(options_.tag, entries, options_.compression, chunk)));
    WEIR_ASSIGN(const std::string answer, read_message());
    WEIR_ASSIGN(const std::string acknowledged, parse_acknowledgement(answer));
    if (acknowledged != chunk) return fail(ErrorCode::corrupt, "the server acknowledged something else");
    return {};
  }();
  if (!sent) socket_ = Descriptor();
  return in(sent, "send samples", to_string(options_.server));
}

}  // namespace weir::telemetry
