#include "record/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "record/bulk.h"
#include "record/calls.h"
#include "record/exposed.h"
#include "record/inputs.h"
#include "record/links.h"
#include "record/messages.h"
#include "record/params.h"
#include "record/program.h"
#include "record/ranks.h"
#include "record/read.h"
#include "record/tables.h"

enum {
	SAMPLES_PER_PERIOD = 256, /* then the period doubles */
	SAMPLES_PER_BATCH = 64, /* in one transaction */
	SAMPLES_PER_LOOK = 64, /* at what packets wait for */
	NAME_SIZE = 96,
};

struct record {
	struct db *db;
	struct machine_run *run;
	struct record_messages *messages; /* NULL: none are kept */
	struct record_links links;
	struct net_tally sum; /* until the last sample */
	sim_time period, at;
	int64_t n; /* samples so far */
	struct err e; /* what went wrong meanwhile */
};

/* --- what is known before --- */

static void put_number(
	struct db *d, const char *key, int64_t value, struct err *e)
{
	row_put_meta(d,
		&(struct row_meta){ .key = key, .value = { .number = value } },
		e);
}

static void put_hash(
	struct db *d, const char *key, uint64_t value, struct err *e)
{
	char text[24];

	snprintf(text, sizeof(text), "%016" PRIx64, value);
	record_put_text(d, key, text, e);
}

static void put_arguments(struct db *d, const char *kind,
	const char *const *values, size_t n, struct err *e)
{
	struct row_argument row = { .kind = kind };

	for (; row.n < (int64_t)n; row.n++) {
		row.value = values[row.n];
		row_put_argument(d, &row, e);
	}
}

/* A program of the host, and its environment. */
static void put_program(struct db *d, const struct load *l, struct err *e)
{
	const char *const *command = l->needs.command;
	const char *variable[RECORD_VARIABLES];
	size_t n = 0;

	if (!command)
		return;
	while (command[n])
		n++;
	put_arguments(d, "command", command, n, e);
	n = record_environment(&l->needs.launch, variable);
	put_arguments(d, "environment", variable, n, e);
}

static void put_inputs(struct db *d, const struct machine_run *r, struct err *e)
{
	struct record_inputs in = { NULL, 0 };

	record_inputs_run(&in, r);
	record_inputs_write(&in, d, e);
	record_inputs_free(&in);
}

static void put_setup(struct db *d, const struct machine_run *r,
	const char *command, struct err *e)
{
	const struct machine_run_setup *s = &r->setup;
	char shape[PARAM_TEXT_MAX];

	machine_shape(r->machine, shape, sizeof(shape));
	record_put_text(d, "weft", WEFT_VERSION, e);
	record_put_text(d, "ending", "stopped", e);
	record_put_text(d, "command", command, e);
	record_put_text(d, "machine", s->machine.name, e);
	record_put_text(d, "machine_name", r->machine->header.name, e);
	if (r->machine->header.caveat[0])
		record_put_text(
			d, "machine_caveat", r->machine->header.caveat, e);
	record_put_file(d, "machine_file", r->machine->path, e);
	record_put_text(d, "topology", r->machine->topo->ops->name, e);
	record_put_text(d, "shape", shape, e);
	record_put_text(d, "shape_given", s->machine.shape, e);
	record_put_text(d, "faults", s->faults, e);
	record_put_file(d, "faults_file", s->faults, e);
	record_put_text(d, "energy", s->energy, e);
	record_put_text(d, "tables", s->machine.tables, e);
	record_put_text(d, "workload",
		s->load_arg && !s->program ? s->workload : r->load->ops->name,
		e);
	record_put_text(d, "jobs", s->jobs, e);
	record_put_file(d, "jobs_file", s->jobs, e);
	put_number(d, "nodes", r->system->net->n_nodes, e);
	put_number(d, "seed", (int64_t)s->seed, e);
	put_number(d, "until_ps", s->until, e);
	put_number(d, "threads", r->threads, e);
	record_put_text(d, "program", s->program, e);
	put_arguments(d, "plugin", s->machine.plugins, s->machine.n_plugins, e);
	put_arguments(d, "set", s->machine.sets, s->machine.n_sets, e);
	put_arguments(d, "key", s->keys, s->n_keys, e);
	put_program(d, r->load, e);
	put_hash(d, "params_hash", record_hash(r), e);
	put_inputs(d, r, e);
}

/* NULL in dimensions that there are not. */
static void find_place(const struct topo *t, site_id s, int64_t *x)
{
	uint32_t size[TOPO_MAX_DIMS], at[TOPO_MAX_DIMS] = { 0 };
	uint32_t n = 0;

	if (t->ops->grid && t->ops->place &&
		topo_node_near(t, s) < t->n_nodes) {
		n = t->ops->grid(t, size);
		t->ops->place(t, topo_node_near(t, s), at);
	}
	for (uint32_t i = 0; i < TOPO_MAX_DIMS; i++)
		x[i] = i < n ? at[i] : ROW_NULL;
}

