#include "machine/energy.h"

#include "base/mem.h"
#include "base/units.h"
#include "net/use.h"

struct energy *energy_new(const char *path, const struct topo *t, struct err *e)
{
	const uint32_t needs = 1 << PRICE_WATTS | 1 << PRICE_PJ_PER_BIT;
	struct priced *p = priced_new(path, t, NULL, needs, e);
	struct energy *x;

	if (!p)
		return NULL;
	x = mem_alloc(1, sizeof(*x));
	x->priced = p;
	return x;
}

void energy_free(struct energy *x)
{
	if (x)
		priced_free(x->priced);
	mem_free(x);
}

/* Bytes that the parts of each row have sent, of all processes. */
static void count_bytes(const struct bill *b, const struct net *n, sim_time end,
	uint64_t *bytes)
{
	struct net_link l = NET_NO_LINK;
	router_id last = NO_ROUTER;
	uint32_t row = 0;

	while (net_next_link(n, &l)) {
		uint64_t sent;

		if (!sim_has(n->sim, l.site))
			continue;
		sent = net_counters(n, l.site, l.port, UINT32_MAX, end)
			       .sent_bytes;
		if (l.site != last)
			row = bill_row_of_site(b, l.site);
		last = l.site;
		bytes[row] += sent;
		bytes[bill_row_of_cable(b, l.site, l.port)] += sent;
	}
	sim_sum(n->sim, bytes, b->n);
}

void energy_measure(struct energy *x, const struct net *n, sim_time end)
{
	uint64_t bytes[BILL_ROWS] = { 0 };

	count_bytes(&x->priced->bill, n, end, bytes);
	for (uint32_t i = 0; i < x->priced->bill.n; i++) {
		const struct bill_row *row = &x->priced->bill.row[i];

		x->idle_J[i] = row->price->is[PRICE_WATTS] *
			       (double)row->number * (double)end /
			       (double)PS_PER_S;
		x->traffic_J[i] = row->price->is[PRICE_PJ_PER_BIT] * 8e-12 *
				  (double)bytes[i];
	}
}

static double sum(const double *v, uint32_t n)
{
	double all = 0;

	while (n)
		all += v[--n];
	return all;
}

double energy_idle(const struct energy *x)
{
	return sum(x->idle_J, x->priced->bill.n);
}

double energy_traffic(const struct energy *x)
{
	return sum(x->traffic_J, x->priced->bill.n);
}
