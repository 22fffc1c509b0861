/*
 * Deadlock, found in a running network.  A packet can go if those before it
 * in its queue can, and one of the ways that it may take has room for it or
 * will have: what is free in the buffer at the other end, what is on its way
 * to or from there, and what packets hold there that can go themselves.  So
 * the search lets packets go, in thought, one after the other, until no more
 * can; those that are left wait only for each other.
 *
 * Whatever could move is taken to move, so a network that is merely slow is
 * never called locked.  What a node's client keeps until another packet can
 * leave the node goes when that can.  Packets in flight count as room, for
 * nobody knows yet what they will wait for; once they have arrived the next
 * search sees them.
 *
 * First a quick look: only receivers whose senders lack tokens can be part of a
 * knot, and of these only those that lack room, too, once what is on its way
 * counts as such.  If these alone, in thought, get room again, nothing is
 * locked, and no other packet is looked at.
 */
#include "net/net.h"

#include <stdio.h>

#include "base/mem.h"
#include "net/hops.h"
#include "net/shares.h"

enum { LINE = 320 };

struct knot {
	struct net *n;
	uint32_t n_channels; /* the most that a router has */
	int32_t *room; /* [receiver] chunks that are or will be free */
	uint16_t *gone; /* [buffer] packets that can go, from its head on */
	uint32_t per_site[NET_KINDS]; /* buffers */
	site_id *todo; /* sites where something may have come free */
	uint8_t *is_todo; /* [site] */
	uint8_t *is_open; /* [receiver] what a client keeps there can go */
	/* Of the quick look, else NULL: [receiver] it may have too little
	 * room; all others have enough. */
	uint8_t *is_full;
	size_t *full; /* these, and those that were */
	size_t n_full, n_suspects;
	site_id n_todo;
	uint32_t *list; /* of buffers of a site */
	size_t n_receivers, n_buffers;
};

/* Where a packet waits. */
struct place {
	site_id site;
	uint32_t i; /* a buffer of the site */
};

static const struct router *router_at(const struct knot *k, struct place at)
{
	return net_router(k->n, at.site);
}

static site_id next_own(const struct knot *k, site_id s)
{
	return sim_next_own(k->n->sim, s);
}

static struct net_buffer buffer_at(const struct knot *k, struct place at)
{
	const struct router *r = router_at(k, at);

	return r->ops->buffer(r, at.site, at.i);
}

static uint32_t n_buffers_of(const struct knot *k, site_id s)
{
	return k->per_site[s < k->n->n_nodes ? NET_NODES : NET_SWITCHES];
}

/* A channel of a port's receiver: all its buffers share its room. */
static size_t receiver(
	const struct knot *k, site_id s, uint32_t port, uint32_t channel)
{
	return (size_t)net_link_at(k->n, s, port) * k->n_channels + channel;
}

static size_t receiver_of(const struct knot *k, struct place at)
{
	struct net_buffer b = buffer_at(k, at);

	return receiver(k, at.site, b.port, b.channel);
}

static uint16_t *gone_at(const struct knot *k, struct place at)
{
	site_id nodes = k->n->n_nodes, s = at.site;
	size_t i = s < nodes ? (size_t)s * k->per_site[NET_NODES]
			     : (size_t)nodes * k->per_site[NET_NODES] +
				       (size_t)(s - nodes) *
					       k->per_site[NET_SWITCHES];

	return &k->gone[i + at.i];
}

/* The first packet of a buffer that is not known to go, or NULL. */
static const struct packet *first_left(const struct knot *k, struct place at)
{
	struct net_buffer b = buffer_at(k, at);
	uint32_t i = *gone_at(k, at);
	packet_id id = b.head;

	if (i == b.count)
		return NULL;
	for (; i; i--)
		id = k->n->packets[id].next;
	return &k->n->packets[id];
}

/* --- who can go --- */

/* Of the buffers of one receiver's channel, the first. */
static struct place first_of(const struct knot *k, struct place at)
{
	size_t receiver = receiver_of(k, at);

	while (at.i &&
		receiver_of(k, (struct place){ at.site, at.i - 1 }) == receiver)
		at.i--;
	return at;
}

