/* What routing by tables costs, and what it is called. */
#include <stdio.h>

#include "route/table.h"
#include "route/tree.h"

struct route_way table_way(const struct route *r, const int64_t *cost)
{
	return tree_way(table_of(r)->tree, cost);
}

static const char *const sideways[] = {
	[TABLE_FAULTS] = "faults",
	[TABLE_ALWAYS] = "always",
	[TABLE_NEVER] = "no",
};

static double saved_pct(const struct table *x)
{
	return 100 - 100.0 * table_entries(x) / (double)table_flat(x);
}

void table_describe(const struct route *r, FILE *f)
{
	const struct table *x = table_of(r);

	fprintf(f,
		"routing     by tables: %u supernode%s of %u nodes, GUIDs of "
		"%lld + %lld bits (sideways: %s)\n"
		"tables      %u entries a port, %.2f %% fewer than the %llu of "
		"a flat table\n",
		x->n_supernodes, x->n_supernodes == 1 ? "" : "s", x->per,
		(long long)x->supernode_bits, (long long)x->number_bits,
		sideways[x->sideways], table_entries(x), saved_pct(x),
		(unsigned long long)table_flat(x));
}

bool table_fact(const struct route *r, uint32_t i, struct route_fact *f)
{
	const struct table *x = table_of(r);

	f->key = "sideways";
	snprintf(f->text, sizeof(f->text), "%s", sideways[x->sideways]);
	return !i;
}
