/*
 * Channels that share a part of their room, in the search for knots and in the
 * audit: two made-up routers, wired to each other, whose buffers hold what a
 * test says.  A channel has 2 chunks of its own and may take 4 that both share.
 */
#include <stdio.h>
#include <string.h>

#include "net/net.h"
#include "testing/testing.h"

enum { SITES = 2, CHANNELS = 2, OWN = 2, POOL = 4, ALL = OWN + POOL, MOST = 9 };

struct world {
	struct net net;
	struct router router;
	struct topo topo;
	struct packet packets[MOST];
	struct net_buffer buffer[SITES][CHANNELS];
	struct net_tally tally;
	struct net_client client, *clients[1];
	struct net_client_look look;
	uint16_t class_of[SITES];
	bool is_blind; /* nobody says that room is shared */
	packet_id n;
};

static const struct world *world_of(const struct router *r)
{
	return (const struct world *)(const void *)r->net;
}

static struct topo_end peer(const struct topo *t, router_id r, port_id p)
{
	(void)t;
	return (struct topo_end){ !r, p };
}

static void name(const struct topo *t, router_id r, char *text, size_t size)
{
	(void)t;
	snprintf(text, size, "%u", r);
}

static void name_port(
	const struct topo *t, router_id r, port_id p, char *text, size_t size)
{
	(void)t;
	(void)r;
	snprintf(text, size, "p%u", p);
}

static int32_t capacity(const struct router *r, port_id p, uint32_t channel)
{
	(void)r;
	(void)p;
	(void)channel;
	return ALL;
}

static int32_t shared(const struct router *r, port_id p)
{
	(void)p;
	return world_of(r)->is_blind ? 0 : POOL;
}

static int32_t charge(
	const struct router *r, const struct packet *p, uint32_t channel)
{
	(void)r;
	(void)channel;
	return p->chunks;
}

/* What the other end does not hold. */
static int32_t tokens(
	const struct router *r, site_id s, port_id p, uint32_t channel)
{
	const struct world *x = world_of(r);
	const struct net_buffer *b = &x->buffer[!s][channel];
	packet_id id = b->head;
	int32_t left = ALL;

	(void)p;
	for (uint32_t i = 0; i < b->count; i++, id = x->packets[id].next)
		left -= x->packets[id].chunks;
	return left;
}

static uint32_t n_buffers(const struct router *r, site_id s)
{
	(void)r;
	(void)s;
	return CHANNELS;
}

static struct net_buffer buffer(const struct router *r, site_id s, uint32_t i)
{
	return world_of(r)->buffer[s][i];
}

static uint32_t ways(const struct router *r, const struct net_buffer *b,
	const struct packet *p, struct net_way *way)
{
	(void)r;
	(void)b;
	*way = (struct net_way){ 0, p->channel, p->chunks };
	return 1;
}

static sim_time count(const struct router *r, site_id s, port_id p,
	sim_time now, struct net_count *c)
{
	(void)r;
	(void)s;
	(void)p;
	(void)c;
	return now;
}

static const char *const channels[CHANNELS] = { "one", "two" };

static const struct router_ops router_ops = {
	.channels = channels,
	.n_channels = CHANNELS,
	.capacity = capacity,
	.shared = shared,
	.tokens = tokens,
	.charge = charge,
	.n_buffers = n_buffers,
	.buffer = buffer,
	.ways = ways,
	.count = count,
};

static const struct topo_ops topo_ops = {
	.peer = peer, .name_router = name, .name_port = name_port
};

static void visit(struct sim_worker *w, site_id s)
{
	(void)w;
	(void)s;
}

static const struct sim_ops sim_ops = { .visit = visit };

static void start(struct world *x)
{
	struct sim_params p = { .n_sites = SITES,
		.n_workers = 1,
		.window = 40 * SIM_NS,
		.reach = 80 * SIM_NS,
		.ops = &sim_ops,
		.model = &x->net };
	struct err e = { 0 };

	memset(x, 0, sizeof(*x));
	x->topo = (struct topo){ .ops = &topo_ops,
		.n_nodes = SITES,
		.n_routers = SITES,
		.n_ports = 1,
		.node_ports = 1 };
	x->router = (struct router){
		.ops = &router_ops, .net = &x->net, .sites = { 0, SITES, 1 }
	};
	x->client.ops.look = &x->look;
	x->clients[0] = &x->client;
	x->net = (struct net){ .router = { &x->router, &x->router },
		.packets = x->packets,
		.tally = &x->tally,
		.n_workers = 1,
		.client = x->clients,
		.class_of = x->class_of,
		.topo = &x->topo,
		.n_sites = SITES,
		.n_nodes = SITES,
		.n_ports = 1,
		.links = topo_links(&x->topo),
		.sim = sim_new(&p, &e) };
	assert_non_null(x->net.sim);
	for (site_id s = 0; s < SITES; s++)
		for (uint32_t c = 0; c < CHANNELS; c++)
			x->buffer[s][c] =
				(struct net_buffer){ .site = s, .channel = c };
}

/* A packet of so many chunks in a buffer, which wants to leave on a channel. */
static void put(struct world *x, site_id s, uint32_t channel, uint32_t chunks,
	uint32_t leaves)
{
	struct net_buffer *b = &x->buffer[s][channel];
	packet_id id = ++x->n;

	x->packets[id].kind = PACKET_DYNAMIC;
	x->packets[id].chunks = (uint16_t)chunks;
	x->packets[id].channel = (uint8_t)leaves;
	x->packets[id].next = b->head;
	b->head = id;
	b->count++;
	x->tally.injected++;
}

/*
 * Each router's shared part is full of the channel that the other one does not
 * wait for: no channel is full, and yet nobody can go.
 */
static void what_another_channel_has_taken_is_no_room(void **state)
{
	char text[1000] = "";
	struct world x;

	(void)state;
	start(&x);
	put(&x, 0, 1, 3, 1);
	put(&x, 0, 1, 3, 1);
	put(&x, 1, 0, 3, 0);
	put(&x, 1, 0, 3, 0);
	assert_int_equal(net_knot(&x.net, text, sizeof(text)), 4);
	assert_non_null(strstr(text, "receiver p0, channel two, waits for p0"));
	assert_non_null(strstr(text, "receiver p0, channel one, waits for p0"));
	x.is_blind = true;
	assert_int_equal(net_knot(&x.net, NULL, 0), 0);
	sim_free(x.net.sim);
}

static void what_is_left_of_the_shared_part_is_room(void **state)
{
	struct world x;

	(void)state;
	start(&x);
	put(&x, 0, 1, 3, 1);
	put(&x, 1, 0, 3, 0);
	put(&x, 1, 0, 3, 0);
	assert_int_equal(net_knot(&x.net, NULL, 0), 0);
	sim_free(x.net.sim);
}

static void the_audit_sees_a_pool_that_is_overdrawn(void **state)
{
	struct err e = { 0 };
	struct world x;

	(void)state;
	start(&x);
	put(&x, 1, 0, 6, 0);
	put(&x, 1, 1, 2, 0);
	assert_int_equal(net_audit(&x.net, &e), 0);
	put(&x, 1, 1, 1, 0);
	assert_int_equal(net_audit(&x.net, &e), -1);
	assert_int_equal(e.code, EXIT_INTERNAL);
	assert_non_null(strstr(e.text, "have taken 5 chunks of 4"));
	sim_free(x.net.sim);
}

TESTS(TEST(what_another_channel_has_taken_is_no_room),
	TEST(what_is_left_of_the_shared_part_is_room),
	TEST(the_audit_sees_a_pool_that_is_overdrawn))
