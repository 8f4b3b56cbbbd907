#include "telemetry/compression.hpp"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace weir::telemetry {

namespace {

constexpr int gzip_window = 15 + 16;  // zlib's way to say: gzip, not zlib
constexpr std::size_t step = std::size_t{256} << 10U;

tl::unexpected<Failure> too_much(std::uint64_t most) {
  return fail(ErrorCode::corrupt, fmt::format("unpacks to more than {} bytes", most));
}

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int outcome = deflate(&stream, Z_FINISH);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  if (outcome != Z_STREAM_END) throw std::logic_error("gzip needed more room than it said");
  return packed;
}

Result<std::string> gunzip(std::string_view bytes, std::uint64_t most) {
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window) != Z_OK) return fail(ErrorCode::no_memory, "out of memory");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ending(&stream, inflateEnd);
  std::string result;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  bool inside = false;  // of a piece
  while (stream.avail_in > 0 || inside) {
    const std::size_t had = result.size();
    if (had > most) return too_much(most);
    result.resize(had + std::min<std::uint64_t>(step, most + 1 - had));
    stream.next_out = reinterpret_cast<Bytef*>(result.data() + had);
    stream.avail_out = static_cast<uInt>(result.size() - had);
    const int outcome = inflate(&stream, Z_NO_FLUSH);
    const bool progress = stream.avail_out < result.size() - had;
    result.resize(result.size() - stream.avail_out);
    inside = true;
    if (outcome == Z_STREAM_END) {
      inside = false;
      inflateReset(&stream);
    } else if (outcome != Z_OK) {
      return fail(ErrorCode::corrupt,
                  outcome == Z_BUF_ERROR ? "the gzip data ends too early" : "not valid gzip data");
    } else if (!progress && stream.avail_in == 0) {
      return fail(ErrorCode::corrupt, "the gzip data ends too early");
    }
  }
  if (result.size() > most) return too_much(most);
  return result;
}

Result<std::string> unzstd(std::string_view bytes, std::uint64_t most) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                             ZSTD_freeDStream);
  if (!stream) return fail(ErrorCode::no_memory, "out of memory");
  // The window is memory too, and is asked for by what came in.
  ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, 27);
  std::string result;
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  std::size_t missing = 0;
  while (input.pos < input.size || missing != 0) {
    const std::size_t had = result.size();
    if (had > most) return too_much(most);
    result.resize(had + std::min<std::uint64_t>(step, most + 1 - had));
    ZSTD_outBuffer output{result.data() + had, result.size() - had, 0};
    const std::size_t before = input.pos;
    missing = ZSTD_decompressStream(stream.get(), &output, &input);
    if (ZSTD_isError(missing) != 0)
      return fail(ErrorCode::corrupt, fmt::format("not valid zstd data: {}", ZSTD_getErrorName(missing)));
    result.resize(had + output.pos);
    if (missing != 0 && output.pos == 0 && input.pos == before)
      return fail(ErrorCode::corrupt, "the zstd data ends too early");
  }
  if (result.size() > most) return too_much(most);
  return result;
}

}  // namespace

std::string_view to_string(Compression compression) {
  switch (compression) {
    case Compression::none:
      return "text";  // the protocol's word for it
    case Compression::gzip:
      return "gzip";
    case Compression::zstd:
      return "zstd";
  }
  throw std::logic_error("a compression that does not exist");
}

Result<Compression> parse_compression(std::string_view name) {
  for (const Compression known : {Compression::none, Compression::gzip, Compression::zstd}) {
    if (name == to_string(known)) return known;
  }
  if (name == "none") return Compression::none;
  return fail(ErrorCode::invalid_argument, fmt::format("unknown compression '{}'{}", name.substr(0, 40),
                                                       suggest(name, {"none", "gzip", "zstd"})));
}

std::string compress(std::string_view bytes, Compression compression) {
  if (compression == Compression::none) return std::string(bytes);
  if (compression == Compression::gzip) return gzip(bytes);
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();
  packed.resize(size);
  return packed;
}

Result<std::string> decompress(std::string_view bytes, Compression compression, std::uint64_t most) {
  if (bytes.size() > UINT32_MAX) return fail(ErrorCode::corrupt, "more than 4 GiB in one piece");
  if (compression == Compression::gzip) return gunzip(bytes, most);
  if (compression == Compression::zstd) return unzstd(bytes, most);
  if (bytes.size() > most) return too_much(most);
  return std::string(bytes);
}

}  // namespace weir::telemetry
