// The work of `weir collect`: samples of this node, to a file, to a store, to a forward server, or measured
// for their cost.
#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"

namespace weir::cli {

struct CollectArguments {
  std::vector<std::string> sources;
  std::string interval = "1s";
  std::string duration;  // empty: until interrupted
  std::string output;    // "-": standard output
  std::string forward;
  std::string store;
  std::string shared_key_file;
  std::string compress = "none";
  std::string spool;
  std::string spool_size = "256M";
  std::string drain = "10s";
  std::string tag = "weir";
  std::string node;
  std::string root = "/";
  bool list = false;
  bool overhead = false;
  bool json = false;
};

Status collect(const CollectArguments& arguments);

// "block    block devices of Linux: ..." for --help
std::string describe_sources();

}  // namespace weir::cli
