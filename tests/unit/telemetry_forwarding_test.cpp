// Spool, client, forwarder and server together, over the loopback.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "telemetry/endpoint.hpp"
#include "telemetry/forward_message.hpp"
#include "telemetry/forward_server.hpp"
#include "telemetry/forwarder.hpp"
#include "telemetry/spool.hpp"

namespace weir::telemetry {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double patience = 60;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "weir-spool-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

Batch batch_of(std::uint64_t first, std::uint64_t count) {
  Batch batch;
  for (std::uint64_t i = first; i < first + count; ++i)
    batch.add({counter_id("link.bytes"), "io1", "X+", ""}, static_cast<Nanoseconds>(1 + i), i);
  return batch;
}

// A server in a thread, and what it stored.
class Receiver {
 public:
  explicit Receiver(ForwardServerOptions options = {}) {
    options.port = options.port == 24224 ? 0 : options.port;
    auto listening = ForwardServer::listen(
        std::move(options), [this](const Batch& batch) { return store(batch); },
        [this](const std::string& what) {
          const std::lock_guard lock(mutex_);
          problems_.push_back(what);
        });
    if (!listening) throw std::runtime_error(listening.error().message());
    server_ = std::make_unique<ForwardServer>(std::move(*listening));
    thread_ = std::thread([this] { ran_ = server_->run(); });
  }
  ~Receiver() { stop(); }
  ForwardServerTally stop() {
    if (thread_.joinable()) {
      server_->stop();
      thread_.join();
      EXPECT_TRUE(ran_);
    }
    return server_->tally();
  }
  std::uint16_t port() const { return server_->port(); }
  std::vector<std::string> problems() {
    const std::lock_guard lock(mutex_);
    return problems_;
  }
  std::multiset<std::uint64_t> values() {
    const std::lock_guard lock(mutex_);
    return values_;
  }
  std::atomic<bool> failing = false;
  std::atomic<int> refusals = 0;

 private:
  Status store(const Batch& batch) {
    if (failing) {
      ++refusals;
      return fail(ErrorCode::io, "the database is away");
    }
    const std::lock_guard lock(mutex_);
    for (const Point& point : batch.points) values_.insert(point.value);
    return {};
  }

