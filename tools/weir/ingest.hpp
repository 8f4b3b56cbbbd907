// What `weir ingest` does, without its command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace weir::cli {

struct IngestRequest {
  std::string store;
  std::vector<std::string> files;       // of fluentd's out_file
  std::vector<std::string> prometheus;  // files, or http://127.0.0.1:PORT/metrics
  std::string node;                     // of metrics that name none
  std::vector<std::string> tokio;
  std::vector<std::string> sacct;
  std::vector<std::string> jobs;
  std::vector<std::string> nodes;
  std::string topology;
  std::string zone = "Z";

  std::string listen;  // HOST:PORT
  std::string shared_key_file;
  std::string ready_file;  // gets the address once it listens
  double seconds = 0;      // of listening; 0: until it is told to stop
  std::string spool;
  std::int64_t spool_bytes = std::int64_t{4} << 30;
  double spool_retry_seconds = 10;  // between attempts to reach a store that is away

  std::string synthetic;  // "k-computer"
  std::int64_t intervals = 90;
  double interval_seconds = 60;
  std::int64_t seed = 1;
  bool jobs_only = false;  // only the part of the machine that serves a job
  std::string answers;     // a file for what was planted

  bool json = false;
  bool quiet = false;
};

Status ingest(const IngestRequest& request);

}  // namespace weir::cli
