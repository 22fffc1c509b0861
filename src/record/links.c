#include "record/links.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "meas/digest.h"
#include "net/guest.h"
#include "record/bulk.h"

enum {
	NAME_SIZE = 96,
	N_LONGEST = 1 + NET_MOST_CHANNELS,
	LOOK_SITES = 256, /* about so many are looked at, of more */
	LOOK_BUFFERS = 1 << 16, /* for each sample */
	ALL_CHANNELS = NET_MOST_CHANNELS,
	ENDS_AT_ONCE = 1024, /* links whose ends are shared among processes */
};

/* --- which there are --- */

/* Most links by a port have the name of the last one by it, which is the first
 * guess. */
static uint32_t find_name(
	struct record_links *k, const char *name, uint32_t guess)
{
	uint32_t i = 0;

	if (guess < k->n_names && !strcmp(k->name[guess], name))
		return guess;
	while (i < k->n_names && strcmp(k->name[i], name) != 0)
		i++;
	if (i == k->n_names) {
		k->name = mem_more(k->name, i, sizeof(*k->name));
		k->name[k->n_names++] = mem_text(name);
	}
	return i;
}

/* Zeroed, and its own until the end.  Most channels are never used, and then
 * theirs is not touched either. */
static void *take(struct record_links *k, size_t n, size_t size)
{
	struct record_part *part;

	k->mine = mem_more(k->mine, k->n_mine, sizeof(*k->mine));
	part = &k->mine[k->n_mine++];
	*part = (struct record_part){ map_alloc(n * size), n * size };
	return part->at;
}

/* Whole words of them, and of several processes as many more, for those of
 * all. */
static size_t list_size(const struct record_links *k)
{
	enum { WORD = sizeof(uint64_t) / sizeof(uint16_t) };

	return (k->links.n + WORD) / WORD * WORD;
}

static uint16_t *take_list(struct record_links *k)
{
	size_t n = list_size(k);

	return take(
		k, sim_is_shared(k->net->sim) ? 2 * n : n, sizeof(uint16_t));
}

static struct record_loads new_loads(struct record_links *k)
{
	return (struct record_loads){
		.use = take_list(k),
		.waiting = take_list(k),
		.tokens = k->net->book ? take_list(k) : NULL,
		.retries = k->net->retry ? take_list(k) : NULL,
	};
}

static void add_channel(
	struct record_links *k, uint32_t kind, uint32_t c, size_t most)
{
	struct record_channel *x = &k->channel[k->n_channels++];

	*x = (struct record_channel){
		.name = k->net->router[kind]->ops->channels[c],
		.kind = kind,
		.number = c,
		.past = take(k, most, sizeof(*x->past)),
		.now = new_loads(k),
	};
}

static void find_channels(struct record_links *k, size_t most)
{
	const struct net *n = k->net;

	for (uint32_t kind = 0; kind < NET_KINDS; kind++) {
		bool is_there = kind == NET_NODES || n->n_sites > n->n_nodes;
		uint32_t many = is_there ? n->router[kind]->ops->n_channels : 0;

		for (uint32_t c = 0; c < many; c++)
			add_channel(k, kind, c, most);
		if (kind == NET_NODES)
			k->n_of_nodes = many;
	}
}

void record_links_init(struct record_links *k, const struct net *n)
{
	uint32_t guess[TOPO_MAX_PORTS] = { 0 };
	size_t most;

	*k = (struct record_links){ .net = n };
	net_links_init(&k->links, n);
	most = k->links.n + 1;
	k->at = take(k, n->links.n, sizeof(*k->at));
	k->name_of = take(k, most, sizeof(*k->name_of));
	for (size_t i = 0; i < k->links.n; i++) {
		const struct net_link *l = &k->links.link[i];
		char name[NAME_SIZE];

		n->topo->ops->name_port(
			n->topo, l->site, l->port, name, sizeof(name));
		k->at[net_link_at(n, l->site, l->port)] = (uint32_t)i;
		k->name_of[i] = guess[l->port] =
			find_name(k, name, guess[l->port]);
	}
	k->ps_per_byte = take(k, n->topo->n_wires, sizeof(*k->ps_per_byte));
	for (size_t i = 0; i < n->topo->n_wires; i++)
		k->ps_per_byte[i] = 1e12 / (double)n->link.bps[i];
	k->past = take(k, most, sizeof(*k->past));
	k->longest = take(k, most * N_LONGEST, sizeof(*k->longest));
	k->now = new_loads(k);
	find_channels(k, most);
	k->used = take(k, net_most_buffers(n), sizeof(*k->used));
	k->wanted = take(k, most, sizeof(*k->wanted));
	k->wanted_now = take_list(k);
	k->wants = take(k, (size_t)k->n_names * (k->n_names + 1) + 1,
		sizeof(*k->wants));
}

