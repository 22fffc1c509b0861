#include "coll/book.h"

uint32_t coll_book_last(
	const struct net *n, const packet_id *id, uint32_t n_ids)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i < n_ids; i++)
		if (n->packets[id[i]].head > n->packets[id[last]].head)
			last = i;
	return last;
}

void coll_book_keep(struct ring *kept, struct net *n, struct sim_worker *w,
	packet_id own, bool is_last, sim_time t)
{
	struct book_held h;

	if (!is_last)
		book_wait(n->book, own, CAUSE_ARBITRATION, t);
	h = book_hold(n->book, w->id, own);
	*(struct book_held *)ring_push(kept) = h;
	if (is_last)
		book_resume(n->book, w->id, own, &h);
}

void coll_book_join(
	struct net *n, struct sim_worker *w, const packet_id *id, uint32_t last)
{
	if (!last)
		return;
	if (book_has(n->book, id[0]))
		book_forget(n->book, id[0]);
	book_replace(n->book, w->id, id[last], id[0]);
}

bool coll_book_return(
	struct ring *kept, struct net *n, struct sim_worker *w, packet_id id)
{
	struct book_held own, came;
	bool is_own;

	if (!kept->n)
		return false;
	own = *(const struct book_held *)ring_pop(kept);
	came = book_hold(n->book, w->id, id);
	is_own = own.account.src == came.account.src &&
		 own.account.number == came.account.number;
	if (is_own) {
		came.account.n_packets = own.account.n_packets;
		came.n_packets = own.n_packets;
	}
	book_resume(n->book, w->id, id, is_own ? &came : &own);
	return true;
}
