/* The bill of `weft show --bill`. */
#include "cli/show.h"
#include "load/load.h"
#include "machine/bill.h"

static void add_row(struct facts *f, const struct bill_row *x)
{
	double n = (double)x->number;
	char key[2 * PRICE_NAME];

	price_name(x->price, key);
	facts_group(f, NULL);
	facts_text(f, "kind", bill_kinds[x->kind]);
	facts_text(f, "part", x->name);
	facts_text(f, "key", key);
	facts_count(f, "number", x->number);
	if (x->kind == BILL_SWITCH || x->kind == BILL_CARD) {
		facts_count(f, "ports", x->ports);
		facts_count(f, "ports_used", x->used);
		facts_count(f, "ports_empty", x->ports - x->used);
	} else if (x->metres) {
		facts_int(f, "metres", x->metres);
	}
	facts_real(f, "price_each", x->price->is[PRICE_MONEY]);
	facts_real(f, "price", n * x->price->is[PRICE_MONEY]);
	facts_real(f, "watts_each", x->price->is[PRICE_WATTS]);
	facts_real(f, "watts", n * x->price->is[PRICE_WATTS]);
	facts_end(f);
}

static void add_rows(struct facts *f, const struct bill *b)
{
	static const char columns[] =
		"part|key|>number|>used=[{ports_used}]|>empty=[{ports_empty}]|"
		">each={price_each:.10g}|>price={price:.10g}|"
		">watts={watts:.10g}";

	facts_list(f, "parts");
	for (uint32_t i = 0; i < b->n; i++)
		add_row(f, &b->row[i]);
	facts_end(f);
	facts_table(f, "parts", columns, 0);
	facts_line(f, NULL, "");
}

/* Of one kind, however many ports are in use. */
static uint64_t count(const struct bill *b, enum bill_kind kind)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < b->n; i++)
		n += b->row[i].kind == kind ? b->row[i].number : 0;
	return n;
}

static void add_sums(struct facts *f, const struct bill *b)
{
	facts_group(f, "sum");
	facts_count(f, "switches", count(b, BILL_SWITCH));
	facts_count(f, "cards", count(b, BILL_CARD));
	facts_count(f, "cables", count(b, BILL_CABLE));
	if (count(b, BILL_PART))
		facts_count(f, "domains", count(b, BILL_PART));
	facts_real(f, "price", bill_sum(b, PRICE_MONEY));
	facts_real(f, "watts", bill_sum(b, PRICE_WATTS));
	facts_end(f);
}

/* Shares of the sums; null if there is nothing to share by. */
static void add_shares(
	struct facts *f, const char *key, const struct bill *b, double by)
{
	facts_group(f, key);
	facts_real_if(f, "price", by > 0, bill_sum(b, PRICE_MONEY) / by);
	facts_real_if(f, "watts", by > 0, bill_sum(b, PRICE_WATTS) / by);
	facts_end(f);
}

/* Of all nodes, in full packets; 0: not known. */
static double random_peak(const struct machine *m)
{
	int64_t peak = load_peak(m->topo, &m->link, (uint32_t)m->link.payload);

	return (double)peak * m->topo->n_nodes * 8 / 1e9;
}

void show_bill(struct facts *f, const struct machine *m, const struct bill *b)
{
	double peak = random_peak(m);

	show_head(f, m);
	facts_group(f, "bill");
	facts_text(f, "prices", b->prices->path);
	facts_text(f, "title", b->prices->title);
	facts_text(f, "currency", b->prices->currency);
	add_rows(f, b);
	add_sums(f, b);
	add_shares(f, "per_node", b, m->topo->n_nodes);
	facts_real_if(f, "random_peak_Gbps", peak > 0, peak);
	add_shares(f, "per_Gbps", b, peak);
	facts_line(f, "prices", "{prices}");
	if (*b->prices->title)
		facts_line(f, "", "{title}");
	facts_text(f, "_money", *b->prices->currency ? " " : "");
	facts_line(f, "parts",
		"switches: {sum.switches}, cards: {sum.cards}, cables and "
		"wires: {sum.cables}[, domains: {sum.domains}]");
	facts_line(f, "in all",
		"{sum.price:.10g}{_money}{currency}, {sum.watts:.10g} W");
	facts_line(f, "per node",
		"{per_node.price:u}{_money}{currency}, {per_node.watts:u} W");
	facts_line(f, "per Gb/s",
		"[{per_Gbps.price:u}{_money}{currency}, {per_Gbps.watts:u} W, "
		"of a random peak of {random_peak_Gbps:u} Gb/s]");
	facts_end(f);
}
