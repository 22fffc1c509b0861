/*
 * Where a reduction's time goes, for the book of time budgets, wherever inputs
 * meet.  The result goes on the account of the input that came last.  What a
 * member's own contribution took until it left is kept; where the result is not
 * on that very account, the rest until its head is back was spent on waiting
 * for others (CAUSE_PEERS).
 *
 * Only where there is a book.
 */
#ifndef COLL_BOOK_H
#define COLL_BOOK_H

#include "base/ring.h"
#include "net/net.h"

/* Which of several inputs came last. */
uint32_t coll_book_last(
	const struct net *n, const packet_id *id, uint32_t n_ids);
/* They become the first of them. */
void coll_book_join(struct net *n, struct sim_worker *w, const packet_id *id,
	uint32_t last);

/* A member's own contribution leaves; kept is a ring of struct book_held, in
 * the order of its operations.  Before coll_book_join(). */
void coll_book_keep(struct ring *kept, struct net *n, struct sim_worker *w,
	packet_id own, bool is_last, sim_time t);
/* The head of a result is back: false where nothing is kept.  What it took from
 * there on is to be charged. */
bool coll_book_return(
	struct ring *kept, struct net *n, struct sim_worker *w, packet_id id);

#endif
