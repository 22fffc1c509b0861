/* Counting everything: at the end of a run nothing may be missing. */
#include "net/net.h"

#include "base/mem.h"
#include "net/guest.h"
#include "net/shares.h"

struct audit {
	struct net *n;
	const struct net_guest *guest; /* or NULL */
	uint32_t n_channels; /* the most that a router has, and the guest's */
	uint32_t first; /* of the guest's */
	/* [link, by its receiver][channel]: tokens that its sender does not
	 * hold because something stands for them */
	int32_t *out;
	uint64_t in_flight, in_queues, in_fifos;
	uint32_t *list; /* of buffers */
	bool is_over; /* no event is left */
	struct net_tally total;
};

static int32_t *tokens_to(
	const struct audit *a, site_id s, uint32_t port, uint32_t channel)
{
	size_t i = net_link_at(a->n, s, port);

	return &a->out[i * a->n_channels + channel];
}

static struct topo_end peer_of(const struct net *n, site_id s, port_id p)
{
	return n->topo->ops->peer(n->topo, s, p);
}

/* Charges the tokens of a packet in a buffer, or on its way there, to the
 * sender that took them. */
static void charge(
	struct audit *a, site_id s, uint32_t in, uint32_t channel, packet_id id)
{
	const struct router *r = net_router(a->n, s);
	const struct packet *p = &a->n->packets[id];

	*tokens_to(a, s, in, channel) +=
		channel < a->first ? r->ops->charge(r, p, channel) : p->chunks;
}

/* Tokens on their way back to a sender. */
static void charge_return(struct audit *a, site_id s, uint32_t port,
	uint32_t channel, uint32_t tokens)
{
	struct topo_end to = peer_of(a->n, s, port);

	*tokens_to(a, to.router, to.port, channel) += (int32_t)tokens;
}

static void count_event(void *arg, sim_time t, const struct sim_event *e)
{
	struct audit *a = arg;
	uint32_t number = sim_number(e), aux = sim_aux(e);

	(void)t;
	a->is_over = false;
	if (sim_phase(e) == PHASE_ARRIVAL) {
		a->in_flight++;
		charge(a, e->site, number, aux, e->data);
	} else if (sim_phase(e) == PHASE_GUEST && number < NET_GUEST_PORTS) {
		a->in_flight++;
		charge(a, e->site, number, a->first + aux, e->data);
	} else if (sim_phase(e) == PHASE_GUEST &&
		   number < 2 * NET_GUEST_PORTS) {
		charge_return(a, e->site, number - NET_GUEST_PORTS,
			a->first + aux, e->data);
	} else if (sim_phase(e) == PHASE_TOKEN && number < NET_LINK) {
		charge_return(a, e->site, number, aux, e->data);
	}
}

static int count_buffer(
	struct audit *a, site_id s, const struct net_buffer *b, struct err *e)
{
	packet_id id = b->head;
	uint32_t count;

	for (count = 0; count < b->count && id; count++) {
		if (b->port < a->n->n_ports && count >= b->n_inside)
			charge(a, s, b->port, b->channel, id);
		id = a->n->packets[id].next;
	}
	a->in_queues += count;
	if (count != b->count || (count && id))
		return err_set_code(e, EXIT_INTERNAL,
			"audit: site %u: a queue said to hold %u packets holds "
			"%u",
			s, b->count, count);
	return 0;
}

static void count_held(struct audit *a, site_id s)
{
	const struct router *r = net_router(a->n, s);

	for (port_id p = 0; r->ops->held && p < r->sites.n_ports; p++)
		for (uint32_t c = 0; c < r->ops->n_channels; c++)
			*tokens_to(a, s, p, c) += r->ops->held(r, s, p, c);
}

static int count_site(struct audit *a, site_id s, struct err *e)
{
	const struct router *r = net_router(a->n, s);
	uint32_t i, n = net_in_use(a->n, s, a->list);

	for (i = 0; i < n; i++) {
		struct net_buffer b = r->ops->buffer(r, s, a->list[i]);

		if (count_buffer(a, s, &b, e))
			return -1;
	}
	count_held(a, s);
	if (r->ops->n_injecting)
		a->in_fifos += r->ops->n_injecting(r, s);
	for (i = 0;
		a->guest && s < a->n->n_nodes && i < a->guest->ops->n_buffers;
		i++) {
		struct net_buffer b = a->guest->ops->buffer(a->guest, s, i);

		b.channel += a->first;
		if (count_buffer(a, s, &b, e))
			return -1;
	}
	return 0;
}

static int complain(site_id s, port_id p, uint32_t channel, int32_t all,
	int32_t most, struct err *e)
{
	return err_set_code(e, EXIT_INTERNAL,
		"audit: site %u port %u channel %u: %d of %d tokens", s, p,
		channel, all, most);
}

/*
 * What channels have taken of the part that they share is not more than there
 * is: a channel has taken what it lacks of that part.
 */
