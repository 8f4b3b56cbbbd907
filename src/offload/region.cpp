#include "offload/region.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "core/file.hpp"

namespace weir::offload {

void Region::swap(Region& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(address_, other.address_);
}

Region::~Region() {
  if (data_ != nullptr) ::munmap(data_, address_.bytes);
  close_to_others();
}

void Region::close_to_others() {
  if (address_.descriptor >= 0) ::close(static_cast<int>(address_.descriptor));
  address_.descriptor = -1;
}

Status Region::map() {
  void* memory = ::mmap(nullptr, address_.bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                        static_cast<int>(address_.descriptor), 0);
  if (memory == MAP_FAILED) return fail_errno(errno, "map shared memory", "");
  data_ = static_cast<std::byte*>(memory);
  return {};
}

Result<Region> Region::create(std::uint64_t bytes) {
  Region region;
  region.address_ = {
      .process = ::getpid(), .descriptor = ::memfd_create("weir", MFD_CLOEXEC), .bytes = bytes};
  if (region.address_.descriptor < 0) return fail_errno(errno, "create shared memory", "");
  WEIR_TRY(size_memory(static_cast<int>(region.address_.descriptor), bytes));
  WEIR_TRY(region.map());
  return region;
}

Result<Region> Region::open(const Address& address) {
  const std::string path = fmt::format("/proc/{}/fd/{}", address.process, address.descriptor);
  // Its maker may have let it go, and the number may mean a file of the program by now: that is not ours to
  // touch.
  std::array<char, 16> name{};
  if (::readlink(path.c_str(), name.data(), name.size() - 1) < 0)
    return fail_errno(errno, "open the shared memory of another process", path);
  if (!std::string_view(name.data()).starts_with("/memfd:weir "))
    return fail(ErrorCode::io, "it is no shared memory of Weir any more");
  Region region;
  region.address_ = {.process = address.process,
                     .descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC),
                     .bytes = address.bytes};
  if (region.address_.descriptor < 0)
    return fail_errno(errno, "open the shared memory of another process", path);
  struct stat status {};
  if (::fstat(static_cast<int>(region.address_.descriptor), &status) != 0 ||
      static_cast<std::uint64_t>(status.st_size) != address.bytes)
    return fail(ErrorCode::io, "the shared memory has another size than was said");
  WEIR_TRY(region.map());
  region.close_to_others();
  return region;
}

void Region::touch(std::uint64_t offset, std::uint64_t bytes) const {
#ifdef MADV_POPULATE_WRITE
  ::madvise(data_ + offset, bytes, MADV_POPULATE_WRITE);
#else
  (void)offset, (void)bytes;
#endif
}

bool Region::holds(const void* place, std::uint64_t size) const {
  const auto* at = static_cast<const std::byte*>(place);
  return data_ != nullptr && at >= data_ && size <= address_.bytes &&
         static_cast<std::uint64_t>(at - data_) <= address_.bytes - size;
}

}  // namespace weir::offload
