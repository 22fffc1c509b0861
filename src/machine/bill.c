#include "machine/bill.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

const char *const bill_kinds[] = {
	[BILL_SWITCH] = "switch",
	[BILL_CARD] = "card",
	[BILL_CABLE] = "cable",
	[BILL_PART] = "part",
};

/* --- counting --- */

struct counts {
	uint64_t sites[N_BILL_KINDS][TOPO_MAX_PORTS + 1]; /* by ports in use */
	uint64_t cables[TOPO_MAX_WIRES]; /* by class from the lower site */
	uint32_t back[TOPO_MAX_WIRES]; /* class of the other direction */
};

/* Without an interface of its own: in a direct network routers are part of
 * the cards. */
static bool is_switch(const struct topo *t, router_id r)
{
	return !topo_is_direct(t) && r >= t->n_nodes;
}

static port_id ports_in_use(const struct topo *t, router_id r)
{
	port_id n = 0;

	for (port_id p = 0; p < t->n_ports; p++)
		n += t->ops->peer(t, r, p).router != NO_ROUTER;
	return n;
}

/* Of a card: one, unless routers are part of the cards. */
static port_id card_ports(const struct topo *t)
{
	if (!topo_is_direct(t))
		return 1;
	return t->n_io ? t->node_ports + 1 : t->n_ports;
}

static bool is_lower(router_id r, port_id p, const struct topo_end *far)
{
	return r < far->router || (r == far->router && p < far->port);
}

/* Each cable at its lower end. */
static void count_cables(const struct topo *t, router_id r, struct counts *c)
{
	for (port_id p = 0; p < t->n_ports; p++) {
		struct topo_end far = t->ops->peer(t, r, p);
		uint32_t class;

		if (far.router == NO_ROUTER || !is_lower(r, p, &far))
			continue;
		class = t->ops->wire(t, r, p);
		c->cables[class]++;
		c->back[class] = t->ops->wire(t, far.router, far.port);
	}
}

/* A node has a card for each of its ports, unless its card is a router. */
static void count_site(const struct topo *t, router_id r, struct counts *c)
{
	port_id n = ports_in_use(t, r);

	if (is_switch(t, r)) {
		c->sites[BILL_SWITCH][n]++;
	} else if (topo_is_direct(t)) {
		c->sites[BILL_CARD][n]++;
	} else {
		c->sites[BILL_CARD][1] += n;
		c->sites[BILL_CARD][0] += t->node_ports - n;
	}
}

/* --- prices --- */

/* A part's price, with all values that are needed. */
static int check_price(const struct bill *b, const struct price *x,
	uint32_t needs, struct err *e)
{
	char key[2 * PRICE_NAME];

	for (uint32_t i = 0; i < N_PRICES; i++) {
		if (!(needs >> i & 1) || x->is[i] >= 0)
			continue;
		price_name(x, key);
		return err_set(e,
			"%.200s: %s has no %s (want a number; 0 is "
			"allowed)",
			b->prices->path, key, price_keys[i]);
	}
	return 0;
}

static int refuse(const struct bill *b, const char *part, const char *kind,
	int64_t size, struct err *e)
{
	const struct price *near = prices_largest(b->prices, kind);
	struct price want = { .size = size };
	char key[2 * PRICE_NAME];

	snprintf(want.kind, sizeof(want.kind), "%s", kind);
	price_name(near ? near : &want, key);
	return err_set(e, "%.200s: no price for \"%s\"; %s %s", b->prices->path,
		part, near ? "the nearest is" : "want", key);
}

/* The names of both directions without what differs: "node up" and "node down"
 * are "node". */
static void name_class(const struct topo *t, uint32_t class, uint32_t back,
	char *text, size_t size)
{
	const char *a = t->wire[class].name, *b = t->wire[back].name;
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	if (a[n] || b[n])
		while (n && a[n - 1] != ' ')
			n--;
	while (n && a[n - 1] == ' ')
		n--;
	snprintf(text, size, "%.*s", (int)(n ? n : strlen(a)), a);
}

