// Several jobs side by side: which configuration is better, by how much, and how sure that is.
//
// Jobs whose records name the same configuration are repetitions of one; a job that names none stands for
// itself. Threads: pure functions, but for the one that reads a store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analyse.hpp"
#include "analysis/evaluation.hpp"
#include "analysis/job_analysis.hpp"
#include "analysis/score_table.hpp"

namespace weir::analysis {

struct Comparison {
  std::vector<JobAnalysis> jobs;            // heat maps of one kind share a scale
  std::vector<std::string> configurations;  // of each job
  std::vector<std::string> metrics;         // those that all jobs have and by which they are judged
  std::optional<ScoreTable> scores;         // the paper's, of the means of each configuration
  std::optional<Evaluation> evaluation;     // ours
  std::vector<std::string> notes;
};

struct CompareOptions {
  std::string baseline;  // a configuration or a job's id; empty: the first
  std::uint64_t seed = 1;
};

// Fails without jobs, and if the baseline is none of them.
Result<Comparison> compare(std::vector<JobAnalysis> jobs, const CompareOptions& options = {});

Result<Comparison> compare(store::Store& store, const std::vector<std::string>& job_ids,
                           const AnalyseOptions& how = {}, const CompareOptions& options = {});

Json to_json(const Comparison& comparison);

// The throughput a user saw: of programs with sessions of Weir their bytes over the whole run; of others by
// the job's record, else what its targets moved.
bool counts_whole_run(const JobAnalysis& job);
double seen_throughput(const JobAnalysis& job);

}  // namespace weir::analysis
