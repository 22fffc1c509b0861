/*
 * The file systems behind IO nodes: names, real bytes, and the bus that leads
 * there.  Nobody waits in here: a call is handed over, and its answer is there
 * one window later.
 *
 * An IO node may have several members: machines with time of their own, such as
 * partitions of one.  Whoever runs them begins a window of one of them only
 * when the others have come as far.  Then nobody can hand over an earlier call
 * any more, and calls are carried out in the order of their times; at the same
 * time, of members (files_pass()).
 */
#ifndef PARTS_FILES_FILES_H
#define PARTS_FILES_FILES_H

#include "parts/part.h"
#include "sim/sim.h"

enum {
	FILES_NAME = 64, /* bytes of a name, with its end */
	FILES_MOST = 256, /* of an IO node, and as many that are open */
	FILES_THREADS = 16, /* of a member that use an IO node */
	FILES_MEMBERS = 4, /* of an IO node */
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

/* Where one member sits; it must stay where it is. */
struct files_seat {
	struct files *files;
	bool is_shared; /* IO nodes have the numbers of a bigger machine */
	uint32_t member;
	sim_time begin; /* of its time, in that of all */
	uint32_t n_waiting; /* calls that it has handed over */
	uint64_t n_calls;
};

/* For so many IO nodes. */
struct files *files_new(uint32_t n_io, uint32_t n_members,
	const struct files_params *p, struct err *e);
void files_free(struct files *f);
/* An IO node is a member's, too, who is none yet; only before anything runs. */
void files_join(struct files *f, uint32_t io, uint32_t member);

/* The call of a thread, and FILES_PIECE bytes that are to cross or have. */
struct files_call *files_call(
	const struct files_seat *s, uint32_t io, uint32_t thread);
uint8_t *files_data(const struct files_seat *s, uint32_t io, uint32_t thread);
/* At t, which is now. */
void files_hand_over(
	struct files_seat *s, uint32_t io, uint32_t thread, sim_time t);

/* sim_on_window(): arg is a struct files_seat. */
void files_pass(void *arg, sim_time start);

#endif
