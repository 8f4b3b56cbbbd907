#include "report/scene.hpp"

#include <cmath>

#include "report/text.hpp"

namespace weir::report {

std::array<Point, 4> corners(const Text& text) {
  const double width = text_width(text.text, text.size, text.bold);
  const double left = text.anchor == Anchor::start ? 0 : text.anchor == Anchor::middle ? -width / 2 : -width;
  const double radians = text.angle * std::acos(-1.0) / 180;
  const auto turned = [&](double x, double y) {
    return Point{text.at.x + x * std::cos(radians) - y * std::sin(radians),
                 text.at.y + x * std::sin(radians) + y * std::cos(radians)};
  };
  const double top = -ascent * text.size;
  const double bottom = descent * text.size;
  return {turned(left, top), turned(left + width, top), turned(left + width, bottom), turned(left, bottom)};
}

void append(Scene& scene, Scene part, Point by) {
  const auto move = [&](Point& point) {
    point.x += by.x;
    point.y += by.y;
  };
  for (Shape& shape : part.shapes) {
    if (auto* rect = std::get_if<Rect>(&shape)) {
      rect->x += by.x;
      rect->y += by.y;
    } else if (auto* path = std::get_if<Path>(&shape)) {
      for (Point& point : path->points) move(point);
    } else {
      move(std::get<Text>(shape).at);
    }
    scene.shapes.push_back(std::move(shape));
  }
}

}  // namespace weir::report
