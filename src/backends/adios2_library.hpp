// What the three ADIOS2 backends share: the library as an object that can be given up, its types, and its
// errors as failures.
#pragma once

#include <adios2.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backends/backend.hpp"

namespace weir::backends::bp {

enum class Format { bp4, bp5, hdf5 };

// One adios2::ADIOS with its single IO and engine. COLLECTIVE to make; destroying is local work but for
// communicators freed.
class Library {
 public:
  Library(Format format, const mpi::Comm& comm);
  Library(Library&&) = default;
  Library& operator=(Library&&) = default;
  ~Library();

  adios2::IO& io() { return io_; }
  adios2::Engine& engine() { return engine_; }
  void open(const std::filesystem::path& path, adios2::Mode mode);

  void close_written();  // COLLECTIVE; of an engine that wrote
  void release();        // of an engine that reads or is closed: frees everything ahead of the destructor

  // LOCAL. Lets go of an engine that was not closed. ADIOS2 cannot be destroyed in that state: BP4 and BP5
  // free shared windows and write to the index, HDF5 closes the file, all of it together with ranks that may
  // never come. So it stays behind, reachable, with what it holds in memory.
  void abandon();

 private:
  std::unique_ptr<adios2::ADIOS> adios_;
  adios2::IO io_;
  adios2::Engine engine_;
  Format format_;
};

// Runs a call into ADIOS2; what it throws, and what HDF5 beneath it reports and ADIOS2 overlooks, becomes a
// failure. A few calls ask HDF5 for things that are not there and mean no harm; their reports are dropped.
enum class Reports { count, drop };
Status guarded(Format format, std::string_view operation, const std::filesystem::path& path,
               const std::function<void()>& call, Reports reports = Reports::count);

// A variable that is in a step of BP4 only so that the step is not empty; never shown.
inline constexpr std::string_view step_marker = "weir:step";

// "[time] [ADIOS2 EXCEPTION] <Toolkit> <...> <Write> : couldn't write ... errno = 28: ..." as a failure with
// its essence.
Failure failure_from(std::string_view message, ErrorCode fallback);

adios2::DataType to_adios2(Type type);  // REQUIRES: stores(type)
std::optional<Type> from_adios2(std::string_view type_name);
bool stores(Type type);
bool has_compression(const std::string& method);  // in this build of ADIOS2

}  // namespace weir::backends::bp
