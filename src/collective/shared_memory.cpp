#include "collective/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.hpp"

namespace weir::collective {

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, address_.bytes);
  close_address();
}

void SharedMemory::close_address() {
  if (address_.descriptor >= 0) ::close(static_cast<int>(address_.descriptor));
  address_.descriptor = -1;
}

Status SharedMemory::map() {
  void* memory = ::mmap(nullptr, address_.bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                        static_cast<int>(address_.descriptor), 0);
  if (memory == MAP_FAILED) return fail_errno(errno, "map memory shared within the node", {});
  data_ = static_cast<std::byte*>(memory);
  return {};
}

Result<SharedMemory> SharedMemory::create(std::uint64_t bytes) {
  SharedMemory memory;
  memory.address_ = {
      .process = ::getpid(), .descriptor = ::memfd_create("weir-collective", MFD_CLOEXEC), .bytes = bytes};
  if (memory.address_.descriptor < 0) return fail_errno(errno, "make memory shared within the node", {});
  WEIR_TRY(
      in(size_memory(static_cast<int>(memory.address_.descriptor), bytes), "share memory within the node"));
  WEIR_TRY(memory.map());
  return memory;
}

Result<SharedMemory> SharedMemory::open(const Address& address) {
  const std::string path = fmt::format("/proc/{}/fd/{}", address.process, address.descriptor);
  SharedMemory memory;
  memory.address_ = {.process = address.process,
                     .descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC),
                     .bytes = address.bytes};
  if (memory.address_.descriptor < 0) return fail_errno(errno, "open memory shared within the node", path);
  struct stat status {};
  if (::fstat(static_cast<int>(memory.address_.descriptor), &status) != 0 ||
      static_cast<std::uint64_t>(status.st_size) != address.bytes)
    return fail(ErrorCode::io, "memory shared within the node has another size than was said");
  WEIR_TRY(memory.map());
  memory.close_address();
  return memory;
}

}  // namespace weir::collective
