/*
 * cut-power FOLDER: the file system that the folder is on ends as if the power were cut: what has not reached the
 * disk is lost, and nothing reaches it any more.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define EXT4_IOC_SHUTDOWN _IOR('X', 125, uint32_t)
#define EXT4_GOING_FLAGS_NOLOGFLUSH 2

int main(int count, char **arguments) {
  uint32_t flags = EXT4_GOING_FLAGS_NOLOGFLUSH;
  int folder = count == 2 ? open(arguments[1], O_RDONLY) : -1;
  if (folder >= 0 && ioctl(folder, EXT4_IOC_SHUTDOWN, &flags) == 0) return 0;
  perror("cut-power");
  return 1;
}
