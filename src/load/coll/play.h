/*
 * Carries out a member's steps of a collective, by messages of any kind: begins
 * what can begin, and finds out what is over.  It never waits, so several can
 * be under way, and others can do so between its turns.
 */
#ifndef LOAD_COLL_PLAY_H
#define LOAD_COLL_PLAY_H

#include "load/coll/plan.h"

enum {
	PLAY_WINDOW = 16, /* steps of a lane under way */
	/* Fewer of those that receive, but enough for these bytes: an interface
	 * may fetch messages in order, and its own notices to others wait
	 * behind them. */
	PLAY_RECEIVES = 3,
	PLAY_RECEIVED = 128 << 10,
};

/* arg is the play's.  A slot is a number for a message under way. */
struct play_ops {
	/* Begin a message of a lane; an error number ends the play. */
	int (*send)(void *arg, uint32_t slot, uint32_t lane,
		const struct algo_step *s);
	int (*receive)(void *arg, uint32_t slot, uint32_t lane,
		const struct algo_step *s);
	/* *error: it has ended, but not well. */
	bool (*is_over)(void *arg, uint32_t slot, int *error);
	/* Both may be NULL: nobody looks at the data. */
	void (*add)(void *arg, uint64_t to, uint64_t from, uint64_t bytes);
	void (*copy)(void *arg, uint64_t to, uint64_t from, uint64_t bytes);
};

struct play {
	const struct algo_plan *plan;
	uint32_t member;
	const struct play_ops *ops;
	void *arg;
	uint32_t window, receives; /* at most PLAY_WINDOW */
	struct play_lane *lane;
	uint32_t n_lanes, n_over; /* lanes */
	uint64_t n_steps; /* that have ended */
	int error; /* it has stopped */
};

/* window: 0: the usual ones. */
void play_open(struct play *p, const struct algo_plan *plan, uint32_t member,
	uint32_t window, const struct play_ops *ops, void *arg);
void play_close(struct play *p);
/* Slots that it may use. */
uint32_t play_slots(const struct algo_plan *plan);

/* As far as it gets; returns whether anything has changed. */
bool play_go_on(struct play *p);

static inline bool play_is_over(const struct play *p)
{
	return p->n_over == p->n_lanes || p->error;
}

#endif