  std::mutex mutex_;
  std::multiset<std::uint64_t> values_;
  std::vector<std::string> problems_;
  std::unique_ptr<ForwardServer> server_;
  Status ran_;
  std::thread thread_;
};

ForwarderOptions to(std::uint16_t port, const fs::path& spool) {
  return {.client = {.server = {"127.0.0.1", port},
                     .name = "client",
                     .connect_seconds = patience,
                     .answer_seconds = patience},
          .spool = spool,
          .first_pause = 0.01,
          .longest_pause = 0.05};
}

template <class Condition>
bool eventually(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

std::multiset<std::uint64_t> numbers(std::uint64_t first, std::uint64_t count) {
  std::multiset<std::uint64_t> result;
  for (std::uint64_t i = first; i < first + count; ++i) result.insert(i);
  return result;
}

void quiet(const std::string&) {}

TEST(Spool, KeepsChunksInOrderOverRestarts) {
  const Folder folder;
  {
    auto spool = Spool::open(folder.path, 1 << 20U);
    ASSERT_TRUE(spool) << spool.error().message();
    EXPECT_TRUE(spool->empty());
    EXPECT_TRUE(spool->add("one", 1));
    EXPECT_TRUE(spool->add("two", 2));
  }
  auto spool = Spool::open(folder.path, 1 << 20U);
  EXPECT_EQ(spool->samples(), 3);
  EXPECT_TRUE(spool->add("three", 3));
  auto taken = spool->oldest(1000);
  EXPECT_EQ(taken->bytes, "onetwothree");
  EXPECT_EQ(taken->samples, 6);
  taken = spool->oldest(1);
  EXPECT_EQ(taken->bytes, "one");
  spool->remove_until(taken->last);
  EXPECT_EQ(spool->oldest(1)->bytes, "two");
  spool->remove_until(UINT64_MAX);
  EXPECT_TRUE(spool->empty());
  EXPECT_EQ(spool->bytes(), 0);
  EXPECT_FALSE(spool->oldest(1));
}

TEST(Spool, WhenFullTheOldestAreDroppedAndCounted) {
  const Folder folder;
  auto spool = Spool::open(folder.path, 4096);
  for (std::uint64_t i = 0; i < 10; ++i)
    EXPECT_TRUE(spool->add(std::string(1000, static_cast<char>('0' + i)), 10));
  EXPECT_EQ(spool->dropped_samples(), 70);
  EXPECT_EQ(spool->oldest(1)->bytes[0], '7');
  EXPECT_LE(spool->bytes(), 4096);
  EXPECT_THAT(spool->add(std::string(5000, 'x'), 1).error().message(),
              HasSubstr("larger than the whole spool"));
  EXPECT_EQ(spool->dropped_samples(), 71);
  EXPECT_EQ(spool->samples(), 30);
}

TEST(Spool, WhatWasTornIsCountedAndTheRestSent) {
  const Folder folder;
  {
    auto spool = Spool::open(folder.path, 1 << 20U);
    for (const char* text : {"one", "two", "three", "four"}) EXPECT_TRUE(spool->add(text, 1));
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder.path)) {
    if (entry.path().extension() == ".chunk") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  ASSERT_EQ(files.size(), 4);
  fs::resize_file(files[0], fs::file_size(files[0]) - 1);
  std::ofstream(files[2]) << "";
  std::ofstream(folder.path / "00000000000000000009.chunk.unfinished") << "half";
  auto spool = Spool::open(folder.path, 1 << 20U);
  auto taken = spool->oldest(1000);
  EXPECT_EQ(taken->bytes, "two");
  spool->remove_until(taken->last);
  EXPECT_EQ(spool->oldest(1000)->bytes, "four");
  EXPECT_EQ(spool->broken_chunks(), 2);
  EXPECT_FALSE(fs::exists(folder.path / "00000000000000000009.chunk.unfinished"));
}

TEST(Spool, BelongsToOneProcess) {
  const Folder folder;
  const auto first = Spool::open(folder.path, 1000);
  const auto second = Spool::open(folder.path, 1000);
  EXPECT_THAT(second.error().message(), HasSubstr("another process uses it"));
}

TEST(Forwarding, ArrivesAndLeavesTheSpoolEmpty) {
  for (const Compression compression : {Compression::none, Compression::gzip, Compression::zstd}) {
    Receiver receiver;
    const Folder folder;
    auto options = to(receiver.port(), folder.path);
    options.client.compression = compression;
    auto forwarder = Forwarder::start(options, quiet);
    ASSERT_TRUE(forwarder) << forwarder.error().message();
    for (std::uint64_t i = 0; i < 50; ++i) EXPECT_TRUE(forwarder->add(batch_of(i * 10, 10)));
    const ForwarderTally tally = forwarder->finish(patience);
    EXPECT_EQ(tally.sent, 500);
    EXPECT_EQ(tally.waiting, 0);
    EXPECT_EQ(receiver.values(), numbers(0, 500));
  }
}

TEST(Forwarding, ASharedKeyLetsIn) {
  Receiver receiver({.shared_key = "secret"});
  const Folder folder;
  auto options = to(receiver.port(), folder.path);
  options.client.shared_key = "secret";
  auto forwarder = Forwarder::start(options, quiet);
  EXPECT_TRUE(forwarder->add(batch_of(0, 10)));
  EXPECT_EQ(forwarder->finish(patience).sent, 10);
  EXPECT_EQ(receiver.values(), numbers(0, 10));
  EXPECT_EQ(receiver.stop().clients, 1);
}

TEST(Forwarding, AWrongKeyIsRefusedAndNothingLost) {
  Receiver receiver({.shared_key = "secret"});
  const Folder folder;
  auto options = to(receiver.port(), folder.path);
  options.client.shared_key = "guess";
  std::mutex mutex;
  std::vector<std::string> problems;
  auto forwarder = Forwarder::start(options, [&](const std::string& what) {
    const std::lock_guard lock(mutex);
    problems.push_back(what);
  });
  EXPECT_TRUE(forwarder->add(batch_of(0, 10)));
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return !problems.empty();
  }));
  const ForwarderTally tally = forwarder->finish(0);
  EXPECT_EQ(tally.sent, 0);
  EXPECT_EQ(tally.waiting, 10);
  EXPECT_THAT(problems, Contains(HasSubstr("shared_key mismatch")));
  const ForwardServerTally seen = receiver.stop();
  EXPECT_GE(seen.refused, 1);
  EXPECT_EQ(seen.clients, 0);
  EXPECT_TRUE(receiver.values().empty());
  EXPECT_THAT(receiver.problems(), Contains(HasSubstr("its shared key is wrong")));
}

