#include "telemetry/spool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <numeric>

#include "telemetry/source.hpp"
#include "telemetry/sources.hpp"
#include "telemetry/text_fields.hpp"

namespace weir::telemetry {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view magic = "weir-spool-1";
constexpr std::string_view suffix = ".chunk";
constexpr std::string_view unfinished = ".unfinished";
constexpr std::size_t longest_header = 128;

std::string header_of(std::string_view bytes, std::uint64_t samples) {
  const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  return fmt::format("{} {} {} {:08x}\n", magic, samples, bytes.size(), sum);
}

// With all that are above it; each on the disk.
Status create_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return {};
  const fs::path parent = folder.has_filename() ? folder.parent_path() : folder.parent_path().parent_path();
  WEIR_TRY(create_folder(parent));
  fs::create_directory(folder, error);
  if (error) return fail_errno(error.value(), "create", folder.string());
  return sync_path(parent.empty() ? "." : parent);
}

// How many samples a chunk has, from the first line of its file.
std::optional<std::uint64_t> samples_in(std::string_view header) {
  if (take_word(header) != magic) return std::nullopt;
  return whole_number(take_word(header));
}

}  // namespace

fs::path Spool::path_of(std::uint64_t id) const {
  return folder_ / fmt::format("{:020}{}", id, suffix);
}

Result<Spool> Spool::open(fs::path folder, std::uint64_t most_bytes) {
  WEIR_TRY(create_folder(folder));
  std::error_code error;
  Spool spool;
  spool.folder_ = std::move(folder);
  spool.most_bytes_ = most_bytes;
  WEIR_ASSIGN(spool.lock_, open_file(spool.folder_ / "lock", O_RDWR | O_CREAT, 0600));
  if (::flock(spool.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail_errno(errno, "lock", spool.folder_.string());
    return in(
        Result<Spool>(fail(ErrorCode::state, "another process uses it", "give each its own spool folder")),
        "open the spool", spool.folder_.string());
  }
  for (const std::string& name : names_in(spool.folder_)) {
    const fs::path path = spool.folder_ / name;
    if (name.ends_with(unfinished)) {
      fs::remove(path, error);
      continue;
    }
    if (!name.ends_with(suffix)) continue;
    const auto id = whole_number(std::string_view(name).substr(0, name.size() - suffix.size()));
    if (!id) continue;
    std::string head(longest_header, '\0');
    std::uint64_t size = fs::file_size(path, error);
    if (error) continue;
    std::optional<std::uint64_t> samples;
    if (auto file = open_file(path, O_RDONLY)) {
      const ssize_t got = ::pread(file->get(), head.data(), head.size(), 0);
      std::string_view text(head.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      samples = samples_in(take_line(text));
    }
    spool.chunks_.push_back({.id = *id, .bytes = size, .samples = samples.value_or(0)});
    spool.bytes_ += size;
    spool.last_id_ = std::max(spool.last_id_, *id);
  }
  return spool;
}

std::uint64_t Spool::samples() const {
  return std::accumulate(chunks_.begin(), chunks_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Chunk& chunk) { return sum + chunk.samples; });
}

void Spool::remove_front() {
  std::error_code error;
  fs::remove(path_of(chunks_.front().id), error);
  bytes_ -= chunks_.front().bytes;
  chunks_.pop_front();
}

void Spool::drop_front() {
  dropped_samples_ += chunks_.front().samples;
  remove_front();
}

Status Spool::add(std::string_view bytes, std::uint64_t samples) {
  const std::string header = header_of(bytes, samples);
  const std::uint64_t size = header.size() + bytes.size();
  if (size > most_bytes_) {
    dropped_samples_ += samples;
    return in(
        Status(fail(ErrorCode::io, fmt::format("a chunk of {} bytes is larger than the whole spool", size),
                    "make the spool larger")),
        "keep samples", folder_.string());
  }
  while (!chunks_.empty() && bytes_ + size > most_bytes_) drop_front();

  // By the clock, so that ids stay unique over restarts; never backwards.
  const std::uint64_t id =
      std::max(last_id_ + 1, static_cast<std::uint64_t>(std::max<Nanoseconds>(now(), 1)));
  const fs::path path = path_of(id);
  const fs::path temporary = path.string() + std::string(unfinished);
  for (;;) {
    const Status written = [&]() -> Status {
      WEIR_ASSIGN(Descriptor file, open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600));
      WEIR_TRY(write_at(file.get(), header.data(), header.size(), 0, temporary));
      WEIR_TRY(write_at(file.get(), bytes.data(), bytes.size(), header.size(), temporary));
      WEIR_TRY(file.close(temporary));
      return rename_path(temporary, path);
    }();
    if (written) break;
    std::error_code error;
    fs::remove(temporary, error);
    if (chunks_.empty()) {
      dropped_samples_ += samples;
      return written;
    }
    drop_front();  // the disk is full: the newest samples are worth more than the oldest
  }
  last_id_ = id;
  chunks_.push_back({.id = id, .bytes = size, .samples = samples});
  bytes_ += size;
  return {};
}

std::optional<Spool::Taken> Spool::oldest(std::uint64_t most) {
  Taken taken;
  std::size_t at = 0;
  while (at < chunks_.size()) {
    const Chunk& chunk = chunks_[at];
    if (at > 0 && taken.bytes.size() + chunk.bytes > most) break;
    const auto text = read_text(path_of(chunk.id));
    std::string_view body = text ? std::string_view(*text) : std::string_view();
    const std::string_view line = take_line(body);
    const std::string expected = header_of(body, chunk.samples);
    if (!text || std::string(line) + "\n" != expected) {
      if (at > 0) break;  // the good ones first; this one is at the front next time
      ++broken_chunks_;
      drop_front();
      continue;
    }
    taken.bytes += body;
    taken.samples += chunk.samples;
    taken.last = chunk.id;
    ++at;
  }
  if (at == 0) return std::nullopt;
  return taken;
}

void Spool::remove_until(std::uint64_t last) {
  while (!chunks_.empty() && chunks_.front().id <= last) remove_front();
}

Spool::Waiting Spool::waiting(std::uint64_t until) const {
  Waiting waiting{.folder = folder_, .chunks = {}, .last = until};
  for (const Chunk& chunk : chunks_) {
    if (chunk.id > forced_until_ && chunk.id <= until) waiting.chunks.push_back(path_of(chunk.id));
  }
  return waiting;
}

Status Spool::force(const Waiting& chunks) {
  if (chunks.chunks.empty()) return {};
  for (const fs::path& path : chunks.chunks) {
    if (Status synced = sync_path(path); !synced && synced.error().code != ErrorCode::not_found)
      return synced;
  }
  return sync_path(chunks.folder);
}

}  // namespace weir::telemetry
