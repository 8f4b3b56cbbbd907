// A recording from outside: no crash, no memory without bound; what is accepted passes check(), answers
// questions, and survives being written again.
#include <xxhash.h>

#include <cstdlib>
#include <string>

#include "pattern/application_matrix.hpp"
#include "pattern/pattern_file.hpp"
#include "pattern/shuffle.hpp"

using namespace weir::pattern;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t allowance = 1 << 16;
  (void)decode({reinterpret_cast<const char*>(data), size}, allowance);
  // Past the checksum, which no fuzzer guesses.
  std::string bytes = "WEIRPATT";
  const auto fixed = [&bytes](std::uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>(value >> shift));
  };
  fixed(1);
  fixed(size);
  fixed(XXH3_64bits(data, size));
  bytes.append(reinterpret_cast<const char*>(data), size);
  const auto pattern = decode(bytes, allowance);
  if (!pattern) return 0;
  if (!pattern->check()) std::abort();
  (void)summary(*pattern);
  const auto again = decode(encode(*pattern), allowance + size * 8);
  if (!again || !(*again == *pattern)) std::abort();
  std::uint64_t work = 0;
  for (const FilePattern& file : pattern->files) {
    for (const AccessTable* table : {&file.reads, &file.writes}) {
      for (const Use& use : table->uses)
        work += std::min<std::uint64_t>(pieces(pattern->shapes[use.shape]), 1 << 20);
      if (pattern->ranks > 4096 || table->uses.size() > 4096) return 0;
      if (!shuffle(*pattern, *table, even_domains(*pattern, *table, 3)).check()) std::abort();
    }
  }
  // The sweep is bounded by pieces where nothing is regular.
  if (work < 1 << 16 && !application_matrix(*pattern).check()) std::abort();
  return 0;
}
