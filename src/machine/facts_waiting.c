#include <inttypes.h>
#include <string.h>

#include "machine/facts.h"

/* A text's lines, without the blanks before them. */
static void add_lines(struct facts *f, const char *key, const char *text)
{
	size_t n;

	facts_list(f, key);
	for (; *text; text += n + (text[n] == '\n')) {
		text += strspn(text, " ");
		n = strcspn(text, "\n");
		facts_print(f, NULL, "%.*s", (int)n, text);
	}
	facts_end(f);
}

void facts_of_knot(struct facts *f, const struct load_result *l)
{
	if (!l->knot[0])
		return;
	facts_place(f, FACTS_AT_WAITING);
	facts_count(f, "deadlocked_packets", l->n_knotted);
	add_lines(f, l->is_guests ? "class_routes" : "cycle", l->knot);
	facts_say(f, NULL, "%" PRIu64 " packet%s %s:\n%.*s", l->n_knotted,
		l->n_knotted == 1 ? "" : "s",
		l->is_guests ? "of collectives cannot continue"
			     : "wait only for each other, in these buffers",
		(int)strlen(l->knot) - 1, l->knot);
}

static void name_waiting(struct facts *f, const struct load_waiting *w)
{
	if (*w->who)
		facts_text(f, "_who", w->who);
	else if (w->first.thread)
		facts_print(f, "_who", "node %u, thread %u", w->first.node,
			w->first.thread);
	else
		facts_print(f, "_who", "node %u", w->first.node);
}

static void add_programs(struct facts *f, const struct load_waiters *l)
{
	uint64_t left = l->n;

	if (!l->n)
		return;
	facts_count(f, "waiters", l->n);
	facts_list(f, "waiting");
	for (uint32_t i = 0; i < l->n_listed; i++) {
		const struct load_waiting *w = &l->first[i];

		facts_group(f, NULL);
		facts_count(f, "node", w->first.node);
		facts_count(f, "process", w->first.process);
		facts_count(f, "thread", w->first.thread);
		facts_text(f, "call", w->first.what);
		facts_real(f, "since_ns", sim_ns(w->first.since));
		facts_count(f, "same", w->same);
		facts_count(f, "_others", w->same - 1);
		name_waiting(f, w);
		facts_end(f);
		left -= w->same;
	}
	facts_end(f);
	facts_each(f, "waiting", 0, "waiting",
		"{_who}: {call}, since "
		"{since_ns/1e3:.3f} us[_others? (and {_others} "
		"other{_others|s})]");
	facts_count(f, "_more_waiters", left);
	facts_line(f, "", "[_more_waiters?and {_more_waiters} more]");
}

/* Links that are dead for good and hold packets. */
static void add_stuck(struct facts *f, const struct machine_run *r)
{
	const struct load_result *l = &r->result;
	const struct topo *t = r->machine->topo;
	uint64_t i;

	if (!l->n_stuck)
		return;
	facts_count(f, "dead_links_that_hold_packets", l->n_stuck);
	facts_list(f, "dead_links");
	for (i = 0; i < l->n_stuck && i < LOAD_MAX_STUCK; i++) {
		const struct net_stuck *s = &l->stuck[i];

		facts_group(f, NULL);
		facts_site(f, "site", t, s->site);
		facts_port(f, "link", t, s->site, s->port);
		facts_text(f, "holds", s->what);
		facts_real(f, "since_ns", sim_ns(s->since));
		facts_end(f);
	}
	facts_end(f);
	facts_each(f, "dead_links", 0, "dead links",
		"{site} {link}: holds {holds}, since {since_ns/1e3:.3f} us");
	facts_count(f, "_more_dead_links", l->n_stuck - i);
	facts_line(f, "", "[_more_dead_links?and {_more_dead_links} more]");
}

void facts_of_waiting(struct facts *f, const struct machine_run *r)
{
	facts_place(f, FACTS_AT_WAITING);
	add_programs(f, &r->result.waiters);
	add_stuck(f, r);
}
