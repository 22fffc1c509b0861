/*
 * Time budgets of reductions.  The result continues the account of the input
 * that came last.  The account of a member's own contribution is kept until the
 * result returns; if the result is on another account, the time between counts
 * as waiting for others (CAUSE_PEERS).
 *
 * Only for networks with a book.
 */
#ifndef COLL_BOOK_H
#define COLL_BOOK_H

#include "base/ring.h"
#include "net/net.h"

/* The index of the input that came last. */
uint32_t coll_book_last(
	const struct net *n, const packet_id *id, uint32_t n_ids);
/* Several inputs become the first of them. */
void coll_book_join(struct net *n, struct sim_worker *w, const packet_id *id,
	uint32_t last);

/* A member's own contribution leaves; kept is a ring of struct book_held, in
 * the order of its operations.  Before coll_book_join(). */
void coll_book_keep(struct ring *kept, struct net *n, struct sim_worker *w,
	packet_id own, bool is_last, sim_time t);
/* The head of a result has returned: false if nothing was kept.  The caller
 * charges the time from then on. */
bool coll_book_return(
	struct ring *kept, struct net *n, struct sim_worker *w, packet_id id);

#endif
