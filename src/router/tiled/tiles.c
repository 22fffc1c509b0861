/*
 * Which link each tile of a chip has, which tiles face nodes, and tables that
 * follow from that and that all chips share.
 */
#include <string.h>

#include "router/tiled/tiled.h"

enum { PROCESSOR = TOPO_MAX_PORTS, NAME_MAX = 16 };

/* --- tiles --- */

/* Tiles that face nodes are in the middle columns, equally many in each. */
static bool is_processor(const struct tiled_params *h, uint32_t tile)
{
	uint32_t columns = (uint32_t)h->columns;
	uint32_t rows = (uint32_t)h->rows, n = (uint32_t)h->processors;
	uint32_t wide = (n + rows - 1) / rows, first, per, row, column;

	wide = wide < 2 && columns > 1 && n > 1 ? 2 : wide;
	first = (columns - wide) / 2;
	row = tile / columns;
	column = tile % columns;
	if (column < first || column >= first + wide)
		return false;
	per = n / wide + (column - first < n % wide);
	/* spread over the rows */
	return (row + 1) * per / rows != row * per / rows;
}

/* Links end at the other tiles, row by row. */
static void place_by_default(const struct tiled_params *h, uint8_t *at)
{
	uint32_t n = (uint32_t)(h->rows * h->columns), tile;
	uint8_t p = 0;

	for (tile = 0; tile < n; tile++)
		at[tile] = is_processor(h, tile) ? (uint8_t)PROCESSOR : p++;
}

/* The port that a word names, or TOPO_NO_PORT. */
static port_id find_port(const struct topo *t, uint32_t links, const char *word)
{
	char name[NAME_MAX];

	if (!strcmp(word, "p"))
		return PROCESSOR;
	for (port_id p = 0; p < links; p++) {
		t->ops->name_port(t, t->n_nodes, p, name, sizeof(name));
		if (!strcmp(word, name))
			return p;
	}
	return TOPO_NO_PORT;
}

/* Reads the next word of a text; false if there is none. */
static bool next_word(const char **c, char word[NAME_MAX])
{
	size_t n;

	*c += strspn(*c, " ,");
	n = strcspn(*c, " ,");
	if (!n)
		return false;
	*word = '\0';
	strncat(word, *c, n < NAME_MAX ? n : NAME_MAX - 1);
	*c += n;
	return true;
}

struct reading {
	const struct tiled_params *h;
	const struct topo *t;
	uint32_t links;
	uint8_t *at; /* [tile] */
	port_mask seen;
	struct err *e;
};

/* The text of a row; "" if none is given. */
static const char *row_of(const struct tiled_params *h, uint32_t row)
{
	return strcmp(h->tiles[row], "none") ? h->tiles[row] : "";
}

static int read_row(struct reading *x, uint32_t row)
{
	const char *c = row_of(x->h, row);
	uint32_t columns = (uint32_t)x->h->columns, n = 0;
	char word[NAME_MAX];
	port_id p;

	while (next_word(&c, word)) {
		p = find_port(x->t, x->links, word);
		if (p == TOPO_NO_PORT)
			return err_set(x->e,
				"router.tiles.%u: %s is not a link of a chip "
				"(want links such as x+0, or p)",
				row, word);
		if (p < x->links && x->seen >> p & 1)
			return err_set(x->e,
				"router.tiles.%u: link %s is named twice", row,
				word);
		x->seen |= p < x->links ? (port_mask)1 << p : 0;
		if (n < columns)
			x->at[row * columns + n] = (uint8_t)p;
		n++;
	}
	if (n == (row < x->h->rows ? columns : 0))
		return 0;
	return err_set(x->e, "router.tiles.%u: %u tiles (want %u)", row, n,
		row < x->h->rows ? columns : 0);
}

static bool is_given(const struct tiled_params *h)
{
	for (uint32_t row = 0; row < TILED_ROWS; row++)
		if (*row_of(h, row))
			return true;
	return false;
}

/* Finds the port at each tile, or PROCESSOR. */
static int read_tiles(const struct tiled_params *h, const struct topo *t,
	uint32_t links, uint8_t at[TILED_TILES], struct err *e)
{
	struct reading x = { h, t, links, at, 0, e };
	char name[NAME_MAX];

	if (!is_given(h)) {
		place_by_default(h, at);
		return 0;
	}
	for (uint32_t i = 0; i < TILED_ROWS; i++)
		if (read_row(&x, i))
			return -1;
	for (uint32_t i = 0; i < links; i++) {
		if (x.seen >> i & 1)
			continue;
		t->ops->name_port(t, t->n_nodes, i, name, sizeof(name));
		return err_set(e, "router.tiles: link %s has no tile", name);
	}
	return 0;
}

