// `weir bench`: what its workloads share. A run is a set of cases (a mapping, a backend, how the arrays are
// allocated, whether the program calls test), each measured once in every round; what is measured are named
// numbers ("wall", "send", ...), so that rounds, tables and files do not depend on the workload.
//
// The command itself only launches ranks and reads what they measured; files between them are JSON in a
// folder of its own.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "plan/plan.hpp"

namespace weir::cli {

struct BenchSettings {
  std::vector<std::string> mappings = {"sequential", "consecutive"};
  std::vector<std::string> backends;  // of files, in the order of the table
  std::vector<std::string> arrays;    // "user", "weir"
  std::vector<bool> tests;
  int compute = 1;  // ranks
  int repeats = 5;  // rounds that count, after one to warm up
  bool strong = false;
  bool compare = false;
  bool verify = false;
  bool keep = false;
  bool brief = false;  // for people who want the gist
  std::string storage =
      "cache";  // "disk": a write is over when its data is there; "cache": when the system has it
  std::string json, csv, plot, folder;
  std::string store;  // every launch that counts becomes a job there; empty: none
};

struct BenchCase {
  std::string mapping;
  std::string backend;
  std::string arrays = "user";
  bool tests = false;
  Json parameters = Json::object();  // of the workload: loops, write_every, ...
  std::string name() const;          // "consecutive-hdf5", "consecutive-hdf5-weir-tests": also of its file
};

// What one run of one case measured.
struct BenchSample {
  std::map<std::string, double> values;  // seconds, unless the name says something else
  bool verified = false;
  std::string failure;  // empty: all went well
};

struct BenchRow {
  BenchCase what;
  std::vector<BenchSample> samples = {};  // by round, without the first
  std::string failure = {};               // the first one; no more rounds after it
  bool verified = true;                   // every file of every round
};

// How the ranks of a mapping are started.
struct BenchLaunch {
  int ranks = 1;
  Plan plan;
  std::vector<std::string> notes;  // what a user should know: "4 ranks share 2 cores"
};

// bench_mapping.cpp: roles and places of `compute` ranks on this machine. A mapping that it cannot have is a
// failure that says why.
std::vector<std::string> bench_mappings();  // all names
Result<BenchLaunch> launch_of(const std::string& mapping, int compute);

// What one launch of ranks is to do: all cases of one mapping and one backend. Stored as JSON for them.
struct BenchJob {
  std::string backend;
  std::string results;    // the file for what they measure
  bool verify = false;    // read the files back
  bool keep = false;      // else a file is removed once it is measured
  bool plain = false;     // measure the workload without I/O, too
  bool to_disk = false;   // each write is to be there before it is over
  bool validate = false;  // of HPCG: residual and symmetry
  Json common;            // the workload's parameters that all cases share
  struct Case {
    std::string path;
    std::string arrays;
    bool tests = false;
    Json parameters;
  };
  std::vector<Case> cases = {};
};
Json job_to_json(const BenchJob& job);
Result<BenchJob> job_from_json(const Json& json);
// What a launch measured, by case.
Json samples_to_json(const std::vector<BenchSample>& samples);
Result<std::vector<BenchSample>> samples_from_json(const Json& json);

// bench_rounds.cpp
struct BenchRun {
  std::string workload;
  const BenchSettings& settings;
  std::map<std::string, BenchLaunch> launches;  // by mapping
  Json common;                                  // the workload's parameters that all cases share
  std::string files;                            // the folder for the files that are written
  std::string scratch;                          // the folder for plans, jobs and results
};
// One launch: cases of one mapping and one backend. The samples, in the order of the cases.
Result<std::vector<BenchSample>> launch_cases(const BenchRun& run, const std::vector<BenchCase>& cases,
                                              bool plain, bool validate, bool record = false);
// Interleaved rounds: every round runs every case once, in rotating order; the first one warms up. Then
// `warmed` may look at what it measured, row by row, and change the parameters of rows.
using Warmed = std::function<void(std::vector<BenchRow>& rows, const std::vector<BenchSample>& samples)>;
Status run_rounds(const BenchRun& run, std::vector<BenchRow>& rows, const Warmed& warmed = {});

// All cases that the settings ask for. With --compare also the sequential ones to compare with.
std::vector<BenchCase> cases_of(const BenchSettings& settings);

// The launches of all mappings that the settings ask for.
Result<std::map<std::string, BenchLaunch>> launches_of(const BenchSettings& settings);

}  // namespace weir::cli
