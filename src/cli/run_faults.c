#include "cli/run.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "out/table.h"

enum { MOST_TOLD = 10 };

static struct fault_counts sum(const struct net *n)
{
	struct fault_counts all = { 0 };
	uint32_t i;

	for (i = 0; i < n->topo->n_wires; i++) {
		struct fault_counts c = faults_total(n->faults, i);

		fault_counts_add(&all, &c);
	}
	return all;
}

/* "link 1.0 up 1: lines 3, clock" */
static void name_untrained(const struct topo *t,
	const struct fault_untrained *u, char *text, size_t size)
{
	router_id r = u->link / t->n_ports;
	char site[64], port[64];
	const char *before = ": line ";
	size_t used;
	uint32_t i;

	t->ops->name_router(t, r, site, sizeof(site));
	t->ops->name_port(t, r, u->link % t->n_ports, port, sizeof(port));
	used = (size_t)snprintf(text, size, "link %s%s%s", site,
		r < t->n_nodes ? "" : " ", r < t->n_nodes ? "" : port);
	for (i = 0; i < TRAINING_LINES && used < size; i++) {
		if (!(u->lines >> i & 1))
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s",
			before, fault_line_names[i]);
		before = ", ";
	}
}

static void text_training(FILE *f, const struct net *n)
{
	const struct fault_trainings *t = &n->faults->trainings;
	char name[256];
	size_t i;

	if (t->n)
		fprintf(f,
			"training    %" PRIu64
			" links, each in %.10g us; smallest margin %" PRId64
			" ps\n",
			t->n, (double)t->time / 1e6, t->margin);
	for (i = 0; i < t->n_untrained && i < MOST_TOLD; i++) {
		name_untrained(n->topo, &t->untrained[i], name, sizeof(name));
		fprintf(f, "untrained   %s: cannot be trained, stays down\n",
			name);
	}
	if (i < t->n_untrained)
		fprintf(f, "untrained   and %zu more\n", t->n_untrained - i);
	if (t->n_blind)
		fprintf(f,
			"untrained   %u links with lines that are sampled "
			"outside their eyes\n",
			t->n_blind);
}

/* --- what the machine reports of itself --- */

static void ras_cells(
	const struct net *n, const struct ras_event *e, char cell[5][128])
{
	snprintf(cell[0], sizeof(cell[0]), "%.3f us", (double)e->at / 1e6);
	topo_name_site(n->topo, e->site, cell[1], sizeof(cell[1]));
	ras_unit(e, n->topo, cell[2], sizeof(cell[2]));
	snprintf(cell[3], sizeof(cell[3]), "%s", ras_severity(e));
	ras_describe(e, cell[4], sizeof(cell[4]));
}

static void text_ras(FILE *f, const struct net *n)
{
	static const struct table_column columns[] = { { "time", true },
		{ "node", false }, { "unit", false }, { "severity", false },
		{ "what", false } };
	struct table t;
	size_t n_events, i;
	struct ras_event *v = net_ras(n, &n_events);
	char cell[5][128];

	table_init(&t, columns, 5);
	for (i = 0; i < n_events && i < MOST_TOLD; i++) {
		const char *row[] = { cell[0], cell[1], cell[2], cell[3],
			cell[4] };

		ras_cells(n, &v[i], cell);
		table_add(&t, row);
	}
	if (n_events)
		table_print(&t, f, 0, false);
	if (i < n_events)
		fprintf(f, "... and %zu more events\n", n_events - i);
	table_fini(&t);
	mem_free(v);
}

static void json_ras(
	struct json *j, const struct net *n, const struct fault_counts *c)
{
	static const char *const keys[] = { "node", "unit", "severity",
		"what" };
	size_t n_events, i, k;
	struct ras_event *v = net_ras(n, &n_events);
	char cell[5][128];

