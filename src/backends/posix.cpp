#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "aggregation/file_system.hpp"
#include "backends/early_blocks.hpp"
#include "backends/raw.hpp"
#include "backends/raw_layout.hpp"
#include "collective/collective.hpp"
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

// The blocks as collective I/O wants them: in the order of the file.
collective::Request request_of(const RawLayout& layout, const Place& place,
                               std::span<const SourceBlock> blocks) {
  struct Stretch {
    std::uint64_t offset;
    std::uint64_t length;
    const std::byte* data;
  };
  std::vector<Stretch> stretches;
  (void)for_each_piece(layout, place, blocks,
                       [&](const std::byte* data, std::uint64_t bytes, std::uint64_t at) {
                         stretches.push_back({at, bytes, data});
                         return Status();
                       });
  std::sort(stretches.begin(), stretches.end(),
            [](const Stretch& a, const Stretch& b) { return a.offset < b.offset; });
  aggregation::RowBuilder file;
  aggregation::RowBuilder memory;
  for (const Stretch& stretch : stretches) {
    file.add(stretch.offset, stretch.length);
    memory.add(reinterpret_cast<std::uintptr_t>(stretch.data), stretch.length);
  }
  return {.file = file.take(), .memory = memory.take()};
}

Result<aggregation::Settings> settings_of(const Options& options) {
  const auto said = [&](std::string_view name) -> std::optional<std::string> {
    if (name == "weir_domains") return options.text("domains");
    return std::nullopt;
  };
  WEIR_ASSIGN(aggregation::Settings settings, aggregation::read_settings(said, {}));
  for (const std::int64_t rank : options.numbers("aggregators"))
    settings.ranks.push_back(static_cast<std::uint32_t>(rank));
  const std::string& way = options.text("collective");
  settings.algorithm = way == "two-phase"   ? aggregation::Algorithm::two_phase
                       : way == "segmented" ? aggregation::Algorithm::segmented
                       : way == "direct"    ? aggregation::Algorithm::direct
                                            : aggregation::Algorithm::automatic;
  settings.allocate = wants_early_blocks(options);
  settings.striping_aware = options.flag("agg");
  settings.round_robin = options.flag("rr");
  settings.requests = static_cast<std::uint32_t>(options.integer("req"));
  settings.aggregators = static_cast<std::uint32_t>(options.integer("cb_nodes"));
  settings.buffer = static_cast<std::uint64_t>(options.integer("cb_buffer_size"));
  settings.striping = {.unit = static_cast<std::uint64_t>(options.integer("striping_unit")),
                       .factor = static_cast<std::uint32_t>(options.integer("striping_factor"))};
  return settings;
}

class PosixOutput final : public RawOutput {
 public:
  PosixOutput(const FileSpec& spec, Descriptor file, std::unique_ptr<collective::Collective> together)
      : RawOutput(spec),
        path_(spec.path),
        comm_(spec.comm),
        file_(std::move(file)),
        together_(std::move(together)) {
    if (!together_ && wants_early_blocks(spec.options)) blocks_ = EarlyBlocks::of(file_.get());
  }

  Status write(const Place& place, std::span<const SourceBlock> blocks) override {
    if (together_ && place.access == Access::collective)
      return together_->write(request_of(layout(), place, blocks)).status;
    return for_each_piece(layout(), place, blocks,
                          [&](const std::byte* data, std::uint64_t bytes, std::uint64_t at) {
                            blocks_.ask_for(at, bytes);
                            return write_at(file_.get(), data, bytes, at, path_);
                          });
  }

  Status close() override {
    if (comm_.rank() == 0) {
      // Arrays whose tail nobody wrote still have their full length.
      struct stat now {};
      const auto size = static_cast<off_t>(layout().size());
      if (::fstat(file_.get(), &now) != 0 || now.st_size != size) {
        if (::ftruncate(file_.get(), size) != 0) return fail_errno(errno, "set the size of", path_.string());
      }
      WEIR_TRY(save_layout(path_, layout()));
    }
    return file_.close(path_);
  }

