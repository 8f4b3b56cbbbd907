// The summary in a terminal: who, the figures, time as small lines, what was found.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/document.hpp"
#include "report/text.hpp"
#include "report/ticks.hpp"

namespace weir::report {

namespace {

constexpr std::size_t least_columns = 40;
constexpr std::size_t most_columns = 110;  // lines longer than this are hard to read
constexpr std::size_t most_findings = 6;

class Printer {
 public:
  explicit Printer(const TextOptions& options)
      : width_(std::clamp(options.width, least_columns, most_columns)), colour_(options.colour) {}

  std::string styled(const std::string& text, const char* code) const {
    return colour_ && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  std::string toned(const std::string& text, Tone tone) const {
    switch (tone) {
      case Tone::good:
        return styled(text, "32");
      case Tone::caution:
        return styled(text, "33");
      case Tone::bad:
        return styled(text, "31");
      case Tone::plain:
        break;
    }
    return text;
  }
  std::string bold(const std::string& text) const { return styled(text, "1"); }
  std::string dim(const std::string& text) const { return styled(text, "2"); }

  // Wrapped at blanks, every line with this indent.
  std::string paragraph(const std::string& text, std::size_t indent, const char* code = "") const {
    std::string result;
    std::string line;
    const auto end_line = [&] {
      if (!line.empty())
        result += std::string(indent, ' ') + (*code != '\0' ? styled(line, code) : line) + "\n";
      line.clear();
    };
    std::size_t from = 0;
    while (from < text.size()) {
      const std::size_t blank = std::min(text.find(' ', from), text.size());
      const std::string word = text.substr(from, blank - from);
      if (!line.empty() && text_columns(line) + 1 + text_columns(word) > width_ - indent) end_line();
      if (!word.empty()) line += (line.empty() ? "" : " ") + word;
      from = blank + 1;
    }
    end_line();
    return result;
  }

  std::size_t width() const { return width_; }

 private:
  std::size_t width_;
  bool colour_;
};

std::string padded(const std::string& text, std::size_t columns, bool right = false) {
  const std::size_t used = text_columns(text);
  if (used >= columns) return text;
  const std::string blanks(columns - used, ' ');
  return right ? blanks + text : text + blanks;
}

std::string heading(const Printer& print, const JobPage& page, const std::string& prefix = {}) {
  const std::string id = prefix + "Job " + clean(page.id);
  const std::string state = clean(page.state);
  const std::size_t room = print.width() - text_columns(state) - 2;
  const std::string title = page.name.empty() ? id : id + "  " + clean(page.name);
  return print.bold(padded(shorten_columns(title, room), room)) + "  " + print.toned(state, page.tone) +
         "\n" + (prefix.empty() ? print.paragraph(clean(page.line), 0, "2") : "");
}

std::string facts_of(const Printer& print, const JobPage& page) {
  std::size_t labels = 0;
  std::size_t values = 0;
  for (const Fact& fact : page.facts) {
    labels = std::max(labels, text_columns(clean(fact.label)));
    values = std::max(values, text_columns(clean(fact.value)));
  }
  values = std::min<std::size_t>(values, 16);
  std::string text;
  for (const Fact& fact : page.facts) {
    const std::string value = shorten_columns(clean(fact.value), 24);
    const std::size_t used = 2 + labels + 2 + std::max(values, text_columns(value));
    const std::string note =
        used + 4 < print.width() ? shorten_columns(clean(fact.note), print.width() - used - 2) : "";
    text += "  " + padded(clean(fact.label), labels) + "  " +
            print.toned(print.bold(padded(value, values, true)), fact.tone) +
            (note.empty() ? "" : "  " + print.dim(note)) + "\n";
  }
  return text;
}

std::string timelines_of(const Printer& print, const JobPage& page) {
  struct Row {
    std::string name;
    std::string end;
    const std::vector<double>* values;
  };
  std::vector<Row> rows;
  std::size_t names = 0;
  std::size_t ends = 0;
  for (const Chart& chart : page.timelines) {
    for (const Series& series : chart.series) {
      double most = NAN;
      for (const double value : series.values) {
        if (!std::isnan(value)) most = std::isnan(most) ? value : std::max(most, value);
      }
      if (!(most > 0) || rows.size() >= 8) continue;
      std::string name = clean(chart.title);
      if (chart.series.size() > 1) name += ", " + clean(series.name);
      const std::string& label = chart.y_label;
      const std::size_t open = label.rfind('(');
      const std::size_t close = label.rfind(')');
      const std::string unit = open != std::string::npos && close != std::string::npos && close > open
                                   ? " " + clean(label.substr(open + 1, close - open - 1))
                                   : "";
      rows.push_back({shorten_columns(name, 30), "max " + format_number(most) + unit, &series.values});
      names = std::max(names, text_columns(rows.back().name));
      ends = std::max(ends, text_columns(rows.back().end));
    }
  }
  std::string text;
  const std::size_t used = 2 + names + 2 + 2 + ends;
  const std::size_t columns =
      print.width() > used + 10 ? std::min<std::size_t>(print.width() - used, 48) : 10;
  for (const Row& row : rows) {
    const std::string line = sparkline(*row.values, columns);
    text += "  " + padded(row.name, names) + "  " + print.styled(padded(line, columns), "36") + "  " +
            print.dim(row.end) + "\n";
  }
  return text;
}

std::string findings_text(const Printer& print, const std::vector<SharedFinding>& findings, bool with_runs) {
  if (findings.empty()) return "  " + print.toned("✓", Tone::good) + " nothing stands out\n";
  std::string text;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (i == most_findings) {
      text += print.dim(fmt::format("  and {} more: --html or --json shows them\n", findings.size() - i));
      break;
    }
    const Finding& finding = findings[i].finding;
    const char* mark = finding.tone == Tone::good ? "✓" : finding.tone == Tone::plain ? "·" : "!";
    std::string sentence =
        print.paragraph((with_runs ? findings[i].runs + ": " : "") + clean(finding.text), 4, "1");
    sentence.replace(2, 1, print.toned(mark, finding.tone));
    text += sentence + print.paragraph(clean(finding.evidence), 4, "2");
    if (!finding.advice.empty()) text += print.paragraph("→ " + clean(finding.advice), 4);
  }
  return text;
}

std::string grid_text(const Printer& print, const Grid& grid) {
  std::vector<std::size_t> widths(grid.columns.size(), 0);
  const auto fit_in = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::min<std::size_t>(40, std::max(widths[i], text_columns(clean(cells[i]))));
  };
  fit_in(grid.columns);
  for (const auto& row : grid.rows) fit_in(row);
  const auto line = [&](const std::vector<std::string>& cells, bool title) {
    std::string text = " ";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string cell =
          padded(shorten_columns(clean(cells[i]), widths[i]), widths[i], grid.numbers[i]);
      text += (i == 0 ? " " : "  ") + (title ? print.bold(cell) : cell);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line(grid.columns, true);
  for (const auto& row : grid.rows) text += line(row, false);
  return text;
}

// Several jobs: their figures in columns.
Grid side_by_side(const Document& document, std::size_t width) {
  constexpr std::size_t label_columns = 22;
  constexpr std::size_t run_columns = 14;
  const std::size_t most = std::max<std::size_t>(2, (width - label_columns) / run_columns);
  const std::size_t shown = std::min(most, document.jobs.size());
  Grid grid;
  grid.columns.emplace_back("");
  grid.numbers.push_back(false);
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < shown; ++i) {
    const JobPage& page = document.jobs[i];
    grid.columns.push_back(run_letter(i));
    grid.numbers.push_back(true);
    for (const Fact& fact : page.facts) {
      if (std::find(labels.begin(), labels.end(), fact.label) == labels.end()) labels.push_back(fact.label);
    }
  }
  for (const std::string& label : labels) {
    std::vector<std::string> row = {label};
    for (std::size_t i = 0; i < shown; ++i) {
      const JobPage& page = document.jobs[i];
      const auto fact = std::find_if(page.facts.begin(), page.facts.end(),
                                     [&](const Fact& each) { return each.label == label; });
      row.push_back(fact == page.facts.end() ? "-" : fact->value);
    }
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

std::string verdict_of(const Printer& print, const ComparisonPage& comparison) {
  std::string text =
      print.paragraph(clean(comparison.verdict), 0, "1") + print.paragraph(clean(comparison.sure), 0, "2");
  if (!comparison.table.rows.empty()) text += "\n" + grid_text(print, comparison.table);
  return text;
}

}  // namespace

std::string run_letter(std::size_t run) {
  return run < 26 ? std::string(1, static_cast<char>('A' + run)) : std::to_string(run + 1);
}

std::vector<SharedFinding> shared_findings(const Document& document) {
  std::vector<SharedFinding> findings;
  for (std::size_t run = 0; run < document.jobs.size(); ++run) {
    for (const Finding& finding : document.jobs[run].findings) {
      const auto same = std::find_if(findings.begin(), findings.end(), [&](const SharedFinding& other) {
        return other.finding.code == finding.code && other.finding.tone == finding.tone &&
               other.finding.advice == finding.advice;
      });
      if (same == findings.end() || finding.code.empty()) {
        findings.push_back({run_letter(run), finding});
      } else if (!same->runs.ends_with(run_letter(run))) {
        same->runs += ", " + run_letter(run);
      }
    }
  }
  const auto weight = [](const SharedFinding& shared) { return -static_cast<int>(shared.finding.tone); };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const SharedFinding& a, const SharedFinding& b) { return weight(a) < weight(b); });
  return findings;
}

