/*
 *	      A
 *	      0   1   2   3
 *	      ^   ^   ^   ^
 *	B 0 < o---o===o---o >
 *	      |   |   |   |
 *	  1 < o---o===o---o >
 *	      v   v   v   v
 *
 * Nodes of the plane in which all other coordinates are 0.  A wire is drawn
 * by its class; < > and ^ v are the two ends of wires that close rings.
 */
#include "topo/torus.h"

enum { MOST_COLUMNS = 16, MOST_ROWS = 8, NO_DIM = TORUS_MAX_DIMS };

static const char across[] = {
	[WIRE_BOARD] = '-',
	[WIRE_BOARDS] = '=',
	[WIRE_MIDPLANES] = '~',
	[WIRE_LOOP] = '>',
	[WIRE_INNER] = '_',
};

static const char down[] = {
	[WIRE_BOARD] = '|',
	[WIRE_BOARDS] = '#',
	[WIRE_MIDPLANES] = ':',
	[WIRE_LOOP] = 'v',
	[WIRE_INNER] = '!',
};

struct picture {
	const struct torus *t;
	uint32_t x, y; /* the dimensions; NO_DIM where there is no second */
	uint32_t columns, rows; /* that are drawn */
	uint32_t seen; /* classes, a bit each */
	FILE *out;
};

/* The first dimension from dim on that is longer than one, or NO_DIM. */
static uint32_t next_dim(const struct torus *t, uint32_t dim)
{
	while (dim < t->n_dims && t->dim[dim] == 1)
		dim++;
	return dim < t->n_dims ? dim : NO_DIM;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* How a wire is drawn: by its class, or all as those on a board. */
static char mark(const struct picture *p, const char *marks, uint32_t class)
{
	return marks[p->t->wires == TORUS_PACKAGED ? class : WIRE_BOARD];
}

/* The class of the wire from coordinate i of dim upwards. */
static uint32_t wire(struct picture *p, uint32_t dim, uint32_t i)
{
	uint32_t c = torus_wire_up(p->t, dim, i);

	p->seen |= 1u << c;
	return c;
}

static bool is_ring(const struct picture *p, uint32_t dim)
{
	return dim != NO_DIM && torus_is_ring(p->t, dim);
}

static void draw_nodes(struct picture *p)
{
	bool is_cut = p->columns < p->t->dim[p->x];
	char c;

	fprintf(p->out, is_ring(p, p->x) ? "< " : "  ");
	for (uint32_t i = 0; i < p->columns; i++) {
		fputc('o', p->out);
		if (i + 1 == p->t->dim[p->x])
			break;
		c = mark(p, across, wire(p, p->x, i));
		fprintf(p->out, "%c%c%c", c, c, c);
	}
	fputs(is_cut ? "..." : is_ring(p, p->x) ? " >" : "", p->out);
	fputc('\n', p->out);
}

/* A row of the same mark under every node. */
static void draw_marks(const struct picture *p, char mark)
{
	fputs("      ", p->out);
	for (uint32_t i = 0; i < p->columns; i++)
		fprintf(p->out, "%s%c", i ? "   " : "", mark);
	fputc('\n', p->out);
}

static void draw_numbers(const struct picture *p)
{
	fprintf(p->out, "      %c\n      ", p->t->letters[p->x]);
	for (uint32_t i = 0; i < p->columns; i++)
		fprintf(p->out, i + 1 < p->columns ? "%-4u" : "%u", i);
	fputc('\n', p->out);
}

static void draw_rows(struct picture *p)
{
	bool is_cut = p->y != NO_DIM && p->rows < p->t->dim[p->y];

	for (uint32_t i = 0; i < p->rows; i++) {
		if (p->y == NO_DIM)
			fputs("    ", p->out);
		else
			fprintf(p->out, "%c %u ", i ? ' ' : p->t->letters[p->y],
				i);
		draw_nodes(p);
		if (p->y != NO_DIM && i + 1 < p->t->dim[p->y])
			draw_marks(p, mark(p, down, wire(p, p->y, i)));
	}
	if (is_cut)
		draw_marks(p, '.');
	else if (is_ring(p, p->y))
		draw_marks(p, 'v');
}

static void explain(struct picture *p, char a, char b, uint32_t class)
{
	char text[TOPO_TEXT];

	torus_where(&p->t->topo, class, text);
	fprintf(p->out, "  %c %c  %s\n", a, b, text);
}

static void draw_legend(struct picture *p)
{
	bool is_packaged = p->t->wires == TORUS_PACKAGED;

	for (uint32_t c = 0; c < WIRE_IO && is_packaged; c++)
		if (p->seen >> c & 1 && c != WIRE_LOOP)
			explain(p, across[c], down[c], c);
	if (is_ring(p, p->x))
		explain(p, '<', '>', wire(p, p->x, p->t->dim[p->x] - 1));
	if (is_ring(p, p->y))
		explain(p, '^', 'v', wire(p, p->y, p->t->dim[p->y] - 1));
}

void torus_draw(const struct topo *topo, FILE *out)
{
	const struct torus *t = torus_of(topo);
	struct picture p = { .t = t, .x = next_dim(t, 0), .out = out };

	if (p.x == NO_DIM)
		return;
	p.y = next_dim(t, p.x + 1);
	p.columns = least(t->dim[p.x], MOST_COLUMNS);
	p.rows = p.y == NO_DIM ? 1 : least(t->dim[p.y], MOST_ROWS);
	draw_numbers(&p);
	if (is_ring(&p, p.y))
		draw_marks(&p, '^');
	draw_rows(&p);
	draw_legend(&p);
}
