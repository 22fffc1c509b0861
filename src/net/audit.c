/*
 * Counting everything: at the end of a run nothing may be missing.  Each worker
 * counts what is at its own sites, or on its way there, and then looks at the
 * wires that leave them.
 */
#include "net/net.h"

#include "base/mem.h"
#include "net/guest.h"
#include "net/hops.h"
#include "net/shares.h"
#include "sim/share.h"

/* One worker's part. */
struct audit {
	/* the same for all */
	struct net *n;
	const struct net_guest *guest; /* or NULL */
	uint32_t n_channels; /* the most that a router has, and the guest's */
	uint32_t first; /* of the guest's */
	/* Tokens that a sender does not hold because something stands for them:
	 * [link, by its receiver][channel] packets in its buffers and on the
	 * wire, [link, by its sender][channel] tokens on their way back. */
	int32_t *out, *back;
	/* [receiver's kind][port][channel] of its buffers, in chunks */
	int32_t *capacity;
	/* its own */
	uint64_t in_flight, in_queues, in_fifos;
	uint64_t came; /* packets that have left its sites again */
	uint32_t *list; /* of buffers */
	bool is_over; /* no event is left */
	site_id failed; /* the first site where something is wrong, or none */
	struct err err; /* what that is */
	struct hops *hops;
	struct net_tally total; /* of all processes; the first worker's */
};

static int32_t *tokens_at(const struct audit *a, int32_t *all, site_id s,
	uint32_t port, uint32_t channel)
{
	size_t i = net_link_at(a->n, s, port);

	return &all[i * a->n_channels + channel];
}

static struct topo_end peer_of(const struct net *n, site_id s, port_id p)
{
	return n->topo->ops->peer(n->topo, s, p);
}

/* The tokens of a packet in a buffer, or on its way there: its sender took
 * them. */
static inline int32_t taken(const struct audit *a, const struct router *r,
	const struct packet *p, uint32_t channel)
{
	return channel < a->first ? r->ops->charge(r, p, channel) : p->chunks;
}

static void charge(struct audit *a, site_id s, uint32_t in, uint32_t channel,
	const struct packet *p)
{
	*tokens_at(a, a->out, s, in, channel) +=
		taken(a, net_router(a->n, s), p, channel);
}

/* Tokens on their way back to a sender. */
static void charge_return(struct audit *a, site_id s, uint32_t port,
	uint32_t channel, uint32_t tokens)
{
	*tokens_at(a, a->back, s, port, channel) += (int32_t)tokens;
}

static void count_event(void *arg, sim_time t, const struct sim_event *e)
{
	struct audit *a = arg;
	uint32_t number = sim_number(e), aux = sim_aux(e);

	(void)t;
	a->is_over = false;
	if (sim_phase(e) == PHASE_ARRIVAL) {
		a->in_flight++;
		charge(a, e->site, number, aux, &a->n->packets[e->data]);
		hops_add(a->hops, &a->n->packets[e->data], e->site, true);
	} else if (sim_phase(e) == PHASE_GUEST && number < NET_GUEST_PORTS) {
		a->in_flight++;
		charge(a, e->site, number, a->first + aux,
			&a->n->packets[e->data]);
	} else if (sim_phase(e) == PHASE_GUEST &&
		   number < 2 * NET_GUEST_PORTS) {
		charge_return(a, e->site, number - NET_GUEST_PORTS,
			a->first + aux, e->data);
	} else if (sim_phase(e) == PHASE_TOKEN && number < NET_LINK) {
		charge_return(a, e->site, number, aux, e->data);
	}
}