/* Something older in this buffer wants the same way, and is not known to go. */
static bool holds_elder(
	const struct knot *k, struct place at, const struct packet *p)
{
	uint32_t left = buffer_at(k, at).count - *gone_at(k, at);
	const struct packet *o = first_left(k, at);

	for (; left; left--, o = &k->n->packets[o->next])
		if (o->kind != PACKET_DYNAMIC && o->head < p->head &&
			(o->escape == p->escape ||
				(o->flags | p->flags) & PACKET_RANGE))
			return true;
	return false;
}

/* First come, first served: an older one in another buffer of the same
 * receiver's channel. */
static bool has_elder(
	const struct knot *k, struct place at, const struct packet *p)
{
	size_t receiver = receiver_of(k, at);
	uint32_t own = at.i, n = n_buffers_of(k, at.site);

	if (p->kind == PACKET_DYNAMIC)
		return false;
	for (at = first_of(k, at); at.i < n && receiver_of(k, at) == receiver;
		at.i++)
		if (at.i != own && holds_elder(k, at, p))
			return true;
	return false;
}

/* The ways open to a packet that has not arrived. */
static uint32_t list_ways(const struct knot *k, struct place at,
	const struct packet *p, struct net_way *way)
{
	const struct router *r = router_at(k, at);
	struct net_buffer b = buffer_at(k, at);

	return r->ops->ways(r, &b, p, way);
}

/* The receiver that a port sends to. */
static size_t receiver_after(
	const struct knot *k, struct place at, const struct net_way *w)
{
	const struct topo *t = k->n->topo;
	struct topo_end to = t->ops->peer(t, at.site, w->port);

	return receiver(k, to.router, to.port, w->channel);
}

/*
 * Room of a channel where channels share a part of it: what others have taken
 * of that part is no room.  A channel has taken what it lacks of it.
 */
static int32_t pool_room(
	const struct knot *k, struct topo_end to, uint32_t channel)
{
	const struct router *r = net_router(k->n, to.router);
	const int32_t *room = &k->room[receiver(k, to.router, to.port, 0)];
	int32_t pool = r->ops->shared(r, to.port), left = pool;

	for (uint32_t c = 0; c < r->ops->n_channels; c++)
		left -= link_shared(room[c], pool);
	return left + (room[channel] > pool ? room[channel] - pool : 0);
}

static bool has_room(
	const struct knot *k, struct place at, const struct net_way *w)
{
	const struct topo *t = k->n->topo;
	struct topo_end to = t->ops->peer(t, at.site, w->port);
	const struct router *far = net_router(k->n, to.router);
	size_t i = receiver(k, to.router, to.port, w->channel);

	if (k->is_full && !k->is_full[i])
		return true;
	if (far->ops->shared)
		return pool_room(k, to, w->channel) >= w->need;
	return k->room[i] >= w->need;
}

/* A broadcast goes when all its ways have room, else one will do. */
static bool can_go(
	const struct knot *k, struct place at, const struct packet *p)
{
	struct net_way way[NET_MOST_WAYS];
	bool needs_all = p->flags & (PACKET_RANGE | PACKET_MANY);

	if (has_elder(k, at, p))
		return false;
	if (net_is_there(p))
		return true;
	for (uint32_t i = list_ways(k, at, p, way); i--;)
		if (has_room(k, at, &way[i]) != needs_all)
			return !needs_all;
	return needs_all;
}

static void look_at(struct knot *k, site_id s)
{
	if (k->is_todo[s] || !sim_has(k->n->sim, s))
		return;
	k->is_todo[s] = 1;
	k->todo[k->n_todo++] = s;
}

/* When a packet of a buffer goes, the room of the first one that still has
 * some: packets inside of a router have none, and others follow them. */
static int32_t freed_by(const struct knot *k, const struct router *r,
	const struct net_buffer *b, uint32_t nth, const struct packet *p)
{
	if (nth + b->n_inside >= b->count)
		return 0;
	for (uint32_t i = 0; i < b->n_inside; i++)
		p = &k->n->packets[p->next];
	return r->ops->charge(r, p, b->channel);
}

/* Lets go what can; whoever sends to this site may get room by it. */
static bool let_go(struct knot *k, struct place at)
{
	const struct router *r = router_at(k, at);
	const struct topo *t = k->n->topo;
	struct net_buffer b = buffer_at(k, at);
	const struct packet *p;
	bool any = false;

	if (*gone_at(k, at) == b.count)
		return false;
	while ((p = first_left(k, at)) && can_go(k, at, p)) {
		k->room[receiver_of(k, at)] +=
			freed_by(k, r, &b, *gone_at(k, at), p);
		++*gone_at(k, at);
		look_at(k, t->ops->peer(t, at.site, b.port).router);
		any = true;
	}
	return any;
}

