#include "backends/bp_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace weir::backends::bp {

namespace {

constexpr std::size_t version_byte = 37;
constexpr std::size_t record_size = 64;  // of BP4's index

// Reads unsigned numbers one after another; past the end is remembered, not read.
class Reader {
 public:
  explicit Reader(std::string_view bytes, std::size_t at = 0)
      : bytes_(bytes), at_(std::min(at, bytes.size())) {}
  template <class T>
  T take() {
    T value{};
    if (bytes_.size() - at_ < sizeof(T)) {
      overrun_ = true;
      at_ = bytes_.size();
    } else {
      std::memcpy(&value, bytes_.data() + at_, sizeof(T));
      at_ += sizeof(T);
    }
    return value;
  }
  void skip(std::uint64_t length) { part(length); }
  std::string_view part(std::uint64_t length) {
    overrun_ = overrun_ || length > bytes_.size() - at_;
    const std::string_view taken = bytes_.substr(at_, overrun_ ? 0 : length);
    at_ = overrun_ ? bytes_.size() : at_ + length;
    return taken;
  }
  bool overrun() const { return overrun_; }
  bool at_end() const { return at_ == bytes_.size(); }
  std::size_t position() const { return at_; }

 private:
  std::string_view bytes_;
  std::size_t at_;
  bool overrun_ = false;
};

bool fits(std::uint64_t position, std::uint64_t length, std::uint64_t size) {
  return position <= size && length <= size - position;
}

// a + b and a * b; the largest number where that is too large.
std::uint64_t add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}
std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

// Bytes of an element, by BP4's number of its type; none for texts, whose values are in the metadata.
std::optional<std::uint64_t> bp4_size_of(std::uint8_t type) {
  switch (type) {
    case 0:   // int8
    case 50:  // uint8
    case 55:  // char
      return 1;
    case 1:   // int16
    case 51:  // uint16
      return 2;
    case 2:   // int32
    case 5:   // float
    case 52:  // uint32
      return 4;
    case 4:   // int64
    case 6:   // double
    case 10:  // complex
    case 54:  // uint64
      return 8;
    case 7:   // long double
    case 11:  // complex double
      return 16;
    default:
      return std::nullopt;
  }
}

// What the metadata says of one block: tagged values, of which each has its own length.
void follow_block(std::string_view description, std::uint64_t size, DataNeeded& needed) {
  enum Tag : std::uint8_t {
    value = 0,
    least = 1,
    most = 2,
    offset = 3,
    dimensions = 4,
    payload_offset = 6,
    file_index = 7,
    time_index = 8,
    statistics = 12
  };
  std::uint64_t file = 0;
  std::uint64_t bytes = size;  // of a single value, until there are dimensions
  std::optional<std::uint64_t> payload;
  std::uint8_t rank = 0;
  bool known = true;
  Reader reader(description);
  while (known && !reader.at_end()) {
    switch (reader.take<std::uint8_t>()) {
      case value:
      case least:
      case most:
        reader.skip(size);
        break;
      case offset:
        reader.skip(8);
        break;
      case dimensions:
        rank = reader.take<std::uint8_t>();
        reader.skip(2);
        for (int i = 0; i < rank; ++i) {
          bytes = multiply(bytes, reader.take<std::uint64_t>());
          reader.skip(16);  // of the whole array
        }
        break;
      case payload_offset:
        payload = reader.take<std::uint64_t>();
        break;
      case file_index:
        file = reader.take<std::uint32_t>();
        break;
      case time_index:
        reader.skip(4);
        break;
      case statistics: {
        const auto parts = reader.take<std::uint16_t>();
        reader.skip(2 * size);
        if (parts > 1) reader.skip(1 + 8 + 2U * rank + 2 * size * parts);
        break;
      }
      default:  // compressed
        known = false;
        break;
    }
  }
  if (known && payload && !reader.overrun()) {
    if (bytes > 0) needed.need(file, add(*payload, bytes));
  } else {
    needed.all_known = false;
  }
}

// The variables of one step.
Status follow_bp4_step(std::string_view variables, DataNeeded& needed) {
  const auto broken = [] { return damaged("md.0 ends in the middle of a variable"); };
  Reader list(variables);
  const auto count = list.take<std::uint32_t>();
  list.skip(8);
  for (std::uint32_t i = 0; i < count; ++i) {
    Reader variable(list.part(list.take<std::uint32_t>()));
    if (list.overrun()) return broken();
    variable.skip(4);
    for (int text = 0; text < 2; ++text) variable.skip(variable.take<std::uint16_t>());  // group, name
    variable.skip(2);
    const std::optional<std::uint64_t> size = bp4_size_of(variable.take<std::uint8_t>());
    const auto blocks = variable.take<std::uint64_t>();
    for (std::uint64_t block = 0; block < blocks; ++block) {
      variable.skip(1);
      const std::string_view description = variable.part(variable.take<std::uint32_t>());
      if (variable.overrun()) return broken();
      if (size) follow_block(description, *size, needed);
    }
  }
  return list.overrun() ? Status(broken()) : Status();
}

// One step of BP5: what the index says against the size of the metadata.
struct Bp5Step {
  std::uint64_t metadata_position = 0;
  std::uint64_t metadata_size = 0;
};

Status check_bp5_step(std::string_view metadata, const Bp5Step& step, std::uint64_t writers) {
  const auto longer = [] { return damaged("a step in md.0 is longer than the index says"); };
  if (!fits(step.metadata_position, step.metadata_size, metadata.size()))
    return damaged("md.idx points outside md.0");
  Reader reader(metadata.substr(step.metadata_position, step.metadata_size));
  reader.skip(8);
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < 2 * writers; ++i) {
    const auto length = reader.take<std::uint64_t>();
    if (reader.overrun() || length > step.metadata_size) return longer();
    total += length;
  }
  reader.skip(total);
  return reader.overrun() ? Status(longer()) : Status();
}

