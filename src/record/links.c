#include "record/links.h"

#include <string.h>

#include "base/mem.h"
#include "meas/digest.h"

enum {
	NAME_SIZE = 96,
	N_LONGEST = 1 + NET_MOST_CHANNELS,
	LOOK_SITES = 256, /* about so many are looked at, of more */
	LOOK_BUFFERS = 1 << 16, /* for each sample */
};

/* --- which there are --- */

static uint32_t find_name(struct record_links *k, const char *name)
{
	uint32_t i = 0;

	while (i < k->n_names && strcmp(k->name[i], name) != 0)
		i++;
	if (i == k->n_names) {
		k->name = mem_grow(k->name, i + 1, sizeof(*k->name));
		k->name[k->n_names++] = mem_text(name);
	}
	return i;
}

static struct record_loads new_loads(const struct net *n, size_t most)
{
	return (struct record_loads){
		.use = mem_alloc(most, sizeof(uint16_t)),
		.waiting = mem_alloc(most, sizeof(uint16_t)),
		.tokens = n->book ? mem_alloc(most, sizeof(uint16_t)) : NULL,
		.retries = n->retry ? mem_alloc(most, sizeof(uint16_t)) : NULL,
	};
}

static void free_loads(struct record_loads *l)
{
	mem_free(l->use);
	mem_free(l->waiting);
	mem_free(l->tokens);
	mem_free(l->retries);
}

static void add_channel(
	struct record_links *k, uint32_t kind, uint32_t c, size_t most)
{
	struct record_channel *x = &k->channel[k->n_channels++];

	*x = (struct record_channel){
		.name = k->net->router[kind]->ops->channels[c],
		.kind = kind,
		.number = c,
		.sent = mem_alloc(most, sizeof(*x->sent)),
		.stayed = mem_alloc(most, sizeof(*x->stayed)),
		.token_wait = mem_alloc(most, sizeof(*x->token_wait)),
		.resent = mem_alloc(most, sizeof(*x->resent)),
		.now = new_loads(k->net, most),
	};
}

static void find_channels(struct record_links *k, size_t most)
{
	const struct net *n = k->net;
	uint32_t kind, c;

	for (kind = 0; kind < NET_KINDS; kind++) {
		bool is_there = kind == NET_NODES || n->n_sites > n->n_nodes;
		uint32_t many = is_there ? n->router[kind]->ops->n_channels : 0;

		for (c = 0; c < many; c++)
			add_channel(k, kind, c, most);
	}
}

void record_links_init(struct record_links *k, const struct net *n)
{
	size_t i, most;

	*k = (struct record_links){ .net = n };
	net_links_init(&k->links, n);
	most = k->links.n + 1;
	k->at = mem_alloc((size_t)n->n_sites * n->n_ports, sizeof(*k->at));
	k->name_of = mem_alloc(most, sizeof(*k->name_of));
	for (i = 0; i < k->links.n; i++) {
		const struct net_link *l = &k->links.link[i];
		char name[NAME_SIZE];

		n->topo->ops->name_port(
			n->topo, l->site, l->port, name, sizeof(name));
		k->at[(size_t)l->site * n->n_ports + l->port] = (uint32_t)i;
		k->name_of[i] = find_name(k, name);
	}
	k->ps_per_byte = mem_alloc(n->topo->n_wires, sizeof(*k->ps_per_byte));
	for (i = 0; i < n->topo->n_wires; i++)
		k->ps_per_byte[i] = 1e12 / (double)n->link.bps[i];
	k->carried = mem_alloc(most, sizeof(*k->carried));
	k->longest = mem_alloc(most * N_LONGEST, sizeof(*k->longest));
	k->now = new_loads(n, most);
	k->resent = mem_alloc(most, sizeof(*k->resent));
	find_channels(k, most);
	k->wanted = mem_alloc(most, sizeof(*k->wanted));
	k->wanted_sum = mem_alloc(most, sizeof(*k->wanted_sum));
	k->wanted_now = mem_alloc(most, sizeof(*k->wanted_now));
	k->wants = mem_alloc(
		(size_t)k->n_names * (k->n_names + 1) + 1, sizeof(*k->wants));
}