void record_links_fini(struct record_links *k)
{
	while (k->n_names)
		mem_free(k->name[--k->n_names]);
	while (k->n_mine) {
		const struct record_part *part = &k->mine[--k->n_mine];

		map_free(part->at, part->bytes);
	}
	net_links_fini(&k->links);
	mem_free(k->name);
	mem_free(k->mine);
}

/* --- samples --- */

static uint16_t scaled(double value, double scale)
{
	double x = value * scale + 0.5;

	return x < 0 ? 0 : x > UINT16_MAX ? UINT16_MAX : (uint16_t)x;
}

/* As net_busy(), quickly; a sample does not say it more exactly than that. */
static sim_time busy_until(const struct record_links *k,
	const struct net_link *l, uint64_t sent, sim_time free_at, sim_time now)
{
	sim_time busy =
		(sim_time)((double)(int64_t)sent * k->ps_per_byte[l->class]);

	return free_at > now ? busy - (free_at - now) : busy;
}

/* Whether a link leads to routers that have the channel. */
static bool leads_to(
	const struct record_channel *x, const struct net *n, size_t to)
{
	return x->kind == (to >= n->n_nodes);
}

/* A port whose counters are sampled.  It sends by channels of the router at its
 * far end, and packets stay in channels of its own, which the link in the other
 * direction leads to. */
struct port {
	size_t link;
	const struct net_link *l;
	struct record_channel *far, *own;
	uint32_t n_far, n_own;
	double span;
};

/* The channels of links that lead to a site. */
static struct record_channel *channels_to(
	struct record_links *k, site_id to, uint32_t *n)
{
	bool is_switch = to >= k->net->n_nodes;

	*n = net_router(k->net, to)->ops->n_channels;
	return &k->channel[is_switch ? k->n_of_nodes : 0];
}

static struct port port_of(struct record_links *k, size_t i, double span)
{
	struct port p = { .link = i, .l = &k->links.link[i], .span = span };

	p.far = channels_to(k, p.l->to.router, &p.n_far);
	p.own = channels_to(k, p.l->site, &p.n_own);
	return p;
}

static void sample_channel(const struct port *p, size_t number,
	const struct net_count *c, double ps_per_byte)
{
	struct record_channel *x = &p->far[number];
	size_t i = p->link, back = p->l->back;
	double ps;

	if (number < p->n_far) {
		int64_t sent = (int64_t)(c->sent - x->past[i].sent);

		ps = (double)sent * ps_per_byte;
		x->now.use[i] = scaled(ps / p->span, RECORD_USE_SCALE);
		x->is_used |= sent != 0;
		x->past[i].sent = c->sent;
	}
	x = &p->own[number];
	ps = (double)(c->stayed - x->past[back].stayed);
	x->now.waiting[back] = scaled(ps / p->span, RECORD_WAITING_SCALE);
	x->past[back].stayed = c->stayed;
	x->past[back].came = c->came;
}

/* Of all channels, and of the link. */
static void sample_tokens(struct record_links *k, size_t i, double span)
{
	const struct net_link *l = &k->links.link[i];
	sim_time sum = 0;

	for (uint32_t n = 0; n < k->n_channels; n++) {
		struct record_channel *x = &k->channel[n];
		sim_time now = k->net->token_waits[net_channel_at(
			k->net, l->site, l->port, x->number)];

		if (!leads_to(x, k->net, l->to.router))
			continue;
		x->now.tokens[i] =
			scaled((double)(now - x->past[i].token_wait) / span,
				RECORD_TOKENS_SCALE);
		sum += now - x->past[i].token_wait;
		x->past[i].token_wait = now;
	}
	k->now.tokens[i] = scaled((double)sum / span, RECORD_TOKENS_SCALE);
}

