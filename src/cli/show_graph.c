/* A machine's sites and wires: as a picture, for graphviz, and as a list. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "cli/show.h"
#include "machine/facts.h"
#include "out/canvas.h"

enum {
	MOST_SITES = 1 << 17, /* in a picture */
	DENSE_SITES = 2048, /* from here on without names and bows */
	MOST_WIRES = 20000, /* in a list */
	NAME = 96,
	STEP = 40, /* pixels between neighbours */
	MARGIN = 28,
};

static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73",
	"#cc79a7", "#e69f00", "#56b4e9", "#5b5b5b", "#999933", "#882255",
	"#332288" };

/* --- wires, each once --- */

struct wire {
	struct topo_end a, b;
	uint32_t class;
};

typedef void wire_fn(void *arg, const struct topo *t, const struct wire *w);

static uint64_t each_wire(const struct topo *t, wire_fn *f, void *arg)
{
	struct wire w;
	uint64_t n = 0;

	for (w.a.router = 0; w.a.router < t->n_routers; w.a.router++) {
		for (w.a.port = 0; w.a.port < t->n_ports; w.a.port++) {
			w.b = t->ops->peer(t, w.a.router, w.a.port);
			if (w.b.router == NO_ROUTER ||
				w.b.router < w.a.router ||
				(w.b.router == w.a.router &&
					w.b.port < w.a.port))
				continue;
			n++;
			if (!f)
				continue;
			w.class = t->ops->wire(t, w.a.router, w.a.port);
			f(arg, t, &w);
		}
	}
	return n;
}

/* --- JSON --- */

/* As fault plans call it. */
static void name_link(
	const struct topo *t, struct topo_end at, char *text, size_t size)
{
	char site[NAME], port[NAME];

	t->ops->name_router(t, at.router, site, sizeof(site));
	t->ops->name_port(t, at.router, at.port, port, sizeof(port));
	snprintf(text, size, "link %s %s", site, port);
}

static void add_edge(void *arg, const struct topo *t, const struct wire *w)
{
	struct facts *f = arg;
	char name[3 * NAME];

	facts_group(f, NULL);
	name_link(t, w->a, name, sizeof(name));
	facts_text(f, "name", name);
	facts_site(f, "from", t, w->a.router);
	facts_port(f, "port", t, w->a.router, w->a.port);
	facts_site(f, "to", t, w->b.router);
	facts_port(f, "to_port", t, w->b.router, w->b.port);
	facts_text(f, "class", t->wire[w->class].name);
	facts_end(f);
}

void show_edges(struct facts *f, const struct topo *t)
{
	uint64_t n = each_wire(t, NULL, NULL);

	if (n > MOST_WIRES) {
		facts_null(f, "edges");
		return;
	}
	facts_list(f, "edges");
	each_wire(t, add_edge, f);
	facts_end(f);
}

/* --- graphviz --- */

static void dot_edge(void *arg, const struct topo *t, const struct wire *w)
{
	char port[NAME], far[NAME];

	t->ops->name_port(t, w->a.router, w->a.port, port, sizeof(port));
	t->ops->name_port(t, w->b.router, w->b.port, far, sizeof(far));
	fprintf(arg,
		"\ts%u -- s%u [taillabel=\"%s\", headlabel=\"%s\", "
		"color=\"%s\", tooltip=\"%s\"];\n",
		w->a.router, w->b.router, port, far,
		colours[w->class % (sizeof(colours) / sizeof(*colours))],
		t->wire[w->class].name);
}

