/* Writing the tables of a map, and asking its switches to report. */
#include <errno.h>

#include "api/swnet/manager.h"

struct writes {
	uint32_t n;
	int error; /* the last one, or 0 */
};

static void on_written(
	void *arg, uint64_t tag, const struct registers_body *answer)
{
	struct writes *w = arg;

	(void)tag;
	if (!answer)
		w->error = ETIMEDOUT;
	else if (answer->status)
		w->error = manager_error(answer->status);
}

/* Entries that were written by this manager, and would be the same, stay;
 * unless those of all ports, which come first, have overwritten them. */
static void write_plan(struct weft_swnet *m, const struct weft_swnet_map *map,
	const struct plan *p, struct writes *w)
{
	const struct plan_item *over = NULL;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct plan_item *x = &p->item[i];
		const struct plan_item *was = plan_find(m->plan, x);
		bool is_over = over && over->who == x->who &&
			       over->e.part == x->e.part &&
			       over->e.first == x->e.first;
		struct registers_body b;
		int error;

		if (was && plan_is_same(was, x) && !is_over)
			continue;
		if (x->scope == WEFT_SWNET_ALL)
			over = x;
		w->n++;
		error = manager_entries(&b, x->scope, &x->e);
		if (!error)
			error = manager_post(m, &map->device[x->device].to, &b,
				on_written, w, 0);
		w->error = error ? error : w->error;
	}
	manager_drain(m);
}

int weft_swnet_set_tables(struct weft_swnet *m,
	const struct weft_swnet_map *map, uint32_t *n_written)
{
	struct writes w = { 0 };
	struct plan *p;
	int error;

	if (!m || !map)
		return EINVAL;
	p = plan_new(map);
	write_plan(m, map, p, &w);
	error = w.error ? w.error : p->n_missing ? EHOSTDOWN : 0;
	plan_free(m->plan);
	m->plan = w.error ? NULL : p; /* NULL: all are written next time */
	if (w.error)
		plan_free(p);
	if (n_written)
		*n_written = w.n;
	return error;
}

int weft_swnet_watch(struct weft_swnet *m, const struct weft_swnet_map *map)
{
	struct writes w = { 0 };
	struct registers_body b;
	int error = 0;

	if (!m || !map)
		return EINVAL;
	b = (struct registers_body){
		.command = WEFT_SWNET_WRITE,
		.scope = WEFT_SWNET_CHIP,
		.n_words = 2,
		.word = { WEFT_SWNET_MANAGER | UINT64_C(1) << 32,
			UINT64_C(1) << 63 | m->wire->guid(m->arg) },
	};
	for (uint32_t i = 0; i < map->n_devices && !error; i++)
		if (map->device[i].is_switch)
			error = manager_post(
				m, &map->device[i].to, &b, on_written, &w, 0);
	manager_drain(m);
	return error ? error : w.error;
}
