// Charts that tests share, and a reader of the pictures they give.
#pragma once

#include <cmath>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "report/chart.hpp"

namespace weir::report::test {

inline Chart grouped() {
  return {
      .title = "Wall time of STREAM, 2 ranks",
      .x_label = "backend",
      .y_label = "wall time (s)",
      .categories = {"mpiio", "hdf5", "adios2-bp4"},
      .series = {{.name = "sequential", .values = {40, 44, 30}, .low = {39, 41, 29}, .high = {43, 49, 31}},
                 {.name = "consecutive", .values = {20, 22, 15}, .low = {19, 21, 14}, .high = {23, 24, 16}}}};
}

inline Chart stacked() {
  return {.title = "Where the time went",
          .y_label = "time (s)",
          .categories = {"mpiio", "hdf5"},
          .series = {
              {.name = "sequential", .parts = {{"compute", {10, 11}}, {"send", {0, 0}}, {"wait", {20, 22}}}},
              {.name = "consecutive", .parts = {{"compute", {12, 12}}, {"send", {1, 2}}, {"wait", {3, 4}}}},
              {.name = "hyperthread", .parts = {{"compute", {15, 14}}, {"send", {2, 3}}, {"wait", {9, 8}}}}}};
}

inline Chart scaling() {
  return {.title = "Weak scaling",
          .kind = Kind::lines,
          .x_label = "ranks",
          .y_label = "wall time / sequential",
          .x = {1, 2, 4, 8, 16},
          .series = {{.name = "consecutive",
                      .values = {0.6, 0.62, 0.7, 0.71, 0.75},
                      .low = {0.5, 0.6, 0.6, 0.7, 0.7},
                      .high = {0.7, 0.7, 0.8, 0.8, 0.9}},
                     {.name = "hyperthread", .values = {1.1, 1.2, NAN, 1.6, 1.9}}},
          .references = {{1, "as sequential"}}};
}

struct Bar {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

// The bars (and square markers) of a picture by what they stand for: "hdf5, sequential: 44.0".
inline std::map<std::string, Bar> bars_of(const std::string& svg) {
  static const std::regex rect(
      R"re(<rect x="([-0-9.]+)" y="([-0-9.]+)" width="([-0-9.]+)" height="([-0-9.]+)" fill="#[0-9a-f]{6}"><title>([^<]*)</title>)re");
  std::map<std::string, Bar> bars;
  for (std::sregex_iterator it(svg.begin(), svg.end(), rect), end; it != end; ++it) {
    bars[(*it)[5]] = {std::stod((*it)[1]), std::stod((*it)[2]), std::stod((*it)[3]), std::stod((*it)[4])};
  }
  return bars;
}

inline std::string svg_of(const Chart& chart) {
  auto svg = render_svg(chart);
  return svg ? *svg : "failed: " + svg.error().message();
}

}  // namespace weir::report::test