int show_dot(const struct machine *m, FILE *f, struct err *e)
{
	const struct topo *t = m->topo;
	char name[NAME];

	if (each_wire(t, NULL, NULL) > MOST_WIRES)
		return err_set(e,
			"%s has more than %d links, too many for a graph; "
			"--shape makes it smaller",
			m->header.name, MOST_WIRES);
	fprintf(f, "graph \"%s\" {\n\tnode [fontsize=10];\n", m->header.name);
	fputs("\tedge [fontsize=7];\n", f);
	for (router_id r = 0; r < t->n_routers; r++) {
		topo_name_site(t, r, name, sizeof(name));
		fprintf(f, "\ts%u [label=\"%s\", shape=%s];\n", r, name,
			r < t->n_nodes ? "ellipse" : "box");
	}
	each_wire(t, dot_edge, f);
	fputs("}\n", f);
	return 0;
}

/* --- where sites stand --- */

struct spot {
	double x, y;
};

struct drawing {
	FILE *file;
	struct spot *at; /* [site], in pixels */
	double width, height;
	bool is_grid;
};

/* Dimensions beyond two make more planes, to the right or below, so that the
 * picture is not much wider than high. */
static void pitch_dims(uint32_t n, const uint32_t *size, struct spot *pitch)
{
	double w = size[0], h = n > 1 ? size[1] : 1;

	pitch[0] = (struct spot){ 1, 0 };
	if (n > 1)
		pitch[1] = (struct spot){ 0, 1 };
	for (uint32_t d = 2; d < n; d++) {
		bool is_down = w > 1.4 * h;
		double by = (is_down ? h : w) + 0.4 + 0.4 * (d - 1);

		pitch[d] = is_down ? (struct spot){ 0, by }
				   : (struct spot){ by, 0 };
		*(is_down ? &h : &w) = by * size[d];
	}
}

static void lay_grid(const struct topo *t, struct drawing *d)
{
	uint32_t size[TOPO_MAX_DIMS], x[TOPO_MAX_DIMS], n;
	struct spot pitch[TOPO_MAX_DIMS];

	n = t->ops->grid(t, size);
	pitch_dims(n, size, pitch);
	for (router_id r = 0; r < t->n_routers; r++) {
		router_id node = topo_node_near(t, r);

		t->ops->place(t, node, x);
		for (uint32_t i = 0; i < n; i++) {
			d->at[r].x += STEP * x[i] * pitch[i].x;
			d->at[r].y += STEP * x[i] * pitch[i].y;
		}
		/* nodes of a router stand around it */
		if (!topo_is_direct(t) && r < t->n_nodes) {
			d->at[r].x += STEP * 0.3 * cos(0.6 + 1.9 * (r % 4));
			d->at[r].y += STEP * 0.3 * sin(0.6 + 1.9 * (r % 4));
		}
	}
	d->is_grid = true;
}

/* How far switches are from nodes; returns the most. */
static uint32_t find_levels(const struct topo *t, uint32_t *level)
{
	bool any = true;
	uint32_t most;

	for (router_id r = t->n_nodes; r < t->n_routers; r++)
		level[r] = UINT32_MAX;
	for (most = 0; any; most++) {
		any = false;
		for (router_id r = 0; r < t->n_routers; r++) {
			for (port_id p = 0; level[r] == most && p < t->n_ports;
				p++) {
				router_id to = t->ops->peer(t, r, p).router;

				if (to == NO_ROUTER || level[to] <= most)
					continue;
				level[to] = most + 1;
				any = true;
			}
		}
	}
	return most - 1;
}

static void lay_levels(const struct topo *t, const uint32_t *level,
	uint32_t most, struct drawing *d)
{
	uint32_t *n = mem_alloc(most + 1, sizeof(*n)), *next, widest = 0, k;

	next = mem_alloc(most + 1, sizeof(*next));
	for (router_id r = 0; r < t->n_routers; r++)
		n[level[r]]++;
	for (k = 0; k <= most; k++)
		widest = n[k] > widest ? n[k] : widest;
	for (router_id r = 0; r < t->n_routers; r++) {
		k = level[r];
		d->at[r].x = STEP * 0.6 * widest * (next[k]++ + 0.5) / n[k];
		d->at[r].y = STEP * fmax(3, 0.1 * widest) * (most - k);
	}
	mem_free(n);
	mem_free(next);
}

