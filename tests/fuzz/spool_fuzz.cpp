// A chunk in a collector's spool, as a power failure or a user may have left it: given out only if it is
// whole.
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "telemetry/spool.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fs = std::filesystem;
  using weir::telemetry::Spool;
  static const fs::path folder = (fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
                                 ("weir-spool-fuzz-" + std::to_string(::getpid()));
  static const int at_exit = std::atexit([] {
    std::error_code error;
    fs::remove_all(folder, error);
  });
  if (at_exit != 0) std::abort();
  fs::create_directories(folder);
  std::ofstream(folder / "00000000000000000001.chunk", std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  auto spool = Spool::open(folder, 1 << 20);
  if (!spool) std::abort();
  const auto taken = spool->oldest(1 << 20);
  if (taken && (taken->bytes.size() >= size || spool->broken_chunks() != 0)) std::abort();
  if (!taken && (!spool->empty() || spool->broken_chunks() != 1)) std::abort();
  if (taken) spool->remove_until(taken->last);
  return 0;
}
