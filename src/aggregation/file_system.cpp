#include "aggregation/file_system.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/file.hpp"

namespace weir::aggregation {

namespace {

constexpr std::uint64_t lustre_magic = 0x0BD00BD0;
constexpr std::uint64_t ext4_magic = 0xEF53;
constexpr const char* attribute_name = "lustre.lov";

bool is_shared(std::uint64_t magic) {
  constexpr std::array<std::uint64_t, 8> shared = {
      lustre_magic,
      0x47504653,  // GPFS
      0x19830326,  // BeeGFS
      0x6969,      // NFS
      0xFF534D42,  // CIFS
      0xAAD7AAEA,  // PanFS
      0x7461636F,  // OCFS2
      0x00C36400,  // CephFS
  };
  return std::find(shared.begin(), shared.end(), magic) != shared.end();
}

}  // namespace

FileSystemFacts ask_file_system(int descriptor) {
  FileSystemFacts facts;
  struct statfs system {};
  if (::fstatfs(descriptor, &system) != 0) return facts;
  const auto magic = static_cast<std::uint64_t>(system.f_type) & 0xFFFFFFFFU;
  facts.lustre = magic == lustre_magic;
  facts.shared_locks = is_shared(magic);
  facts.early_blocks = magic == ext4_magic;  // where it was measured; tmpfs, for one, would lose by it
  if (!facts.lustre) return facts;
  const ssize_t size = ::fgetxattr(descriptor, attribute_name, nullptr, 0);
  if (size <= 0) return facts;
  std::vector<std::byte> value(static_cast<std::size_t>(size));
  const ssize_t got = ::fgetxattr(descriptor, attribute_name, value.data(), value.size());
  if (got <= 0) return facts;
  value.resize(static_cast<std::size_t>(got));
  if (auto parts = parse_lov(value)) facts.parts = std::move(*parts);
  return facts;
}

std::vector<std::byte> lov_for(const Striping& striping) {
  // Little-endian whatever the machine: Lustre turns it by its magic number.
  std::vector<std::byte> value(32);
  const auto put = [&](std::size_t at, std::uint64_t number, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) value[at + i] = static_cast<std::byte>(number >> (8 * i) & 0xFFU);
  };
  constexpr std::uint64_t magic_v1 = 0x0BD10BD0;
  constexpr std::uint64_t raid0 = 1;
  put(0, magic_v1, 4);
  put(4, raid0, 4);
  put(24, striping.unit, 4);
  put(28, striping.factor, 2);
  put(30, UINT16_MAX, 2);  // any target may be the first
  return value;
}

Result<bool> create_striped(const std::filesystem::path& path, const Striping& striping, mode_t mode) {
  if (!striping.asked_for() || striping.unit > UINT32_MAX || striping.factor > INT16_MAX) return false;
  std::filesystem::path folder = path.parent_path();
  if (folder.empty()) folder = ".";
  struct statfs system {};
  if (::statfs(folder.c_str(), &system) != 0)
    return fail_errno(errno, "look at the folder of a file", folder);
  if ((static_cast<std::uint64_t>(system.f_type) & 0xFFFFFFFFU) != lustre_magic) return false;
  // O_LOV_DELAY_CREATE: the file gets its objects when the layout is known. Of Lustre's own flags of open(2).
  constexpr int delay_create = O_NOCTTY | FASYNC;
  const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | delay_create, mode);
  if (fd < 0) {
    if (errno == EEXIST) return false;
    return fail_errno(errno, "create a striped file", path);
  }
  const Descriptor file(fd);
  const std::vector<std::byte> value = lov_for(striping);
  if (::fsetxattr(file.get(), attribute_name, value.data(), value.size(), 0) != 0)
    return fail_errno(errno, "set the striping of a file", path);
  return true;
}

}  // namespace weir::aggregation
