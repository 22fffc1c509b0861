/* The set-up of the tiled router, and its state as seen from outside. */
#include "router/tiled/tiled.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "net/send.h"

#define AT(field) offsetof(struct tiled_params, field)

#define ROW(i)                                                                 \
	PARAM_ROW(PARAM_TEXT, "tiles." i, AT(tiles[(i)[0] - '0']), "none", 0,  \
		0,                                                             \
		"tiles of a row: each a link (\"x+3\") or p, a "               \
		"processor tile; none: processor tiles in the middle "         \
		"columns, links around them",                                  \
		"assumed: GEM-F37")

static const struct param params[] = {
	PARAM_ROW(PARAM_COUNT, "rows", AT(rows), "8", 1, TILED_ROWS,
		"number of rows of tiles on a chip", "GEM-G8"),
	PARAM_ROW(PARAM_COUNT, "columns", AT(columns), "6", 1, TILED_COLUMNS,
		"number of columns of tiles on a chip", "GEM-G8"),
	PARAM_ROW(PARAM_COUNT, "processors", AT(processors), "8", 1,
		TILED_TILES / 2, "number of tiles that face the nodes",
		"GEM-N6"),
	ROW("0"),
	ROW("1"),
	ROW("2"),
	ROW("3"),
	ROW("4"),
	ROW("5"),
	ROW("6"),
	ROW("7"),
	PARAM_ROW(PARAM_TIME, "cycle", AT(cycle), "1250 ps", 1, 1000000,
		"time that a chunk takes on a bus or channel inside a chip",
		"GEM-N29"),
	PARAM_ONE_OF("inner", AT(inner), "tiles", "tiles|ideal",
		"model of the inside of a chip; tiles: packets wait for buses, "
		"buffers and columns; ideal: no contention",
		"GEM-F38"),
	PARAM_ROW(PARAM_COUNT, "row", AT(row), "16", 1, 4096,
		"size of a row buffer, in chunks", "GEM-G7"),
	PARAM_ROW(PARAM_COUNT, "column", AT(column), "32", 1, 4096,
		"size of an output's buffer for one row, in chunks", "GEM-G7"),
	PARAM_ROW(PARAM_TIME, "netlink.packet", AT(packet), "7692 ps", 1,
		1000000000,
		"time in which a node hands over or receives a packet of any "
		"size, on each channel; or, if that is longer, the time of a "
		"full packet at topology.node.rate",
		"GEM-N36"),
	PARAM_ROW(PARAM_COUNT, "netlink.buffer", AT(nodes), "32", 1, 1024,
		"number of a node's packets that its chip holds, per channel",
		"assumed"),
	PARAM_ONE_OF("tokens", AT(tokens), "input", "input|output",
		"place where packets wait for room at the receiving end of "
		"their link; input: their own input buffer; output: the "
		"output, in line with others of their row, which can deadlock",
		"for comparison"),
	PARAM_ROW(PARAM_TIME, "patience", AT(patience), "50 us", 1, PS_PER_S,
		"difference in age at which a link is kept free for a packet "
		"that waits to enter a ring, ahead of packets that go straight "
		"on; also the longest time that the link is kept free",
		"assumed: far below nic.timeout, far above other waits"),
};

/* --- set-up --- */

static const struct tiled_params *how_of(const struct net_setup *s)
{
	return s->router->own;
}

/* The ports of a chip that lead to nodes are the last. */
static uint32_t count_links(const struct topo *t)
{
	uint32_t n = 0;

	while (n < t->n_ports) {
		router_id far = t->ops->peer(t, t->n_nodes, n).router;

		if (far != NO_ROUTER && far < t->n_nodes)
			break;
		n++;
	}
	return n;
}

/* The largest number of parallel links in a direction. */
static uint32_t most_parallel(const struct topo *t, uint32_t links)
{
	uint32_t most = 1;

	for (uint32_t p = 0; p < links && t->ops->direction; p++)
		if (t->ops->direction(t, p).link >= most)
			most = t->ops->direction(t, p).link + 1;
	return most;
}

