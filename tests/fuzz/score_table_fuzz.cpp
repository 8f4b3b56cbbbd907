// Tables from outside: no crash; what is accepted can be scored, printed and made JSON of.
#include <cstdlib>

#include "analysis/evaluation.hpp"
#include "analysis/score_table.hpp"
#include "analysis/thresholds.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto ranks = weir::analysis::read_rank_table(text, "fuzz.csv")) {
    // Scoring takes time in proportion to the table; a few cells show everything.
    if (ranks->metrics.size() * ranks->configurations.size() <= 64) {
      const auto table = weir::analysis::make_score_table(*ranks);
      if (table.scores.size() != ranks->configurations.size()) std::abort();
      (void)weir::analysis::render(table);
      (void)weir::analysis::to_json(table).dump(-1, ' ', false, weir::Json::error_handler_t::replace);
    }
  }
  if (const auto runs = weir::analysis::read_run_table(text, "fuzz.csv")) {
    if (runs->metrics.size() * runs->configurations.size() <= 64) {
      if (const auto result = weir::analysis::evaluate(*runs, {.resamples = 20})) {
        (void)weir::analysis::render(*result);
        (void)weir::analysis::to_json(*result).dump(-1, ' ', false, weir::Json::error_handler_t::replace);
      }
    }
  }
  if (const auto json = weir::parse_json(text)) (void)weir::analysis::thresholds_from_json(*json);
  return 0;
}