/*
 * A class may have a price of its own.  Else wires of unknown length have one
 * for all of them, and cables go by their length: those that are optical are
 * fibres; others are fibres if no copper is long enough.
 */
static const struct price *find_cable(const struct bill *b, const char *class,
	const struct topo_wire *w, const char **kind)
{
	const struct price *x;
	char own[PRICE_NAME];

	*kind = !w->metres	? PRICES_WIRES
		: w->is_optical ? PRICES_FIBRE
				: PRICES_COPPER;
	snprintf(own, sizeof(own), "cables.%s", class);
	x = prices_find(b->prices, own, w->metres);
	if (!x)
		x = prices_find(b->prices, *kind, w->metres);
	if (!x && w->metres)
		x = prices_find(b->prices, PRICES_FIBRE, w->metres);
	if (!x && w->metres && prices_largest(b->prices, PRICES_FIBRE))
		*kind = PRICES_FIBRE;
	return x;
}

/* --- rows --- */

static struct bill_row *add_row(
	struct bill *b, enum bill_kind kind, uint64_t number)
{
	struct bill_row *row = &b->row[b->n++];

	*row = (struct bill_row){ .kind = kind, .number = number };
	snprintf(row->name, sizeof(row->name), "%s", bill_kinds[kind]);
	return row;
}

/* Switches or cards of one price, a row for each number of ports in use. */
static void add_sites(struct bill *b, const struct counts *c,
	enum bill_kind kind, port_id ports, const struct price *x)
{
	for (port_id used = 0; used <= TOPO_MAX_PORTS; used++) {
		struct bill_row *row;

		if (!c->sites[kind][used])
			continue;
		row = add_row(b, kind, c->sites[kind][used]);
		row->ports = ports;
		row->used = used;
		row->price = x;
	}
}

/* All switches are of one kind, as the topology says. */
static int add_switches(
	struct bill *b, const struct counts *c, uint32_t needs, struct err *e)
{
	port_id ports = b->topo->n_ports;
	const struct price *x = prices_find(b->prices, PRICES_SWITCHES, ports);
	char part[BILL_NAME];

	if (topo_is_direct(b->topo))
		return 0;
	snprintf(part, sizeof(part), "switch of %u port%s", ports,
		ports == 1 ? "" : "s");
	if (!x)
		return refuse(b, part, PRICES_SWITCHES, ports, e);
	add_sites(b, c, BILL_SWITCH, (port_id)x->size, x);
	return check_price(b, x, needs, e);
}

static int add_cards(
	struct bill *b, const struct counts *c, uint32_t needs, struct err *e)
{
	const struct price *x = prices_find(b->prices, PRICES_CARDS, 0);

	if (!x)
		return refuse(b, "card", PRICES_CARDS, 0, e);
	add_sites(b, c, BILL_CARD, card_ports(b->topo), x);
	return check_price(b, x, needs, e);
}

static int add_cable(struct bill *b, const struct counts *c, uint32_t class,
	uint32_t needs, struct err *e)
{
	const struct topo_wire *w = &b->topo->wire[class];
	struct bill_row *row = add_row(b, BILL_CABLE, c->cables[class]);
	char name[PRICE_NAME / 2], length[32] = "";
	const char *kind;

	name_class(b->topo, class, c->back[class], name, sizeof(name));
	if (w->metres)
		snprintf(length, sizeof(length), ", %lld m",
			(long long)w->metres);
	snprintf(row->name, sizeof(row->name), "%s%s%s",
		!w->metres		     ? "wire "
		: !strncmp(name, "cable", 5) ? ""
					     : "cable ",
		name, length);
	row->class = class;
	row->metres = w->metres;
	row->price = find_cable(b, name, w, &kind);
	return row->price ? check_price(b, row->price, needs, e)
			  : refuse(b, row->name, kind, w->metres, e);
}

