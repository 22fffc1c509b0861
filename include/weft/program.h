/*
 * Calls for programs on any machine: identity, time, memory, threads.
 *
 * A program is a C function on a hardware thread of a node.  While it runs, no
 * simulated time passes; time passes only in calls that say so, here and in
 * weft/spi.h, weft/elan.h, weft/gni.h, weft/ape.h, weft/swverbs.h and
 * weft/msg.h.  All nodes are simulated in one process, so C globals are shared
 * by all nodes and by the threads of the simulator: a program must keep its
 * state on its stack, in the state that it was given, or in its node's memory.
 * A call in which time passes may return on another thread of the process:
 * thread-local data, including errno, does not survive it.
 *
 * Times are in picoseconds since the machine was switched on.  Calling any of
 * these from outside a program is an internal error, which ends the run, or
 * the process if there is no run.
 */
#ifndef WEFT_PROGRAM_H
#define WEFT_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef int64_t weft_time;

#define WEFT_NS INT64_C(1000)

enum { WEFT_MAX_DIMS = 8 };

/* The program's node, from 0; the number of nodes; the program's hardware
 * thread, 0 to 63. */
uint32_t weft_node(void);
uint32_t weft_nodes(void);
uint32_t weft_thread(void);

/*
 * The program's process on its node, from 0; the number of processes per node,
 * usually one (n_processes of struct weft_app).  Processes divide the node's
 * hardware threads among them, and each counts its threads from 0.
 */
uint32_t weft_process(void);
uint32_t weft_n_processes(void);

/*
 * Argument i, from 0, of those after -- on the command line; NULL after the
 * last one.
 */
const char *weft_argument(uint32_t i);

uint64_t weft_seed(void); /* of the run (--seed) */

/*
 * A pointer to bytes at an address of the process's memory (weft/msg.h): one
 * block of the simulating host's memory, to be read and written like any
 * other.  Bytes that arrive from other nodes appear there, and bytes written
 * there can be sent; nothing is copied.  The pointer is valid until the run
 * ends, on this node only, and the same bytes always have the same pointer.
 *
 * No simulated time passes, neither here nor when the pointer is used: programs
 * charge the time of their work with weft_compute().  A change through the
 * pointer does not wake programs that poll the word; use weft_msg_store() and
 * similar calls for flags.  The first call for a block allocates host memory
 * for all of it, in pages of 4 KiB, and copies its contents; later calls cost
 * next to nothing.
 *
 * NULL: bytes is 0; part of the block is not the process's own host memory (the
 * memory of devices and mapped ranges are not); or the block overlaps an
 * earlier one without lying inside it: map the larger block first.
 */
void *weft_map(uint64_t at, uint64_t bytes);

weft_time weft_now(void);

/* Computes for a time; waits until a time, not at all if it has passed. */
void weft_compute(weft_time time);
void weft_wait_until(weft_time time);

/*
 * Starts run(arg) on another thread of the same process; it first runs when
 * this program waits.  arg must stay valid as long as it runs.  False if the
 * thread does not exist or is in use, or if the node cannot have another
 * program (n_spawned of struct weft_app).
 */
bool weft_spawn(uint32_t thread, void (*run)(void *arg), void *arg);

/* The number of dimensions of a torus, and their sizes; 0 if the network is not
 * a torus. */
uint32_t weft_shape(uint32_t size[WEFT_MAX_DIMS]);

/* Coordinates of a node in a torus, and the node at coordinates, which wrap
 * around. */
void weft_coordinates(uint32_t node, uint32_t x[WEFT_MAX_DIMS]);
uint32_t weft_node_at(const uint32_t x[WEFT_MAX_DIMS]);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
