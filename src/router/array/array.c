/* The set-up of array routers. */
#include "router/array/array.h"

#include <inttypes.h>

#include "coll/coll.h"
#include "net/send.h"

#define AT(field) offsetof(struct array_params, field)

static const struct param params[] = {
	PARAM_ROW(PARAM_COUNT, "rows", AT(rows), "5", 1, ARRAY_ROWS,
		"number of rows of tiles of a switch", "SUN-N20"),
	PARAM_ROW(PARAM_COUNT, "columns", AT(columns), "8", 1, ARRAY_COLUMNS,
		"number of columns of tiles of a switch", "SUN-N20"),
	PARAM_ROW(PARAM_COUNT, "input", AT(input), "512", 1, ARRAY_MOST,
		"size of the buffer that the channels of a port share, in "
		"chunks",
		"assumed: SUN-G6"),
	PARAM_ROW(PARAM_COUNT, "private", AT(own), "0", 0, ARRAY_MOST,
		"chunks of it that each channel has for itself; 0: those of a "
		"full packet",
		"assumed: SUN-G6"),
	PARAM_ROW(PARAM_COUNT, "shared", AT(shared), "124", 0, ARRAY_MOST,
		"chunks of it that any channel may use", "assumed: SUN-G6"),
	PARAM_ONE_OF("inner", AT(inner), "array", "array|fifo",
		"model of the inside of a switch; array: row buffers for each "
		"input, column and channel; fifo: a single one for each input "
		"and channel, whose head blocks all others",
		"SUN-F14"),
	PARAM_ROW(PARAM_COUNT, "row-buffer", AT(row), "1", 1, 16,
		"number of packets that a row buffer holds", "assumed: SUN-G7"),
	PARAM_ONE_OF("row-buffers", AT(row_for), "channels", "channels|pairs",
		"packets that a row buffer is for: those of one channel, or of "
		"two, which can deadlock",
		"assumed: SUN-G7"),
	PARAM_ROW(PARAM_COUNT, "column-buffer", AT(column), "8", 0, ARRAY_MOST,
		"chunks that an output takes in before its link is free",
		"assumed: SUN-G7"),
	PARAM_ONE_OF("store", AT(store), "auto", "auto|never",
		"packets that a switch forwards only when they have come as a "
		"whole; auto: those from an input that is slower than their "
		"output, or whose link has errors",
		"assumed: SUN-G9"),
	PARAM_ROW(PARAM_FRACTION, "errors", AT(errors), "1 %", 0, 1000000,
		"part of the packets of a link that it repeats, above which an "
		"input stores packets",
		"assumed: SUN-G9"),
	PARAM_ROW(PARAM_FLAG, "feedback", AT(feedback), "yes", 0, 1,
		"whether a switch tells the senders of its inputs that credits "
		"of its outputs return at less than half of the link's rate; "
		"they then prefer other ports",
		"SUN-F21"),
	PARAM_ROW(PARAM_TIME, "patience", AT(patience), "10 us", 1000, PS_PER_S,
		"time after which a switch drops a source-routed packet that "
		"waits",
		"assumed"),
};

/* --- set-up --- */

static const struct array_params *how_of(const struct net_setup *s)
{
	return s->router->own;
}

static int64_t own_of(const struct array_params *h, const struct net *n)
{
	return h->own ? h->own : n->link.max_chunks;
}

static int check_tiles(
	const struct array_params *h, const struct topo *t, struct err *e)
{
	if (t->n_ports <= h->rows * h->columns)
		return 0;
	return err_set(e,
		"router.rows: %" PRId64 " rows of %" PRId64
		" tiles are too few for a switch of %u ports (want a tile for "
		"each)",
		h->rows, h->columns, t->n_ports);
}

static int check_credits(
	const struct array_params *h, const struct net *n, struct err *e)
{
	int64_t own = own_of(h, n);
	int64_t all = ARRAY_CHANNELS * own + h->shared;

	if (own < n->link.max_chunks)
		return err_set(e,
			"router.private: %" PRId64
			" chunks do not hold a full packet of %u",
			own, n->link.max_chunks);
	if (all > h->input)
		return err_set(e,
			"router.private: %" PRId64
			" chunks for each of %d channels and router.shared, "
			"%" PRId64 ", are more than router.input, %" PRId64,
			own, ARRAY_CHANNELS, h->shared, h->input);
	return 0;
}