void record_links_fini(struct record_links *k)
{
	uint32_t i;

	for (i = 0; i < k->n_names; i++)
		mem_free(k->name[i]);
	net_links_fini(&k->links);
	mem_free(k->name);
	mem_free(k->at);
	mem_free(k->name_of);
	mem_free(k->ps_per_byte);
	mem_free(k->carried);
	mem_free(k->longest);
	free_loads(&k->now);
	mem_free(k->resent);
	while (k->n_channels) {
		struct record_channel *x = &k->channel[--k->n_channels];

		mem_free(x->sent);
		mem_free(x->stayed);
		mem_free(x->token_wait);
		mem_free(x->resent);
		free_loads(&x->now);
	}
	mem_free(k->wants);
	mem_free(k->wanted);
	mem_free(k->wanted_sum);
	mem_free(k->wanted_now);
}

/* --- samples --- */

static uint16_t scaled(double value, double scale)
{
	double x = value * scale + 0.5;

	return x < 0 ? 0 : x > UINT16_MAX ? UINT16_MAX : (uint16_t)x;
}

static void note_longest(
	struct record_links *k, size_t link, const struct net_counters *c)
{
	uint32_t *longest = &k->longest[link * N_LONGEST], i, sum = 0;

	for (i = 0; i < c->n_channels; i++) {
		sum += c->waiting[i];
		if (c->waiting[i] > longest[1 + i])
			longest[1 + i] = c->waiting[i];
	}
	if (sum > longest[0])
		longest[0] = sum;
}

/* As net_busy(), quickly; a sample does not say it more exactly than that. */
static sim_time busy_until(const struct record_links *k,
	const struct net_link *l, const struct net_counters *c, sim_time now)
{
	sim_time busy =
		(sim_time)((double)c->sent_bytes * k->ps_per_byte[l->class]);

	return c->free_at > now ? busy - (c->free_at - now) : busy;
}

/* Whether a link leads to routers that have the channel. */
static bool leads_to(
	const struct record_channel *x, const struct net *n, size_t to)
{
	return x->kind == (to >= n->n_nodes);
}

/* A port sends by channels of the router at its far end, and packets stay in
 * channels of its own, which the link in the other direction leads to. */
static void sample_channel(struct record_links *k, struct record_channel *x,
	size_t i, const struct net_counters *c, double span)
{
	const struct net_link *l = &k->links.link[i];
	uint32_t at = x->number;
	double ps;

	if (!c->sent[at] && !c->stayed[at])
		return; /* as before */
	if (leads_to(x, k->net, l->to.router)) {
		ps = (double)(c->sent[at] - x->sent[i]) *
		     k->ps_per_byte[l->class];
		x->now.use[i] = scaled(ps / span, RECORD_USE_SCALE);
		x->is_used |= c->sent[at] != x->sent[i];
		x->sent[i] = c->sent[at];
	}
	if (leads_to(x, k->net, l->site)) {
		ps = (double)(c->stayed[at] - x->stayed[l->back]);
		x->now.waiting[l->back] =
			scaled(ps / span, RECORD_WAITING_SCALE);
		x->stayed[l->back] = c->stayed[at];
	}
}

/* Of all channels, and of the link. */
static void sample_tokens(struct record_links *k, size_t i, double span)
{
	const struct net_link *l = &k->links.link[i];
	sim_time sum = 0;
	uint32_t n;

	for (n = 0; n < k->n_channels; n++) {
		struct record_channel *x = &k->channel[n];
		sim_time now = k->net->token_waits[net_channel_at(
			k->net, l->site, l->port, x->number)];

		if (!leads_to(x, k->net, l->to.router))
			continue;
		x->now.tokens[i] =
			scaled((double)(now - x->token_wait[i]) / span,
				RECORD_TOKENS_SCALE);
		sum += now - x->token_wait[i];
		x->token_wait[i] = now;
	}
	k->now.tokens[i] = scaled((double)sum / span, RECORD_TOKENS_SCALE);
}

static void sample_retries(struct record_links *k, size_t i)
{
	const struct net_link *l = &k->links.link[i];
	const uint64_t *now =
		&k->net->resent[net_channel_at(k->net, l->site, l->port, 0)];
	uint64_t sum = 0;
	uint32_t n;

	for (n = 0; n < k->n_channels; n++) {
		struct record_channel *x = &k->channel[n];

		if (!leads_to(x, k->net, l->to.router))
			continue;
		x->now.retries[i] =
			scaled((double)(now[x->number] - x->resent[i]), 1);
		x->resent[i] = now[x->number];
	}
	/* also a guest's, which are on none of these */
	for (n = 0; n < NET_MOST_CHANNELS; n++)
		sum += now[n];
	k->now.retries[i] = scaled((double)(sum - k->resent[i]), 1);
	k->resent[i] = sum;
}