static int tiled_check(
	const struct net *n, const struct net_setup *s, struct err *e)
{
	const struct tiled_params *h = how_of(s);
	const struct topo *t = s->topo;
	uint32_t links, nodes;

	(void)n;
	if (topo_is_direct(t) || t->node_ports != 1)
		return err_set(e,
			"router.kind: tiled needs routers with nodes of their "
			"own (topology.nodes: at least 1)");
	if (t->n_routers - t->n_nodes > TILED_CHIPS)
		return err_set(e,
			"topology.shape: %u tiled routers (want at most %d, "
			"GEM-F50)",
			t->n_routers - t->n_nodes, TILED_CHIPS);
	links = count_links(t);
	nodes = t->n_ports - links;
	if (tiled_check_tiles(h, t, links, e))
		return -1;
	if (most_parallel(t, links) > TILED_LINKS)
		return err_set(e,
			"topology.links: tiled routers have at most %d links "
			"in a direction, not %u",
			TILED_LINKS, most_parallel(t, links));
	if (nodes > TILED_NODES)
		return err_set(e,
			"topology.nodes: tiled routers have at most %d nodes, "
			"not %u",
			TILED_NODES, nodes);
	if (links + nodes * (h->processors + 1) > TILED_INPUTS)
		return err_set(e,
			"router.processors: %lld tiles for %u nodes need %lld "
			"inputs with the links (want at most %d)",
			(long long)h->processors, nodes,
			(long long)(links + nodes * (h->processors + 1)),
			TILED_INPUTS);
	if (s->route->n_channels > 1)
		return err_set(e,
			"router.kind: tiled routers have a channel for "
			"requests and one for responses, and none for "
			"datelines (want routing.dateline: no and "
			"routing.planes: yes)");
	if (s->router->packets < 2 && s->route->has_planes)
		return err_set(e,
			"router.packets: %lld is too few (want at least 2, "
			"since routing.planes lets packets into a ring only "
			"where there is room for two)",
			(long long)s->router->packets);
	return 0;
}

static size_t tiled_site_bytes(uint32_t n_ports)
{
	return n_ports > 1 ? sizeof(struct tiled_chip) +
				     (size_t)TILED_CHANNELS * TILED_GATES *
					     sizeof(struct tiled_gate)
			   : sizeof(struct tiled_node);
}

static bool is_node(const struct router *r)
{
	return !r->sites.first;
}

/* Of all packets, by the rate of a node's wire. */
static sim_time longest_at_node(const struct net *n, const struct topo *t)
{
	const struct link_rules *k = &n->link;
	uint32_t row = k->row * link_row(k, t->ops->wire(t, 0, 0), 0);
	sim_time most = 0, ser;

	for (uint32_t i = 0; i < k->n_formats; i++) {
		ser = k->ser[row + link_place(k, i, k->max_payload)];
		most = ser > most ? ser : most;
	}
	return most;
}