static void sample_retries(struct record_links *k, size_t i)
{
	const struct net_link *l = &k->links.link[i];
	const uint64_t *now =
		&k->net->resent[net_channel_at(k->net, l->site, l->port, 0)];
	uint64_t sum = 0;

	for (uint32_t n = 0; n < k->n_channels; n++) {
		struct record_channel *x = &k->channel[n];

		if (!leads_to(x, k->net, l->to.router))
			continue;
		x->now.retries[i] =
			scaled((double)(now[x->number] - x->past[i].resent), 1);
		x->past[i].resent = now[x->number];
	}
	/* also a guest's, which are on none of these */
	for (uint32_t n = 0; n < NET_MOST_CHANNELS; n++)
		sum += now[n];
	k->now.retries[i] = scaled((double)(sum - k->past[i].resent), 1);
	k->past[i].resent = sum;
}

/* Adds the channels up, and what a guest sends; returns when the link is
 * free. */
static sim_time sum_port(struct record_links *k, const struct port *p,
	sim_time now, struct net_count *sum)
{
	const struct net_link *l = p->l;
	const struct net_guest *g = k->net->guest;
	uint32_t *longest = &k->longest[l->back * N_LONGEST + 1];
	sim_time free_at = net_count(k->net, l, now, k->count);
	struct net_count *c = k->count;

	for (size_t number = 0, n = p->n_own; number < n; number++, c++) {
		if (net_is_unused(c))
			continue;
		sample_channel(p, number, c, k->ps_per_byte[l->class]);
		if (c->waiting > longest[number])
			longest[number] = c->waiting;
		sum->sent += c->sent;
		sum->came += c->came;
		sum->stayed += c->stayed;
		sum->waiting += c->waiting;
		*c = (struct net_count){ 0 };
	}
	if (g) {
		struct net_counters own = g->ops->counters(g, l->site, l->port);

		sum->sent += own.sent_bytes;
		sum->came += own.packets;
	}
	return free_at;
}

/* A port's counters are of the link that leaves by it, and of the packets that
 * came in by the other one.  Returns how many of these did. */
static inline uint64_t sample_port(
	struct record_links *k, size_t i, double span, sim_time now)
{
	const struct net_link *l = &k->links.link[i];
	struct net_carried *out = &k->past[i].carried,
			   *in = &k->past[l->back].carried;
	uint32_t *longest = &k->longest[l->back * N_LONGEST];
	struct port p = port_of(k, i, span);
	struct net_count sum = { 0 };
	sim_time free_at = sum_port(k, &p, now, &sum);
	sim_time busy = busy_until(k, l, sum.sent, free_at, now);
	uint64_t came = sum.came - in->packets;

	if (sum.waiting > *longest)
		*longest = sum.waiting;
	if (k->net->book)
		sample_tokens(k, i, span);
	if (k->net->resent)
		sample_retries(k, i);
	k->now.use[i] =
		scaled((double)(busy - out->busy) / span, RECORD_USE_SCALE);
	k->now.waiting[l->back] = scaled(
		(double)(sum.stayed - in->waited) / span, RECORD_WAITING_SCALE);
	out->busy = busy;
	out->bytes = sum.sent;
	k->past[i].free_at = free_at;
	in->waited = sum.stayed;
	in->packets = sum.came;
	return came;
}

/* Channels that are used in any process. */
static void share_used(struct record_links *k)
{
	uint64_t is_used[NET_KINDS * NET_MOST_CHANNELS] = { 0 };

	for (uint32_t i = 0; i < k->n_channels; i++)
		is_used[i] = k->channel[i].is_used;
	sim_max(k->net->sim, is_used, k->n_channels);
	for (uint32_t i = 0; i < k->n_channels; i++)
		k->channel[i].is_used = is_used[i];
}

uint64_t record_links_sample(
	struct record_links *k, sim_time from, sim_time now)
{
	const struct sim *sim = k->net->sim;
	bool is_all = !sim_is_shared(sim);
	double span = (double)(now - from);
	uint64_t hops = 0;

	for (size_t i = 0; i < k->n_channels; i++)
		k->channel[i].is_used = false;
	for (size_t i = 0; i < k->links.n; i++)
		if (is_all || sim_has(sim, k->links.link[i].site))
			hops += sample_port(k, i, span, now);
	share_used(k);
	sim_sum(sim, &hops, 1);
	return hops;
}

/* Each value is one process's, and 0 in others. */
struct row_list record_list(const struct record_links *k, uint16_t *list)
{
	size_t bytes = k->links.n * sizeof(*list), n = list_size(k);

	if (list && sim_is_shared(k->net->sim)) {
		memcpy(list + n, list, n * sizeof(*list));
		list += n;
		sim_sum(k->net->sim, (uint64_t *)(void *)list,
			n * sizeof(*list) / sizeof(uint64_t));
	}
	return (struct row_list){ (const uint8_t *)list, list ? bytes : 0 };
}

