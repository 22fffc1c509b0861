/*
 * Class routes of all nodes at once, as the proof looks at them.  Private to
 * tree_proof.c.
 */
#ifndef COLL_TREE_VIEW_H
#define COLL_TREE_VIEW_H

#include "coll/tree_proof.h"

enum { VIEW_DIMS = 6, VIEW_LENGTH = 64, VIEW_NAME = 80 };

/* An interval of coordinates. */
struct view_span {
	bool is_set;
	uint32_t first, last;
};

struct trees {
	const struct topo *t;
	struct topo_grid grid;
	bool has_one_root;
	router_id root; /* the partition's */
	/* [route][node] that are written out, or NULL */
	struct class_route *at;
	uint32_t written; /* their numbers, a bit each */
	uint8_t *state; /* [node] while trees are climbed */
	/* Spans in which a node of a coordinate goes up, by + and by -; the
	 * shortest of them. */
	struct view_span by[VIEW_DIMS][VIEW_LENGTH][2];
	uint32_t n_spans;
	bool is_nearer; /* every hop up leads nearer to the root */
};

/* A route of all nodes: the builder's over a box, or one that is written. */
struct view {
	const struct trees *w;
	bool is_box;
	struct topo_box box;
	uint8_t channel; /* of a box */
	uint32_t route; /* of one that is written */
};

struct class_route view_route(const struct view *v, router_id r);
struct topo_end view_far(const struct trees *w, router_id r, port_id p);
port_id view_port(uint32_t bit);
/* The line of a node's dimension from first to last. */
struct view view_line(
	const struct trees *w, router_id r, uint32_t dim, struct view_span s);
/* The route whose number is 0. */
struct view view_all_nodes(const struct trees *w);
struct view view_written(const struct trees *w, uint32_t route);
void view_name(const struct view *v, char text[VIEW_NAME]);
/* "A+ of node 3 (3,0)" */
void view_name_link(
	const struct trees *w, router_id r, port_id p, char text[VIEW_NAME]);
void view_tell_link(
	struct proof_step *s, router_id r, port_id p, uint32_t channel);

#endif
