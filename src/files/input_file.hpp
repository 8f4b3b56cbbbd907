// A file being read: finds the backend, checks what the program asks for, makes all ranks agree.
//
// Everything is COLLECTIVE unless it says LOCAL.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "backends/backend.hpp"

namespace weir::files {

struct ReadRequest {
  std::string name;
  Type type = Type::uint8;
  Extent offset;  // left out: zeros
  Extent count;   // left out: the whole array
  std::optional<std::int64_t> step;
  std::byte* data = nullptr;
  std::uint64_t elements = 0;
  bool independent = false;
};

// A variable of the program, with the numbers it gave its steps.
struct Contents {
  backends::VariableId id = 0;
  backends::Variable info;
  std::vector<std::int64_t> steps;  // empty when not stepped
};

class InputFile {
 public:
  static Result<std::unique_ptr<InputFile>> open(const mpi::Comm& comm, const std::string& path,
                                                 const std::string& backend, const OptionMap& options);

  // LOCAL
  const std::vector<Contents>& contents() const { return contents_; }
  const std::vector<backends::Attribute>& attributes() const { return input_->attributes(); }
  std::vector<backends::Unreadable> unreadable() const { return input_->unreadable(); }
  Result<const Contents*> find(const std::string& name) const;
  const std::string& path() const { return path_; }
  const std::string& backend() const { return backend_; }
  bool is_open() const { return input_ != nullptr; }

  Status read(const ReadRequest& request);  // LOCAL if request.independent
  Status close();

  bool has_checksums(const std::string& name) const;  // LOCAL
  struct Verdict {
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t damaged_blocks = 0;
    std::vector<std::string> damaged;  // in words, the first hundred of them
  };
  // Every rank reads every block that has a checksum, at most `budget` bytes at a time; progress(bytes so
  // far) now and then.
  Result<Verdict> verify(const std::string& name, std::uint64_t budget,
                         const std::function<void(std::uint64_t)>& progress);

 private:
  InputFile(mpi::Comm comm, std::string path, std::string backend, std::unique_ptr<backends::Input> input);
  Status list_contents();
  Result<std::vector<std::byte>> read_hidden(const std::string& name, Type type, std::uint64_t most_elements);
  Result<backends::Place> resolve(const ReadRequest& request, Box& box) const;

  mpi::Comm comm_;
  std::string path_;
  std::string backend_;
  std::unique_ptr<backends::Input> input_;
  bool disagreed_ = false;  // ranks made different calls; one may be done with the file and not come to close
  std::vector<Contents> contents_;
  std::map<std::string, backends::VariableId> hidden_;
};

}  // namespace weir::files
