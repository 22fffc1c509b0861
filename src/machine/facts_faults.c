#include <string.h>

#include "base/mem.h"
#include "machine/facts.h"
#include "net/repair.h"

enum { MOST_TOLD = 10 };

static struct fault_counts sum(const struct net *n)
{
	struct fault_counts all = { 0 };

	for (uint32_t i = 0; i < n->topo->n_wires; i++) {
		struct fault_counts c = faults_total(n->faults, i);

		fault_counts_add(&all, &c);
	}
	return all;
}

/* --- training --- */

/* "link 1.0 up 1: lines 3, clock" */
static void name_untrained(const struct topo *t,
	const struct fault_untrained *u, char *text, size_t size)
{
	struct topo_links links = topo_links(t);
	struct topo_end at = topo_link_end(&links, u->link);
	router_id r = at.router;
	char site[64], port[64];
	const char *before = ": line ";
	size_t used;

	t->ops->name_router(t, r, site, sizeof(site));
	t->ops->name_port(t, r, at.port, port, sizeof(port));
	used = (size_t)snprintf(text, size, "link %s%s%s", site,
		r < t->n_nodes ? "" : " ", r < t->n_nodes ? "" : port);
	for (uint32_t i = 0; i < TRAINING_LINES && used < size; i++) {
		if (!(u->lines >> i & 1))
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s",
			before, fault_line_names[i]);
		before = ", ";
	}
}

static void add_training(struct facts *f, const struct net *n)
{
	const struct fault_trainings *t = &n->faults->trainings;
	char name[256];

	facts_group(f, "training")->is_hidden = !t->time;
	facts_count(f, "trained", t->n);
	facts_real(f, "time_ns", (double)t->time / SIM_NS);
	facts_int(f, "margin_ps", t->margin)->merge = FACT_MIN;
	facts_line(f, "training",
		"[trained?{trained} link{trained|s}, each in "
		"{time_ns/1e3:.10g} us; "
		"smallest margin {margin_ps} ps]");
	facts_count(f, "blind_links", t->n_blind);
	facts_list(f, "untrained");
	for (size_t i = 0; i < t->n_untrained; i++) {
		name_untrained(n->topo, &t->untrained[i], name, sizeof(name));
		facts_text(f, NULL, name);
	}
	facts_end(f);
	facts_each(f, "untrained", MOST_TOLD, NULL,
		"untrained   {}: cannot be trained, stays down");
	if (t->n_untrained > MOST_TOLD)
		facts_count(f, "_more", t->n_untrained - MOST_TOLD);
	facts_line(f, "untrained", "[and {_more} more]");
	facts_line(f, "untrained",
		"[blind_links?{blind_links} links with lines that are sampled "
		"outside their eyes]");
	facts_end(f);
}

/* --- what the machine reports of itself --- */

static void add_event(
	struct facts *f, const struct net *n, const struct ras_event *e)
{
	char text[128];

	facts_group(f, NULL);
	facts_real(f, "time_ns", (double)e->at / SIM_NS);
	facts_site(f, "node", n->topo, e->site);
	ras_unit(e, n->topo, text, sizeof(text));
	facts_text(f, "unit", text);
	facts_text(f, "severity", ras_severity(e));
	ras_describe(e, text, sizeof(text));
	facts_text(f, "what", text);
	facts_end(f);
}

static void add_ras(
	struct facts *f, const struct net *n, const struct fault_counts *c)
{
	static const char columns[] =
		">time={time_ns/1e3:.3f} us|node|unit|severity|what";
	size_t n_events;
	struct ras_event *v = net_ras(n, &n_events);

	facts_group(f, "ras")->is_hidden = !n->retry;
	facts_count(f, "symbols_rebuilt", c->rebuilt);
	facts_count(f, "bad_headers", c->headers);
	facts_count(f, "packets_resent", c->resent);
	facts_count(f, "duplicates_dropped", c->echoes);
	facts_count(f, "short_packets_resent", c->shorts);
	facts_count(f, "escapes", c->escaped);
	facts_count(f, "dead_links", c->reported);
	facts_count(f, "mended_words", faults_mended(n->faults));
	facts_count(f, "stopped_units", faults_stopped(n->faults, NULL));
	facts_list(f, "events");
	for (size_t i = 0; i < n_events; i++)
		add_event(f, n, &v[i]);
	facts_end(f);
	facts_table(f, "events", columns, MOST_TOLD);
	if (n_events > MOST_TOLD)
		facts_count(f, "_more", n_events - MOST_TOLD);
	facts_line(f, NULL, "[... and {_more} more events]");
	facts_end(f);
	mem_free(v);
}

