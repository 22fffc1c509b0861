/*
 * Transfers of APEnet+'s library: directly between any two memories (peer to
 * peer), or for GPU memory through host memory, in chunks, so that copies and
 * transfers overlap; with GPUDirect's pinned memory (staged), or with an
 * additional copy by a core at each end (copied).
 *
 * A chunk for a GPU is put into a slot of the target's host memory, where each
 * process has some for each other process; the target's library copies it from
 * there when its program looks for events, and reports the empty slot.
 */
#ifndef API_APE_STAGE_H
#define API_APE_STAGE_H

#include "api/ape/queue.h"

enum ape_way { APE_AUTO, APE_P2P, APE_STAGED, APE_COPIED, APE_WAYS };

enum {
	APE_SLOTS = 4, /* of each pair of processes */
	APE_STAGE_KEY = 1, /* number of the key to slots */
	APE_GPU_KEY = 1 << 19, /* of a key's number: it is of GPU memory */
};

struct ape_stage {
	struct ape_user user;
	uint32_t first; /* queue, of process 0 of any node */
	uint32_t process, n_processes; /* of each node */
	uint64_t at; /* address of ape_stage_memory() bytes */
	bool heeds; /* as struct ape_user's */
	/* Called for events that are not the library's own. */
	void (*on_event)(void *arg, const struct workq_completion *c);
	void *arg;

	struct ring landings; /* chunks being copied, in order */
	struct ring owed; /* empty slots that have not been reported */
};

uint64_t ape_stage_memory(const struct nic *nic, uint32_t n_processes);
/* With the fields from first to arg set; as workqs_open(). */
int ape_stage_open(struct ape_stage *s);
void ape_stage_fini(struct ape_stage *s);

/* Registers memory of either kind. */
uint32_t ape_stage_register(struct ape_stage *s, uint64_t at, uint64_t bytes);

struct ape_put {
	uint32_t node, key; /* of the target */
	uint64_t offset, from, bytes; /* there; an address here */
	uint32_t tag;
	bool is_quiet;
};

/* ENOTSUP for p2p if it is switched off, EIO if a dead GPU would have to copy,
 * or 0. */
int ape_stage_check(
	const struct ape_stage *s, enum ape_way way, const struct ape_put *p);
/* Returns the number of its last command. */
uint32_t ape_stage_put(
	struct ape_stage *s, enum ape_way way, const struct ape_put *p);

/* Takes events, and ends copies that are over; whether there were any. */
bool ape_stage_step(struct ape_stage *s);
/* Waits until there may be some, or until a deadline. */
void ape_stage_wait(struct ape_stage *s, sim_time deadline);

#endif