/* Routers around a circle, and nodes around these. */
static void lay_circle(const struct topo *t, struct drawing *d)
{
	router_id first = topo_is_direct(t) ? 0 : t->n_nodes, r;
	double n = t->n_routers - first, turn = 2 * acos(-1) / n;
	double radius = fmax(2, n / 6) * STEP;

	for (r = 0; r < t->n_routers; r++) {
		router_id to = r < first ? t->ops->peer(t, r, 0).router : r;
		double part =
			r < first ? turn * ((double)(r % 8) / 8 - 0.45) : 0;
		double out = r < first ? radius + STEP : radius;

		d->at[r].x = out * cos(turn * (to - first) + part);
		d->at[r].y = out * sin(turn * (to - first) + part);
	}
}

static void lay(const struct topo *t, struct drawing *d)
{
	uint32_t *level = mem_alloc(t->n_routers, sizeof(*level));
	uint32_t most = find_levels(t, level);

	if (t->ops->grid && t->ops->place)
		lay_grid(t, d);
	else if (most > 1)
		lay_levels(t, level, most, d);
	else
		lay_circle(t, d);
	mem_free(level);
}

/* So that all is inside of the picture. */
static void shift(const struct topo *t, struct drawing *d)
{
	struct spot low = d->at[0], high = d->at[0];

	for (router_id r = 0; r < t->n_routers; r++) {
		low.x = fmin(low.x, d->at[r].x);
		low.y = fmin(low.y, d->at[r].y);
		high.x = fmax(high.x, d->at[r].x);
		high.y = fmax(high.y, d->at[r].y);
	}
	for (router_id r = 0; r < t->n_routers; r++) {
		d->at[r].x += MARGIN - low.x;
		d->at[r].y += MARGIN - low.y;
	}
	d->width = high.x - low.x + 2 * MARGIN;
	d->height = high.y - low.y + 2 * MARGIN;
}

/* --- the picture --- */

/* On a grid, what is longer than to the next neighbour is drawn as a bow. */
static void svg_edge(void *arg, const struct topo *t, const struct wire *w)
{
	const struct drawing *d = arg;
	struct spot a = d->at[w->a.router], b = d->at[w->b.router];
	double dx = b.x - a.x, dy = b.y - a.y, length = hypot(dx, dy);
	bool is_far = d->is_grid && length > 1.5 * STEP;
	double bow = is_far ? fmin(0.5 * STEP, 0.12 * length) : 0;
	/* parallel wires lie beside each other */
	double side = 2.5 * (w->a.port % 3 - 1.0);

	if (length <= 0)
		return;
	fprintf(d->file,
		"<path d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\" "
		"stroke=\"%s\"%s/>\n",
		a.x, a.y, (a.x + b.x) / 2 - dy / length * (bow + side),
		(a.y + b.y) / 2 + dx / length * (bow + side), b.x, b.y,
		colours[w->class % (sizeof(colours) / sizeof(*colours))],
		is_far ? " opacity=\".3\"" : "");
	(void)t;
}

static void svg_site(const struct topo *t, const struct drawing *d, router_id r)
{
	bool is_node = r < t->n_nodes;
	double size = topo_is_direct(t) || !is_node ? 7 : 4;
	char name[NAME];

	topo_name_site(t, r, name, sizeof(name));
	if (is_node)
		fprintf(d->file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\">",
			d->at[r].x, d->at[r].y, size);
	else
		fprintf(d->file,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"%g\" "
			"height=\"%g\">",
			d->at[r].x - size, d->at[r].y - size, 2 * size,
			2 * size);
	fputs("<title>", d->file);
	canvas_escape(d->file, name);
	fprintf(d->file, "</title></%s>\n", is_node ? "circle" : "rect");
}

