#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "report/document.hpp"
#include "report/text.hpp"

namespace weir::report {

namespace {

constexpr std::size_t page_rows = 256;  // of a heat map on a screen
constexpr std::size_t page_columns = 360;
constexpr std::size_t least_tick_digits = 5;

const char* name_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "good";
    case Tone::caution:
      return "caution";
    case Tone::bad:
      return "bad";
    case Tone::plain:
      break;
  }
  return "plain";
}

class Writer {
 public:
  explicit Writer(const JsonDetail& detail) : detail_(detail) {}

  Json number(double value) const {
    if (!std::isfinite(value)) return nullptr;
    if (!detail_.compact) return value;
    const double rounded = std::strtod(fmt::format("{:.{}g}", value, least_tick_digits).c_str(), nullptr);
    // As "12", not "12.0": shorter by a tenth.
    if (rounded == std::floor(rounded) && std::abs(rounded) < 1e15) return static_cast<std::int64_t>(rounded);
    return rounded;
  }

  Json numbers(const std::vector<double>& values) const {
    Json list = Json::array();
    for (const double value : values) list.push_back(number(value));
    return list;
  }

  Json texts(const std::vector<std::string>& values) const {
    Json list = Json::array();
    for (const std::string& value : values) list.push_back(clean(value));
    return list;
  }

  Json chart(const Chart& chart) const {
    Json json = {{"title", clean(chart.title)},
                 {"kind", chart.kind == Kind::bars ? "bars" : "lines"},
                 {"x_label", clean(chart.x_label)},
                 {"y_label", clean(chart.y_label)}};
    if (chart.kind == Kind::bars) {
      json["categories"] = texts(chart.categories);
    } else {
      json["x"] = numbers(chart.x);
    }
    json["series"] = Json::array();
    for (const Series& series : chart.series) {
      Json item = {{"name", clean(series.name)}, {"values", numbers(series.values)}};
      if (!series.low.empty()) item["low"] = numbers(series.low), item["high"] = numbers(series.high);
      json["series"].push_back(std::move(item));
    }
    json["references"] = Json::array();
    for (const Reference& reference : chart.references)
      json["references"].push_back({{"value", number(reference.value)}, {"name", clean(reference.name)}});
    if (detail_.pictures) {
      if (const auto svg = render_svg(chart)) json["svg"] = *svg;
    }
    return json;
  }

  Json heat_map(const HeatMap& whole) const {
    const HeatMap map = detail_.compact ? reduced(whole, page_rows, page_columns) : whole;
    const ColourScale scale = scale_of(map);
    Json json = {{"title", clean(map.title)},     {"x_label", clean(map.x_label)},
                 {"y_label", clean(map.y_label)}, {"value_label", clean(map.value_label)},
                 {"low", number(scale.low)},      {"high", number(scale.high)},
                 {"upward", map.upward},          {"columns", texts(map.columns)},
                 {"rows", texts(map.rows)},       {"values", numbers(map.values)}};
    if (!map.cells.empty()) json["cells"] = texts(map.cells);
    if (detail_.pictures) {
      if (const auto svg = render_svg(map)) json["svg"] = *svg;
    }
    return json;
  }

  Json grid(const Grid& grid) const {
    Json rows = Json::array();
    for (const auto& row : grid.rows) rows.push_back(texts(row));
    return {{"title", clean(grid.title)},
            {"note", clean(grid.note)},
            {"columns", texts(grid.columns)},
            {"numbers", grid.numbers},
            {"rows", std::move(rows)}};
  }

  Json job(const JobPage& page) const {
    Json json = {{"id", clean(page.id)},
                 {"name", clean(page.name)},
                 {"state", clean(page.state)},
                 {"tone", name_of(page.tone)},
                 {"line", clean(page.line)},
                 {"start_ms", page.start_ms},
                 {"configuration", clean(page.configuration)}};
    json["figures"] = Json::object();
    for (const Figure& figure : page.figures)
      json["figures"][clean(figure.name)] = {{"value", number(figure.value)}, {"unit", clean(figure.unit)}};
    json["facts"] = Json::array();
    for (const Fact& fact : page.facts)
      json["facts"].push_back({{"label", clean(fact.label)},
                               {"value", clean(fact.value)},
                               {"note", clean(fact.note)},
                               {"tone", name_of(fact.tone)}});
    json["findings"] = Json::array();
    for (const Finding& finding : page.findings)
      json["findings"].push_back({{"tone", name_of(finding.tone)},
                                  {"code", clean(finding.code)},
                                  {"text", clean(finding.text)},
                                  {"evidence", clean(finding.evidence)},
                                  {"advice", clean(finding.advice)}});
    json["timelines"] = json["charts"] = json["heat_maps"] = json["tables"] = Json::array();
    for (const Chart& item : page.timelines) json["timelines"].push_back(chart(item));
    for (const Chart& item : page.charts) json["charts"].push_back(chart(item));
    for (const HeatMap& item : page.heat_maps) json["heat_maps"].push_back(heat_map(item));
    for (const Grid& item : page.tables) json["tables"].push_back(grid(item));
    return json;
  }

 private:
  JsonDetail detail_;
};

}  // namespace

Json to_json(const Document& document, const JsonDetail& detail) {
  const Writer writer(detail);
  Json json = {{"weir_report", 1},
               {"title", clean(document.title)},
               {"made_by", clean(document.made_by)},
               {"made_at", clean(document.made_at)}};
  json["comparison"] = nullptr;
  if (document.comparison) {
    const ComparisonPage& comparison = *document.comparison;
    Json details = Json::array();
    for (const Grid& item : comparison.details) details.push_back(writer.grid(item));
    json["comparison"] = {{"verdict", clean(comparison.verdict)},
                          {"sure", clean(comparison.sure)},
                          {"table", writer.grid(comparison.table)},
                          {"chart", comparison.chart ? writer.chart(*comparison.chart) : Json()},
                          {"details", std::move(details)}};
  }
  json["findings"] = Json::array();
  for (const SharedFinding& shared : shared_findings(document))
    json["findings"].push_back({{"runs", shared.runs},
                                {"tone", name_of(shared.finding.tone)},
                                {"code", clean(shared.finding.code)},
                                {"text", clean(shared.finding.text)},
                                {"evidence", clean(shared.finding.evidence)},
                                {"advice", clean(shared.finding.advice)}});
  json["jobs"] = Json::array();
  for (const JobPage& page : document.jobs) json["jobs"].push_back(writer.job(page));
  return json;
}

}  // namespace weir::report