	json_object(j, "ras");
	json_count(j, "symbols_rebuilt", c->rebuilt);
	json_count(j, "bad_headers", c->headers);
	json_count(j, "packets_resent", c->resent);
	json_count(j, "duplicates_dropped", c->echoes);
	json_count(j, "short_packets_resent", c->shorts);
	json_count(j, "escapes", c->escaped);
	json_count(j, "dead_links", c->reported);
	json_count(j, "mended_words", faults_mended(n->faults));
	json_count(j, "stopped_units", faults_stopped(n->faults, NULL));
	json_array(j, "events");
	for (i = 0; i < n_events; i++) {
		ras_cells(n, &v[i], cell);
		json_object(j, NULL);
		json_real(j, "time_ns", (double)v[i].at / SIM_NS);
		for (k = 0; k < 4; k++)
			json_text(j, keys[k], cell[k + 1]);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
	mem_free(v);
}

void run_faults_text(FILE *f, const struct net *n, const struct load_result *r)
{
	uint64_t escapes = nic_sum(r->nic, "escapes");
	struct fault_counts c;

	if (!n->faults)
		return;
	c = sum(n);
	escapes += c.escaped;
	fprintf(f,
		"faults      %" PRIu64 " bits flipped in %" PRIu64
		" packets, %" PRIu64 " packets lost on dead links\n",
		c.bit_errors, c.hurt, c.lost);
	if (r->nic && r->nic->ops->can & NIC_LOSES)
		fprintf(f,
			"dropped     %" PRIu64
			" packets with a corrupted header, %" PRIu64
			" with a corrupted payload; %" PRIu64
			" lost in dead cards\n",
			c.headless, nic_sum(r->nic, "torn"),
			nic_sum(r->nic, "lost_in_cards"));
	if (n->retry)
		fprintf(f,
			"replay      %" PRIu64 " packets resent, %" PRIu64
			" arrived twice, links reported as dead %" PRIu64
			" times\n",
			c.resent, c.echoes, c.reported);
	if (n->faults->fibres)
		fprintf(f, "fibres      %" PRIu64 " symbols rebuilt\n",
			c.rebuilt);
	if (n->n_tables)
		fprintf(f,
			"management  %zu times loaded tables, %" PRIu64
			" packets dropped, %" PRIu64 " of them without a way\n",
			n->n_tables, net_total(n).dropped,
			net_total(n).stranded);
	if (n->faults->chip)
		fprintf(f,
			"chips       %" PRIu64 " packets marked, %" PRIu64
			" dropped at their destinations\n",
			faults_marked(n->faults), nic_sum(r->nic, "marked"));
	if (n->faults->memory)
		fprintf(f,
			"memories    %" PRIu64 " words corrected, %" PRIu64
			" uncorrectable\n",
			nic_sum(r->nic, "corrected") + faults_mended(n->faults),
			nic_sum(r->nic, "uncorrectable") +
				faults_stopped(n->faults, NULL));
	if (n->faults->n_narrow)
		fprintf(f, "lanes       %u links ran with fewer lanes\n",
			n->faults->n_narrow);
	text_training(f, n);
	if (r->nic)
		fprintf(f,
			"retries     %" PRIu64 " packets resent: %" PRIu64
			" were refused, %" PRIu64 " not answered; %" PRIu64
			" arrived twice\n",
			nic_sum(r->nic, "resent"), nic_sum(r->nic, "nacks"),
			nic_sum(r->nic, "timeouts"),
			nic_sum(r->nic, "duplicates"));
	if (r->dead_programs)
		fprintf(f, "programs    %u died with their nodes\n",
			r->dead_programs);
	if (escapes)
		fprintf(f,
			"undetected  %" PRIu64
			" corrupted packets that no check code detected\n",
			escapes);
	text_ras(f, n);
}

static void json_training(struct json *j, const struct net *n)
{
	const struct fault_trainings *t = &n->faults->trainings;
	char name[256];
	size_t i;

	if (!t->time)
		return;
	json_object(j, "training");
	json_count(j, "trained", t->n);
	json_real(j, "time_ns", (double)t->time / SIM_NS);
	json_int(j, "margin_ps", t->margin);
	json_count(j, "blind_links", t->n_blind);
	json_array(j, "untrained");
	for (i = 0; i < t->n_untrained; i++) {
		name_untrained(n->topo, &t->untrained[i], name, sizeof(name));
		json_text(j, NULL, name);
	}
	json_end(j, ']');
	json_end(j, '}');
}

static void json_counts(
	struct json *j, const struct fault_counts *c, bool has_retry)
{
	json_count(j, "bit_errors", c->bit_errors);
	json_count(j, "hurt_packets", c->hurt);
	json_count(j, "lost_packets", c->lost);
	json_count(j, "bad_headers", c->headless);
	if (has_retry) {
		json_count(j, "resent_packets", c->resent);
		json_count(j, "echoes", c->echoes);
		json_count(j, "reported_dead", c->reported);
	}
}

void run_faults_json(
	struct json *j, const struct net *n, const struct load_result *r)
{
	static const char *const keys[] = { "torn", "unreadable", "violations",
		"escapes", "nacks", "timeouts", "resent", "duplicates" };
	const struct topo *t = n->topo;
	struct fault_counts c;
	uint32_t i;

	if (!n->faults)
		return;
	c = sum(n);
	json_object(j, "faults");
	json_counts(j, &c, n->retry != NULL);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_count(j, keys[i],
			nic_sum(r->nic, keys[i]) +
				(strcmp(keys[i], "escapes") ? 0 : c.escaped));
	if (n->faults->chip) {
		json_count(j, "marked_packets", faults_marked(n->faults));
		json_count(j, "marked_dropped", nic_sum(r->nic, "marked"));
	}
	if (n->faults->memory) {
		json_count(j, "corrected_words",
			nic_sum(r->nic, "corrected") +
				faults_mended(n->faults));
		json_count(j, "uncorrectable_words",
			nic_sum(r->nic, "uncorrectable") +
				faults_stopped(n->faults, NULL));
	}
	if (r->nic && r->nic->ops->can & NIC_LOSES)
		json_count(
			j, "lost_in_cards", nic_sum(r->nic, "lost_in_cards"));
	json_count(j, "dead_programs", r->dead_programs);
	if (n->faults->n_narrow)
		json_count(j, "narrow_links", n->faults->n_narrow);
	if (n->n_tables) {
		json_count(j, "reloads", n->n_tables);
		json_count(j, "dropped_packets", net_total(n).dropped);
		json_count(j, "stranded_packets", net_total(n).stranded);
	}
	json_training(j, n);
	json_array(j, "links");
	for (i = 0; i < t->n_wires; i++) {
		c = faults_total(n->faults, i);
		json_object(j, NULL);
		json_text(j, "class", t->wire[i].name);
		json_counts(j, &c, n->retry != NULL);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
	c = sum(n);
	if (n->retry)
		json_ras(j, n, &c);
}
