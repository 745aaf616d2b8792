/*
 * Loaded into a program ahead of its libraries (LD_PRELOAD), it makes a disk fail, or lie, below one folder. Read once,
 * from the environment:
 *   FAILING_DISK_FOLDER  the folder; other files are left alone
 *   FAILING_DISK_FILE    how the names of the files end (empty: all of the folder)
 *   FAILING_DISK_CALLS   `sync` (fsync, fdatasync), `write` (write, pwrite, pwrite64) or `lie` (a sync that does nothing)
 *   FAILING_DISK_AT      which call fails, counted from 1
 *   FAILING_DISK_STICKY  1: every later call fails too
 *   FAILING_DISK_ARMED   a file: calls are counted from when it is there
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *setting(const char *name) {
  const char *value = getenv(name);
  return value == NULL ? "" : value;
}

static atomic_long calls = 0;

/* Whether the file behind the descriptor is one whose disk fails. */
static int is_below(int fd) {
  const char *folder = setting("FAILING_DISK_FOLDER");
  const char *ending = setting("FAILING_DISK_FILE");
  char link[64], path[PATH_MAX];
  if (fd < 3 || *folder == '\0') return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = '\0';
  if (strncmp(path, folder, strlen(folder)) != 0) return 0;
  size_t tail = strlen(ending);
  return tail <= (size_t)length && strcmp(path + length - tail, ending) == 0;
}

/* Whether this call is the one that fails. */
static int fails(const char *kind, int fd) {
  if (strcmp(setting("FAILING_DISK_CALLS"), kind) != 0 || !is_below(fd)) return 0;
  const char *armed = setting("FAILING_DISK_ARMED");
  if (*armed != '\0' && access(armed, F_OK) != 0) return 0;
  long at = atol(setting("FAILING_DISK_AT"));
  long call = atomic_fetch_add(&calls, 1) + 1;
  if (call < at) return 0;
  const char *said = call == at ? "the disk failed\n" : "the disk was asked again\n";
  syscall(SYS_write, 2, said, strlen(said));
  if (call > at && *setting("FAILING_DISK_STICKY") != '1') return 0;
  errno = EIO;
  return 1;
}

static int lies(int fd) { return strcmp(setting("FAILING_DISK_CALLS"), "lie") == 0 && is_below(fd); }

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int fd) { return lies(fd) ? 0 : fails("sync", fd) ? -1 : REAL(fsync)(fd); }

int fdatasync(int fd) { return lies(fd) ? 0 : fails("sync", fd) ? -1 : REAL(fdatasync)(fd); }

ssize_t write(int fd, const void *bytes, size_t count) {
  return fails("write", fd) ? -1 : REAL(write)(fd, bytes, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
  return fails("write", fd) ? -1 : REAL(pwrite)(fd, bytes, count, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  return fails("write", fd) ? -1 : REAL(pwrite64)(fd, bytes, count, at);
}