/* A port's counters are of the link that leaves by it, and of the packets that
 * came in by the other one.  Returns how many of these did. */
static uint64_t sample_port(
	struct record_links *k, size_t i, double span, sim_time now)
{
	const struct net_link *l = &k->links.link[i];
	struct net_carried *out = &k->carried[i], *in = &k->carried[l->back];
	struct net_counters c;
	sim_time busy;
	uint64_t came;
	uint32_t n;

	net_count(k->net, l->site, l->port, UINT32_MAX, now, &c);
	busy = busy_until(k, l, &c, now);
	came = c.packets - in->packets;
	note_longest(k, l->back, &c);
	for (n = 0; n < k->n_channels; n++)
		sample_channel(k, &k->channel[n], i, &c, span);
	if (k->net->book)
		sample_tokens(k, i, span);
	if (k->net->retry)
		sample_retries(k, i);
	k->now.use[i] =
		scaled((double)(busy - out->busy) / span, RECORD_USE_SCALE);
	k->now.waiting[l->back] = scaled(
		(double)(c.waited - in->waited) / span, RECORD_WAITING_SCALE);
	out->busy = busy;
	in->waited = c.waited;
	in->packets = c.packets;
	return came;
}

uint64_t record_links_sample(
	struct record_links *k, sim_time from, sim_time now)
{
	uint64_t hops = 0;
	size_t i;

	for (i = 0; i < k->n_channels; i++)
		k->channel[i].is_used = false;
	for (i = 0; i < k->links.n; i++)
		hops += sample_port(k, i, (double)(now - from), now);
	return hops;
}

static int put_channel(struct record_links *k, struct db_query *q,
	const struct record_channel *x, int64_t n, struct err *e)
{
	size_t bytes = k->links.n * sizeof(uint16_t);

	db_bind_int(q, 1, n);
	db_bind_text(q, 2, x->name);
	db_bind_text(q, 3, x->kind == NET_NODES ? "nodes" : "switches");
	db_bind_bytes(q, 4, x->now.use, bytes);
	db_bind_bytes(q, 5, x->now.waiting, bytes);
	if (x->now.tokens)
		db_bind_bytes(q, 6, x->now.tokens, bytes);
	if (x->now.retries)
		db_bind_bytes(q, 7, x->now.retries, bytes);
	return db_run(q, e);
}