const char *record_links_only(const struct record_links *k)
{
	const char *name = NULL;

	for (uint32_t i = 0; i < k->n_channels; i++) {
		const struct record_channel *x = &k->channel[i];

		if (x->is_used && name && strcmp(name, x->name) != 0)
			return NULL;
		if (x->is_used)
			name = x->name;
	}
	return name ? name : "";
}

int record_channels_write(
	struct record_links *k, struct db *d, int64_t n, struct err *e)
{
	bool is_one = record_links_only(k) != NULL;

	for (uint32_t i = 0; i < k->n_channels && !is_one; i++) {
		const struct record_channel *x = &k->channel[i];
		struct row_shared_sample row = {
			.sample = n,
			.channel = x->name,
			.to_sites = x->kind == NET_NODES ? "nodes" : "switches",
			.use = record_list(k, x->now.use),
			.waiting = record_list(k, x->now.waiting),
			.token_wait = record_list(k, x->now.tokens),
			.retries = record_list(k, x->now.retries),
		};

		if (x->is_used)
			row_put_shared_sample(d, &row, e);
	}
	return e->code ? -1 : 0;
}

/* --- what is waited for --- */

uint32_t record_link_at(const struct record_links *k, site_id s, port_id p)
{
	return k->at[net_link_at(k->net, s, p)];
}

/* That a buffer's first packet may take; none where it is to be received. */
static port_mask wanted_ports(
	const struct record_links *k, const struct net_buffer *b)
{
	const struct packet *p = &k->net->packets[b->head];
	const struct router *r = net_router(k->net, b->site);
	struct net_way way[NET_MOST_WAYS];
	port_mask ports = 0;

	if (net_is_there(p))
		return 0;
	for (uint32_t n = r->ops->ways(r, b, p, way); n--;)
		ports |= (port_mask)1 << way[n].port;
	return ports;
}

/* Mostly one, which needs no count of bits. */
static double n_ports(port_mask ports)
{
	return ports & (ports - 1) ? __builtin_popcountll(ports) : 1;
}

/* Parts of packets are whole numbers of these, so that their sum does not
 * depend on the order of sites. */
#define PARTS ((double)(UINT64_C(1) << 32))

/* A packet, which stands for some, waits for one of its ways: each has an equal
 * part of it. */
static void add_head(
	struct record_links *k, const struct net_buffer *b, double one)
{
	size_t in = k->links.link[record_link_at(k, b->site, b->port)].back;
	uint64_t *row = &k->wants[(size_t)k->name_of[in] * (k->n_names + 1)];
	port_mask ports = wanted_ports(k, b), m;

	if (!ports)
		row[k->n_names] += (uint64_t)(one * PARTS);
	for (m = ports; m; m &= m - 1)
		row[k->name_of[record_link_at(
			k, b->site, (port_id)__builtin_ctzll(m))]] +=
			(uint64_t)(one * PARTS / n_ports(ports));
}

static void look(struct record_links *k)
{
	const struct net *n = k->net;
	bool is_all = n->n_sites <= LOOK_SITES;
	double one = is_all ? 1 : (double)n->n_sites / LOOK_SITES;
	uint64_t some = UINT64_MAX / n->n_sites * LOOK_SITES;
	size_t all = (size_t)k->n_names * (k->n_names + 1);

	memset(k->wants, 0, all * sizeof(*k->wants));
	for (site_id s = sim_next_own(n->sim, 0); s < n->n_sites;
		s = sim_next_own(n->sim, s + 1)) {
		const struct router *r = net_router(n, s);
		uint32_t n_used;

		if (!is_all && digest_mix(s) > some)
			continue;
		n_used = net_in_use(n, s, k->used);
		for (uint32_t i = 0; i < n_used; i++) {
			struct net_buffer b = r->ops->buffer(r, s, k->used[i]);

			add_head(k, &b, one);
		}
	}
	sim_sum(n->sim, k->wants, all);
}

static void add_injecting(struct record_links *k, site_id s)
{
	const struct router *r = net_router(k->net, s);
	double waiting[TOPO_MAX_PORTS] = { 0 };

	if (!r->ops->injecting)
		return;
	r->ops->injecting(r, s, waiting);
	for (uint32_t p = 0; p < r->sites.n_ports; p++)
		if (waiting[p] > 0)
			k->wanted[record_link_at(k, s, p)] += waiting[p];
}