static void svg_key(const struct topo *t, const struct drawing *d)
{
	fputs("<g stroke-width=\"3\" font-size=\"12\">\n", d->file);
	for (uint32_t c = 0; c < t->n_wires; c++)
		fprintf(d->file,
			"<path d=\"M%d %.0fh18\" stroke=\"%s\"/><text x=\"%d\" "
			"y=\"%.0f\" stroke=\"none\" fill=\"#333\">%s</text>\n",
			MARGIN + 90 * (int)c, d->height + 12,
			colours[c % (sizeof(colours) / sizeof(*colours))],
			MARGIN + 90 * (int)c + 24, d->height + 16,
			t->wire[c].name);
	fputs("</g>\n", d->file);
}

/* Of many wires each class is one path of straight lines. */
struct dense {
	const struct drawing *d;
	uint32_t class;
};

static void dense_edge(void *arg, const struct topo *t, const struct wire *w)
{
	const struct dense *k = arg;
	struct spot a = k->d->at[w->a.router], b = k->d->at[w->b.router];

	(void)t;
	if (w->class == k->class)
		fprintf(k->d->file, "M%.0f %.0fL%.0f %.0f", a.x, a.y, b.x, b.y);
}

static void dense_sites(
	const struct drawing *d, router_id from, router_id to, int size)
{
	if (from == to)
		return;
	fprintf(d->file,
		"<path stroke=\"#333\" stroke-linecap=\"%s\" "
		"stroke-width=\"%d\" d=\"",
		from ? "square" : "round", size);
	for (; from < to; from++)
		fprintf(d->file, "M%.0f %.0fh0", d->at[from].x, d->at[from].y);
	fputs("\"/>\n", d->file);
}

static void draw_dense(const struct topo *t, struct drawing *d)
{
	struct dense k = { .d = d };

	fputs("<g fill=\"none\" opacity=\".5\">\n", d->file);
	for (k.class = 0; k.class < t->n_wires; k.class ++) {
		fprintf(d->file, "<path stroke=\"%s\" d=\"",
			colours[k.class %
				(sizeof(colours) / sizeof(*colours))]);
		each_wire(t, dense_edge, &k);
		fputs("\"/>\n", d->file);
	}
	fputs("</g>\n", d->file);
	dense_sites(d, 0, t->n_nodes, topo_is_direct(t) ? 10 : 6);
	dense_sites(d, t->n_nodes, t->n_routers, 10);
}

static void draw_each(const struct topo *t, struct drawing *d)
{
	fputs("<g fill=\"none\" stroke-width=\"1.4\">\n", d->file);
	each_wire(t, svg_edge, d);
	fputs("</g>\n<g fill=\"#fff\" stroke=\"#333\">\n", d->file);
	for (router_id r = 0; r < t->n_routers; r++)
		svg_site(t, d, r);
	fputs("</g>\n", d->file);
}

int show_svg(const struct machine *m, FILE *f, struct err *e)
{
	const struct topo *t = m->topo;
	struct drawing d = { .file = f };
	double wide;

	if (t->n_routers > MOST_SITES)
		return err_set(e,
			"%s has %u nodes and switches, too many for a picture "
			"(at most %d); --shape makes it smaller",
			m->header.name, t->n_routers, MOST_SITES);
	d.at = mem_alloc(t->n_routers, sizeof(*d.at));
	lay(t, &d);
	shift(t, &d);
	wide = fmax(d.width, MARGIN + 90.0 * t->n_wires);
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f "
		"%.0f\" font-family=\"sans-serif\">\n<title>",
		wide, d.height + MARGIN);
	canvas_escape(f, m->header.title);
	fputs("</title>\n<rect width=\"100%\" height=\"100%\" "
	      "fill=\"#fff\"/>\n",
		f);
	if (t->n_routers > DENSE_SITES)
		draw_dense(t, &d);
	else
		draw_each(t, &d);
	svg_key(t, &d);
	fputs("</svg>\n", f);
	mem_free(d.at);
	return 0;
}
