/* A disk whose power can fail. Loaded in front of a program, it keeps in one folder (WEIR_TEST_PLATTER) what
 * of another folder (WEIR_TEST_DISK) was forced to the disk, and only that: the content of a file as it was
 * when the file was synced, and the names in a folder as they were when the folder was synced. What a power
 * failure leaves at worst is then put together by the test: names of the last sync, with the content of
 * theirs.
 *
 *   PLATTER/content.INODE    bytes of a file
 *   PLATTER/names.INODE      lines "INODE NAME" of a folder, and "." for itself
 *
 * A sync takes WEIR_TEST_DISK_MS milliseconds before it counts, as on a slow disk: whoever says "stored"
 * without waiting for it has said so by then. WEIR_TEST_DISK_LIES=1: nothing is ever kept, as by a disk that
 * lies. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void fail(const char* what) {
  perror(what);
  abort();
}

/* Is the open file in the folder that is watched, or the folder itself? */
static int watched(int fd) {
  const char* disk = getenv("WEIR_TEST_DISK");
  if (disk == NULL || getenv("WEIR_TEST_PLATTER") == NULL) return 0;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  const size_t prefix = strlen(disk);
  return strncmp(path, disk, prefix) == 0 && (path[prefix] == '\0' || path[prefix] == '/');
}

static FILE* begin(const char* kind, ino_t inode, char* temporary, char* final, size_t size) {
  snprintf(final, size, "%s/%s.%lu", getenv("WEIR_TEST_PLATTER"), kind, (unsigned long)inode);
  snprintf(temporary, size, "%s/part.%s.%lu.%d", getenv("WEIR_TEST_PLATTER"), kind, (unsigned long)inode,
           (int)gettid());
  FILE* file = fopen(temporary, "w");
  if (file == NULL) fail(temporary);
  return file;
}

static void keep_content(int fd, const struct stat* about) {
  char temporary[PATH_MAX], final[PATH_MAX], link[64];
  FILE* file = begin("content", about->st_ino, temporary, final, sizeof final);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd); /* it may be open for writing only */
  const int from = open(link, O_RDONLY | O_CLOEXEC);
  if (from < 0) fail(link);
  static __thread char buffer[1 << 16];
  ssize_t got;
  while ((got = read(from, buffer, sizeof buffer)) > 0)
    if (fwrite(buffer, 1, (size_t)got, file) != (size_t)got) fail(temporary);
  close(from);
  if (fclose(file) != 0 || rename(temporary, final) != 0) fail(final);
}

static void keep_names(int fd, const struct stat* about) {
  char temporary[PATH_MAX], final[PATH_MAX], link[64];
  FILE* file = begin("names", about->st_ino, temporary, final, sizeof final);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  DIR* folder = opendir(link);
  if (folder == NULL) fail(link);
  for (struct dirent* entry; (entry = readdir(folder)) != NULL;)
    if (strcmp(entry->d_name, "..") != 0)
      fprintf(file, "%lu %s\n", (unsigned long)entry->d_ino, entry->d_name);
  closedir(folder);
  if (fclose(file) != 0 || rename(temporary, final) != 0) fail(final);
}

static void keep(int fd) {
  if (!watched(fd)) return;
  const char* slow = getenv("WEIR_TEST_DISK_MS");
  const long ms = slow == NULL ? 0 : atol(slow);
  const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&pause, NULL);
  if (getenv("WEIR_TEST_DISK_LIES") != NULL) return;
  struct stat about;
  if (fstat(fd, &about) != 0) fail("fstat");
  if (S_ISDIR(about.st_mode)) {
    keep_names(fd, &about);
  } else if (S_ISREG(about.st_mode)) {
    keep_content(fd, &about);
  }
}

typedef int (*sync_function)(int);

int fsync(int fd) {
  const sync_function real = (sync_function)dlsym(RTLD_NEXT, "fsync");
  const int result = real(fd);
  if (result == 0) keep(fd);
  return result;
}

int fdatasync(int fd) {
  const sync_function real = (sync_function)dlsym(RTLD_NEXT, "fdatasync");
  const int result = real(fd);
  if (result == 0) keep(fd);
  return result;
}
