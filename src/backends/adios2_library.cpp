#include "backends/adios2_library.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <mutex>
#include <utility>

#include "backends/adios2_hdf5.hpp"
#include "core/file.hpp"

namespace weir::backends::bp {

namespace fs = std::filesystem;

namespace {

bool mpi_is_over() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

// Never destroyed, so that nothing in it is ever run at exit.
void keep_forever(std::unique_ptr<adios2::ADIOS> adios, const adios2::Engine& engine) {
  struct Abandoned {
    std::unique_ptr<adios2::ADIOS> adios;
    adios2::Engine engine;
  };
  static std::mutex mutex;
  static auto* all = new std::vector<Abandoned>;
  const std::scoped_lock lock(mutex);
  all->push_back({std::move(adios), engine});
}

}  // namespace

Library::Library(Format format, const mpi::Comm& comm)
    : adios_(comm.is_serial() ? std::make_unique<adios2::ADIOS>()
                              : std::make_unique<adios2::ADIOS>(comm.get())),
      io_(adios_->DeclareIO("weir")),
      format_(format) {
  constexpr std::array<const char*, 3> engines = {"BP4", "BP5", "HDF5"};
  io_.SetEngine(engines[static_cast<std::size_t>(format)]);
}

Library::~Library() {
  try {
    if (adios_ && mpi_is_over()) abandon();
    if (adios_) release();
  } catch (const std::exception&) {  // closing a file that was only read
  }
}

// A BP engine that read is destroyed without being closed: BP5 would leave a file of timings in /tmp.
void Library::release() {
  if (engine_ && format_ == Format::hdf5) engine_.Close();
  engine_ = {};
  io_ = {};
  adios_.reset();
}

void Library::open(const fs::path& path, adios2::Mode mode) {
  if (format_ == Format::hdf5 && mode == adios2::Mode::Write) hdf5_file_opened();
  engine_ = io_.Open(path.string(), mode);
}

void Library::close_written() {
  engine_.Close();
  if (format_ == Format::hdf5) hdf5_file_closed();
}

void Library::abandon() {
  if (adios_) keep_forever(std::move(adios_), engine_);
}

namespace {

// The text after "<...> : ", without terminal colours and the tail that ios_base::failure adds.
std::string essence(std::string_view message) {
  std::string plain;
  for (std::size_t i = 0; i < message.size(); ++i) {
    if (message[i] == '\033') {
      const std::size_t end = message.find('m', i);
      if (end == std::string_view::npos) break;
      i = end;
    } else if (message[i] != '\n') {
      plain += message[i];
    }
  }
  if (const std::size_t at = plain.rfind("> : "); at != std::string::npos) plain.erase(0, at + 4);
  for (const std::string_view tail : {": iostream error", ", in call to POSIX open", ", in call to Open"}) {
    if (const std::size_t at = plain.rfind(tail);
        at != std::string::npos && at + tail.size() == plain.size()) {
      plain.erase(at);
    }
  }
  return plain;
}

// "errno = 28" or "errno=2", as ADIOS2 and HDF5 print it.
int errno_in(std::string_view text) {
  std::size_t at = text.find("errno");
  if (at == std::string_view::npos) return 0;
  at = text.find_first_not_of(" =", at + 5);
  if (at == std::string_view::npos) return 0;
  int number = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), number);
  return number;
}

std::string innermost(const std::exception& error) {
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& nested) {
    return innermost(nested);
  } catch (...) {
  }
  return error.what();
}

}  // namespace

Failure failure_from(std::string_view message, ErrorCode fallback) {
  const std::string text = essence(message);
  if (const int number = errno_in(text); number != 0) {
    Failure failure = fail_errno(number, "", "").value();
    if (failure.code == ErrorCode::not_found) failure.code = fallback;  // a part of the file, not the file
    if (text.find("data.") != std::string::npos || text.find("md") != std::string::npos) failure.cause = text;
    return failure;
  }
  return {.code = fallback, .cause = "ADIOS2: " + (text.empty() ? "an error without a message" : text)};
}

Status guarded(Format format, std::string_view operation, const fs::path& path,
               const std::function<void()>& call, Reports reports) {
  Status status;
  std::optional<Hdf5Errors> hdf5;
  if (format == Format::hdf5) hdf5.emplace();
  try {
    call();
  } catch (const std::bad_alloc&) {
    status = fail(ErrorCode::io, "out of memory in ADIOS2",
                  "write smaller steps, or choose a backend that does not buffer them");
  } catch (const std::exception& error) {
    status = tl::make_unexpected(failure_from(innermost(error), ErrorCode::io));
  } catch (...) {
    status = fail(ErrorCode::io, "ADIOS2: an unknown exception");
  }
  if (hdf5 && reports == Reports::count && !hdf5->first().empty()) {
    Failure failure = failure_from(hdf5->first(), ErrorCode::io);
    if (failure.cause.starts_with("ADIOS2: ")) failure.cause.replace(0, 6, "HDF5");
    // MPI libraries often say no more than "I/O error".
    constexpr std::uint64_t nothing_left = 1 << 20;
    if (failure.code == ErrorCode::io && free_space(path) < nothing_left)
      failure = fail_errno(ENOSPC, "", "").value();
    status = tl::make_unexpected(std::move(failure));
  }
  return in(std::move(status), operation, path.string());
}

namespace {

struct Names {
  Type ours;
  adios2::DataType theirs;
  std::string_view text;  // as ADIOS2 spells it
};
constexpr std::array<Names, 13> names = {
    {{Type::int8, adios2::DataType::Int8, "int8_t"},
     {Type::int16, adios2::DataType::Int16, "int16_t"},
     {Type::int32, adios2::DataType::Int32, "int32_t"},
     {Type::int64, adios2::DataType::Int64, "int64_t"},
     {Type::uint8, adios2::DataType::UInt8, "uint8_t"},
     {Type::uint16, adios2::DataType::UInt16, "uint16_t"},
     {Type::uint32, adios2::DataType::UInt32, "uint32_t"},
     {Type::uint64, adios2::DataType::UInt64, "uint64_t"},
     {Type::float32, adios2::DataType::Float, "float"},
     {Type::float64, adios2::DataType::Double, "double"},
     {Type::long_double, adios2::DataType::LongDouble, "long double"},
     {Type::complex64, adios2::DataType::FloatComplex, "float complex"},
     {Type::complex128, adios2::DataType::DoubleComplex, "double complex"}}};

}  // namespace

bool stores(Type type) {
  return type != Type::complex_long_double;
}

adios2::DataType to_adios2(Type type) {
  for (const Names& entry : names) {
    if (entry.ours == type) return entry.theirs;
  }
  throw std::logic_error("a type that ADIOS2 does not have");
}

std::optional<Type> from_adios2(std::string_view type_name) {
  if (type_name == "char") return Type::int8;
  for (const Names& entry : names) {
    if (entry.text == type_name) return entry.ours;
  }
  return std::nullopt;
}

bool has_compression(const std::string& method) {
  try {
    adios2::ADIOS adios;
    adios.DefineOperator("probe", method);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace weir::backends::bp