static int array_check(
	const struct net *n, const struct net_setup *s, struct err *e)
{
	const struct array_params *h = how_of(s);

	if (topo_is_direct(s->topo))
		return err_set(e,
			"router.kind: array is for switches, but %s has none "
			"(topology.kind)",
			s->topo->ops->name);
	if (s->route->has_planes || s->route->bubble || s->route->has_escape)
		return err_set(e,
			"router.kind: array has no bubbles, planes or escape "
			"channels, which routing.kind %s needs",
			s->route->ops->name);
	if (s->route->ops->spread && s->client && s->client->combine &&
		s->client->combine->on_absorbed)
		return err_set(e,
			"router.kind: array makes no copies for ranges of "
			"nodes, which this nic.kind sends");
	return check_tiles(h, s->topo, e) || check_credits(h, n, e) ? -1 : 0;
}

static size_t switch_bytes(uint32_t n_ports)
{
	return sizeof(struct array_switch) +
	       n_ports * sizeof(struct array_port);
}

static size_t node_bytes(uint32_t n_ports)
{
	return sizeof(struct array_node) + n_ports * sizeof(struct array_end);
}

/* A node has fewer ports than any switch. */
static size_t array_site_bytes(uint32_t n_ports)
{
	return n_ports > 8 ? switch_bytes(n_ports) : node_bytes(n_ports);
}

/* Tiles are numbered row by row, and a port has the tile of its number.  A
 * queue for all outputs is a single column. */
static void place(struct array *a)
{
	bool is_fifo = a->how.inner == ARRAY_FIFO;

	for (port_id p = 0; p < a->n_ports; p++)
		a->column_of[p] = (uint8_t)(is_fifo ? 0 : p % a->how.columns);
}

static void set_rules(struct array *a, const struct net *n)
{
	int32_t own = (int32_t)own_of(&a->how, n);

	a->pool = link_pool((int32_t)a->how.shared);
	a->capacity = own + a->pool.chunks;
	a->row = (uint32_t)a->how.row;
	a->is_paired = a->how.row_for == ARRAY_BY_PAIR;
	a->feeds = a->how.feedback;
	a->stores =
		a->how.store == ARRAY_STORE_AUTO && (a->has_rates || n->faults);
	a->column = link_ser(&n->link, n->link.max_payload) * a->how.column /
		    n->link.max_chunks;
}

static void array_make(struct router *r, const struct net_setup *s)
{
	struct array *a = array_of(r);
	struct net *n = r->net;

	a->how = *how_of(s);
	a->packets = n->packets;
	a->route = n->route;
	a->link = &n->link;
	a->tally = n->tally;
	a->book = n->book;
	a->is_faulty = n->faults;
	a->has_rates = n->link.n_rates > 1 || (n->faults && n->faults->width);
	a->is_stepped = n->route->n_channels > 1;
	a->n_ports = r->sites.n_ports;
	set_rules(a, n);
	place(a);
	r->lock_packets = 1;
	if (array_is_node(r))
		r->calls = &array_node_calls;
	else if (a->book || a->is_faulty || a->has_rates || a->is_paired)
		r->calls = &array_full_calls;
	else
		r->calls = &array_switch_calls;
	router_map(r,
		array_is_node(r) ? node_bytes(a->n_ports)
				 : switch_bytes(a->n_ports),
		0);
	/* programs send little, compared with what a network can carry */
	if (!s->client)
		map_thin_out(r->mapping, r->bytes);
	if (!array_is_node(r))
		n->coll = coll_new(n->route, PACKET_MANY);
}

