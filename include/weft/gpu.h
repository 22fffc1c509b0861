/*
 * The GPUs of the program's node.  The man page is weft-ape(7).
 *
 * A GPU's memory has addresses of its own, which the program cannot load from
 * or store to; copies, kernels and the network card can.  A stream is a queue:
 * what is started in it is done one after the other, while the program goes on.
 * What a copy or a kernel writes is there when weft_gpu_wait() for its stream
 * has returned, and until then its bytes may not be used otherwise.
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

enum { WEFT_GPU_STREAMS = 8 }; /* of a process, for all its GPUs */

/* GPUs of the node, which its processes share; 0: it has none. */
uint32_t weft_gpu_count(void);

/* Memory of a GPU, which is the process's until the run ends; 0 where there is
 * no such GPU, or not so much memory left.  Free. */
uint64_t weft_gpu_allocate(uint32_t gpu, uint64_t bytes);

/*
 * Copies between two memories of the node, of which one at least is a GPU's;
 * host addresses are those of weft/msg.h.  Takes gpu.copy and the bytes' time
 * at gpu.copy-rate, one after the other on each of the GPU's copy engines.
 * EFAULT: bytes that are not there; EINVAL: no GPU's memory, no such stream;
 * EIO: the GPU is dead.
 */
int weft_gpu_copy(uint64_t to, uint64_t from, uint64_t bytes);
int weft_gpu_copy_start(
	uint32_t stream, uint64_t to, uint64_t from, uint64_t bytes);

/*
 * Starts a kernel, a function that works on GPU memory by weft_gpu_load() and
 * weft_gpu_store() alone; arg is the program's until it was waited for.  It
 * takes gpu.launch and the time that the program says, in picoseconds.
 */
int weft_gpu_launch(
	uint32_t stream, void (*kernel)(void *arg), void *arg, int64_t takes);

/* Until all that was started in a stream is done; EIO: but for copies whose GPU
 * has died. */
int weft_gpu_wait(uint32_t stream);

/* For kernels, in no time; false where there are no such bytes, and outside of
 * kernels. */
bool weft_gpu_load(uint64_t at, void *to, size_t n);
bool weft_gpu_store(uint64_t at, const void *from, size_t n);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
