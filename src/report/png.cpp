// Pictures as pixels, by Cairo.
#include <cairo.h>

#include <cmath>
#include <exception>
#include <memory>

#include "report/scene.hpp"
#include "report/text.hpp"

namespace weir::report {

namespace {

void use(cairo_t* cairo, Colour colour) {
  cairo_set_source_rgb(cairo, colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0);
}

void paint(cairo_t* cairo, const Rect& rect) {
  use(cairo, rect.fill);
  // Of thin bars side by side, each pixel belongs to one: mixed colours would be those of others.
  constexpr double thin = 4;
  cairo_set_antialias(cairo, rect.width < thin ? CAIRO_ANTIALIAS_NONE : CAIRO_ANTIALIAS_DEFAULT);
  cairo_rectangle(cairo, rect.x, rect.y, rect.width, rect.height);
  cairo_fill(cairo);
  cairo_set_antialias(cairo, CAIRO_ANTIALIAS_DEFAULT);
}

void paint(cairo_t* cairo, const Path& path) {
  use(cairo, path.colour);
  for (const Point& point : path.points) cairo_line_to(cairo, point.x, point.y);
  if (path.filled) {
    cairo_close_path(cairo);
    cairo_fill(cairo);
    return;
  }
  cairo_set_line_width(cairo, path.width);
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
  cairo_set_dash(cairo, &path.dash, path.dash > 0 ? 1 : 0, 0);
  cairo_stroke(cairo);
}

void paint(cairo_t* cairo, const Text& text) {
  cairo_select_font_face(cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         text.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo, text.size);
  cairo_text_extents_t extents;
  cairo_text_extents(cairo, text.text.c_str(), &extents);
  // Where another font took the place of the one the layout was made for, and is wider.
  const double planned = text_width(text.text, text.size, text.bold);
  const double squeeze = extents.x_advance > planned && planned > 0 ? planned / extents.x_advance : 1;
  const double shift = text.anchor == Anchor::start    ? 0
                       : text.anchor == Anchor::middle ? -extents.x_advance / 2
                                                       : -extents.x_advance;
  cairo_save(cairo);
  cairo_translate(cairo, text.at.x, text.at.y);
  cairo_rotate(cairo, text.angle * std::acos(-1.0) / 180);
  cairo_scale(cairo, squeeze, 1);
  cairo_move_to(cairo, shift, 0);
  if (text.halo) {
    cairo_text_path(cairo, text.text.c_str());
    use(cairo, {255, 255, 255});
    cairo_set_line_width(cairo, 3);
    cairo_set_dash(cairo, nullptr, 0, 0);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(cairo);
    cairo_move_to(cairo, shift, 0);
  }
  use(cairo, text.colour);
  cairo_show_text(cairo, text.text.c_str());
  cairo_new_path(cairo);  // it leaves a point behind
  cairo_restore(cairo);
}

}  // namespace

Result<std::string> to_png(const Scene& scene) {
  const std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::ceil(scene.width)),
                                 static_cast<int>(std::ceil(scene.height))),
      cairo_surface_destroy);
  const std::unique_ptr<cairo_t, decltype(&cairo_destroy)> cairo(cairo_create(surface.get()), cairo_destroy);
  // Letters as designed, not pulled to the pixels: the same widths at every size and in every build of Cairo.
  const std::unique_ptr<cairo_font_options_t, decltype(&cairo_font_options_destroy)> font(
      cairo_font_options_create(), cairo_font_options_destroy);
  cairo_font_options_set_hint_style(font.get(), CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(font.get(), CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(font.get(), CAIRO_ANTIALIAS_GRAY);
  cairo_set_font_options(cairo.get(), font.get());

  cairo_set_source_rgb(cairo.get(), 1, 1, 1);
  cairo_paint(cairo.get());
  for (const Shape& shape : scene.shapes)
    std::visit([&](const auto& part) { paint(cairo.get(), part); }, shape);

  const auto failed = [](cairo_status_t status) {
    return fail(status == CAIRO_STATUS_NO_MEMORY ? ErrorCode::no_memory : ErrorCode::io,
                std::string("Cairo: ") + cairo_status_to_string(status));
  };
  if (const cairo_status_t status = cairo_status(cairo.get()); status != CAIRO_STATUS_SUCCESS)
    return failed(status);
  std::string png;
  const auto append_bytes = [](void* target, const unsigned char* bytes, unsigned int size) {
    try {
      static_cast<std::string*>(target)->append(reinterpret_cast<const char*>(bytes), size);
    } catch (const std::exception&) {  // nothing may fly through a library in C
      return CAIRO_STATUS_NO_MEMORY;
    }
    return CAIRO_STATUS_SUCCESS;
  };
  if (const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), append_bytes, &png);
      status != CAIRO_STATUS_SUCCESS)
    return failed(status);
  return png;
}

}  // namespace weir::report
