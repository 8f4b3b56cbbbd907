// Lustre where there is none: while `pretended` says so, every file system is one to Weir, and files have the
// attribute that stands there. To the MPI library all is as it is.
//
// Replaces functions of libc. REQUIRES: a program of one source that includes it, with its symbols exported.
#pragma once

#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

namespace weir::test {

struct Pretended {
  bool lustre = false;
  std::vector<std::byte> attribute;  // of every file; empty: it has none
};
inline Pretended pretended;

inline bool is_pretended(const void* caller) {
  Dl_info of_caller{};
  return pretended.lustre && ::dladdr(caller, &of_caller) != 0 &&
         std::string_view(of_caller.dli_fname).find("libmpi") == std::string_view::npos;
}

inline int as_lustre(int code, struct statfs* system, const void* caller) {
  if (code == 0 && is_pretended(caller)) system->f_type = 0x0BD00BD0;
  return code;
}

inline bool is_layout(const char* attribute, const void* caller) {
  return is_pretended(caller) && std::strcmp(attribute, "lustre.lov") == 0;
}

}  // namespace weir::test

#define WEIR_IN_PLACE_OF_LIBC extern "C" __attribute__((visibility("default")))
#define WEIR_CALLER __builtin_return_address(0)

WEIR_IN_PLACE_OF_LIBC int statfs(const char* path, struct statfs* system) noexcept {
  return weir::test::as_lustre(static_cast<int>(::syscall(SYS_statfs, path, system)), system, WEIR_CALLER);
}
WEIR_IN_PLACE_OF_LIBC int fstatfs(int fd, struct statfs* system) noexcept {
  return weir::test::as_lustre(static_cast<int>(::syscall(SYS_fstatfs, fd, system)), system, WEIR_CALLER);
}
WEIR_IN_PLACE_OF_LIBC ssize_t fgetxattr(int fd, const char* name, void* value, size_t size) noexcept {
  if (!weir::test::is_layout(name, WEIR_CALLER)) return ::syscall(SYS_fgetxattr, fd, name, value, size);
  const std::vector<std::byte>& attribute = weir::test::pretended.attribute;
  if (!attribute.empty() && size >= attribute.size()) std::memcpy(value, attribute.data(), attribute.size());
  return static_cast<ssize_t>(attribute.size());
}
WEIR_IN_PLACE_OF_LIBC int fsetxattr(int fd, const char* name, const void* value, size_t size,
                                    int flags) noexcept {
  if (!weir::test::is_layout(name, WEIR_CALLER))
    return static_cast<int>(::syscall(SYS_fsetxattr, fd, name, value, size, flags));
  const auto* const bytes = static_cast<const std::byte*>(value);
  weir::test::pretended.attribute.assign(bytes, bytes + size);
  return 0;
}
