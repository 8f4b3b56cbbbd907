// Calls of a recording as they came, from outside: no crash, no memory without bound; what is accepted passes
// check().
#include <xxhash.h>

#include <cstdlib>
#include <string>

#include "pattern/pattern_file.hpp"
#include "recording/recording_file.hpp"

using namespace weir;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t allowance = 1 << 16;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  (void)recording::decode(input, allowance);
  // Past the checksums, which no fuzzer guesses: first as a body, then as the words of two ranks.
  const auto whole = [](std::string_view words, const std::string& body) {
    return pattern::PackedHeader::of(recording::version_with_parts, body).text() + std::string(words) + body;
  };
  (void)recording::decode(whole({}, std::string(input)), allowance);

  if (size < 1) return 0;
  const std::string_view words = input.substr(1, (size - 1) / 8 * 8);
  const std::uint64_t first = data[0] % (words.size() / 8 + 1) * 8;
  recording::Index index{pattern::Pattern(3), {}};
  index.pattern.add_file("file");
  for (const auto& [rank, part] : {std::pair{0U, words.substr(0, first)}, {2U, words.substr(first)}}) {
    recording::Part of_rank{.rank = rank,
                            .file = "file",
                            .kinds = {},
                            .words = part.size() / 8,
                            .checksum = XXH3_64bits(part.data(), part.size())};
    for (std::uint32_t kind = 0; kind < 4; ++kind)
      of_rank.kinds.push_back(
          {kind, {.writes = kind % 2 == 0, .displacement = kind * 100, .bytes = kind * 7}});
    index.parts.push_back(of_rank);
  }
  const auto loaded = recording::decode(whole(words, recording::encode(index)), allowance);
  if (!loaded) return 0;
  if (!loaded->pattern.check()) std::abort();
  if (loaded->lost > loaded->worked_out) std::abort();
  if (!recording::decode(pattern::encode(loaded->pattern), allowance + size * 8)) std::abort();
  return 0;
}