TEST(Forwarding, NothingIsLostWhileTheServerIsAway) {
  const Folder folder;
  std::uint16_t port = 0;
  {
    Receiver receiver;
    port = receiver.port();
    auto forwarder = Forwarder::start(to(port, folder.path), quiet);
    EXPECT_TRUE(forwarder->add(batch_of(0, 10)));
    EXPECT_EQ(forwarder->finish(patience).sent, 10);
  }
  {  // nobody listens; the sender itself ends too
    auto forwarder = Forwarder::start(to(port, folder.path), quiet);
    for (std::uint64_t i = 1; i < 5; ++i) EXPECT_TRUE(forwarder->add(batch_of(10 * i, 10)));
    EXPECT_EQ(forwarder->finish(0).waiting, 40);
  }
  // A port may have been taken by somebody else meanwhile: another one does as well.
  Receiver receiver;
  auto forwarder = Forwarder::start(to(receiver.port(), folder.path), quiet);
  EXPECT_TRUE(forwarder->add(batch_of(50, 10)));
  const ForwarderTally tally = forwarder->finish(patience);
  EXPECT_EQ(tally.sent, 50);
  EXPECT_EQ(receiver.values(), numbers(10, 50));
}

TEST(Forwarding, WithoutAStoreNothingIsAcknowledged) {
  Receiver receiver;
  receiver.failing = true;
  const Folder folder;
  auto forwarder = Forwarder::start(to(receiver.port(), folder.path), quiet);
  EXPECT_TRUE(forwarder->add(batch_of(0, 10)));
  EXPECT_TRUE(eventually([&] { return receiver.refusals >= 3; }));  // it tries again and again
  EXPECT_EQ(forwarder->tally().sent, 0);
  // Said once.
  EXPECT_THAT(receiver.problems(), ElementsAre(HasSubstr("not acknowledged: the database is away")));
  receiver.failing = false;
  EXPECT_TRUE(eventually([&] { return forwarder->tally().sent == 10; }));
  EXPECT_EQ(receiver.values(), numbers(0, 10));
  EXPECT_EQ(receiver.stop().tally.samples, 10U) << "what was not stored was not taken in";
}

