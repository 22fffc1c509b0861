/* What is said of hint routing. */
#include <stdio.h>
#include <string.h>

#include "route/hint.h"

/* "ABC,D": zones in the order in which they are done. */
static void name_zones(
	const struct hint *h, uint32_t set, char text[ROUTE_TEXT])
{
	size_t n = 0;
	uint32_t z, d;

	for (z = 0; z < h->n_zones[set]; z++) {
		if (z)
			text[n++] = ',';
		for (d = 0; d < h->torus->n_dims; d++)
			if (h->mask[set][z] >> (2 * d) & 3)
				text[n++] = h->torus->letters[d];
	}
	text[n] = '\0';
	if (!n)
		strcpy(text, "none");
}

/* "ABCD": the deterministic order. */
static void name_order(const struct hint *h, char text[ROUTE_TEXT])
{
	uint32_t d;

	for (d = 0; d < h->torus->n_dims; d++)
		text[d] = h->torus->letters[h->dims[d]];
	text[d] = '\0';
}

void hint_describe(const struct route *r, FILE *f)
{
	const struct hint *h = hint_of(r);
	char text[ROUTE_TEXT];
	uint32_t i;

	name_order(h, text);
	fprintf(f, "routing     deterministic in the order %s\n", text);
	fprintf(f, "zones      ");
	for (i = 0; i < HINT_ZONE_SETS; i++) {
		name_zones(h, i, text);
		fprintf(f, "%s %u: %s", i ? ";" : "", i, text);
	}
	fprintf(f, "\nescape      %s\n",
		!h->escape  ? "none: dynamic packets can deadlock"
		: h->bubble ? "to the deterministic channel, bubble "
			      "rule"
			    : "to the deterministic channel, without "
			      "the bubble rule");
}

bool hint_fact(const struct route *r, uint32_t i, struct route_fact *f)
{
	const struct hint *h = hint_of(r);

	if (!i) {
		f->key = "order";
		name_order(h, f->text);
	} else if (i <= HINT_ZONE_SETS) {
		f->key = "zones";
		f->kind = ROUTE_FACT_LISTED;
		name_zones(h, i - 1, f->text);
	} else {
		f->kind = ROUTE_FACT_FLAG;
		f->key = i == HINT_ZONE_SETS + 1 ? "escape" : "bubble";
		f->flag = i == HINT_ZONE_SETS + 1 ? h->escape : h->bubble;
	}
	return i <= HINT_ZONE_SETS + 2;
}
