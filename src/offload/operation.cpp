#include "offload/operation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "files/reduction.hpp"

namespace weir::offload {

namespace {

Json to_json(const backends::Attribute& attribute) {
  Json json = {{"variable", attribute.variable}, {"name", attribute.name}};
  if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    json["text"] = *text;
  } else {
    const auto& values = std::get<Values>(attribute.value);
    const auto* begin = reinterpret_cast<const std::uint8_t*>(values.bytes.data());
    json["type"] = static_cast<int>(values.type);
    json["numbers"] = Json::binary({begin, begin + values.bytes.size()});
  }
  return json;
}

backends::Attribute attribute_from(const Json& json) {
  backends::Attribute attribute{
      .variable = json.at("variable"), .name = json.at("name"), .value = std::string()};
  if (json.contains("text")) {
    attribute.value = json.at("text").get<std::string>();
  } else {
    const auto& numbers = json.at("numbers").get_binary();
    Values values{.type = static_cast<Type>(json.at("type").get<int>()), .bytes = {}};
    const auto* begin = reinterpret_cast<const std::byte*>(numbers.data());
    values.bytes.assign(begin, begin + numbers.size());
    attribute.value = std::move(values);
  }
  return attribute;
}

}  // namespace

std::string pack(const Json& json) {
  std::string bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

Operation leaving(int rank) {
  Operation leave;
  leave.kind = Operation::Kind::stop;
  leave.unseen = Failure{.code = ErrorCode::state,
                         .cause = "this rank has left the session without ending it",
                         .advice = "see what it printed; what was closed before is whole",
                         .rank = rank};
  return leave;
}

std::vector<Box> cut(const Operation& write, std::uint64_t room) {
  const std::uint64_t size = size_of(write.heading.type);
  if (volume(write.box.count) * size <= room / 2) return {write.box};
  return split(write.box, std::max<std::uint64_t>(1, room / 4 / size));
}

Json to_json(const Failure& failure) {
  return {static_cast<int>(failure.code),
          failure.cause,
          failure.operation,
          failure.object,
          failure.advice,
          failure.rank};
}

Failure failure_from_json(const Json& json) {
  return {.code = static_cast<ErrorCode>(json.at(0).get<int>()),
          .cause = json.at(1),
          .operation = json.at(2),
          .object = json.at(3),
          .advice = json.at(4),
          .rank = json.at(5)};
}

std::string to_letter(const Operation& operation) {
  Json json = {{"kind", static_cast<int>(operation.kind)}, {"file", operation.file}};
  if (operation.unseen) json["unseen"] = to_json(*operation.unseen);
  switch (operation.kind) {
    case Operation::Kind::create:
      json["path"] = operation.path;
      json["backend"] = operation.options.backend;
      json["options"] = operation.options.options;
      json["checksums"] = operation.options.checksums;
      json["fsync"] = operation.options.fsync;
      json["fsync_writes"] = operation.options.fsync_writes;
      break;
    case Operation::Kind::write:
      json["offset"] = operation.box.offset;
      json["count"] = operation.box.count;
      json["independent"] = operation.independent;
      json["region"] = operation.region;
      json["place"] = operation.place;
      json["pieces"] = operation.pieces;
      json["cold"] = operation.cold;
      if (files::reduces(operation.reduce))
        json["reduce"] = {operation.reduce.operation, operation.reduce.steps, operation.reduce.every};
      [[fallthrough]];
    case Operation::Kind::reserve:
      json["name"] = operation.heading.name;
      json["type"] = static_cast<int>(operation.heading.type);
      json["shape"] = operation.heading.shape;
      if (operation.heading.step) json["step"] = *operation.heading.step;
      break;
    case Operation::Kind::attribute:
      json["attribute"] = to_json(operation.attribute);
      break;
    case Operation::Kind::close:
      json["later"] = operation.later;
      json["gave_up"] = operation.gave_up;
      break;
    case Operation::Kind::map:
    case Operation::Kind::unmap:
      json["region"] = operation.region;
      json["process"] = operation.process;
      json["descriptor"] = operation.descriptor;
      json["bytes"] = operation.bytes;
      break;
    case Operation::Kind::stop:
      break;
  }
  return pack(json);
}

Operation from_letter(const Json& letter) {
  Operation operation;
  operation.kind = static_cast<Operation::Kind>(letter.at("kind").get<int>());
  operation.file = letter.at("file");
  if (letter.contains("unseen")) operation.unseen = failure_from_json(letter.at("unseen"));
  switch (operation.kind) {
    case Operation::Kind::create:
      operation.path = letter.at("path");
      operation.options.backend = letter.at("backend");
      operation.options.options = letter.at("options").get<OptionMap>();
      operation.options.checksums = letter.at("checksums");
      operation.options.fsync = letter.at("fsync");
      operation.options.fsync_writes = letter.at("fsync_writes");
      break;
    case Operation::Kind::write:
      operation.box = {letter.at("offset").get<Extent>(), letter.at("count").get<Extent>()};
      operation.independent = letter.at("independent");
      operation.region = letter.at("region");
      operation.place = letter.at("place");
      operation.pieces = letter.at("pieces");
      operation.cold = letter.at("cold");
      if (letter.contains("reduce")) {
        const Json& reduce = letter.at("reduce");
        operation.reduce = {
            .operation = reduce.at(0), .steps = reduce.at(1), .every = reduce.at(2).get<Extent>()};
      }
      [[fallthrough]];
    case Operation::Kind::reserve:
      operation.heading = {.name = letter.at("name"),
                           .type = static_cast<Type>(letter.at("type").get<int>()),
                           .shape = letter.at("shape").get<Extent>(),
                           .step = std::nullopt};
      if (letter.contains("step")) operation.heading.step = letter.at("step").get<std::int64_t>();
      break;
    case Operation::Kind::attribute:
      operation.attribute = attribute_from(letter.at("attribute"));
      break;
    case Operation::Kind::close:
      operation.later = letter.at("later");
      operation.gave_up = letter.at("gave_up");
      break;
    case Operation::Kind::map:
    case Operation::Kind::unmap:
      operation.region = letter.at("region");
      operation.process = letter.at("process");
      operation.descriptor = letter.at("descriptor");
      operation.bytes = letter.at("bytes");
      break;
    case Operation::Kind::stop:
      break;
  }
  return operation;
}

std::string to_letter(const Piece& piece) {
  return pack({{"piece", true},
               {"offset", piece.box.offset},
               {"count", piece.box.count},
               {"place", piece.place},
               {"end", piece.end},
               {"bytes", piece.bytes}});
}

bool is_piece(const Json& letter) {
  return letter.contains("piece");
}

Piece piece_from_letter(const Json& letter) {
  return {.box = {letter.at("offset").get<Extent>(), letter.at("count").get<Extent>()},
          .place = letter.at("place"),
          .end = letter.at("end"),
          .bytes = letter.at("bytes")};
}

std::string brief(const Operation& operation) {
  switch (operation.kind) {
    case Operation::Kind::create:
      return "create";
    case Operation::Kind::write:
      return files::describe_write(operation.heading.name, operation.heading.step);
    case Operation::Kind::reserve:
      return fmt::format("reserve variable '{}'", operation.heading.name);
    case Operation::Kind::attribute:
      return fmt::format("set attribute '{}'", operation.attribute.name);
    case Operation::Kind::close:
      return "close";
    case Operation::Kind::map:
    case Operation::Kind::unmap:
    case Operation::Kind::stop:
      return {};
  }
  return {};
}

std::string describe(const Operation& operation, const std::string& name) {
  const auto variable = [&] {
    return fmt::format("of '{}', type {}, shape {}", name, name_of(operation.heading.type),
                       format_extent(operation.heading.shape));
  };
  switch (operation.kind) {
    case Operation::Kind::create:
      return files::describe_create(operation.path, operation.options);
    case Operation::Kind::write: {
      const std::string text =
          files::describe_write(operation.heading.name, operation.heading.step) + " " + variable();
      return files::reduces(operation.reduce) ? text + ", " + files::describe(operation.reduce) : text;
    }
    case Operation::Kind::reserve:
      return fmt::format("reserve variable '{}'{} {}", operation.heading.name,
                         operation.heading.step ? fmt::format(", step {}", *operation.heading.step) : "",
                         variable());
    case Operation::Kind::attribute:
      return files::describe_attribute(operation.attribute, name);
    case Operation::Kind::close:
      return fmt::format("close '{}'", name);
    case Operation::Kind::map:
    case Operation::Kind::unmap:
      return "share memory";
    case Operation::Kind::stop:
      return "end the session";
  }
  return {};
}

}  // namespace weir::offload
