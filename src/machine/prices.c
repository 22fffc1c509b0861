#include "machine/prices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "machine/tree.h"

#define MOST	  1e15 /* sums stay exact enough */
#define MOST_SIZE 1000000

const char *const price_keys[] = { "price", "watts", "pj-per-bit", NULL };

/* --- reading --- */

static int read_value(const struct tree *t, size_t at, double *value)
{
	const char *text = t->v[at].text;
	char *end;

	*value = strtod(text, &end);
	if (end == text || *end || text[strspn(text, "0123456789.eE+-")] ||
		!isfinite(*value) || *value < 0 || *value > MOST)
		return tree_fail(t, t->v[at].at,
			"\"%.40s\" is not a number from 0 to 1e15", text);
	return 0;
}

static int add_price(struct prices *p, const struct tree *t, size_t map,
	const char *kind, int64_t size)
{
	size_t value[N_PRICES + 1] = { 0 };
	struct price x = { .size = size };

	snprintf(x.kind, sizeof(x.kind), "%s", kind);
	if (tree_keys(t, map, price_keys, N_PRICES, value))
		return -1;
	for (uint32_t i = 0; i < N_PRICES; i++) {
		x.is[i] = -1;
		if (value[i] && read_value(t, value[i], &x.is[i]))
			return -1;
	}
	p->v = mem_more(p->v, p->n, sizeof(*p->v));
	p->v[p->n++] = x;
	return 0;
}

/* Parts by ports or metres. */
static int read_sizes(
	struct prices *p, const struct tree *t, size_t map, const char *kind)
{
	const struct node *v = t->v;

	if (v[map].kind != NODE_MAP || !tree_length(t, map))
		return tree_fail(t, v[map].at,
			"want sizes, as in 64: { price: 100, watts: 10 }");
	for (size_t k = map + 1; k < v[map].end; k = v[v[k].end].end) {
		const char *why, *text = tree_text(t, k);
		int64_t size;

		if (!text || units_read(UNIT_NONE, text, &size, &why) ||
			size < 1 || size > MOST_SIZE)
			return tree_fail(t, v[k].at,
				"want a size, a whole number from 1 to %d",
				MOST_SIZE);
		for (size_t i = 0; i < p->n; i++)
			if (p->v[i].size == size && !strcmp(p->v[i].kind, kind))
				return tree_fail(t, v[k].at,
					"size %s is given twice", text);
		if (add_price(p, t, v[k].end, kind, size))
			return -1;
	}
	return 0;
}

/* Whether a map begins with a size. */
static bool has_sizes(const struct tree *t, size_t map)
{
	const char *first = tree_length(t, map) ? tree_text(t, map + 1) : NULL;

	return first && *first >= '0' && *first <= '9';
}

/* Copper, fibre, wires, and classes of wires by their names. */
static int read_cables(struct prices *p, const struct tree *t, size_t map)
{
	const struct node *v = t->v;
	char kind[PRICE_NAME];

	if (v[map].kind != NODE_MAP)
		return tree_fail(t, v[map].at,
			"want kinds of cables: copper, fibre, wires, or "
			"classes of wires as `weft show` names them");
	for (size_t k = map + 1; k < v[map].end; k = v[v[k].end].end) {
		const char *name = tree_text(t, k);
		size_t is = v[k].end;

		if (!name || strlen(name) >= PRICE_NAME - sizeof("cables."))
			return tree_fail(t, v[k].at, "want the name of a kind");
		snprintf(kind, sizeof(kind), "cables.%s", name);
		for (size_t i = 0; i < p->n; i++)
			if (!strcmp(p->v[i].kind, kind))
				return tree_fail(
					t, v[k].at, "%s is given twice", name);
		if (has_sizes(t, is) ? read_sizes(p, t, is, kind)
				     : add_price(p, t, is, kind, 0))
			return -1;
	}
	return 0;
}

static int read_all(struct prices *p, const struct tree *t)
{
	static const char *const keys[] = { "schema", "title", "currency",
		PRICES_SWITCHES, PRICES_CARDS, PRICES_DOMAINS, "cables", NULL };
	enum {
		SCHEMA,
		TITLE,
		CURRENCY,
		SWITCHES,
		CARDS,
		DOMAINS,
		CABLES,
		N_KEYS
	};
	size_t value[N_KEYS + 1] = { 0 };
	const char *schema, *text;

	if (tree_keys(t, 0, keys, SWITCHES, value))
		return -1;
	schema = tree_text(t, value[SCHEMA]);
	if (!schema || strcmp(schema, "1") != 0)
		return tree_fail(t, t->v[value[SCHEMA]].at, "want schema: 1");
	text = tree_text(t, value[TITLE]);
	p->title = mem_text(text ? text : "");
	text = tree_text(t, value[CURRENCY]);
	p->currency = mem_text(text ? text : "");
	if ((value[SWITCHES] &&
		    read_sizes(p, t, value[SWITCHES], PRICES_SWITCHES)) ||
		(value[CARDS] &&
			add_price(p, t, value[CARDS], PRICES_CARDS, 0)) ||
		(value[DOMAINS] &&
			add_price(p, t, value[DOMAINS], PRICES_DOMAINS, 0)) ||
		(value[CABLES] && read_cables(p, t, value[CABLES])))
		return -1;
	return 0;
}

int prices_read(struct prices *p, const char *path, struct err *e)
{
	struct tree t = { .e = e };
	int failed;

	*p = (struct prices){ .path = mem_text(path) };
	failed = tree_read_file(&t, path) || read_all(p, &t);
	tree_free(&t);
	return failed ? -1 : 0;
}

void prices_free(struct prices *p)
{
	mem_free(p->path);
	mem_free(p->title);
	mem_free(p->currency);
	mem_free(p->v);
	*p = (struct prices){ 0 };
}

/* --- finding --- */

const struct price *prices_find(
	const struct prices *p, const char *kind, int64_t size)
{
	const struct price *best = NULL;

	for (size_t i = 0; i < p->n; i++) {
		const struct price *x = &p->v[i];

		if (!strcmp(x->kind, kind) && (!x->size || x->size >= size) &&
			(!best || x->size < best->size))
			best = x;
	}
	return best;
}

const struct price *prices_largest(const struct prices *p, const char *kind)
{
	const struct price *best = NULL;

	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->v[i].kind, kind) &&
			(!best || p->v[i].size > best->size))
			best = &p->v[i];
	return best;
}

void price_name(const struct price *x, char text[2 * PRICE_NAME])
{
	if (x->size)
		snprintf(text, (size_t)2 * PRICE_NAME, "%s.%lld", x->kind,
			(long long)x->size);
	else
		snprintf(text, (size_t)2 * PRICE_NAME, "%s", x->kind);
}
