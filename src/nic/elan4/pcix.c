/*
 * The interface to the host's bus (QSN-F16), for all of the card's transfers.
 * The bus is a side (host/side.h), which serves first come, first served; if a
 * machine file gives reads a share of the time, bursts wait here, and the side
 * gets one at a time.
 */
#include "nic/elan4/units.h"

#include "host/side_bus.h"

struct side *elan_bus_new(
	const struct elan_params *p, site_id n_nodes, struct err *e)
{
	const struct elan_host *h = &p->host[p->platform];
	struct side_bus_params bus = {
		.bus = p->bus,
		.request = ELAN_PACKET,
		.reads = p->reads,
		.store = h->store,
		.see = h->see,
	};

	bus.bus.wait = p->read_latency;
	bus.bus.overhead[BUS_STORE] = h->pio_overhead;
	bus.bus.overhead[BUS_DATA] = h->dma_overhead;
	bus.bus.overhead[BUS_WRITE] = h->dma_overhead;
	return side_new(&side_pcix_ops, &bus, n_nodes, 1, e);
}

/* --- whose turn it is --- */

static void grant(const struct nic_at *a, const struct elan_burst *b)
{
	struct side *side = elan_of(a)->side;

	b->granted(a, b->id,
		(b->is_read ? side->ops->data : side->ops->write)(
			side, a->s, a->t, b->at, b->bytes));
}

/* The direction whose turn it is: that which has had less of its share. */
static struct elan_line *pick(const struct nic_at *a)
{
	struct elan_line *in = &elan_here(a)->in, *out = &elan_here(a)->out;
	int64_t reads = elan_params(a)->bus_reads;

	if (!in->waiting.n || !out->waiting.n)
		return in->waiting.n ? in : out;
	return out->had * (100 - reads) <= in->had * reads ? out : in;
}

void elan_bus_on_free(const struct nic_at *a, uint32_t none)
{
	struct elan_node *n = a->node;
	const struct bus *bus = side_bus_at(elan_of(a)->side, a->s);
	bool is_shared = n->in.waiting.n && n->out.waiting.n;
	struct elan_line *l = pick(a);
	sim_time busy = bus->busy;
	struct elan_burst x;

	(void)none;
	n->is_bus_posted = l->waiting.n;
	if (!n->is_bus_posted)
		return;
	x = *(struct elan_burst *)ring_pop(&l->waiting);
	grant(a, &x); /* units that ask now wait in line */
	/* only shared time counts */
	if (is_shared)
		l->had += bus->busy - busy;
	else
		n->in.had = n->out.had = 0;
	elan_post(a, bus->free_at[0], ELAN_ENGINE_BUS, 0);
}

static void ask(const struct nic_at *a, struct elan_burst b)
{
	struct elan_node *n = a->node;

	if (!elan_params(a)->bus_reads) {
		grant(a, &b);
		return;
	}
	*(struct elan_burst *)ring_push(
		b.is_read ? &n->out.waiting : &n->in.waiting) = b;
	if (!n->is_bus_posted)
		elan_bus_on_free(a, 0);
}

void elan_bus_read(const struct nic_at *a, uint64_t at, uint32_t bytes,
	elan_granted *granted, uint32_t id)
{
	ask(a, (struct elan_burst){ granted, at, id, bytes, true });
}

void elan_bus_write(const struct nic_at *a, uint64_t at, uint32_t bytes,
	elan_granted *granted, uint32_t id)
{
	ask(a, (struct elan_burst){ granted, at, id, bytes, false });
}

/* --- words --- */

static void word_granted(const struct nic_at *a, uint32_t id, sim_time seen)
{
	struct elan_words *w = &elan_here(a)->words;

	w->last_in = seen;
	elan_post(a, seen, ELAN_ENGINE_WORD_IN, id);
	w->had++;
	elan_thread_on_word(a);
}

