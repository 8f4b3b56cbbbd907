// A program that starts sessions, and says where its ranks are: starts FOLDER [OPTION=VALUE]... Used by
// starts.sh.
//
// Options are those of a session; OPTION@RANK=VALUE holds on one rank only.
// second=world|compute|compute-servers starts another session after the first one. Every compute rank writes
// its part of FOLDER/N.dat, of session N, and reads all of it.
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "weir/weir.hpp"

namespace {

int job_rank = 0;
bool computes = false;

std::string cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  if (CPU_COUNT(&set) == sysconf(_SC_NPROCESSORS_ONLN)) return "all";
  std::string text;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set))
      text += (text.empty() ? "" : ",") + std::to_string(cpu);
  }
  return text;
}

// At once: launchers mix what ranks write in parts.
void say(const std::string& words) {
  const std::string line = "rank " + std::to_string(job_rank) + ": " + words + "\n";
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, line.data(), line.size());
}

// Servers never come back from the start of their session.
void say_what_served() {
  if (!computes) say("serves on cpus " + cpus());
}

std::map<std::string, std::string> options_of(int argc, char** argv) {
  std::map<std::string, std::string> options;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const auto equals = word.find('=');
    std::string name = word.substr(0, equals);
    if (const auto at = name.find('@'); at != std::string::npos) {
      if (std::stoi(name.substr(at + 1)) != job_rank) continue;
      name.resize(at);
    }
    options[name] = word.substr(equals + 1);
  }
  return options;
}

void write_and_read(weir::Session& io, const std::string& path) {
  int rank = 0, size = 1;
  MPI_Comm_rank(io.compute(), &rank);
  MPI_Comm_size(io.compute(), &size);
  const std::size_t mine = 1000, all = mine * static_cast<std::size_t>(size);
  const std::vector<double> data(mine, rank + 1.0);
  weir::File out = io.create(path, {.backend = "posix"});
  out.write("x", data, {.shape = {all}, .offset = {mine * static_cast<std::size_t>(rank)}, .count = {mine}});
  out.close();
  std::vector<double> back(all);
  weir::Reader in = io.open(path);
  in.read("x", back);
  in.close();
  for (std::size_t i = 0; i < all; ++i) {
    if (back[i] != static_cast<double>(i / mine + 1))
      throw std::runtime_error("what was written is not there");
  }
  say("computes as " + std::to_string(rank) + " of " + std::to_string(size) + " on cpus " + cpus());
}

void run(const std::string& folder, std::map<std::string, std::string> options) {
  const auto number = [&](const char* name) {
    return static_cast<std::uint32_t>(std::atoi(options[name].c_str()));
  };
  weir::Session io(MPI_COMM_WORLD, {.mode = options["mode"],
                                    .mapping = options["mapping"],
                                    .compute_per_server = number("compute_per_server"),
                                    .node_size = number("node_size")});
  computes = true;
  write_and_read(io, folder + "/1.dat");
  MPI_Comm compute = MPI_COMM_NULL;
  MPI_Comm_dup(io.compute(), &compute);
  io.end();
  const std::string second = options["second"];
  if (second.empty()) return;
  weir::Session again(second == "world" ? MPI_COMM_WORLD : compute,
                      {.mode = second == "compute-servers" ? "servers" : ""});
  write_and_read(again, folder + "/2.dat");
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &job_rank);
  if (argc < 2) return 2;
  std::atexit(say_what_served);
  try {
    run(argv[1], options_of(argc, argv));
  } catch (const std::exception& error) {
    computes = true;
    say(error.what());
    MPI_Finalize();
    return 3;
  }
  MPI_Finalize();
  return 0;
}
