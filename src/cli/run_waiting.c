#include "cli/run.h"

#include <inttypes.h>

static void programs_text(FILE *f, const struct load_result *l)
{
	uint64_t told = 0;
	uint32_t i;

	for (i = 0; i < l->n_waiting; i++) {
		const struct load_waiting *w = &l->waiting[i];

		fprintf(f, "%-12snode %u", i ? "" : "waiting", w->first.node);
		if (w->first.thread)
			fprintf(f, ", thread %u", w->first.thread);
		fprintf(f, ": %s, since %.3f us", w->first.what,
			sim_ns(w->first.since) / 1e3);
		if (w->same > 1)
			fprintf(f, " (and %" PRIu64 " other%s)", w->same - 1,
				cli_s(w->same - 1));
		fputs("\n", f);
		told += w->same;
	}
	if (told < l->n_waiters)
		fprintf(f, "            and %" PRIu64 " more\n",
			l->n_waiters - told);
}

static void programs_json(struct json *j, const struct load_result *l)
{
	uint32_t i;

	if (!l->n_waiters)
		return;
	json_count(j, "waiters", l->n_waiters);
	json_array(j, "waiting");
	for (i = 0; i < l->n_waiting; i++) {
		const struct load_waiting *w = &l->waiting[i];

		json_object(j, NULL);
		json_count(j, "node", w->first.node);
		json_count(j, "process", w->first.process);
		json_count(j, "thread", w->first.thread);
		json_text(j, "call", w->first.what);
		json_real(j, "since_ns", sim_ns(w->first.since));
		json_count(j, "same", w->same);
		json_end(j, '}');
	}
	json_end(j, ']');
}

/* Links that are dead for good and hold packets. */
static void stuck_text(FILE *f, const struct machine_run *r)
{
	const struct load_result *l = &r->result;
	const struct topo *t = r->machine->topo;
	char site[64], port[64];
	uint64_t i, n;

	n = l->n_stuck < LOAD_MAX_STUCK ? l->n_stuck : LOAD_MAX_STUCK;
	for (i = 0; i < n; i++) {
		const struct net_stuck *s = &l->stuck[i];

		topo_name_site(t, s->site, site, sizeof(site));
		t->ops->name_port(t, s->site, s->port, port, sizeof(port));
		fprintf(f, "%-12s%s %s: holds %s, since %.3f us\n",
			i ? "" : "dead links", site, port, s->what,
			sim_ns(s->since) / 1e3);
	}
	if (n < l->n_stuck)
		fprintf(f, "            and %" PRIu64 " more\n",
			l->n_stuck - n);
}

static void stuck_json(struct json *j, const struct machine_run *r)
{
	const struct load_result *l = &r->result;
	const struct topo *t = r->machine->topo;
	char text[64];
	uint64_t i;

	if (!l->n_stuck)
		return;
	json_count(j, "dead_links_that_hold_packets", l->n_stuck);
	json_array(j, "dead_links");
	for (i = 0; i < l->n_stuck && i < LOAD_MAX_STUCK; i++) {
		const struct net_stuck *s = &l->stuck[i];

		json_object(j, NULL);
		topo_name_site(t, s->site, text, sizeof(text));
		json_text(j, "site", text);
		t->ops->name_port(t, s->site, s->port, text, sizeof(text));
		json_text(j, "link", text);
		json_text(j, "holds", s->what);
		json_real(j, "since_ns", sim_ns(s->since));
		json_end(j, '}');
	}
	json_end(j, ']');
}

void run_waiting_text(FILE *f, const struct machine_run *r)
{
	programs_text(f, &r->result);
	stuck_text(f, r);
}

void run_waiting_json(struct json *j, const struct machine_run *r)
{
	programs_json(j, &r->result);
	stuck_json(j, r);
}
