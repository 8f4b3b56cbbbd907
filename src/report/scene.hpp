// A drawing as a list of shapes, in pixels, y downwards: what layout decides and svg.cpp and png.cpp only
// carry out.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/error.hpp"

namespace weir::report {

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  bool operator==(const Colour&) const = default;
};

struct Point {
  double x = 0;
  double y = 0;
};

struct Rect {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  Colour fill = {};
  std::string note = {};  // what it stands for; viewers of SVG show it under the pointer
};

// A line through the points, or a filled shape.
struct Path {
  std::vector<Point> points;
  bool filled = false;  // closed and filled, else only drawn as a line
  Colour colour = {};
  double width = 1;
  double dash = 0;  // length of dashes and gaps; 0: a solid line
  std::string note = {};
};

enum class Anchor { start, middle, end };

struct Text {
  Point at;  // on the baseline
  std::string text;
  double size = 13;
  bool bold = false;
  Anchor anchor = Anchor::start;
  double angle = 0;  // degrees, clockwise, around `at`
  Colour colour = {};
  bool halo = false;  // a white edge, for text over lines
};

using Shape = std::variant<Rect, Path, Text>;

struct Scene {
  std::string title;
  double width = 0;
  double height = 0;
  std::vector<Shape> shapes;  // painted in this order, over white
};

// The corners of the place a text takes, in order around it.
std::array<Point, 4> corners(const Text& text);

// The same drawing, moved.
void append(Scene& scene, Scene part, Point by);

std::string to_svg(const Scene& scene);
Result<std::string> to_png(const Scene& scene);

}  // namespace weir::report
