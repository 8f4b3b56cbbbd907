// A file being written: checks what the program says, makes all ranks agree, keeps the books (steps, blocks,
// checksums), and drives a backend. Returns failures as values; the C and C++ interfaces are thin covers of
// it.
//
// Everything is COLLECTIVE unless it says LOCAL. After a failure of the storage beneath, the file is lost:
// every later call returns that failure and close() removes the temporary file. A failure of arguments leaves
// the file as it was.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "backends/backend.hpp"
#include "core/worker.hpp"
#include "files/publish.hpp"
#include "files/reducing_writer.hpp"

namespace weir::files {

struct CreateOptions {
  std::string backend;  // "": by the extension of the path
  OptionMap options;
  bool checksums = false;
  bool fsync = false;
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
};

class OutputFile {
 public:
  static Result<std::unique_ptr<OutputFile>> create(const mpi::Comm& comm, const std::string& path,
                                                    const CreateOptions& options);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();  // LOCAL: gives the file up unless it was closed

  Status write(const WriteRequest& request);  // LOCAL if request.independent
  Status reserve(const std::string& name, Type type, const Extent& shape, std::optional<std::int64_t> step);
  Status set_attribute(backends::Attribute attribute);

  // `unseen` is a failure on this rank that the program has not been told: the file is then not published.
  Status close(const std::optional<Failure>& unseen);

  bool is_open() const { return output_ != nullptr; }
  const mpi::Comm& comm() const { return comm_; }
  const std::string& path() const { return publication_.path(); }
  std::uint64_t peak_reducing_memory() const;  // LOCAL: the most bytes that reductions held at once

 private:
  struct RankedBox {
    int rank;
    Box box;
  };
  // What is known of a variable, the same on every rank but for the members marked "mine".
  struct Known {
    backends::VariableId id = 0;
    backends::Variable info;
    std::vector<std::int64_t> steps;          // the program's number of each slot
    std::vector<RankedBox> boxes;             // of the current slot, as far as written together
    std::vector<RankedBox> decomposition;     // of the last write that covered a fresh slot
    std::optional<Box> my_part;               // mine: this rank's box in `decomposition`
    std::vector<Box> my_boxes;                // mine: everything this rank wrote to the current slot
    std::vector<std::uint64_t> my_checksums;  // mine: rows for the table of checksums
  };
  // A request with everything that was left out filled in.
  struct Resolved {
    backends::Variable info;
    Box box;
    bool fresh_slot = false;
  };

  OutputFile(mpi::Comm comm, CreateOptions options, const backends::Entry& entry, Publication publication,
             std::unique_ptr<backends::Output> output);

  Status write_as_is(const WriteRequest& request);
  Status write_reduced(const WriteRequest& request);
  ReducingWriter& reducing();
  Status check_usable() const;
  Status check_no_group(const std::string& name) const;
  Status check_limits(const std::string& name) const;
  Result<backends::Variable> resolve_variable(const std::string& name, Type type, const Extent& shape,
                                              std::optional<std::int64_t> step) const;
  Result<Resolved> resolve(const WriteRequest& request) const;
  Result<Known*> make_room(const backends::Variable& info, std::optional<std::int64_t> step);
  Status define(const backends::Variable& info);
  std::vector<RankedBox> arriving_boxes(const Known* known, const Box& mine, bool changed) const;
  static Status check_overlap(const std::vector<RankedBox>& before, const std::vector<RankedBox>& arriving);
  Worker* checksum_worker();
  Status transfer(Known& known, const WriteRequest& request, const Box& box);
  Status write_books();
  Status write_steps(const Known& known);
  Status write_checksums(const Known& known);
  Status write_hidden(const std::string& name, Type type, const Extent& shape, const Box& box,
                      const void* data);

  // The outcome of a call to the backend, agreed; a failure loses the file.
  Status settle(Status mine);
  Status settle_books(
      Status mine);  // of define, reserve and set_attribute: agreed where ranks can differ at all
  Status lose(Failure failure);
  void give_up();

  mpi::Comm comm_;
  CreateOptions options_;
  const backends::Entry* entry_;
  Publication publication_;
  std::unique_ptr<backends::Output> output_;
  std::map<std::string, Known> variables_;
  std::set<std::string> attributes_;  // "variable\nname", to refuse duplicates
  std::int64_t last_step_ = 0;
  std::optional<Failure> lost_;
  std::unique_ptr<Worker> checksum_worker_;
  std::unique_ptr<ReducingWriter> reducing_;  // once a write asked for it
};

}  // namespace weir::files