std::string sparkline(const std::vector<double>& values, std::size_t columns) {
  static constexpr const char* levels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t count = std::min(columns, values.size());
  std::vector<double> means(count, NAN);
  double most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    std::size_t known = 0;
    const std::size_t from = i * values.size() / count;
    const std::size_t to = std::max(from + 1, (i + 1) * values.size() / count);
    for (std::size_t j = from; j < to; ++j) {
      if (!std::isnan(values[j])) sum += values[j], ++known;
    }
    if (known > 0) means[i] = sum / static_cast<double>(known);
    if (known > 0) most = std::max(most, means[i]);
  }
  std::string text;
  for (const double mean : means) {
    if (std::isnan(mean)) {
      text += " ";
      continue;
    }
    const double share = most > 0 ? std::max(0.0, mean) / most : 0;
    text += levels[std::min<std::size_t>(7, static_cast<std::size_t>(share * 7.999))];
  }
  return text;
}

std::string render_summary(const Document& document, const TextOptions& options) {
  const Printer print(options);
  std::string text;
  if (document.jobs.size() == 1) {
    const JobPage& page = document.jobs.front();
    text = heading(print, page) + "\n" + facts_of(print, page);
    if (const std::string lines = timelines_of(print, page); !lines.empty()) text += "\n" + lines;
    return text + "\n" + print.bold("Findings") + "\n" +
           findings_text(print, shared_findings(document), false);
  }
  for (std::size_t i = 0; i < document.jobs.size(); ++i) {
    JobPage page = document.jobs[i];
    page.name = page.configuration.empty() ? page.name : page.name + ", " + page.configuration;
    text += heading(print, page, run_letter(i) + "  ");
  }
  if (!document.jobs.empty()) text += "\n" + grid_text(print, side_by_side(document, print.width()));
  if (document.comparison) text += "\n" + verdict_of(print, *document.comparison);
  return text + "\n" + print.bold("Findings") + "\n" + findings_text(print, shared_findings(document), true);
}

}  // namespace weir::report
