// Weir's programming interface in C++.
//
//     weir::Session io(MPI_COMM_WORLD);
//     weir::File out = io.create("run.h5");  // the backend follows from the name, or {.backend = "posix"}
//     auto ticket = out.write("T", field,
//                             {.shape = {NX, NY}, .offset = {x0, y0}, .count = {nx, ny}, .step = 0});
//     ticket.wait();                         // errors arrive here
//     out.close();                           // now "run.h5" exists, and is whole
//
//     weir::Reader in = io.open("run.h5");
//     in.read("T", field, {.offset = {x0, y0}, .count = {nx, ny}, .step = 0});
//
// Calls are COLLECTIVE over the session's communicator unless they say LOCAL. A failure is the same on every
// rank: weir::Error with the file, the rank and the cause. A file stands under its name only when it is
// whole: until close() returns it is NAME.partial.XXXXXXXX, and a file of the same name that was there before
// stays untouched.
//
// Threads: one thread at a time per Session and everything made from it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "weir/types.hpp"

namespace weir {

// How the I/O of a whole program is done, the same on every rank. What is left out is as the plan of
// WEIR_PLAN says; without a plan, synchronous. A mapping, compute_per_server or node_size comes before who
// serves whom in a plan.
struct SessionOptions {
  std::string mode =
      {};  // "synchronous", "servers": some of the ranks do nothing else, "thread": one in each rank
  // Of servers: "consecutive", "hyperthread" or "oversubscribe". Ranks are pinned as 'weir run --mapping'
  // does it, unless the launcher has bound them, or there are more ranks than cores; left out: they are not.
  std::string mapping = {};
  std::uint32_t compute_per_server = 0;  // how many compute ranks share a server; 0: one
  std::uint32_t node_size = 0;           // ranks on a node; 0: found out
  std::uint64_t budget = 0;  // bytes of memory for data on its way, per server; 0: WEIR_BUDGET, else 1 GiB
};

// When a write of a file may return.
enum class Policy {
  automatic,     // as the session does it
  synchronous,   // when the data is in the file: the compute ranks write it themselves
  asynchronous,  // at once
  throttled,     // at once, unless `in_flight` writes of this file are still on their way
};

struct FileOptions {
  std::string backend = {};  // "": by the extension of the name, or as the plan says
  std::map<std::string, std::string> options =
      {};                  // of the backend: {{"deflate", "4"}}; 'weir version --backends' lists them
  bool checksums = false;  // xxh3 of every block, stored in the file, checked by 'weir verify FILE'
  bool fsync = false;      // close() returns when the data is on disk, not only with the system
  Policy policy = Policy::automatic;
  std::uint32_t in_flight = 1;  // of Policy::throttled
};

struct WriteOptions {
  Extent shape = {};   // of the whole array; may be left out once the variable is known
  Extent offset = {};  // of this rank's block; left out: zeros
  Extent count = {};   // of this rank's block; left out: the whole array
  std::optional<std::int64_t> step =
      {};                    // left out: the array is written once; else steps count up, any increment
  bool independent = false;  // LOCAL, into a reserved place. Blocks of ranks that overlap fail in close()
  // Stores less than is written (types.hpp): the same in every write of the variable. The blocks of a rank
  // stay the same within the steps of one result.
  Reduction reduce = {};
};

struct ReadOptions {
  Extent offset = {};  // left out: zeros
  Extent count = {};   // left out: the whole array
  std::optional<std::int64_t> step = {};
  bool independent = false;  // LOCAL
};

// An attribute as read: a text, or some numbers.
struct Attribute {
  std::string variable;  // "": of the file. Other programs have attributes of groups, too
  std::string name;
  bool is_text = false;
  std::string text;
  Type type = Type::uint8;          // of the numbers
  std::vector<std::byte> elements;  // the numbers, as in memory
};

struct VariableInfo {
  std::string name;
  Type type = Type::uint8;
  Extent shape;
  bool stepped = false;
  std::vector<std::int64_t> steps;  // the steps that were written; empty when not stepped
};

// One write under way. Copies refer to the same write. LOCAL; in any order, as often as you like. A ticket
// may be dropped: an error that nobody saw is thrown by close().
//
// The data must stay until it may be changed, also when an exception takes it out of scope: a ticket, and a
// file for all of its writes, that goes out of scope with an exception waits for that, 5 s at most. So
// declare data before its file, or keep the ticket.
class WEIR_API Ticket {
 public:
  Ticket();
  Ticket(const Ticket&) = default;
  Ticket(Ticket&&) noexcept = default;
  Ticket& operator=(const Ticket&) = default;
  Ticket& operator=(Ticket&&) noexcept = default;
  ~Ticket();
  bool test();    // may the data be changed? Never throws
  void wait();    // until the data may be changed; throws weir::Error if the write is known to have failed
  bool stored();  // is the data in the file, or has it failed? Never throws
  void wait_stored();  // until the data is in the file; throws weir::Error if it failed

