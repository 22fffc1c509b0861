#include "record/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "record/calls.h"
#include "record/inputs.h"
#include "record/links.h"
#include "record/messages.h"
#include "record/params.h"
#include "record/read.h"
#include "record/schema.h"

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
	uint64_t injected, delivered, latency; /* until the last sample */
	struct db_query *insert; /* of samples */
	sim_time period, at;
	int64_t n; /* samples so far */
	struct err e; /* what went wrong meanwhile */
};

/* --- what is known before --- */

static struct db_query *insert_meta(
	struct db *d, const char *key, struct err *e)
{
	struct db_query *q =
		db_prepare(d, "INSERT OR REPLACE INTO meta VALUES(?, ?)", e);

	if (q)
		db_bind_text(q, 1, key);
	return q;
}

static int run_once(struct db_query *q, struct err *e)
{
	int failed = db_run(q, e);

	db_finish(q);
	return failed;
}

static int put_meta_text(
	struct db *d, const char *key, const char *value, struct err *e)
{
	struct db_query *q = insert_meta(d, key, e);

	if (!q)
		return -1;
	db_bind_text(q, 2, value);
	return run_once(q, e);
}

static int put_meta_int(
	struct db *d, const char *key, int64_t value, struct err *e)
{
	struct db_query *q = insert_meta(d, key, e);

	if (!q)
		return -1;
	db_bind_int(q, 2, value);
	return run_once(q, e);
}

/* All of a file, or "" where it cannot be read. */
static char *read_text(const char *path)
{
	FILE *f = path && *path ? fopen(path, "r") : NULL;
	char *text;

	if (!f)
		return mem_text("");
	text = mem_alloc(MACHINE_FILE_MAX + 1, 1);
	text[fread(text, 1, MACHINE_FILE_MAX, f)] = '\0';
	fclose(f);
	return text;
}

static int put_file(
	struct db *d, const char *key, const char *path, struct err *e)
{
	char *text = read_text(path);
	int failed = put_meta_text(d, key, text, e);

	mem_free(text);
	return failed;
}

static int put_arguments(struct db *d, const char *kind,
	const char *const *values, size_t n, struct err *e)
{
	struct db_query *q =
		db_prepare(d, "INSERT INTO argument VALUES(?, ?, ?)", e);
	int failed = !q;
	size_t i;

	for (i = 0; i < n && !failed; i++) {
		db_bind_text(q, 1, kind);
		db_bind_int(q, 2, (int64_t)i);
		db_bind_text(q, 3, values[i]);
		failed = db_run(q, e);
	}
	db_finish(q);
	return failed ? -1 : 0;
}

static int put_params(struct db *d, const struct machine_run *r, struct err *e)
{
	struct db_query *q =
		db_prepare(d, "INSERT INTO param VALUES(?, ?, ?, ?)", e);
	int failed = !q || record_params_write(q, r->machine, e) ||
		     record_block_write(q, &r->keys, e);
	char text[24];

	db_finish(q);
	snprintf(text, sizeof(text), "%016" PRIx64, record_hash(r));
	return failed || put_meta_text(d, "params_hash", text, e) ? -1 : 0;
}

static int put_inputs(struct db *d, const struct machine_run *r, struct err *e)
{
	struct record_inputs in = { NULL, 0 };
	int failed;

	record_inputs_run(&in, r);
	failed = record_inputs_write(&in, d, e);
	record_inputs_free(&in);
	return failed;
}

static int put_setup(struct db *d, const struct machine_run *r,
	const char *command, struct err *e)
{
	const struct machine_run_setup *s = &r->setup;
	char shape[PARAM_TEXT_MAX];

	machine_shape(r->machine, shape, sizeof(shape));
	return put_meta_text(d, "weft", WEFT_VERSION, e) ||
	       put_meta_text(d, "ending", "stopped", e) ||
	       put_meta_text(d, "command", command, e) ||
	       put_meta_text(d, "machine", s->machine, e) ||
	       put_meta_text(d, "machine_name", r->machine->header.name, e) ||
	       put_file(d, "machine_file", r->machine->path, e) ||
	       put_meta_text(d, "topology", r->machine->topo->ops->name, e) ||
	       put_meta_text(d, "shape", shape, e) ||
	       put_meta_text(d, "shape_given", s->shape ? s->shape : "", e) ||
	       put_meta_text(d, "faults", s->faults ? s->faults : "", e) ||
	       put_file(d, "faults_file", s->faults, e) ||
	       put_meta_text(d, "workload",
		       s->load_arg && !s->program ? s->workload
						  : r->load->ops->name,
		       e) ||
	       put_meta_text(d, "jobs", s->jobs ? s->jobs : "", e) ||
	       put_file(d, "jobs_file", s->jobs, e) ||
	       put_meta_int(d, "nodes", r->system->net->n_nodes, e) ||
	       put_meta_int(d, "seed", (int64_t)s->seed, e) ||
	       put_meta_int(d, "until_ps", s->until, e) ||
	       put_meta_int(d, "threads", r->threads, e) ||
	       put_meta_text(d, "program", s->program ? s->program : "", e) ||
	       put_arguments(d, "plugin", s->plugins, s->n_plugins, e) ||
	       put_arguments(d, "set", s->sets, s->n_sets, e) ||
	       put_arguments(d, "key", s->keys, s->n_keys, e) ||
	       put_params(d, r, e) || put_inputs(d, r, e);
}