/* --- what clients keep --- */

/* The receiver of what a node sends by its only port. */
static size_t receiver_of_node(const struct knot *k, site_id s, uint32_t by)
{
	return receiver_after(k, (struct place){ .site = s },
		&(struct net_way){ .channel = by });
}

static void keep_all(struct knot *k, site_id s)
{
	uint32_t by;

	for (uint32_t c = 0; c < k->n_channels; c++) {
		uint32_t n = net_kept(k->n, s, c, &by);

		k->room[receiver(k, s, 0, c)] -= (int32_t)n * k->n->full;
		if (n)
			look_at(k, s);
	}
}

static void open_node(struct knot *k, site_id s)
{
	const struct topo *t = k->n->topo;
	uint32_t by;

	for (uint32_t c = 0; c < k->n_channels; c++) {
		size_t to = receiver(k, s, 0, c);
		uint32_t n = net_kept(k->n, s, c, &by);

		if (!n || k->is_open[to] ||
			k->room[receiver_of_node(k, s, by)] < k->n->full)
			continue;
		k->is_open[to] = 1;
		k->room[to] += (int32_t)n * k->n->full;
		look_at(k, t->ops->peer(t, s, 0).router);
	}
}

static void search_site(struct knot *k, site_id s)
{
	uint32_t n = net_in_use(k->n, s, k->list);
	bool again;

	do { /* one buffer may hold up another */
		again = false;
		for (uint32_t i = 0; i < n; i++)
			again |= let_go(k, (struct place){ s, k->list[i] });
	} while (again);
	open_node(k, s);
}

/* Charges what is in a buffer to its receiver. */
static void take_room(struct knot *k, struct place at)
{
	const struct router *r = router_at(k, at);
	struct net_buffer b = buffer_at(k, at);
	packet_id id = b.head;

	for (uint32_t i = 0; i < b.count; i++, id = k->n->packets[id].next)
		if (i >= b.n_inside)
			k->room[receiver_of(k, at)] -= r->ops->charge(
				r, &k->n->packets[id], b.channel);
}

static void take_all(struct knot *k)
{
	for (uint32_t i = 0; i < k->n->links.n; i++) {
		struct topo_end to = topo_link_end(&k->n->links, i);
		const struct router *r = net_router(k->n, to.router);

		if (!sim_has(k->n->sim, to.router))
			continue;
		for (uint32_t c = 0; c < r->ops->n_channels; c++)
			k->room[(size_t)i * k->n_channels + c] =
				r->ops->capacity(r, to.port, c);
	}
	for (site_id s = next_own(k, 0); s < k->n->n_sites;
		s = next_own(k, s + 1)) {
		uint32_t n = net_in_use(k->n, s, k->list);

		for (uint32_t i = 0; i < n; i++)
			take_room(k, (struct place){ s, k->list[i] });
		if (n)
			look_at(k, s);
		keep_all(k, s);
	}
}

static void look_at_sender(void *arg, site_id s)
{
	look_at(arg, s);
}

/* Processes tell each other of the room that they have found; whether any has
 * to look again. */
static bool is_more(struct knot *k)
{
	uint64_t more;

	net_ask_cuts(k->n, k->room, k->n_channels, look_at_sender, k);
	more = k->n_todo;
	sim_max(k->n->sim, &more, 1);
	return more;
}

static void search(struct knot *k)
{
	take_all(k);
	do {
		while (k->n_todo) {
			site_id s = k->todo[--k->n_todo];

			k->is_todo[s] = 0;
			search_site(k, s);
		}
	} while (is_more(k));
}

/* --- the quick look --- */

/* More than anybody needs. */
static int32_t enough(const struct knot *k)
{
	return 2 * k->n->full;
}

static void suspect(struct knot *k, struct topo_end to, uint32_t channel)
{
	const struct router *r = net_router(k->n, to.router);
	size_t i = receiver(k, to.router, to.port, channel);

	if (to.router == NO_ROUTER || k->is_full[i])
		return;
	k->is_full[i] = 1;
	k->n_full++;
	k->full = mem_more(k->full, k->n_suspects, sizeof(*k->full));
	k->full[k->n_suspects++] = i;
	k->room[i] = r->ops->capacity(r, to.port, channel);
	look_at(k, to.router);
}

