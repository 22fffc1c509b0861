/*
 * The GPUs of the program's node.  The man page is weft-ape(7).
 *
 * GPU memory has its own addresses, which the program cannot load from or
 * store to; copies, kernels and the network card can.  A stream is a queue: its
 * copies and kernels are executed one after the other, while the program
 * continues.  The results of a copy or a kernel are valid when weft_gpu_wait()
 * for its stream has returned; until then its bytes must not be used otherwise.
 *
 * Errors are returned as numbers of errno.h; a call that fails does nothing.
 */
#ifndef WEFT_GPU_H
#define WEFT_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { WEFT_GPU_STREAMS = 8 }; /* per process, for all its GPUs */

/* Number of GPUs of the node, which its processes share. */
uint32_t weft_gpu_count(void);

/* Allocates memory of a GPU until the run ends, in no simulated time.  Returns
 * 0 if the GPU does not exist or has not enough memory left. */
uint64_t weft_gpu_allocate(uint32_t gpu, uint64_t bytes);

/*
 * Copies between two memories of the node, at least one of which is a GPU's;
 * host addresses are those of weft/msg.h.  Takes gpu.copy plus the time of the
 * bytes at gpu.copy-rate; each copy engine of a GPU does one copy at a time.
 * EFAULT: bytes outside the memories; EINVAL: neither memory is a GPU's, or the
 * stream does not exist; EIO: the GPU is dead.
 */
int weft_gpu_copy(uint64_t to, uint64_t from, uint64_t bytes);
int weft_gpu_copy_start(
	uint32_t stream, uint64_t to, uint64_t from, uint64_t bytes);

/*
 * Starts a kernel: a function that accesses GPU memory only with
 * weft_gpu_load() and weft_gpu_store().  arg must stay valid until
 * weft_gpu_wait() has returned.  The kernel takes gpu.launch plus takes
 * picoseconds.
 */
int weft_gpu_launch(
	uint32_t stream, void (*kernel)(void *arg), void *arg, int64_t takes);

/* Waits until everything in a stream is done.  EIO: copies failed because their
 * GPU has died. */
int weft_gpu_wait(uint32_t stream);

/* For kernels, in no simulated time.  False if the bytes do not exist, and
 * outside of kernels. */
bool weft_gpu_load(uint64_t at, void *to, size_t n);
bool weft_gpu_store(uint64_t at, const void *from, size_t n);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
