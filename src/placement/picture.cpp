#include "placement/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace weir {

namespace {

constexpr std::size_t width = 80;
constexpr std::size_t most_lines = 24;
constexpr std::size_t most_boxes = 64;

// The ranks of each node in the order of its cores.
std::vector<Numbers> ranks_by_node(const Assignment& assignment, std::uint32_t nodes) {
  std::vector<Numbers> result(nodes);
  for (std::uint32_t rank = 0; rank < assignment.node_of.size(); ++rank)
    result[assignment.node_of[rank]].push_back(rank);
  for (Numbers& ranks : result)
    std::sort(ranks.begin(), ranks.end(), [&](std::uint32_t a, std::uint32_t b) {
      return assignment.core_of[a] < assignment.core_of[b];
    });
  return result;
}

std::string shortened(std::string text, std::size_t room) {
  if (text.size() <= room) return text;
  text.resize(room > 3 ? room - 3 : 0);
  return text + "...";
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else {
      result += c;
    }
  }
  return result;
}

// The file domain that a rank feeds most.
Numbers main_domains(const PlacementProblem& problem) {
  Numbers result(problem.ranks, 0);
  for (std::uint32_t rank = 0; problem.shuffle != nullptr && rank < problem.ranks; ++rank) {
    const auto values = problem.shuffle->values_of(rank);
    if (values.empty()) continue;
    const auto largest = std::max_element(values.begin(), values.end()) - values.begin();
    result[rank] = problem.shuffle->columns_of(rank)[static_cast<std::size_t>(largest)];
  }
  return result;
}

struct Grid {
  static constexpr int cell = 11, gap = 1, header = 16, margin = 12, columns_of_boxes = 8;
  int columns = 8;  // of cells in a box
  int rows = 6;
  int box_width() const { return columns * (cell + gap) + 10; }
  int box_height() const { return header + rows * (cell + gap) + 8; }
};

}  // namespace

std::string draw_text(const PlacementProblem& problem, const Platform& platform, const Scenario& scenario) {
  const std::vector<Numbers> by_node = ranks_by_node(scenario.placed->assignment, problem.machine->nodes());
  std::vector<char> aggregates(problem.ranks, 0);
  for (const std::uint32_t rank : scenario.aggregators) aggregates[rank] = 1;
  std::size_t name_width = 4;
  for (std::size_t node = 0; node < std::min(by_node.size(), most_lines); ++node)
    name_width = std::max(name_width, std::min<std::size_t>(platform.nodes[node].name.size(), 20));
  std::string text = scenario.title + "\n";
  std::size_t lines = 0, more = 0;
  for (std::uint32_t node = 0; node < by_node.size(); ++node) {
    if (by_node[node].empty()) continue;
    if (++lines > most_lines) {
      ++more;
      continue;
    }
    Numbers writing;
    for (const std::uint32_t rank : by_node[node])
      if (aggregates[rank] != 0) writing.push_back(rank);
    const std::string tail = writing.empty() ? "" : shortened("  writes: " + format_set(writing), 24);
    const std::string head =
        fmt::format("  {:<{}} {:>4}/{:<4} ", shortened(platform.nodes[node].name, 20), name_width,
                    by_node[node].size(), problem.machine->cores(node).size());
    text += head + shortened(format_set(by_node[node]), width - head.size() - tail.size()) + tail + "\n";
  }
  if (more > 0) text += fmt::format("  and {} more nodes\n", more);
  return text;
}

std::string draw_svg(const PlacementProblem& problem, const Platform& platform,
                     std::span<const Scenario> scenarios) {
  const Numbers domain = main_domains(problem);
  const double domains =
      problem.shuffle == nullptr ? 1 : std::max<double>(1, static_cast<double>(problem.shuffle->columns));
  Grid grid;
  const std::uint32_t capacity = std::max(1U, problem.machine->largest_capacity());
  while (grid.columns * grid.rows < static_cast<int>(std::min(capacity, 4096U)))
    ++(grid.columns <= grid.rows * 3 / 2 ? grid.columns : grid.rows);
  std::string body;
  int y = Grid::margin;
  for (const Scenario& scenario : scenarios) {
    const std::vector<Numbers> by_node = ranks_by_node(scenario.placed->assignment, problem.machine->nodes());
    std::vector<char> aggregates(problem.ranks, 0);
    for (const std::uint32_t rank : scenario.aggregators) aggregates[rank] = 1;
    body += fmt::format("<text x=\"{}\" y=\"{}\" class=\"title\">{}</text>\n", Grid::margin, y + 12,
                        escaped(scenario.title));
    y += 22;
    int box = 0;
    std::size_t more = 0;
    for (std::uint32_t node = 0; node < by_node.size(); ++node) {
      if (static_cast<std::size_t>(box) >= most_boxes) {
        more += by_node[node].empty() ? 0 : 1;
        continue;
      }
      const int left = Grid::margin + box % Grid::columns_of_boxes * (grid.box_width() + 8);
      const int top = y + box / Grid::columns_of_boxes * (grid.box_height() + 8);
      ++box;
      body += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"node\"/><text x=\"{}\" "
          "y=\"{}\">{}</text>\n",
          left, top, grid.box_width(), grid.box_height(), left + 5, top + 12,
          escaped(fmt::format("{}: {}", shortened(platform.nodes[node].name, 16), by_node[node].size())));
      for (std::size_t i = 0; i < by_node[node].size() && i < 4096; ++i) {
        const std::uint32_t rank = by_node[node][i];
        const int column = static_cast<int>(i) % grid.columns, row = static_cast<int>(i) / grid.columns;
        body += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"hsl({:.0f},65%,{}%)\"{}><title>rank "
            "{}, file "
            "domain {}</title></rect>\n",
            left + 5 + column * (Grid::cell + Grid::gap), top + Grid::header + row * (Grid::cell + Grid::gap),
            Grid::cell, Grid::cell, domain[rank] / domains * 330, domain[rank] % 2 == 0 ? 48 : 66,
            aggregates[rank] != 0 ? " stroke=\"#000\" stroke-width=\"2\"" : "", rank, domain[rank]);
      }
    }
    y += (box + Grid::columns_of_boxes - 1) / Grid::columns_of_boxes * (grid.box_height() + 8);
    if (more > 0) {
      body += fmt::format("<text x=\"{}\" y=\"{}\">and {} more nodes</text>\n", Grid::margin, y + 12, more);
      y += 16;
    }
    y += Grid::margin;
  }
  body += fmt::format(
      "<text x=\"{}\" y=\"{}\">A cell is a rank; its colour is the file domain that it feeds most; a frame "
      "marks "
      "an aggregator.</text>\n",
      Grid::margin, y + 8);
  const int columns =
      static_cast<int>(std::min<std::size_t>(Grid::columns_of_boxes, std::max(1U, problem.machine->nodes())));
  const int total_width = std::max(560, 2 * Grid::margin + columns * (grid.box_width() + 8));
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
      "<style>text{{font:11px sans-serif;fill:#222}}.title{{font-weight:bold;font-size:13px}}"
      ".node{{fill:#f4f4f4;stroke:#999}}</style>\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#fff\"/>\n{2}</svg>\n",
      total_width, y + 24, body);
}

}  // namespace weir
