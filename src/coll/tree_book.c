/*
 * Where a reduction's time goes, for the book of time budgets.  What goes on
 * from a node goes on the account of the input that came last.  What every
 * member's own contribution took until it left is kept at its node: where the
 * result is not on that very account, the rest until its head is back was
 * spent on waiting for others (CAUSE_PEERS).
 */
#include "base/mem.h"
#include "base/ring.h"
#include "coll/tree_node.h"

static struct ring *kept(struct tree_node *n, uint32_t route)
{
	uint32_t i;

	if (!n->kept) {
		n->kept = mem_alloc(CLASS_ROUTES, sizeof(*n->kept));
		for (i = 0; i < CLASS_ROUTES; i++)
			ring_init(&n->kept[i], sizeof(struct book_held));
	}
	return &n->kept[route];
}

void tree_book_free(struct tree_node *n)
{
	uint32_t i;

	for (i = 0; n->kept && i < CLASS_ROUTES; i++)
		ring_fini(&n->kept[i]);
	mem_free(n->kept);
}

static packet_id last_of(
	const struct tree_at *a, const packet_id *id, uint32_t n)
{
	packet_id last = id[0];
	uint32_t i;

	for (i = 1; i < n; i++)
		if (tree_packet(a, id[i])->head > tree_packet(a, last)->head)
			last = id[i];
	return last;
}

void tree_book_reduce(const struct tree_at *a, const packet_id *id, uint32_t n,
	packet_id local)
{
	struct book *k = a->net->book;
	packet_id last = last_of(a, id, n);
	const struct packet *p = tree_packet(a, id[0]);
	bool comes_back = p->dst == NO_SITE || p->dst == a->s;
	struct book_held h;

	book_wait(k, last, CAUSE_ARBITRATION, a->t);
	if (local && comes_back) {
		if (local != last)
			book_wait(k, local, CAUSE_ARBITRATION, a->t);
		h = book_hold(k, a->w->id, local);
		*(struct book_held *)ring_push(
			kept(a->node, p->hints & TREE_ROUTE)) = h;
		if (local == last)
			book_resume(k, a->w->id, local, &h);
	}
	if (last == id[0])
		return;
	if (book_has(k, id[0]))
		book_forget(k, id[0]);
	book_replace(k, a->w->id, last, id[0]);
}

/* A reduction's head is back. */
static void come_back(const struct tree_at *a, packet_id id)
{
	struct book *k = a->net->book;
	struct ring *r = kept(a->node, tree_packet(a, id)->hints & TREE_ROUTE);
	struct book_held own, came;
	bool is_own;

	if (!r->n)
		return;
	own = *(const struct book_held *)ring_pop(r);
	came = book_hold(k, a->w->id, id);
	is_own = own.account.src == came.account.src &&
		 own.account.number == came.account.number;
	if (is_own) {
		came.account.n_packets = own.account.n_packets;
		came.n_packets = own.n_packets;
	}
	book_resume(k, a->w->id, id, is_own ? &came : &own);
	book_at_part(k, id, a->s, "collective");
	book_until(k, id, CAUSE_PEERS, a->t);
}

void tree_book_receive(const struct tree_at *a, packet_id id, sim_time tail)
{
	struct book *k = a->net->book;

	book_at_part(k, id, a->s, "collective reception FIFO");
	book_wait(k, id, CAUSE_RECEIVER, a->t);
	if (tree_packet(a, id)->hints & TREE_REDUCES)
		come_back(a, id);
	book_until(k, id, CAUSE_SERIALISATION, tail);
}