static void add_wanted(struct record_links *k, site_id s)
{
	const struct router *r = net_router(k->net, s);
	uint32_t n = net_in_use(k->net, s, k->used), i;

	for (i = 0; i < n; i++) {
		struct net_buffer b = r->ops->buffer(r, s, k->used[i]);
		port_mask ports = wanted_ports(k, &b), m;

		for (m = ports; m; m &= m - 1)
			k->wanted[record_link_at(
				k, s, (port_id)__builtin_ctzll(m))] +=
				(double)b.count / n_ports(ports);
	}
	add_injecting(k, s);
}

static uint64_t choose_every(const struct net *n)
{
	uint64_t all = 0;

	for (site_id s = sim_next_own(n->sim, 0); s < n->n_sites;
		s = sim_next_own(n->sim, s + 1)) {
		const struct router *r = net_router(n, s);

		all += r->ops->n_buffers(r, s);
	}
	sim_sum(n->sim, &all, 1);
	return all / LOOK_BUFFERS + 1;
}

uint16_t *record_links_wanted(struct record_links *k, int64_t n)
{
	if (!k->wanted_every)
		k->wanted_every = choose_every(k->net);
	if ((uint64_t)n % k->wanted_every)
		return NULL;
	memset(k->wanted, 0, k->links.n * sizeof(*k->wanted));
	for (site_id s = sim_next_own(k->net->sim, 0); s < k->net->n_sites;
		s = sim_next_own(k->net->sim, s + 1))
		add_wanted(k, s);
	for (size_t i = 0; i < k->links.n; i++) {
		k->past[i].wanted += k->wanted[i];
		k->wanted_now[i] = scaled(k->wanted[i], RECORD_WAITING_SCALE);
	}
	k->n_wanted++;
	return k->wanted_now;
}

int record_links_look(
	struct record_links *k, struct db *d, int64_t n, struct err *e)
{
	size_t many = k->n_names + 1;

	look(k);
	for (size_t i = 0; i < k->n_names * many; i++) {
		size_t wanted = i % many;
		struct row_blocked row = {
			.sample = n,
			.came_by = k->name[i / many],
			.wants = wanted < k->n_names ? k->name[wanted]
						     : "reception",
			.packets = (double)k->wants[i] / PARTS,
		};

		if (row.packets > 0)
			row_put_blocked(d, &row, e);
	}
	return e->code ? -1 : 0;
}

/* --- the whole run --- */

/* A link's counters at the last sample, of both ends.  Each is one process's,
 * and 0 in others until they share them. */
struct ends {
	uint64_t bytes, packets;
	sim_time free_at, waited;
	/* by channel */
	uint64_t sent[NET_MOST_CHANNELS], came[NET_MOST_CHANNELS];
	sim_time stayed[NET_MOST_CHANNELS];
	/* what routers do not count themselves; a guest's retries are on no
	 * channel of theirs */
	uint64_t token_wait[NET_MOST_CHANNELS], retries[NET_MOST_CHANNELS];
	uint64_t longest[N_LONGEST];
	double wanted;
	uint64_t at; /* the run's end */
};

static void add_rest(const struct record_links *k, size_t link, struct ends *x)
{
	const struct net_link *l = &k->links.link[link];

	if (!k->net->book && !k->net->resent)
		return;
	for (uint32_t c = 0; c < NET_MOST_CHANNELS; c++) {
		size_t at = net_channel_at(k->net, l->site, l->port, c);

		if (k->net->book)
			x->token_wait[c] = (uint64_t)k->net->token_waits[at];
		if (k->net->resent)
			x->retries[c] = k->net->resent[at];
	}
}

static void find_ends(struct record_links *k, size_t link, struct ends *x)
{
	const struct net_link *l = &k->links.link[link];
	const struct record_link_past *past = &k->past[link];
	struct record_channel *channel;
	uint32_t n;

	*x = (struct ends){
		.bytes = past->carried.bytes,
		.packets = past->carried.packets,
		.free_at = past->free_at,
		.waited = past->carried.waited,
		.wanted = past->wanted,
	};
	channel = channels_to(k, l->to.router, &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct record_past *c = &channel[i].past[link];

		x->sent[i] = c->sent;
		x->came[i] = c->came;
		x->stayed[i] = c->stayed;
	}
	if (sim_has(k->net->sim, l->site))
		add_rest(k, link, x);
	for (uint32_t i = 0; i < N_LONGEST; i++)
		x->longest[i] = k->longest[link * N_LONGEST + i];
}

