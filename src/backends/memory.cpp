#include "backends/memory.hpp"

#include <cstring>
#include <map>
#include <mutex>

namespace weir::backends {

namespace {

using Slot = std::vector<std::byte>;  // the whole array

struct MemoryFile {
  std::vector<Variable> variables;
  std::vector<Attribute> attributes;
  std::vector<std::vector<Slot>> data;  // by variable, by slot
};

// The files of this process, by name. Only whole files are in it.
class Files {
 public:
  static Files& of_process() {
    static Files files;
    return files;
  }
  void put(const std::string& name, std::shared_ptr<const MemoryFile> file) {
    const std::scoped_lock lock(mutex_);
    files_[name] = std::move(file);
  }
  std::shared_ptr<const MemoryFile> get(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    const auto found = files_.find(name);
    return found == files_.end() ? nullptr : found->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const MemoryFile>> files_;
};

class MemoryOutput final : public Output {
 public:
  explicit MemoryOutput(const FileSpec& spec) : name_(spec.path.string()), comm_(spec.comm) {}

  Status define(const Variable& variable) override {
    file_.variables.push_back(variable);
    file_.variables.back().slots = 0;
    file_.data.emplace_back();
    written_.emplace_back();
    return {};
  }
  Status set_attribute(const Attribute& attribute) override {
    file_.attributes.push_back(attribute);
    return {};
  }
  Status reserve(VariableId id, std::uint64_t, std::int64_t) override {
    Variable& variable = file_.variables[id];
    ++variable.slots;
    file_.data[id].emplace_back(volume(variable.shape) * size_of(variable.type));
    written_[id].emplace_back();
    return {};
  }
  Status write(const Place& place, std::span<const SourceBlock> blocks) override {
    const Variable& variable = file_.variables[place.variable];
    for (const SourceBlock& block : blocks) {
      if (block.box.empty()) continue;
      copy_shared(block.box, block.data, Box::whole(variable.shape),
                  file_.data[place.variable][place.slot].data(), size_of(variable.type));
      written_[place.variable][place.slot].push_back(block.box);
    }
    return {};
  }
  Status close() override {
    for (VariableId id = 0; id < file_.variables.size(); ++id) {
      for (std::size_t slot = 0; slot < file_.data[id].size(); ++slot) share(id, slot);
    }
    Files::of_process().put(name_, std::make_shared<const MemoryFile>(std::move(file_)));
    return {};
  }

 private:
  // Every rank tells all others, in turn, the boxes it wrote and their content.
  void share(VariableId id, std::size_t slot) {
    const Variable& variable = file_.variables[id];
    const Box whole = Box::whole(variable.shape);
    const std::size_t size = size_of(variable.type);
    std::byte* const array = file_.data[id][slot].data();
    for (int root = 0; root < comm_.size() && comm_.size() > 1; ++root) {
      std::vector<Box>& mine = written_[id][slot];
      const bool sending = root == comm_.rank();
      const std::int64_t count = comm_.max(sending ? static_cast<std::int64_t>(mine.size()) : 0);
      for (std::int64_t i = 0; i < count; ++i) {
        Box box = sending ? mine[static_cast<std::size_t>(i)]
                          : Box{Extent(variable.shape.size()), Extent(variable.shape.size())};
        const std::uint64_t extent_bytes = variable.shape.size() * sizeof(std::uint64_t);
        comm_.broadcast_bytes(reinterpret_cast<std::byte*>(box.offset.data()), extent_bytes, root);
        comm_.broadcast_bytes(reinterpret_cast<std::byte*>(box.count.data()), extent_bytes, root);
        std::vector<std::byte> content(volume(box.count) * size);
        if (sending) copy_shared(whole, array, box, content.data(), size);
        comm_.broadcast_bytes(content.data(), content.size(), root);
        if (!sending) copy_shared(box, content.data(), whole, array, size);
      }
    }
  }

  std::string name_;
  mpi::Comm comm_;
  MemoryFile file_;
  std::vector<std::vector<std::vector<Box>>> written_;  // by variable, by slot: boxes of this rank
};

class MemoryInput final : public Input {
 public:
  explicit MemoryInput(std::shared_ptr<const MemoryFile> file) : file_(std::move(file)) {}

  const std::vector<Variable>& variables() const override { return file_->variables; }
  const std::vector<Attribute>& attributes() const override { return file_->attributes; }
  Status read(const Place& place, std::span<const TargetBlock> blocks) override {
    const Variable& variable = file_->variables[place.variable];
    for (const TargetBlock& block : blocks) {
      if (block.box.empty()) continue;
      copy_shared(Box::whole(variable.shape), file_->data[place.variable][place.slot].data(), block.box,
                  block.data, size_of(variable.type));
    }
    return {};
  }
  Status close() override { return {}; }

 private:
  std::shared_ptr<const MemoryFile> file_;
};

Result<std::unique_ptr<Output>> create(const FileSpec& spec) {
  return std::make_unique<MemoryOutput>(spec);
}

Result<std::unique_ptr<Input>> open(const FileSpec& spec) {
  auto file = Files::of_process().get(spec.path.string());
  if (!file) return fail(ErrorCode::not_found, "no such file in the memory of this process");
  return std::make_unique<MemoryInput>(std::move(file));
}

}  // namespace

Entry memory_entry() {
  return {.name = "memory",
          .summary = "kept in the memory of the processes; for tests",
          .stores_files = false,
          .keeps_books_only = true,
          .create = create,
          .open = open};
}

}  // namespace weir::backends
