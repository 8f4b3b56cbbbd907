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
  if (size < 2) return 0;
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string text(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (data[0] % 2 == 0) {
    std::ofstream(folder / "00000000000000000001.chunk", std::ios::binary) << text;
  } else {
    // A good one, of which then a bit is turned: without that the fuzzer would have to guess a checksum.
    {
      auto spool = Spool::open(folder, 1 << 22);
      if (!spool || !spool->add(text, 7)) std::abort();
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".chunk" || data[0] % 4 == 1) continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      const auto at = static_cast<std::streamoff>(data[1] % fs::file_size(entry.path()));
      file.seekg(at);
      const int old = file.get();
      file.seekp(at);
      file.put(static_cast<char>(old ^ (1 << (data[0] / 4 % 8))));
    }
  }
  auto spool = Spool::open(folder, 1 << 22);
  if (!spool) std::abort();
  const auto taken = spool->oldest(1 << 22);
  // What is given out is what was put in.
  if (taken && (spool->broken_chunks() != 0 || (data[0] % 2 == 1 && taken->bytes != text))) std::abort();
  if (!taken && (!spool->empty() || spool->broken_chunks() != 1 || data[0] % 4 == 1)) std::abort();
  return 0;
}