/* A link, or one of its channels. */
static struct row_shared count_channel(const struct record_links *k, size_t i,
	const struct ends *x, uint32_t channel)
{
	const struct net_link *l = &k->links.link[i];
	bool is_all = channel == ALL_CHANNELS;
	uint64_t bytes = is_all ? x->bytes : x->sent[channel];
	sim_time end = (sim_time)x->at;
	sim_time busy = net_busy(k->net, l, bytes, x->free_at, end);
	sim_time waited = is_all ? x->waited : x->stayed[channel];
	double time = end > 0 ? (double)end : 1;
	struct row_shared row = {
		.link = (int64_t)i,
		.bytes = (int64_t)bytes,
		.packets = (int64_t)(is_all ? x->packets : x->came[channel]),
		.use = (double)busy / time,
		.waiting = (double)waited / time,
		.longest = (int64_t)x->longest[is_all ? 0 : 1 + channel],
		.token_wait_ps = k->net->book ? 0 : ROW_NULL,
	};

	if (!k->net->book && !k->net->resent)
		return row;
	for (uint32_t c = 0; c < NET_MOST_CHANNELS; c++)
		if (is_all || c == channel) {
			row.token_wait_ps +=
				k->net->book ? (int64_t)x->token_wait[c] : 0;
			row.retries += (int64_t)x->retries[c];
		}
	return row;
}

/* Those that carried anything, where several did: where one did, its row is
 * that of the link, and its name is returned. */
static const char *put_channels(struct record_links *k, struct bulk *b,
	size_t i, const struct ends *x, struct err *e)
{
	site_id to = k->links.link[i].to.router;
	const struct router_ops *far = net_router(k->net, to)->ops;
	const char *name = NULL;
	uint32_t n = 0;

	for (uint32_t c = 0; c < far->n_channels; c++)
		if (x->sent[c] || x->came[c]) {
			name = far->channels[c];
			n++;
		}
	for (uint32_t c = 0; n > 1 && c < far->n_channels; c++) {
		struct row_shared row = count_channel(k, i, x, c);

		row.name = far->channels[c];
		if (x->sent[c] || x->came[c])
			bulk_put(b, &row, e);
	}
	return n == 1 ? name : NULL;
}

/* Rows of links, and of channels that share one. */
struct rows {
	struct bulk *link, *shared;
};

static void put_link(struct record_links *k, const struct rows *r, size_t i,
	const struct ends *x, struct err *e)
{
	const struct net_link *l = &k->links.link[i];
	const struct topo_wire *w = &k->net->topo->wire[l->class];
	struct row_shared sum = count_channel(k, i, x, ALL_CHANNELS);
	struct row_link row = {
		.id = (int64_t)i,
		.site = l->site,
		.port = l->port,
		.name = k->name[k->name_of[i]],
		.to_site = l->to.router,
		.to_port = l->to.port,
		.wire = w->name,
		.latency_ps = w->latency,
		.rate_Bps = (int64_t)k->net->link.bps[l->class],
		.bytes = sum.bytes,
		.packets = sum.packets,
		.use = sum.use,
		.waiting = sum.waiting,
		.longest = sum.longest,
		.token_wait_ps = sum.token_wait_ps,
		.retries = sum.retries,
		.channel = put_channels(k, r->shared, i, x, e),
		.wanted = k->n_wanted ? x->wanted / (double)k->n_wanted : NAN,
	};

	bulk_put(r->link, &row, e);
}

void record_links_write(
	struct record_links *k, struct db *d, sim_time end, struct err *e)
{
	struct ends *x = mem_alloc(ENDS_AT_ONCE, sizeof(*x));
	struct rows r = {
		.link = bulk_new(d, TABLE_link, e),
		.shared = bulk_new(d, TABLE_shared, e),
	};
	size_t i, n;

	for (size_t first = 0; first < k->links.n; first += n) {
		n = k->links.n - first;
		n = n < ENDS_AT_ONCE ? n : ENDS_AT_ONCE;
		for (i = 0; i < n; i++)
			find_ends(k, first + i, &x[i]);
		sim_sum(k->net->sim, &x->bytes,
			n * sizeof(*x) / sizeof(x->bytes));
		for (i = 0; i < n; i++) {
			x[i].at = (uint64_t)end;
			put_link(k, &r, first + i, &x[i], e);
		}
	}
	bulk_end(r.link, e);
	bulk_end(r.shared, e);
	mem_free(x);
}
