#include "telemetry/forward_server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <list>

#include "core/file.hpp"
#include "telemetry/endpoint.hpp"
#include "telemetry/forward_peer.hpp"
#include "telemetry/source.hpp"

namespace weir::telemetry {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t read_size = std::size_t{256} << 10U;
constexpr std::size_t most_points = std::size_t{1} << 20U;  // stored before more is taken in
constexpr std::size_t most_output = std::size_t{1} << 20U;  // of a client that does not read its answers
constexpr std::uint64_t most_buffered = std::uint64_t{512} << 20U;  // of all clients together
constexpr double stall_seconds = 60;                                // inside a message
constexpr int last_words_ms = 1000;                                 // for answers after stop()

struct Client {
  Client(Descriptor descriptor, const ForwardServerOptions& options)
      : socket(std::move(descriptor)), name(peer_name(socket.get())), peer(options) {}

  Descriptor socket;
  std::string name;
  ForwardPeer peer;
  Clock::time_point heard = Clock::now();
  bool counted = false;  // as let in
  bool leaving = false;  // to be disconnected once its answers are sent
  bool gone = false;
};

}  // namespace

struct ForwardServer::State {
  State(ForwardServerOptions given, Store to, Problem tell)
      : options(std::move(given)),
        store(std::move(to)),
        problem(std::move(tell)),
        decoder(options.largest_unpacked) {}

  ForwardServerOptions options;
  Store store;
  Problem problem;
  Descriptor listener;
  Descriptor wake;  // stop() is an event on it
  Endpoint endpoint;
  std::list<Client> clients;
  Clock::time_point accept_again = Clock::now();
  ForwardDecoder decoder;
  Batch batch;
  ForwardServerTally tally;
  ForwardServerTally stored_tally;  // as it was when all of it was stored
  std::string last_failure;         // to store; told once, not for every message that is sent again
  std::string input = std::string(read_size, '\0');

  void accept_clients();
  void receive(Client& client);
  void send(Client& client);
  void flush();
  void drop(Client& client, const std::string& why);
  void look_at_clocks();
  Result<bool> round(int timeout_ms);
  std::uint64_t buffered() const;
};

void ForwardServer::State::drop(Client& client, const std::string& why) {
  ++(client.peer.refused() ? tally.refused : tally.broken);
  problem(fmt::format("{}: {}", client.name, why));
  client.leaving = true;
}

void ForwardServer::State::accept_clients() {
  for (;;) {
    Descriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if (errno == EINTR || errno == ECONNABORTED) continue;
      // No descriptor left: it would be asked again at once, and again.
      problem(fmt::format("cannot accept a client: {}", std::generic_category().message(errno)));
      accept_again = Clock::now() + std::chrono::seconds(1);
      return;
    }
    if (clients.size() >= options.most_clients) {
      ++tally.refused;
      problem(
          fmt::format("{}: refused, there are {} clients already", peer_name(socket.get()), clients.size()));
      continue;
    }
    clients.emplace_back(std::move(socket), options);
  }
}

std::uint64_t ForwardServer::State::buffered() const {
  std::uint64_t sum = 0;
  for (const Client& client : clients) sum += client.peer.buffered();
  return sum;
}

void ForwardServer::State::receive(Client& client) {
  const ssize_t got = ::recv(client.socket.get(), input.data(), input.size(), 0);
  if (got < 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    problem(fmt::format("{}: {}", client.name, std::generic_category().message(errno)));
    client.gone = true;
    return;
  }
  if (got == 0) {
    if (client.peer.in_message() && !client.leaving) drop(client, "left in the middle of a message");
    client.leaving = true;
    return;
  }
  client.heard = Clock::now();
  const auto tell = [&](const std::string& what) { problem(fmt::format("{}: {}", client.name, what)); };
  const Status taken =
      client.peer.receive({input.data(), static_cast<std::size_t>(got)}, decoder, batch, tally, tell);
  if (client.peer.let_in() && !client.counted) {
    ++tally.clients;
    client.counted = true;
  }
  if (!taken) return drop(client, taken.error().message());
  if (client.peer.buffered() > read_size && buffered() > most_buffered)
    drop(client, fmt::format("the beginnings of messages take more than {} bytes of memory", most_buffered));
}

void ForwardServer::State::send(Client& client) {
  std::string& output = client.peer.output;
  while (!output.empty()) {
    const ssize_t sent = ::send(client.socket.get(), output.data(), output.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) break;
      client.gone = true;  // it cannot be told, and will send again what was not acknowledged
      return;
    }
    output.erase(0, static_cast<std::size_t>(sent));
  }
  if (output.size() > most_output) {
    drop(client, "does not read its acknowledgements");
    client.gone = true;
  }
}