/* Where credits of the other end of a wire return to, if that is near. */
static struct link_returns *returns_of(
	const struct net *n, const struct link_sender *l, uint64_t **due)
{
	struct array_switch *far;

	if (l->peer == NO_ROUTER || l->is_far)
		return NULL;
	if (l->peer < n->n_nodes)
		return &array_node(array_nodes(n), l->peer)
				->end[l->peer_port]
				.returns;
	far = array_switch(array_switches(n), l->peer);
	*due = far->due;
	return &far->port[l->peer_port].returns;
}

/* Where links wait for acknowledgements, and nothing else goes wrong. */
static struct link_retry *acks_of(
	const struct net *n, site_id s, port_id p, const struct link_sender *l)
{
	return n->retry && !n->faults && l->peer != NO_ROUTER
		       ? &n->retry[net_link_at(n, s, p)]
		       : NULL;
}

static void wire_node(struct array *a, site_id id)
{
	struct array_node *s = array_node(a, id);

	s->id = id;
	for (port_id p = 0; p < a->n_ports; p++) {
		struct array_end *x = &s->end[p];

		net_wire(a->router.net, &array_ops, id, p, &x->sender);
		x->far = returns_of(a->router.net, &x->sender, &x->far_due);
		x->acks = acks_of(a->router.net, id, p, &x->sender);
		for (uint32_t c = 0; c < ARRAY_CLASSES; c++)
			x->fifo[c].room =
				(uint16_t)a->router.net->params.injection;
	}
}

void array_wire_switch(struct array *a, site_id id)
{
	struct array_switch *s = array_switch(a, id);

	s->id = id;
	for (port_id p = 0; p < a->n_ports; p++) {
		struct array_port *x = &s->port[p];

		net_wire(a->router.net, &array_ops, id, p, &x->sender);
		x->far = returns_of(a->router.net, &x->sender, &x->far_due);
		x->acks = acks_of(a->router.net, id, p, &x->sender);
		if (x->sender.peer == NO_ROUTER)
			s->dead |= (uint64_t)1 << p;
	}
}

/* Its first switch in this process, or sites.end: it has none. */
static site_id first_switch(const struct router *r)
{
	return array_is_node(r) ? r->sites.end : router_next(r, r->sites.first);
}

static void array_fini(struct router *r)
{
	const struct route_lists *k = r->net->route->lists;

	for (site_id s = first_switch(r); k && s < r->sites.end;
		s = router_next(r, s + 1))
		k->free(array_switch(array_of(r), s)->own);
	coll_free(r->net->coll);
	r->net->coll = NULL;
}

/* Of written entries, for packets to one node and to many. */
static uint64_t array_memory(const struct router *r)
{
	const struct route_lists *k = r->net->route->lists;
	uint64_t sum = array_is_node(r) ? 0 : coll_memory(r->net->coll);

	for (site_id s = first_switch(r); k && s < r->sites.end;
		s = router_next(r, s + 1))
		sum += k->memory(array_switch(array_of(r), s)->own);
	return sum;
}

static struct route_memory **array_written(struct router *r, site_id s)
{
	return &array_switch(array_of(r), s)->own;
}

static void array_drops(
	const struct router *r, site_id s, uint64_t *late, uint64_t *no_way)
{
	const struct array_switch *x = array_switch(array_of(r), s);

	*late = x->impatient;
	*no_way = x->stranded;
}

/* Switches that no packet comes to take no memory: their first visit sets them
 * up. */
static void array_wire(struct router *r)
{
	for (site_id s = router_next(r, r->sites.first); s < r->sites.end;
		s = router_next(r, s + 1)) {
		if (array_is_node(r))
			wire_node(array_of(r), s);
		else if (r->net->faults)
			array_wire_switch(array_of(r), s);
	}
}

static void array_attach(struct router *r, site_id s, uint32_t class)
{
	if (array_is_node(r))
		array_node(array_of(r), s)->client = r->client[class];
}

/* --- from outside --- */

static struct net_fifos array_fifos(const struct router *r, uint32_t class)
{
	uint32_t n = r->sites.n_ports;

	if (class == NET_HIGH)
		return (struct net_fifos){ n, n, n, true };
	if (class == NET_SYSTEM)
		return (struct net_fifos){ 2 * n, n, n, true };
	return (struct net_fifos){ 0, n, n, true };
}

