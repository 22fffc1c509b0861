/* Counting everything: at the end of a run nothing may be missing. */
#include "router/net.h"

#include "base/mem.h"
#include "router/casts.h"

struct audit {
	struct net *n;
	/* [site][port][channel]: tokens of the far end's buffer that a
	 * sender does not hold because something stands for them */
	int32_t *out;
	uint64_t in_flight, in_queues, in_fifos;
	bool is_over; /* no event is left */
};

static int32_t *tokens_of(
	const struct audit *a, site_id s, uint32_t port, uint32_t channel)
{
	size_t i = (size_t)s * a->n->n_ports + port;

	return &a->out[i * N_CHANNELS + channel];
}

/* Charges the tokens of a packet in a buffer, or on its way there, to the
 * sender that took them. */
static void charge(
	struct audit *a, site_id s, uint32_t in, uint32_t channel, packet_id id)
{
	const struct link_sender *l = &a->n->sites[s].port[in].sender;

	*tokens_of(a, l->peer, l->peer_port, channel) +=
		net_charge(a->n, &a->n->packets[id], channel);
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
	} else if (sim_phase(e) == PHASE_TOKEN) {
		*tokens_of(a, e->site, number, aux) += (int32_t)e->data;
	}
}

static int count_queue(struct audit *a, site_id s, uint32_t channel,
	uint32_t bit, struct err *e)
{
	struct net *n = a->n;
	uint32_t should = n->sites[s].queue[channel][bit].count, count = 0;
	packet_id id = n->sites[s].queue[channel][bit].head;

	for (; count < should && id; id = n->packets[id].next, count++)
		charge(a, s, bit / NET_QUEUES, channel, id);
	a->in_queues += count;
	if (count != should || (should && id))
		return err_set_code(e, EXIT_INTERNAL,
			"audit: site %u: a queue of %u packets holds %u", s,
			should, count);
	return 0;
}

/* Tokens on their way back that wait to be looked at. */
static void count_returns(struct audit *a, site_id s)
{
	uint32_t p, i;

	for (p = 0; p < a->n->n_ports; p++) {
		const struct link_returns *r = &a->n->sites[s].port[p].returns;

		for (i = 0; i < r->n; i++) {
			uint64_t x = r->stamp[i];

			*tokens_of(a, s, p, link_stamp_channel(x)) +=
				(int32_t)link_stamp_chunks(x);
		}
	}
}

static int count_site(struct audit *a, site_id s, struct err *e)
{
	struct net *n = a->n;
	uint32_t channel, bit, f;

	for (channel = 0; channel < N_CHANNELS; channel++)
		for (bit = 0; bit < NET_BITS; bit++)
			if (count_queue(a, s, channel, bit, e))
				return -1;
	count_returns(a, s);
	for (f = 0; f < N_FIFOS; f++)
		a->in_fifos += n->sites[s].inject[f].n;
	return 0;
}

static int check_tokens(const struct audit *a, site_id s, struct err *e)
{
	struct net *n = a->n;
	uint32_t p, c;

	for (p = 0; p < n->n_ports; p++) {
		const struct link_sender *l = &n->sites[s].port[p].sender;

		for (c = 0; c < N_CHANNELS && l->peer != NO_ROUTER; c++) {
			int32_t all = l->tokens[c] + *tokens_of(a, s, p, c);

			if (all != (int32_t)n->capacity)
				return err_set_code(e, EXIT_INTERNAL,
					"audit: site %u port %u channel %u: "
					"%d of %u tokens",
					s, p, c, all, n->capacity);
		}
	}
	return 0;
}

static int check_packets(const struct audit *a, struct err *e)
{
	struct net_tally t = net_total(a->n);
	uint64_t here = a->in_flight + a->in_queues + a->in_fifos;

	if (t.injected + t.copies == t.delivered + t.lost + t.absorbed + here)
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"audit: %llu packets went in and %llu copies were made, %llu "
		"came out, %llu were lost, %llu became part of others and %llu "
		"are inside",
		(unsigned long long)t.injected, (unsigned long long)t.copies,
		(unsigned long long)t.delivered, (unsigned long long)t.lost,
		(unsigned long long)t.absorbed, (unsigned long long)here);
}

