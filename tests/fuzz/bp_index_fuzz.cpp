// The metadata of a BP folder: whatever is in it, an end or a failure. The first byte is the version and how
// the rest is shared out between md.idx, md.0 and mmd.0.
#include "backends/bp_index.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t cut = bytes.size() * data[1] / 256;
  const std::string_view index = bytes.substr(0, cut);
  const std::string_view rest = bytes.substr(cut);
  using namespace weir::backends::bp;
  if (data[0] % 2 == 0) {
    (void)check_header(index, 4);
    (void)follow_bp4(index, rest);
  } else {
    (void)check_header(index, 5);
    (void)follow_bp5(index, rest.substr(0, rest.size() / 2), rest.substr(rest.size() / 2));
  }
  return 0;
}
