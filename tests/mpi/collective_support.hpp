// Random collective accesses that every rank can foretell: who touches which bytes of a file, and what must
// be in it.
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "collective/collective.hpp"
#include "core/file.hpp"

namespace weir::test {

inline int ranks() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}
inline int rank() {
  int number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  return number;
}

// The same numbers on every rank that begins with the same seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t operator()(std::uint64_t least, std::uint64_t most) {
    return least + engine_() % (most - least + 1);
  }
  bool chance(std::uint64_t one_in) { return engine_() % one_in == 0; }

 private:
  std::mt19937_64 engine_;
};

// A file that all ranks have open, in a folder of its own that goes with it. COLLECTIVE.
class SharedFile {
 public:
  explicit SharedFile(const char* name = "file") {
    char folder[256] = {};
    if (rank() == 0) {
      const char* base = std::getenv("TMPDIR");
      std::snprintf(folder, sizeof folder, "%s/weir-collective-XXXXXX", base == nullptr ? "/tmp" : base);
      if (::mkdtemp(folder) == nullptr) std::abort();
    }
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    folder_ = folder;
    path_ = folder_ / name;
    for (int turn = 0; turn < 2; ++turn) {  // made by one, then opened by the others
      if ((rank() == 0) == (turn == 0)) file_ = open_file(path_, O_RDWR | O_CREAT).value();
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::error_code ignored;
    if (rank() == 0) std::filesystem::remove_all(folder_, ignored);
  }
  int descriptor() const { return file_.get(); }
  std::string path() const { return path_.string(); }
  const std::filesystem::path& folder() const { return folder_; }
  collective::OpenFile open() const { return {.descriptor = file_.get(), .path = path_.string()}; }

 private:
  std::filesystem::path folder_;
  std::filesystem::path path_;
  Descriptor file_;
};

// What a byte of the file must be after a write of this generation.
inline std::byte byte_at(std::uint64_t offset, std::uint64_t generation) {
  std::uint64_t mixed = (offset + 1) * 0x9e3779b97f4a7c15U + generation * 0xbf58476d1ce4e5b9U;
  mixed ^= mixed >> 29U;
  return static_cast<std::byte>(mixed * 0x94d049bb133111ebU >> 56U);
}

struct Stretch {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  int owner = -1;  // -1: nobody's
};

// The file cut into stretches of random owners; regular where the dice say so.
inline std::vector<Stretch> random_stretches(Random& random, std::uint64_t begin, std::uint64_t most_length) {
  std::vector<Stretch> stretches;
  std::uint64_t at = begin;
  const bool holes = !random.chance(3);
  const auto owner = [&] { return static_cast<int>(random(0, static_cast<std::uint64_t>(ranks()) - 1)); };
  for (std::uint64_t n = random(1, 8); n > 0; --n) {
    const std::uint64_t length = random(1, most_length);
    if (random.chance(2)) {  // all ranks in turn, as a tile or an interleaved array does
      const std::uint64_t gap = holes && random.chance(2) ? random(1, most_length) : 0;
      for (std::uint64_t i = random(1, 20) * static_cast<std::uint64_t>(ranks()); i > 0; --i) {
        stretches.push_back({at, length, static_cast<int>(i % static_cast<std::uint64_t>(ranks()))});
        at += length + gap;
      }
    } else {
      for (std::uint64_t i = random(1, 30); i > 0; --i) {
        const std::uint64_t own = random(1, most_length);
        stretches.push_back({at, own, holes && random.chance(3) ? -1 : owner()});
        at += own;
      }
    }
  }
  return stretches;
}

// A rank's memory for a request: stretches of random sizes with guard bytes between them.
class Memory {
 public:
  Memory(Random& random, std::uint64_t bytes, bool contiguous) {
    std::uint64_t at = 16;
    for (std::uint64_t left = bytes; left > 0;) {
      const std::uint64_t length = contiguous ? left : std::min(left, random(1, 1 + bytes / 5));
      places_.push_back({at, length});
      at += length + (contiguous ? 0 : random(0, 9));
      left -= length;
    }
    data_.assign(at + 16, guard);
    if (random.chance(3)) std::reverse(places_.begin(), places_.end());  // memory need not be in file order
  }
  aggregation::Rows rows() {
    aggregation::RowBuilder builder;
    for (const auto& place : places_)
      builder.add(reinterpret_cast<std::uintptr_t>(data_.data()) + place.offset, place.length);
    return builder.take();
  }
  // The bytes of the stream, in order.
  std::vector<std::byte*> stream() {
    std::vector<std::byte*> all;
    for (const auto& place : places_)
      for (std::uint64_t i = 0; i < place.length; ++i) all.push_back(&data_[place.offset + i]);
    return all;
  }
  bool guards_stand() const {
    std::vector<bool> inside(data_.size());
    for (const auto& place : places_)
      for (std::uint64_t i = 0; i < place.length; ++i) inside[place.offset + i] = true;
    for (std::size_t i = 0; i < data_.size(); ++i)
      if (!inside[i] && data_[i] != guard) return false;
    return true;
  }
  static constexpr std::byte guard{0x5a};

 private:
  std::vector<aggregation::Piece> places_;
  std::vector<std::byte> data_;
};

}  // namespace weir::test
