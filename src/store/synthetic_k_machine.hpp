// Numbers and names of the synthetic K computer, shared by what makes its nodes, jobs and counters.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::store::k {

inline constexpr int xs = 24, ys = 18, compute_zs = 16, as = 2, bs = 3, cs = 2;
inline constexpr int cabinets = xs * ys;
inline constexpr int io_of_a_cabinet = as * bs * cs;                       // 12
inline constexpr int compute_of_a_cabinet = compute_zs * io_of_a_cabinet;  // 192
inline constexpr int targets_of_a_server = 2;
inline constexpr double link_bytes_per_second = 5e9;
inline constexpr double clock_hz = 312.5e6;
inline constexpr std::array<std::string_view, 10> links = {"X+", "X-", "Y+", "Y-", "Z+",
                                                           "Z-", "A",  "B+", "B-", "C"};

constexpr int cabinet_of(int x, int y) {
  return x * ys + y;
}

struct IoPlace {
  int cabinet = 0, a = 0, b = 0, c = 0;
  constexpr int number() const { return cabinet * io_of_a_cabinet + (a * bs + b) * cs + c; }
  constexpr int x() const { return cabinet / ys; }
  constexpr int y() const { return cabinet % ys; }
  constexpr bool local() const { return c == 0; }  // a local-I/O node, with OSTs
  constexpr int first_target() const { return ((cabinet * as + a) * bs + b) * targets_of_a_server; }
};
constexpr IoPlace io_place(int number) {
  const int within = number % io_of_a_cabinet;
  return {number / io_of_a_cabinet, within / (bs * cs), within / cs % bs, within % cs};
}

inline std::string compute_name(int cabinet, int z, int a, int b, int c) {
  return fmt::format("c{:05}",
                     cabinet * compute_of_a_cabinet + (z - 1) * io_of_a_cabinet + (a * bs + b) * cs + c);
}
inline std::string io_name(int number) {
  return fmt::format("io{:04}", number);
}
inline std::string target_name(int number) {
  return fmt::format("lfs-OST{:04x}", number);
}

// A number without pattern, from what it is asked for: the same each time.
constexpr std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
constexpr std::uint64_t scramble(std::uint64_t a, std::uint64_t b) {
  return scramble(scramble(a) ^ b);
}
constexpr double unit(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}  // 0 to 1

}  // namespace weir::store::k
