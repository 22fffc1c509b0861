/*
 * Files of compute nodes: each writes one of its own piece by piece by its IO
 * node, reads it back and compares.
 */
#include <stdio.h>
#include <string.h>

#include "api/spi/cnk.h"
#include "base/mem.h"
#include "load/keys.h"
#include "load/programs.h"
#include "load/registry.h"

#define AT(field) offsetof(struct files, field)
#define MIB	  (UINT64_C(1) << 20)

/* Addresses, the same on all nodes. */
#define SOURCE_AT (1 * MIB)

enum { MOST_BYTES = 64 << 20, MOST_ROUNDS = 10000 };

#define TARGET_AT (SOURCE_AT + MOST_BYTES)
#define MEMORY	  (TARGET_AT + MOST_BYTES)

/* When a client began and ended. */
struct client {
	struct files *g;
	sim_time open, write, read, end;
};

struct files {
	struct programs programs;
	/* keys */
	int64_t clients, bytes, rounds, calls;
	char name[PARAM_TEXT_MAX];

	struct client *client;
	uint32_t n_clients;
};

/* What a client does. */
enum calls { CALLS_BOTH, CALLS_WRITE, CALLS_READ };

static const struct param params[] = {
	KEY_COUNT("clients", AT(clients), "0", 0, TOPO_MAX_ROUTERS,
		"number of nodes with a file, counted from the first; 0: all "
		"nodes"),
	KEY_BYTES("bytes", AT(bytes), "64KiB", 1, MOST_BYTES,
		"length of a write and of a read"),
	KEY_COUNT("rounds", AT(rounds), "1", 1, MOST_ROUNDS,
		"number of consecutive writes of each client to its file, and "
		"then of reads"),
	KEY_WORD("calls", AT(calls), "both", "both|write|read",
		"calls of the clients; both: writes and then reads; read: of "
		"files that another job has written with the same seed"),
	KEY_TEXT("name", AT(name), "auto",
		"start of the names of files, which end with the number of the "
		"client; auto: names by the client's position in the machine"),
};

static struct files *of(struct load *l)
{
	return (struct files *)l;
}

/* --- a client --- */

/* The bytes of a round. */
static void fill(const struct files *g, uint32_t round, uint8_t *to)
{
	memory_fill_by(g->programs.load.seed, program_node(),
		round * (uint64_t)g->bytes, to, (size_t)g->bytes);
}

/* What is only read was somebody else's to write. */
static bool fail(struct files *g, const char *call, const char *why)
{
	if (g->calls != CALLS_READ)
		return programs_complain(&g->programs, "%s: %s", call, why);
	programs_give_up(&g->programs, EXIT_BAD_INPUT,
		"calls: its file does not exist or has other bytes; a job with "
		"this name, seed and length must have written it, through the "
		"same IO node and before this job starts");
	return false;
}

static bool is_moved(struct files *g, const char *call, int64_t moved)
{
	char text[64];

	snprintf(text, sizeof(text), "%lld of %lld bytes", (long long)moved,
		(long long)g->bytes);
	return moved == g->bytes || fail(g, call, text);
}

static bool write_all(struct files *g, int32_t file)
{
	uint8_t *source = program_map(SOURCE_AT, (uint64_t)g->bytes);

	for (uint32_t i = 0; i < (uint32_t)g->rounds; i++) {
		fill(g, i, source);
		if (!is_moved(g, "cnk_write",
			    cnk_write(file, SOURCE_AT, (uint64_t)g->bytes,
				    i * (uint64_t)g->bytes)))
			return false;
	}
	return programs_did(&g->programs, "cnk_sync", -cnk_sync(file));
}

static bool read_all(struct files *g, int32_t file)
{
	uint8_t *target = program_map(TARGET_AT, (uint64_t)g->bytes);
	uint8_t *want = program_map(SOURCE_AT, (uint64_t)g->bytes);

	for (uint32_t i = 0; i < (uint32_t)g->rounds; i++) {
		if (!is_moved(g, "cnk_read",
			    cnk_read(file, TARGET_AT, (uint64_t)g->bytes,
				    i * (uint64_t)g->bytes)))
			return false;
		fill(g, i, want);
		if (memcmp(want, target, (size_t)g->bytes) != 0)
			return fail(g, "cnk_read", "wrong bytes");
	}
	return true;
}

/* By itself after the node's place in the machine, which is no other job's. */
static void name_file(const struct files *g, char name[CNK_NAME])
{
	const struct torus *t = torus_of(g->programs.load.net->topo);
	size_t n;

	if (strcmp(g->name, "auto") != 0) {
		snprintf(name, CNK_NAME, "%.52s%u", g->name, program_node());
		return;
	}
	n = (size_t)snprintf(name, CNK_NAME, "/out");
	for (uint32_t i = 0; i < t->n_dims; i++)
		n += (size_t)snprintf(name + n, CNK_NAME - n, "/%u",
			torus_coord(t, program_node(), i) + torus_corner(t, i));
}

