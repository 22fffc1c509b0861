/*
 * Broadcasts in switches, which combine all answers to a broadcast into one
 * (QSN-G19).
 *
 * A broadcast leaves a note at each switch: its sender, the port where it
 * arrived, and the ports by which it left.  Every answer returns by one of
 * these.  All but the last end here; the last goes on to where the broadcast
 * came from, with the largest of the values.  So answers need no route, and the
 * sender gets exactly one.
 *
 * A broadcast that goes up and down passes some switches twice; these have two
 * notes, with different ports.  A retransmitted broadcast has another number,
 * so that answers to the first do not count for the second.  If an answer is
 * lost, the note is discarded after routing.answers, and so are late answers.
 *
 * Notes are kept by site and searched one by one.
 */
#ifndef COLL_CASTS_H
#define COLL_CASTS_H

#include "coll/coll.h"

extern const struct coll_ops casts_ops;

#endif
