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

/* Switches of the longest way while all is well. */
static uint32_t diameter(const struct table *x)
{
	return 2 * x->tree->n_levels - 1;
}

void table_describe(const struct route *r, FILE *f)
{
	const struct table *x = table_of(r);

	fprintf(f,
		"routing     by tables, over at most %u switches (sideways: "
		"%s)\n"
		"GUIDs       %lld + %lld bits: %u supernode%s of %u nodes\n"
		"tables      %u entries a port, %.2f %% fewer than the %llu of "
		"a flat table\n",
		diameter(x), sideways[x->sideways],
		(long long)x->supernode_bits, (long long)x->number_bits,
		x->n_supernodes, x->n_supernodes == 1 ? "" : "s", x->per,
		table_entries(x), saved_pct(x),
		(unsigned long long)table_flat(x));
}

bool table_fact(const struct route *r, uint32_t i, struct route_fact *f)
{
	const struct table *x = table_of(r);
	const struct {
		const char *key;
		double number;
	} numbers[] = {
		{ "diameter", diameter(x) },
		{ "supernodes", x->n_supernodes },
		{ "nodes_per_supernode", x->per },
		{ "entries_per_port", table_entries(x) },
		{ "flat_entries", (double)table_flat(x) },
		{ "saved_pct", saved_pct(x) },
	};

	if (i > sizeof(numbers) / sizeof(numbers[0]))
		return false;
	if (!i) {
		f->key = "sideways";
		snprintf(f->text, sizeof(f->text), "%s", sideways[x->sideways]);
		return true;
	}
	f->key = numbers[i - 1].key;
	f->kind = ROUTE_FACT_NUMBER;
	f->number = numbers[i - 1].number;
	return true;
}
