// The extended attribute of Lustre files: lov_user_md_v1, _v3 and lov_comp_md_v1, as lustre_user.h lays them
// out.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "aggregation/striping.hpp"

namespace weir::aggregation {

namespace {

constexpr std::uint32_t magic_v1 = 0x0BD10BD0;
constexpr std::uint32_t magic_v3 = 0x0BD30BD0;
constexpr std::uint32_t magic_specific = 0x0BD50BD0;  // as v3, with targets that the user chose
constexpr std::uint32_t magic_composite = 0x0BD60BD0;
constexpr std::uint32_t pattern_on_metadata_server = 0x100;
constexpr std::uint32_t component_stale = 0x1;

constexpr std::size_t header_v1 = 32;
constexpr std::size_t header_v3 = 48;  // the name of a pool follows
constexpr std::size_t object_size = 24;
constexpr std::size_t header_composite = 32;
constexpr std::size_t entry_size = 48;

tl::unexpected<Failure> corrupt(std::string cause) {
  return fail(ErrorCode::corrupt, "the Lustre layout of the file (lustre.lov) " + std::move(cause));
}

// Numbers of the attribute, in the byte order its magic number was found in.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, bool swapped) : bytes_(bytes), swapped_(swapped) {}

  std::size_t size() const { return bytes_.size(); }
  bool swapped() const { return swapped_; }
  std::span<const std::byte> part(std::size_t at, std::size_t length) const {
    return bytes_.subspan(at, length);
  }

  // REQUIRES: it is there.
  template <class T>
  T number(std::size_t at) const {
    static_assert(std::is_unsigned_v<T>);
    T value = 0;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    if (!swapped_) return value;
    T reversed = 0;
    for (std::size_t i = 0; i < sizeof value; ++i) {
      reversed = static_cast<T>(static_cast<std::uint64_t>(reversed) << 8U | (value & 0xFFU));
      value = static_cast<T>(static_cast<std::uint64_t>(value) >> 8U);
    }
    return reversed;
  }

 private:
  std::span<const std::byte> bytes_;
  bool swapped_;
};

bool is_magic(std::uint32_t word) {
  return word == magic_v1 || word == magic_v3 || word == magic_specific || word == magic_composite;
}

Result<Reader> reader_of(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(std::uint32_t)) return corrupt(fmt::format("has {} bytes", bytes.size()));
  for (const bool swapped : {false, true}) {
    const Reader reader(bytes, swapped);
    if (is_magic(reader.number<std::uint32_t>(0))) return reader;
  }
  return corrupt(fmt::format("begins with {:#010x}, which is no version this program knows",
                             Reader(bytes, false).number<std::uint32_t>(0)));
}

Result<Striping> parse_plain(const Reader& reader) {
  const std::size_t header = reader.number<std::uint32_t>(0) == magic_v1 ? header_v1 : header_v3;
  if (reader.size() < header) return corrupt(fmt::format("is cut off after {} bytes", reader.size()));
  const auto pattern = reader.number<std::uint32_t>(4);
  const auto unit = reader.number<std::uint32_t>(24);
  const auto count = reader.number<std::uint16_t>(28);
  if (unit == 0) return corrupt("has stripes of no bytes");
  Striping striping{.unit = unit};
  if ((pattern & pattern_on_metadata_server) != 0 || count == 0) return striping;
  const std::size_t room = (reader.size() - header) / object_size;
  if (count == UINT16_MAX) {  // "all targets", of a layout without objects as yet
    if (room == 0)
      return fail(ErrorCode::unsupported, "the Lustre layout of the file says all targets, not how many");
    striping.factor = static_cast<std::uint32_t>(std::min<std::size_t>(room, UINT16_MAX));
  } else {
    striping.factor = count;
    if (room == 0) return striping;  // released, or not written to as yet
    if (room < count) return corrupt(fmt::format("names {} of its {} targets", room, count));
  }
  for (std::uint32_t i = 0; i < striping.factor; ++i)
    striping.targets.push_back(reader.number<std::uint32_t>(header + i * object_size + 20));
  return striping;
}

Result<Striping> parse_component(const Reader& reader, std::size_t number) {
  const std::size_t entry = header_composite + number * entry_size;
  const auto offset = reader.number<std::uint32_t>(entry + 24);
  const auto size = reader.number<std::uint32_t>(entry + 28);
  if (offset > reader.size() || size > reader.size() - offset || size < header_v1)
    return corrupt(fmt::format("has component {} outside of itself", number));
  const Reader inner(reader.part(offset, size), reader.swapped());
  const auto magic = inner.number<std::uint32_t>(0);
  if (!is_magic(magic) || magic == magic_composite)
    return corrupt(fmt::format("has a component {} of unknown kind", number));
  return parse_plain(inner);
}

Result<std::vector<StripedPart>> parse_composite(const Reader& reader) {
  if (reader.size() < header_composite)
    return corrupt(fmt::format("is cut off after {} bytes", reader.size()));
  const auto entries = reader.number<std::uint16_t>(14);
  if (entries == 0) return corrupt("has no components");
  if (reader.size() - header_composite < entries * entry_size)
    return corrupt("is cut off within its components");
  std::vector<StripedPart> parts;
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = header_composite + i * entry_size;
    const auto begin = reader.number<std::uint64_t>(at + 8);
    const auto end = reader.number<std::uint64_t>(at + 16);
    if ((reader.number<std::uint32_t>(at + 4) & component_stale) != 0 || begin >= end) continue;
    auto striping = parse_component(reader, i);
    if (!striping && striping.error().code != ErrorCode::unsupported)
      return tl::make_unexpected(striping.error());
    parts.push_back({.begin = begin, .end = end, .striping = striping ? std::move(*striping) : Striping()});
  }
  if (parts.empty()) return corrupt("has no component that could hold data");
  return parts;
}

}  // namespace

Result<std::vector<StripedPart>> parse_lov(std::span<const std::byte> attribute) {
  WEIR_ASSIGN(const Reader reader, reader_of(attribute));
  if (reader.number<std::uint32_t>(0) == magic_composite) return parse_composite(reader);
  WEIR_ASSIGN(Striping striping, parse_plain(reader));
  return std::vector<StripedPart>{{.striping = std::move(striping)}};
}

}  // namespace weir::aggregation
