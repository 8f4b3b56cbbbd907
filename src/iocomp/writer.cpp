#include "iocomp/writer.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

namespace weir::iocomp {

namespace {

constexpr std::array<const char*, 5> backends = {"mpiio", "hdf5", "adios2-hdf5", "adios2-bp4", "adios2-bp5"};

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::string(value) != "0";
}

// Wrong arguments are refused before anything is set up.
SessionOptions session_options(const Settings& settings) {
  if (settings.io_library < 0 || settings.io_library >= static_cast<int>(backends.size()))
    throw Error(ErrorCode::invalid_argument, -1,
                "iocompInit: ioLibNum is " + std::to_string(settings.io_library) +
                    "; it can be 0 (MPI-IO), 1 (HDF5), 2, 3 or 4 (ADIOS2 HDF5, BP4, BP5)");
  SessionOptions options;
  if (settings.servers) {
    options.mode = "servers";
    // What was compiled in for a machine comes behind a plan for the one the program runs on.
    if (!is_set("WEIR_PLAN")) options.node_size = settings.node_size;
  }
  return options;
}

// As close to a square as whole numbers allow; the smaller number first.
std::array<std::uint64_t, 2> rectangle(std::uint64_t size) {
  std::uint64_t side = 1;
  for (std::uint64_t candidate = 1; candidate <= size / candidate; ++candidate) {
    if (size % candidate == 0) side = candidate;
  }
  return {side, size / side};
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

}  // namespace

Writer::Writer(MPI_Comm comm, const Settings& settings)
    : settings_(settings), session_(comm, session_options(settings)) {
  MPI_Comm_dup(session_.compute(), &comm_);
  MPI_Comm_rank(comm_, &rank_);
  file_options_.backend = backends[static_cast<std::size_t>(settings.io_library)];
  file_options_.fsync = is_set("WEIR_IOCOMP_FSYNC");
  variable_ = settings.io_library <= 1 ? "IntArray" : "iodata";
  std::uint32_t token = std::random_device()();
  MPI_Bcast(&token, 1, MPI_UINT32_T, 0, comm_);
  char text[16];
  std::snprintf(text, sizeof text, "%08x", token);
  token_ = text;
}

void Writer::name(const double* array, const std::string& file) {
  names_[array] = file;
  last_name_ = file;
}

std::string Writer::name_for(const double* data) const {
  if (!settings_.default_name.empty()) return settings_.default_name;
  const auto found = names_.find(data);
  return found == names_.end() ? last_name_ : found->second;
}

Block Writer::place(std::size_t size) const {
  std::uint64_t mine = size;
  std::uint64_t before = 0;
  std::array<std::uint64_t, 2> range = {mine, ~mine};
  MPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, comm_);
  if (rank_ == 0) before = 0;
  std::uint64_t total = 0;
  MPI_Allreduce(&mine, &total, 1, MPI_UINT64_T, MPI_SUM, comm_);
  if (settings_.default_name.empty()) return {{mine}, {before}, {total}};
  MPI_Allreduce(MPI_IN_PLACE, range.data(), 2, MPI_UINT64_T, MPI_MAX, comm_);
  if (range[0] != ~range[1] || mine == 0) return {{mine}, {before}, {total}};
  const auto [rows, columns] = rectangle(mine);
  return {{rows, columns}, {before / columns, 0}, {total / columns, columns}};
}

// Runs what may fail for one file; says whether it did not.
template <class Body>
bool Writer::attempt(Send& send, Body&& body) {
  std::string message;
  try {
    body();
    return true;
  } catch (const std::exception& error) {
    message = error.what();
  }
  if (!send.failed) {  // later complaints about this file have the same cause
    if (!send.name.empty()) replace_all(message, send.made_as, send.name);
    report(message);
  }
  send.failed = true;
  return false;
}

