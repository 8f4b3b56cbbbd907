#include "platform/xml_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "core/file.hpp"
#include "platform/node_builder.hpp"

namespace weir {

namespace {

constexpr std::size_t largest_document = std::size_t{64} << 20;
constexpr std::size_t deepest_nesting = 64;

using Attributes = std::map<std::string, std::string, std::less<>>;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_name_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == ':' || c == '.';
}

// The tags of a document one after the other; text between them is skipped. Only what hwloc writes of XML is
// understood.
class TagReader {
 public:
  explicit TagReader(std::string_view text) : text_(text) {}

  struct Tag {
    std::string name;
    Attributes attributes;
    bool opens = true;    // <a> or <a/>
    bool closes = false;  // </a> or <a/>
  };

  // The next tag; none at the end of the document.
  Result<std::optional<Tag>> next() {
    for (;;) {
      position_ = text_.find('<', position_);
      if (position_ == std::string_view::npos) {
        position_ = text_.size();
        return std::optional<Tag>();
      }
      if (looking_at("<!--")) {
        WEIR_TRY(skip_past("-->"));
      } else if (looking_at("<?")) {
        WEIR_TRY(skip_past("?>"));
      } else if (looking_at("<!")) {
        const std::string_view declaration = text_.substr(position_, text_.find('>', position_) - position_);
        if (declaration.find('[') != std::string_view::npos)
          return wrong("a DTD inside the file is not supported");
        WEIR_TRY(skip_past(">"));
      } else {
        WEIR_ASSIGN(Tag one, tag());
        return std::optional<Tag>(std::move(one));
      }
    }
  }

  tl::unexpected<Failure> wrong(std::string_view what) const {
    const auto line =
        1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(position_), '\n');
    return fail(ErrorCode::corrupt, fmt::format("line {}: {}", line, what));
  }

 private:
  bool looking_at(std::string_view prefix) const { return text_.substr(position_).starts_with(prefix); }

  Status skip_past(std::string_view ending) {
    const auto found = text_.find(ending, position_);
    if (found == std::string_view::npos) return wrong(fmt::format("the file ends before '{}'", ending));
    position_ = found + ending.size();
    return {};
  }

  bool take(char c) {
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  void skip_blanks() {
    while (position_ < text_.size() && is_blank(text_[position_])) ++position_;
  }

  Result<std::string> name() {
    const std::size_t start = position_;
    while (position_ < text_.size() && is_name_part(text_[position_])) ++position_;
    if (position_ == start)
      return wrong(position_ == text_.size() ? "the file ends inside a tag" : "a name is expected");
    return std::string(text_.substr(start, position_ - start));
  }

  Result<Tag> tag() {
    ++position_;  // '<'
    Tag tag;
    if (take('/')) {
      tag.opens = false;
      tag.closes = true;
    }
    WEIR_ASSIGN(tag.name, name());
    for (;;) {
      skip_blanks();
      if (take('>')) return tag;
      if (tag.opens && take('/')) {
        if (!take('>')) return wrong("'>' is expected after '/'");
        tag.closes = true;
        return tag;
      }
      if (!tag.opens) return wrong("'>' is expected");
      WEIR_ASSIGN(std::string key, name());
      skip_blanks();
      if (!take('=')) return wrong(fmt::format("attribute '{}' has no value", key));
      skip_blanks();
      WEIR_ASSIGN(std::string value, quoted());
      if (!tag.attributes.emplace(key, std::move(value)).second)
        return wrong(fmt::format("attribute '{}' twice", key));
    }
  }

  Result<std::string> quoted() {
    const char quote = position_ < text_.size() ? text_[position_] : '\0';
    if (quote != '"' && quote != '\'') return wrong("a quoted value is expected");
    const auto end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) return wrong("the file ends inside a value");
    const std::string_view raw = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    return unescape(raw);
  }

