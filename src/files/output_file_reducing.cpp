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
    WEIR_TRY(resolve_variable(variable.name, variable.type, variable.shape, step));
    return {};
  };
  file.define = [this](const backends::Variable& variable) { return define(variable); };
  file.write = [this](const backends::Variable& variable, Step step, std::span<const ReducedBlock> blocks) {
    const ReducedBlock& block = blocks.front();  // a request has one
    return write_as_is({.name = variable.name,
                        .type = variable.type,
                        .shape = variable.shape,
                        .offset = block.box.offset,
                        .count = block.box.count,
                        .step = step,
                        .data = block.data,
                        .elements = as_needed});
  };
  reducing_ = std::make_unique<ReducingWriter>(comm_, std::move(file));
  return *reducing_;
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
