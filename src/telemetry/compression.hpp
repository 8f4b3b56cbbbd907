// gzip and zstd of whole chunks, with a bound on what comes out: a few bytes can unpack to gigabytes.
//
// Threads: reentrant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace weir::telemetry {

enum class Compression : std::uint8_t { none, gzip, zstd };

std::string_view to_string(Compression compression);  // as the option `compressed` names it
Result<Compression> parse_compression(std::string_view name);

std::string compress(std::string_view bytes, Compression compression);

// Several compressed pieces one after another unpack to their contents one after another, as fluentd appends
// to a chunk. More than `most` bytes is a failure.
Result<std::string> decompress(std::string_view bytes, Compression compression, std::uint64_t most);

}  // namespace weir::telemetry