/* It is not, if it has enough room. */
static void acquit(struct knot *k, size_t receiver)
{
	if (!k->is_full[receiver] || k->room[receiver] < enough(k))
		return;
	k->is_full[receiver] = 0;
	k->n_full--;
}

/* Tokens of all channels are quickly seen, wires are not. */
static void suspect_from(struct knot *k, site_id s, port_mask ports)
{
	const struct router *r = net_router(k->n, s);
	const struct topo *t = k->n->topo;

	for (port_id p = 0; ports && p < r->sites.n_ports; p++, ports >>= 1) {
		int32_t tokens[NET_MOST_CHANNELS];

		if (!(ports & 1))
			continue;
		if (!r->ops->all_tokens &&
			t->ops->peer(t, s, p).router == NO_ROUTER)
			continue;
		net_tokens(r, s, p, r->ops->n_channels, tokens);
		for (uint32_t c = 0; c < r->ops->n_channels; c++)
			if (tokens[c] < enough(k))
				suspect(k, t->ops->peer(t, s, p), c);
	}
}

/* What a node's client keeps is not known to go. */
static void suspect_kept(
	struct knot *k, site_id s, uint32_t channel, uint32_t n)
{
	suspect(k, (struct topo_end){ .router = s }, channel);
	k->room[receiver(k, s, 0, channel)] -= (int32_t)n * k->n->full;
}

static void suspect_node(struct knot *k, site_id s)
{
	uint32_t by;

	for (uint32_t c = 0; c < k->n_channels; c++) {
		uint32_t n = net_kept(k->n, s, c, &by);

		if (n)
			suspect_kept(k, s, c, n);
	}
}

/* Charges what is in the buffers of those at a site. */
static void take_of(struct knot *k, site_id s)
{
	uint32_t n = net_in_use(k->n, s, k->list);

	for (uint32_t i = 0; i < n; i++) {
		struct place at = { s, k->list[i] };

		if (k->is_full[receiver_of(k, at)])
			take_room(k, at);
	}
}

/* Lets go what can, until the receivers have enough room. */
static void relieve(struct knot *k, site_id s)
{
	uint32_t n = net_in_use(k->n, s, k->list);

	for (uint32_t i = 0; i < n; i++) {
		struct place at = { s, k->list[i] };
		size_t to = receiver_of(k, at);

		if (k->is_full[to] && let_go(k, at))
			acquit(k, to);
	}
}

/* Whether nothing is locked; false: it may be. */
static bool is_free(struct knot *k)
{
	k->is_full = map_alloc(k->n_receivers);
	for (site_id s = 0; s < k->n->n_sites; s++) {
		const struct router *r = net_router(k->n, s);

		suspect_from(k, s, r->ops->short_ports(r, s));
	}
	for (site_id s = 0; s < k->n->n_nodes; s++)
		suspect_node(k, s);
	for (site_id i = 0; i < k->n_todo; i++)
		take_of(k, k->todo[i]);
	for (size_t i = 0; i < k->n_suspects; i++)
		acquit(k, k->full[i]);
	while (k->n_full && k->n_todo) {
		site_id s = k->todo[--k->n_todo];

		k->is_todo[s] = 0;
		relieve(k, s);
	}
	map_free(k->is_full, k->n_receivers);
	mem_free(k->full);
	k->is_full = NULL;
	return !k->n_full;
}

/* --- what is told of those that are left --- */

/* All processes follow the cycle; the one that has a site says what is there.
 */
static uint64_t count_left(const struct knot *k, struct place *first)
{
	uint64_t left = 0, site;

	for (site_id s = next_own(k, 0); s < k->n->n_sites;
		s = next_own(k, s + 1)) {
		uint32_t used = net_in_use(k->n, s, k->list);

		for (uint32_t i = 0; i < used; i++) {
			struct place at = { s, k->list[i] };
			uint32_t n = buffer_at(k, at).count - *gone_at(k, at);

			if (n && !left)
				*first = at;
			left += n;
		}
	}
	site = left ? ~(uint64_t)first->site : 0;
	sim_max(k->n->sim, &site, 1);
	sim_sum(k->n->sim, &left, 1);
	if (left)
		sim_tell(k->n->sim, (site_id)~site, first, sizeof(*first));
	return left;
}

