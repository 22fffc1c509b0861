#include "coll/tree_view.h"

#include <stdio.h>

struct class_route view_route(const struct view *v, router_id r)
{
	const struct trees *w = v->w;

	if (!v->is_box)
		return w->at[(size_t)v->route * w->t->n_nodes + r];
	if (!topo_box_has(&v->box, &w->grid, r))
		return (struct class_route){ 0 };
	return class_route_build(&w->grid, &v->box,
		w->has_one_root ? w->root : class_root(&w->grid, &v->box), r,
		v->channel);
}

struct topo_end view_far(const struct trees *w, router_id r, port_id p)
{
	if (p >= w->t->n_ports)
		return (struct topo_end){ .router = NO_ROUTER };
	return w->t->ops->peer(w->t, r, p);
}

port_id view_port(uint32_t bit)
{
	return (port_id)__builtin_ctz(bit);
}

struct view view_line(
	const struct trees *w, router_id r, uint32_t dim, struct view_span s)
{
	struct view v = { .w = w, .is_box = true, .channel = CLASS_SUB };
	uint32_t i;

	for (i = 0; i < w->grid.n_dims; i++) {
		v.box.first[i] =
			i == dim ? s.first : topo_grid_coord(&w->grid, r, i);
		v.box.length[i] = i == dim ? s.last - s.first + 1 : 1;
	}
	return v;
}

struct view view_all_nodes(const struct trees *w)
{
	return (struct view){ w, true, topo_box_all(&w->grid), CLASS_WORLD, 0 };
}

struct view view_written(const struct trees *w, uint32_t route)
{
	return (struct view){ .w = w, .route = route };
}

void view_name(const struct view *v, char text[VIEW_NAME])
{
	const struct topo_grid *g = &v->w->grid;
	uint32_t i;

	if (!v->is_box) {
		snprintf(text, VIEW_NAME, "route %u", v->route);
		return;
	}
	for (i = 0; i + 1 < g->n_dims && v->box.length[i] == 1; i++)
		;
	snprintf(text, VIEW_NAME, "the boxes of %c = %u to %u", g->letter[i],
		v->box.first[i], v->box.first[i] + v->box.length[i] - 1);
}

void view_name_link(
	const struct trees *w, router_id r, port_id p, char text[VIEW_NAME])
{
	char port[16] = "no link", site[48];

	if (p < w->t->n_ports)
		w->t->ops->name_port(w->t, r, p, port, sizeof(port));
	topo_name_site(w->t, r, site, sizeof(site));
	snprintf(text, VIEW_NAME, "%s of %s", port, site);
}

void view_tell_link(
	struct proof_step *s, router_id r, port_id p, uint32_t channel)
{
	static const char *const name[TREE_BUFFERS] = { "collective world",
		"collective sub" };

	proof_tell(s, r, p, 0);
	s->cycle[s->n_cycle - 1].name = name[class_buffer(channel)];
}
