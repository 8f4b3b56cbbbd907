#include "store/synthetic_k.hpp"

#include <algorithm>

namespace weir::store {

Result<SyntheticTally> write_k_computer(Store& store, const SyntheticOptions& options,
                                        const std::function<void(std::uint64_t samples)>& progress) {
  SyntheticTally tally;
  WEIR_TRY(store.put(k_computer_topology()));
  const std::vector<PlannedJob> planned = k_computer_jobs(options);
  std::vector<Node> nodes = k_computer_nodes();
  if (!options.whole_machine) {
    const auto unused = [&](const Node& node) {
      return std::none_of(planned.begin(), planned.end(), [&](const PlannedJob& job) {
        const int x = node.coordinates[0], y = node.coordinates[1];
        return x >= job.x && x < job.x + 4 && y >= job.y && y < job.y + 4;
      });
    };
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), unused), nodes.end());
  }
  WEIR_TRY(store.put(nodes));
  tally.nodes = nodes.size();
  std::vector<Job> jobs;
  for (const PlannedJob& job : planned) jobs.push_back(job.job);
  WEIR_TRY(store.put(jobs));
  tally.jobs = jobs.size();
  const auto take = [&](const std::vector<telemetry::Series>& series) -> Status {
    WEIR_TRY(store.write(series));
    for (const telemetry::Series& one : series) tally.samples += one.times.size();
    if (progress) progress(tally.samples);
    return {};
  };
  WEIR_TRY(generate_k_counters(options, take));
  WEIR_ASSIGN(const Summary summary, store.summary());
  tally.series = summary.series;
  return tally;
}

}  // namespace weir::store
