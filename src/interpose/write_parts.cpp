#include "interpose/write_parts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>

#include "core/file.hpp"

namespace weir::interpose {

namespace {

constexpr int length_tag = 1;
constexpr int data_tag = 2;
constexpr int words_tag = 3;
constexpr std::uint64_t most_at_once = std::uint64_t{1} << 28U;

using Words = std::span<const std::int64_t>;

// A file that nobody takes for a recording yet: its mark is what other ranks know it by.
struct Unfinished {
  std::array<char, recording::parts_begin> mark{};
  std::array<char, 32> suffix{};
  std::int32_t error = 0;  // errno of rank 0

  std::filesystem::path beside(const std::filesystem::path& path) const {
    return path.string() + suffix.data();
  }
};

// Rank 0's.
Unfinished create(const std::filesystem::path& path, Descriptor& file) {
  Unfinished unfinished;
  std::random_device random;
  for (std::size_t at = 0; at < unfinished.mark.size(); at += sizeof(unsigned)) {
    const unsigned value = random();
    std::memcpy(unfinished.mark.data() + at, &value, sizeof(value));
  }
  fmt::format_to_n(unfinished.suffix.data(), unfinished.suffix.size() - 1, ".partial.{:08x}", random());
  file = Descriptor(::open(unfinished.beside(path).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file ||
      ::pwrite(file.get(), unfinished.mark.data(), unfinished.mark.size(), 0) != recording::parts_begin)
    unfinished.error = errno == 0 ? EIO : errno;
  return unfinished;
}

// Whether this rank sees the same file; then it is open.
bool sees(const Unfinished& unfinished, const std::filesystem::path& path, Descriptor& file) {
  file = Descriptor(::open(unfinished.beside(path).c_str(), O_RDWR | O_CLOEXEC));
  std::array<char, recording::parts_begin> found{};
  return file && ::pread(file.get(), found.data(), found.size(), 0) == recording::parts_begin &&
         found == unfinished.mark;
}

Status write_words(const Descriptor& file, const std::vector<recording::CallBacklog>& mine,
                   std::uint64_t offset, const std::filesystem::path& path) {
  Status status;
  for (const recording::CallBacklog& part : mine) {
    part.for_each_chunk([&](Words words) {
      if (status) status = write_at(file.get(), words.data(), words.size_bytes(), offset, path);
      offset += words.size_bytes();
    });
  }
  return status;
}

void send_words(const std::vector<recording::CallBacklog>& mine, MPI_Comm comm) {
  for (const recording::CallBacklog& part : mine)
    part.for_each_chunk([&](Words words) {
      PMPI_Send(words.data(), static_cast<int>(words.size_bytes()), MPI_BYTE, 0, words_tag, comm);
    });
}

// What send_words() sends, rank by rank. After a failure the rest is received all the same: the ranks wait
// for it.
Status receive_words(const recording::Index& index, const Descriptor& file, std::uint64_t offset,
                     const std::filesystem::path& path, MPI_Comm comm) {
  Status status;
  std::vector<char> chunk(recording::ChunkPool::chunk_words * sizeof(std::int64_t));
  for (const recording::Part& part : index.parts) {
    if (part.rank == 0) continue;
    for (std::uint64_t left = part.words * sizeof(std::int64_t); left > 0;) {
      MPI_Status received;
      int bytes = 0;
      PMPI_Recv(chunk.data(), static_cast<int>(chunk.size()), MPI_BYTE, static_cast<int>(part.rank),
                words_tag, comm, &received);
      PMPI_Get_count(&received, MPI_BYTE, &bytes);
      if (status)
        status = write_at(file.get(), chunk.data(), static_cast<std::uint64_t>(bytes), offset, path);
      offset += static_cast<std::uint64_t>(bytes);
      left -= std::min(left, static_cast<std::uint64_t>(bytes));
    }
  }
  return status;
}

std::uint64_t bytes_of(const std::vector<recording::CallBacklog>& mine) {
  std::uint64_t words = 0;
  for (const recording::CallBacklog& part : mine) words += part.words();
  return words * sizeof(std::int64_t);
}

}  // namespace

void send(const std::string& data, int to, MPI_Comm comm) {
  std::uint64_t length = data.size();
  PMPI_Send(&length, 1, MPI_UINT64_T, to, length_tag, comm);
  for (std::uint64_t at = 0; at < length; at += most_at_once)
    PMPI_Send(data.data() + at, static_cast<int>(std::min(most_at_once, length - at)), MPI_BYTE, to, data_tag,
              comm);
}

std::string receive(int from, MPI_Comm comm) {
  std::uint64_t length = 0;
  PMPI_Recv(&length, 1, MPI_UINT64_T, from, length_tag, comm, MPI_STATUS_IGNORE);
  std::string data(length, '\0');
  for (std::uint64_t at = 0; at < length; at += most_at_once)
    PMPI_Recv(data.data() + at, static_cast<int>(std::min(most_at_once, length - at)), MPI_BYTE, from,
              data_tag, comm, MPI_STATUS_IGNORE);
  return data;
}

Status write_parts(const recording::Index& index, const std::vector<recording::CallBacklog>& mine,
                   const std::filesystem::path& path, MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  Descriptor file;
  Unfinished unfinished;
  if (rank == 0) unfinished = create(path, file);
  PMPI_Bcast(&unfinished, sizeof(unfinished), MPI_BYTE, 0, comm);
  const std::filesystem::path temporary = unfinished.beside(path);
  const auto give_up = [&](Status why) {
    if (rank == 0 && file) ::unlink(temporary.c_str());
    return why;
  };
  if (unfinished.error != 0)
    return give_up(fail_errno(unfinished.error, "create the recording", path.string()));

  std::uint64_t bytes = bytes_of(mine), before = 0;
  PMPI_Exscan(&bytes, &before, 1, MPI_UINT64_T, MPI_SUM, comm);
  if (rank == 0) before = 0;
  int all_see = rank == 0 || bytes == 0 || sees(unfinished, path, file) ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &all_see, 1, MPI_INT, MPI_MIN, comm);
  Status outcome;
  if (rank == 0 || all_see != 0) outcome = write_words(file, mine, recording::parts_begin + before, path);
  if (all_see == 0) {
    if (rank != 0) send_words(mine, comm);
    if (rank == 0) {
      const Status received = receive_words(index, file, recording::parts_begin + bytes, path, comm);
      if (outcome) outcome = received;
    }
  }
  int failures = outcome ? 0 : 1, all_failures = 0;
  PMPI_Reduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, 0, comm);
  if (rank != 0 || !outcome) return give_up(outcome);
  if (all_failures != 0)
    return give_up(
        fail(ErrorCode::io, "another rank could not write its calls", "is there room for the recording?"));

  std::uint64_t end = recording::parts_begin;
  for (const recording::Part& part : index.parts) end += part.words * sizeof(std::int64_t);
  const std::string body = recording::encode(index);
  const std::string header = pattern::PackedHeader::of(recording::version_with_parts, body).text();
  outcome = [&]() -> Status {
    WEIR_TRY(write_at(file.get(), body.data(), body.size(), end, path));
    WEIR_TRY(write_at(file.get(), header.data(), header.size(), 0, path));
    WEIR_TRY(file.close(path));
    return rename_path(temporary, path);
  }();
  if (!outcome) ::unlink(temporary.c_str());
  return outcome;
}

}  // namespace weir::interpose
