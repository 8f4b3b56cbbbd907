// The ways in of `weir ingest`, one function each. LOCAL. Threads: none of them is reentrant with the same
// Ingest.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/json.hpp"
#include "ingest.hpp"
#include "store/store.hpp"
#include "telemetry/record.hpp"

namespace weir::cli {

// What has come in so far, by kind of thing, and what was wrong. The first problems are printed as they come;
// of many only their number.
class IngestLog {
 public:
  explicit IngestLog(bool quiet) : quiet_(quiet) {}
  void problem(const std::string& text);
  void count(const std::string& what, std::uint64_t number) { counts_[what] += number; }
  void count(const telemetry::Tally& tally);
  void rejected(std::uint64_t number) { rejected_ += number; }
  std::uint64_t rejected() const { return rejected_; }
  std::function<void(const std::string&)> teller() {
    return [this](const std::string& text) { problem(text); };
  }
  std::string text() const;
  Json json() const;

 private:
  std::map<std::string, std::uint64_t> counts_;
  std::uint64_t problems_ = 0, rejected_ = 0;
  bool quiet_;
};

Status ingest_fluentd(store::Store& store, const std::string& path, IngestLog& log);
Status ingest_prometheus(store::Store& store, const std::string& source, const std::string& node,
                         IngestLog& log);
Status ingest_tokio(store::Store& store, const std::string& path, IngestLog& log);
Status ingest_tables(store::Store& store, const IngestRequest& request, IngestLog& log);
Status ingest_synthetic(store::Store& store, const IngestRequest& request, IngestLog& log);
Status ingest_listen(const IngestRequest& request, IngestLog& log);

// The body of http://HOST:PORT/PATH, where HOST is this machine's loopback.
Result<std::string> http_get(const std::string& url);

}  // namespace weir::cli