const char *record_links_only(const struct record_links *k)
{
	const char *name = NULL;
	uint32_t i;

	for (i = 0; i < k->n_channels; i++) {
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
	struct db_query *q;
	int failed;
	uint32_t i;

	if (record_links_only(k))
		return 0;
	q = db_prepare(
		d, "INSERT INTO shared_sample VALUES(?, ?, ?, ?, ?, ?, ?)", e);
	failed = !q;
	for (i = 0; i < k->n_channels && !failed; i++)
		if (k->channel[i].is_used)
			failed = put_channel(k, q, &k->channel[i], n, e);
	db_finish(q);
	return failed ? -1 : 0;
}

/* --- what is waited for --- */

uint32_t record_link_at(const struct record_links *k, site_id s, port_id p)
{
	return k->at[(size_t)s * k->net->n_ports + p];
}

/* That a buffer's first packet may take; none where it is to be received. */
static port_mask wanted_ports(
	const struct record_links *k, const struct net_buffer *b)
{
	const struct packet *p = &k->net->packets[b->head];
	const struct router *r = net_router(k->net, b->site);
	struct net_way way[NET_MOST_WAYS];
	port_mask ports = 0;
	uint32_t n;

	if (p->escape == PACKET_NO_PORT)
		return 0;
	for (n = r->ops->ways(r, b, p, way); n--;)
		ports |= (port_mask)1 << way[n].port;
	return ports;
}

/* A packet, which stands for some, waits for one of its ways: each has an equal
 * part of it. */
static void add_head(
	struct record_links *k, const struct net_buffer *b, double one)
{
	size_t in = k->links.link[record_link_at(k, b->site, b->port)].back;
	double *row = &k->wants[(size_t)k->name_of[in] * (k->n_names + 1)];
	port_mask ports = wanted_ports(k, b), m;

	if (!ports)
		row[k->n_names] += one;
	for (m = ports; m; m &= m - 1)
		row[k->name_of[record_link_at(
			k, b->site, (port_id)__builtin_ctzll(m))]] +=
			one / __builtin_popcountll(ports);
}

static void look(struct record_links *k)
{
	const struct net *n = k->net;
	bool is_all = n->n_sites <= LOOK_SITES;
	double one = is_all ? 1 : (double)n->n_sites / LOOK_SITES;
	uint64_t some = UINT64_MAX / n->n_sites * LOOK_SITES;
	site_id s;
	uint32_t i;

	memset(k->wants, 0,
		(size_t)k->n_names * (k->n_names + 1) * sizeof(*k->wants));
	for (s = 0; s < n->n_sites; s++) {
		const struct router *r = net_router(n, s);
		uint32_t n_buffers = r->ops->n_buffers(r, s);

		if (!is_all && digest_mix(s) > some)
			continue;

		for (i = 0; i < n_buffers; i++) {
			struct net_buffer b = r->ops->buffer(r, s, i);

			if (b.count)
				add_head(k, &b, one);
		}
	}
}

static void add_injecting(struct record_links *k, site_id s)
{
	const struct router *r = net_router(k->net, s);
	double waiting[TOPO_MAX_PORTS] = { 0 };
	uint32_t p;

	if (!r->ops->injecting)
		return;
	r->ops->injecting(r, s, waiting);
	for (p = 0; p < r->sites.n_ports; p++)
		if (waiting[p] > 0)
			k->wanted[record_link_at(k, s, p)] += waiting[p];
}

static void add_wanted(struct record_links *k, site_id s)
{
	const struct router *r = net_router(k->net, s);
	uint32_t n = r->ops->n_buffers(r, s), i;

	for (i = 0; i < n; i++) {
		struct net_buffer b = r->ops->buffer(r, s, i);
		port_mask ports = b.count ? wanted_ports(k, &b) : 0, m;

		for (m = ports; m; m &= m - 1)
			k->wanted[record_link_at(
				k, s, (port_id)__builtin_ctzll(m))] +=
				(double)b.count / __builtin_popcountll(ports);
	}
	add_injecting(k, s);
}

static uint64_t choose_every(const struct net *n)
{
	uint64_t all = 0;
	site_id s;

	for (s = 0; s < n->n_sites; s++) {
		const struct router *r = net_router(n, s);

		all += r->ops->n_buffers(r, s);
	}
	return all / LOOK_BUFFERS + 1;
}

const uint16_t *record_links_wanted(struct record_links *k, int64_t n)
{
	site_id s;
	size_t i;

	if (!k->wanted_every)
		k->wanted_every = choose_every(k->net);
	if ((uint64_t)n % k->wanted_every)
		return NULL;
	memset(k->wanted, 0, k->links.n * sizeof(*k->wanted));
	for (s = 0; s < k->net->n_sites; s++)
		add_wanted(k, s);
	for (i = 0; i < k->links.n; i++) {
		k->wanted_sum[i] += k->wanted[i];
		k->wanted_now[i] = scaled(k->wanted[i], RECORD_WAITING_SCALE);
	}
	k->n_wanted++;
	return k->wanted_now;
}

int record_links_look(
	struct record_links *k, struct db *d, int64_t n, struct err *e)
{
	struct db_query *q =
		db_prepare(d, "INSERT INTO blocked VALUES(?, ?, ?, ?)", e);
	size_t i, many = k->n_names + 1;
	int failed = !q;

	look(k);
	for (i = 0; i < k->n_names * many && !failed; i++) {
		size_t wanted = i % many;

		if (k->wants[i] <= 0)
			continue;
		db_bind_int(q, 1, n);
		db_bind_text(q, 2, k->name[i / many]);
		db_bind_text(q, 3,
			wanted < k->n_names ? k->name[wanted] : "reception");
		db_bind_real(q, 4, k->wants[i]);
		failed = db_run(q, e);
	}
	db_finish(q);
	return failed ? -1 : 0;
}

/* --- the whole run --- */

/* A link, or one of its channels. */
struct row {
	uint64_t bytes, packets, retries;
	sim_time busy, waited, tokens;
	uint32_t longest;
};

static void bind_row(const struct record_links *k, struct db_query *q, int at,
	const struct row *x, sim_time end)
{
	double time = end > 0 ? (double)end : 1;

	db_bind_int(q, at, (int64_t)x->bytes);
	db_bind_int(q, at + 1, (int64_t)x->packets);
	db_bind_real(q, at + 2, (double)x->busy / time);
	db_bind_real(q, at + 3, (double)x->waited / time);
	db_bind_int(q, at + 4, x->longest);
	if (k->net->book)
		db_bind_int(q, at + 5, x->tokens);
	db_bind_int(q, at + 6, (int64_t)x->retries);
}

/* What routers do not count themselves; a guest's retries are on no channel of
 * theirs. */
static void add_rest(const struct record_links *k, const struct net_link *l,
	uint32_t channel, struct row *x)
{
	size_t at = net_channel_at(k->net, l->site, l->port, channel);

	x->tokens += k->net->book ? k->net->token_waits[at] : 0;
	x->retries += k->net->retry ? k->net->resent[at] : 0;
}

/* A link's channels that carried anything, and what they are together. */
struct rows {
	struct row of[NET_MOST_CHANNELS], sum;
	uint32_t channel[NET_MOST_CHANNELS], n;
};

static void find_rows(
	const struct record_links *k, size_t i, sim_time end, struct rows *x)
{
	const struct net_link *l = &k->links.link[i];
	const struct net_counters own =
		net_counters(k->net, l->site, l->port, UINT32_MAX, end);
	const struct net_counters far =
		net_counters(k->net, l->to.router, l->to.port, UINT32_MAX, end);
	uint32_t n = net_router(k->net, l->to.router)->ops->n_channels, c;

	x->sum = (struct row){
		.bytes = own.sent_bytes,
		.packets = far.packets,
		.busy = net_busy(k->net, l, own.sent_bytes, own.free_at, end),
		.waited = far.waited,
		.longest = k->longest[i * N_LONGEST],
	};
	for (c = 0; c < NET_MOST_CHANNELS; c++)
		add_rest(k, l, c, &x->sum);
	for (x->n = c = 0; c < n; c++) {
		if (!own.sent[c] && !far.came[c])
			continue;
		x->of[x->n] = (struct row){
			.bytes = own.sent[c],
			.packets = far.came[c],
			.busy = net_busy(
				k->net, l, own.sent[c], own.free_at, end),
			.waited = far.stayed[c],
			.longest = k->longest[i * N_LONGEST + 1 + c],
		};
		add_rest(k, l, c, &x->of[x->n]);
		x->channel[x->n++] = c;
	}
}

/* Where there is but one, its row is that of the link. */
static int put_channels(struct record_links *k, struct db_query *q, size_t i,
	const struct rows *x, sim_time end, struct err *e)
{
	const struct net_link *l = &k->links.link[i];
	const struct router_ops *far = net_router(k->net, l->to.router)->ops;
	uint32_t c;

	for (c = 0; x->n > 1 && c < x->n; c++) {
		db_bind_int(q, 1, (int64_t)i);
		db_bind_text(q, 2, far->channels[x->channel[c]]);
		bind_row(k, q, 3, &x->of[c], end);
		if (db_run(q, e))
			return -1;
	}
	return 0;
}

static int put_link(struct record_links *k, struct db_query *q, size_t i,
	const struct rows *x, sim_time end, struct err *e)
{
	const struct net *n = k->net;
	const struct net_link *l = &k->links.link[i];
	const struct topo_wire *w = &n->topo->wire[l->class];

	db_bind_int(q, 1, (int64_t)i);
	db_bind_int(q, 2, l->site);
	db_bind_int(q, 3, l->port);
	db_bind_text(q, 4, k->name[k->name_of[i]]);
	db_bind_int(q, 5, l->to.router);
	db_bind_int(q, 6, l->to.port);
	db_bind_text(q, 7, w->name);
	db_bind_int(q, 8, w->latency);
	db_bind_int(q, 9, (int64_t)n->link.bps[l->class]);
	bind_row(k, q, 10, &x->sum, end);
	db_bind_text(q, 17,
		x->n == 1 ? net_router(n, l->to.router)
				    ->ops->channels[x->channel[0]]
			  : NULL);
	if (k->n_wanted)
		db_bind_real(q, 18, k->wanted_sum[i] / (double)k->n_wanted);
	return db_run(q, e);
}

int record_links_write(
	struct record_links *k, struct db *d, sim_time end, struct err *e)
{
	struct db_query *channel = NULL,
			*link = db_prepare(d,
				"INSERT INTO link VALUES(?, ?, ?, ?, ?, ?, ?,"
				" ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
				e);
	struct rows x;
	int failed;
	size_t i;

	if (link)
		channel = db_prepare(d,
			"INSERT INTO shared VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
			e);
	failed = !channel;
	for (i = 0; i < k->links.n && !failed; i++) {
		find_rows(k, i, end, &x);
		failed = put_channels(k, channel, i, &x, end, e) ||
			 put_link(k, link, i, &x, end, e);
	}
	db_finish(link);
	db_finish(channel);
	return failed ? -1 : 0;
}
