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

void tree_book_place(const struct tree_at *a, packet_id id, const char *what,
	uint32_t port, uint32_t inputs)
{
	const struct book_place at = { what, a->s,
		tree_packet(a, id)->hints & TREE_ROUTE, (uint8_t)port,
		BOOK_NO_CHANNEL, (uint16_t)inputs };

	if (book_has(a->net->book, id))
		book_set_place(a->net->book, id, &at);
}

/* Which of them. */
static uint32_t last_of(
	const struct tree_at *a, const packet_id *id, uint32_t n)
{
	uint32_t i, last = 0;

	for (i = 1; i < n; i++)
		if (tree_packet(a, id[i])->head >
			tree_packet(a, id[last])->head)
			last = i;
	return last;
}

/* What the node's own contribution took is kept for when the result is
 * back. */
static void keep(const struct tree_at *a, packet_id local, bool is_last)
{
	struct book *k = a->net->book;
	struct book_held h;

	if (!is_last)
		book_wait(k, local, CAUSE_ARBITRATION, a->t);
	h = book_hold(k, a->w->id, local);
	*(struct book_held *)ring_push(
		kept(a->node, tree_packet(a, local)->hints & TREE_ROUTE)) = h;
	if (is_last)
		book_resume(k, a->w->id, local, &h);
}

void tree_book_reduce(const struct tree_at *a, const packet_id *id, uint32_t n,
	packet_id local)
{
	struct book *k = a->net->book;
	uint32_t last = last_of(a, id, n);
	const struct packet *p = tree_packet(a, id[0]);
	const struct class_route *r = &tree_route_of(a, p)->is;

	book_wait(k, id[last], CAUSE_ARBITRATION, a->t);
	if (local && (p->dst == NO_SITE || p->dst == a->s))
		keep(a, local, local == id[last]);
	if (last) {
		if (book_has(k, id[0]))
			book_forget(k, id[0]);
		book_replace(k, a->w->id, id[last], id[0]);
	}
	tree_book_place(a, id[0], r->output ? "rises, route" : "turns, route",
		tree_nth(r->inputs, last), r->inputs);
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
	tree_book_at(a, id, "result, route", BOOK_NO_PORT);
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
