/*
 * What arrives in pieces, in any order: when the last of them does, and when
 * the first was made.  One node's; a piece that is lost leaves the rest
 * waiting.
 */
#ifndef LOAD_TRAFFIC_PIECES_H
#define LOAD_TRAFFIC_PIECES_H

#include "base/index.h"
#include "base/slots.h"
#include "sim/sim.h"

struct pieces {
	struct index index; /* of the slots, by what they are pieces of */
	struct slots slots;
};

void pieces_init(struct pieces *p);
void pieces_fini(struct pieces *p);

/* One of so many pieces has come; true where it was the last, and *born is the
 * earliest of all of them. */
bool pieces_take(struct pieces *p, uint64_t what, uint32_t of, sim_time *born);

#endif
