// The storage interface: what a file format has to be able to do. docs/write-a-backend.md walks through it.
//
// A file holds named variables. A variable is a global array of one type and shape, written once, or once per
// *slot* when it is stepped: slot 0 is the first step that was written, whatever number the program gave it.
// Data arrives in blocks (boxes of the array, contiguous in memory) that any rank may own; elements nobody
// writes read back as zero.
//
// The layer above (files/) has already checked names, types, shapes and boxes, has made all ranks agree,
// and hands over a temporary path: a backend neither validates nor renames. It does report every failure of
// the library beneath it. A backend need not make ranks agree on failures: the layer above does that after
// every call.
//
// Threads: one thread at a time per object.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/box.hpp"
#include "core/options.hpp"
#include "core/types.hpp"
#include "mpi/comm.hpp"

namespace weir::backends {

struct Variable {
  std::string name;  // may contain '/', as in "fields/T"
  Type type = Type::uint8;
  Extent shape;
  bool stepped = false;
  std::uint64_t slots = 1;  // on reading: how many there are; 1 when not stepped
};

struct Attribute {
  std::string variable;  // empty: of the file. Other programs have attributes of groups, too
  std::string name;
  AttributeValue value;
};

// Something in a file of another program that Weir cannot read.
struct Unreadable {
  std::string variable;        // an array, or, of an attribute, whose it is; empty: the file's
  std::string attribute = {};  // empty: the array itself
  std::string why;             // "type not supported: text"
};

using VariableId = std::uint32_t;  // the order of definition, from 0

// Whether all ranks make this call together, or some of them on their own.
enum class Access { collective, independent };

struct Place {
  VariableId variable = 0;
  std::uint64_t slot = 0;
  Access access = Access::collective;
  // Of a collective write, the same on every rank. In this call or a few of them all ranks together ...
  bool covered = false;   // ... write every element of the slot
  bool repeated = false;  // ... write the same boxes as in the slot before
};

struct SourceBlock {
  Box box;
  const std::byte* data = nullptr;
};

struct TargetBlock {
  Box box;
  std::byte* data = nullptr;
};

// A file being written. Destroying it without close() is LOCAL and gives up the file: nothing is flushed,
// nothing waits for other ranks. Not to be used again after a failure, except to be destroyed.
class Output {
 public:
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  virtual ~Output() = default;

  // COLLECTIVE. Adds a variable; ids count up from 0.
  virtual Status define(const Variable& variable) = 0;
  // COLLECTIVE, same arguments everywhere.
  virtual Status set_attribute(const Attribute& attribute) = 0;
  // COLLECTIVE. Makes room for a slot, in order (0, 1, ...), before anything is written to it. `step` is the
  // program's own number of it: formats that keep the variables of a step together start a new one when it
  // changes.
  virtual Status reserve(VariableId variable, std::uint64_t slot, std::int64_t step) = 0;
  // COLLECTIVE. The same where a collective write() to the slot follows: what that makes anyway need not be
  // made here.
  virtual Status reserve_to_write(VariableId variable, std::uint64_t slot, std::int64_t step) {
    return reserve(variable, slot, step);
  }
  // COLLECTIVE or LOCAL, as place.access says. Any number of blocks per rank, none and empty ones included.
  // The data may be reused after the call returns.
  virtual Status write(const Place& place, std::span<const SourceBlock> blocks) = 0;
  // COLLECTIVE. Everything has reached the operating system, under the path the file was created with.
  virtual Status close() = 0;
  // LOCAL, the same on every rank. Whether reserve() may fail on one rank and the others go on: that rank
  // takes part in the collective write() that follows, without blocks, and the ranks agree once about both.
  virtual bool settles_late() const { return false; }
};

// A file being read.
class Input {
 public:
  Input() = default;
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  virtual ~Input() = default;

  // LOCAL. The same on every rank; a variable's id is its place in the list.
  virtual const std::vector<Variable>& variables() const = 0;
  virtual const std::vector<Attribute>& attributes() const = 0;
  // LOCAL. What is there besides.
  virtual std::vector<Unreadable> unreadable() const { return {}; }
  // COLLECTIVE or LOCAL, as place.access says.
  virtual Status read(const Place& place, std::span<const TargetBlock> blocks) = 0;
  // LOCAL. Whether this rank gains nothing from the others when it reads this box: what all ranks ask for
  // together is then read with Access::independent, and nobody waits before it is.
  virtual bool reads_alone(VariableId, const Box&) const { return true; }
  // COLLECTIVE. Destroying an Input without it is LOCAL and may leave handles open until the process ends.
  virtual Status close() = 0;
};

struct FileSpec {
  std::filesystem::path path;
  mpi::Comm comm;
  Options options;  // checked against the entry's declaration
  // Bytes of data that an output may gather before it writes them; the same on every rank. 0: as many as it
  // likes.
  std::uint64_t memory = 0;
};

// What a format cannot store although others can; checked before it is asked to.
struct Limits {
  std::size_t name_part = SIZE_MAX;        // bytes between the slashes of a variable's name
  std::size_t attribute_name = SIZE_MAX;   // bytes, with the variable's name and a slash
  std::size_t attribute_text = SIZE_MAX;   // bytes
  std::size_t attribute_bytes = SIZE_MAX;  // of numbers
};

// One line of the table of backends. A backend that was not compiled in has no functions but says why.
struct Entry {
  std::string_view name;
  std::string_view summary;
  std::string_view missing;  // "" or "built without HDF5"
  std::vector<Option> options;
  std::vector<std::string_view> extensions;       // ".h5": chosen when a program names no backend
  std::vector<std::string_view> companions = {};  // suffixes of further files that belong to FILE: ".json"
  bool makes_folder = false;                      // the product is a folder, as ADIOS2's .bp
  bool needs_mpi = false;                         // cannot work on the serial communicator
  bool stores_files = true;                       // false: nothing appears in the file system (null, memory)
  bool keeps_books_only = false;  // define, set_attribute and reserve do the same on every rank, without I/O

  // COLLECTIVE over spec.comm. A file of that name is replaced.
  Result<std::unique_ptr<Output>> (*create)(const FileSpec&) = nullptr;
  Result<std::unique_ptr<Input>> (*open)(const FileSpec&) = nullptr;
  // LOCAL, by content: is this a file that this backend reads best? Asked in the order of the table.
  bool (*recognises)(const std::filesystem::path&) = nullptr;
  // nullptr: every type can be stored.
  bool (*stores)(Type) = nullptr;
  Limits limits = {};
  std::vector<std::string_view> own_attributes = {};  // of the file: names that the format uses itself
};

// The table, in order of preference. LOCAL.
std::span<const Entry> table();

// COLLECTIVE. The communicator of a file that is written: one of its own where the backend talks between
// ranks while it writes, so that its messages never meet ours when it is left halfway. (The libraries
// themselves, MPI-IO, HDF5 and ADIOS2, duplicate what they are given.)
mpi::Comm comm_for(const Entry& entry, const mpi::Comm& comm);

Result<const Entry*> find(std::string_view name);  // unknown, or built without: a failure that says so
Result<const Entry*> choose_for_writing(
    const std::filesystem::path& path);  // by extension; posix when there is none
Result<const Entry*> choose_for_reading(const std::filesystem::path& path);  // by content

}  // namespace weir::backends
