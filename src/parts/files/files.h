/*
 * The file systems behind IO nodes: names, real bytes, and the bus that leads
 * there.  A daemon's thread hands a call over and finds its answer there one
 * window later; nothing waits in here.
 *
 * Partitions of a machine may share an IO node.  Each takes a seat, has daemons
 * and time of its own, and the calls of all are carried out in the order of
 * their times, by whoever runs the partitions (machine/partitions_run.c).
 */
#ifndef PARTS_FILES_FILES_H
#define PARTS_FILES_FILES_H

#include "parts/part.h"
#include "sim/sim.h"

enum {
	FILES_NAME = 64, /* bytes of a name, with its end */
	FILES_MOST = 256, /* of an IO node, and as many that are open */
	FILES_THREADS = 16, /* of a daemon */
	FILES_PIECE = 128 << 10, /* the most that crosses at once */
	FILES_IO = 1 << 16, /* the most IO nodes */
};

#define FILES_BYTES (UINT64_C(1) << 34) /* the most in a file */

enum { FILES_CREATE = 1, FILES_TRUNCATE = 2 };

enum files_op {
	FILES_OPEN, /* name, how -> a descriptor */
	FILES_CLOSE,
	FILES_LOOK, /* -> the file's length */
	FILES_WRITE, /* bytes, offset -> bytes */
	FILES_READ, /* the same; fewer at the file's end */
};

/* One of a thread at a time. */
struct files_call {
	enum files_op op;
	uint32_t node, process; /* whose it is */
	int32_t file; /* a descriptor */
	uint32_t how;
	uint32_t bytes; /* that cross: FILES_PIECE at most */
	uint64_t offset;
	char name[FILES_NAME];

	/* set by files_hand_over() */
	uint32_t io; /* whose file system */
	sim_time at; /* in the time of all */
	/* the answer */
	int64_t result; /* or the negative of an error number */
	sim_time end; /* when the last byte has crossed */
};

/* Of IO nodes: a bus of two directions, and files behind it. */
struct files_params {
	int64_t pcie_rate; /* bytes a second each way */
	int64_t latency; /* ps, of an access */
};

extern const struct part_ops part_files;

struct files;

/* A machine's place at the file systems; shared ones have several. */
struct files_seat {
	struct files *files;
	bool is_shared; /* IO nodes have the numbers of a bigger machine */
	uint32_t member; /* which of the machines it is */
	sim_time begin; /* of its time, in that of all */
	uint32_t n_calls; /* a call for each thread of its own IO nodes */
	struct files_call *call;
	uint8_t *data; /* FILES_PIECE bytes for each */
	/* Calls to shared IO nodes that are to be carried out, by number. */
	uint32_t *sent;
	uint32_t n_sent;
};

/* For so many IO nodes. */
struct files *files_new(
	uint32_t n_io, const struct files_params *p, struct err *e);
void files_free(struct files *f);
/* Several machines use an IO node; only before anything runs. */
void files_share(struct files *f, uint32_t io);

/* The call of a thread of an IO node, both with the numbers that they have in
 * this machine; and the bytes that are to cross or have crossed. */
struct files_call *files_call(
	const struct files_seat *s, uint32_t io, uint32_t thread);
uint8_t *files_data(const struct files_seat *s, const struct files_call *c);
/* To the file system of an IO node, at t, which is now. */
void files_hand_over(
	struct files_seat *s, struct files_call *c, uint32_t io, sim_time t);
/* A call that was sent: after all that are earlier, before a window later. */
void files_carry_out(const struct files_seat *s, struct files_call *c);

#endif
