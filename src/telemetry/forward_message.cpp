#include "telemetry/forward_message.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "telemetry/msgpack.hpp"

namespace weir::telemetry {

namespace {

using Type = Token::Type;

constexpr std::size_t longest_tag = 1024;
constexpr std::size_t longest_chunk = 1024;
constexpr std::uint64_t last_second = static_cast<std::uint64_t>(INT64_MAX / 1'000'000'000);

tl::unexpected<Failure> no_message(std::string_view what) {
  return fail(ErrorCode::corrupt, fmt::format("not a message of the forward protocol: {}", what));
}

std::optional<Nanoseconds> time_of(const Token& token) {
  if (token.type == Type::number && token.number < last_second)
    return static_cast<Nanoseconds>(token.number) * 1'000'000'000;
  if (token.type == Type::real && token.real >= 0 && token.real < static_cast<double>(last_second))
    return static_cast<Nanoseconds>(std::llround(token.real * 1e6)) * 1000;
  if (token.type == Type::extension && token.extension_type == 0 && token.bytes.size() == 8) {
    std::uint64_t both = 0;
    for (const char c : token.bytes) both = both << 8U | static_cast<unsigned char>(c);
    return static_cast<Nanoseconds>((both >> 32U) * 1'000'000'000 + (both & UINT32_MAX));
  }
  return std::nullopt;
}

// A map of which only the plain values are of interest. False: the bytes break off.
bool read_record(MsgPackReader& reader, std::uint64_t pairs, RecordBuilder& builder) {
  Token key;
  Token value;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    if (!reader.next(key)) return false;
    if (!key.is_bytes()) {  // legal, but no name of anything
      if (key.type == Type::array || key.type == Type::map || !reader.skip()) return false;
      continue;
    }
    MsgPackReader at_value = reader;
    if (!reader.next(value)) return false;
    switch (value.type) {
      case Type::text:
      case Type::binary:
        builder.text(key.bytes, value.bytes);
        break;
      case Type::number:
        builder.number(key.bytes, value.number);
        break;
      case Type::negative:
        builder.negative(key.bytes, value.negative);
        break;
      case Type::real:
        builder.real(key.bytes, value.real);
        break;
      case Type::array:
      case Type::map:
        reader = at_value;
        if (!reader.skip()) return false;
        [[fallthrough]];
      case Type::nil:
      case Type::boolean:
      case Type::extension:
        builder.other(key.bytes);
        break;
    }
  }
  return true;
}

struct Reading {
  MsgPackReader& reader;
  RecordBuilder& builder;
  Batch& batch;
  ForwardMessage& message;

  void reject(std::string what) {
    ++message.tally.rejected;
    if (message.first_rejected.empty()) message.first_rejected = std::move(what);
  }

  // The record that comes next, for an event of this time. False: the bytes break off.
  bool record(const Token& time_token) {
    const auto time = time_of(time_token);
    Token head;
    MsgPackReader at_record = reader;
    if (!reader.next(head)) return false;
    if (!time || head.type != Type::map) {
      reader = at_record;
      if (!reader.skip()) return false;
      reject(time ? "the record is not a map" : "the time is neither EventTime nor seconds since 1970");
      return true;
    }
    builder.begin(*time);
    if (!read_record(reader, head.number, builder)) return false;
    if (const Status added = builder.finish(batch, message.tally); !added && message.first_rejected.empty())
      message.first_rejected = added.error().cause;
    return true;
  }

  // [time, record]
  bool entry() {
    Token token;
    MsgPackReader at_entry = reader;
    if (!reader.next(token)) return false;
    if (token.type != Type::array || token.number != 2) {
      reader = at_entry;
      if (!reader.skip()) return false;
      reject("an entry is not [time, record]");
      return true;
    }
    if (!reader.next(token)) return false;
    if (token.type == Type::array || token.type == Type::map) return false;
    return record(token);
  }
};

struct Option {
  std::string chunk;
  std::string compressed;
};

// The option map, nil, or nothing.
Result<Option> read_option(MsgPackReader& reader, bool present) {
  Option option;
  if (!present) return option;
  Token token;
  if (!reader.next(token)) return no_message("it ends before its option");
  if (token.type == Type::nil) return option;
  if (token.type != Type::map) return no_message("its option is not a map");
  const std::uint64_t pairs = token.number;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    Token key;
    Token value;
    if (!reader.next(key) || !key.is_bytes()) return no_message("a key of its option is not a text");
    MsgPackReader at_value = reader;
    if (!reader.next(value)) return no_message("it ends inside its option");
    if (value.type == Type::array || value.type == Type::map) {
      reader = at_value;
      if (!reader.skip()) return no_message("it ends inside its option");
    } else if (value.is_bytes() && key.bytes == "chunk") {
      if (value.bytes.size() > longest_chunk) return no_message("its chunk id is longer than 1024 bytes");
      option.chunk = value.bytes;
    } else if (value.is_bytes() && key.bytes == "compressed") {
      option.compressed = value.bytes.substr(0, 40);
    }
  }
  return option;
}

}  // namespace

Result<ForwardMessage> ForwardDecoder::decode(std::string_view bytes, Batch& batch) {
  ForwardMessage message;
  MsgPackReader reader(bytes);
  Token token;
  if (!reader.next(token)) return no_message("it is not MessagePack");
  if (token.type == Type::nil) {
    message.heartbeat = true;
    return message;
  }
  if (token.type != Type::array || token.number < 2 || token.number > 4)
    return no_message("it is not a list of 2 to 4");
  const std::uint64_t elements = token.number;
  if (!reader.next(token) || !token.is_bytes() || token.bytes.size() > longest_tag)
    return no_message("it does not begin with a tag");
  if (!reader.next(token)) return no_message("it ends after its tag");

  Reading reading{reader, builder_, batch, message};
  if (token.type == Type::array) {
    for (std::uint64_t i = 0, entries = token.number; i < entries; ++i) {
      if (!reading.entry()) return no_message("it ends inside an entry");
    }
    WEIR_ASSIGN(Option option, read_option(reader, elements > 2));
    message.chunk = std::move(option.chunk);
  } else if (token.is_bytes()) {
    const std::string_view packed = token.bytes;
    WEIR_ASSIGN(Option option, read_option(reader, elements > 2));
    message.chunk = std::move(option.chunk);
    const auto compression =
        option.compressed.empty() ? Compression::none : parse_compression(option.compressed);
    if (!compression) {
      reading.reject(compression.error().cause);
      return message;
    }
    std::string unpacked;
    if (*compression != Compression::none) {
      auto result = decompress(packed, *compression, largest_unpacked_);
      if (!result) {
        reading.reject(result.error().cause);
        return message;
      }
      unpacked = std::move(*result);
    }
    MsgPackReader entries(*compression == Compression::none ? packed : std::string_view(unpacked));
    Reading inside{entries, builder_, batch, message};
    while (!entries.at_end()) {
      if (!inside.entry()) {
        inside.reject(fmt::format("the packed entries cannot be read beyond byte {}", entries.position()));
        break;
      }
    }
  } else if (token.type == Type::map) {
    return no_message("its second element is a map");
  } else {
    if (elements < 3) return no_message("it has a time and no record");
    if (!reading.record(token)) return no_message("it ends inside its record");
    WEIR_ASSIGN(Option option, read_option(reader, elements > 3));
    message.chunk = std::move(option.chunk);
  }
  return message;
}

std::string pack_entries(const Batch& batch) {
  std::string entries;
  entries.reserve(batch.points.size() * 32);
  MsgPackWriter writer(entries);
  for (std::size_t first = 0; first < batch.points.size();) {
    const std::size_t count = same_record(batch, first);
    const Point& start = batch.points[first];
    const auto component = batch.table.component_of(start.series);
    const auto job = batch.table.job_of(start.series);
    writer.array(2);
    writer.event_time(start.time);
    writer.map(static_cast<std::uint32_t>(1 + (component.empty() ? 0 : 1) + (job.empty() ? 0 : 1) + count));
    writer.text("node");
    writer.text(batch.table.node_of(start.series));
    if (!component.empty()) {
      writer.text("component");
      writer.text(component);
    }
    if (!job.empty()) {
      writer.text("job");
      writer.text(job);
    }
    for (std::size_t i = first; i < first + count; ++i) {
      writer.text(counter(batch.table.counter_of(batch.points[i].series)).name);
      writer.number(batch.points[i].value);
    }
    first += count;
  }
  return entries;
}

std::string forward_message(std::string_view tag, std::string_view entries, Compression compression,
                            std::string_view chunk) {
  std::string message;
  MsgPackWriter writer(message);
  writer.array(3);
  writer.text(tag);
  if (compression == Compression::none) {
    writer.binary(entries);
  } else {
    writer.binary(compress(entries, compression));
  }
  writer.map((chunk.empty() ? 0U : 1U) + (compression == Compression::none ? 0U : 1U));
  if (!chunk.empty()) {
    writer.text("chunk");
    writer.text(chunk);
  }
  if (compression != Compression::none) {
    writer.text("compressed");
    writer.text(to_string(compression));
  }
  return message;
}

std::string acknowledgement(std::string_view chunk) {
  std::string message;
  MsgPackWriter writer(message);
  writer.map(1);
  writer.text("ack");
  writer.text(chunk);
  return message;
}

Result<std::string> parse_acknowledgement(std::string_view message) {
  MsgPackReader reader(message);
  Token token;
  if (reader.next(token) && token.type == Type::map) {
    const std::uint64_t pairs = token.number;
    for (std::uint64_t i = 0; i < pairs; ++i) {
      Token key;
      if (!reader.next(key) || !key.is_bytes()) break;
      if (key.bytes == "ack" && reader.next(token) && token.is_bytes()) return std::string(token.bytes);
      if (!reader.skip()) break;
    }
  }
  return fail(ErrorCode::corrupt, "the server answered with something that is no acknowledgement",
              "see that HOST:PORT is a server of fluentd's forward protocol");
}

}  // namespace weir::telemetry
