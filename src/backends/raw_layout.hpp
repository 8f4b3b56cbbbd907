// Where each array stands in a plain file, and the JSON sidecar that records it.
//
// Threads: a plain value.
#pragma once

#include "backends/backend.hpp"
#include "core/json.hpp"

namespace weir::backends {

inline constexpr std::string_view sidecar_suffix = ".json";
std::filesystem::path sidecar_of(const std::filesystem::path& path);
// The one to read: that of a file behind a link is beside the file.
std::filesystem::path find_sidecar(const std::filesystem::path& path);

class RawLayout {
 public:
  explicit RawLayout(std::uint64_t alignment = 1) : alignment_(alignment) {}

  void define(const Variable& variable);
  void add_attribute(const Attribute& attribute);
  Status reserve(VariableId variable);  // the next slot of it goes to the end of the file

  const std::vector<Variable>& variables() const { return variables_; }
  const std::vector<Attribute>& attributes() const { return attributes_; }
  const Variable& variable(VariableId id) const { return variables_[id]; }
  std::uint64_t offset(const Place& place) const { return offsets_[place.variable][place.slot]; }
  std::uint64_t size() const { return end_; }  // of the whole file, in bytes

  Json to_json() const;
  static Result<RawLayout> from_json(const Json& json);

 private:
  Status check() const;

  std::uint64_t alignment_;
  std::uint64_t end_ = 0;
  std::vector<Variable> variables_;
  std::vector<std::vector<std::uint64_t>> offsets_;  // by variable, by slot
  std::vector<Attribute> attributes_;
};

// What every way to write a plain file has in common: the books. How bytes get into the file is left to the
// heir.
class RawOutput : public Output {
 public:
  explicit RawOutput(const FileSpec& spec)
      : layout_(static_cast<std::uint64_t>(spec.options.integer("alignment"))) {}

  Status define(const Variable& variable) final {
    layout_.define(variable);
    return {};
  }
  Status set_attribute(const Attribute& attribute) final {
    layout_.add_attribute(attribute);
    return {};
  }
  Status reserve(VariableId variable, std::uint64_t, std::int64_t) final { return layout_.reserve(variable); }

 protected:
  const RawLayout& layout() const { return layout_; }

 private:
  RawLayout layout_;
};

// COLLECTIVE: rank 0 reads the sidecar, everybody gets it. Also checks that the data file is as long as the
// sidecar says.
Result<RawLayout> load_layout(const FileSpec& spec);
// LOCAL, called by one rank.
Status save_layout(const std::filesystem::path& path, const RawLayout& layout);

}  // namespace weir::backends
