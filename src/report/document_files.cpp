// A report as files: tables for other programs (CSV), pictures for documents (PNG).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/file.hpp"
#include "report/document.hpp"
#include "report/text.hpp"

namespace weir::report {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 80;

// Letters, digits and dashes: a name of a job is not a path.
std::string file_word(const std::string& text) {
  std::string word;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte) != 0) {
      word += static_cast<char>(std::tolower(byte));
    } else if (!word.empty() && word.back() != '-') {
      word += '-';
    }
    if (word.size() >= longest_name) break;
  }
  while (!word.empty() && word.back() == '-') word.pop_back();
  return word.empty() ? "unnamed" : word;
}

class Folder {
 public:
  explicit Folder(fs::path path) : path_(std::move(path)) {}
  Status make() const {
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) return fail_errno(error.value(), "create", path_.string());
    return {};
  }
  // A path that nothing of this report has yet.
  fs::path next(const std::string& job, const std::string& what, const char* extension) {
    const std::string stem = file_word(job) + "-" + file_word(what);
    std::string name = stem;
    for (int i = 2; !used_.insert(name).second; ++i) name = fmt::format("{}-{}", stem, i);
    paths_.push_back(path_ / (name + extension));
    return paths_.back();
  }
  std::vector<fs::path> paths() && { return std::move(paths_); }

 private:
  fs::path path_;
  std::set<std::string> used_;
  std::vector<fs::path> paths_;
};

std::string csv_number(double value) {
  return std::isnan(value) ? "" : fmt::format("{}", value);
}

std::string csv_of(const Chart& chart) {
  const bool bars = chart.kind == Kind::bars;
  std::string text = csv_field(clean(bars ? "name" : chart.x_label.empty() ? "x" : chart.x_label));
  for (const Series& series : chart.series) {
    text += "," + csv_field(clean(series.name));
    if (!series.low.empty())
      text += "," + csv_field(clean(series.name + " low")) + "," + csv_field(clean(series.name + " high"));
  }
  text += "\n";
  const std::size_t points = bars ? chart.categories.size() : chart.x.size();
  for (std::size_t i = 0; i < points; ++i) {
    text += bars ? csv_field(clean(chart.categories[i])) : csv_number(chart.x[i]);
    for (const Series& series : chart.series) {
      text += "," + (i < series.values.size() ? csv_number(series.values[i]) : "");
      if (!series.low.empty()) text += "," + csv_number(series.low[i]) + "," + csv_number(series.high[i]);
    }
    text += "\n";
  }
  return text;
}

std::string csv_of(const Grid& grid) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : ",") + csv_field(clean(cells[i]));
    text += "\n";
  };
  add(grid.columns);
  for (const auto& row : grid.rows) add(row);
  return text;
}

std::string csv_of(const std::vector<Figure>& figures) {
  std::string text = "figure,value,unit\n";
  for (const Figure& figure : figures)
    text += csv_field(clean(figure.name)) + "," + csv_number(figure.value) + "," +
            csv_field(clean(figure.unit)) + "\n";
  return text;
}

bool has_values(const Chart& chart) {
  return check(chart).has_value();
}

}  // namespace

Result<std::vector<fs::path>> save_csv(const Document& document, const fs::path& path) {
  Folder folder(path);
  WEIR_TRY(folder.make());
  for (const JobPage& page : document.jobs) {
    WEIR_TRY(write_text_atomically(folder.next(page.id, "figures", ".csv"), csv_of(page.figures)));
    for (const Chart& chart : page.timelines)
      WEIR_TRY(write_text_atomically(folder.next(page.id, "time " + chart.title, ".csv"), csv_of(chart)));
    for (const HeatMap& map : page.heat_maps)
      WEIR_TRY(save(map, folder.next(page.id, "map " + map.title, ".csv")));
    for (const Chart& chart : page.charts)
      WEIR_TRY(write_text_atomically(folder.next(page.id, chart.title, ".csv"), csv_of(chart)));
    for (const Grid& grid : page.tables)
      WEIR_TRY(write_text_atomically(folder.next(page.id, "table " + grid.title, ".csv"), csv_of(grid)));
  }
  if (document.comparison && !document.comparison->table.rows.empty())
    WEIR_TRY(write_text_atomically(folder.next("comparison", "scores", ".csv"),
                                   csv_of(document.comparison->table)));
  return std::move(folder).paths();
}

Result<std::vector<fs::path>> save_png(const Document& document, const fs::path& path) {
  Folder folder(path);
  WEIR_TRY(folder.make());
  for (const JobPage& page : document.jobs) {
    for (const Chart& chart : page.timelines) {
      if (has_values(chart)) WEIR_TRY(save(chart, folder.next(page.id, "time " + chart.title, ".png")));
    }
    for (const HeatMap& map : page.heat_maps)
      WEIR_TRY(save(map, folder.next(page.id, "map " + map.title, ".png")));
    for (const Chart& chart : page.charts) {
      if (has_values(chart)) WEIR_TRY(save(chart, folder.next(page.id, chart.title, ".png")));
    }
  }
  if (document.comparison && document.comparison->chart && has_values(*document.comparison->chart))
    WEIR_TRY(save(*document.comparison->chart, folder.next("comparison", "effects", ".png")));
  return std::move(folder).paths();
}

}  // namespace weir::report