/* --- counts --- */

static void add_counts(
	struct facts *f, const struct fault_counts *c, bool has_retry)
{
	facts_count(f, "bit_errors", c->bit_errors);
	facts_count(f, "hurt_packets", c->hurt);
	facts_count(f, "lost_packets", c->lost);
	facts_count(f, "bad_headers", c->headless);
	if (has_retry) {
		facts_count(f, "resent_packets", c->resent);
		facts_count(f, "echoes", c->echoes);
		facts_count(f, "reported_dead", c->reported);
	}
}

/* Whether injection stopped for a repair before the run ended. */
static bool has_stopped(const struct net_view *v, sim_time end)
{
	return net_view_stops(v) && v->stop <= end;
}

/* Repairs for which injection stopped. */
static void add_stops(struct facts *f, const struct net_repair *r, sim_time end)
{
	bool has_any = false;

	for (size_t i = 0; i < r->n_views; i++)
		has_any = has_any || has_stopped(&r->view[i], end);
	facts_text(f, "_injection",
		has_any ? "; injection stopped, because old and new paths "
			  "together have a cycle"
			: ", without stopping injection");
	if (!r->n_stops)
		return;
	facts_list(f, "stops");
	for (size_t i = 0; i < r->n_views; i++) {
		const struct net_view *v = &r->view[i];

		if (!has_stopped(v, end))
			continue;
		facts_group(f, NULL);
		facts_same(f, "repair", i + 1);
		facts_real(f, "from_us", (double)v->stop / SIM_NS / 1000);
		facts_real(f, "until_us", (double)v->from / SIM_NS / 1000);
		facts_real(f, "stopped_us",
			(double)(v->from - v->stop) / SIM_NS / 1000);
		facts_end(f);
	}
	facts_end(f);
}

/* Repairs that the run has reached. */
static size_t repairs_until(const struct net_repair *r, sim_time end)
{
	size_t n = 0;

	while (n < r->n_views && r->view[n].from <= end)
		n++;
	return n;
}

/* The view with the most pairs without a way stands for all. */
static void add_repairs(
	struct facts *f, const struct net_repair *r, sim_time end)
{
	const struct net_view *worst = NULL;
	size_t n = repairs_until(r, end);
	char name[64];

	facts_same(f, "repairs", n);
	add_stops(f, r, end);
	for (size_t i = 0; i < n; i++)
		if (r->view[i].missing.n &&
			(!worst || r->view[i].missing.n > worst->missing.n))
			worst = &r->view[i];
	if (!worst)
		return;
	facts_same(f, "missing_pairs", worst->missing.n);
	net_name_missing(r->whole->topo, &worst->missing, name, sizeof(name));
	facts_text(f, "missing_such_as", name);
	facts_real(f, "missing_from_us", (double)worst->from / SIM_NS / 1000);
}

/* What only some networks have, with their lines. */
static void add_more(struct facts *f, const struct net *n,
	const struct load_result *r, const struct fault_counts *c)
{
	const struct faults *p = n->faults;

	if (p->chip) {
		facts_count(f, "marked_packets", faults_marked(p));
		facts_count(f, "marked_dropped", nic_sum(r->nic, "marked"));
	}
	if (p->memory) {
		facts_count(f, "corrected_words",
			nic_sum(r->nic, "corrected") + faults_mended(p));
		facts_count(f, "uncorrectable_words",
			nic_sum(r->nic, "uncorrectable") +
				faults_stopped(p, NULL));
	}
	if (r->nic && r->nic->ops->can & NIC_LOSES)
		facts_count(
			f, "lost_in_cards", nic_sum(r->nic, "lost_in_cards"));
	facts_count(f, "dead_programs", r->dead_programs);
	if (p->n_narrow)
		facts_count(f, "narrow_links", p->n_narrow);
	if (n->link.fec) {
		facts_count(f, "codewords_corrected", c->corrected);
		facts_count(f, "codewords_failed", c->failed);
		facts_count(f, "codewords_miscorrected", c->wrong);
	}
	if (n->repair)
		add_repairs(f, n->repair, r->end);
	if (!n->n_tables)
		return;
	if (!n->repair)
		facts_same(f, "reloads", n->n_tables);
	facts_count(f, "dropped_packets", net_total(n).dropped);
	if (!n->repair)
		facts_count(f, "stranded_packets", net_total(n).stranded);
	else
		facts_count(f, "_late", net_total(n).dropped);
}

