/*
 * Files on Blue Gene/Q, as its Compute Node Kernel has them: a compute node has
 * no file system, so each call is shipped to the IO node that serves the node,
 * where a daemon carries it out and answers.  See weft-cnk(7).
 *
 * Calls wait for the answer; of several threads of a process one is shipped at
 * a time.  What is written is taken from the node's memory by the daemon, and
 * what is read is put into it.  Each IO node has a file system of its own,
 * which its compute nodes share: a name means one file to all of them.
 *
 * A call returns what it says, or the negative of an error number: ENODEV where
 * the machine has no IO nodes, EAGAIN where a node has more than CNK_PROCESSES
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
	CNK_NAME = 64, /* bytes of a name, with its end */
	CNK_FILES = 256, /* of an IO node, and as many that are open */
	CNK_PROCESSES = 4, /* of a node, that can have files */
};

#define CNK_BYTES (UINT64_C(1) << 34) /* the most in a file */

/* How a file is opened: made where there is none; emptied where there is. */
enum { CNK_CREATE = 1, CNK_TRUNCATE = 2 };

/*
 * Returns a descriptor, 0 or above, for this process alone.  ENOENT where there
 * is no such file, EINVAL for an empty name or unknown bits, ENAMETOOLONG,
 * ENFILE where there is no room for one more.
 */
int32_t cnk_open(const char *name, uint32_t how);
/* EBADF where it is none of the process's, as of all that follow. */
int32_t cnk_close(int32_t file);

/*
 * Bytes of the process's memory (weft/program.h), from an address on, to or
 * from an offset in the file.  Return how many there were: a read ends where
 * the file does, and returns 0 beyond its end; a write beyond it leaves zeros
 * between. EFAULT where not all of the memory is the process's own, EFBIG where
 * a write would end beyond CNK_BYTES.
 */
int64_t cnk_write(int32_t file, uint64_t at, uint64_t bytes, uint64_t offset);
int64_t cnk_read(int32_t file, uint64_t at, uint64_t bytes, uint64_t offset);

/* 0 once all that was written to the file is stored. */
int32_t cnk_sync(int32_t file);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
