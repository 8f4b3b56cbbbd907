#include "score_report.hpp"

#include <fmt/format.h>

#include "analysis/evaluation.hpp"
#include "analysis/score_table.hpp"
#include "core/file.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace {

// Names from a file may not be UTF-8; JSON always is.
template <class Value>
std::string json_text(const Value& value) {
  return pretty(analysis::to_json(value)) + "\n";
}

template <class Value>
Status show(const Value& value, const std::string& json) {
  if (json != "-") fmt::print("{}", analysis::render(value));
  return json.empty() ? Status() : put(json, json_text(value));
}

}  // namespace

Status report_scores(const ScoreArguments& arguments) {
  if (!arguments.baseline.empty() && !arguments.measured) {
    return fail(ErrorCode::invalid_argument, "--baseline needs --measured: ranks alone have no ratios");
  }
  WEIR_ASSIGN(const std::string text, read_text(arguments.table));
  if (arguments.measured) {
    WEIR_ASSIGN(const analysis::RunTable runs, analysis::read_run_table(text, arguments.table));
    WEIR_ASSIGN(const analysis::Evaluation evaluation,
                analysis::evaluate(runs, {.baseline = arguments.baseline}));
    return show(evaluation, arguments.json);
  }
  WEIR_ASSIGN(analysis::RankTable ranks, analysis::read_rank_table(text, arguments.table));
  return show(analysis::make_score_table(std::move(ranks)), arguments.json);
}

}  // namespace weir::cli