TEST(Forwarding, SeveralClientsAtOnce) {
  Receiver receiver;
  std::vector<std::thread> threads;
  for (std::uint64_t client = 0; client < 6; ++client) {
    threads.emplace_back([&, client] {
      const Folder folder;
      auto forwarder = Forwarder::start(to(receiver.port(), folder.path), quiet);
      for (std::uint64_t i = 0; i < 10; ++i)
        EXPECT_TRUE(forwarder->add(batch_of(client * 1000 + i * 10, 10)));
      EXPECT_EQ(forwarder->finish(patience).sent, 100);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(receiver.values().size(), 600);
  EXPECT_EQ(receiver.stop().clients, 6);
}

// Sends bytes and reads until the server closes, or has answered this much.
std::string exchange(std::uint16_t port, std::string_view bytes, std::size_t answer = SIZE_MAX) {
  auto socket = connect_to({"127.0.0.1", port}, patience, -1);
  EXPECT_TRUE(socket);
  if (!socket) return {};
  // Blocking from here on, with an end if all else fails.
  timeval limit{.tv_sec = static_cast<time_t>(patience), .tv_usec = 0};
  ::setsockopt(socket->get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::fcntl(socket->get(), F_SETFL, 0);
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  std::string received;
  char buffer[4096];
  while (received.size() < answer) {
    const ssize_t got = ::recv(socket->get(), buffer, sizeof buffer, 0);
    if (got <= 0) break;
    received.append(buffer, static_cast<std::size_t>(got));
  }
  return received;
}

TEST(Server, HostileInputIsToldWithThePeersNameAndCounted) {
  Receiver receiver;
  const std::vector<std::string> hostile = {
      "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
      "\xdb\xff\xff\xff\xff",
      "\xdd\xff\xff\xff\xff",
      std::string(1000, '\x91'),
      "\xc1",
      std::string("\x93\xa1t\x91\x92\x01", 6) + std::string("\x80\x80", 2) + "\x01",
  };
  for (const std::string& bytes : hostile)
    EXPECT_EQ(exchange(receiver.port(), bytes), "") << testing::PrintToString(bytes);
  // The server is still there.
  const std::string good = forward_message("t", pack_entries(batch_of(0, 3)), Compression::none, "c");
  const std::string answer = acknowledgement("c");
  EXPECT_EQ(exchange(receiver.port(), good, answer.size()), answer);
  const ForwardServerTally tally = receiver.stop();
  EXPECT_EQ(tally.broken, hostile.size());
  EXPECT_EQ(tally.tally.samples, 3);
  const auto problems = receiver.problems();
  EXPECT_GE(problems.size(), hostile.size());
  for (const std::string& problem : problems) EXPECT_THAT(problem, HasSubstr("127.0.0.1:"));
}

TEST(Server, TooManyClientsAreRefused) {
  Receiver receiver({.most_clients = 1});
  auto first = connect_to({"127.0.0.1", receiver.port()}, patience, -1);
  ASSERT_TRUE(first);
  const std::string good = forward_message("t", pack_entries(batch_of(0, 3)), Compression::none, "c");
  EXPECT_EQ(exchange(receiver.port(), good), "");
  EXPECT_EQ(receiver.stop().refused, 1);
}

TEST(Server, AnAddressInUseIsAFailure) {
  Receiver receiver;
  const auto second = ForwardServer::listen(
      {.port = receiver.port()}, [](const Batch&) { return Status(); }, quiet);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(), HasSubstr("127.0.0.1:"));
}

TEST(Endpoint, Forms) {
  EXPECT_EQ(parse_endpoint("host:1", 9).value(), (Endpoint{"host", 1}));
  EXPECT_EQ(parse_endpoint("host", 9).value(), (Endpoint{"host", 9}));
  EXPECT_EQ(parse_endpoint("[::1]:24224", 9).value(), (Endpoint{"::1", 24224}));
  EXPECT_EQ(parse_endpoint("[::1]", 9).value(), (Endpoint{"::1", 9}));
  EXPECT_EQ(to_string(Endpoint{"::1", 5}), "[::1]:5");
  for (const char* bad :
       {"", ":1", "h:", "h:x", "h:65536", "h:-1", "::1", "[::1", "[::1]x", "[::1]:", "[]:5"})
    EXPECT_FALSE(parse_endpoint(bad, 9)) << bad;
}

}  // namespace
}  // namespace weir::telemetry
