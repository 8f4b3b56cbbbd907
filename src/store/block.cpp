#include "store/block.hpp"

#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "store/bytes.hpp"

namespace weir::store {

namespace {

constexpr std::string_view magic = "WB1";
constexpr int planes_of_a_block = 8;
constexpr std::size_t checksum_size = 8;
enum PlaneForm : std::uint64_t { zeros = 0, raw = 1, packed = 2 };

std::uint64_t checksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

// Contexts are costly to make, so each thread keeps its own.
ZSTD_CCtx* compressor() {
  thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                                  &ZSTD_freeCCtx);
  return context.get();
}
ZSTD_DCtx* decompressor() {
  thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                                  &ZSTD_freeDCtx);
  return context.get();
}

void put_times(std::string& bytes, std::span<const std::int64_t> times) {
  put_number(bytes, times.size());
  std::uint64_t before = 0, step = 0;
  for (const std::int64_t time : times) {
    const std::uint64_t now = static_cast<std::uint64_t>(time);
    put_number(bytes, zigzag((now - before) - step));
    step = now - before;
    before = now;
  }
}

// The differences of a column, folded; the common divisor is taken out. Byte width of the largest.
struct Packed {
  std::uint64_t divisor = 1;
  std::uint8_t width = 0;
};

Packed differences(const ColumnView& column, std::uint64_t* out) {
  const std::size_t count = column.values.size();
  std::uint64_t bits = 0, divisor = 0, before = column.values[0];
  for (std::size_t i = 1; i < count; ++i) {
    const std::uint64_t now = column.values[i];
    const std::uint64_t difference = now - before;
    out[i - 1] = difference;
    if (divisor != 1)
      divisor = std::gcd(divisor, static_cast<std::int64_t>(difference) < 0 ? 0 - difference : difference);
    before = now;
  }
  if (divisor == 0) divisor = 1;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const bool negative = static_cast<std::int64_t>(out[i]) < 0;
    std::uint64_t size = negative ? 0 - out[i] : out[i];
    if (divisor > 1) size /= divisor;
    out[i] = zigzag(negative ? 0 - size : size);
    bits |= out[i];
  }
  return {divisor, static_cast<std::uint8_t>((std::bit_width(bits) + 7) / 8)};
}

void put_plane(std::string& bytes, std::string_view plane, std::string& scratch) {
  if (std::all_of(plane.begin(), plane.end(), [](char byte) { return byte == 0; })) {
    put_number(bytes, PlaneForm::zeros);
    return;
  }
  scratch.resize(ZSTD_compressBound(plane.size()));
  const std::size_t size =
      ZSTD_compressCCtx(compressor(), scratch.data(), scratch.size(), plane.data(), plane.size(), 1);
  if (ZSTD_isError(size) || size >= plane.size()) {
    put_number(bytes, PlaneForm::raw);
    bytes += plane;
    return;
  }
  put_number(bytes, PlaneForm::packed);
  put_number(bytes, size);
  bytes.append(scratch.data(), size);
}

}  // namespace

std::string encode_block(std::span<const ColumnView> columns) {
  std::size_t samples = 0, longest = 0;
  std::int64_t series_before = 0;
  for (const ColumnView& column : columns) {
    if (column.times.empty() || column.times.size() != column.values.size() || column.series <= series_before)
      throw std::logic_error("encode_block: columns must be ascending, none empty");
    series_before = column.series;
    samples += column.times.size();
    longest = std::max(longest, column.times.size());
  }
  if (samples > most_samples_in_block) throw std::logic_error("encode_block: too many samples");

  std::string times, directory;
  std::array<std::string, planes_of_a_block> planes;
  std::vector<std::uint64_t> scratch(longest);
  std::uint64_t time_columns = 0;
  std::span<const std::int64_t> times_before;
  series_before = 0;
  for (const ColumnView& column : columns) {
    const bool shared = times_before.size() == column.times.size() &&
                        (times_before.data() == column.times.data() ||
                         std::equal(times_before.begin(), times_before.end(), column.times.begin()));
    if (!shared) {
      put_times(times, column.times);
      times_before = column.times;
      ++time_columns;
    }
    const Packed packed = differences(column, scratch.data());
    const std::size_t count = column.values.size() - 1;
    for (int p = 0; p < packed.width; ++p) {
      std::string& plane = planes[p];
      const std::size_t at = plane.size();
      plane.resize(at + count);
      for (std::size_t i = 0; i < count; ++i) plane[at + i] = static_cast<char>(scratch[i] >> (8 * p));
    }
    put_number(directory, static_cast<std::uint64_t>(column.series - series_before));
    put_number(directory, time_columns - 1);
    put_number(directory, column.values[0]);
    put_number(directory, packed.divisor);
    put_number(directory, packed.width);
    series_before = column.series;
  }

  std::string bytes(magic);
  put_number(bytes, columns.size());
  put_number(bytes, time_columns);
  bytes += times;
  bytes += directory;
  std::string packed;
  for (const std::string& plane : planes) put_plane(bytes, plane, packed);
  const std::uint64_t sum = checksum(bytes);
  for (std::size_t i = 0; i < checksum_size; ++i) bytes.push_back(static_cast<char>(sum >> (8 * i)));
  return bytes;
}