/* A word of the card's own memory is there at once. */
static void write_here(const struct nic_at *a, uint64_t address, uint64_t value)
{
	elan_cache_write(a, ELAN_BY_EVENT, address, sizeof(value), a->t);
	elan_sdram_write(a, a->t, address, &value, sizeof(value));
}

static uint8_t *data_of(struct elan_word *x)
{
	return x->many ? x->many->data : x->few;
}

uint32_t elan_block_write(const struct nic_at *a, uint64_t address,
	const void *from, uint32_t bytes)
{
	struct elan_words *w = &elan_here(a)->words;
	uint32_t id = slots_take_any(&w->items);
	struct elan_word *x = slots_at(&w->items, id);

	x->address = address;
	x->bytes = bytes;
	x->note = 0;
	x->many = NULL;
	if (bytes > ELAN_FEW_BYTES)
		x->many = payload_take(a->nic->payloads, a->w->id);
	memcpy(data_of(x), from, bytes);
	slots_push(&w->items, &w->out, id);
	x->turn = ++w->asked;
	elan_bus_write(a, address, bytes, word_granted, id);
	return id;
}

bool elan_block_ends(
	const struct nic_at *a, uint32_t block, uint32_t turn, uint32_t note)
{
	struct elan_word *x = slots_find(&elan_here(a)->words.items, block);

	if (!x || x->turn != turn)
		return false;
	x->note = note;
	return true;
}

void elan_word_write(const struct nic_at *a, uint64_t address, uint64_t value)
{
	if (elan_is_card(address)) {
		write_here(a, address, value);
		return;
	}
	elan_block_write(a, address, &value, sizeof(value));
}

static void on_translated(const struct nic_at *a, uint32_t id)
{
	struct slots *items = &elan_here(a)->words.items;
	const struct elan_word x = *(struct elan_word *)slots_at(items, id);
	uint64_t value;

	slots_give(items, id);
	memcpy(&value, x.few, sizeof(value));
	elan_word_to(a, x.context, x.address, value);
}

void elan_word_to(
	const struct nic_at *a, uint32_t context, uint64_t at, uint64_t value)
{
	struct elan_view v = elan_look(a, context, at, 8, ELAN_TO_WRITE);
	struct slots *items = &elan_here(a)->words.items;
	struct elan_word *x;
	uint32_t id;

	if (v.state == ELAN_NOWHERE || v.flags & ELAN_TO_QUEUE) {
		elan_count(a)->errors[ELAN_ERROR_ADDRESS]++;
		return;
	}
	if (v.t <= a->t) {
		elan_word_write(a, v.at, elan_order(v.flags, value));
		return;
	}
	id = slots_take_any(items);
	x = slots_at(items, id);
	x->address = at;
	memcpy(x->few, &value, sizeof(value));
	x->context = context;
	elan_look_again(a, context, &v, on_translated, id);
}

void elan_word_on_in(const struct nic_at *a, uint32_t id)
{
	struct elan_words *w = &elan_here(a)->words;
	struct elan_word *x = slots_at(&w->items, id);

	BUG_IF(w->out.first != id);
	slots_pop(&w->items, &w->out);
	host_write(a->nic->host, a->w, a->s, a->t, x->address, data_of(x),
		x->bytes);
	/* wakes programs that wait for anything */
	host_poke_at(a->nic->host, a->w, a->s, a->t, x->address, x->bytes);
	if (x->note)
		elan_account_end(a, x->note);
	if (x->many)
		payload_give(a->nic->payloads, a->w->id, x->many);
	slots_give(&w->items, id);
}

void elan_read(const struct nic_at *a, uint64_t at, void *to, uint32_t n)
{
	const struct elan_words *w = &elan_here(a)->words;
	struct elan_word *x;

	host_read(a->nic->host, a->s, at, to, n);
	for (uint32_t i = w->out.first; i; i = x->slot.next) {
		x = slots_at(&w->items, i);
		elan_overlay(to, at, n, x->address, data_of(x), x->bytes);
	}
}