int tiled_check_tiles(const struct tiled_params *h, const struct topo *t,
	uint32_t links, struct err *e)
{
	int64_t tiles = h->rows * h->columns;
	uint8_t at[TILED_TILES];

	if ((int64_t)links + h->processors != tiles)
		return err_set(e,
			"router.kind: %u links do not fit tiled routers of "
			"%lld x %lld tiles, %lld of which face nodes (want "
			"%lld links)",
			links, (long long)h->rows, (long long)h->columns,
			(long long)h->processors,
			(long long)(tiles - h->processors));
	return read_tiles(h, t, links, at, e);
}

void tiled_draw(const struct tiled_params *h, const struct topo *t,
	uint32_t links, FILE *f)
{
	uint32_t columns = (uint32_t)h->columns, i;
	uint8_t at[TILED_TILES];
	struct err e = { 0 };

	if (read_tiles(h, t, links, at, &e))
		return;
	for (i = 0; i < (uint32_t)h->rows * columns; i++) {
		char name[NAME_MAX] = "p";

		if (at[i] != PROCESSOR)
			t->ops->name_port(
				t, t->n_nodes, at[i], name, sizeof(name));
		fprintf(f, "%s%s", i % columns ? " " : "            ", name);
		fprintf(f, "%*s", (i + 1) % columns ? 3 - (int)strlen(name) : 0,
			"");
		fprintf(f, "%s", (i + 1) % columns ? "" : "\n");
	}
}

/* --- tables --- */

static void number_port(
	struct tiled *d, port_id p, uint32_t gate, uint32_t link)
{
	BUG_IF(gate >= TILED_GATES || link >= TILED_LINKS);
	d->gate_of[p] = (uint8_t)gate;
	d->link_of[p] = (uint8_t)link;
	d->port_at[gate][link] = (uint8_t)p;
	d->links[gate] |= (port_mask)1 << p;
	d->all[gate] |= (uint8_t)(1u << link);
}

static void number_links(struct tiled *d)
{
	const struct topo *t = d->router.net->topo;

	for (uint32_t p = 0; p < d->n_links; p++) {
		struct topo_direction x =
			t->ops->direction ? t->ops->direction(t, p)
					  : (struct topo_direction){ p, 0 };

		number_port(d, p, x.number, x.link);
		if (x.number >= d->n_groups)
			d->n_groups = x.number + 1;
	}
	d->n_gates = d->n_groups + d->n_nodes;
	for (uint32_t p = 0; p < d->n_nodes; p++)
		number_port(d, d->n_links + p, d->n_groups + p, 0);
}

/* Packets get tokens first: look() before inner_pass().  If outputs give them,
 * the head of a column buffer waits for them. */
const struct net_stage *tiled_stages(const struct net_params *p, uint32_t *n)
{
	static const struct net_stage stages[][4] = {
		[TILED_AT_INPUT] = { { "input buffer", 1 << 1, true, 0 },
			{ "row buffer", 1 << 2, false, 0 },
			{ "column buffer", 1 << 3, false, 0 },
			{ "output", 0, false, 0 } },
		[TILED_AT_OUTPUT] = { { "input buffer", 1 << 1, false, 0 },
			{ "row buffer", 1 << 2, false, 0 },
			{ "column buffer", 1 << 3, true, 0 },
			{ "output", 0, false, 0 } },
	};
	const struct tiled_params *h = p->own;

	*n = sizeof(stages[0]) / sizeof(stages[0][0]);
	return stages[h->tokens];
}

uint32_t tiled_first(
	const struct tiled *d, const struct tiled_lines *l, uint32_t head)
{
	uint32_t row = d->row_of[d->tile_of[head % TILED_INPUTS]];
	uint32_t first = head;

	for (uint32_t i = 0; i < TILED_CHANNELS * TILED_INPUTS; i++)
		if (l->port[i] == l->port[head] &&
			l->since[i] < l->since[first] &&
			d->row_of[d->tile_of[i % TILED_INPUTS]] == row)
			first = i;
	return first;
}

