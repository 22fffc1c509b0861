/* Counting everything: at the end of a run nothing may be missing. */
#include "net/net.h"

#include "base/mem.h"
#include "net/guest.h"

struct audit {
	struct net *n;
	const struct net_guest *guest; /* or NULL */
	uint32_t n_channels; /* the most that a router has, and the guest's */
	uint32_t first; /* of the guest's */
	/* [link][channel]: tokens of the far end's buffer that a
	 * sender does not hold because something stands for them */
	int32_t *out;
	uint64_t in_flight, in_queues, in_fifos;
	uint32_t *list; /* of buffers */
	bool is_over; /* no event is left */
};

static int32_t *tokens_of(
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
	struct topo_end from = peer_of(a->n, s, in);

	*tokens_of(a, from.router, from.port, channel) +=
		channel < a->first ? r->ops->charge(r, p, channel) : p->chunks;
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
		*tokens_of(a, e->site, number - NET_GUEST_PORTS,
			a->first + aux) += (int32_t)e->data;
	} else if (sim_phase(e) == PHASE_TOKEN && number < NET_LINK) {
		*tokens_of(a, e->site, number, aux) += (int32_t)e->data;
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

static int count_site(struct audit *a, site_id s, struct err *e)
{
	const struct router *r = net_router(a->n, s);
	uint32_t i, n = net_in_use(a->n, s, a->list);

	for (i = 0; i < n; i++) {
		struct net_buffer b = r->ops->buffer(r, s, a->list[i]);

		if (count_buffer(a, s, &b, e))
			return -1;
	}
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

static int check_channel(const struct audit *a, site_id s, port_id p,
	uint32_t channel, int32_t held, int32_t most, struct err *e)
{
	int32_t all = held + *tokens_of(a, s, p, channel);

	if (all == most)
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"audit: site %u port %u channel %u: %d of %d tokens", s, p,
		channel, all, most);
}

/*
 * What channels have taken of the part that they share is not more than there
 * is: a channel has taken what it lacks of that part.
 */
static int check_pool(
	const struct audit *a, site_id s, port_id p, struct err *e)
{
	const struct router *r = net_router(a->n, s);
	struct topo_end end = peer_of(a->n, s, p);
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

static int check_wire(
	const struct audit *a, site_id s, port_id p, struct err *e)
{
	const struct router *r = net_router(a->n, s);
	struct topo_end end = peer_of(a->n, s, p);
	const struct router *far = net_router(a->n, end.router);
	const struct net_guest *g = a->guest;

	for (uint32_t c = 0; c < far->ops->n_channels; c++)
		if (check_channel(a, s, p, c, r->ops->tokens(r, s, p, c),
			    far->ops->capacity(far, end.port, c), e))
			return -1;
	if (far->ops->shared && check_pool(a, s, p, e))
		return -1;
	for (uint32_t c = 0; g && s < a->n->n_nodes && c < g->ops->n_channels;
		c++)
		if (check_channel(a, s, p, a->first + c,
			    g->ops->tokens(g, s, p, c), g->ops->capacity(g), e))
			return -1;
	return 0;
}

static int check_tokens(const struct audit *a, site_id s, struct err *e)
{
	uint32_t n = net_router(a->n, s)->sites.n_ports, p;

	for (p = 0; p < n; p++)
		if (peer_of(a->n, s, p).router != NO_ROUTER &&
			check_wire(a, s, p, e))
			return -1;
	return 0;
}

static int check_packets(const struct audit *a, struct err *e)
{
	struct net_tally t = net_total(a->n);
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

	a.out = map_alloc(size);
	a.list = mem_alloc(net_most_buffers(n), sizeof(*a.list));
	sim_each_event(n->sim, count_event, &a);
	for (site_id s = 0; s < n->n_sites && !failed; s++)
		failed = count_site(&a, s, e);
	for (site_id s = 0; s < n->n_sites && !failed; s++)
		failed = check_tokens(&a, s, e);
	if (!failed)
		failed = check_packets(&a, e) || check_routers(&a, e);
	mem_free(a.list);
	map_free(a.out, size);
	return failed;
}