static void put_params(struct db *d, const struct machine_run *r, struct err *e)
{
	struct bulk *b = bulk_new(d, TABLE_param, e);

	record_params_write(b, NULL, r->machine, e);
	record_block_write(b, NULL, &r->keys, e);
	bulk_end(b, e);
}

static void put_sites(struct db *d, const struct topo *t, struct err *e)
{
	struct bulk *b = bulk_new(d, TABLE_site, e);
	int64_t x[TOPO_MAX_DIMS];
	char name[NAME_SIZE];

	for (site_id s = 0; s < t->n_routers; s++) {
		topo_name_site(t, s, name, sizeof(name));
		find_place(t, s, x);
		bulk_put(b,
			&(struct row_site){ .id = s,
				.name = name,
				.is_node = s < t->n_nodes,
				.x0 = x[0],
				.x1 = x[1],
				.x2 = x[2],
				.x3 = x[3],
				.x4 = x[4],
				.x5 = x[5] },
			e);
	}
	bulk_end(b, e);
}

static int put_start(
	struct db *d, struct machine_run *r, const char *command, struct err *e)
{
	if (db_pages_begin(d, e))
		return -1;
	put_params(d, r, e);
	put_sites(d, r->machine->topo, e);
	if (db_pages_end(d, e) || db_begin(d, e))
		return -1;
	put_setup(d, r, command, e);
	return e->code ? -1 : db_do(d, "COMMIT", e);
}

/* --- samples --- */

/* Totals of all workers and processes, until now. */
static struct net_tally sum_tallies(const struct net *n, sim_time now)
{
	struct net_tally sum = net_total(n);

	sum.injected -= net_n_early(n, now);
	return sum;
}

/* What is shared among processes is, whatever goes wrong. */
static void write_sample(struct record *k, sim_time now, uint64_t hops)
{
	struct net_tally sum = sum_tallies(k->run->system->net, now);
	const char *only = record_links_only(&k->links);
	struct row_sample row = {
		.n = k->n,
		.from_ps = k->at,
		.to_ps = now,
		.injected = (int64_t)(sum.injected - k->sum.injected),
		.delivered = (int64_t)(sum.delivered - k->sum.delivered),
		.hops = (int64_t)hops,
		.timed = (int64_t)(sum.timed - k->sum.timed),
		.latency_ps = (int64_t)(sum.latency - k->sum.latency),
		.use = record_list(&k->links, k->links.now.use),
		.waiting = record_list(&k->links, k->links.now.waiting),
		.token_wait = record_list(&k->links, k->links.now.tokens),
		.retries = record_list(&k->links, k->links.now.retries),
		.channel = only && *only ? only : NULL,
		.wanted = record_list(
			&k->links, record_links_wanted(&k->links, k->n)),
	};

	k->sum = sum;
	if (k->n % SAMPLES_PER_BATCH == 0)
		db_do(k->db, "BEGIN", &k->e);
	row_put_sample(k->db, &row, &k->e);
	record_channels_write(&k->links, k->db, k->n, &k->e);
	if (++k->n % SAMPLES_PER_BATCH == 0 && !k->e.code)
		db_do(k->db, "COMMIT", &k->e);
}

/* Called while nothing runs; what fails is told in the end. */
static void on_sample(void *arg, sim_time now)
{
	struct record *k = arg;
	const struct sim *sim = k->run->system->net->sim;

	if (k->e.code || now <= k->at)
		return;
	write_sample(k, now, record_links_sample(&k->links, k->at, now));
	k->at = now;
	if (sim_share_error(sim, &k->e))
		return;
	if (k->n % SAMPLES_PER_LOOK == SAMPLES_PER_LOOK / 2)
		record_links_look(&k->links, k->db, k->n - 1, &k->e);
	if (sim_share_error(sim, &k->e))
		return;
	if (k->n % SAMPLES_PER_PERIOD == 0)
		k->run->load->sample *= 2;
}

struct record *record_new(const char *path, struct machine_run *r,
	const char *command, sim_time period, struct err *e)
{
	struct record *k = mem_alloc(1, sizeof(*k));
	const struct sim *sim = r->system->net->sim;

	k->run = r;
	k->db = db_create(sim_is_first(sim) ? path : NULL, IN_RUNS, e);
	if (k->db && !sim_is_first(sim))
		db_mute(k->db);
	if (k->db)
		put_start(k->db, r, command, e);
	if (sim_share_error(sim, e)) {
		db_discard(k->db);
		k->db = NULL;
		record_free(k);
		return NULL;
	}
	record_links_init(&k->links, r->system->net);
	if (r->system->host)
		host_keep_log(r->system->host);
	r->load->sample = period ? period : RECORD_PERIOD;
	r->load->on_sample = on_sample;
	r->load->sample_arg = k;
	return k;
}