static int check_pool(const struct audit *a, site_id s, port_id p,
	struct topo_end end, struct err *e)
{
	const struct router *r = net_router(a->n, s);
	const struct router *far = net_router(a->n, end.router);
	int32_t pool = far->ops->shared(far, end.port), left = pool;

	for (uint32_t c = 0; c < far->ops->n_channels; c++)
		left -= link_shared(r->ops->tokens(r, s, p, c), pool);
	if (left >= 0)
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"audit: site %u port %u: channels have taken %d chunks of %d "
		"that they share",
		s, p, pool - left, pool);
}

static int check_wire(const struct audit *a, site_id s, port_id p,
	struct topo_end end, struct err *e)
{
	const struct router *r = net_router(a->n, s);
	const struct router *far = net_router(a->n, end.router);
	const struct net_guest *g = a->guest;
	const int32_t *out = tokens_to(a, end.router, end.port, 0);

	for (uint32_t c = 0; c < far->ops->n_channels; c++) {
		int32_t all = r->ops->tokens(r, s, p, c) + out[c];
		int32_t most = far->ops->capacity(far, end.port, c);

		if (all != most)
			return complain(s, p, c, all, most, e);
	}
	if (far->ops->shared && check_pool(a, s, p, end, e))
		return -1;
	for (uint32_t c = 0; g && s < a->n->n_nodes && c < g->ops->n_channels;
		c++) {
		int32_t all = g->ops->tokens(g, s, p, c) + out[a->first + c];

		if (all != g->ops->capacity(g))
			return complain(s, p, a->first + c, all,
				g->ops->capacity(g), e);
	}
	return 0;
}

static int check_tokens(const struct audit *a, site_id s, struct err *e)
{
	uint32_t n = net_router(a->n, s)->sites.n_ports, p;

	for (p = 0; p < n; p++) {
		struct topo_end end = peer_of(a->n, s, p);

		if (end.router != NO_ROUTER && check_wire(a, s, p, end, e))
			return -1;
	}
	return 0;
}

/* Of all processes. */
static void share_counts(struct audit *a)
{
	uint64_t x[] = { a->in_flight, a->in_queues, a->in_fifos, !a->is_over };

	sim_sum(a->n->sim, x, sizeof(x) / sizeof(*x));
	a->in_flight = x[0];
	a->in_queues = x[1];
	a->in_fifos = x[2];
	a->is_over = !x[3];
	a->total = net_total(a->n);
}

static int check_packets(const struct audit *a, struct err *e)
{
	const struct net_tally t = a->total;
	uint64_t here = a->in_flight + a->in_queues + a->in_fifos;

	if (t.injected + t.copies ==
		t.delivered + t.lost + t.dropped + t.absorbed + here)
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"audit: %llu packets went in and %llu copies were made, but "
		"%llu came out, %llu were lost, %llu dropped, %llu absorbed "
		"and %llu are still inside",
		(unsigned long long)t.injected, (unsigned long long)t.copies,
		(unsigned long long)t.delivered, (unsigned long long)t.lost,
		(unsigned long long)t.dropped, (unsigned long long)t.absorbed,
		(unsigned long long)here);
}

/* What the routers themselves have to look at. */
static int check_routers(const struct audit *a, struct err *e)
{
	bool is_over = a->is_over && !(a->in_queues + a->in_fifos);

	for (uint32_t i = 0; i < NET_KINDS; i++) {
		const struct router *r = a->n->router[i];

		if (r->ops->audit && (!i || r != a->n->router[NET_NODES]) &&
			r->ops->audit(r, is_over, e))
			return -1;
	}
	return 0;
}

int net_audit(struct net *n, struct err *e)
{
	uint32_t nodes = n->router[NET_NODES]->ops->n_channels;
	uint32_t switches = n->router[NET_SWITCHES]->ops->n_channels;
	uint32_t first = nodes > switches ? nodes : switches;
	struct audit a = {
		.n = n,
		.guest = n->guest,
		.n_channels =
			first + (n->guest ? n->guest->ops->n_channels : 0),
		.first = first,
		.is_over = true,
	};
	size_t size = (size_t)n->links.n * a.n_channels * sizeof(*a.out);
	int failed = 0;
	site_id s;

	a.out = map_alloc(size);
	a.list = mem_alloc(net_most_buffers(n), sizeof(*a.list));
	sim_each_event(n->sim, count_event, &a);
	for (s = sim_next_own(n->sim, 0); s < n->n_sites && !failed;
		s = sim_next_own(n->sim, s + 1))
		failed = count_site(&a, s, e);
	/* what stands for tokens of these is partly in either process */
	net_sum_cuts(n, a.out, a.n_channels);
	for (s = sim_next_own(n->sim, 0); s < n->n_sites && !failed;
		s = sim_next_own(n->sim, s + 1))
		failed = check_tokens(&a, s, e);
	share_counts(&a);
	if (!failed)
		failed = check_packets(&a, e) || check_routers(&a, e);
	mem_free(a.list);
	map_free(a.out, size);
	return sim_share_error(n->sim, e);
}