Result<Block> Block::decode(std::string_view bytes) {
  const auto corrupt = [](const char* what) {
    return fail(ErrorCode::corrupt, std::string("a block of samples is damaged: ") + what,
                "run `weir store check`, and restore the store from a copy");
  };
  if (bytes.size() < magic.size() + checksum_size || !bytes.starts_with(magic))
    return corrupt("foreign bytes");
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < checksum_size; ++i)
    sum |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[bytes.size() - checksum_size + i]))
           << (8 * i);
  bytes.remove_suffix(checksum_size);
  if (sum != checksum(bytes)) return corrupt("wrong checksum");

  NumberReader reader(bytes.substr(magic.size()));
  const std::uint64_t column_count = reader.number(), time_count = reader.number();
  if (column_count > reader.left() || time_count > column_count) return corrupt("wrong count of columns");
  Block block;
  std::uint64_t samples = 0;
  for (std::uint64_t t = 0; t < time_count; ++t) {
    const std::uint64_t count = reader.number();
    if (count == 0 || count > reader.left()) return corrupt("wrong count of times");
    std::vector<std::int64_t>& times = block.times_.emplace_back();
    times.reserve(count);
    std::uint64_t now = 0, step = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      step += unzigzag(reader.number());
      now += step;
      times.push_back(static_cast<std::int64_t>(now));
      if (i > 0 && times[i] <= times[i - 1]) return corrupt("times that do not ascend");
    }
  }
  std::array<std::size_t, planes_of_a_block> sizes{};
  block.columns_.reserve(column_count);
  std::uint64_t series = 0;
  for (std::uint64_t c = 0; c < column_count; ++c) {
    Column column;
    const std::uint64_t step = reader.number(), time_column = reader.number();
    column.first = reader.number();
    column.divisor = reader.number();
    const std::uint64_t width = reader.number();
    series += step;
    if (reader.failed() || step == 0 || static_cast<std::int64_t>(series) <= 0 || time_column >= time_count ||
        width > planes_of_a_block || column.divisor == 0)
      return corrupt("wrong column");
    column.series = static_cast<std::int64_t>(series);
    column.time_column = static_cast<std::uint32_t>(time_column);
    column.width = static_cast<std::uint8_t>(width);
    const std::size_t count = block.times_[time_column].size();
    samples += count;
    if (samples > most_samples_in_block) return corrupt("more samples than a block may hold");
    for (int p = 0; p < column.width; ++p) {
      column.start[p] = sizes[p];
      sizes[p] += count - 1;
    }
    block.columns_.push_back(column);
  }
  for (const std::size_t size : sizes) {
    std::string& plane = block.planes_.emplace_back();
    const std::uint64_t form = reader.number();
    if (form == PlaneForm::zeros) {
      plane.assign(size, 0);
    } else if (form == PlaneForm::raw) {
      plane = reader.take(size);
    } else {
      const std::string_view packed = reader.take(reader.number());
      plane.resize(size);
      if (form != PlaneForm::packed ||
          ZSTD_decompressDCtx(decompressor(), plane.data(), size, packed.data(), packed.size()) != size)
        return corrupt("wrong plane");
    }
    if (reader.failed() || plane.size() != size) return corrupt("it ends too early");
  }
  if (reader.left() != 0) return corrupt("bytes behind its end");
  return block;
}

void Block::values(const Column& column, std::vector<std::uint64_t>& values) const {
  const std::size_t count = times_[column.time_column].size();
  values.assign(count, 0);
  for (int p = 0; p < column.width; ++p) {
    const char* plane = planes_[p].data() + column.start[p];
    for (std::size_t i = 1; i < count; ++i)
      values[i] |= static_cast<std::uint64_t>(static_cast<unsigned char>(plane[i - 1])) << (8 * p);
  }
  values[0] = column.first;
  for (std::size_t i = 1; i < count; ++i) values[i] = values[i - 1] + unzigzag(values[i]) * column.divisor;
}

}  // namespace weir::store
