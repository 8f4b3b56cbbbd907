#include "backends/null.hpp"

namespace weir::backends {

namespace {

class NullOutput final : public Output {
 public:
  Status define(const Variable&) override { return {}; }
  Status set_attribute(const Attribute&) override { return {}; }
  Status reserve(VariableId, std::uint64_t, std::int64_t) override { return {}; }
  Status write(const Place&, std::span<const SourceBlock>) override { return {}; }
  Status close() override { return {}; }
};

Result<std::unique_ptr<Output>> create(const FileSpec&) {
  return std::make_unique<NullOutput>();
}

Result<std::unique_ptr<Input>> open(const FileSpec&) {
  return fail(ErrorCode::unsupported, "backend 'null' stores nothing that could be read");
}

}  // namespace

Entry null_entry() {
  return {.name = "null",
          .summary = "accepts everything, stores nothing",
          .stores_files = false,
          .keeps_books_only = true,
          .create = create,
          .open = open};
}

}  // namespace weir::backends
