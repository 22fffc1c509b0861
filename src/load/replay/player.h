/*
 * A rank of a schedule while it runs.  replay.c plays it; waits.c says what it
 * waits for, where a run cannot go on.
 */
#ifndef LOAD_REPLAY_PLAYER_H
#define LOAD_REPLAY_PLAYER_H

#include "api/msg/msg.h"
#include "base/ring.h"
#include "load/programs.h"
#include "load/replay/autos.h"
#include "load/replay/exposed.h"
#include "load/replay/joints.h"
#include "load/replay/networks.h"

/* As how many others an operation waits for, once it waits for none. */
#define PLAYER_BEGUN UINT32_MAX

/* What a rank does all the time, for the log. */
#define PLAYER_CALL "replaying a schedule as rank #"

struct active {
	struct weft_msg_request request;
	uint32_t op;
	uint32_t mark; /* in the log */
	struct active *next;
};

/* A rank while it runs. */
struct player {
	struct replay *replay;
	const struct goal_rank *rank;
	struct weft_msg msg;
	uint32_t *left; /* [op]: others first; then PLAYER_BEGUN */
	struct ring ready[GOAL_CPUS]; /* operations of each cpu, in order */
	uint64_t has_ready, computes; /* bits of cpus */
	uint32_t calc[GOAL_CPUS]; /* the operation of one that computes */
	uint32_t calc_mark[GOAL_CPUS];
	sim_time free_at[GOAL_CPUS];
	struct active *active, *spare;
	uint64_t n_over; /* requests, when it looked last */
	struct joints joints;
	struct networks_end networks;
	uint8_t *chosen; /* by autos_choose() */
	uint32_t n_done;
	sim_time begin, end; /* of its first and last operation */
	sim_time seen; /* what it waited for before is accounted for */
	const struct goal_op *awaited; /* since then; or NULL: messages */
	bool computed; /* since then */
	bool has_failed, is_inside; /* inside the hook of a call */
};

struct replay {
	struct programs programs;
	char file[PARAM_TEXT_MAX], place[PARAM_TEXT_MAX];
	struct goal goal;
	uint64_t target; /* where messages come to */
	uint64_t unstored; /* bytes from SOURCE on */
	uint32_t *at; /* [rank] of the schedule: which of the machine */
	uint32_t *which; /* [rank of the machine]: of the schedule, + 1 */
	uint32_t n_places; /* ranks of the machine */
	int64_t procs; /* of a node; 0 or less: as few as suffice */
	struct player *player; /* [rank] */
	struct exposed exposed;
	struct autos autos;
	struct networks networks;
};

static inline uint32_t player_rank(const struct player *p)
{
	return (uint32_t)(p->rank - p->replay->goal.rank);
}

static inline uint32_t player_peer(
	const struct player *p, const struct goal_op *op)
{
	return goal_peer(&p->replay->goal, p->rank, op);
}

/* The collective that a rank has begun first, of those that are not over. */
bool player_oldest(const struct player *p, uint32_t *op);

/* A message that has begun. */
struct active *player_take(struct player *p);

/* Of all that a rank waits for, what began first: see program_explain(). */
void player_explain(void *player, char *text, size_t size);
/* Tells all processes what a rank has begun, and what it waits for, in order.
 */
void player_tell(struct player *p, const struct sim *sim, site_id node);

#endif
