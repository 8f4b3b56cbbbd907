// How many samples a second one core takes in by fluentd's forward protocol.
//   ingest_bench [SECONDS]      (default 1 for each line)
//
// Messages are made beforehand; what is timed is everything from bytes to a batch ready to be stored. The
// last line goes through the server itself, over the loopback, and counts the processor time of the server's
// thread.
#include <fmt/format.h>
#include <sys/socket.h>
#include <time.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "telemetry/endpoint.hpp"
#include "telemetry/forward_message.hpp"
#include "telemetry/forward_server.hpp"

namespace {

using namespace weir::telemetry;

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

constexpr Nanoseconds moment = 1'564'617'600'000'000'000;

// What I/O nodes of the K computer send: two counters of each of their ten links.
Batch links(int nodes) {
  constexpr const char* names[] = {"X+", "X-", "Y+", "Y-", "Z+", "Z-", "A", "B+", "B-", "C"};
  Batch batch;
  for (int node = 0; node < nodes; ++node) {
    for (const char* name : names) {
      const std::string host = fmt::format("io{:05}", node);
      batch.add({counter_id("link.wait_cycles"), host, name, ""}, moment, 1'000'000ULL * node + 17);
      batch.add({counter_id("link.bytes"), host, name, ""}, moment, 1'000'000'000ULL * node + 3);
    }
  }
  return batch;
}

// What a Lustre server sends: one record of seventeen counters.
Batch servers(int nodes) {
  Batch batch;
  for (int node = 0; node < nodes; ++node) {
    const std::string host = fmt::format("oss{:05}", node);
    for (CounterId id = counter_id("ost_io.req_waittime.count"); id <= counter_id("ost_io.write.sum"); ++id)
      batch.add({id, host, "", ""}, moment, 12'345'678ULL * id + node);
  }
  return batch;
}

void print(const char* what, double samples, double bytes, double seconds) {
  fmt::print("{:<44} {:>7.2f} M samples/s  {:>7.1f} MB/s\n", what, samples / seconds * 1e-6,
             bytes / seconds * 1e-6);
}

void decode(const char* what, const std::string& message, double seconds) {
  ForwardDecoder decoder(std::uint64_t{1} << 30U);
  Batch batch;
  double samples = 0;
  double bytes = 0;
  const double begin = processor_seconds();
  double now = begin;
  while (now - begin < seconds) {
    batch.clear();
    const auto decoded = decoder.decode(message, batch);
    if (!decoded || decoded->tally.rejected > 0 || batch.points.empty()) std::abort();
    samples += static_cast<double>(batch.points.size());
    bytes += static_cast<double>(message.size());
    now = processor_seconds();
  }
  print(what, samples, bytes, now - begin);
}

void serve(const char* what, const std::string& message, double seconds) {
  double samples = 0;
  const auto store = [&](const Batch& batch) {
    samples += static_cast<double>(batch.points.size());
    return weir::Status();
  };
  auto server =
      ForwardServer::listen({.port = 0}, store, [](const std::string& p) { fmt::print(stderr, "{}\n", p); });
  if (!server) std::abort();
  double used = 0;
  std::thread thread([&] {
    const double begin = processor_seconds();
    if (!server->run()) std::abort();
    used = processor_seconds() - begin;
  });
  const auto socket = connect_to({"127.0.0.1", server->port()}, 10, -1);
  if (!socket) std::abort();
  double bytes = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    for (std::string_view rest = message; !rest.empty();) {
      const ssize_t sent = ::send(socket->get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EAGAIN) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        continue;
      }
      if (sent <= 0) std::abort();
      rest.remove_prefix(static_cast<std::size_t>(sent));
      bytes += static_cast<double>(sent);
    }
  }
  server->stop();
  thread.join();
  print(what, samples, bytes, used);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  const std::string link_entries = pack_entries(links(1000));
  const std::string server_entries = pack_entries(servers(1000));
  fmt::print("one core; figures for processor time\n");
  decode("Tofu links, 2 counters a record", forward_message("t", link_entries, Compression::none, "c"),
         seconds);
  decode("Lustre servers, 17 counters a record", forward_message("t", server_entries, Compression::none, "c"),
         seconds);
  decode("Tofu links, gzip", forward_message("t", link_entries, Compression::gzip, "c"), seconds);
  decode("Tofu links, zstd", forward_message("t", link_entries, Compression::zstd, "c"), seconds);
  serve("Tofu links, through the server", forward_message("t", link_entries, Compression::none, "c"),
        seconds);
  return 0;
}