  static std::string unescape(std::string_view raw) {
    constexpr std::array<std::pair<std::string_view, char>, 5> entities = {
        {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
    std::string text;
    for (std::size_t i = 0; i < raw.size();) {
      const auto entity = std::find_if(entities.begin(), entities.end(),
                                       [&](const auto& one) { return raw.substr(i).starts_with(one.first); });
      text += entity == entities.end() ? raw[i] : entity->second;
      i += entity == entities.end() ? 1 : entity->first.size();
    }
    return text;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

// hwloc's bitmaps: 32-bit groups in hexadecimal, highest first: "0x1,0x00000003". "0xf...f" first means: and
// all above.
class CpuSet {
 public:
  static std::optional<CpuSet> parse(std::string_view text) {
    CpuSet set;
    if (text.starts_with("0xf...f")) {
      set.above_ = true;
      text.remove_prefix(std::min(text.size(), std::size_t{8}));
    }
    while (!text.empty()) {
      std::string_view group = text.substr(0, text.find(','));
      text.remove_prefix(std::min(text.size(), group.size() + 1));
      std::uint32_t bits = 0;
      if (group.starts_with("0x")) group.remove_prefix(2);
      if (!group.empty()) {  // an empty group is 0
        const auto [end, error] = std::from_chars(group.data(), group.data() + group.size(), bits, 16);
        if (error != std::errc{} || end != group.data() + group.size()) return std::nullopt;
      }
      set.groups_.push_back(bits);
    }
    std::reverse(set.groups_.begin(), set.groups_.end());
    return set;
  }
  bool has(std::uint32_t bit) const {
    return bit / 32 < groups_.size() ? (groups_[bit / 32] >> (bit % 32) & 1) != 0 : above_;
  }

 private:
  std::vector<std::uint32_t> groups_;
  bool above_ = false;
};

class TopologyReader {
 public:
  explicit TopologyReader(std::string_view text) : tags_(text) {}

  Result<NodeType> read() {
    for (;;) {
      WEIR_ASSIGN(auto tag, tags_.next());
      if (!tag) break;
      if (tag->opens) WEIR_TRY(open(*tag));
      if (tag->closes) WEIR_TRY(close(tag->name));
    }
    if (!open_.empty()) return tags_.wrong(fmt::format("the file ends inside <{}>", open_.back()));
    if (!seen_topology_) return tags_.wrong("no <topology>: this is not a file of hwloc (lstopo --of xml)");
    WEIR_ASSIGN(NodeType type, builder_.finish("imported"));
    if (allowed_) {
      for (const std::uint32_t pu : type.all_pus()) {
        if (!allowed_->has(pu)) type.unusable_pus.push_back(pu);
      }
    }
    return type;
  }

 private:
  Status open(const TagReader::Tag& tag) {
    if (open_.size() == deepest_nesting)
      return tags_.wrong(fmt::format("nested deeper than {} levels", deepest_nesting));
    if (open_.empty() && tag.name != "topology") {
      return tags_.wrong(
          fmt::format("<{}> instead of <topology>: this is not a file of hwloc (lstopo --of xml)", tag.name));
    }
    if (tag.name == "topology") {
      if (seen_topology_) return tags_.wrong("a second <topology>");
      seen_topology_ = true;
    }
    open_.push_back(tag.name);
    if (tag.name == "object") return object(tag.attributes);
    if (tag.name == "info" && text(tag.attributes, "name") == "CPUModel") {
      builder_.set_model(text(tag.attributes, "value"));
    }
    return {};
  }

  Status close(const std::string& name) {
    if (open_.empty() || open_.back() != name) return tags_.wrong(fmt::format("</{}> closes nothing", name));
    open_.pop_back();
    if (name == "object") builder_.end();
    return {};
  }

  static std::string_view text(const Attributes& attributes, std::string_view key) {
    const auto found = attributes.find(key);
    return found == attributes.end() ? std::string_view() : std::string_view(found->second);
  }

  template <class Number>
  Result<Number> number(const Attributes& attributes, std::string_view key, Number fallback) const {
    const auto found = attributes.find(key);
    if (found == attributes.end()) return fallback;
    Number value = 0;
    const std::string& digits = found->second;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc{} && end == digits.data() + digits.size()) return value;
    return tags_.wrong(fmt::format("{}=\"{}\" is not a whole number in range", key, digits.substr(0, 40)));
  }

  Status object(const Attributes& attributes) {
    using Kind = NodeBuilder::Kind;
    const std::string_view type = text(attributes, "type");
    NodeBuilder::Object object;
    if (type == "Machine") {
      object.kind = Kind::machine;
      if (seen_machine_) return tags_.wrong("more than one machine in a file is not supported");
      seen_machine_ = true;
      WEIR_ASSIGN(object.bytes, number<std::uint64_t>(attributes, "local_memory", 0));
      if (const auto allowed = text(attributes, "allowed_cpuset"); !allowed.empty()) {
        allowed_ = CpuSet::parse(allowed);
        if (!allowed_) return tags_.wrong("allowed_cpuset is not a set of hwloc");
      }
    } else if (type == "Package" || type == "Socket") {
      object.kind = Kind::package;
    } else if (type == "NUMANode" || type == "Node") {
      object.kind = Kind::numa;
      WEIR_ASSIGN(object.os_number, required(attributes, "os_index"));
      WEIR_ASSIGN(object.bytes, number<std::uint64_t>(attributes, "local_memory", 0));
    } else if (type == "MemCache") {
      object.kind = Kind::memory_cache;
    } else if (type == "Core") {
      object.kind = Kind::core;
    } else if (type == "PU") {
      object.kind = Kind::pu;
      WEIR_ASSIGN(object.os_number, required(attributes, "os_index"));
    } else if (type == "Cache" || type.ends_with("Cache")) {
      WEIR_ASSIGN(const auto kind, number<std::uint32_t>(attributes, "cache_type", 0));
      if (kind != 2) {  // 2: instructions
        object.kind = Kind::cache;
        WEIR_ASSIGN(object.cache_level, required(attributes, "depth"));
        WEIR_ASSIGN(object.bytes, number<std::uint64_t>(attributes, "cache_size", 0));
      }
    }
    const Status begun = builder_.begin(object);
    if (!begun) return tags_.wrong(begun.error().cause);
    return {};
  }

  Result<std::uint32_t> required(const Attributes& attributes, std::string_view key) const {
    if (!attributes.contains(key))
      return tags_.wrong(fmt::format("an object of type {} has no {}", text(attributes, "type"), key));
    return number<std::uint32_t>(attributes, key, 0);
  }

  TagReader tags_;
  NodeBuilder builder_;
  std::vector<std::string> open_;
  std::optional<CpuSet> allowed_;
  bool seen_topology_ = false;
  bool seen_machine_ = false;
};

}  // namespace

Result<NodeType> node_type_from_xml(std::string_view text) {
  if (text.size() > largest_document) return fail(ErrorCode::corrupt, "the document is larger than 64 MiB");
  return TopologyReader(text).read();
}

Result<NodeType> node_type_from_xml_file(const std::filesystem::path& path) {
  WEIR_ASSIGN(const std::string text, read_text(path));
  return in(node_type_from_xml(text), "read", path.string());
}

}  // namespace weir
