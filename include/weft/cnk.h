/*
 * Files on Blue Gene/Q, as in its Compute Node Kernel: a compute node has
 * no file system, so each call is shipped to the IO node that serves the node,
 * where a daemon executes it and answers.  See weft-cnk(7).
 *
 * Calls wait for the answer; a process ships one call at a time, even if it has
 * several threads.  The daemon gets written bytes from the node's memory, and
 * puts read bytes into it.  Each IO node has its own file system, which its
 * compute nodes share: a name is the same file for all of them.
 *
 * A call returns its result, or the negative of an error number: ENODEV if
 * the machine has no IO nodes, EAGAIN if the node has more than CNK_PROCESSES
 * processes.
 */
#ifndef WEFT_CNK_H
#define WEFT_CNK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
	CNK_NAME = 64, /* bytes of a name, with its terminating zero */
	CNK_FILES = 256, /* per IO node; the same number may be open */
	CNK_PROCESSES = 4, /* per node, that can use files */
};

#define CNK_BYTES (UINT64_C(1) << 34) /* largest file */

/* Create the file if it does not exist; empty it if it does. */
enum { CNK_CREATE = 1, CNK_TRUNCATE = 2 };

/*
 * Returns a descriptor, 0 or above, which belongs to this process.  ENOENT if
 * the file does not exist, EINVAL for an empty name or unknown bits,
 * ENAMETOOLONG, ENFILE if there are too many files.
 */
int32_t cnk_open(const char *name, uint32_t how);
/* This and the calls below return EBADF if the descriptor does not belong to
 * the process. */
int32_t cnk_close(int32_t file);

/*
 * Move bytes between the process's memory (weft/program.h) at an address and
 * the file at an offset.  Return the number of bytes moved: a read stops at the
 * end of the file, and returns 0 beyond it; a write beyond the end fills the
 * gap with zeros.  EFAULT if part of the memory does not belong to the process,
 * EFBIG if a write would end beyond CNK_BYTES.
 */
int64_t cnk_write(int32_t file, uint64_t at, uint64_t bytes, uint64_t offset);
int64_t cnk_read(int32_t file, uint64_t at, uint64_t bytes, uint64_t offset);

/* Returns 0 when all written bytes are stored. */
int32_t cnk_sync(int32_t file);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