static void tiled_make(struct router *r, const struct net_setup *s)
{
	struct tiled *d = tiled_of(r);
	struct net *n = r->net;
	uint32_t n_sites = r->sites.end - r->sites.first;

	d->how = *how_of(s);
	/* a node hands packets over no faster than its wire carries them */
	if (d->how.packet < longest_at_node(n, s->topo))
		d->how.packet = longest_at_node(n, s->topo);
	d->packets = n->packets;
	d->route = n->route;
	d->link = &n->link;
	d->ser = n->link.ser;
	d->bytes_of = n->link.bytes;
	d->tally = n->tally;
	d->book = n->book;
	d->is_faulty = net_is_faulty(n);
	d->is_plain = !d->is_faulty && !d->book;
	d->full = n->full;
	d->capacity = (int16_t)s->router->packets;
	d->need = n->route->has_planes == ROUTE_PLANES ? 2 : 1;
	d->is_free = n->route->has_planes == ROUTE_FREE_PLANES;
	d->row = d->how.row * d->how.cycle;
	d->column = d->how.column * d->how.cycle;
	d->is_ideal = d->how.inner == TILED_IDEAL;
	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++) {
		d->back[i] = n->link.latency[i] - n->link.logic[i];
		d->place[i] = n->link.rate_of[i] * n->link.row;
	}
	d->has_rates = n->faults && n->faults->width;
	r->lock_packets = (uint64_t)d->capacity;
	if (is_node(r)) {
		router_map(r, sizeof(struct tiled_node), 0);
		return;
	}
	d->n_links = count_links(n->topo);
	d->n_nodes = r->sites.n_ports - d->n_links;
	tiled_place(d);
	router_map(r,
		sizeof(struct tiled_chip) +
			TILED_CHANNELS * d->n_gates * sizeof(struct tiled_gate),
		0);
	if (d->how.tokens != TILED_AT_OUTPUT)
		return;
	d->lines = mem_alloc(n_sites, sizeof(*d->lines));
	memset(d->lines, TILED_NO_TILE, n_sites * sizeof(*d->lines));
}

static bool is_link(const struct router *r, port_id p)
{
	return !is_node(r) && p < tiled_of(r)->n_links;
}

/* Whether going straight on from a port leads back to it. */
static bool is_on_ring(const struct topo *t, router_id r, port_id p)
{
	router_id at = r;

	do {
		struct topo_end far = t->ops->peer(t, at, p);

		if (far.router == NO_ROUTER)
			return false;
		at = far.router;
		p = t->ops->straight(t, at, far.port);
	} while (at != r);
	return true;
}

static void wire_port(struct tiled *d, site_id s, port_id p)
{
	const struct topo *t = d->router.net->topo;
	struct topo_end far = t->ops->peer(t, s, p);
	struct tiled_wire *x = is_node(&d->router) ? &tiled_node(d, s)->wire
						   : &tiled_chip(d, s)->wire[p];
	const struct tiled *far_kind;

	*x = (struct tiled_wire){ .peer = NO_SITE };
	if (far.router == NO_ROUTER)
		return;
	x->peer = far.router;
	x->peer_port = (uint8_t)far.port;
	x->class = (uint8_t)t->ops->wire(t, s, p);
	far_kind = tiled_of(
		(struct router *)(uintptr_t)net_router(d->router.net, x->peer));
	x->peer_gate = far_kind->gate_of[far.port];
	x->peer_link = far_kind->link_of[far.port];
	x->returns = is_node(&far_kind->router)
			     ? &tiled_node(far_kind, x->peer)->fifo[0].returns
			     : &tiled_gate(tiled_chip(far_kind, x->peer),
				       x->peer_gate, 0)
					->returns;
	if (!is_link(&d->router, p))
		return;
	d->has_rates |= d->place[x->class] != 0;
	if (is_on_ring(t, s, p))
		tiled_chip(d, s)->rings[d->gate_of[p]] |=
			(uint8_t)(1u << d->link_of[p]);
}

static void init_node(struct tiled *d, site_id s)
{
	struct tiled_node *x = tiled_node(d, s);

	x->id = s;
	x->route = d->route;
	for (uint32_t c = 0; c < TILED_CHANNELS; c++) {
		x->fifo[c].returns.next = SIM_NEVER;
		x->fifo[c].tokens = (int16_t)d->how.nodes;
		x->fifo[c].room = (uint16_t)d->router.net->params.injection;
	}
}

static void init_chip(struct tiled *d, site_id s)
{
	int32_t reception = (int16_t)d->router.net->params.reception, n;
	struct tiled_chip *x = tiled_chip(d, s);

	x->id = s;
	x->route = d->route;
	x->lfsr = ((s * 0x9e37u) & 0xffffu) | 1u;
	for (uint32_t c = 0; c < TILED_CHANNELS * d->n_gates; c++)
		x->gate[c].returns.next = SIM_NEVER;
	for (uint32_t c = 0; c < TILED_CHANNELS; c++) {
		for (uint32_t p = 0; p < d->router.sites.n_ports; p++) {
			if (x->wire[p].peer == NO_SITE)
				continue;
			n = p < d->n_links ? d->capacity : reception;
			while (n-- > 0)
				tiled_add(tiled_gate(x, d->gate_of[p], c),
					d->link_of[p]);
		}
	}
}

