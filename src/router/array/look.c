/* Sites of array routers as seen from outside. */
#include "router/array/array.h"

#include <string.h>

/* --- credits --- */

static int32_t tokens_at(const struct link_sender *l,
	const struct link_returns *r, uint32_t channel)
{
	return l->tokens[channel] + link_returning(r, channel);
}

int32_t array_held(
	const struct router *r, site_id s, port_id p, uint32_t channel)
{
	return array_is_node(r)
		       ? array_node(array_of(r), s)->end[p].held[channel]
		       : 0;
}

int32_t array_tokens(
	const struct router *r, site_id s, port_id p, uint32_t channel)
{
	const struct array *a = array_of(r);
	const struct array_end *e;
	const struct array_port *x;

	if (array_is_node(r)) {
		e = &array_node(a, s)->end[p];
		return tokens_at(&e->sender, &e->returns, channel);
	}
	if (!array_switch(a, s)->id)
		return a->capacity;
	x = &array_switch(a, s)->port[p];
	return tokens_at(&x->sender, &x->returns, channel);
}

int32_t array_room(
	struct router *r, site_id s, port_id p, uint32_t channel, sim_time t)
{
	struct array_end *e = &array_node(array_of(r), s)->end[p];

	link_collect(&e->sender, &e->returns, t);
	return link_room(&e->sender, channel, array_of(r)->pool);
}

port_mask array_short_ports(const struct router *r, site_id s)
{
	const struct array *a = array_of(r);

	if (array_is_node(r) || !array_switch(a, s)->id)
		return 0;
	for (port_id p = 0; p < a->n_ports; p++)
		if (array_switch(a, s)->port[p].returns.is_starving)
			return ~(port_mask)0;
	return 0;
}

/* --- buffers --- */

/* The lists of a channel: by column, then that of multicasts. */
enum { PER_CHANNEL = ARRAY_ALL_LISTS / ARRAY_CHANNELS };

uint32_t array_n_buffers(const struct router *r, site_id s)
{
	(void)s;
	return array_is_node(r) ? 0 : array_of(r)->n_ports * ARRAY_ALL_LISTS;
}

static uint32_t count(const struct array *a, const struct packet_list *q)
{
	packet_id id = q->first;
	uint32_t n = 0;

	for (; id; id = a->packets[id].next)
		n++;
	return n;
}

/* The list that is an input's buffer k. */
static uint32_t list_of(uint32_t k)
{
	uint32_t channel = k / PER_CHANNEL;

	return k % PER_CHANNEL < ARRAY_COLUMNS
		       ? array_list(channel, k % PER_CHANNEL)
		       : ARRAY_LISTS + channel;
}

/* Input by input, channel by channel. */
struct net_buffer array_buffer(const struct router *r, site_id s, uint32_t i)
{
	const struct array *a = array_of(r);
	uint32_t in = i / ARRAY_ALL_LISTS, k = i % ARRAY_ALL_LISTS;
	uint32_t channel = k / PER_CHANNEL, list = list_of(k);
	const struct array_port *x = &array_switch(a, s)->port[in];

	return (struct net_buffer){
		.site = s,
		.port = in,
		.channel = channel,
		.head = x->list[list].first,
		.count = count(a, &x->list[list]),
		.n_inside = list < ARRAY_LISTS ? x->in_row[list] : 0,
	};
}

/* Lists of an input that are not empty, a bit each. */
static uint64_t used_lists(const struct array_port *x)
{
	uint64_t used = x->waits, some;

	for (uint32_t i = 0; i < ARRAY_LISTS; i += sizeof(some)) {
		memcpy(&some, &x->in_row[i], sizeof(some));
		for (uint32_t k = i; some && k < i + sizeof(some); k++)
			used |= (uint64_t)(x->in_row[k] != 0) << k;
	}
	return used;
}

uint32_t array_in_use(const struct router *r, site_id s, uint32_t *list)
{
	const struct array *a = array_of(r);
	uint32_t n = 0;

	if (array_is_node(r) || !array_switch(a, s)->id)
		return 0;
	for (port_id p = 0; p < a->n_ports; p++) {
		uint64_t used = used_lists(&array_switch(a, s)->port[p]);

		for (uint32_t k = 0; used && k < ARRAY_ALL_LISTS; k++)
			if (used >> list_of(k) & 1) {
				used &= ~((uint64_t)1 << list_of(k));
				list[n++] = p * ARRAY_ALL_LISTS + k;
			}
	}
	return n;
}

