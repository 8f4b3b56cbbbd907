// A report as a value: what it says of each job, and of several side by side. One value, and from it a page
// (HTML), a summary for a terminal, JSON, CSV files and pictures: they cannot disagree.
//
// It knows nothing of stores or counters: job_document.hpp makes one of what the analysis found.
//
// Texts may come from anybody (names of jobs, users, devices): every way out makes them harmless. Threads:
// all functions are reentrant.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "report/chart.hpp"
#include "report/heat_map.hpp"

namespace weir::report {

enum class Tone { plain, good, caution, bad };

// One figure with its name: "written", "1.2 GiB", "96.4 MiB/s on average".
struct Fact {
  std::string label;
  std::string value;
  std::string note = {};
  Tone tone = Tone::plain;
};

struct Finding {
  Tone tone = Tone::caution;
  std::string code;           // "queue-deep"
  std::string text;           // what is the matter, in a sentence
  std::string evidence = {};  // the figures behind it
  std::string advice = {};    // what to do
};

struct Grid {
  std::string title;
  std::string note = {};
  std::vector<std::string> columns;
  std::vector<bool> numbers;  // right-aligned; one per column
  std::vector<std::vector<std::string>> rows;
};

// A figure as a number, for JSON and CSV.
struct Figure {
  std::string name;
  double value = 0;  // NaN: not known
  std::string unit = {};
};

struct JobPage {
  std::string id;
  std::string name;
  std::string state;  // "finished", "failed", "lost", "running"
  Tone tone = Tone::plain;
  std::string configuration = {};  // under which it is compared; or empty
  std::string line = {};           // who, where, when, how long
  std::int64_t start_ms = 0;       // since the epoch
  std::vector<Fact> facts = {};
  std::vector<Finding> findings = {};
  std::vector<Chart> timelines = {};  // lines over seconds since the start
  std::vector<HeatMap> heat_maps = {};
  std::vector<Chart> charts = {};
  std::vector<Grid> tables = {};
  std::vector<Figure> figures = {};
};

struct ComparisonPage {
  std::string verdict;              // "B is best: its writes were 2.1 times as fast as A's"
  std::string sure = {};            // how sure that is
  Grid table = {};                  // a row per job
  std::optional<Chart> chart = {};  // differences from the baseline, with their ranges
  std::vector<Grid> details = {};
};

struct Document {
  std::string title;
  std::vector<JobPage> jobs;
  std::optional<ComparisonPage> comparison = {};
  std::string made_by = {};  // "weir 0.1.0"
  std::string made_at = {};
};

// What runs are called side by side: A, B, ... Z, 27, 28, ...
std::string run_letter(std::size_t run);

// The findings of all jobs; one that several share is there once, with the letters of its runs ("A, C").
struct SharedFinding {
  std::string runs;
  Finding finding;
};
std::vector<SharedFinding> shared_findings(const Document& document);

struct JsonDetail {
  bool compact = false;   // fewer digits, and heat maps no finer than a screen
  bool pictures = false;  // charts as SVG too, for a page that cannot draw them itself
};
Json to_json(const Document& document, const JsonDetail& detail = {});

// One file that needs no other and no network. With ECharts built in, charts can be zoomed; else they are
// SVG.
Result<std::string> render_html(const Document& document);
bool html_is_interactive();

// What matters, in about a screen.
std::string render_summary(const Document& document, const TextOptions& options);

// Into a folder, which is made if need be: names like "42-timeline-throughput.csv". The result: their paths.
Result<std::vector<std::filesystem::path>> save_csv(const Document& document,
                                                    const std::filesystem::path& folder);
Result<std::vector<std::filesystem::path>> save_png(const Document& document,
                                                    const std::filesystem::path& folder);

// "▁▂▅█▇", one character per mean of neighbours; blank where nothing was measured.
std::string sparkline(const std::vector<double>& values, std::size_t columns);

}  // namespace weir::report
