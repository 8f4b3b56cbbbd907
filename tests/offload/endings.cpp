// A program that ends badly, in a way of its choice: endings SCENARIO MODE FOLDER. Used by endings.sh.
//
// It writes and closes FOLDER/whole.dat, then begins FOLDER/lost.dat and comes to its end in the middle of
// it.
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <vector>

#include "weir/weir.hpp"

namespace {

constexpr std::size_t mine = 20000;

struct Place {
  int rank = 0;
  int size = 1;
};

weir::Ticket write(weir::File& file, const Place& place, const std::vector<double>& data, int step) {
  return file.write("T", data,
                    {.shape = {mine * static_cast<std::uint64_t>(place.size)},
                     .offset = {mine * static_cast<std::uint64_t>(place.rank)},
                     .count = {mine},
                     .step = step});
}

// What was made from a session outlives its end, and is refused politely.
int after_end(weir::Session& io, const Place& place, const std::vector<double>& data,
              const std::string& folder) {
  weir::Buffer<double> array = io.allocate<double>(mine);
  weir::File direct =
      io.create(folder + "/direct.dat", {.backend = "posix", .policy = weir::Policy::synchronous});
  write(direct, place, data, 0);
  direct.close();
  weir::Reader in = io.open(folder + "/whole.dat");
  weir::File open = io.create(folder + "/lost.dat", {.backend = "posix"});
  weir::Ticket ticket = write(open, place, data, 0);
  int refused = 0;
  const auto expect_refusal = [&](const auto& body) {
    try {
      body();
    } catch (const weir::Error& error) {
      ++refused;
      std::fprintf(stderr, "refused: %s\n", error.what());
    }
  };
  expect_refusal([&] { io.end(); });
  expect_refusal([&] { write(open, place, data, 1); });
  expect_refusal([&] { open.set_attribute("a", "b"); });
  expect_refusal([&] { open.close(); });
  expect_refusal([&] { io.create(folder + "/more.dat"); });
  ticket.wait_stored();
  *array.fresh() = 1;
  io.end();
  return refused == 5 ? 0 : 5;
}

// Storage takes its time, and the program waits for it: neither needs a core for that.
void wait_long(weir::Session& io, const Place& place, const std::string& folder) {
  const std::vector<double> data(mine, 1);
  std::ofstream(folder + "/client" + std::to_string(place.rank)) << ::getpid() << "\n";
  weir::File slow = io.create(folder + "/slow.dat", {.backend = "faulty", .options = {{"delay", "4"}}});
  MPI_Barrier(io.compute());
  if (place.rank == 0) std::ofstream(folder + "/waiting") << "waiting\n";
  write(slow, place, data, 0).wait_stored();
  slow.close();
}

int run(const std::string& scenario, const std::string& mode, const std::string& folder) {
  int job_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &job_rank);
  const bool loses_server = scenario == "server-killed" || scenario == "server-stopped";
  const bool names_servers = loses_server || scenario == "idle";
  if (names_servers) {
    // Which rank serves is the session's affair: every rank says who it is, and those that come back take it
    // back.
    std::ofstream(folder + "/rank" + std::to_string(job_rank)) << ::getpid() << "\n";
  }
  static weir::Session* leaked = nullptr;
  const weir::SessionOptions options{.mode = mode};
  if (scenario == "finalize") leaked = new weir::Session(MPI_COMM_WORLD, options);
  std::optional<weir::Session> owned;
  if (leaked == nullptr) owned.emplace(MPI_COMM_WORLD, options);
  weir::Session& io = leaked != nullptr ? *leaked : *owned;
  if (names_servers) ::unlink((folder + "/rank" + std::to_string(job_rank)).c_str());
  Place place;
  MPI_Comm_rank(io.compute(), &place.rank);
  MPI_Comm_size(io.compute(), &place.size);
  if (scenario == "idle") {  // somebody looks at the servers meanwhile
    MPI_Barrier(io.compute());
    if (place.rank == 0) std::ofstream(folder + "/ready") << "ready\n";
    for (int i = 0; i < 100 && ::access((folder + "/seen").c_str(), F_OK) != 0; ++i) ::usleep(100'000);
    wait_long(io, place, folder);
  }
  const bool last = place.rank == place.size - 1;
  static std::vector<double> data;  // it must stay until it is written
  data.assign(mine, place.rank + 1);
  {
    weir::File whole = io.create(folder + "/whole.dat", {.backend = "posix"});
    write(whole, place, data, 0);
    whole.close();
  }
  if (scenario == "nothing" || scenario == "idle") return 0;
  if (scenario == "after-end") return after_end(io, place, data, folder);
  if (scenario == "lost-in-scope") {
    weir::File lost = io.create(folder + "/none/lost.dat", {.backend = "posix"});
    write(lost, place, data, 0);
    return 0;
  }
  if (scenario == "compute-after-end") {  // what the program was given stays until MPI is finalised
    MPI_Comm compute = io.compute();
    io.end();
    owned.reset();
    MPI_Barrier(compute);
    return 0;
  }
  if (scenario == "missing-folder") {  // on all ranks
    weir::File lost = io.create(folder + "/none/lost.dat", {.backend = "posix"});
    write(lost, place, data, 0).wait_stored();
    return 0;
  }
  if (scenario == "exception-between" && last) throw std::runtime_error("one rank has had enough");
  const std::vector<double> passing = data;  // goes with an exception
  auto lost = std::make_unique<weir::File>(
      io.create(folder + "/lost.dat", {.backend = "faulty", .options = {{"delay", "0.2"}}}));
  for (int step = 0; step < 4; ++step) write(*lost, place, scenario == "finalize" ? data : passing, step);
  if (scenario == "client-killed") {
    if (last) ::kill(::getpid(), SIGKILL);
    write(*lost, place, passing, 4).wait_stored();
  } else if (scenario == "client-stopped") {
    ::sleep(3);  // only who has answered before is missed
    if (last) ::raise(SIGSTOP);
    write(*lost, place, passing, 4).wait_stored();
  } else if (loses_server) {
    if (place.rank == 0) std::ofstream(folder + "/ready") << "ready\n";
    for (int step = 4; step < 200; ++step)
      write(*lost, place, scenario == "finalize" ? data : passing, step).wait_stored();
  } else if (scenario == "exception-between") {  // no file is open on the rank that leaves
    write(*lost, place, passing, 4).wait_stored();
  } else if (scenario == "exit") {
    if (last) std::exit(3);
    write(*lost, place, passing, 4).wait_stored();
  } else if (scenario == "exception") {  // on one rank; the others learn of it at their next call
    if (last) throw std::runtime_error("one rank has had enough");
    for (int step = 4; step < 20; ++step)
      write(*lost, place, scenario == "finalize" ? data : passing, step).wait_stored();
    lost->close();
  } else if (scenario == "exception-data") {  // it goes before the file does, and its memory with it
    const std::vector<double> late(std::size_t{4} << 20U, place.rank);
    const weir::Ticket ticket = lost->write("late", late,
                                            {.shape = {late.size() * static_cast<std::size_t>(place.size)},
                                             .offset = {late.size() * static_cast<std::size_t>(place.rank)},
                                             .count = {late.size()}});
    throw std::runtime_error("all ranks have had enough");
  } else if (scenario == "own-messages") {  // of the program, between ranks that hear of a failure and others
    if (last) throw std::runtime_error("one rank has had enough");
    double halo = place.rank;
    MPI_Bcast(&halo, 1, MPI_DOUBLE, place.size - 1, io.compute());
  } else if (scenario == "exception-late") {  // the data is gone long before the others come
    if (last) {
      const std::vector<double> gone(std::size_t{1} << 20U, 3);
      const weir::Ticket ticket = lost->write("late", gone, {.shape = {gone.size()}, .count = {gone.size()}});
      throw std::runtime_error("one rank has had enough");
    }
    ::sleep(7);  // whoever throws waits for 5 s
    for (int step = 4; step < 20; ++step) write(*lost, place, passing, step).wait_stored();
  } else if (scenario == "exceptions") {  // on all ranks
    throw std::runtime_error("all ranks have had enough");
  } else if (scenario == "end-unclosed") {
    io.end();
  } else if (scenario == "end-of-scope") {
    lost.reset();  // is closed
  } else if (scenario == "finalize") {
    static_cast<void>(lost.release());  // neither closed nor given up
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int result = 1;
  if (argc != 4) return 2;
  try {
    result = run(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "endings: %s\n", error.what());
  }
  MPI_Finalize();
  return result;
}
