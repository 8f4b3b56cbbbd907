// The options that all workloads of `weir bench` take, as a user writes them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "bench.hpp"

namespace weir::cli {

struct BenchArguments {
  BenchSettings settings;
  std::vector<std::string> mappings = {"sequential", "consecutive"};
  std::vector<std::string> backends = {"posix"};
  std::string arrays;  // empty: "user", or "both" to compare
  bool weir_arrays = false;
  std::string tests = "off";
  std::string as_rank;  // the job of a rank; not for users
};

void add_bench_options(CLI::App& command, BenchArguments& arguments);

// The settings with every name looked up and every file that will be written possible. `notes` gets what a
// user should know: mappings of 'all' that this machine cannot have, say.
Result<BenchSettings> settle(const BenchArguments& arguments, std::vector<std::string>& notes);

struct StreamArguments : BenchArguments {
  std::string size;         // empty: chosen
  int loops = 0;            // 0: chosen
  std::string write_every;  // a number, "auto" or "4x"; empty: chosen
  std::string order;        // "listing" or "spread"; empty: chosen
};
struct HpcgArguments : BenchArguments {
  std::string grid = "64";
  int sets = 3;
  int iterations = 10;
};
Status bench_stream(const StreamArguments& arguments);
Status bench_hpcg(const HpcgArguments& arguments);

}  // namespace weir::cli