static void bind_place(struct db_query *q, const struct topo *t, site_id s)
{
	uint32_t size[TOPO_MAX_DIMS], x[TOPO_MAX_DIMS] = { 0 };
	uint32_t n = 0, i;

	if (t->ops->grid && t->ops->place &&
		topo_node_near(t, s) < t->n_nodes) {
		n = t->ops->grid(t, size);
		t->ops->place(t, topo_node_near(t, s), x);
	}
	for (i = 0; i < n; i++)
		db_bind_int(q, (int)(4 + i), x[i]);
}

static int put_sites(struct db *d, const struct topo *t, struct err *e)
{
	struct db_query *q = db_prepare(
		d, "INSERT INTO site VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", e);
	int failed = !q;
	char name[NAME_SIZE];
	site_id s;

	for (s = 0; s < t->n_routers && !failed; s++) {
		topo_name_site(t, s, name, sizeof(name));
		db_bind_int(q, 1, s);
		db_bind_text(q, 2, name);
		db_bind_int(q, 3, s < t->n_nodes);
		bind_place(q, t, s);
		failed = db_run(q, e);
	}
	db_finish(q);
	return failed ? -1 : 0;
}

/* --- samples --- */

static int write_sample(struct record *k, sim_time now, uint64_t hops)
{
	const struct net *n = k->run->system->net;
	size_t bytes = k->links.links.n * sizeof(uint16_t);
	uint64_t injected = 0, delivered = 0, latency = 0;
	const char *only = record_links_only(&k->links);
	const uint16_t *wanted;
	uint32_t i;

	for (i = 0; i < n->n_workers; i++) {
		injected += n->tally[i].injected;
		delivered += n->tally[i].delivered;
		latency += n->tally[i].latency;
	}
	injected -= net_n_early(n, now);
	db_bind_int(k->insert, 1, k->n);
	db_bind_int(k->insert, 2, k->at);
	db_bind_int(k->insert, 3, now);
	db_bind_int(k->insert, 4, (int64_t)(injected - k->injected));
	db_bind_int(k->insert, 5, (int64_t)(delivered - k->delivered));
	db_bind_int(k->insert, 6, (int64_t)hops);
	db_bind_int(k->insert, 7, (int64_t)(latency - k->latency));
	db_bind_bytes(k->insert, 8, k->links.now.use, bytes);
	db_bind_bytes(k->insert, 9, k->links.now.waiting, bytes);
	if (k->links.now.tokens)
		db_bind_bytes(k->insert, 10, k->links.now.tokens, bytes);
	if (k->links.now.retries)
		db_bind_bytes(k->insert, 11, k->links.now.retries, bytes);
	db_bind_text(k->insert, 12, only && *only ? only : NULL);
	wanted = record_links_wanted(&k->links, k->n);
	db_bind_bytes(k->insert, 13, wanted, wanted ? bytes : 0);
	k->injected = injected;
	k->delivered = delivered;
	k->latency = latency;
	if (k->n % SAMPLES_PER_BATCH == 0 && db_do(k->db, "BEGIN", &k->e))
		return -1;
	if (db_run(k->insert, &k->e) ||
		record_channels_write(&k->links, k->db, k->n, &k->e))
		return -1;
	return ++k->n % SAMPLES_PER_BATCH == 0 ? db_do(k->db, "COMMIT", &k->e)
					       : 0;
}

/* Called while nothing runs; what fails is told in the end. */
static void on_sample(void *arg, sim_time now)
{
	struct record *k = arg;

	if (k->e.code || now <= k->at)
		return;
	write_sample(k, now, record_links_sample(&k->links, k->at, now));
	k->at = now;
	if (!k->e.code && k->n % SAMPLES_PER_LOOK == SAMPLES_PER_LOOK / 2)
		record_links_look(&k->links, k->db, k->n - 1, &k->e);
	if (k->n % SAMPLES_PER_PERIOD == 0)
		k->run->load->sample *= 2;
}

