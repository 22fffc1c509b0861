/* What the registers of a switch show and change. */
#include "base/wide.h"
#include "coll/multicast.h"
#include "parts/registers/inside.h"
#include "route/lists.h"

static struct bank_state *state_of(void *arg)
{
	return arg;
}

static struct router *router_of(const struct bank_state *x)
{
	return x->r->net->router[NET_SWITCHES];
}

/* Where the entries are that were written. */
static struct route_memory **written(const struct bank_state *x)
{
	return router_of(x)->ops->written(router_of(x), x->s);
}

/* --- links --- */

static bool is_wired(const struct bank_state *x, uint32_t port)
{
	const struct topo *t = x->r->topo;

	return t->ops->peer(t, x->s, (port_id)port).router != NO_ROUTER;
}

static uint64_t status_of(const struct bank_state *x, uint32_t port)
{
	bool is_up = is_wired(x, port) && !(x->chip->down >> port & 1);
	const struct net *n = x->r->net;
	uint32_t lanes = is_up ? n->link.lanes : 0;

	if (lanes && n->faults)
		lanes -= faults_dead_lanes(
			n->faults, net_link_at(n, x->s, (port_id)port), x->t);

	return (uint64_t)is_up | (uint64_t)lanes << 8;
}

static struct net_count count(
	const struct bank_state *x, uint32_t port, uint32_t channel)
{
	const struct router *router = router_of(x);
	struct net_count c[NET_MOST_CHANNELS] = { 0 };

	if (is_wired(x, port))
		router->ops->count(router, x->s, (port_id)port, x->t, c);
	return c[channel];
}

static uint64_t counter_of(const struct bank_state *x, struct bank_word at)
{
	struct net_count c = count(x, at.port, at.index);

	switch (at.reg) {
	case WEFT_SWNET_RECEIVED:
		return c.came;
	case WEFT_SWNET_SENT:
		return c.left;
	case WEFT_SWNET_SLICES_IN:
		return c.took / WEFT_SWNET_SLICE;
	case WEFT_SWNET_SLICES_OUT:
		return c.sent / WEFT_SWNET_SLICE;
	default:
		return c.waiting;
	}
}

/* Bytes that a port's link has sent. */
static uint64_t sent_by(const struct bank_state *x, uint32_t port)
{
	uint64_t sum = 0;

	for (uint32_t c = 0; c < WEFT_SWNET_CHANNELS; c++)
		sum += count(x, port, c).sent;
	return sum;
}

static uint64_t busy_of(const struct bank_state *x, uint32_t port)
{
	struct chip_busy b = x->chip->port[port].busy;
	const struct topo *t = x->r->topo;
	uint128 bytes = sent_by(x, port) - b.bytes, most;
	uint32_t wire;

	if (x->t <= b.since || !is_wired(x, port))
		return 0;
	wire = t->ops->wire(t, x->s, (port_id)port);
	most = (uint128)(x->t - b.since) * (uint128)x->r->net->link.bps[wire] /
	       PS_PER_S;
	if (!most)
		return 0;
	bytes = bytes * 1000 / most;
	return bytes < 1000 ? (uint64_t)bytes : 1000;
}

/* --- words --- */

/* Words of a port's register. */
static uint32_t length_of(uint32_t reg)
{
	switch (reg) {
	case WEFT_SWNET_RECEIVED:
	case WEFT_SWNET_SENT:
	case WEFT_SWNET_SLICES_IN:
	case WEFT_SWNET_SLICES_OUT:
	case WEFT_SWNET_OCCUPANCY:
		return WEFT_SWNET_CHANNELS;
	case WEFT_SWNET_MULTICAST:
		return WEFT_SWNET_MULTICASTS;
	case WEFT_SWNET_NOTES:
		return WEFT_SWNET_SCRATCH;
	default:
		return reg < WEFT_SWNET_REGISTERS;
	}
}

static uint64_t chip_word(const struct bank_state *x, uint32_t reg)
{
	const struct router *router = router_of(x);
	uint64_t late, no_way;

	router->ops->drops(router, x->s, &late, &no_way);
	switch (reg) {
	case WEFT_SWNET_GUID:
		return registers_guid(x->r, x->s);
	case WEFT_SWNET_PLACE:
		return registers_place(x->r, x->s);
	case WEFT_SWNET_N_PORTS:
		return registers_n_ports(x->r, x->s);
	case WEFT_SWNET_LATE:
		return late;
	case WEFT_SWNET_NO_WAY:
		return no_way;
	case WEFT_SWNET_REFUSED:
		return x->chip->refused;
	case WEFT_SWNET_COMMANDS:
		return x->chip->commands;
	case WEFT_SWNET_ACCESSES:
		return x->chip->accesses;
	default:
		return x->chip->manager;
	}
}

static uint32_t read_chip(
	const struct bank_state *x, struct bank_word at, uint64_t *value)
{
	if (at.reg == WEFT_SWNET_CHIP_NOTES && at.index < WEFT_SWNET_SCRATCH)
		*value = x->chip->notes[at.index];
	else if (at.reg < WEFT_SWNET_CHIP_NOTES && !at.index)
		*value = chip_word(x, at.reg);
	else
		return WEFT_SWNET_NO_REGISTER;
	return WEFT_SWNET_OK;
}