  struct State;
  explicit Ticket(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

// A file being written. When it goes out of scope without close() it is closed, with errors printed on
// stderr; when an exception takes it out of scope it is given up, without waiting for other ranks.
class WEIR_API File {
 public:
  struct Impl;
  explicit File(std::unique_ptr<Impl> impl);
  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  ~File();

  // `data` holds this rank's block in C order: a vector, span, array, or weir::Buffer of elements.
  // An error is kept for ticket.wait(); if nobody waits, close() throws it.
  template <class Range>
  Ticket write(const std::string& name, const Range& data, const WriteOptions& options) {
    const auto elements = std::span(std::data(data), std::size(data));
    using T = std::remove_cv_t<typename decltype(elements)::element_type>;
    return write_elements(name, type_of<T>(), elements.data(), elements.size(), options);
  }
  Ticket write_elements(const std::string& name, Type type, const void* data, std::uint64_t elements,
                        const WriteOptions& options);

  // Makes a variable known and, for independent writing, makes room for it (for one step of it, when given).
  void reserve(const std::string& name, Type type, const Extent& shape,
               std::optional<std::int64_t> step = std::nullopt);

  void set_attribute(const std::string& name, const std::string& text);
  void set_attribute(const std::string& name, Type type, const void* elements, std::uint64_t count);
  void set_variable_attribute(const std::string& variable, const std::string& name, const std::string& text);
  void set_variable_attribute(const std::string& variable, const std::string& name, Type type,
                              const void* elements, std::uint64_t count);

  // The file gets its name. Throws if any write failed that nobody waited for, or that left the file
  // incomplete; the file is then removed.
  void close();
  // The same, but returns at once: the ticket's wait_stored() tells how it ended, and Session::end() if
  // nobody asked. The file is not published if any write failed, seen or not.
  Ticket close_later();
  // LOCAL: nothing is waited for, and the file gets no name; what other ranks still do to it fails. The data
  // of writes on their way must stay until their tickets say otherwise.
  void give_up();

 private:
  std::unique_ptr<Impl> impl_;
};

// A file being read.
class WEIR_API Reader {
 public:
  struct Impl;
  explicit Reader(std::unique_ptr<Impl> impl);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();  // LOCAL; prefer close()

  const std::vector<VariableInfo>& variables() const;           // LOCAL
  const std::vector<Attribute>& attributes() const;             // LOCAL
  const VariableInfo& variable(const std::string& name) const;  // LOCAL; throws not_found, with a suggestion
  const std::string& backend() const;                           // LOCAL

  // Fills `data`, which must be as large as the block.
  template <class Range>
  void read(const std::string& name, Range&& data, const ReadOptions& options = {}) {
    const auto elements = std::span(std::data(data), std::size(data));
    using T = typename decltype(elements)::element_type;
    read_elements(name, type_of<T>(), elements.data(), elements.size(), options);
  }
  void read_elements(const std::string& name, Type type, void* data, std::uint64_t elements,
                     const ReadOptions& options);

  void close();

 private:
  std::unique_ptr<Impl> impl_;
};

// Memory that Weir allocated, where an I/O server can read it: what lies in it is written without a copy.
// With servers or a thread it takes twice its bytes, where there are so many (see Buffer::fresh).
class WEIR_API Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;
  virtual void* data() const = 0;
  virtual void* fresh() = 0;
};

// An array in such memory.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<Memory> memory, std::size_t size) : memory_(std::move(memory)), size_(size) {}
  T* data() { return static_cast<T*>(memory_->data()); }
  const T* data() const { return static_cast<const T*>(memory_->data()); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }

