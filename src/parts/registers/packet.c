/* Packets of management, and the bodies that they carry. */
#include <string.h>

#include "parts/registers/inside.h"
#include "route/lists.h"
#include "sim/cluster.h"

enum { MAGAZINE = 16 };

struct registers_body *registers_take(struct registers *r, uint32_t worker)
{
	return pool_slot(&r->pool, pool_take(&r->pool, worker));
}

void registers_copy(
	struct registers_body *to, const struct registers_body *from)
{
	memcpy(to, from, REGISTERS_HEAD + from->n_words * sizeof(uint64_t));
}

packet_id registers_packet(struct registers *r, struct sim_worker *w,
	site_id src, site_id dst, const struct registers_body *b,
	bool is_source, sim_time t)
{
	struct net *n = r->net;
	struct registers_body *own = registers_take(r, w->id);
	packet_id id = packet_take(n->pool, w->id);
	const struct book_message none = {
		.birth = t, .src = b->asker, .n_packets = 1
	};

	registers_copy(own, b);
	n->packets[id] = (struct packet){
		.src = src,
		.dst = dst,
		.born = t,
		.kind = is_source ? PACKET_VECTOR : PACKET_SYSTEM,
		.bytes = (uint16_t)(REGISTERS_HEAD +
				    b->n_words * sizeof(uint64_t)),
		.tag = REGISTERS_TAG,
		.load = (uint64_t)(uintptr_t)own,
	};
	book_open(n->book, id, &none);
	return id;
}

struct registers_body *registers_keep(
	struct registers *r, struct sim_worker *w, packet_id id)
{
	struct net *n = r->net;
	struct registers_body *b = registers_body(&n->packets[id]);

	if (n->book && book_has(n->book, id))
		book_forget(n->book, id);
	packet_give(n->pool, w->id, id);
	return b;
}

void registers_free(
	struct registers *r, struct sim_worker *w, struct registers_body *b)
{
	pool_give(&r->pool, w->id, pool_line(&r->pool, b), MAGAZINE);
}

void registers_give(struct registers *r, struct sim_worker *w, packet_id id)
{
	registers_free(r, w, registers_keep(r, w, id));
}

void registers_pack(struct registers *r, struct sim_worker *w,
	const struct packet *p, struct cluster_bytes *to)
{
	struct registers_body *b = registers_body(p);

	registers_copy(cluster_add(to, sizeof(*b)), b);
	registers_free(r, w, b);
}

void registers_unpack(struct registers *r, struct sim_worker *w,
	struct packet *p, const void *from)
{
	struct registers_body *b = registers_take(r, w->id);

	registers_copy(b, from);
	p->load = (uint64_t)(uintptr_t)b;
}

/* The ports by which it came in, the last one first. */
void registers_reverse(const struct packet *p, uint8_t *route)
{
	uint32_t n = route_n_came(p);

	memset(route, WEFT_SWNET_HERE, WEFT_SWNET_HOPS + 2);
	for (uint32_t i = 0; i < n; i++)
		route[n - 1 - i] = (uint8_t)route_came(p, i);
}

/* --- names --- */

uint64_t registers_guid(const struct registers *r, site_id s)
{
	return r->net->route->lists->guid(r->net->route, s);
}

site_id registers_find(const struct registers *r, uint32_t rail, uint64_t guid)
{
	return r->net->route->lists->find(r->net->route, rail, guid);
}

uint64_t registers_place(const struct registers *r, site_id s)
{
	struct fattree_place at = fattree_place(r->tree, s);

	return (uint64_t)at.level << 32 | at.index;
}