static uint32_t read_word(void *arg, struct bank_word at, uint64_t *value)
{
	const struct bank_state *x = state_of(arg);
	const struct registers *r = x->r;

	if (at.port == BANK_CHIP)
		return read_chip(x, at, value);
	if (at.index >= length_of(at.reg))
		return WEFT_SWNET_NO_REGISTER;
	if (at.reg == WEFT_SWNET_STATUS)
		*value = status_of(x, at.port);
	else if (at.reg == WEFT_SWNET_BUSY)
		*value = busy_of(x, at.port);
	else if (at.reg == WEFT_SWNET_SPLIT)
		*value = r->net->route->lists->split_of(
			r->net->route, *written(x), x->s, (port_id)at.port);
	else if (at.reg == WEFT_SWNET_MULTICAST)
		*value = multicast_read(
			r->net->coll, x->s, (port_id)at.port, at.index);
	else if (at.reg == WEFT_SWNET_NOTES)
		*value = x->chip->port[at.port].notes[at.index];
	else
		*value = counter_of(x, at);
	return WEFT_SWNET_OK;
}

static uint32_t write_chip(
	const struct bank_state *x, struct bank_word at, uint64_t value)
{
	uint64_t none;

	if (at.reg == WEFT_SWNET_CHIP_NOTES && at.index < WEFT_SWNET_SCRATCH)
		x->chip->notes[at.index] = value;
	else if (at.reg == WEFT_SWNET_MANAGER && !at.index)
		x->chip->manager = value;
	else
		return read_chip(x, at, &none) ? WEFT_SWNET_NO_REGISTER
					       : WEFT_SWNET_READ_ONLY;
	return WEFT_SWNET_OK;
}

static uint32_t write_split(
	const struct bank_state *x, uint32_t port, uint64_t value)
{
	const struct route *route = x->r->net->route;

	if (value > UINT32_MAX || route->lists->split(route, written(x), x->s,
					  (port_id)port, (uint32_t)value))
		return WEFT_SWNET_BAD_VALUE;
	return WEFT_SWNET_OK;
}

static uint32_t write_word(void *arg, struct bank_word at, uint64_t value)
{
	const struct bank_state *x = state_of(arg);
	struct err e = { 0 };

	if (at.port == BANK_CHIP)
		return write_chip(x, at, value);
	if (at.index >= length_of(at.reg))
		return WEFT_SWNET_NO_REGISTER;
	if (at.reg == WEFT_SWNET_SPLIT)
		return write_split(x, at.port, value);
	if (at.reg == WEFT_SWNET_MULTICAST)
		return multicast_write(x->r->net->coll, x->s, (port_id)at.port,
			       at.index, value, &e)
			       ? WEFT_SWNET_BAD_VALUE
			       : WEFT_SWNET_OK;
	if (at.reg == WEFT_SWNET_BUSY)
		x->chip->port[at.port].busy =
			(struct chip_busy){ x->t, sent_by(x, at.port) };
	else if (at.reg == WEFT_SWNET_NOTES)
		x->chip->port[at.port].notes[at.index] = value;
	else
		return WEFT_SWNET_READ_ONLY;
	return WEFT_SWNET_OK;
}

/* --- tables --- */

static struct route_entry entry_at(const struct bank_state *x, uint32_t port,
	const struct bank_entries *e, uint32_t i)
{
	return (struct route_entry){ .at = x->s,
		.port = (port_id)port,
		.part = e->part == WEFT_SWNET_INTRA ? ROUTE_INTRA : ROUTE_INTER,
		.index = e->first + i };
}

static bool are_wired(const struct bank_state *x, const struct bank_entries *e)
{
	for (uint32_t i = 0; i < e->n_ports; i++)
		if (e->port[i] >= registers_n_ports(x->r, x->s) ||
			!is_wired(x, e->port[i]))
			return false;
	return true;
}

/* From the last one on: if that exists, all do. */
static uint32_t write_entries(
	void *arg, uint32_t port, const struct bank_entries *e)
{
	const struct bank_state *x = state_of(arg);
	const struct route *route = x->r->net->route;
	uint32_t n = e->count;

	if (!are_wired(x, e) || e->part > WEFT_SWNET_INTER)
		return WEFT_SWNET_BAD_VALUE;
	if (!is_wired(x, port))
		return WEFT_SWNET_OK; /* nothing ever comes by it */
	while (n--) {
		struct route_entry at = entry_at(x, port, e, n);

		if (route->lists->write(
			    route, written(x), &at, e->port, e->n_ports))
			return WEFT_SWNET_NO_ENTRY;
	}
	return WEFT_SWNET_OK;
}

static uint32_t read_entry(void *arg, uint32_t port, struct bank_entries *e)
{
	const struct bank_state *x = state_of(arg);
	const struct route *route = x->r->net->route;
	struct route_entry at = entry_at(x, port, e, 0);

	if (e->part > WEFT_SWNET_INTER)
		return WEFT_SWNET_BAD_VALUE;
	e->n_ports = route->lists->read(route, *written(x), &at, e->port);
	return WEFT_SWNET_OK;
}

const struct bank_ops bank_ops = {
	.read = read_word,
	.write = write_word,
	.write_entries = write_entries,
	.read_entry = read_entry,
};