/* The way that a receiver's packets wait for.  One of them, the eldest if no
 * other, is not held up by another in the same receiver. */
static struct net_way find_awaited(const struct knot *k, struct place at)
{
	size_t receiver = receiver_of(k, at);
	struct net_way way[NET_MOST_WAYS];
	uint32_t j, n, end = n_buffers_of(k, at.site);

	for (at = first_of(k, at); at.i < end && receiver_of(k, at) == receiver;
		at.i++) {
		const struct packet *p = first_left(k, at);

		if (!p || has_elder(k, at, p))
			continue;
		n = list_ways(k, at, p, way);
		for (j = 0; j < n; j++)
			if (!has_room(k, at, &way[j]))
				return way[j];
	}
	BUG("a buffer of a knot waits for nothing");
}

static struct net_way awaited(const struct knot *k, struct place at)
{
	struct net_way w = { 0 };

	if (sim_has(k->n->sim, at.site))
		w = find_awaited(k, at);
	sim_tell(k->n->sim, at.site, &w, sizeof(w));
	return w;
}

static size_t awaited_at(const struct knot *k, struct place at)
{
	size_t i = sim_has(k->n->sim, at.site) ? receiver_of(k, at) : 0;

	sim_tell(k->n->sim, at.site, &i, sizeof(i));
	return i;
}

/* A node that a way leads to, which keeps what it receives; or NO_ROUTER. */
static site_id keeper(const struct knot *k, struct place at,
	const struct net_way *w, uint32_t *by)
{
	const struct topo *t = k->n->topo;
	site_id s = t->ops->peer(t, at.site, w->port).router;
	uint32_t kept[2] = { 0 };

	if (sim_has(k->n->sim, s))
		kept[0] = net_kept(k->n, s, w->channel, &kept[1]);
	sim_tell(k->n->sim, s, kept, sizeof(kept));
	*by = kept[1];
	return kept[0] ? s : NO_ROUTER;
}

static bool has_left(const struct knot *k, struct place at)
{
	return buffer_at(k, at).count > *gone_at(k, at);
}

/*
 * A buffer of a receiver that somebody waits for: of its channel, or, where
 * channels share room and this one has nothing left, of one that has taken
 * some of what they share.
 */
static struct place find_holder(
	const struct knot *k, site_id s, size_t receiver)
{
	const struct router *r = net_router(k->n, s);
	uint32_t n = net_in_use(k->n, s, k->list);
	struct place at = { .site = s }, other = { .site = NO_ROUTER };

	for (uint32_t i = 0; i < n; i++) {
		size_t of;

		at.i = k->list[i];
		of = receiver_of(k, at);
		if (of / k->n_channels != receiver / k->n_channels ||
			!has_left(k, at))
			continue;
		if (of == receiver)
			return at;
		if (r->ops->shared &&
			k->room[of] < r->ops->shared(r, buffer_at(k, at).port))
			other = at;
	}
	BUG_IF(other.site == NO_ROUTER);
	return other;
}

static struct place holder(const struct knot *k, site_id s, size_t receiver)
{
	struct place at = { 0 };

	if (sim_has(k->n->sim, s))
		at = find_holder(k, s, receiver);
	sim_tell(k->n->sim, s, &at, sizeof(at));
	return at;
}

static struct place next_place(
	const struct knot *k, struct place at, const struct net_way *w)
{
	const struct topo *t = k->n->topo;
	uint32_t by;
	site_id node = keeper(k, at, w, &by);
	size_t receiver = node == NO_ROUTER ? receiver_after(k, at, w)
					    : receiver_of_node(k, node, by);
	site_id s = node == NO_ROUTER ? t->ops->peer(t, at.site, w->port).router
				      : t->ops->peer(t, node, 0).router;

	return holder(k, s, receiver);
}

