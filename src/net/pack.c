/*
 * Packets that leave for another process, or come from one: the packet, what is
 * charged to it, then what its sender's client adds to it, in whole words.  A
 * packet's number means nothing outside its process.
 */
#include <string.h>

#include "net/guest.h"
#include "sim/cluster.h"

static bool has_packet(const struct sim_event *e)
{
	return sim_phase(e) == PHASE_ARRIVAL ||
	       (sim_phase(e) == PHASE_GUEST && sim_number(e) < NET_GUEST_PORTS);
}

bool net_is_still(const struct sim_event *e)
{
	return sim_phase(e) == PHASE_TOKEN && sim_number(e) < NET_LINK;
}

bool net_rests(const void *net)
{
	const struct net *n = net;

	return !packet_pool_used(n->pool);
}

void net_pack(struct sim_worker *w, const struct sim_event *e,
	struct cluster_bytes *to)
{
	struct net *n = w->model;
	const struct packet *p = &n->packets[e->data];
	struct net_client *c;

	if (!has_packet(e))
		return;
	c = net_sender(n, e->data);
	memcpy(cluster_add(to, sizeof(*p)), p, sizeof(*p));
	if (n->book)
		book_pack(n->book, e->data, to);
	cluster_add(to, -to->n % sizeof(uint64_t));
	if (c->ops.carry)
		c->ops.carry->pack(c, w, e->data, to);
	packet_give(n->pool, w->id, e->data);
}

uint32_t net_unpack(struct sim_worker *w, const struct sim_event *e,
	const void *from, size_t bytes)
{
	struct net *n = w->model;
	packet_id id = packet_take(n->pool, w->id);
	struct packet *p = &n->packets[id];
	const char *at = (const char *)from + sizeof(*p);
	struct net_client *c;

	BUG_IF(!has_packet(e) || bytes < sizeof(*p));
	packet_ask(n->pool, w->id);
	memcpy(p, from, sizeof(*p));
	if (n->book)
		at = book_unpack(n->book, w->id, id, at);
	at += -(size_t)(at - (const char *)from) % sizeof(uint64_t);
	c = net_sender(n, id);
	if (c->ops.carry)
		c->ops.carry->unpack(c, w, id, at,
			bytes - (size_t)(at - (const char *)from));
	return id;
}