/* The number of a packet as a head in a line; or TILED_NO_TILE. */
static uint32_t head_in_line(const struct tiled *d, const struct tiled_lines *l,
	const struct net_buffer *b, const struct packet *p)
{
	const struct tiled_chip *s = tiled_chip(d, b->site);

	for (uint32_t in = 0; l && in < d->n_inputs; in++) {
		const struct tiled_queue *q = &s->input[in].queue[b->channel];
		uint32_t head = b->channel * TILED_INPUTS + in;

		if (d->source_of[in] == b->port && q->count &&
			p == &d->packets[q->list.first] &&
			l->port[head] != TILED_NO_TILE)
			return head;
	}
	return TILED_NO_TILE;
}

/* In a line all heads wait for the same as the first. */
uint32_t tiled_ways(const struct router *r, const struct net_buffer *b,
	const struct packet *p, struct net_way *way)
{
	const struct tiled *d = tiled_of(r);
	const struct tiled_chip *s = tiled_chip(d, b->site);
	const struct tiled_lines *l = tiled_lines(d, s);
	uint32_t gate = p->ask >> 8, links = p->ask & 0xff, n = 0;
	uint32_t in = b->port, channel = b->channel, entered;
	uint32_t head = head_in_line(d, l, b, p);

	if (head != TILED_NO_TILE) {
		head = tiled_first(d, l, head);
		in = head % TILED_INPUTS;
		channel = head / TILED_INPUTS;
		links = 1u << d->link_of[l->port[head]];
	}
	entered = tiled_entered(d, s, in, gate);
	for (; links; links &= links - 1) {
		uint32_t link = (uint32_t)__builtin_ctz(links);

		way[n++] = (struct net_way){
			.port = d->port_at[gate][link],
			.channel = channel,
			.need = d->full * (entered >> link & 1 ? d->need : 1),
		};
	}
	return n;
}

/* Which links are straight ahead of which: the same at all chips. */
static void find_ahead(struct tiled *d)
{
	const struct topo *t = d->router.net->topo;
	port_id on;

	memset(d->ahead_gate, TILED_NO_TILE, sizeof(d->ahead_gate));
	for (port_id p = 0; p < d->n_links; p++) {
		on = t->ops->straight(t, d->router.sites.first, p);
		if (on == TOPO_NO_PORT)
			continue;
		d->ahead_gate[p] = d->gate_of[on];
		d->ahead_link[p] = d->link_of[on];
		d->straight[d->gate_of[on]] |= (port_mask)1 << p;
		d->behind[on] |= (port_mask)1 << p;
	}
}

/* Links of one direction that end in one column. */
static void find_beside(struct tiled *d)
{
	for (port_id p = 0; p < d->n_links; p++)
		for (port_id q = 0; q < d->n_links; q++)
			if (q != p && d->gate_of[p] == d->gate_of[q] &&
				d->column_of[d->tile_of[p]] ==
					d->column_of[d->tile_of[q]])
				d->beside[p] |= (uint8_t)(1u << d->link_of[q]);
}

/* Inputs of nodes: one at each tile that faces them, and one for packets to
 * nodes of the same chip. */
static void place_nodes(struct tiled *d)
{
	uint32_t in = d->n_links, k;

	for (uint32_t node = 0; node < d->n_nodes; node++) {
		for (k = 0; k <= (uint32_t)d->how.processors; k++, in++) {
			d->tile_of[in] = k < (uint32_t)d->how.processors
						 ? d->processor[k]
						 : (uint8_t)TILED_NO_TILE;
			d->source_of[in] = (uint8_t)(d->n_links + node);
		}
	}
	d->n_inputs = in;
}

void tiled_place(struct tiled *d)
{
	uint32_t columns = (uint32_t)d->how.columns;
	uint32_t n = (uint32_t)d->how.rows * columns, tile, k = 0;
	uint8_t at[TILED_TILES];
	struct err e = { 0 };

	BUG_IF(read_tiles(&d->how, d->router.net->topo, d->n_links, at, &e));
	for (tile = 0; tile < n; tile++) {
		d->row_of[tile] = (uint8_t)(tile / columns);
		d->column_of[tile] = (uint8_t)(tile % columns);
		if (at[tile] == PROCESSOR) {
			d->processor[k++] = (uint8_t)tile;
		} else {
			d->tile_of[at[tile]] = (uint8_t)tile;
			d->source_of[at[tile]] = at[tile];
		}
	}
	memcpy(&d->processor[k], d->processor, k);
	number_links(d);
	find_ahead(d);
	place_nodes(d);
	find_beside(d);
}
