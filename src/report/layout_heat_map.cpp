// Where the cells, names and the colour scale of a heat map go.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/heat_map.hpp"
#include "report/layout.hpp"
#include "report/palette.hpp"
#include "report/text.hpp"

namespace weir::report {

namespace {

constexpr Colour missing_fill = {229, 229, 229};
constexpr Colour missing_ink = {150, 150, 150};
constexpr double scale_width = 16;     // of the bar of colours
constexpr double scale_gap = 18;       // between cells and bar
constexpr double most_name = 150;      // of the names of rows, in pixels
constexpr double gap_from = 9;         // cells smaller than this stand without a gap
constexpr double notes_up_to = 20000;  // cells that say their value under the pointer

double widest(const std::vector<std::string>& texts, double size) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, text_width(text, size));
  return width;
}

Text plain(std::string words, Point at, double size, Anchor anchor) {
  return {.at = at, .text = std::move(words), .size = size, .anchor = anchor, .colour = ink};
}

void add_title(Scene& scene, const HeatMap& map, double& y) {
  for (const std::string& line : fit(clean(map.title), map.width - 2 * margin, title_size, true, 2)) {
    y += title_size * line_height;
    Text text = plain(line, {map.width / 2, y - title_size * 0.3}, title_size, Anchor::middle);
    text.bold = true;
    scene.shapes.push_back(std::move(text));
  }
  y += 8;
}

void add_scale(Scene& scene, const HeatMap& map, const Axis& axis, const ColourScale& scale,
               const Frame& frame) {
  const double x = frame.right + scale_gap;
  constexpr int steps = 64;
  const double height = frame.height() / steps;
  for (int i = 0; i < steps; ++i) {
    scene.shapes.push_back(Rect{.x = x,
                                .y = frame.bottom - (i + 1) * height,
                                .width = scale_width,
                                .height = height + 0.6,  // no seams
                                .fill = heat_colour((i + 0.5) / steps)});
  }
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    const double position = (axis.ticks[i] - scale.low) / (scale.high - scale.low);
    if (position < -1e-9 || position > 1 + 1e-9) continue;
    const double y = frame.bottom - position * frame.height();
    scene.shapes.push_back(
        Path{.points = {{x + scale_width, y}, {x + scale_width + 4, y}}, .colour = axis_colour});
    scene.shapes.push_back(
        plain(axis.labels[i], {x + scale_width + 7, y + tick_size * 0.36}, tick_size, Anchor::start));
  }
  if (map.value_label.empty()) return;
  Text name = plain(shorten(clean(map.value_label), frame.height() + 20, label_size),
                    {map.width - margin, (frame.top + frame.bottom) / 2}, label_size, Anchor::middle);
  name.angle = -90;
  scene.shapes.push_back(std::move(name));
}

void add_row_names(Scene& scene, const HeatMap& map, const Frame& frame) {
  const double slot = frame.height() / static_cast<double>(map.rows.size());
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(tick_size * 1.15 / slot)));
  for (std::size_t i = 0; i < map.rows.size(); i += every) {
    const double place = static_cast<double>(i) + 0.5;
    const double y = map.upward ? frame.bottom - place * slot : frame.top + place * slot;
    scene.shapes.push_back(plain(shorten(clean(map.rows[i]), most_name, tick_size),
                                 {frame.left - 7, y + tick_size * 0.36}, tick_size, Anchor::end));
  }
  if (map.y_label.empty()) return;
  Text name = plain(shorten(clean(map.y_label), frame.height() + 20, label_size),
                    {margin + label_size * 0.8, (frame.top + frame.bottom) / 2}, label_size, Anchor::middle);
  name.angle = -90;
  scene.shapes.push_back(std::move(name));
}

