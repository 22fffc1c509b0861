/*
 * The plan of random messages: what every message is, as a function of the
 * seed, so that its receiver knows without being told.
 *
 * Actors, a program each, send in rounds, one message in each of some lanes;
 * a lane's senders and receivers are a permutation, another one each round.
 */
#ifndef LOAD_SPI_PLAN_H
#define LOAD_SPI_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PLAN_LANES = 8,
	PLAN_MOST = 16 << 10, /* bytes of a message */
	PLAN_MOST_FIFO = 4 << 10, /* into a reception FIFO */
	PLAN_ALIGN = 512, /* places are below this, in source and target */
};

enum plan_type {
	PLAN_FIFO, /* into the receiver's reception FIFO */
	PLAN_PUT, /* into its memory */
	PLAN_ATOMIC, /* onto words of its memory */
	PLAN_GET, /* the sender asks, the receiver's unit answers by a put */
	PLAN_LOCAL, /* a copy inside the sender's memory */
	PLAN_PREFETCH, /* of the sender's memory; nothing arrives */
	PLAN_TYPES,
};

enum plan_route {
	PLAN_DYNAMIC,
	PLAN_DETERMINISTIC,
	PLAN_HINTED, /* dynamic, with hints for some dimensions */
	PLAN_HIGH,
	PLAN_ROUTES,
};

struct plan {
	uint64_t seed;
	uint32_t n_actors;
};

struct plan_message {
	enum plan_type type;
	enum plan_route route;
	uint32_t bytes;
	uint32_t source, target; /* offsets from aligned places */
	uint64_t bits; /* for all that is left to chance */
};

/* Who gets an actor's message of a round and lane, and who sends to it. */
uint32_t plan_receiver(
	const struct plan *p, uint32_t actor, uint32_t lane, uint64_t round);
uint32_t plan_sender(
	const struct plan *p, uint32_t actor, uint32_t lane, uint64_t round);

struct plan_message plan_message(
	const struct plan *p, uint32_t sender, uint32_t lane, uint64_t round);

/* Names the message's bytes: an owner for memory_fill_by(). */
static inline uint64_t plan_stream(
	uint32_t sender, uint32_t lane, uint64_t round)
{
	return ((uint64_t)sender << 4 | lane) << 36 | round;
}

#endif
