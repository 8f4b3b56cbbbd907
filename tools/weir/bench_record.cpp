#include "bench_record.hpp"

#include <filesystem>

#include "job_recorder.hpp"
#include "launch.hpp"
#include "session_figures.hpp"

namespace weir::cli {

Status run_recorded_ranks(int ranks, const std::vector<std::string>& arguments, const BenchRecord& record) {
  std::error_code ignored;
  std::filesystem::remove(record.summary_file, ignored);
  std::vector<std::string> words = {"weir"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  // Launches of a benchmark are short: twenty samples a second still cost next to nothing.
  WEIR_ASSIGN(const auto recorder, JobRecorder::start({.store = record.store,
                                                       .name = record.name,
                                                       .configuration = record.configuration,
                                                       .words = words,
                                                       .interval_seconds = 0.05}));
  const Status ran = run_ranks(ranks, arguments, {{"WEIR_SUMMARY_FILE", record.summary_file}});
  WEIR_ASSIGN(const auto figures, load_session_figures(record.summary_file));
  WEIR_TRY(recorder->finish(ran ? store::JobState::completed : store::JobState::failed, figures));
  return ran;
}

}  // namespace weir::cli