 private:
  fs::path path_;
  mpi::Comm comm_;
  Descriptor file_;
  std::unique_ptr<collective::Collective> together_;  // none: each rank writes its blocks by itself
  EarlyBlocks blocks_;                                // by itself, too; collective I/O has its own
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
  // Options are the same on all ranks.
  WEIR_ASSIGN(const aggregation::Settings settings, settings_of(spec.options));
  // Rank 0 creates, the others open what it made: on a parallel file system one creation, not one per rank.
  Result<Descriptor> file = Descriptor();
  if (spec.comm.rank() == 0) {
    const auto striped = aggregation::create_striped(spec.path, settings.striping);
    file = striped ? open_file(spec.path, O_CREAT | O_TRUNC | O_RDWR)
                   : Result<Descriptor>(tl::make_unexpected(striped.error()));
  }
  WEIR_ASSIGN(Descriptor mine, mpi::agree(spec.comm, std::move(file)));
  file = Descriptor();
  if (spec.comm.rank() != 0) {
    file = open_file(spec.path, O_RDWR);
    if (file) mine = std::move(*file);
  }
  std::unique_ptr<collective::Collective> together;
  if (spec.options.text("collective") == "off" || spec.comm.size() == 1) {
    if (!file) return tl::make_unexpected(file.error());
  } else {
    WEIR_TRY(mpi::agree(spec.comm, file ? Status() : Status(tl::make_unexpected(file.error()))));
    WEIR_ASSIGN(together, collective::Collective::create(
                              spec.comm, {.descriptor = mine.get(), .path = spec.path.string()}, settings));
  }
  return std::make_unique<PosixOutput>(spec, std::move(mine), std::move(together));
}

Result<std::unique_ptr<Input>> open(const FileSpec& spec) {
  WEIR_ASSIGN(RawLayout layout, load_layout(spec));
  WEIR_ASSIGN(Descriptor file, open_file(spec.path, O_RDONLY));
  return std::make_unique<PosixInput>(spec.path, std::move(layout), std::move(file));
}

bool recognises(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && fs::is_regular_file(find_sidecar(path), error);
}

}  // namespace

Entry posix_entry() {
  return {
      .name = "posix",
      .summary = "plain file + FILE.json, written by pwrite(2)",
      .options = {{.name = "alignment",
                   .kind = Option::Kind::bytes,
                   .fallback = "1",
                   .help = "each array starts at a multiple of this",
                   .least = 1,
                   .most = std::int64_t{1} << 40},
                  early_blocks_option(),
                  {.name = "collective",
                   .kind = Option::Kind::word,
                   .fallback = "off",
                   .help = "whether the writers, I/O servers too, exchange data before they touch the file",
                   .words = {"off", "auto", "two-phase", "segmented", "direct"}},
                  {.name = "agg",
                   .kind = Option::Kind::boolean,
                   .fallback = "no",
                   .help = "collective: order of aggregators that knows the striping"},
                  {.name = "rr",
                   .kind = Option::Kind::boolean,
                   .fallback = "no",
                   .help = "collective: aggregators round-robin over nodes"},
                  {.name = "req",
                   .kind = Option::Kind::integer,
                   .fallback = "0",
                   .help = "collective: requests per storage target and step; 0: no throttling",
                   .least = 0,
                   .most = INT32_MAX},
                  {.name = "cb_nodes",
                   .kind = Option::Kind::integer,
                   .fallback = "0",
                   .help = "collective: number of aggregators; 0: as many as suit",
                   .least = 0,
                   .most = INT32_MAX},
                  {.name = "aggregators",
                   .kind = Option::Kind::numbers,
                   .fallback = "",
                   .help = "collective: which writers touch the file, in serving order: 0+2+4; empty: chosen",
                   .least = 0,
                   .most = INT32_MAX},
                  {.name = "domains",
                   .kind = Option::Kind::word,
                   .fallback = "automatic",
                   .help = "collective: how the file is dealt to aggregators",
                   .words = {"automatic", "even", "aligned", "cyclic"}},
                  {.name = "cb_buffer_size",
                   .kind = Option::Kind::bytes,
                   .fallback = "0",
                   .help = "collective: bytes an aggregator takes in one cycle, at least 4KiB; 0: as many "
                           "as suit",
                   .least = 4096,
                   .most = 1 << 30,
                   .or_zero = true},
                  {.name = "striping_unit",
                   .kind = Option::Kind::bytes,
                   .fallback = "0",
                   .help = "collective: bytes of a stripe; 0: ask the file system",
                   .least = 0,
                   .most = std::int64_t{1} << 40},
                  {.name = "striping_factor",
                   .kind = Option::Kind::integer,
                   .fallback = "1",
                   .help = "collective: number of storage targets",
                   .least = 1,
                   .most = INT32_MAX}},
      .extensions = {".dat", ".raw", ".bin"},
      .companions = {sidecar_suffix},
      .keeps_books_only = true,
      .create = create,
      .open = open,
      .recognises = recognises};
}

}  // namespace weir::backends
