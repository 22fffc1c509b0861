#include "link/ras.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "link/faults.h"

static const struct {
	const char *severity, *text; /* with a number in it */
} kinds[N_RAS] = {
	[RAS_DEAD] = { "fatal",
		"dead after %llu time-outs in a row; it keeps trying" },
	[RAS_REJECTED] = { "fatal",
		"packet from node %llu rejected by the end-to-end check" },
	[RAS_SUMS] = { "fatal",
		"checksums of both ends differ (packets that escaped: %llu)" },
	[RAS_REPLACED] = { "warning", "fibre %llu replaced by the spare" },
	[RAS_FIBRES] = { "fatal", "fibre %llu failed, and no spare is left" },
	[RAS_STOPPED] = { "fatal",
		"machine check: two flipped bits in a word; stopped" },
};

const char *ras_severity(const struct ras_event *e)
{
	return kinds[e->what].severity;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
void ras_describe(const struct ras_event *e, char *text, size_t size)
{
	if (e->what == RAS_STOPPED)
		snprintf(text, size,
			"machine check: two flipped bits in a "
			"word%s%s; stopped",
			*fault_channel_name((uint32_t)e->number)
				? " of channel "
				: "",
			fault_channel_name((uint32_t)e->number));
	else
		snprintf(text, size, kinds[e->what].text,
			(unsigned long long)e->number);
}
#pragma GCC diagnostic pop

void ras_unit(const struct ras_event *e, const struct topo *t, char *text,
	size_t size)
{
	char port[64];

	if (e->what == RAS_STOPPED) {
		fault_unit_name((uint32_t)e->number, t, e->site, text, size);
		return;
	}
	if (e->port == RAS_NODE) {
		snprintf(text, size, "reception");
		return;
	}
	t->ops->name_port(t, e->site, e->port, port, sizeof(port));
	snprintf(text, size, "link %s", port);
}

static int by_time(const void *a, const void *b)
{
	const struct ras_event *x = a, *y = b;

	return 16 * order(x->at, y->at) + 8 * order(x->site, y->site) +
	       4 * order(x->port, y->port) + 2 * order(x->what, y->what) +
	       order((int64_t)x->number, (int64_t)y->number);
}

void faults_report(struct faults *f, uint32_t worker, const struct ras_event *e)
{
	struct fault_tally *t = &f->tally[worker];

	t->ras = mem_more(t->ras, t->n_ras, sizeof(*t->ras));
	t->ras[t->n_ras++] = *e;
}

struct ras_event *faults_events(const struct faults *f, size_t *n)
{
	struct ras_event *v;
	uint32_t i;

	for (*n = 0, i = 0; i < f->n_workers; i++)
		*n += f->tally[i].n_ras;
	v = mem_alloc(*n + 1, sizeof(*v));
	for (*n = 0, i = 0; i < f->n_workers; i++) {
		if (f->tally[i].n_ras)
			memcpy(v + *n, f->tally[i].ras,
				f->tally[i].n_ras * sizeof(*v));
		*n += f->tally[i].n_ras;
	}
	if (f->sim)
		v = sim_gather(f->sim, v, n, sizeof(*v));
	qsort(v, *n, sizeof(*v), by_time);
	return v;
}