void record_free(struct record *k)
{
	if (!k)
		return;
	db_close(k->db);
	record_links_fini(&k->links);
	mem_free(k);
}

void record_keep(struct record *k, struct record_messages *m)
{
	k->messages = m;
}

/* --- what came of it --- */

/* Figures on their way into the file. */
struct figures {
	struct db *db;
	struct err *e;
};

static void put_figure(void *arg, const char *name, double value)
{
	const struct figures *f = arg;

	row_put_figure(f->db,
		&(struct row_figure){ .name = name, .value = value }, f->e);
}

static void put_latency(struct record *k, struct err *e)
{
	const struct hist *h = &k->run->result.latency;
	struct bulk *b = bulk_new(k->db, TABLE_latency, e);

	for (uint32_t i = 0; i < HIST_BUCKETS; i++)
		if (h->bucket[i])
			bulk_put(b,
				&(struct row_latency){
					.from_ps =
						i ? hist_upper(i - 1) + 1 : 0,
					.to_ps = hist_upper(i),
					.count = (int64_t)h->bucket[i] },
				e);
	bulk_end(b, e);
}

static void put_causes(struct record *k, struct err *e)
{
	struct book_sums *s = mem_alloc(1, sizeof(*s));

	book_sum(k->run->system->net->book, s);
	for (uint32_t c = 0; c < N_CAUSES; c++)
		row_put_cause(k->db,
			&(struct row_cause){ .name = causes[c].key,
				.ps = (int64_t)s->spent[c] },
			e);
	record_classes_write(s->class, k->db, e);
	mem_free(s);
}

static void put_counters(struct record *k, struct err *e)
{
	const struct nic *nic = k->run->system->nic;
	const struct nic_counter *c = nic ? nic->ops->counters : NULL;

	for (; c && c->key; c++)
		row_put_counter(k->db,
			&(struct row_counter){ .name = c->key,
				.value = (int64_t)nic_sum(nic, c->key) },
			e);
}

static void put_messages(struct record *k, struct err *e)
{
	record_messages_write(k->messages, &k->links, k->db, e);
	put_number(k->db, "messages_ended",
		(int64_t)record_messages_ended(
			k->messages, k->run->system->net->sim),
		e);
}

static void put_result(struct record *k, const char *ending, struct err *e)
{
	const struct machine_run *r = k->run;
	struct figures f = { k->db, e };

	record_links_look(&k->links, k->db, k->n - 1, e);
	machine_run_each(k->run, put_figure, &f);
	put_counters(k, e);
	record_calls_write(r, k->db, e);
	record_ranks_write(r, k->db, e);
	record_exposed_write(r, k->db, e);
	if (r->system->net->book)
		put_causes(k, e);
	if (k->messages)
		put_messages(k, e);
	record_put_text(k->db, "via", r->result.via, e);
	record_put_text(k->db, "cycle", r->result.knot, e);
	put_hash(k->db, "digest", r->digest, e);
	put_number(k->db, "end_ps", r->result.end, e);
	put_number(k->db, "packets", (int64_t)r->packets, e);
	put_number(k->db, "packet_hops", (int64_t)r->hops, e);
	record_put_text(k->db, "ending", ending, e);
}

/* All processes write links, whatever goes wrong, since they share them. */
static void end_record(struct record *k, const char *ending, struct err *e)
{
	if (k->n % SAMPLES_PER_BATCH)
		db_do(k->db, "COMMIT", e);
	if (!e->code)
		db_pages_begin(k->db, e);
	record_links_write(&k->links, k->db, k->run->result.end, e);
	put_latency(k, e);
	if (!e->code)
		db_pages_end(k->db, e);
	if (!e->code)
		db_do(k->db, "BEGIN", e);
	put_result(k, ending, e);
	if (!e->code)
		db_do(k->db, "COMMIT", e);
}

int record_end(struct record *k, const char *ending, struct err *e)
{
	sim_time end = k->run->result.end;

	if (end > k->at)
		on_sample(k, end);
	else /* what is counted at this time */
		record_links_sample(&k->links, end - 1, end);
	if (k->e.code)
		return err_set(e, "%s", k->e.text);
	end_record(k, ending, e);
	return sim_share_error(k->run->system->net->sim, e);
}

void record_why(struct record *k, const char *why)
{
	struct err e = { 0 };

	record_put_text(k->db, "error", why, &e);
}

void record_stop(struct record *k, const char *why)
{
	struct err e = { 0 };

	if (k->n % SAMPLES_PER_BATCH)
		db_do(k->db, "COMMIT", &e);
	record_put_text(k->db, "error", why, &e);
}

void record_fail(struct record *k, const char *why)
{
	struct err e = { 0 };

	record_stop(k, why);
	record_put_text(k->db, "ending", "failed", &e);
}