/* At the end no switch waits for answers, unless some were lost or came too
 * late. */
static int check_casts(const struct audit *a, struct err *e)
{
	uint64_t waiting = casts_waiting(a->n);
	bool is_over = a->is_over && !(a->in_queues + a->in_fifos);

	if (!waiting || !is_over || a->n->faults || casts_strays(a->n))
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"audit: switches wait for the answers to %llu broadcasts",
		(unsigned long long)waiting);
}

int net_audit(struct net *n, struct err *e)
{
	size_t size =
		(size_t)n->n_sites * n->n_ports * N_CHANNELS * sizeof(int32_t);
	struct audit a = { .n = n, .out = map_alloc(size), .is_over = true };
	int failed = 0;
	site_id s;

	sim_each_event(n->sim, count_event, &a);
	for (s = 0; s < n->n_sites && !failed; s++)
		failed = count_site(&a, s, e);
	for (s = 0; s < n->n_sites && !failed; s++)
		failed = check_tokens(&a, s, e);
	if (!failed)
		failed = check_packets(&a, e) || check_casts(&a, e);
	map_free(a.out, size);
	return failed;
}

/* What the packets that wait in a channel of a receiver have waited. */
static sim_time waiting(const struct net *n, const struct net_site *s,
	port_id p, uint32_t channel, sim_time now)
{
	sim_time sum = 0;
	uint32_t q;

	for (q = p * NET_QUEUES; q < (p + 1) * NET_QUEUES; q++) {
		packet_id id = s->queue[channel][q].head;
		uint32_t k = s->queue[channel][q].count;

		for (; k--; id = n->packets[id].next)
			sum += now - n->packets[id].head;
	}
	return sum;
}

struct net_counters net_counters(const struct net *n, site_id id, port_id p,
	uint32_t channels, sim_time now)
{
	const struct net_site *s = &n->sites[id];
	struct net_counters sum = { 0 };
	uint32_t c;

	for (c = 0; c < N_CHANNELS; c++) {
		if (!(channels >> c & 1))
			continue;
		sum.sent_bytes += s->port[p].sender.count[c];
		sum.packets += s->port[p].receiver.packets[c];
		sum.waited += s->port[p].receiver.waited[c] +
			      waiting(n, s, p, c, now);
	}
	return sum;
}

/* Counts the link that leaves s by p, and the receiver that another one, or
 * it itself, leads to. */
static void add_use(const struct net *n, struct net_use *u, site_id s,
	port_id p, struct topo_end receiver, sim_time now)
{
	uint32_t all = (1u << N_CHANNELS) - 1;
	uint64_t bytes = net_counters(n, s, p, all, now).sent_bytes;

	u->n_links++;
	u->sent_bytes += bytes;
	u->waited += net_counters(n, receiver.router, receiver.port, all, now)
			     .waited;
	if (bytes > u->most_bytes)
		u->most_bytes = bytes;
}

struct net_use net_port_use(const struct net *n, port_id p, sim_time now)
{
	struct net_use u = { 0 };
	site_id s;

	for (s = 0; s < n->n_sites; s++)
		if (n->sites[s].port[p].sender.peer != NO_ROUTER)
			add_use(n, &u, s, p, (struct topo_end){ s, p }, now);
	return u;
}

struct net_use net_wire_use(const struct net *n, uint32_t class, sim_time now)
{
	struct net_use u = { 0 };
	site_id s;
	port_id p;

	for (s = 0; s < n->n_sites; s++) {
		for (p = 0; p < n->n_ports; p++) {
			const struct link_sender *l =
				&n->sites[s].port[p].sender;

			if (l->peer == NO_ROUTER || l->wire != class)
				continue;
			add_use(n, &u, s, p,
				(struct topo_end){ l->peer, l->peer_port },
				now);
		}
	}
	return u;
}
