/*
 * Discovery: from this node's ports on, each switch is asked which of its links
 * are up, and a packet through each of these asks who is behind it.  Only what
 * answers is on the map.
 */
#include <errno.h>
#include <string.h>

#include "api/swnet/manager.h"
#include "base/mem.h"

#define NOBODY UINT32_MAX

/* A packet to be sent: asks a switch for its links, or who is behind a port. */
struct probe {
	uint32_t device; /* NOBODY: this node */
	uint32_t port; /* of a device; of this node: a rail; or: */
};

enum { LINKS = UINT8_MAX }; /* the device's own */

struct search {
	struct weft_swnet *m;
	struct weft_swnet_map *map;
	struct index by_guid; /* 1 + a device */
	struct index cabled; /* ends of cables */
	struct ring todo; /* struct probe */
	int error;
};

static uint64_t name_of(uint32_t rail, bool is_switch, uint64_t guid)
{
	return (uint64_t)rail << 60 | (uint64_t)is_switch << 56 | guid;
}

static uint64_t end_of(uint32_t device, uint32_t port)
{
	return (uint64_t)device << 8 | port;
}

static void add_probe(struct search *x, uint32_t device, uint32_t port)
{
	*(struct probe *)ring_push(&x->todo) = (struct probe){ device, port };
}

/* The way to what is behind a port. */
static struct weft_swnet_target way_to(
	const struct search *x, const struct probe *p)
{
	struct weft_swnet_target to = { .by = WEFT_SWNET_BY_ROUTE };

	if (p->device == NOBODY) {
		to.rail = p->port;
		return to;
	}
	to = x->map->device[p->device].to;
	if (p->port != LINKS)
		to.hop[to.n_hops++] = (uint8_t)p->port;
	return to;
}

static uint32_t add_device(
	struct search *x, const struct probe *p, const struct registers_body *b)
{
	struct weft_swnet_map *map = x->map;
	struct weft_swnet_target to = way_to(x, p);
	bool is_switch = WEFT_SWNET_IS_SWITCH(b->word[0]);
	uint64_t name = name_of(to.rail, is_switch, b->word[1]);
	uint32_t i = index_find(&x->by_guid, name);

	if (i)
		return i - 1;
	i = map->n_devices++;
	map->device = mem_more(map->device, i, sizeof(*map->device));
	map->device[i] = (struct weft_swnet_device){ .to = to,
		.rail = to.rail,
		.is_switch = is_switch,
		.ports = WEFT_SWNET_PORTS_OF(b->word[0]),
		.guid = b->word[1],
		.level = (uint32_t)(b->word[2] >> 32),
		.number = (uint32_t)b->word[2] };
	index_add(&x->by_guid, name, i + 1);
	if (is_switch)
		add_probe(x, i, LINKS);
	return i;
}

static void add_cable(
	struct search *x, uint32_t a, uint32_t port, uint32_t b, uint32_t other)
{
	struct weft_swnet_map *map = x->map;
	uint32_t i = map->n_cables;

	if (index_find(&x->cabled, end_of(a, port)) ||
		index_find(&x->cabled, end_of(b, other)))
		return; /* another probe has found it from its other end */
	index_add(&x->cabled, end_of(a, port), 1);
	index_add(&x->cabled, end_of(b, other), 1);
	map->cable = mem_more(map->cable, i, sizeof(*map->cable));
	map->cable[map->n_cables++] =
		(struct weft_swnet_cable){ { a, b }, { port, other } };
}

/* The answer to a probe. */
static void on_links(
	struct search *x, const struct probe *p, const struct registers_body *b)
{
	for (uint32_t i = 0; i < b->n_words; i++)
		if (b->word[i] & 1)
			add_probe(x, p->device, i);
}

static void on_answer(void *arg, uint64_t tag, const struct registers_body *b)
{
	struct search *x = arg;
	struct probe p = { (uint32_t)(tag >> 8), tag & 0xff };
	uint32_t to;

	if (p.device == UINT32_MAX >> 8)
		p.device = NOBODY;
	if (!b || b->status) {
		x->map->silent++;
		return;
	}
	if (p.port == LINKS) {
		on_links(x, &p, b);
		return;
	}
	to = add_device(x, &p, b);
	if (p.device != NOBODY)
		add_cable(x, p.device, p.port, to,
			WEFT_SWNET_CAME_BY(b->word[0]));
}

/* A switch at the end of the longest route is asked for nothing beyond. */
static void send(struct search *x, struct probe p)
{
	struct registers_body b = { .command = WEFT_SWNET_IDENTIFY };
	struct weft_swnet_target to;
	int error;

	if (p.port != LINKS && p.device != NOBODY &&
		(index_find(&x->cabled, end_of(p.device, p.port)) ||
			x->map->device[p.device].to.n_hops + 1 >=
				WEFT_SWNET_HOPS))
		return;
	to = way_to(x, &p);
	if (p.port == LINKS)
		manager_read(&b, WEFT_SWNET_ALL, WEFT_SWNET_STATUS, 0, 1);
	error = manager_post(x->m, &to, &b, on_answer, x,
		(uint64_t)(p.device & UINT32_MAX >> 8) << 8 | p.port);
	x->error = error ? error : x->error;
}

int weft_swnet_discover(struct weft_swnet *m, struct weft_swnet_map **map)
{
	struct search x = { .m = m };

	if (!m || !map)
		return EINVAL;
	x.map = mem_alloc(1, sizeof(*x.map));
	ring_init(&x.todo, sizeof(struct probe));
	for (uint32_t i = 0; i < m->wire->n_rails(m->arg); i++)
		add_probe(&x, NOBODY, i);
	while (x.todo.n || m->n_open)
		if (x.todo.n && m->n_open < MANAGER_WINDOW)
			send(&x, *(struct probe *)ring_pop(&x.todo));
		else
			manager_wait(m);
	ring_fini(&x.todo);
	index_fini(&x.cabled);
	index_fini(&x.by_guid);
	if (x.error)
		weft_swnet_map_free(x.map);
	else
		*map = x.map;
	return x.error;
}

void weft_swnet_map_free(struct weft_swnet_map *map)
{
	if (!map)
		return;
	mem_free(map->device);
	mem_free(map->cable);
	mem_free(map);
}
