/* Bytes and files to another process, as one packet of a socket. */
#ifndef OUTSIDE_PASS_H
#define OUTSIDE_PASS_H

#include <stdint.h>
#include <sys/types.h>

enum { PASS_FILES = 4 }; /* the most */

/* 0, or -1 with errno. */
int pass_send(int socket, const void *bytes, size_t size, const int *files,
	uint32_t n);
/* Returns the bytes that came, or -1.  Those of the files that did not come are
 * as they were. */
ssize_t pass_receive(
	int socket, void *bytes, size_t size, int *files, uint32_t n);

#endif