int bill_make(struct bill *b, const struct topo *t, const struct prices *p,
	uint32_t needs, struct err *e)
{
	struct counts *c = mem_alloc(1, sizeof(*c));
	int failed;

	*b = (struct bill){ .topo = t, .prices = p };
	for (router_id r = 0; r < t->n_routers; r++) {
		count_site(t, r, c);
		count_cables(t, r, c);
	}
	failed = add_switches(b, c, needs, e) || add_cards(b, c, needs, e);
	for (uint32_t i = 0; i < t->n_wires && !failed; i++)
		failed = c->cables[i] && add_cable(b, c, i, needs, e);
	mem_free(c);
	return failed ? -1 : 0;
}

int bill_add_parts(struct bill *b, const struct part_place *at, uint32_t needs,
	struct err *e)
{
	for (size_t i = 0; i < PARTS_MOST; i++) {
		uint64_t number;
		const char *kind = parts_priced(at, i, &number);
		struct bill_row *row;

		if (!kind)
			continue;
		row = add_row(b, BILL_PART, number);
		/* without the plural */
		snprintf(row->name, sizeof(row->name), "%.*s",
			(int)strlen(kind) - 1, kind);
		row->price = prices_find(b->prices, kind, 0);
		if (!row->price)
			return refuse(b, row->name, kind, 0, e);
		if (check_price(b, row->price, needs, e))
			return -1;
	}
	return 0;
}

/* --- looking --- */

static uint32_t find_row(
	const struct bill *b, enum bill_kind kind, port_id used, uint32_t class)
{
	uint32_t i = 0;

	while (i < b->n && (b->row[i].kind != kind || b->row[i].used != used ||
				   b->row[i].class != class))
		i++;
	BUG_IF(i == b->n);
	return i;
}

uint32_t bill_row_of_site(const struct bill *b, router_id r)
{
	if (is_switch(b->topo, r))
		return find_row(b, BILL_SWITCH, ports_in_use(b->topo, r), 0);
	return find_row(b, BILL_CARD,
		topo_is_direct(b->topo) ? ports_in_use(b->topo, r) : 1, 0);
}

uint32_t bill_row_of_cable(const struct bill *b, router_id r, port_id p)
{
	struct topo_end far = b->topo->ops->peer(b->topo, r, p);

	if (!is_lower(r, p, &far)) {
		r = far.router;
		p = far.port;
	}
	return find_row(b, BILL_CABLE, 0, b->topo->ops->wire(b->topo, r, p));
}

struct priced *priced_new(const char *path, const struct topo *t,
	const struct part_place *parts, uint32_t needs, struct err *e)
{
	struct priced *p = mem_alloc(1, sizeof(*p));

	if (!prices_read(&p->prices, path, e) &&
		!bill_make(&p->bill, t, &p->prices, needs, e) &&
		(!parts || !bill_add_parts(&p->bill, parts, needs, e)))
		return p;
	priced_free(p);
	return NULL;
}

void priced_free(struct priced *p)
{
	if (p)
		prices_free(&p->prices);
	mem_free(p);
}

double bill_sum(const struct bill *b, enum price_of of)
{
	double sum = 0;

	for (uint32_t i = 0; i < b->n; i++)
		sum += (double)b->row[i].number * b->row[i].price->is[of];
	return sum;
}

void bill_write(const struct bill *b, FILE *f)
{
	char key[2 * PRICE_NAME];

	fputs("part,key,number,ports,ports_used,metres,price_each,price,"
	      "watts_each,watts\n",
		f);
	for (uint32_t i = 0; i < b->n; i++) {
		const struct bill_row *x = &b->row[i];
		double n = (double)x->number;

		price_name(x->price, key);
		fprintf(f, "\"%s\",\"%s\",%" PRIu64 ",%u,%u,%" PRId64, x->name,
			key, x->number, x->ports, x->used, x->metres);
		for (uint32_t k = PRICE_MONEY; k <= PRICE_WATTS; k++)
			fprintf(f, ",%.17g,%.17g", x->price->is[k],
				n * x->price->is[k]);
		fputc('\n', f);
	}
}
