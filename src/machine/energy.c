#include "machine/energy.h"

#include "base/mem.h"
#include "base/units.h"
#include "net/use.h"

struct energy *energy_new(const char *path, const struct topo *t, struct err *e)
{
	const uint32_t needs = 1 << PRICE_WATTS | 1 << PRICE_PJ_PER_BIT;
	struct energy *x = mem_alloc(1, sizeof(*x));

	if (!prices_read(&x->prices, path, e) &&
		!bill_make(&x->bill, t, &x->prices, needs, e))
		return x;
	energy_free(x);
	return NULL;
}

void energy_free(struct energy *x)
{
	if (x)
		prices_free(&x->prices);
	mem_free(x);
}

static void add_bytes(struct energy *x, uint32_t row, uint64_t bytes)
{
	const struct price *p = x->bill.row[row].price;

	x->traffic_J[row] += p->is[PRICE_PJ_PER_BIT] * 8e-12 * (double)bytes;
}

void energy_measure(struct energy *x, const struct net *n, sim_time end)
{
	struct net_link l = NET_NO_LINK;
	router_id last = NO_ROUTER;
	uint32_t row = 0;

	for (uint32_t i = 0; i < x->bill.n; i++)
		x->idle_J[i] = x->bill.row[i].price->is[PRICE_WATTS] *
			       (double)x->bill.row[i].number * (double)end /
			       (double)PS_PER_S;
	while (net_next_link(n, &l)) {
		uint64_t bytes = net_carried(n, &l, UINT32_MAX, end).bytes;

		if (l.site != last)
			row = bill_row_of_site(&x->bill, l.site);
		last = l.site;
		add_bytes(x, row, bytes);
		add_bytes(
			x, bill_row_of_cable(&x->bill, l.site, l.port), bytes);
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
	return sum(x->idle_J, x->bill.n);
}

double energy_traffic(const struct energy *x)
{
	return sum(x->traffic_J, x->bill.n);
}