static void add_lines(struct facts *f, const struct net *n)
{
	facts_line(f, "faults",
		"{bit_errors} bit{bit_errors|s} flipped in {hurt_packets} "
		"packet{hurt_packets|s}, {lost_packets} "
		"packet{lost_packets|s} lost on failed links");
	facts_line(f, "dropped",
		"[{bad_headers} packet{bad_headers|s} with a corrupted header, "
		"{torn} with a corrupted payload; {lost_in_cards} lost in dead "
		"cards]");
	facts_line(f, "replay",
		"[{resent_packets} packet{resent_packets|s} retransmitted, "
		"{echoes} arrived twice, {reported_dead} "
		"report{reported_dead|s} of a dead link]");
	facts_line(f, "fibres",
		"[{_symbols_rebuilt} symbol{_symbols_rebuilt|s} rebuilt]");
	facts_line(f, "correction",
		"[{codewords_corrected} codeword{codewords_corrected|s} "
		"corrected, {codewords_failed} uncorrectable, "
		"{codewords_miscorrected} miscorrected]");
	facts_line(f, "repair",
		"[repairs?paths changed {repairs} time{repairs|s} because "
		"links failed or returned{_injection}]");
	if (n->repair && n->repair->n_stops)
		facts_each(f, "stops", MOST_TOLD, "stopped",
			"for repair {repair} from {from_us:.10g} us to "
			"{until_us:.10g} us ({stopped_us:.10g} us)");
	facts_line(f, "drained",
		"[dropped {_late} packet{_late|s} that had not arrived by the "
		"end of a stop]");
	facts_line(f, "no way",
		"[from {missing_from_us:.10g} us on {missing_pairs} "
		"pair{missing_pairs|s} of nodes had none, such as "
		"{missing_such_as}]");
	facts_line(f, "management",
		"[tables loaded {reloads} time{reloads|s}, {dropped_packets} "
		"packet{dropped_packets|s} dropped, {stranded_packets} of them "
		"without a route]");
	facts_line(f, "chips",
		"[{marked_packets} packet{marked_packets|s} marked, "
		"{marked_dropped} dropped at the destination]");
	facts_line(f, "memories",
		"[{corrected_words} word{corrected_words|s} corrected, "
		"{uncorrectable_words} uncorrectable]");
	facts_line(f, "lanes",
		"[{narrow_links} link{narrow_links|s} ran with fewer lanes]");
}

static void add_classes(struct facts *f, const struct net *n)
{
	facts_list(f, "links");
	for (uint32_t i = 0; i < n->topo->n_wires; i++) {
		struct fault_counts c = faults_total(n->faults, i);

		facts_group(f, NULL);
		facts_text(f, "class", n->topo->wire[i].name);
		add_counts(f, &c, n->retry != NULL);
		facts_end(f);
	}
	facts_end(f);
}

static void add_faults(struct facts *f, const struct net *n,
	const struct load_result *r, const struct fault_counts *c)
{
	static const char *const keys[] = { "torn", "unreadable", "violations",
		"escapes", "nacks", "timeouts", "resent", "duplicates" };

	facts_group(f, "faults");
	add_counts(f, c, n->retry != NULL);
	for (uint32_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		facts_count(f, keys[i],
			nic_sum(r->nic, keys[i]) +
				(strcmp(keys[i], "escapes") ? 0 : c->escaped));
	add_more(f, n, r, c);
	if (n->faults->fibres)
		facts_count(f, "_symbols_rebuilt", c->rebuilt);
	add_lines(f, n);
	add_training(f, n);
	if (r->nic)
		facts_line(f, "retries",
			"{resent} packet{resent|s} retransmitted: {nacks} were "
			"refused, "
			"{timeouts} not acknowledged in time; {duplicates} "
			"arrived twice");
	facts_line(f, "programs",
		"[dead_programs?{dead_programs} ended by the death of nodes]");
	facts_line(f, "undetected",
		"[escapes?{escapes} corrupted packet{escapes|s} that no check "
		"code detected]");
	add_classes(f, n);
	facts_end(f);
}

void facts_of_faults(struct facts *f, const struct machine_run *r)
{
	const struct net *n = r->system->net;
	struct fault_counts c;

	facts_place(f, FACTS_AT_FAULTS);
	if (n->faults) {
		c = sum(n);
		add_faults(f, n, &r->result, &c);
		add_ras(f, n, &c);
	}
	parts_facts(&r->system->place, r->result.end, f);
}
