#include "load/place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/random.h"

static int place_by_file(const struct place_setup *p, uint32_t *at,
	uint32_t *which, struct err *e)
{
	FILE *f = fopen(p->how, "r");
	unsigned long long v;
	int failed = 0;

	if (!f)
		return err_set(e,
			"place: want linear, random or a file; %s: %s", p->how,
			strerror(errno));
	for (uint32_t i = 0; i < p->n && !failed; i++) {
		if (fscanf(f, "%llu", &v) != 1) {
			failed = err_set(e, "%s: has no number for %s %u",
				p->how, p->what, i);
		} else if (v >= p->n_places || which[v]) {
			failed = err_set(e,
				"%s: %s %u cannot be at %s %llu: %s %s", p->how,
				p->what, i, p->where, v,
				v >= p->n_places ? "there is no such"
						 : "it has another",
				v >= p->n_places ? p->where : p->what);
		} else {
			at[i] = (uint32_t)v;
			which[v] = i + 1;
		}
	}
	fclose(f);
	return failed;
}

int place_all(const struct place_setup *p, uint32_t *at, uint32_t *which,
	struct err *e)
{
	bool is_random = !strcmp(p->how, "random");
	uint32_t k, v;

	if (!is_random && strcmp(p->how, "linear") != 0)
		return place_by_file(p, at, which, e);
	for (uint32_t i = 0; i < p->n_places; i++)
		which[i] = i < p->n ? i + 1 : 0;
	for (uint32_t i = p->n_places; is_random && i-- > 1;) {
		k = (uint32_t)random_below(
			random_draw(p->seed, i, RANDOM_PATTERN, 0).a, i + 1);
		v = which[i];
		which[i] = which[k];
		which[k] = v;
	}
	for (uint32_t i = 0; i < p->n_places; i++)
		if (which[i])
			at[which[i] - 1] = i;
	return 0;
}