static int write_line(const struct knot *k, struct place at,
	const struct net_way *w, char *text, size_t size)
{
	const struct topo *t = k->n->topo;
	size_t receiver = awaited_at(k, at);
	struct topo_end end = topo_link_end(
		&k->n->links, (uint32_t)(receiver / k->n_channels));
	const char *const *channels = router_at(k, at)->ops->channels;
	char site[96], in[16], out[16];
	uint32_t by;
	site_id node = keeper(k, at, w, &by);
	int n;

	topo_name_site(t, at.site, site, sizeof(site));
	t->ops->name_port(t, at.site, end.port, in, sizeof(in));
	t->ops->name_port(t, at.site, w->port, out, sizeof(out));
	n = snprintf(text, size,
		"  %s, receiver %s, channel %s, waits for %s\n", site, in,
		channels[receiver % k->n_channels], out);
	if (node == NO_ROUTER)
		return n;
	topo_name_site(t, node, site, sizeof(site));
	return n + snprintf(text + n, size - (size_t)n,
			   "  %s waits until a %s can leave\n", site,
			   channels[by]);
}

/* From a buffer of the cycle on; what does not fit is counted. */
static void write_from(
	const struct knot *k, struct place first, char *text, size_t size)
{
	size_t used = 0, more = 0;
	struct place at = first;

	do {
		struct net_way w = awaited(k, at);
		char line[LINE];
		int n = write_line(k, at, &w, line, sizeof(line));

		if (!more && used + (size_t)n + LINE / 8 < size)
			used += (size_t)snprintf(
				text + used, size - used, "%s", line);
		else
			more++;
		at = next_place(k, at, &w);
	} while (awaited_at(k, at) != awaited_at(k, first));
	if (more)
		snprintf(text + used, size - used, "  and %zu more\n", more);
}

/* Follows those that are left until a buffer comes again. */
static void write_cycle(
	const struct knot *k, struct place at, char *text, size_t size)
{
	uint8_t *seen = map_alloc(k->n_receivers);

	while (!seen[awaited_at(k, at)]) {
		struct net_way w = awaited(k, at);

		seen[awaited_at(k, at)] = 1;
		at = next_place(k, at, &w);
	}
	map_free(seen, k->n_receivers);
	write_from(k, at, text, size);
}

static void knot_init(struct knot *k)
{
	struct net *n = k->n;

	for (uint32_t i = 0; i < NET_KINDS; i++) {
		const struct router *r = n->router[i];

		k->per_site[i] = r->ops->n_buffers(r, r->sites.first);
		if (r->ops->n_channels > k->n_channels)
			k->n_channels = r->ops->n_channels;
	}
	k->n_receivers = (size_t)n->links.n * k->n_channels;
	k->n_buffers =
		(size_t)n->n_nodes * k->per_site[NET_NODES] +
		(size_t)(n->n_sites - n->n_nodes) * k->per_site[NET_SWITCHES];
	k->room = map_alloc(k->n_receivers * sizeof(*k->room));
	k->gone = map_alloc(k->n_buffers * sizeof(*k->gone));
	k->todo = map_alloc(n->n_sites * sizeof(*k->todo));
	k->is_todo = map_alloc(n->n_sites);
	k->is_open = map_alloc(k->n_receivers);
	k->list = mem_alloc(net_most_buffers(n), sizeof(*k->list));
}

static void knot_fini(struct knot *k)
{
	map_free(k->room, k->n_receivers * sizeof(*k->room));
	map_free(k->gone, k->n_buffers * sizeof(*k->gone));
	map_free(k->todo, k->n->n_sites * sizeof(*k->todo));
	map_free(k->is_todo, k->n->n_sites);
	map_free(k->is_open, k->n_receivers);
	mem_free(k->list);
}

/* Channels of a port share room: then tokens alone do not tell. */
static bool has_pools(const struct net *n)
{
	return n->router[NET_NODES]->ops->shared ||
	       n->router[NET_SWITCHES]->ops->shared;
}

uint64_t net_knot(struct net *n, char *text, size_t size)
{
	struct knot k = { .n = n };
	struct place first = { 0 };
	uint64_t left;

	if (!net_may_lock(n))
		return 0;
	knot_init(&k);
	/* which is for one process alone */
	if (!has_pools(n) && !sim_is_shared(n->sim) && is_free(&k)) {
		knot_fini(&k);
		return 0;
	}
	knot_fini(&k);
	k = (struct knot){ .n = n };
	knot_init(&k);
	search(&k);
	left = count_left(&k, &first);
	if (left && size)
		write_cycle(&k, first, text, size);
	knot_fini(&k);
	return left;
}
