// What `weir store` does, without its command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace weir::cli {

struct StoreRequest {
  std::string store;
  bool json = false;
  // jobs
  std::string user;
  std::int64_t at_most = 20;
  // export
  std::string csv, tokio, jobs_csv, nodes_csv;
  std::vector<std::string> counters, nodes;
  std::string job, from, to;
  double row_seconds = 0;
};

Status store_show(const StoreRequest& request);
Status store_jobs(const StoreRequest& request);
Status store_check(const StoreRequest& request);  // a failure if anything is wrong
Status store_compact(const StoreRequest& request);
Status store_export(const StoreRequest& request);

}  // namespace weir::cli