// One call for everything that has arrived, then the acknowledgements.
void ForwardServer::State::flush() {
  const bool owed =
      std::any_of(clients.begin(), clients.end(), [](const Client& c) { return c.peer.owes(); });
  const Status stored = batch.points.empty() ? Status() : store(batch);
  if (stored) {
    stored_tally = tally;
    if (!batch.points.empty()) last_failure.clear();
  } else {
    // Nothing of it was taken in.
    tally.messages = stored_tally.messages;
    tally.tally.records = stored_tally.tally.records;
    tally.tally.samples = stored_tally.tally.samples;
    if (stored.error().message() != last_failure) {
      last_failure = stored.error().message();
      problem("samples are not acknowledged: " + last_failure);
    }
  }
  batch.clear();
  if (!owed) return;
  for (Client& client : clients) {
    if (!client.peer.owes()) continue;
    if (stored) {
      client.peer.stored();
    } else {
      client.gone = true;
    }
  }
}

void ForwardServer::State::look_at_clocks() {
  const auto now = Clock::now();
  for (Client& client : clients) {
    if (client.leaving || client.gone) continue;
    const double silent = std::chrono::duration<double>(now - client.heard).count();
    if (!client.peer.let_in() && silent > options.handshake_seconds)
      drop(client, fmt::format("no answer to HELO for {:g} s", options.handshake_seconds));
    if (client.peer.let_in() && client.peer.in_message() && silent > stall_seconds)
      drop(client, fmt::format("silent for {:g} s in the middle of a message", stall_seconds));
  }
}

// One round: waits, takes in, stores, answers. False: stop() was called.
Result<bool> ForwardServer::State::round(int timeout_ms) {
  std::vector<pollfd> waiting;
  waiting.reserve(clients.size() + 2);
  waiting.push_back({wake.get(), POLLIN, 0});
  waiting.push_back({listener.get(), static_cast<short>(Clock::now() < accept_again ? 0 : POLLIN), 0});
  for (const Client& client : clients) {
    const auto reading = static_cast<short>(client.leaving ? 0 : POLLIN);
    const auto writing = static_cast<short>(client.peer.output.empty() ? 0 : POLLOUT);
    waiting.push_back({client.socket.get(), static_cast<short>(reading | writing), 0});
  }
  const int ready = ::poll(waiting.data(), waiting.size(), timeout_ms);
  if (ready < 0 && errno == EINTR)
    return true;  // a signal handler may have called stop(): the next round sees it
  if (ready < 0) return fail_errno(errno, "wait for clients", to_string(endpoint));
  auto at = waiting.begin() + 2;
  for (Client& client : clients) {
    const short events = (at++)->revents;
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && !client.leaving) receive(client);
    if ((events & (POLLHUP | POLLERR)) != 0 && client.leaving) client.gone = true;
    if (batch.points.size() > most_points) flush();
  }
  flush();
  look_at_clocks();
  for (Client& client : clients) {
    if (!client.gone) send(client);
  }
  clients.remove_if([](const Client& c) { return c.gone || (c.leaving && c.peer.output.empty()); });
  if ((waiting[1].revents & POLLIN) != 0) {
    accept_clients();
    for (Client& client : clients) send(client);  // HELO
  }
  return (waiting[0].revents & POLLIN) == 0;
}

ForwardServer::ForwardServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
ForwardServer::ForwardServer(ForwardServer&&) noexcept = default;
ForwardServer& ForwardServer::operator=(ForwardServer&&) noexcept = default;
ForwardServer::~ForwardServer() = default;

Result<ForwardServer> ForwardServer::listen(ForwardServerOptions options, Store store, Problem problem) {
  if (options.name.empty()) options.name = host_name();
  auto state = std::make_unique<State>(std::move(options), std::move(store), std::move(problem));
  WEIR_ASSIGN(state->listener, listen_at({state->options.host, state->options.port}));
  WEIR_ASSIGN(state->endpoint, local_endpoint(state->listener.get()));
  state->wake = Descriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!state->wake) return fail_errno(errno, "make an eventfd", "forward server");
  return ForwardServer(std::move(state));
}

std::string ForwardServer::address() const {
  return to_string(state_->endpoint);
}

std::uint16_t ForwardServer::port() const {
  return state_->endpoint.port;
}

Status ForwardServer::run() {
  constexpr int look_every_ms = 1000;  // at clocks
  for (bool goes_on = true; goes_on;) {
    WEIR_ASSIGN(goes_on, state_->round(look_every_ms));
  }
  // What was sent before stop() may still be on its way through the kernel; then the answers go out.
  const auto end = Clock::now() + std::chrono::milliseconds(last_words_ms);
  state_->listener = Descriptor();
  for (Client& client : state_->clients) {
    while (!client.leaving && !client.gone) {
      const auto heard = client.heard;
      state_->receive(client);
      if (client.heard == heard || Clock::now() > end) break;
    }
  }
  state_->flush();
  for (Client& client : state_->clients) {
    while (!client.gone && !client.peer.output.empty() && Clock::now() < end) {
      pollfd writable{client.socket.get(), POLLOUT, 0};
      ::poll(&writable, 1, 10);
      state_->send(client);
    }
  }
  state_->clients.clear();
  return {};
}

void ForwardServer::stop() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(state_->wake.get(), &one, sizeof one);
}

ForwardServerTally ForwardServer::tally() const {
  return state_->tally;
}

}  // namespace weir::telemetry