static const struct router_calls *chip_calls(const struct tiled *d)
{
	bool is_plain = d->is_plain && !d->has_rates && !d->is_ideal &&
			!d->lines && !d->is_free && d->need == 2;

	return is_plain ? &tiled_plain_chip : &tiled_full_chip;
}

static void tiled_wire_up(struct router *r)
{
	struct tiled *d = tiled_of(r);

	for (site_id s = router_next(r, r->sites.first); s < r->sites.end;
		s = router_next(r, s + 1)) {
		for (port_id p = 0; p < r->sites.n_ports; p++)
			wire_port(d, s, p);
		if (r->sites.first)
			init_chip(d, s);
		else
			init_node(d, s);
	}
	r->calls = is_node(r) ? &tiled_node_calls : chip_calls(d);
}

static void tiled_fini(struct router *r)
{
	mem_free(tiled_of(r)->lines);
}

/* One FIFO for each channel: everything but responses is a request. */
static struct net_fifos tiled_fifos(const struct router *r, uint32_t class)
{
	(void)r;
	if (class == NET_HIGH)
		return (struct net_fifos){ TILED_RESPONSES, 1, 1, false };
	return (struct net_fifos){ TILED_REQUESTS, 1, 1, false };
}

/* --- from outside --- */

static void tiled_describe(
	const struct net_params *p, const struct topo *t, FILE *f)
{
	const struct tiled_params *h = p->own;

	fprintf(f,
		"tiles       %" PRId64 " rows of %" PRId64 "; %" PRId64
		" tiles face nodes\n",
		h->rows, h->columns, h->processors);
	tiled_draw(h, t, count_links(t), f);
	if (h->inner == TILED_IDEAL)
		fprintf(f, "inside      no contention\n");
	else
		fprintf(f,
			"inside      row buffers of %" PRId64
			" chunks, column buffers of %" PRId64 "\n",
			h->row, h->column);
	fprintf(f,
		"FIFOs       injection %" PRId64 ", reception %" PRId64
		" packets each; a chip holds %" PRId64 " packets of a node\n",
		p->injection, p->reception, h->nodes);
}

static int32_t tiled_capacity(
	const struct router *r, port_id p, uint32_t channel)
{
	const struct tiled *d = tiled_of(r);

	(void)channel;
	if (is_node(r))
		return d->full * (int32_t)r->net->params.reception;
	return d->full * (p < d->n_links ? d->capacity : (int32_t)d->how.nodes);
}

/* Stamps of a link. */
static int32_t returning(const struct tiled_returns *r, uint32_t link)
{
	int32_t n = 0;

	for (uint32_t i = 0; i < r->n; i++)
		n += (r->stamp[(r->first + i) % TILED_RETURNS] & 0xff) == link;
	return n;
}

static site_id peer_of(const struct router *r, site_id s, port_id p)
{
	const struct topo *t = r->net->topo;

	return t->ops->peer(t, s, p).router;
}

static int32_t tiled_tokens(
	const struct router *r, site_id s, port_id p, uint32_t channel)
{
	const struct tiled *d = tiled_of(r);
	const struct tiled_fifo *f;
	const struct tiled_gate *g;
	int32_t n;

	if (is_node(r)) {
		f = &tiled_node(d, s)->fifo[channel];
		return d->full * (f->tokens + returning(&f->returns, 0));
	}
	g = tiled_gate(tiled_chip(d, s), d->gate_of[p], channel);
	n = g->tokens[d->link_of[p]] + returning(&g->returns, d->link_of[p]);
	/* tokens that a node's client holds will return */
	if (p >= d->n_links && sim_has(r->net->sim, peer_of(r, s, p)))
		n += (int32_t)tiled_node(tiled_nodes(r->net), peer_of(r, s, p))
			     ->held[channel];
	return d->full * n;
}

