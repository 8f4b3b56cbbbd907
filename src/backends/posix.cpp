#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "backends/raw.hpp"
#include "backends/raw_layout.hpp"
#include "core/file.hpp"

namespace weir::backends {

namespace fs = std::filesystem;

namespace {

class PosixOutput final : public Output {
 public:
  PosixOutput(const FileSpec& spec, Descriptor file)
      : path_(spec.path),
        comm_(spec.comm),
        layout_(static_cast<std::uint64_t>(spec.options.integer("alignment"))),
        file_(std::move(file)) {}

  Status define(const Variable& variable) override {
    layout_.define(variable);
    return {};
  }

  Status set_attribute(const Attribute& attribute) override {
    layout_.add_attribute(attribute);
    return {};
  }

  Status reserve(VariableId variable, std::uint64_t, std::int64_t) override {
    return layout_.reserve(variable);
  }

  Status write(const Place& place, std::span<const SourceBlock> blocks) override {
    const Variable& variable = layout_.variable(place.variable);
    const std::uint64_t base = layout_.offset(place);
    const std::size_t size = size_of(variable.type);
    Status status;
    for (const SourceBlock& block : blocks) {
      for_each_run(variable.shape, block.box, [&](const Run& run) {
        status = write_at(file_.get(), block.data + run.in_box * size, run.length * size,
                          base + run.in_array * size, path_);
        return status.has_value();
      });
      if (!status) break;
    }
    return status;
  }

  Status close() override {
    if (comm_.rank() == 0) {
      // Arrays whose tail nobody wrote still have their full length.
      if (::ftruncate(file_.get(), static_cast<off_t>(layout_.size())) != 0)
        return fail_errno(errno, "set the size of", path_.string());
      WEIR_TRY(save_layout(path_, layout_));
    }
    return file_.close(path_);
  }

 private:
  fs::path path_;
  mpi::Comm comm_;
  RawLayout layout_;
  Descriptor file_;
};

class PosixInput final : public Input {
 public:
  PosixInput(fs::path path, RawLayout layout, Descriptor file)
      : path_(std::move(path)), layout_(std::move(layout)), file_(std::move(file)) {}

  const std::vector<Variable>& variables() const override { return layout_.variables(); }
  const std::vector<Attribute>& attributes() const override { return layout_.attributes(); }

  Status read(const Place& place, std::span<const TargetBlock> blocks) override {
    const Variable& variable = layout_.variable(place.variable);
    const std::uint64_t base = layout_.offset(place);
    const std::size_t size = size_of(variable.type);
    Status status;
    for (const TargetBlock& block : blocks) {
      for_each_run(variable.shape, block.box, [&](const Run& run) {
        status = read_at(file_.get(), block.data + run.in_box * size, run.length * size,
                         base + run.in_array * size, path_);
        return status.has_value();
      });
      if (!status) break;
    }
    return status;
  }

  Status close() override { return file_.close(path_); }

 private:
  fs::path path_;
  RawLayout layout_;
  Descriptor file_;
};

Result<std::unique_ptr<Output>> create(const FileSpec& spec) {
  // Rank 0 creates, the others open what it made: on a parallel file system one creation, not one per rank.
  Result<Descriptor> file = Descriptor();
  if (spec.comm.rank() == 0) file = open_file(spec.path, O_CREAT | O_TRUNC | O_RDWR);
  WEIR_ASSIGN(Descriptor mine, mpi::agree(spec.comm, std::move(file)));
  if (spec.comm.rank() != 0) {
    WEIR_ASSIGN(mine, open_file(spec.path, O_RDWR));
  }
  return std::make_unique<PosixOutput>(spec, std::move(mine));
}

Result<std::unique_ptr<Input>> open(const FileSpec& spec) {
  WEIR_ASSIGN(RawLayout layout, load_layout(spec));
  WEIR_ASSIGN(Descriptor file, open_file(spec.path, O_RDONLY));
  return std::make_unique<PosixInput>(spec.path, std::move(layout), std::move(file));
}

bool recognises(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && fs::is_regular_file(sidecar_of(path), error);
}

}  // namespace

Entry posix_entry() {
  return {.name = "posix",
          .summary = "plain file + FILE.json, written by pwrite(2)",
          .options = {{.name = "alignment",
                       .kind = Option::Kind::bytes,
                       .fallback = "1",
                       .help = "each array starts at a multiple of this",
                       .least = 1,
                       .most = std::int64_t{1} << 40}},
          .extensions = {".dat", ".raw", ".bin"},
          .companions = {sidecar_suffix},
          .keeps_books_only = true,
          .create = create,
          .open = open,
          .recognises = recognises};
}

}  // namespace weir::backends
