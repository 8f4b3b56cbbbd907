// What a program has said about a file so far: variables with their types, shapes and steps, and which
// attributes are set. Answers whether the next request makes sense. Pure bookkeeping: whoever writes the file
// keeps one, and so does a compute rank that leaves the writing to somebody else.
//
// Threads: one at a time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "core/box_index.hpp"

namespace weir::files {

// What to write, without the data.
struct Heading {
  std::string name;
  Type type = Type::uint8;
  Extent shape;  // may be left out once the variable is known
  std::optional<std::int64_t> step;
};

struct WriteRequest {
  std::string name;
  Type type = Type::uint8;
  Extent shape;   // may be left out once the variable is known
  Extent offset;  // left out: zeros
  Extent count;   // left out: the whole array
  std::optional<std::int64_t> step;
  const std::byte* data = nullptr;
  std::uint64_t elements = 0;
  bool independent = false;
  Reduction reduce = {};  // what is stored of it (weir/types.hpp)

  Heading heading() const { return {name, type, shape, step}; }
};

std::string describe_write(const std::string& name, std::optional<std::int64_t> step);
// "set attribute 'unit' of variable 'T' in 'run.h5' to 'K'"
std::string describe_attribute(const backends::Attribute& attribute, const std::string& path);

class Catalogue {
 public:
  explicit Catalogue(const backends::Entry& entry) : entry_(&entry) {}

  // The request with everything that was left out filled in, or why it cannot be done.
  struct Resolved {
    backends::Variable info;
    Box box;
    bool fresh_slot = false;  // nothing was written to this variable and step before
  };
  Result<Resolved> resolve(const WriteRequest& request) const;
  Result<backends::Variable> resolve_variable(const Heading& heading) const {
    return resolve_variable(heading.name, heading.type, heading.shape, heading.step);
  }
  bool is_fresh(const std::string& name, std::optional<std::int64_t> step) const;
  Status check_box_is_new(const std::string& name, const Box& box) const;
  Status check_attribute(const backends::Attribute& attribute) const;

  // REQUIRES: resolved before.
  void note_variable(const backends::Variable& info);
  void note_slot(const backends::Variable& info, std::int64_t step);  // a new step of the variable
  void note_box(const std::string& name, const Box& box);             // in its newest step
  void note_attribute(const backends::Attribute& attribute);

  // A write that was noted has been refused by others: as if it had not been made.
  void forget_box(const std::string& name, const Box& box);
  void forget_slot(const std::string& name, std::int64_t step);

  // The number for the next slot of a variable without steps: that of the newest step of any variable.
  std::int64_t last_step() const { return last_step_; }

 private:
  struct Known {
    backends::Variable info;
    std::vector<std::int64_t> steps;  // one per slot
    BoxIndex boxes;                   // what this process wrote to the newest slot
  };
  Result<backends::Variable> resolve_variable(const std::string& name, Type type, const Extent& shape,
                                              std::optional<std::int64_t> step) const;
  Status check_no_group(const std::string& name) const;
  Status check_limits(const std::string& name) const;

  const backends::Entry* entry_;
  std::map<std::string, Known> variables_;
  std::set<std::string> attributes_;  // "variable\nname"
  std::int64_t last_step_ = 0;
};

}  // namespace weir::files
