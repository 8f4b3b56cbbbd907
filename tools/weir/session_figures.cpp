#include "session_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/file.hpp"
#include "core/json.hpp"
#include "store/job.hpp"

namespace weir::cli {

Result<std::map<std::string, double>> session_figures(std::string_view text) {
  double bytes = 0;
  double visible = 0;
  double storing = 0;
  std::size_t number = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string line = fmt::format("line {}", ++number);
    WEIR_ASSIGN(const Json json, in(parse_json(text.substr(from, end - from)), line));
    from = end + 1;
    WEIR_ASSIGN(const JsonObject session, in(JsonObject::of(json, "the session"), line));
    const std::pair<const char*, double*> sums[] = {
        {"stored_bytes", &bytes}, {"visible_seconds", &visible}, {"storing_seconds", &storing}};
    for (const auto& [name, sum] : sums) {
      WEIR_ASSIGN(const double value, in(session.number(name), line));
      if (!(value >= 0 && value <= 1e300))
        return fail(ErrorCode::corrupt, fmt::format("{}: '{}' is {}", line, name, value),
                    "amounts and times are 0 or more");
      *sum += value;
    }
  }
  std::map<std::string, double> figures;
  if (number == 0) return figures;
  figures[std::string(store::figure::bytes_written)] = bytes;
  figures[std::string(store::figure::io_seconds)] = visible;
  figures[std::string(store::figure::storing_seconds)] = storing;
  if (storing > 0)
    figures[std::string(store::figure::hidden_share)] = std::clamp(1 - visible / storing, 0.0, 1.0);
  return figures;
}

Result<std::map<std::string, double>> load_session_figures(const std::string& path) {
  if (path.empty() || !std::filesystem::exists(path)) return std::map<std::string, double>{};
  WEIR_ASSIGN(const std::string text, read_text(path));
  return in(session_figures(text), "read what the program's sessions said", path);
}

}  // namespace weir::cli
