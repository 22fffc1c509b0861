/*
 * The interface to the host's bus (QSN-F16).  All bursts of the card pass
 * here: reads that have come, threads' included, writes, words and copies of
 * events.
 *
 * Where nic.bus.reads says nothing they go in the order in which they ask.
 * Else, while both reads and writes wait, reads get that part of the bus's
 * time; whoever waits alone gets all of it.
 */
#include "nic/elan4/parts.h"

#include "base/mem.h"

static void grant(
	const struct nic_at *a, const struct elan_burst *b, enum bus_way way)
{
	sim_time end = bus_burst(&elan_here(a)->bus, &elan_of(a)->params.bus,
		a->t, b->bytes, elan_of(a)->host.dma_overhead, way);

	switch (b->what) {
	case ELAN_BURST_WORD:
		elan_word_granted(a, b->id, end);
		break;
	case ELAN_BURST_WRITE:
		elan_input_granted(a, b->id, end);
		break;
	case ELAN_BURST_READ:
		elan_dma_granted(a, b->id, end);
		break;
	case ELAN_BURST_COPY:
		elan_event_granted(a, b->id, end);
		break;
	case ELAN_BURST_THREAD:
		elan_thread_granted(a, b->id, end);
		break;
	}
}

static void push(struct elan_line *l, const struct elan_burst *b)
{
	if (l->n == l->room)
		l->burst = mem_grow_ring(
			l->burst, &l->room, l->first, 8, sizeof(*l->burst));
	l->burst[(l->first + l->n++) % l->room] = *b;
}

/* Whose turn it is: his who has had less of what is his part. */
static enum bus_way pick(const struct nic_at *a)
{
	const struct elan_line *line = elan_here(a)->line;
	int64_t reads = elan_of(a)->params.bus_reads;

	if (!line[BUS_IN].n || !line[BUS_OUT].n)
		return line[BUS_IN].n ? BUS_IN : BUS_OUT;
	return line[BUS_OUT].had * (100 - reads) <= line[BUS_IN].had * reads
		       ? BUS_OUT
		       : BUS_IN;
}

void elan_bus_on_free(const struct nic_at *a)
{
	struct elan_node *n = a->node;
	enum bus_way way = pick(a);
	struct elan_line *l = &n->line[way];
	bool is_shared = n->line[!way].n;
	sim_time busy = n->bus.busy;
	struct elan_burst b;

	n->is_bus_posted = false;
	if (!l->n)
		return;
	b = l->burst[l->first];
	l->first = (l->first + 1) % l->room;
	l->n--;
	n->is_bus_posted = true; /* who asks now stands in line */
	grant(a, &b, way);
	/* What one had alone is not held against him. */
	if (is_shared)
		l->had += n->bus.busy - busy;
	else
		n->line[BUS_IN].had = n->line[BUS_OUT].had = 0;
	elan_post(a, n->bus.free_at, ELAN_ENGINE_BUS, 0);
}

void elan_bus_ask(const struct nic_at *a, enum elan_burst_what what,
	uint32_t id, uint32_t bytes)
{
	enum bus_way way = what >= ELAN_BURST_READ ? BUS_OUT : BUS_IN;
	struct elan_burst b = { what, id, bytes };

	if (!elan_of(a)->params.bus_reads) {
		grant(a, &b, way);
		return;
	}
	push(&elan_here(a)->line[way], &b);
	if (!elan_here(a)->is_bus_posted)
		elan_bus_on_free(a);
}
