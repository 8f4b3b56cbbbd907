// JSON from outside, read with errors that name the file and the place in it.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/error.hpp"

namespace weir {

using Json = nlohmann::ordered_json;

// A syntax error names line and column. Nesting deeper than 64 is refused.
Result<Json> parse_json(std::string_view text);
Result<Json> load_json(const std::filesystem::path& path);  // failures name the file

// The value as a whole number of 0 or more, if it is one.
std::optional<std::uint64_t> as_size(const Json& value);

// Reads the members of one JSON object with their types checked; `where` ("variables[2]") is named in errors.
class JsonObject {
 public:
  static Result<JsonObject> of(const Json& value, std::string where);

  Result<std::uint64_t> size(const std::string& key) const;  // a whole number >= 0
  Result<std::int64_t> integer(const std::string& key) const;
  Result<double> number(const std::string& key) const;
  Result<bool> boolean(const std::string& key) const;
  Result<std::string> text(const std::string& key) const;
  Result<const Json*> array(const std::string& key) const;
  Result<const Json*> any(const std::string& key) const;
  bool has(const std::string& key) const { return value_->contains(key); }

  // Fails, with a suggestion, if the object has a member other than these: a misspelt key is not silently
  // ignored.
  Status only(const std::vector<std::string>& keys) const;

  const std::string& where() const { return where_; }

 private:
  JsonObject(const Json& value, std::string where) : value_(&value), where_(std::move(where)) {}
  tl::unexpected<Failure> wrong(const std::string& key, std::string_view expected) const;

  const Json* value_;
  std::string where_;
};

}  // namespace weir