  // To be called before the array is overwritten as a whole: no ticket needs to be waited for. If its
  // elements are still on their way into a file, the array moves to other memory (data() changes, the
  // elements are unspecified); there are two such places, and if both are on their way, it waits.
  T* fresh() { return static_cast<T*>(memory_->fresh()); }

 private:
  std::shared_ptr<Memory> memory_;
  std::size_t size_ = 0;
};

// What the I/O of a session cost. After end(): of all ranks, times are those of the slowest. Before: of this
// rank.
struct WEIR_API Summary {
  std::uint64_t files = 0;                // that were closed, whole
  std::uint64_t writes = 0;               // into those
  std::uint64_t bytes = 0;                // that the program gave for them
  double storing_seconds = 0;             // spent in the backend, by whoever writes
  double sending_seconds = 0;             // the program spent in write()
  double waiting_seconds = 0;             // in wait(), wait_stored(), fresh()
  double closing_seconds = 0;             // in create() and close()
  std::uint64_t peak_memory = 0;          // most bytes a server held at once: data, reductions, copies
  double transport_seconds = 0;           // spent moving data to where it is written, beside the program
  std::uint64_t transport_bytes = 0;      // of all ranks
  std::string transports;                 // how the data went: "shared memory", "MPI", ...
  double transport_bytes_per_second = 0;  // of all ranks; 0: nothing was copied
  std::uint64_t stored_bytes =
      0;  // in the files: not `bytes` where writes are reduced; 0: not known (servers, before end())

  double visible_seconds() const { return sending_seconds + waiting_seconds + closing_seconds; }
  std::string text() const;  // a few lines for a person
};

// The way in. Reads the plan that the environment names (WEIR_PLAN), if any. With I/O servers, the
// constructor does not return on them: they serve until the session ends on the compute ranks, finalise MPI
// and exit. So a later session cannot have them: of a communicator with such ranks, MPI_COMM_WORLD for one,
// it throws at once. Over a duplicate of compute() a later session is synchronous, and says so if WEIR_PLAN
// wants servers; with mode "servers" some of the ranks that are left serve it.
class WEIR_API Session {
 public:
  explicit Session(MPI_Comm comm, const SessionOptions& options = {});
  static Session serial();  // LOCAL: one process, and MPI need not be initialised
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // LOCAL: to be used by the program in place of the communicator it passed. It lives until MPI is finalised.
  MPI_Comm compute() const;

  File create(const std::string& path, const FileOptions& options = {});
  Reader open(const std::string& path, const FileOptions& options = {});  // the backend is found by content

  template <class T>
  Buffer<T> allocate(std::size_t size) {  // LOCAL; zeroed; written without a copy
    return Buffer<T>(allocate_bytes(size > SIZE_MAX / sizeof(T) ? SIZE_MAX : size * sizeof(T)), size);
  }
  std::shared_ptr<Memory> allocate_bytes(std::size_t bytes);  // LOCAL

  // Everything is in the files, I/O servers end. Files must be closed before. The destructor does the same,
  // with errors printed on stderr.
  void end();
  Summary summary() const;

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// LOCAL: gives a file that is closed another name, with what belongs to it, also on another file system. What
// Session::create() would not replace is not replaced; throws weir::Error, and the file keeps its name.
WEIR_API void rename_file(const std::string& from, const std::string& to);

}  // namespace weir
