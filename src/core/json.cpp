#include "core/json.hpp"

#include <algorithm>

#include "core/file.hpp"

namespace weir {

namespace {

constexpr int deepest_nesting = 64;

// Reports where a syntax error stands, instead of the library's byte offset.
std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return fmt::format("line {}, column {}", line, column);
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  try {
    bool too_deep = false;
    Json value = Json::parse(text, [&](int depth, Json::parse_event_t, Json&) {
      too_deep = too_deep || depth > deepest_nesting;
      return !too_deep;
    });
    if (too_deep)
      return fail(ErrorCode::corrupt, fmt::format("JSON nested deeper than {} levels", deepest_nesting));
    return value;
  } catch (const Json::parse_error& error) {
    return fail(ErrorCode::corrupt, "not valid JSON at " + line_and_column(text, error.byte));
  } catch (const Json::exception& error) {  // a number out of range
    return fail(ErrorCode::corrupt, std::string("not valid JSON: ") + error.what());
  }
}

Result<Json> load_json(const std::filesystem::path& path) {
  WEIR_ASSIGN(const std::string text, read_text(path));
  return in(parse_json(text), "read", path.string());
}

Result<JsonObject> JsonObject::of(const Json& value, std::string where) {
  if (!value.is_object()) {
    return fail(ErrorCode::corrupt,
                fmt::format("{} is not a JSON object", where.empty() ? "the document" : where));
  }
  return JsonObject(value, std::move(where));
}

tl::unexpected<Failure> JsonObject::wrong(const std::string& key, std::string_view expected) const {
  const std::string place = where_.empty() ? key : where_ + "." + key;
  if (!has(key)) return fail(ErrorCode::corrupt, fmt::format("'{}' is missing", place));
  return fail(ErrorCode::corrupt, fmt::format("'{}' is not {}", place, expected));
}

std::optional<std::uint64_t> as_size(const Json& value) {
  const bool fits =
      value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
  return fits ? std::optional(value.get<std::uint64_t>()) : std::nullopt;
}

Result<std::uint64_t> JsonObject::size(const std::string& key) const {
  const auto found = value_->find(key);
  const auto size = found == value_->end() ? std::nullopt : as_size(*found);
  if (!size) return wrong(key, "a whole number of 0 or more");
  return *size;
}

Result<std::int64_t> JsonObject::integer(const std::string& key) const {
  const auto found = value_->find(key);
  const bool fits =
      found != value_->end() && found->is_number_integer() &&
      !(found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX));
  if (!fits) return wrong(key, "a whole number");
  return found->get<std::int64_t>();
}

Result<double> JsonObject::number(const std::string& key) const {
  const auto found = value_->find(key);
  if (found == value_->end() || !found->is_number()) return wrong(key, "a number");
  return found->get<double>();
}

Result<bool> JsonObject::boolean(const std::string& key) const {
  const auto found = value_->find(key);
  if (found == value_->end() || !found->is_boolean()) return wrong(key, "true or false");
  return found->get<bool>();
}

Result<std::string> JsonObject::text(const std::string& key) const {
  const auto found = value_->find(key);
  if (found == value_->end() || !found->is_string()) return wrong(key, "a text");
  return found->get<std::string>();
}

Result<const Json*> JsonObject::array(const std::string& key) const {
  const auto found = value_->find(key);
  if (found == value_->end() || !found->is_array()) return wrong(key, "a list");
  return &*found;
}

Result<const Json*> JsonObject::any(const std::string& key) const {
  const auto found = value_->find(key);
  if (found == value_->end()) return wrong(key, "there");
  return &*found;
}

Status JsonObject::only(const std::vector<std::string>& keys) const {
  for (const auto& item : value_->items()) {
    if (std::find(keys.begin(), keys.end(), item.key()) == keys.end()) {
      return fail(ErrorCode::corrupt,
                  fmt::format("unknown key '{}'{}{}", item.key(), where_.empty() ? "" : " in " + where_,
                              suggest(item.key(), keys)));
    }
  }
  return {};
}

}  // namespace weir