static void describe_inside(const struct array_params *h, FILE *f)
{
	if (h->inner == ARRAY_FIFO)
		fprintf(f, "inside      a queue for each input and channel\n");
	else
		fprintf(f,
			"inside      row buffers of %" PRId64
			" packet%s for each input, column and %s; column "
			"buffers of %" PRId64 " chunks\n",
			h->row, h->row == 1 ? "" : "s",
			h->row_for == ARRAY_BY_PAIR ? "pair of channels"
						    : "channel",
			h->column);
}

static void array_describe(
	const struct net_params *p, const struct topo *t, FILE *f)
{
	const struct array_params *h = p->own;
	char own[32] = "a full packet";

	(void)t;
	if (h->own)
		snprintf(own, sizeof(own), "%" PRId64, h->own);
	fprintf(f,
		"tiles       %" PRId64 " rows of %" PRId64
		"; input buffers of %" PRId64
		" chunks, %s for each of %d channels, %" PRId64 " shared\n",
		h->rows, h->columns, h->input, own, ARRAY_CHANNELS, h->shared);
	describe_inside(h, f);
	fprintf(f,
		"FIFOs       injection %lld packets, for each port and class\n",
		(long long)p->injection);
}

/* Packets take credits when they leave their row buffer. */
static const struct net_stage *array_stages(
	const struct net_params *p, uint32_t *n)
{
	static const struct net_stage fifo[] = { { "queue", 0, true, 1 } };
	static const struct net_stage stages[][3] = {
		[ARRAY_BY_CHANNEL] = { { "input buffer", 1 << 1, false, 1 },
			{ "row buffer", 1 << 2, true, 1 },
			{ "column buffer", 0, false, 1 } },
		[ARRAY_BY_PAIR] = { { "input buffer", 1 << 1, false, 1 },
			{ "row buffer", 1 << 2, true, 2 },
			{ "column buffer", 0, false, 1 } },
	};
	const struct array_params *h = p->own;

	*n = h->inner == ARRAY_FIFO ? 1 : 3;
	return h->inner == ARRAY_FIFO ? fifo : stages[h->row_for];
}

static uint64_t array_port_chunks(const struct net_params *p)
{
	const struct array_params *h = p->own;

	return (uint64_t)h->input;
}

static int32_t array_capacity(
	const struct router *r, port_id p, uint32_t channel)
{
	(void)p;
	(void)channel;
	return array_of(r)->capacity;
}

static int32_t array_shared(const struct router *r, port_id p)
{
	(void)p;
	return array_of(r)->pool.chunks;
}

static int32_t array_charge(
	const struct router *r, const struct packet *p, uint32_t channel)
{
	(void)r;
	(void)channel;
	return p->chunks;
}

static const char *const channels[ARRAY_CHANNELS] = { "data", "answers",
	"sideways", "management" };

static const struct router_repair repair = { .on_link = array_on_link };

const struct router_ops array_ops = {
	.name = "array",
	.channels = channels,
	.n_channels = ARRAY_CHANNELS,
	.stages = array_stages,
	.counts_switches = true,
	PARAMS(params),
	.params_size = sizeof(struct array_params),
	.describe = array_describe,
	.check = array_check,
	.port_chunks = array_port_chunks,
	.site_bytes = array_site_bytes,
	.size = sizeof(struct array),
	.make = array_make,
	.wire = array_wire,
	.attach = array_attach,
	.fini = array_fini,
	.memory = array_memory,
	.written = array_written,
	.drops = array_drops,
	.fifos = array_fifos,
	.capacity = array_capacity,
	.shared = array_shared,
	.tokens = array_tokens,
	.held = array_held,
	.room = array_room,
	.charge = array_charge,
	.short_ports = array_short_ports,
	.n_buffers = array_n_buffers,
	.buffer = array_buffer,
	.in_use = array_in_use,
	.n_injecting = array_n_injecting,
	.injecting = array_injecting,
	.ways = array_ways,
	.count = array_count,
	.came = array_came,
	.repair = &repair,
};