// A record of BP5's index about the writers: which data file each of them has.
Result<std::vector<std::uint64_t>> bp5_writers(Reader& record, std::size_t most) {
  const auto writers = record.take<std::uint64_t>();
  record.skip(8);
  const auto files = record.take<std::uint64_t>();
  if (writers > most || files > writers) return damaged("md.idx has a record that makes no sense");
  std::vector<std::uint64_t> file_of(writers);
  for (auto& file : file_of) {
    file = record.take<std::uint64_t>();
    if (file >= files) return damaged("md.idx names a data file that does not exist");
  }
  return file_of;
}

Status check_bp5_formats(std::string_view formats) {
  for (Reader reader(formats); !reader.at_end();) {
    const auto id = reader.take<std::uint64_t>();
    const auto info = reader.take<std::uint64_t>();
    reader.skip(id);
    reader.skip(info);
    if (reader.overrun()) return damaged("mmd.0 ends in the middle of a record");
  }
  return {};
}

}  // namespace

tl::unexpected<Failure> damaged(std::string cause) {
  return fail(ErrorCode::corrupt, std::move(cause),
              "the file is truncated or was changed after it was written");
}

void DataNeeded::need(std::uint64_t file, std::uint64_t end) {
  std::uint64_t& known = ends[file];
  known = std::max(known, end);
}

int version_in(std::string_view header) {
  return header.size() >= header_size && header.starts_with("ADIOS-BP v") ? header[version_byte] : 0;
}

Status check_header(std::string_view index, int version) {
  const int stated = version_in(index);
  if (stated == 0) return damaged("md.idx is not an index of ADIOS2");
  if (index[36] != 0) return fail(ErrorCode::unsupported, "the file was written on a big-endian machine");
  if (stated != version) return damaged(fmt::format("md.idx is not of BP version {}", version));
  const char active = index[version == 4 ? 38 : 39];
  if (active != 0) {
    return fail(
        ErrorCode::corrupt, "its writer has not closed this file",
        "if the writer is gone, 'adios2_deactivate_bp FILE' lets the steps be read that it completed");
  }
  return {};
}

Result<DataNeeded> follow_bp4(std::string_view index, std::string_view metadata) {
  if (index.size() <= header_size || index.size() % record_size != 0)
    return damaged("md.idx ends in the middle of a record");
  DataNeeded needed;
  for (std::size_t at = header_size; at < index.size(); at += record_size) {
    Reader record(index.substr(at, record_size));
    if (record.take<std::uint64_t>() != at / record_size) {
      return fail(ErrorCode::unsupported,
                  "a step has no data, and ADIOS2 cannot read BP4 files that have such steps");
    }
    if (record.take<std::uint64_t>() != 0)
      return damaged("md.idx names a metadata file that does not exist");
    std::uint64_t positions[4] = {};  // groups, variables, attributes, end: each lies behind the one before
    std::uint64_t before = 0;
    for (std::uint64_t& position : positions) {
      position = record.take<std::uint64_t>();
      if (position < before || position > metadata.size()) return damaged("md.idx points outside md.0");
      before = position;
    }
    WEIR_TRY(follow_bp4_step(metadata.substr(positions[1], positions[2] - positions[1]), needed));
  }
  return needed;
}

Result<DataNeeded> follow_bp5(std::string_view index, std::string_view metadata, std::string_view formats) {
  if (index.size() < header_size) return damaged("md.idx is not an index of ADIOS2");
  if (index[38] != 2)
    return fail(ErrorCode::unsupported, fmt::format("BP 5.{} is not known to this ADIOS2", +index[38]));
  DataNeeded needed;
  std::vector<std::uint64_t> file_of;  // by writer
  bool any_step = false;
  Reader records(index, header_size);
  while (!records.at_end()) {
    const auto kind = records.take<char>();
    const auto length = records.take<std::uint64_t>();
    const std::size_t start = records.position();
    if (kind == 'w') {
      WEIR_ASSIGN(file_of, bp5_writers(records, index.size()));
    } else if (kind == 's') {
      Bp5Step step;
      step.metadata_position = records.take<std::uint64_t>();
      step.metadata_size = records.take<std::uint64_t>();
      const auto flushes = records.take<std::uint64_t>();
      if (flushes > index.size() || file_of.empty())
        return damaged("md.idx has a record that makes no sense");
      WEIR_TRY(check_bp5_step(metadata, step, file_of.size()));
      for (const std::uint64_t file : file_of) {
        needed.need(file, 0);
        for (std::uint64_t flush = 0; flush < flushes && !records.overrun(); ++flush) {
          const auto at = records.take<std::uint64_t>();
          const auto count = records.take<std::uint64_t>();
          // A part without bytes may stand at a position that alignment has moved beyond the end.
          if (count > 0) needed.need(file, add(at, count));
        }
        records.skip(8);
      }
      any_step = true;
    } else {
      return damaged("md.idx has a record of an unknown kind");
    }
    if (records.overrun()) return damaged("md.idx ends in the middle of a record");
    if (records.position() - start != length) return damaged("md.idx has a record of the wrong length");
  }
  if (!any_step) return damaged("md.idx has no steps");
  WEIR_TRY(check_bp5_formats(formats));
  return needed;
}

}  // namespace weir::backends::bp