/* The same of a node whose chip is another process's, which cannot look. */
static int32_t tiled_held(
	const struct router *r, site_id s, port_id p, uint32_t channel)
{
	const struct tiled *d = tiled_of(r);

	if (!is_node(r) || sim_has(r->net->sim, peer_of(r, s, p)))
		return 0;
	return d->full * (int32_t)tiled_node(d, s)->held[channel];
}

static int64_t tiled_sent_packets(const struct net_params *p)
{
	return TILED_CHANNELS * p->packets;
}

static int32_t tiled_charge(
	const struct router *r, const struct packet *p, uint32_t channel)
{
	(void)p;
	(void)channel;
	return tiled_of(r)->full;
}

static port_mask tiled_short_ports(const struct router *r, site_id s)
{
	const struct tiled *d = tiled_of(r);
	const struct tiled_chip *x = tiled_chip(d, s);

	for (uint32_t i = 0; i < TILED_CHANNELS * d->n_gates && !is_node(r);
		i++)
		if (x->gate[i].returns.is_awaited)
			return ~(port_mask)0;
	return 0;
}

static uint32_t tiled_n_buffers(const struct router *r, site_id s)
{
	(void)s;
	return is_node(r) ? 0 : TILED_CHANNELS * tiled_of(r)->n_inputs;
}

static struct net_buffer tiled_buffer(
	const struct router *r, site_id s, uint32_t i)
{
	const struct tiled *d = tiled_of(r);
	uint32_t in = i % d->n_inputs, channel = i / d->n_inputs;
	const struct tiled_queue *q =
		&tiled_chip(d, s)->input[in].queue[channel];

	return (struct net_buffer){
		.site = s,
		.port = d->source_of[in],
		.channel = channel,
		.head = q->list.first,
		.count = q->count,
	};
}

static uint32_t tiled_in_use(const struct router *r, site_id s, uint32_t *list)
{
	const struct tiled *d = tiled_of(r);
	uint32_t used = 0, i = 0, in;

	for (uint32_t channel = 0; channel < TILED_CHANNELS && !is_node(r);
		channel++) {
		const struct tiled_input *x = tiled_chip(d, s)->input;

		for (in = 0; in < d->n_inputs; in++, i++)
			if (x[in].queue[channel].count)
				list[used++] = i;
	}
	return used;
}

static uint32_t tiled_n_injecting(const struct router *r, site_id s)
{
	const struct tiled_node *x = tiled_node(tiled_of(r), s);

	return is_node(r) ? x->fifo[TILED_REQUESTS].queue.count +
				    x->fifo[TILED_RESPONSES].queue.count
			  : 0;
}

/* A node has one link. */
static void tiled_injecting(const struct router *r, site_id s, double *waiting)
{
	waiting[0] += tiled_n_injecting(r, s);
}

/* The sum of the waiting times of a queue's packets. */
static sim_time waiting(
	const struct tiled *d, const struct tiled_queue *q, sim_time now)
{
	packet_id id = q->list.first;
	uint32_t k = q->count;
	sim_time sum = 0;

	for (; k--; id = d->packets[id].next)
		sum += now - d->packets[id].head;
	return sum;
}

static void count_chip(const struct tiled *d, const struct tiled_chip *s,
	port_id p, uint32_t c, sim_time now, struct net_count *x)
{
	x->sent = p < d->n_links ? s->output[d->tile_of[p]].bytes[c]
				 : s->exit[p - d->n_links].bytes[c];
	for (uint32_t i = 0; i < d->n_inputs; i++) {
		if (d->source_of[i] != p)
			continue;
		x->came += s->input[i].packets[c];
		x->waiting += s->input[i].queue[c].count;
		x->stayed += s->input[i].waited[c] +
			     waiting(d, &s->input[i].queue[c], now);
	}
}