static void run(void *arg)
{
	struct client *c = arg;
	struct files *g = c->g;
	char name[CNK_NAME];
	int32_t file;

	name_file(g, name);
	c->open = program_now();
	file = cnk_open(
		name, g->calls == CALLS_READ ? 0 : CNK_CREATE | CNK_TRUNCATE);
	if (file < 0) {
		fail(g, "cnk_open", strerror(-file));
		return;
	}
	c->write = program_now();
	if (g->calls != CALLS_READ && !write_all(g, file))
		return;
	c->read = program_now();
	if (g->calls != CALLS_WRITE && !read_all(g, file))
		return;
	c->end = program_now();
	programs_did(&g->programs, "cnk_close", -cnk_close(file));
}

/* --- the course of a run --- */

static int files_init(struct load *l, struct err *e)
{
	const struct topo *t = l->topo;
	struct files *g = of(l);

	if (programs_need(&g->programs, "bgq-mu", MEMORY, e))
		return -1;
	if (!t->n_io)
		return err_set(e, "%s",
			torus_find(t) && torus_find(t)->io_every
				? "files: no IO node has a link into this "
				  "partition (topology.io.every)"
				: "files: this machine has no IO nodes "
				  "(topology.io.every); bgq-io has some");
	if (strlen(g->name) + sizeof("4294967295") > CNK_NAME)
		return err_set(e, "name: more than %zu characters",
			CNK_NAME - sizeof("4294967295"));
	if (g->clients > t->n_nodes)
		return err_set(e, "clients: the machine has %u compute nodes",
			t->n_nodes);
	g->n_clients = g->clients ? (uint32_t)g->clients : t->n_nodes;
	if (g->bytes > (int64_t)CNK_BYTES / g->rounds)
		return err_set(e, "rounds: a file has at most %llu GiB",
			(unsigned long long)(CNK_BYTES >> 30));
	if (t->n_nodes / t->n_io > CNK_FILES)
		return err_set(e,
			"files: an IO node has %u clients, more than the %d "
			"that can have a file (topology.io.every)",
			t->n_nodes / t->n_io, CNK_FILES);
	l->needs.n_programs = g->n_clients;
	l->needs.has_files = true;
	return 0;
}

static void files_start(struct load *l)
{
	struct files *g = of(l);

	programs_open(&g->programs);
	g->client = mem_alloc(g->n_clients, sizeof(*g->client));
	for (site_id i = 0; i < g->n_clients; i++) {
		g->client[i].g = g;
		program_start(l->host, i, 0, 0, run, &g->client[i]);
	}
}

/* Of a phase, by all clients. */
static double rate(const struct files *g, sim_time from, sim_time to)
{
	return to > from ? (double)g->bytes * (double)g->rounds *
				   (double)g->n_clients * 1e3 /
				   (double)(to - from)
			 : 0;
}

/* Of several processes: what clients of the others have measured. */
static void share_clients(struct files *g)
{
	enum { OPEN, WRITE, READ, END, N };
	uint64_t(*x)[N] = mem_alloc(g->n_clients, sizeof(*x));
	uint32_t i;

	for (i = 0; i < g->n_clients; i++) {
		x[i][OPEN] = (uint64_t)g->client[i].open;
		x[i][WRITE] = (uint64_t)g->client[i].write;
		x[i][READ] = (uint64_t)g->client[i].read;
		x[i][END] = (uint64_t)g->client[i].end;
	}
	sim_sum(g->programs.load.net->sim, *x, N * (size_t)g->n_clients);
	for (i = 0; i < g->n_clients; i++) {
		g->client[i].open = (sim_time)x[i][OPEN];
		g->client[i].write = (sim_time)x[i][WRITE];
		g->client[i].read = (sim_time)x[i][READ];
		g->client[i].end = (sim_time)x[i][END];
	}
	mem_free(x);
}

static void files_report(struct load *l, struct load_result *r)
{
	struct files *g = of(l);
	const struct client *c = g->client;
	sim_time write, written = 0, read, end = 0;
	double open = 0;

	share_clients(g);
	write = c->write;
	read = c->read;
	programs_report(&g->programs, r);
	if (r->ending != LOAD_FINISHED)
		return;
	for (uint32_t i = 0; i < g->n_clients; i++, c++) {
		if (!c->end)
			return;
		write = c->write < write ? c->write : write;
		written = c->read > written ? c->read : written;
		read = c->read < read ? c->read : read;
		end = c->end > end ? c->end : end;
		open += (double)(c->write - c->open) / g->n_clients;
	}
	load_figure(r, "open_us", open / SIM_NS / 1e3);
	if (g->calls != CALLS_READ)
		load_figure(r, "write_GBps", rate(g, write, written));
	if (g->calls != CALLS_WRITE)
		load_figure(r, "read_GBps", rate(g, read, end));
}

static void files_fini(struct load *l)
{
	programs_fini(l);
	mem_free(of(l)->client);
}

static uint64_t files_estimate(const struct load *l)
{
	const struct files *g = (const struct files *)l;

	return programs_estimate(g->n_clients, 1,
		(uint64_t)g->bytes * (2 + (uint64_t)g->rounds));
}

const struct load_ops load_files = {
	.name = "files",
	.help = "files that nodes write and read via IO nodes (Blue Gene/Q)",
	.size = sizeof(struct files),
	PARAMS(params),
	PROGRAMS_OPS,
	.init = files_init,
	.start = files_start,
	.report = files_report,
	.fini = files_fini,
	.estimate = files_estimate,
};
