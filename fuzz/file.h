/* An input as a file that readers can open by its path. */
#ifndef FUZZ_FILE_H
#define FUZZ_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct fuzz_file {
	int fd;
	char path[32];
};

static inline void file_open(
	struct fuzz_file *f, const uint8_t *data, size_t size)
{
	f->fd = memfd_create("fuzz", 0);
	if (f->fd < 0 || write(f->fd, data, size) != (ssize_t)size) {
		perror("memfd");
		_exit(2);
	}
	snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
}

static inline void file_close(struct fuzz_file *f)
{
	close(f->fd);
}

#endif
