/*
 * What switches remember of broadcasts, so that all answers to one become
 * one (QSN-G19).
 *
 * A broadcast that comes to a switch leaves a note: whose it is, by which port
 * it came and by which it goes on.  Every answer to it comes back by one of
 * these; all but the last end here, and the last goes on to where the broadcast
 * came from, with the greatest of their values.  So each receiver's answer
 * needs no route, and the sender gets exactly one.
 *
 * A broadcast that goes up and comes down again passes switches twice; these
 * have two notes of it, with different ports.  A broadcast that is sent again
 * has another number, so that no answer to the first counts for the second.
 * Where an answer is lost, the note is forgotten after routing.answers, and
 * so is what still comes.
 *
 * Notes are kept by site, and only where there were any.  Looking for one
 * takes as long as there are notes.
 */
#ifndef COLL_CASTS_H
#define COLL_CASTS_H

#include "coll/coll.h"

extern const struct coll_ops casts_ops;

#endif
