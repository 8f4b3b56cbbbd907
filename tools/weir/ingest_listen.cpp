#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "core/file.hpp"
#include "ingest_parts.hpp"
#include "store/spool.hpp"
#include "telemetry/endpoint.hpp"
#include "telemetry/forward_server.hpp"

namespace weir::cli {

namespace {

std::atomic<telemetry::ForwardServer*> running = nullptr;

void stop_running(int) {
  if (telemetry::ForwardServer* const server = running.load()) server->stop();
}

// While it lives, requests to end stop the server instead of the process.
class StopOnSignals {
 public:
  explicit StopOnSignals(telemetry::ForwardServer& server) {
    running = &server;
    struct sigaction action {};
    action.sa_handler = stop_running;
    for (std::size_t i = 0; i < std::size(signals); ++i) ::sigaction(signals[i], &action, &before_[i]);
  }
  ~StopOnSignals() {
    for (std::size_t i = 0; i < std::size(signals); ++i) ::sigaction(signals[i], &before_[i], nullptr);
    running = nullptr;
  }
  StopOnSignals(const StopOnSignals&) = delete;
  StopOnSignals& operator=(const StopOnSignals&) = delete;

 private:
  static constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[std::size(signals)]{};
};

}  // namespace

Status ingest_listen(const IngestRequest& request, IngestLog& log) {
  telemetry::ForwardServerOptions options;
  WEIR_ASSIGN(const telemetry::Endpoint endpoint, telemetry::parse_endpoint(request.listen, options.port));
  if (!endpoint.host.empty()) options.host = endpoint.host;
  options.port = endpoint.port;
  if (!request.shared_key_file.empty()) {
    WEIR_ASSIGN(options.shared_key, read_text(request.shared_key_file));
    while (!options.shared_key.empty() &&
           (options.shared_key.back() == '\n' || options.shared_key.back() == '\r'))
      options.shared_key.pop_back();
    if (options.shared_key.empty())
      return fail(ErrorCode::invalid_argument,
                  fmt::format("the key file {} is empty", request.shared_key_file));
  }
  store::SpoolOptions spool{.path = request.spool,
                            .most_bytes = static_cast<std::uint64_t>(request.spool_bytes),
                            .retry = std::chrono::duration_cast<std::chrono::milliseconds>(
                                std::chrono::duration<double>(request.spool_retry_seconds))};
  spool.tell = [&](const std::string& text) {
    if (!request.quiet) fmt::print(stderr, "weir: {}\n", text);
  };
  WEIR_ASSIGN(store::SpooledStore store, store::SpooledStore::open(request.store, std::move(spool)));
  const auto write = [&](const telemetry::Batch& batch) { return store.write(batch); };
  WEIR_ASSIGN(telemetry::ForwardServer server,
              telemetry::ForwardServer::listen(options, write, log.teller()));
  if (!request.quiet && !request.json) {
    fmt::print("listening on {}, into {}\n", server.address(), request.store);
    std::fflush(stdout);
  }
  if (!request.ready_file.empty())
    WEIR_TRY(write_text_atomically(request.ready_file, server.address() + "\n"));
  const StopOnSignals signals(server);
  std::jthread timer;
  if (request.seconds > 0) {
    timer = std::jthread([&](const std::stop_token& token) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(request.seconds);
      while (!token.stop_requested() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      server.stop();
    });
  }
  WEIR_TRY(server.run());
  if (timer.joinable()) {
    timer.request_stop();
    timer.join();
  }
  const telemetry::ForwardServerTally tally = server.tally();
  log.count(tally.tally);
  log.count("messages", tally.messages);
  log.count("clients", tally.clients);
  log.count("clients refused", tally.refused);
  log.count("clients disconnected", tally.broken);
  if (!request.spool.empty()) {
    if (const Status delivered = store.deliver(); !delivered)
      log.problem(fmt::format("what is in the spool {} stays there until the store is back: {}",
                              request.spool, delivered.error().message()));
    log.count("spooled samples", store.spooled());
    log.count("samples brought from the spool", store.delivered());
  }
  return {};
}

}  // namespace weir::cli
