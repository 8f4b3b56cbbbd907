#include "preload.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "build_info.hpp"

namespace weir::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* library_name = "libweir-mpiio.so";

// Where the shell would find the program, with all links followed; empty if nowhere.
std::string resolved(const std::string& word) {
  std::error_code error;
  if (word.find('/') != std::string::npos) return fs::canonical(word, error).string();
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / word;
    if (::access(candidate.c_str(), X_OK) != 0 || fs::is_directory(candidate, error)) continue;
    return fs::canonical(candidate, error).string();
  }
  return {};
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

Result<std::string> mpiio_library() {
  if (const char* const given = std::getenv("WEIR_MPIIO_LIBRARY"); given != nullptr && *given != '\0') {
    if (::access(given, R_OK) != 0) return fail_errno(errno, "WEIR_MPIIO_LIBRARY", given);
    return fs::absolute(given).string();
  }
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* const folder : {"../lib", "../" WEIR_LIBRARY_FOLDER, "."}) {
    const fs::path candidate = here / folder / library_name;
    if (fs::exists(candidate, error)) return fs::canonical(candidate).string();
  }
  return fail(ErrorCode::not_found, fmt::format("{} is not beside {}", library_name, here.string()),
              "build or install it, or name it by WEIR_MPIIO_LIBRARY");
}

Launcher launcher_of(const std::string& word) {
  const std::string called = fs::path(word).filename().string();
  const std::string name = fs::path(resolved(word)).filename().string();
  if (called == "srun" || name == "srun") return Launcher::srun;
  if (contains(name, "hydra") || contains(called, "hydra")) return Launcher::hydra;
  for (const char* const openmpi : {"orterun", "prterun", "openmpi"})
    if (contains(name, openmpi) || contains(called, openmpi)) return Launcher::openmpi;
  // Installed by hand, Open MPI 4's mpirun is a link to orterun; Open MPI 5's is a program of its own.
  if (called == "mpirun" || called == "mpiexec") {
    const std::string folder = fs::path(resolved(word)).parent_path().string();
    std::error_code error;
    if (fs::exists(folder + "/ompi_info", error)) return Launcher::openmpi;
    if (fs::exists(folder + "/mpichversion", error)) return Launcher::hydra;
  }
  return Launcher::other;
}

Result<Preloaded> preloaded(const std::vector<std::string>& words,
                            std::map<std::string, std::string> variables) {
  WEIR_ASSIGN(std::string library, mpiio_library());
  if (const char* const before = std::getenv("LD_PRELOAD"); before != nullptr && *before != '\0')
    library += fmt::format(":{}", before);
  variables["LD_PRELOAD"] = library;

  Preloaded command{.words = {words.at(0)}};
  switch (launcher_of(words[0])) {
    case Launcher::openmpi:
      for (const auto& [name, value] : variables)
        command.words.insert(command.words.end(), {"-x", fmt::format("{}={}", name, value)});
      break;
    case Launcher::hydra:
      for (const auto& [name, value] : variables)
        command.words.insert(command.words.end(), {"-genv", name, value});
      break;
    case Launcher::srun:  // passes its own environment on, unless told otherwise
    case Launcher::other:
      command.environment = std::move(variables);
      break;
  }
  command.words.insert(command.words.end(), words.begin() + 1, words.end());
  return command;
}

}  // namespace weir::cli