void add_cells(Scene& scene, const HeatMap& map, const ColourScale& scale, const Frame& frame) {
  const double width = frame.width() / static_cast<double>(map.columns.size());
  const double height = frame.height() / static_cast<double>(map.rows.size());
  const double space = std::min(width, height) >= gap_from ? 1 : 0;
  const bool notes = static_cast<double>(map.values.size()) <= notes_up_to;
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    const double place = static_cast<double>(row);
    const double y = map.upward ? frame.bottom - (place + 1) * height : frame.top + place * height;
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      const double value = map.at(row, column);
      const double x = frame.left + static_cast<double>(column) * width;
      const bool missing = std::isnan(value);
      std::string note;
      if (notes) {
        const std::string name = map.cells.empty() ? clean(map.rows[row]) + ", " + clean(map.columns[column])
                                                   : clean(map.cells[row * map.columns.size() + column]);
        note = missing ? name + ": not measured" : value_note(name, value);
      }
      const double over = space == 0 ? 0.4 : 0;  // neighbours overlap a little: no seams
      scene.shapes.push_back(Rect{.x = x,
                                  .y = y,
                                  .width = width - space + over,
                                  .height = height - space + over,
                                  .fill = missing ? missing_fill : heat_colour(scale.position(value)),
                                  .note = std::move(note)});
      if (missing && space > 0) {
        scene.shapes.push_back(Path{
            .points = {{x + 2, y + height - 3}, {x + width - 3, y + 2}}, .colour = missing_ink, .width = 1});
      }
    }
  }
}

}  // namespace

Result<Scene> lay_out(const HeatMap& whole) {
  WEIR_TRY(check(whole));
  // A cell smaller than a pixel cannot be seen.
  const HeatMap map =
      reduced(whole, static_cast<std::size_t>(whole.height / 2), static_cast<std::size_t>(whole.width / 2));
  const ColourScale scale = scale_of(map);
  Scene scene{.title = clean(map.title), .width = map.width, .height = map.height};
  double top = margin;
  add_title(scene, map, top);

  const Axis axis =
      linear_axis(scale.low, scale.high, std::clamp(static_cast<int>((map.height - top) / 70), 2, 8));
  std::vector<std::string> row_names;
  for (const std::string& row : map.rows) row_names.push_back(shorten(clean(row), most_name, tick_size));
  Frame frame{.left = margin + widest(row_names, tick_size) + 8,
              .right = map.width - margin - widest(axis.labels, tick_size) - 8 - scale_width - scale_gap,
              .top = top};
  if (!map.y_label.empty()) frame.left += label_size * line_height + 4;
  if (!map.value_label.empty()) frame.right -= label_size * line_height + 4;

  std::vector<std::string> names;
  std::vector<double> centres;
  const double slot = frame.width() / static_cast<double>(map.columns.size());
  for (std::size_t i = 0; i < map.columns.size(); ++i) {
    names.push_back(clean(map.columns[i]));
    centres.push_back(frame.left + (static_cast<double>(i) + 0.5) * slot);
  }
  const double below = margin + (map.x_label.empty() ? 0 : label_size * line_height + 2);
  LabelRow labels = label_row(names, centres, slot, (map.height - top) * 0.3, tick_size, false);
  frame.bottom = map.height - below - labels.height - 6;
  if (frame.width() < map.width * 0.25 || frame.height() < map.height * 0.25)
    return fail(ErrorCode::invalid_argument, "the labels leave no room for the cells",
                "make the picture larger or names shorter");

  add_cells(scene, map, scale, frame);
  add_row_names(scene, map, frame);
  for (Text& text : labels.texts) {
    text.at.y += frame.bottom + 4;
    scene.shapes.push_back(std::move(text));
  }
  add_scale(scene, map, axis, scale, frame);
  if (!map.x_label.empty())
    scene.shapes.push_back(plain(shorten(clean(map.x_label), frame.width(), label_size),
                                 {(frame.left + frame.right) / 2, map.height - margin + 2}, label_size,
                                 Anchor::middle));
  return scene;
}

}  // namespace weir::report
