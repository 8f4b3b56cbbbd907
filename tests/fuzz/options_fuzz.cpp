// Options and quantities as a user types them.
#include "core/options.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<weir::Option> declared = {
      {.name = "i", .kind = weir::Option::Kind::integer, .fallback = "0", .help = "", .least = -5, .most = 5},
      {.name = "b", .kind = weir::Option::Kind::bytes, .fallback = "1K", .help = ""},
      {.name = "s", .kind = weir::Option::Kind::seconds, .fallback = "0", .help = ""},
      {.name = "w", .kind = weir::Option::Kind::word, .fallback = "x", .help = "", .words = {"x", "y"}},
      {.name = "f", .kind = weir::Option::Kind::boolean, .fallback = "no", .help = ""}};
  if (const auto map = weir::split_options(text)) {
    if (const auto options = weir::parse_options("fuzz", declared, *map)) {
      if (options->integer("i") < -5 || options->integer("i") > 5 || options->integer("b") < 0)
        __builtin_trap();
      (void)options->seconds("s");
    }
  }
  (void)weir::parse_bytes(text);
  (void)weir::parse_seconds(text);
  return 0;
}
