// Scalable pictures: written as text here, so that labels stay text that can be searched, selected and read
// aloud.
#include <fmt/format.h>

#include "report/scene.hpp"
#include "report/text.hpp"

namespace weir::report {

namespace {

// Hundredths of a pixel are enough, and keep files small and the same everywhere.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string hex(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

std::string ending(const char* element, const std::string& note) {
  return note.empty() ? "/>\n" : fmt::format("><title>{}</title></{}>\n", escaped_markup(note), element);
}

std::string element(const Rect& rect) {
  return fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}")", number(rect.x),
                     number(rect.y), number(rect.width), number(rect.height), hex(rect.fill)) +
         ending("rect", rect.note);
}

std::string element(const Path& path) {
  std::string points;
  for (const Point& point : path.points)
    points += fmt::format("{}{},{}", points.empty() ? "M" : " L", number(point.x), number(point.y));
  if (path.filled)
    return fmt::format(R"(<path d="{}Z" fill="{}")", points, hex(path.colour)) + ending("path", path.note);
  return fmt::format(R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}" stroke-linejoin="round"{})",
                     points, hex(path.colour), number(path.width),
                     path.dash > 0 ? fmt::format(R"( stroke-dasharray="{}")", number(path.dash)) : "") +
         ending("path", path.note);
}

std::string element(const Text& text) {
  static constexpr const char* anchors[] = {"", R"( text-anchor="middle")", R"( text-anchor="end")"};
  const std::string turn = text.angle == 0
                               ? ""
                               : fmt::format(R"-( transform="rotate({} {} {})")-", number(text.angle),
                                             number(text.at.x), number(text.at.y));
  return fmt::format(R"(<text x="{}" y="{}" font-size="{}" fill="{}"{}{}{}{}>{}</text>)"
                     "\n",
                     number(text.at.x), number(text.at.y), number(text.size), hex(text.colour),
                     text.bold ? R"( font-weight="bold")" : "", anchors[static_cast<int>(text.anchor)], turn,
                     text.halo ? R"( stroke="#ffffff" stroke-width="3" paint-order="stroke")" : "",
                     escaped_markup(text.text));
}

}  // namespace

std::string to_svg(const Scene& scene) {
  const std::string width = number(scene.width);
  const std::string height = number(scene.height);
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" )"
      R"(font-family="'DejaVu Sans', Verdana, Arial, sans-serif">)"
      "\n<title>{2}</title>\n"
      R"(<rect width="{0}" height="{1}" fill="#ffffff"/>)"
      "\n",
      width, height, escaped_markup(scene.title));
  for (const Shape& shape : scene.shapes)
    svg += std::visit([](const auto& part) { return element(part); }, shape);
  return svg + "</svg>\n";
}

}  // namespace weir::report
