#include "host/bus.h"

void bus_init(struct bus *b, const struct bus_params *p)
{
	uint32_t i;

	*b = (struct bus){ .params = p,
		.request = bus_packet(p, BUS_REQUEST, 0) };
	for (i = 0; i < BUS_KINDS; i++)
		b->full[i] = bus_packet(p, i, (uint32_t)p->payload);
	ring_init(&b->line[BUS_IN].waiting, sizeof(struct bus_burst));
	ring_init(&b->line[BUS_OUT].waiting, sizeof(struct bus_burst));
}

void bus_fini(struct bus *b)
{
	ring_fini(&b->line[BUS_IN].waiting);
	ring_fini(&b->line[BUS_OUT].waiting);
}

uint64_t bus_memory(const struct bus *b)
{
	return ring_memory(&b->line[BUS_IN].waiting) +
	       ring_memory(&b->line[BUS_OUT].waiting);
}

static void grant(struct bus *b, const struct bus_card *card, const void *at,
	sim_time t, const struct bus_burst *x)
{
	card->granted(at, x, bus_burst(b, t, x->kind, x->bytes));
}

/* The direction whose turn it is: that which has had less of its share. */
static enum bus_way pick(const struct bus *b)
{
	const struct bus_line *in = &b->line[BUS_IN], *out = &b->line[BUS_OUT];
	int64_t reads = b->params->share;

	if (!in->waiting.n || !out->waiting.n)
		return in->waiting.n ? BUS_IN : BUS_OUT;
	return out->had * (100 - reads) <= in->had * reads ? BUS_OUT : BUS_IN;
}

void bus_on_free(
	struct bus *b, const struct bus_card *card, const void *at, sim_time t)
{
	enum bus_way way = pick(b);
	struct bus_line *l = &b->line[way];
	bool is_shared = b->line[!way].waiting.n;
	sim_time busy = b->busy;
	struct bus_burst x;

	b->is_posted = false;
	if (!l->waiting.n)
		return;
	x = *(struct bus_burst *)ring_pop(&l->waiting);
	b->is_posted = true; /* who asks now stands in line */
	grant(b, card, at, t, &x);
	/* what a direction had alone is not held against it */
	if (is_shared)
		l->had += b->busy - busy;
	else
		b->line[BUS_IN].had = b->line[BUS_OUT].had = 0;
	card->post(at, b->free_at[0]);
}

void bus_ask(struct bus *b, const struct bus_card *card, const void *at,
	sim_time t, const struct bus_burst *x)
{
	if (!b->params->share) {
		grant(b, card, at, t, x);
		return;
	}
	*(struct bus_burst *)ring_push(&b->line[bus_way_of(x->kind)].waiting) =
		*x;
	if (!b->is_posted)
		bus_on_free(b, card, at, t);
}