static struct net_way way_of(const struct packet *p)
{
	return (struct net_way){
		.port = p->escape,
		.channel = p->channel,
		.need = p->chunks,
	};
}

/* A multicast waits for the first packets of all row buffers that it cannot
 * enter. */
static uint32_t ways_of_many(const struct array *a, const struct net_buffer *b,
	const struct packet *p, struct net_way *way)
{
	const struct array_port *i = &array_switch(a, b->site)->port[b->port];
	uint32_t n = 0;

	for (port_mask m = p->way; m; m &= m - 1) {
		uint32_t list = array_list(
			b->channel, a->column_of[__builtin_ctzll(m)]);

		if (i->full >> list & 1 && i->in_row[list])
			way[n++] = way_of(&a->packets[i->list[list].first]);
	}
	return n;
}

uint32_t array_ways(const struct router *r, const struct net_buffer *b,
	const struct packet *p, struct net_way *way)
{
	if (p->escape == PACKET_NO_PORT)
		return ways_of_many(array_of(r), b, p, way);
	*way = way_of(p);
	return 1;
}

uint32_t array_n_injecting(const struct router *r, site_id s)
{
	const struct array *a = array_of(r);
	uint32_t n = 0;

	if (!array_is_node(r))
		return count(a, &array_switch(a, s)->own_out);
	for (port_id p = 0; p < a->n_ports; p++)
		for (uint32_t c = 0; c < ARRAY_CLASSES; c++)
			n += array_node(a, s)->end[p].fifo[c].count;
	return n;
}

void array_injecting(const struct router *r, site_id s, double *waiting)
{
	const struct array *a = array_of(r);

	/* a switch's own packets have not chosen a port */
	for (port_id p = 0; array_is_node(r) && p < a->n_ports; p++)
		for (uint32_t c = 0; c < ARRAY_CLASSES; c++)
			waiting[p] += array_node(a, s)->end[p].fifo[c].count;
}

/* --- counters --- */

static void add_list(const struct array *a, const struct packet_list *q,
	sim_time now, struct net_count *c)
{
	for (packet_id id = q->first; id; id = a->packets[id].next) {
		c->waiting++;
		c->stayed += now - a->packets[id].head;
	}
}

/* Adds the packets that wait at an input and channel, and their times. */
static void add_waiting(const struct array *a, const struct array_port *x,
	uint32_t channel, sim_time now, struct net_count *c)
{
	for (uint32_t k = 0; k < ARRAY_COLUMNS; k++)
		add_list(a, &x->list[array_list(channel, k)], now, c);
	add_list(a, &x->list[ARRAY_LISTS + channel], now, c);
}

static sim_time count_end(const struct array_end *e, struct net_count *c)
{
	for (uint32_t i = 0; i < ARRAY_CHANNELS; i++) {
		c[i].sent = e->sender.count[i];
		c[i].came = e->packets[i];
	}
	return e->sender.free_at;
}

sim_time array_count(const struct router *r, site_id s, port_id p, sim_time now,
	struct net_count *c)
{
	const struct array *a = array_of(r);
	const struct array_port *x;

	if (array_is_node(r))
		return count_end(&array_node(a, s)->end[p], c);
	if (!array_switch(a, s)->id)
		return 0;
	x = &array_switch(a, s)->port[p];
	for (uint32_t i = 0; i < ARRAY_CHANNELS; i++) {
		c[i].sent = x->sender.count[i];
		c[i].came = x->packets[i];
		c[i].stayed = x->waited[i];
		c[i].left = x->sent[i];
		c[i].took = x->bytes[i];
		add_waiting(a, x, i, now, &c[i]);
	}
	return x->sender.free_at;
}

uint64_t array_came(const struct router *r, site_id s)
{
	const struct array *a = array_of(r);
	uint64_t sum = 0;

	if (!array_is_node(r) && !array_switch(a, s)->id)
		return 0;
	for (uint32_t p = 0; p < r->sites.n_ports; p++)
		for (uint32_t c = 0; c < r->ops->n_channels; c++)
			sum += array_is_node(r)
				       ? array_node(a, s)->end[p].packets[c]
				       : array_switch(a, s)->port[p].packets[c];
	return sum;
}
