// `weir bench tile | tile-modified | btio | ior | hpio`: collective I/O on this machine or on a virtual
// cluster.
//
// Two questions, one run each:
//   mappings   the same shuffle, planned by Weir, with ranks placed by each algorithm: communication and I/O
//   time apart configs    the same program through MPI-IO, carried out by the MPI library or by Weir: rates
//   and bytes between nodes
//
// The command only launches ranks and reads what they measured; what is between them are JSON files in a
// folder of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "placement/placement.hpp"
#include "platform/platform.hpp"
#include "workloads/io_workload.hpp"

namespace weir::cli {

// As a user writes them.
struct IoArguments {
  std::string workload;
  int ranks = 0;         // 0: every core of the cluster; 4 on this machine
  std::string vcluster;  // "4x4"; empty: this machine
  std::string rate = "200mbit";
  std::string grid;  // of tiles; empty: as square as can be
  std::string tile = "64x64", element = "256";
  std::int64_t permute = 7;
  std::int64_t points = 48, steps = 4;
  std::string transfer = "256KiB", block = "1MiB";
  std::int64_t segments = 1;
  bool strided = false;
  bool collective = true;
  std::int64_t regions = 128, region = 5992, spacing = 256;
  std::string mappings, configs, against;
  std::string algorithm = "two-phase";  // of the shuffle by plan; or "segmented"
  int repeats = 3;
  int samples = 2;
  bool no_verify = false, same_file = false;
  std::string json, csv, plot, folder;
  std::string as_rank;  // the job of a rank; not for users
};
Status bench_io(const IoArguments& arguments);
Status run_io_rank(const std::string& job_file);

// bench_io_settle.cpp
Result<workloads::IoWorkload> settle_workload(const IoArguments& arguments);

// "original,T:agg=1,rr=1,req=4,N:": a comma ends a configuration only if the name of another one follows.
std::vector<std::string> split_configs(const std::string& text);

// How one configuration is started.
struct IoConfig {
  std::string name;
  bool of_mpi = false;                // the MPI library's own collective I/O: what others are compared with
  bool bare = false;                  // no collective I/O at all: what system calls alone would reach
  std::vector<std::string> launcher;  // options of the launcher
  std::map<std::string, std::string> environment;  // of the ranks
};
Result<std::vector<IoConfig>> settle_configs(const std::string& configs, const std::string& against);

// What one launch of ranks does and yields.
struct IoCase {
  std::string mapping;
  IoConfig config;
  std::string host_file;         // a host for each rank, in the launcher's words; empty: this machine
  std::vector<int> aggregators;  // by file domain: a shuffle by plan; empty: through MPI-IO
  double model_write = 0;        // bytes between nodes, by the shuffle model
  double model_read = 0;
  std::vector<std::string> without_effect;  // settings of the configuration that change nothing, in words
};

struct IoSample {
  std::map<std::string, double> values;
};

// A case in one direction.
struct IoRow {
  IoCase what;
  std::string direction;  // "write", "read"
  std::vector<IoSample> samples;
  bool verified = true;
  std::string failure;

  double model_bytes() const { return direction == "write" ? what.model_write : what.model_read; }
};

struct IoRun {
  workloads::IoWorkload workload;
  const IoArguments& arguments;
  std::string cluster;  // its name; empty: this machine
  std::string files, scratch;
  std::vector<std::string> notes;
  std::vector<IoRow> rows;
};

// bench_io_cases.cpp: the launches that the arguments ask for, with a host file in `scratch` for each
// mapping.
Result<std::vector<IoCase>> mapping_cases(const IoRun& run, const Platform& platform);
Result<std::vector<IoCase>> config_cases(const IoRun& run, const Platform* platform);

// bench_io_model.cpp: what Weir would do if it carried out the calls. Fails for settings that cannot be.
struct IoModel {
  double bytes_between_nodes = 0;           // of all calls
  std::vector<std::string> without_effect;  // settings that change nothing about the last call, in words
};
Result<IoModel> own_model(const workloads::IoWorkload& workload, const Numbers& node_of,
                          const IoConfig& config, bool reading);

// bench_io_launch.cpp: rounds of launches, each round in another order. Fills the rows.
Status run_io_rounds(IoRun& run, const std::vector<IoCase>& cases);

// A virtual cluster that lasts as long as this.
class VirtualCluster {
 public:
  static Result<VirtualCluster> make(const std::string& name, const std::string& shape,
                                     const std::string& rate);
  VirtualCluster(VirtualCluster&& other) noexcept : name_(std::exchange(other.name_, {})) {}
  VirtualCluster& operator=(VirtualCluster&&) = delete;
  ~VirtualCluster();
  const std::string& name() const { return name_; }

 private:
  explicit VirtualCluster(std::string name) : name_(std::move(name)) {}
  std::string name_;
};
std::string vcluster_name();          // one for this process; its nodes are NAME-node0, NAME-node1, ...
Result<std::string> vcluster_tool();  // the path of tools/vcluster

// bench_io_report.cpp: tables, files, pictures. A failure when a row failed or is wrong.
Status finish_io(const IoRun& run);

}  // namespace weir::cli
