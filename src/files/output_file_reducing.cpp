// The part of OutputFile that has to do with reductions: between its requests and ReducingWriter.
#include <fmt/format.h>

#include "files/output_file.hpp"

namespace weir::files {

ReducingWriter& OutputFile::reducing() {
  if (reducing_) return *reducing_;
  using Step = std::optional<std::int64_t>;
  ReducingWriter::File file;
  file.usable = [this] { return check_usable(); };
  file.accepts = [this](const backends::Variable& variable, Step step) -> Status {
    if (variables_.count(variable.name) != 0)
      return fail(ErrorCode::invalid_argument,
                  "the variable was first written or reserved without a reduction");
    WEIR_TRY(catalogue_.resolve_variable({variable.name, variable.type, variable.shape, step}));
    return {};
  };
  file.define = [this](const backends::Variable& variable) { return define(variable); };
  file.write = [this](const backends::Variable& variable, Step step, std::span<const ReducedBlock> blocks) {
    return write_results(variable, step, blocks);
  };
  reducing_ = std::make_unique<ReducingWriter>(comm_, std::move(file));
  return *reducing_;
}

Status OutputFile::write_results(const backends::Variable& variable, std::optional<std::int64_t> step,
                                 std::span<const ReducedBlock> blocks) {
  std::vector<OwnedBox> boxes;
  std::vector<backends::SourceBlock> sources;
  for (const ReducedBlock& block : blocks) {
    if (block.box.empty()) continue;
    boxes.push_back({block.owner >= 0 ? block.owner : comm_.rank(), block.box});
    sources.push_back({block.box, block.data});
  }
  WEIR_ASSIGN(const Ongoing ongoing, begin({variable.name, variable.type, variable.shape, step}, boxes, {}));
  return store(ongoing, sources);
}

Status OutputFile::store_reduced(const Heading& heading, const Reduction& reduction,
                                 std::span<const ReducedBlock> blocks, const Status& mine) {
  const auto operation = [&] { return describe_write(heading.name, heading.step); };
  WEIR_TRY(in(mpi::agree(comm_, mine), operation, path()));
  return in(reducing().write({.name = heading.name,
                              .type = heading.type,
                              .shape = heading.shape,
                              .step = heading.step,
                              .reduction = reduction,
                              .blocks = blocks,
                              .elements = as_needed}),
            operation, path());
}

Status OutputFile::write_reduced(const WriteRequest& request) {
  const auto operation = [&] {
    return fmt::format("write variable '{}'{}", request.name,
                       request.step ? fmt::format(", step {}", *request.step) : "");
  };
  if (request.independent) {
    return in(Status(fail(ErrorCode::unsupported, "an independent write cannot be reduced",
                          "let all ranks write together, or write without a reduction")),
              operation, path());
  }
  const ReducedBlock block{.box = {request.offset, request.count}, .data = request.data};
  return in(reducing().write({.name = request.name,
                              .type = request.type,
                              .shape = request.shape,
                              .step = request.step,
                              .reduction = request.reduce,
                              .blocks = {&block, 1},
                              .elements = request.elements}),
            operation, path());
}

std::uint64_t OutputFile::peak_reducing_memory() const {
  return reducing_ ? reducing_->peak_memory() : 0;
}

}  // namespace weir::files
