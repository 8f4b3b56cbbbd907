// The writes of a file that store less than the program writes: collects the steps of a result, block by
// block, and writes the result when it is complete. A rank's blocks are known by their boxes and may be any
// number per call; a server that writes for many clients passes the blocks of all of them.
//
// All ranks make the same calls, so that all know alike which call completes a result; nothing is gathered
// for it. A step may take several calls, for different parts of the array: the first step of a result decides
// how many, and with which blocks on each rank, and the other steps do the same again.
//
// A call that is refused leaves everything as it was. Threads: one thread at a time.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "files/reduction.hpp"
#include "mpi/comm.hpp"

namespace weir::files {

// A block of the array that the program writes; in what goes to the file, of the array of results.
struct ReducedBlock {
  Box box;
  const std::byte* data = nullptr;
  int owner = -1;  // passed through: whose block it is
};

class ReducingWriter {
 public:
  // What it needs of the file.
  struct File {
    std::function<Status()> usable;  // LOCAL
    std::function<Status(const backends::Variable&, std::optional<std::int64_t>)>
        accepts;                                              // LOCAL: could it be stored?
    std::function<Status(const backends::Variable&)> define;  // COLLECTIVE: from now on the variable is known
    std::function<Status(const backends::Variable&, std::optional<std::int64_t>,
                         std::span<const ReducedBlock>)>
        write;
  };
  struct Call {
    std::string name;
    Type type = Type::uint8;
    Extent shape;  // may be left out once the variable is known
    std::optional<std::int64_t> step;
    Reduction reduction;
    std::span<const ReducedBlock> blocks;  // in a box, what was left out is filled in: zeros, the whole array
    std::uint64_t elements = as_needed;    // of the buffer, when there is one block
  };

  ReducingWriter(mpi::Comm comm, File file) : comm_(std::move(comm)), file_(std::move(file)) {}

  Status write(const Call& call);  // COLLECTIVE
  Status finish();                 // COLLECTIVE: stores what the file's end leaves incomplete
  bool knows(const std::string& name) const { return variables_.count(name) != 0; }
  std::uint64_t memory() const;                        // LOCAL: bytes held by accumulators
  std::uint64_t peak_memory() const { return peak_; }  // the most so far, with what passed through

 private:
  struct Held {
    Box box;
    Box kept;  // in the array of results
    int owner = -1;
    std::unique_ptr<Accumulator> accumulator;  // none where every step is stored
  };
  using Part = std::vector<Held>;  // the blocks of one call
  using Rooms = std::vector<std::vector<std::byte>>;
  struct Variable {
    Reduction reduction;
    Type type = Type::uint8;
    Extent shape;
    backends::Variable stored;
    std::optional<std::int64_t> step;  // the current one
    std::uint64_t steps = 0;           // of the result being formed, the current one included
    std::size_t calls = 0;             // in the current step
    std::size_t live = 0;              // calls in the first step of this result
    std::vector<Part> parts;  // by call within a step; beyond `live`, of the result before, to be used again
    bool opens_step(std::optional<std::int64_t> next) const { return steps == 0 || next != step; }
  };
  // A call, checked, with all memory it needs.
  struct Staged {
    Variable fresh;  // for a variable that was not known
    bool new_step = false;
    bool new_result = false;  // the first step of one
    bool completes = false;
    std::size_t index = 0;        // of the call in its step
    std::optional<Part> part;     // for the first step of a result, unless that of the result before will do
    std::vector<Box> boxes;       // of the call, with everything filled in
    std::vector<std::size_t> at;  // the place of each in the part
    Rooms thinned;                // by block of the call: what is left after sub-sampling
  };

  Result<Staged> stage(const Call& call) const;
  Status stage_variable(const Call& call, Variable& fresh, const Variable*& known) const;
  static Status stage_place(const Call& call, const Variable& known, Staged& staged);
  static Status stage_boxes(const Call& call, const Variable& known, Staged& staged);
  static Status stage_memory(const Call& call, const Variable& known, Staged& staged);
  static std::optional<std::vector<std::size_t>> match(const std::vector<Box>& boxes, const Part& part);
  static tl::unexpected<Failure> unequal_steps(const Variable& variable);
  Result<Variable*> commit(const Call& call, Staged& staged);
  Status store(Variable& variable, Part& part);
  void note_memory(const Rooms& passing);

  mpi::Comm comm_;
  File file_;
  std::map<std::string, Variable> variables_;
  std::uint64_t peak_ = 0;
};

}  // namespace weir::files
