// A forward server for tests: says its port, then every sample as a line of JSON, and at SIGTERM what it
// counted.
//   forward_sink [SHARED-KEY]
#include <fmt/format.h>
#include <signal.h>

#include <cstdio>

#include "core/json.hpp"
#include "telemetry/forward_server.hpp"

namespace {

weir::telemetry::ForwardServer* server = nullptr;

void on_signal(int) {
  server->stop();
}

weir::Status print(const weir::telemetry::Batch& batch) {
  for (std::size_t i = 0; i < batch.points.size(); ++i) {
    const weir::telemetry::Sample sample = batch.sample(i);
    const weir::Json line = {{"counter", weir::telemetry::counter(sample.key.counter).name},
                             {"node", sample.key.node},
                             {"component", sample.key.component},
                             {"job", sample.key.job},
                             {"time", sample.time},
                             {"value", sample.value}};
    fmt::print("{}\n", line.dump());
  }
  std::fflush(stdout);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  using namespace weir::telemetry;
  ForwardServerOptions options{.port = 0, .name = "sink"};
  if (argc > 1) options.shared_key = argv[1];
  auto listening = ForwardServer::listen(
      options, print, [](const std::string& problem) { fmt::print(stderr, "{}\n", problem); });
  if (!listening) {
    fmt::print(stderr, "{}\n", listening.error().message());
    return 1;
  }
  server = &*listening;
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  fmt::print("{}\n", server->port());
  std::fflush(stdout);
  const weir::Status served = server->run();
  const ForwardServerTally tally = server->tally();
  const weir::Json counted = {{"messages", tally.messages},      {"clients", tally.clients},
                              {"refused", tally.refused},        {"broken", tally.broken},
                              {"records", tally.tally.records},  {"samples", tally.tally.samples},
                              {"rejected", tally.tally.rejected}};
  fmt::print("{}\n", counted.dump());
  return served ? 0 : 1;
}