static int count_buffer(struct audit *a, site_id s, const struct net_buffer *b)
{
	const struct router *r = net_router(a->n, s);
	packet_id id = b->head;
	int32_t tokens = 0;
	uint32_t count;

	for (count = 0; count < b->count && id; count++) {
		const struct packet *p = &a->n->packets[id];

		if (count >= b->n_inside)
			tokens += taken(a, r, p, b->channel);
		if (b->channel < a->first)
			hops_add(a->hops, p, s, false);
		id = p->next;
	}
	a->in_queues += count;
	if (b->port < a->n->n_ports)
		*tokens_at(a, a->out, s, b->port, b->channel) += tokens;
	if (count != b->count || (count && id))
		return err_set_code(&a->err, EXIT_INTERNAL,
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
			*tokens_at(a, a->out, s, p, c) +=
				r->ops->held(r, s, p, c);
}

static int count_site(struct audit *a, site_id s)
{
	const struct router *r = net_router(a->n, s);
	uint32_t i, n = net_in_use(a->n, s, a->list);

	for (i = 0; i < n; i++) {
		struct net_buffer b = r->ops->buffer(r, s, a->list[i]);

		a->came += b.count;
		if (count_buffer(a, s, &b))
			return -1;
	}
	a->came += net_came(a->n, s);
	count_held(a, s);
	if (r->ops->n_injecting)
		a->in_fifos += r->ops->n_injecting(r, s);
	for (i = 0;
		a->guest && s < a->n->n_nodes && i < a->guest->ops->n_buffers;
		i++) {
		struct net_buffer b = a->guest->ops->buffer(a->guest, s, i);

		b.channel += a->first;
		if (count_buffer(a, s, &b))
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
static int check_pool(site_id s, port_id p, const int32_t *tokens,
	uint32_t n_channels, int32_t pool, struct err *e)
{
	int32_t left = pool;

	for (uint32_t c = 0; c < n_channels; c++)
		left -= link_shared(tokens[c], pool);
	if (left >= 0)
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"audit: site %u port %u: channels have taken %d chunks of %d "
		"that they share",
		s, p, pool - left, pool);
}

static int check_guest(struct audit *a, site_id s, port_id p,
	const int32_t *out, const int32_t *back)
{
	const struct net_guest *g = a->guest;

	for (uint32_t c = 0; g && s < a->n->n_nodes && c < g->ops->n_channels;
		c++) {
		uint32_t i = a->first + c;
		int32_t all = g->ops->tokens(g, s, p, c) + out[i] + back[i];

		if (all != g->ops->capacity(g))
			return complain(
				s, p, i, all, g->ops->capacity(g), &a->err);
	}
	return 0;
}

static int32_t *capacity_at(const struct audit *a, uint32_t kind, port_id p)
{
	return a->capacity +
	       (kind * TOPO_MAX_PORTS + p) * (size_t)NET_MOST_CHANNELS;
}

/* Asks once, not for each wire. */
static void list_capacities(struct audit *a)
{
	a->capacity = mem_alloc((size_t)NET_KINDS * TOPO_MAX_PORTS,
		NET_MOST_CHANNELS * sizeof(*a->capacity));
	for (uint32_t i = 0; i < NET_KINDS; i++) {
		const struct router *r = a->n->router[i];

		for (port_id p = 0; p < r->sites.n_ports; p++)
			for (uint32_t c = 0; c < r->ops->n_channels; c++)
				capacity_at(a, i, p)[c] =
					r->ops->capacity(r, p, c);
	}
}

/* The first channel whose tokens are not all there, or n. */
static uint32_t wrong_channel(const int32_t *tokens, const int32_t *out,
	const int32_t *back, const int32_t *most, uint32_t n)
{
	int32_t wrong = 0;
	uint32_t c;

	for (c = 0; c < n; c++)
		wrong |= tokens[c] + out[c] + back[c] - most[c];
	if (!wrong)
		return n;
	for (c = 0; tokens[c] + out[c] + back[c] == most[c]; c++)
		;
	return c;
}

static int check_wire(struct audit *a, const struct router *r, site_id s,
	port_id p, struct topo_end end)
{
	const struct router *far = net_router(a->n, end.router);
	const int32_t *out = tokens_at(a, a->out, end.router, end.port, 0);
	const int32_t *back = tokens_at(a, a->back, s, p, 0);
	const int32_t *most =
		capacity_at(a, end.router >= a->n->n_nodes, end.port);
	uint32_t n = far->ops->n_channels, c;
	int32_t tokens[NET_MOST_CHANNELS];

	net_tokens(r, s, p, n, tokens);
	c = wrong_channel(tokens, out, back, most, n);
	if (c < n)
		return complain(s, p, c, tokens[c] + out[c] + back[c], most[c],
			&a->err);
	if (far->ops->shared &&
		check_pool(s, p, tokens, n, far->ops->shared(far, end.port),
			&a->err))
		return -1;
	return check_guest(a, s, p, out, back);
}

static int check_tokens(struct audit *a, site_id s)
{
	const struct router *r = net_router(a->n, s);
	uint32_t n = r->sites.n_ports, p;

	for (p = 0; p < n; p++) {
		struct topo_end end = peer_of(a->n, s, p);

		if (end.router != NO_ROUTER && check_wire(a, r, s, p, end))
			return -1;
	}
	return 0;
}

/* Of all processes. */
static void share_counts(struct audit *a)
{
	uint64_t x[] = { a->in_flight, a->in_queues, a->in_fifos, !a->is_over,
		a->came };

	sim_sum(a->n->sim, x, sizeof(x) / sizeof(*x));
	a->in_flight = x[0];
	a->in_queues = x[1];
	a->in_fifos = x[2];
	a->is_over = !x[3];
	a->came = x[4];
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

/* Each worker's sites, until something is wrong. */
static void each_site(struct audit *a, const struct sim_worker *w,
	int (*f)(struct audit *a, site_id s))
{
	for (site_id s = 0; s < a->n->n_sites; s++) {
		if (!sim_is_own(w, s) || !f(a, s))
			continue;
		a->failed = s;
		return;
	}
}

static void count_share(void *all, struct sim_worker *w)
{
	struct audit *a = (struct audit *)all + w->id;

	a->list = mem_alloc(net_most_buffers(a->n), sizeof(*a->list));
	sim_each_event_of(a->n->sim, w->id, count_event, a);
	each_site(a, w, count_site);
}

static void check_share(void *all, struct sim_worker *w)
{
	each_site((struct audit *)all + w->id, w, check_tokens);
}

static void add_event(void *arg, sim_time t, const struct sim_event *e)
{
	struct hops *hops = arg;

	(void)t;
	if (sim_phase(e) == PHASE_ARRIVAL)
		hops_add(hops, &hops->n->packets[e->data], e->site, true);
}

static int add_site(struct audit *a, site_id s)
{
	const struct router *r = net_router(a->n, s);
	uint32_t n = net_in_use(a->n, s, a->list);

	for (uint32_t i = 0; i < n; i++) {
		struct net_buffer b = r->ops->buffer(r, s, a->list[i]);

		for (packet_id id = b.head; b.count--;
			id = a->n->packets[id].next)
			hops_add(a->hops, &a->n->packets[id], s, false);
	}
	return 0;
}

static void add_share(void *all, struct sim_worker *w)
{
	struct audit *a = (struct audit *)all + w->id;

	sim_each_event_of(a->n->sim, w->id, add_event, a->hops);
	each_site(a, w, add_site);
}

/* Adds the parts of all workers to the first; the first error is that of all.
 */
static int join(struct audit *a, struct err *e)
{
	const struct audit *first = a;

	for (uint32_t i = 0; i < a->n->n_workers; i++)
		first = a[i].failed < first->failed ? &a[i] : first;
	for (uint32_t i = 1; i < a->n->n_workers; i++) {
		a->in_flight += a[i].in_flight;
		a->in_queues += a[i].in_queues;
		a->in_fifos += a[i].in_fifos;
		a->came += a[i].came;
		a->is_over &= a[i].is_over;
	}
	if (first->failed != NO_SITE)
		*e = first->err;
	share_counts(a);
	return first->failed != NO_SITE ? -1 : 0;
}

static struct audit *audit_new(struct net *n, size_t *size)
{
	uint32_t nodes = n->router[NET_NODES]->ops->n_channels;
	uint32_t switches = n->router[NET_SWITCHES]->ops->n_channels;
	uint32_t first = nodes > switches ? nodes : switches;
	struct audit like = {
		.n = n,
		.guest = n->guest,
		.n_channels =
			first + (n->guest ? n->guest->ops->n_channels : 0),
		.first = first,
		.is_over = true,
		.failed = NO_SITE,
	};
	struct hops *hops = mem_alloc(n->n_workers, sizeof(*hops));
	struct audit *a = mem_alloc(n->n_workers, sizeof(*a));

	*size = (size_t)n->links.n * like.n_channels * sizeof(*like.out);
	like.out = map_alloc(*size);
	like.back = map_alloc(*size);
	list_capacities(&like);
	for (uint32_t i = 0; i < n->n_workers; i++) {
		a[i] = like;
		a[i].hops = &hops[i];
		hops_init(&hops[i], n);
	}
	return a;
}

static void audit_free(struct audit *a, size_t size)
{
	map_free(a->out, size);
	map_free(a->back, size);
	mem_free(a->capacity);
	for (uint32_t i = 0; i < a->n->n_workers; i++)
		mem_free(a[i].list);
	mem_free(a->hops);
	mem_free(a);
}

int net_audit_counting(struct net *n, struct net_counted *c, struct err *e)
{
	size_t size;
	struct audit *a = audit_new(n, &size);

	sim_share(n->sim, count_share, a);
	/* what stands for tokens of these is partly in either process */
	net_sum_cuts(n, a->out, a->n_channels);
	sim_share(n->sim, check_share, a);
	if (hops_start_again(a->hops, n->n_workers))
		sim_share(n->sim, add_share, a);
	if (!join(a, e) && !check_packets(a, e))
		check_routers(a, e);
	c->hops = a->came;
	c->hops_inside = hops_sum(a->hops, n->n_workers);
	audit_free(a, size);
	return sim_share_error(n->sim, e);
}

int net_audit(struct net *n, struct err *e)
{
	struct net_counted c;

	return net_audit_counting(n, &c, e);
}
