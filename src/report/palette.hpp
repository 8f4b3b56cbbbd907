// Colours that people with any colour vision tell apart: those of Okabe and Ito, and lighter ones of them for
// more.
#pragma once

#include "report/scene.hpp"

namespace weir::report {

inline constexpr Colour ink = {34, 34, 34};
inline constexpr Colour faint_ink = {95, 95, 95};
inline constexpr Colour axis_colour = {110, 110, 110};
inline constexpr Colour grid_colour = {224, 224, 224};

inline Colour palette(std::size_t index) {
  constexpr std::array<Colour, 8> colours = {{{0, 114, 178},
                                              {230, 159, 0},
                                              {0, 158, 115},
                                              {204, 121, 167},
                                              {213, 94, 0},
                                              {86, 180, 233},
                                              {240, 228, 66},
                                              {90, 90, 90}}};
  const Colour colour = colours[index % colours.size()];
  if (index / colours.size() % 2 == 0) return colour;
  const auto lighter = [](std::uint8_t value) { return static_cast<std::uint8_t>((value + 255) / 2); };
  return {lighter(colour.red), lighter(colour.green), lighter(colour.blue)};
}

}  // namespace weir::report
