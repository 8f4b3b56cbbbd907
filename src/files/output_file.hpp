// A file being written: checks what the program says, makes all ranks agree, keeps the books (steps, blocks,
// checksums), and drives a backend. Returns failures as values; the C and C++ interfaces are thin covers of
// it.
//
// Everything is COLLECTIVE unless it says LOCAL. After a failure of the storage beneath, the file is lost:
// every later call returns that failure and close() removes the temporary file. A failure of arguments leaves
// the file as it was.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "backends/backend.hpp"
#include "core/worker.hpp"
#include "files/catalogue.hpp"
#include "files/publish.hpp"
#include "files/reducing_writer.hpp"

namespace weir::files {

struct CreateOptions {
  std::string backend;  // "": by the extension of the path
  OptionMap options;
  bool checksums = false;
  bool fsync = false;         // close() returns when the data is on disk
  bool fsync_writes = false;  // and so does every write, as far as the library beneath has written by then
  std::uint64_t memory = 0;   // bytes that the backend may gather before it writes them; 0: any number
};

// "create 'run.h5' with backend 'hdf5', checksums": what was asked for, and no more.
std::string describe_create(const std::string& path, const CreateOptions& options);

// The backend that such a file gets. LOCAL.
Result<const backends::Entry*> backend_for(const std::string& path, const CreateOptions& options,
                                           bool with_mpi);

// A block, and the rank of the program that it came from.
struct OwnedBox {
  int owner = 0;
  Box box;
  bool operator==(const OwnedBox&) const = default;
};

class OutputFile {
 public:
  static Result<std::unique_ptr<OutputFile>> create(const mpi::Comm& comm, const std::string& path,
                                                    const CreateOptions& options, const Status& mine = {});
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();  // LOCAL: gives the file up unless it was closed

  Status write(const WriteRequest& request);  // LOCAL if request.independent
  Status reserve(const Heading& heading);
  // `mine` is what is wrong with the value on this rank.
  Status set_attribute(const backends::Attribute& attribute, const Status& mine = {});

  // A write on behalf of other ranks: begin() with the boxes that this process will deliver, then store() as
  // often as all processes agreed to, with any part of those boxes each time. `prior` is what went wrong on
  // this process before: nothing is stored then, anywhere.
  struct Ongoing {
    std::string name;
    std::optional<std::int64_t> step;
    backends::Place place;
  };
  Result<Ongoing> begin(const Heading& heading, const std::vector<OwnedBox>& boxes, const Status& prior);
  // `mine` is what went wrong with the data on this process.
  Status store(const Ongoing& ongoing, std::span<const backends::SourceBlock> blocks,
               const Status& mine = {});
  // The same for data of which less is stored. Instead of begin() and store(), and as often.
  Status store_reduced(const Heading& heading, const Reduction& reduction,
                       std::span<const ReducedBlock> blocks, const Status& mine);
  // LOCAL: into room that was reserved before. `owner`: the rank of the program that it came from.
  Status store_independently(const Heading& heading, const backends::SourceBlock& block, int owner);

  // LOCAL: nothing is kept of it, and what other ranks still do to it fails when this one comes to close().
  void give_up(Failure why);

  // `unseen` is a failure on this rank that the program has not been told: the file is then not published.
  // Other ranks may write before they close, which then fails, and so does this: `meanwhile`, where given, is
  // told at once, before all have come. See mpi::vote_until_joined.
  Status close(const std::optional<Failure>& unseen,
               const std::function<void(const Failure&)>& meanwhile = {});

  bool is_open() const { return output_ != nullptr; }
  // What made it unusable.
  const std::optional<Failure>& lost() const { return lost_; }
  const mpi::Comm& comm() const { return comm_; }
  const std::string& path() const { return publication_.path(); }
  bool is_reduced(const std::string& name) const { return reducing_ && reducing_->knows(name); }  // LOCAL
  std::uint64_t stored_bytes() const {
    return stored_bytes_;
  }                                            // LOCAL: by this process, of the program's data
  std::uint64_t peak_reducing_memory() const;  // LOCAL: the most bytes that reductions held at once

 private:
  // What is known of a variable, the same on every rank but for the members marked "mine".
  struct Known {
    backends::VariableId id = 0;
    backends::Variable info;
    std::vector<std::int64_t> steps;               // the program's number of each slot
    bool as_before = false;                        // `decomposition` belongs to `boxes` too
    std::vector<OwnedBox> boxes;                   // of the current slot, as far as written together
    BoxIndex index;                                // of the first of `boxes`, once more are added to them
    std::vector<OwnedBox> decomposition;           // of the last write that covered a fresh slot
    bool covers = false;                           // `decomposition` leaves no element out
    std::optional<std::vector<OwnedBox>> my_part;  // mine: the boxes of this process in `decomposition`
    std::vector<std::uint64_t> my_checksums;       // mine: rows for the table of checksums
  };

  OutputFile(mpi::Comm comm, CreateOptions options, const backends::Entry& entry, Publication publication,
             std::unique_ptr<backends::Output> output);

  Status write_as_is(const WriteRequest& request);
  Status write_reduced(const WriteRequest& request);
  Status write_results(const backends::Variable& variable, std::optional<std::int64_t> step,
                       std::span<const ReducedBlock> blocks);
  ReducingWriter& reducing();
  Status check_usable() const;
  Result<Ongoing> begin_resolved(const std::string& name, std::optional<std::int64_t> step,
                                 const Result<backends::Variable>& info, const std::vector<OwnedBox>& boxes);
  // A collective write follows, which settles what went wrong here, or nothing does.
  enum class Followed { by_a_write, by_nothing };
  Result<Known*> make_room(const backends::Variable& info, std::optional<std::int64_t> step,
                           Followed followed = Followed::by_nothing);
  Status define(const backends::Variable& info);
  std::vector<OwnedBox> arriving_boxes(const std::vector<OwnedBox>& mine, std::size_t dimensions) const;
  static Status check_overlap(Known* known, std::span<const OwnedBox> arriving);
  Status transfer(Known& known, const backends::Place& place, std::span<const backends::SourceBlock> blocks);
  std::vector<OwnedBox> with_untold(std::vector<OwnedBox> boxes, const std::string& name) const;
  Status check_untold();
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
  void let_go();

  mpi::Comm comm_;
  CreateOptions options_;
  const backends::Entry* entry_;
  Publication publication_;
  std::unique_ptr<backends::Output> output_;
  Catalogue catalogue_;
  std::map<std::string, Known> variables_;
  // Mine: what was written independently, by variable and slot, until the other ranks are told of it, by the
  // next collective write to the slot or by close().
  std::map<std::pair<std::string, std::uint64_t>, std::vector<OwnedBox>> untold_;
  std::optional<Failure> lost_;
  std::uint64_t stored_bytes_ = 0;
  Status unsettled_;  // of a reserve(): the other ranks have not been told
  // Checksums are computed by a thread where a processor is to spare. Where not, half of the ranks compute
  // before they write and half after: ranks that write to one file wait for each other anyway.
  bool spare_processor_ = false;
  std::unique_ptr<ReducingWriter> reducing_;  // once a write asked for it
};

}  // namespace weir::files
