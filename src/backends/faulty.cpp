#include "backends/faulty.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <thread>

namespace weir::backends {

namespace {

struct NamedError {
  std::string_view name;
  int number;
};
constexpr std::array<NamedError, 4> errors = {
    {{"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EACCES", EACCES}}};

// Decides which calls fail, and how. One per file and rank.
class Faults {
 public:
  explicit Faults(const FileSpec& spec)
      : object_(spec.path.string()),
        operation_(spec.options.text("fail")),
        calls_before_(spec.options.integer("after")),
        affects_me_(spec.options.integer("rank") < 0 || spec.options.integer("rank") == spec.comm.rank()),
        loses_data_(spec.options.flag("lose")),
        delay_(spec.options.seconds("delay")) {
    for (const NamedError& error : errors) {
      if (error.name == spec.options.text("error")) error_ = error.number;
    }
  }

  Status before(std::string_view operation) {
    if (!affects_me_) return {};
    if (delay_ > 0 && (operation == "write" || operation == "read")) {
      std::this_thread::sleep_for(std::chrono::duration<double>(delay_));
    }
    if (operation != operation_) return {};
    if (calls_before_-- > 0) return {};
    return fail_errno(error_, std::string(operation), object_);
  }

  // A lying disk: the second half of every block never arrives, and nobody is told.
  std::vector<SourceBlock> what_arrives(std::span<const SourceBlock> blocks) const {
    std::vector<SourceBlock> arriving(blocks.begin(), blocks.end());
    if (!loses_data_ || !affects_me_) return arriving;
    for (SourceBlock& block : arriving) {
      if (!block.box.count.empty()) block.box.count[0] /= 2;
    }
    return arriving;
  }

 private:
  std::string object_;
  std::string operation_;
  std::int64_t calls_before_;
  bool affects_me_;
  bool loses_data_;
  double delay_;
  int error_ = EIO;
};

class FaultyOutput final : public Output {
 public:
  FaultyOutput(Faults faults, std::unique_ptr<Output> inner)
      : faults_(std::move(faults)), inner_(std::move(inner)) {}

  Status define(const Variable& variable) override {
    return faults_.before("define").and_then([&] { return inner_->define(variable); });
  }
  Status set_attribute(const Attribute& attribute) override {
    return faults_.before("attribute").and_then([&] { return inner_->set_attribute(attribute); });
  }
  Status reserve(VariableId variable, std::uint64_t slot, std::int64_t step) override {
    return faults_.before("reserve").and_then([&] { return inner_->reserve(variable, slot, step); });
  }
  Status reserve_to_write(VariableId variable, std::uint64_t slot, std::int64_t step) override {
    return faults_.before("reserve").and_then([&] { return inner_->reserve_to_write(variable, slot, step); });
  }
  Status write(const Place& place, std::span<const SourceBlock> blocks) override {
    // Like a disk error found by one rank in a collective write: the others have got theirs through.
    Status fault = faults_.before("write");
    Status written = inner_->write(place, faults_.what_arrives(blocks));
    return fault ? written : fault;
  }
  Status close() override {
    return faults_.before("close").and_then([&] { return inner_->close(); });
  }
  bool settles_late() const override { return inner_->settles_late(); }

 private:
  Faults faults_;
  std::unique_ptr<Output> inner_;
};

class FaultyInput final : public Input {
 public:
  FaultyInput(Faults faults, std::unique_ptr<Input> inner)
      : faults_(std::move(faults)), inner_(std::move(inner)) {}

  const std::vector<Variable>& variables() const override { return inner_->variables(); }
  const std::vector<Attribute>& attributes() const override { return inner_->attributes(); }
  Status read(const Place& place, std::span<const TargetBlock> blocks) override {
    Status fault = faults_.before("read");
    Status done = inner_->read(place, blocks);
    return fault ? done : fault;
  }
  bool reads_alone(VariableId variable, const Box& box) const override {
    return inner_->reads_alone(variable, box);
  }
  Status close() override { return inner_->close(); }

 private:
  Faults faults_;
  std::unique_ptr<Input> inner_;
};

Result<FileSpec> inner_spec(const FileSpec& spec, const Entry& inner) {
  WEIR_ASSIGN(Options options, parse_options(fmt::format("backend '{}'", inner.name), inner.options, {}));
  return FileSpec{.path = spec.path, .comm = spec.comm, .options = std::move(options), .memory = spec.memory};
}

Result<std::unique_ptr<Output>> create(const FileSpec& spec) {
  Faults faults(spec);
  WEIR_TRY(mpi::agree(spec.comm, faults.before("create")));
  WEIR_ASSIGN(const Entry* entry, find(spec.options.text("inner")));
  WEIR_ASSIGN(const FileSpec inner, inner_spec(spec, *entry));
  WEIR_ASSIGN(auto file, entry->create(inner));
  return std::make_unique<FaultyOutput>(std::move(faults), std::move(file));
}

Result<std::unique_ptr<Input>> open(const FileSpec& spec) {
  Faults faults(spec);
  WEIR_TRY(mpi::agree(spec.comm, faults.before("open")));
  WEIR_ASSIGN(const Entry* entry, find(spec.options.text("inner")));
  WEIR_ASSIGN(const FileSpec inner, inner_spec(spec, *entry));
  WEIR_ASSIGN(auto file, entry->open(inner));
  return std::make_unique<FaultyInput>(std::move(faults), std::move(file));
}

}  // namespace

Entry faulty_entry() {
  return {.name = "faulty",
          .summary = "another backend with errors, delays and lost data on demand",
          .options = {{.name = "inner",
                       .kind = Option::Kind::word,
                       .fallback = "posix",
                       .help = "the backend that does the work",
                       .words = {"posix", "mpiio", "hdf5"}},
                      {.name = "fail",
                       .kind = Option::Kind::word,
                       .fallback = "none",
                       .help = "the operation that fails",
                       .words = {"none", "create", "open", "define", "attribute", "reserve", "write", "read",
                                 "close"}},
                      {.name = "after",
                       .kind = Option::Kind::integer,
                       .fallback = "0",
                       .help = "how many such operations succeed first",
                       .least = 0},
                      {.name = "rank",
                       .kind = Option::Kind::integer,
                       .fallback = "-1",
                       .help = "the rank it happens on (-1: all)",
                       .least = -1},
                      {.name = "error",
                       .kind = Option::Kind::word,
                       .fallback = "EIO",
                       .help = "the system's error",
                       .words = {"EIO", "ENOSPC", "EDQUOT", "EACCES"}},
                      {.name = "delay",
                       .kind = Option::Kind::seconds,
                       .fallback = "0",
                       .help = "added to every write and read"},
                      {.name = "lose",
                       .kind = Option::Kind::boolean,
                       .fallback = "no",
                       .help = "lose the second half of every block, silently"}},
          .companions = {".json"},
          .create = create,
          .open = open};
}

}  // namespace weir::backends
