// STREAM that writes its arrays while it goes on, after Listing 4 of the paper on iocomp, and plain STREAM
// beside it.
//
// In every loop the four kernels run one after the other; in every `write_every`-th loop each kernel's array
// is written after it. Two things differ from the listing as printed:
//  - Its conditions are (i+1) % F once and i % F three times. Here it is i % F == 0 for all four: then
//  compute
//    follows every write, the last one included, so that there is something to hide it behind.
//  - It waits for an array only in loops that write, which for F > 1 is after the array was overwritten.
//    Here a write under way is waited for at the listing's place in whatever loop comes next.
// With `spread` the writes do not follow each other at once, as in the listing, but are spread over the
// loops. With arrays that Weir allocated, nothing is waited for: Buffer::fresh() before each kernel instead.
//
// The file has four variables "copy", "scale", "add", "triad", one step for each loop that writes (its number
// is the loop's).
//
// COLLECTIVE over the session's compute communicator unless said otherwise. Storage failures are thrown as
// weir::Error, as the programming interface does. Threads: one.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "weir/weir.hpp"
#include "workloads/stream_kernels.hpp"

namespace weir::workloads {

// By kernel, the loop of every `write_every` in which its array is written.
std::array<int, 4> spread_writes(int write_every);

struct StreamSettings {
  std::uint64_t elements = 0;  // of an array, all ranks together
  int loops = 1;
  int write_every = 1;
  // The four arrays are written as evenly apart as can be, each after its own kernel, and waited for only
  // before they are overwritten: compute follows every single write.
  bool spread = false;
  bool tests = false;        // Ticket::test() between the pieces of a kernel while a write is under way
  bool weir_arrays = false;  // allocated by the session
  std::string path;
  std::string backend;

  // Of the array of this kernel.
  bool writes_in(Kernel kernel, int loop) const { return loop % write_every == first_write(kernel); }
  int writes(Kernel kernel) const { return (loops - first_write(kernel) + write_every - 1) / write_every; }
  int first_write(Kernel kernel) const {
    return spread ? spread_writes(write_every)[static_cast<std::size_t>(kernel)] : 0;
  }
};

// Seconds, of the slowest rank each.
struct StreamTimes {
  std::array<double, 4> kernels = {};  // by Kernel; test calls included
  double send = 0;                     // in write()
  double wait = 0;                     // in wait() or fresh()
  double open_close = 0;               // in create() and close()
  double wall = 0;                     // until close() returned: all data is in the file
  double compute() const { return kernels[0] + kernels[1] + kernels[2] + kernels[3]; }
  StreamTimes& operator+=(const StreamTimes& other);
};

// This rank's block of the arrays, to be used again by every run of one size.
class StreamArrays {
 public:
  StreamArrays(Session& session, std::uint64_t elements);  // of all ranks
  std::vector<double> a, b, c;
  std::uint64_t first = 0;  // element of the global array

  Buffer<double>& weir_array(Session& session, std::size_t which);  // 0: a, ...; allocated when first asked

 private:
  std::array<Buffer<double>, 3> weir_;
};

// Runs, and checks the arrays at the end as STREAM does; a difference is thrown as an Error.
StreamTimes run_stream(Session& session, StreamArrays& arrays, const StreamSettings& settings);

// The same kernels on the same memory, without the library. `write` is called where an array would be
// written.
StreamTimes run_plain_stream(Session& session, StreamArrays& arrays, const StreamSettings& settings,
                             const std::function<void()>& write = {});

// Reads everything that run_stream wrote and compares every element.
Status verify_stream(Session& session, const StreamSettings& settings);

}  // namespace weir::workloads
