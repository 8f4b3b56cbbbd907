#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "backends/raw.hpp"
#include "backends/raw_layout.hpp"
#include "core/file.hpp"

namespace weir::backends {

namespace fs = std::filesystem;

namespace {

// Moves the runs of the blocks one by one: move(data, bytes, place in the file) until one fails.
template <class Block, class Move>
Status for_each_piece(const RawLayout& layout, const Place& place, std::span<const Block> blocks,
                      Move&& move) {
  const Variable& variable = layout.variable(place.variable);
  const std::uint64_t base = layout.offset(place);
  const std::size_t size = size_of(variable.type);
  Status status;
  for (const Block& block : blocks) {
    for_each_run(variable.shape, block.box, [&](const Run& run) {
      status = move(block.data + run.in_box * size, run.length * size, base + run.in_array * size);
      return status.has_value();
    });
    if (!status) break;
  }
  return status;
}

class PosixOutput final : public RawOutput {
 public:
  PosixOutput(const FileSpec& spec, Descriptor file)
      : RawOutput(spec), path_(spec.path), comm_(spec.comm), file_(std::move(file)) {}

  Status write(const Place& place, std::span<const SourceBlock> blocks) override {
    return for_each_piece(layout(), place, blocks,
                          [&](const std::byte* data, std::uint64_t bytes, std::uint64_t at) {
                            return write_at(file_.get(), data, bytes, at, path_);
                          });
  }

  Status close() override {
    if (comm_.rank() == 0) {
      // Arrays whose tail nobody wrote still have their full length.
      if (::ftruncate(file_.get(), static_cast<off_t>(layout().size())) != 0)
        return fail_errno(errno, "set the size of", path_.string());
      WEIR_TRY(save_layout(path_, layout()));
    }
    return file_.close(path_);
  }

 private:
  fs::path path_;
  mpi::Comm comm_;
  Descriptor file_;
};

class PosixInput final : public Input {
 public:
  PosixInput(fs::path path, RawLayout layout, Descriptor file)
      : path_(std::move(path)), layout_(std::move(layout)), file_(std::move(file)) {}

  const std::vector<Variable>& variables() const override { return layout_.variables(); }
  const std::vector<Attribute>& attributes() const override { return layout_.attributes(); }

  Status read(const Place& place, std::span<const TargetBlock> blocks) override {
    return for_each_piece(layout_, place, blocks,
                          [&](std::byte* data, std::uint64_t bytes, std::uint64_t at) {
                            return read_at(file_.get(), data, bytes, at, path_);
                          });
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