/* Until when a chip's port is busy with what has been counted; each channel has
 * packets of its own for a node. */
static sim_time busy_until(const struct tiled *d, const struct tiled_chip *s,
	port_id p, sim_time now)
{
	const struct tiled_exit *e;
	sim_time until = now;

	if (p < d->n_links)
		return s->output[d->tile_of[p]].free_at;
	e = &s->exit[p - d->n_links];
	for (uint32_t i = 0; i < TILED_CHANNELS; i++)
		until += e->free_at[i] > now ? e->free_at[i] - now : 0;
	return until;
}

static sim_time tiled_count(const struct router *r, site_id s, port_id p,
	sim_time now, struct net_count *c)
{
	const struct tiled *d = tiled_of(r);

	for (uint32_t i = 0; i < TILED_CHANNELS; i++) {
		if (!is_node(r)) {
			count_chip(d, tiled_chip(d, s), p, i, now, &c[i]);
			continue;
		}
		c[i].sent = tiled_node_sent(d, s, i, now);
		c[i].came = tiled_node(d, s)->packets[i];
	}
	return is_node(r) ? tiled_node_busy_until(d, s, now)
			  : busy_until(d, tiled_chip(d, s), p, now);
}

static uint64_t tiled_came(const struct router *r, site_id s)
{
	const struct tiled *d = tiled_of(r);
	uint64_t sum = 0;

	for (uint32_t c = 0; c < TILED_CHANNELS; c++) {
		if (is_node(r))
			sum += tiled_node(d, s)->packets[c];
		else
			for (uint32_t i = 0; i < d->n_inputs; i++)
				sum += tiled_chip(d, s)->input[i].packets[c];
	}
	return sum;
}

/* Packets that are hashed to a dead link are still lost there. */
static void tiled_on_link(struct router *r, struct sim_worker *w, site_id s,
	port_id p, bool is_up, sim_time t)
{
	if (is_link(r, p))
		sim_post_self(w, s, t + r->net->route->notice,
			SIM_KEY(PHASE_TOKEN, TILED_NOTICE + p), is_up, 0);
}

static void tiled_manage(struct router *r, struct sim_worker *w, site_id s,
	const struct route *tables, sim_time t)
{
	if (is_node(r))
		tiled_node_manage(tiled_of(r), w, s, tables, t);
	else
		tiled_chip_manage(tiled_of(r), w, s, tables, t);
}

static const char *const channels[TILED_CHANNELS] = {
	[TILED_REQUESTS] = "request",
	[TILED_RESPONSES] = "response",
};

static void tiled_attach(struct router *r, site_id s, uint32_t class)
{
	if (s < r->net->n_nodes)
		tiled_node(tiled_of(r), s)->client = r->client[class];
}

static const struct router_repair repair = {
	.on_link = tiled_on_link,
};

const struct router_ops tiled_ops = {
	.name = "tiled",
	.channels = channels,
	.n_channels = TILED_CHANNELS,
	.posts_tokens = true,
	PARAMS(params),
	.params_size = sizeof(struct tiled_params),
	.describe = tiled_describe,
	.check = tiled_check,
	.site_bytes = tiled_site_bytes,
	.size = sizeof(struct tiled),
	.make = tiled_make,
	.wire = tiled_wire_up,
	.attach = tiled_attach,
	.fini = tiled_fini,
	.fifos = tiled_fifos,
	.stages = tiled_stages,
	.capacity = tiled_capacity,
	.tokens = tiled_tokens,
	.held = tiled_held,
	.sent_packets = tiled_sent_packets,
	.charge = tiled_charge,
	.short_ports = tiled_short_ports,
	.n_buffers = tiled_n_buffers,
	.buffer = tiled_buffer,
	.in_use = tiled_in_use,
	.n_injecting = tiled_n_injecting,
	.injecting = tiled_injecting,
	.n_early = tiled_node_n_early,
	.ways = tiled_ways,
	.count = tiled_count,
	.came = tiled_came,
	.manage = tiled_manage,
	.repair = &repair,
};