Block Writer::send(const double* data, std::size_t size, const MPI_Request* request) {
  if (stopped_) throw Error(ErrorCode::state, -1, "dataSend: stopSend was called before");
  const Block block = place(size);
  Send& send = sends_.emplace_back();
  send.name = name_for(data);
  send.array = data;
  send.request = request;
  known_requests_.insert(request);
  const bool final_name = !settings_.late_names && !send.name.empty();
  send.made_as = final_name ? send.name
                            : (send.name.empty() ? "" : send.name + ".") + "iocomp-" + token_ + "-" +
                                  std::to_string(sent_);
  send.moved = final_name;
  ++sent_;
  // A name given before the send stands for this send alone if dataWait has the last word.
  if (settings_.late_names) {
    names_.erase(data);
    last_name_.clear();
  }
  send.closed = !attempt(send, [&] {
    File file = session_.create(send.made_as, file_options_);
    // HDF5 and others want an address, also for nothing.
    static constexpr double nothing = 0;
    send.ticket = file.write_elements(variable_, Type::float64, size == 0 ? &nothing : data, size,
                                      {.shape = block.global, .offset = block.start, .count = block.local});
    send.closing = file.close_later();
  });
  follow_up();
  return block;
}

Writer::Sends::iterator Writer::find(const MPI_Request* request, const double* array) {
  const auto by_request = std::find_if(sends_.begin(), sends_.end(), [&](const Send& send) {
    return !send.waited && request != nullptr && send.request == request;
  });
  if (by_request != sends_.end()) return by_request;
  return std::find_if(sends_.begin(), sends_.end(), [&](const Send& send) {
    return !send.waited && array != nullptr && send.array == array;
  });
}

bool Writer::may_change(const MPI_Request* request, const double* array) {
  const auto found = find(request, array);
  return found == sends_.end() || found->ticket.test();
}

void Writer::wait(const MPI_Request* request, const double* array, const std::string& file) {
  auto found = find(request, array);
  if (found == sends_.end() && !known_requests_.contains(request)) {
    // A copy of a request: nobody knows of which one, so all are waited for, and the oldest gets the name.
    for (Send& send : sends_) attempt(send, [&] { send.ticket.wait(); });
    found = std::find_if(sends_.begin(), sends_.end(), [](const Send& send) { return !send.waited; });
  }
  if (found == sends_.end()) return;
  attempt(*found, [&] { found->ticket.wait(); });
  found->waited = true;
  if (!file.empty() && !found->moved) found->name = file;
  follow_up();
}

// In the order of sending: of two files with one name, the later one stays.
void Writer::follow_up() {
  for (Send& send : sends_) {
    if (!send.closed && !send.closing.stored()) break;
    conclude(send);
  }
  forget_finished();
}

void Writer::conclude(Send& send) {
  if (!send.closed) attempt(send, [&] { send.closing.wait_stored(); });
  send.closed = true;
  move_to_name(send);
}

// One rank moves, when it knows the name: names are given at calls that other ranks make at other times.
void Writer::move_to_name(Send& send) {
  if (send.moved || !send.closed || send.failed || send.name.empty() || !(send.waited || stopped_)) return;
  send.moved = true;
  if (rank_ != 0) return;
  try {
    rename_file(send.made_as, send.name);
  } catch (const std::exception& error) {
    send.failed = true;
    report(std::string(error.what()) + "; the data is in " + send.made_as);
  }
}

void Writer::forget_finished() {
  sends_.remove_if([&](const Send& send) {
    return send.closed && (send.failed || (send.moved && (send.waited || !settings_.late_names)));
  });
}

void Writer::stop() {
  if (stopped_) return;
  stopped_ = true;
  for (Send& send : sends_) {
    conclude(send);
    if (!send.moved && !send.failed)
      report("stopSend: nobody named the file of a dataSend (preDataSend or dataWait do); it is " +
             send.made_as);
  }
  sends_.clear();
  try {
    session_.end();
  } catch (const std::exception& error) {
    report(error.what());
  }
  // Moving is done by one rank: nobody goes on before it is done, and all know whether it worked.
  MPI_Allreduce(MPI_IN_PLACE, &failures_, 1, MPI_INT, MPI_MAX, comm_);
  if (failures_ > 0 && first_failure_.empty()) first_failure_ = "writing failed, as another rank reports";
}

double* Writer::allocate(std::size_t size) {
  if (size > SIZE_MAX / sizeof(double)) throw std::bad_alloc();
  arrays_.push_back(session_.allocate_bytes(size * sizeof(double)));
  return static_cast<double*>(arrays_.back()->data());
}

void Writer::report(const std::string& message) {
  if (failures_++ == 0) first_failure_ = message;
  if (rank_ == 0) std::fprintf(stderr, "iocomp: %s\n", message.c_str());
}

}  // namespace weir::iocomp