struct record *record_new(const char *path, struct machine_run *r,
	const char *command, sim_time period, struct err *e)
{
	struct record *k = mem_alloc(1, sizeof(*k));

	k->run = r;
	k->db = db_create(path, e);
	if (!k->db || db_do(k->db, record_schema, e) ||
		put_setup(k->db, r, command, e) ||
		put_sites(k->db, r->machine->topo, e) ||
		db_do(k->db, "COMMIT", e) ||
		!(k->insert = db_prepare(k->db,
			  "INSERT INTO sample VALUES(?, ?, ?, ?, ?, ?, ?, ?, "
			  "?, ?, ?, ?, ?)",
			  e))) {
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
	db_finish(k->insert);
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
	struct db_query *q;
	struct err *e;
};

static void put_figure(void *arg, const char *name, double value)
{
	struct figures *f = arg;

	db_bind_text(f->q, 1, name);
	db_bind_real(f->q, 2, value);
	if (!f->e->code)
		db_run(f->q, f->e);
}

static int put_figures(struct record *k, struct err *e)
{
	struct figures f = { .e = e };

	f.q = db_prepare(
		k->db, "INSERT OR REPLACE INTO figure VALUES(?, ?)", e);
	if (f.q)
		machine_run_each(k->run, put_figure, &f);
	db_finish(f.q);
	return e->code ? -1 : 0;
}

static int put_latency(struct record *k, struct err *e)
{
	struct db_query *q =
		db_prepare(k->db, "INSERT INTO latency VALUES(?, ?, ?)", e);
	const struct hist *h = &k->run->result.latency;
	int failed = !q;
	uint32_t i;

	for (i = 0; i < HIST_BUCKETS && !failed; i++) {
		if (!h->bucket[i])
			continue;
		db_bind_int(q, 1, i ? hist_upper(i - 1) + 1 : 0);
		db_bind_int(q, 2, hist_upper(i));
		db_bind_int(q, 3, (int64_t)h->bucket[i]);
		failed = db_run(q, e);
	}
	db_finish(q);
	return failed ? -1 : 0;
}

static int put_causes(struct record *k, struct err *e)
{
	struct db_query *q =
		db_prepare(k->db, "INSERT INTO cause VALUES(?, ?)", e);
	struct book_sums *s = mem_alloc(1, sizeof(*s));
	int failed = !q;
	uint32_t c;

	book_sum(k->run->system->net->book, s);
	for (c = 0; c < N_CAUSES && !failed; c++) {
		db_bind_text(q, 1, cause_keys[c]);
		db_bind_int(q, 2, (int64_t)s->spent[c]);
		failed = db_run(q, e);
	}
	db_finish(q);
	if (!failed)
		failed = record_classes_write(s->class, k->db, e);
	mem_free(s);
	return failed ? -1 : 0;
}

static int put_counters(struct record *k, struct err *e)
{
	struct db_query *q =
		db_prepare(k->db, "INSERT INTO counter VALUES(?, ?)", e);
	const struct nic *nic = k->run->system->nic;
	const struct nic_counter *c = nic ? nic->ops->counters : NULL;
	int failed = !q;

	for (; c && c->key && !failed; c++) {
		db_bind_text(q, 1, c->key);
		db_bind_int(q, 2, (int64_t)nic_sum(nic, c->key));
		failed = db_run(q, e);
	}
	db_finish(q);
	return failed ? -1 : 0;
}

static int put_result(struct record *k, const char *ending, struct err *e)
{
	const struct machine_run *r = k->run;
	char digest[24];

	snprintf(digest, sizeof(digest), "%016" PRIx64, r->digest);
	return record_links_write(&k->links, k->db, r->result.end, e) ||
	       record_links_look(&k->links, k->db, k->n - 1, e) ||
	       put_figures(k, e) || put_latency(k, e) || put_counters(k, e) ||
	       record_calls_write(r, k->db, e) ||
	       (r->system->net->book && put_causes(k, e)) ||
	       (k->messages &&
		       (record_messages_write(
				k->messages, &k->links, k->db, e) ||
			       put_meta_int(k->db, "messages_ended",
				       (int64_t)k->messages->ended, e))) ||
	       put_meta_text(k->db, "via", r->result.via, e) ||
	       put_meta_text(k->db, "cycle", r->result.knot, e) ||
	       put_meta_text(k->db, "digest", digest, e) ||
	       put_meta_int(k->db, "end_ps", r->result.end, e) ||
	       put_meta_int(k->db, "packets", (int64_t)r->packets, e) ||
	       put_meta_int(k->db, "packet_hops", (int64_t)r->hops, e) ||
	       put_meta_text(k->db, "ending", ending, e);
}

int record_end(struct record *k, const char *ending, struct err *e)
{
	on_sample(k, k->run->result.end);
	if (k->e.code)
		return err_set(e, "%s", k->e.text);
	if (k->n % SAMPLES_PER_BATCH && db_do(k->db, "COMMIT", e))
		return -1;
	if (db_do(k->db, "BEGIN", e) || put_result(k, ending, e))
		return -1;
	return db_do(k->db, "COMMIT", e);
}

void record_fail(struct record *k, const char *why)
{
	struct err e = { 0 };

	if (k->n % SAMPLES_PER_BATCH)
		db_do(k->db, "COMMIT", &e);
	put_meta_text(k->db, "ending", "failed", &e);
	put_meta_text(k->db, "error", why, &e);
}
