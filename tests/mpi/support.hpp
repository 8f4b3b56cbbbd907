// What MPI tests share: a folder that all ranks see, values that can be recomputed, and decompositions.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/box.hpp"
#include "core/types.hpp"
#include "weir/weir.hpp"

namespace weir::test {

// The session that all tests of a program share, and its ranks: session_fixture.cpp.
Session& session();
MPI_Comm world();

inline std::string mode() {  // "": synchronous
  const char* name = std::getenv("WEIR_TEST_MODE");
  return name == nullptr ? "" : name;
}

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(world(), &rank);
  return rank;
}

inline int world_size() {
  int size = 1;
  MPI_Comm_size(world(), &size);
  return size;
}

// A new empty folder, the same on every rank, removed at the end of its scope. COLLECTIVE.
class SharedFolder {
 public:
  SharedFolder() {
    char name[256] = {};
    if (world_rank() == 0) {
      const char* base = std::getenv("TMPDIR");
      std::snprintf(name, sizeof name, "%s/weir-test-XXXXXX", base == nullptr ? "/tmp" : base);
      if (::mkdtemp(name) == nullptr) std::abort();
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, world());
    path_ = name;
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  ~SharedFolder() {
    MPI_Barrier(world());
    std::error_code ignored;
    if (world_rank() == 0) std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

  std::vector<std::string> names() const {  // what stands in it now, sorted
    MPI_Barrier(world());
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    MPI_Barrier(world());
    return names;
  }

 private:
  std::filesystem::path path_;
};

// The part of the array that belongs to one of `parts`, cut along one dimension, uneven where it does not
// divide.
inline Box part_of(const Extent& shape, std::size_t dimension, int part, int parts) {
  Box box = Box::whole(shape);
  const std::uint64_t n = shape[dimension];
  const auto begin = n * static_cast<std::uint64_t>(part) / static_cast<std::uint64_t>(parts);
  const auto end = n * static_cast<std::uint64_t>(part + 1) / static_cast<std::uint64_t>(parts);
  box.offset[dimension] = begin;
  box.count[dimension] = end - begin;
  return box;
}

// A value that tells element, variable and step apart, in every type.
template <class T>
T value_at(std::uint64_t element, int seed) {
  const auto mixed =
      static_cast<std::uint32_t>((element + 1) * 2654435761U + static_cast<std::uint64_t>(seed) * 40503U);
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(mixed);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(mixed % 100003) / 8;
  } else {
    return T(static_cast<typename T::value_type>(mixed % 1009),
             -static_cast<typename T::value_type>(mixed % 13));
  }
}

template <class T>
std::vector<T> values_of(const Extent& shape, const Box& box, int seed) {
  std::vector<T> values(volume(box.count));
  for_each_run(shape, box, [&](const Run& run) {
    for (std::uint64_t i = 0; i < run.length; ++i)
      values[run.in_box + i] = value_at<T>(run.in_array + i, seed);
    return true;
  });
  return values;
}

// What the body throws on this rank.
std::string failure_of(const std::function<void()>& body);

// What the body throws, after making sure that all ranks saw the same. COLLECTIVE.
std::string common_failure(const std::function<void()>& body);

}  // namespace weir::test
