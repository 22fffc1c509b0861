/* What a tree writes into the book of time budgets: see coll/book.h. */
#include "base/mem.h"
#include "coll/book.h"
#include "coll/tree_node.h"

/* Of a route's contributions. */
static struct ring *kept(const struct tree_at *a, packet_id id)
{
	struct tree_node *n = a->node;

	if (!n->kept) {
		n->kept = mem_alloc(CLASS_ROUTES, sizeof(*n->kept));
		for (uint32_t i = 0; i < CLASS_ROUTES; i++)
			ring_init(&n->kept[i], sizeof(struct book_held));
	}
	return &n->kept[tree_packet(a, id)->hints & TREE_ROUTE];
}

void tree_book_free(struct tree_node *n)
{
	for (uint32_t i = 0; n->kept && i < CLASS_ROUTES; i++)
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

void tree_book_reduce(const struct tree_at *a, const packet_id *id, uint32_t n,
	packet_id local)
{
	const struct packet *p = tree_packet(a, id[0]);
	const struct class_route *r = &tree_route_of(a, p)->is;
	uint32_t last = coll_book_last(a->net, id, n);

	book_wait(a->net->book, id[last], CAUSE_ARBITRATION, a->t);
	if (local && (p->dst == NO_SITE || p->dst == a->s))
		coll_book_keep(kept(a, local), a->net, a->w, local,
			local == id[last], a->t);
	coll_book_join(a->net, a->w, id, last);
	tree_book_place(a, id[0], r->output ? "up, route" : "root, route",
		tree_nth(r->inputs, last), r->inputs);
}

void tree_book_receive(const struct tree_at *a, packet_id id, sim_time tail)
{
	struct book *k = a->net->book;

	book_at_part(k, id, a->s, "collective reception FIFO");
	book_wait(k, id, CAUSE_RECEIVER, a->t);
	if (tree_packet(a, id)->hints & TREE_REDUCES &&
		coll_book_return(kept(a, id), a->net, a->w, id)) {
		tree_book_at(a, id, "result, route", BOOK_NO_PORT);
		book_until(k, id, CAUSE_PEERS, a->t);
	}
	book_until(k, id, CAUSE_SERIALISATION, tail);
}
