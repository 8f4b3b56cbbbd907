#include "backends/early_blocks.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "aggregation/file_system.hpp"

namespace weir::backends {

namespace {

constexpr std::uint64_t least_worth_asking = 512U << 10U;  // about twice the bytes at which asking pays

}  // namespace

EarlyBlocks EarlyBlocks::of(int descriptor) {
  EarlyBlocks blocks;
  if (aggregation::ask_file_system(descriptor).early_blocks) blocks.descriptor_ = descriptor;
  return blocks;
}

EarlyBlocks EarlyBlocks::beside(const std::filesystem::path& path) {
  Result<Descriptor> own = open_file(path, O_WRONLY);
  if (!own) return {};
  EarlyBlocks blocks = of(own->get());
  if (blocks.descriptor_ >= 0) blocks.own_ = std::move(*own);
  return blocks;
}

bool EarlyBlocks::has_room_for(std::uint64_t length) {
  if (length > budget_) {
    struct statvfs room {};
    if (::fstatvfs(descriptor_, &room) != 0) return false;
    budget_ = static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize / 4;
  }
  if (length > budget_) return false;
  budget_ -= length;
  return true;
}

void EarlyBlocks::ask_for(std::uint64_t offset, std::uint64_t length) {
  if (descriptor_ < 0 || length < least_worth_asking || !has_room_for(length)) return;
  (void)::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(length));
}

void EarlyBlocks::ask_for_growth(std::uint64_t length) {
  struct stat now {};
  if (descriptor_ < 0 || length < least_worth_asking || ::fstat(descriptor_, &now) != 0) return;
  const std::uint64_t begin = std::max(asked_until_, static_cast<std::uint64_t>(now.st_size));
  ask_for(begin, length);
  asked_until_ = begin + length;
}

void EarlyBlocks::finish() {
  struct stat now {};
  const bool known = descriptor_ >= 0 && ::fstat(descriptor_, &now) == 0;
  // Setting the size that a file has gives back what it has behind it.
  if (known && asked_until_ > static_cast<std::uint64_t>(now.st_size)) [[maybe_unused]]
    const int cut = ::ftruncate(descriptor_, now.st_size);
  own_ = Descriptor();
  descriptor_ = -1;
}

Option early_blocks_option() {
  return {.name = "allocate",
          .kind = Option::Kind::boolean,
          .fallback = "yes",
          .help = "ask for disk blocks before they are written, where the file system gains by it (ext4)"};
}

}  // namespace weir::backends
