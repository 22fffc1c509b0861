/*
 * What a program may ask of the machine that it runs on.
 *
 * A program is a C function on a hardware thread of a node.  It runs while
 * no simulated time passes; time passes where it says so, and where a call
 * of weft/spi.h, weft/elan.h, weft/gni.h or weft/msg.h does.  Nodes share no
 * memory but their C globals, which are those of the one process that all nodes
 * are simulated in, and of all its threads: a program keeps what it knows on
 * its stack, in what it was given, or in its node's memory.  A call during
 * which time passes may return on another thread of the process: what is
 * thread-local, errno among it, is not kept over one.
 *
 * Times are in picoseconds since the machine was switched on.  Called from
 * outside a program, any of these is an internal error, which ends the run, or
 * the process where there is none.
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

/* Its node, from 0 on; how many there are; its hardware thread, 0 to 63. */
uint32_t weft_node(void);
uint32_t weft_nodes(void);
uint32_t weft_thread(void);

/*
 * Its process, of those on its node, from 0 on; how many each node has, most
 * often one (n_processes of struct weft_app).  They share the node's hardware
 * threads, and each counts its own from 0 on.
 */
uint32_t weft_process(void);
uint32_t weft_n_processes(void);

/*
 * Word i, from 0 on, of those that stand behind -- on the command line; NULL
 * behind the last one.
 */
const char *weft_argument(uint32_t i);

/*
 * The bytes at an address of its process's memory (weft/msg.h), as the host
 * that simulates has them: one piece, to be read and written like any other.
 * What arrives from other nodes is seen there, and what is written there is
 * sent; nothing is copied.  It is valid until the run ends, on this node alone,
 * and the same bytes always have the same place.
 *
 * No simulated time passes, neither here nor where it is used: programs charge
 * what their work would take (weft_compute()).  A change by the pointer wakes
 * nobody who polls the word; use weft_msg_store() and the like for flags.  The
 * first call for some bytes takes host memory for all of them, in pages of
 * 4 KiB, and copies what is there; later ones cost next to nothing.
 *
 * NULL: bytes is 0, not all of them are the process's own host memory (a
 * device's memory and mapped ranges are none), or they overlap what was
 * mapped before without lying in it: map the larger block first.
 */
void *weft_map(uint64_t at, uint64_t bytes);

weft_time weft_now(void);

/* Computes for so long; or waits until then, not at all if that is past. */
void weft_compute(weft_time time);
void weft_wait_until(weft_time time);

/*
 * Starts run(arg) now on another thread of the same process; it first runs when
 * this program waits.  arg must live as long as it runs.  False where there
 * is no such thread, where one runs there, or where the node has no room for
 * one more (n_spawned of struct weft_app).
 */
bool weft_spawn(uint32_t thread, void (*run)(void *arg), void *arg);

/* The torus: how many dimensions it has, and their sizes; 0 where the
 * network is none. */
uint32_t weft_shape(uint32_t size[WEFT_MAX_DIMS]);

/* Of a torus: where a node is, and which node is there.  Coordinates beyond a
 * size go round. */
void weft_coordinates(uint32_t node, uint32_t x[WEFT_MAX_DIMS]);
uint32_t weft_node_at(const uint32_t x[WEFT_MAX_DIMS]);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
