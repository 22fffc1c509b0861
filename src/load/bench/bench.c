#include "load/bench/bench.h"

#include <string.h>

#include "api/msg/msg.h"
#include "base/mem.h"
#include "base/name.h"
#include "outside/endpoint.h"
#include "weft/msg.h"

/* What else a node takes that uses messages: stages, FIFOs or queues, and
 * slots of some neighbours. */
enum { MSG_BYTES = 192 << 10 };

/* --- the course of a run --- */

/* "auto, sten or dma" */
static void list_means(const struct bench_driver *d, char *text, size_t size)
{
	const struct bench_means *m = d->means;

	for (; m->name; m++) {
		name_add(text, size,
			m == d->means ? ""
			: m[1].name   ? ", "
				      : " or ");
		name_add(text, size, m->name);
	}
}

uint32_t bench_find_means(
	const struct bench_driver *d, const char *name, size_t n)
{
	uint32_t i = 0;

	while (d->means[i].name &&
		(strlen(d->means[i].name) != n ||
			strncmp(d->means[i].name, name, n) != 0))
		i++;
	return i;
}

static int find_means(struct bench *b, const char *title, struct err *e)
{
	char text[128] = "";

	b->means = b->by[0] ? bench_find_means(b->driver, b->by, strlen(b->by))
			    : BENCH_AUTO;
	if (b->driver->means[b->means].name)
		return 0;
	list_means(b->driver, text, sizeof(text));
	return err_set(
		e, "by: the %s has no \"%.40s\" (want %s)", title, b->by, text);
}

uint32_t bench_quick(const struct bench *b)
{
	const struct bench_means *m = b->driver->means;
	uint32_t i = 0;

	while (m[i].name && !m[i].is_quick)
		i++;
	return m[i].name ? i : BENCH_AUTO;
}

static int check_means(const struct bench *b, struct err *e)
{
	const struct bench_means *m = &b->driver->means[b->means];

	if (m->drawn && !b->needs.draws)
		return err_set(e,
			"by: %s is a calculated curve, for pingpong and "
			"crossover only",
			m->name);
	if (m->is_dropped && !b->needs.drops)
		return err_set(e,
			"by: %s delivers nothing and is for stream only",
			m->name);
	if (m->is_tagged && !b->needs.has_receives)
		return err_set(e,
			"by: %s needs receives and is for pingpong and stream "
			"only",
			m->name);
	return 0;
}

/* Addresses are the network interface's, also below messages. */
static int check_memory(const struct bench *b, uint64_t memory, struct err *e)
{
	const struct load *l = &b->programs.load;
	uint64_t reach = l->nic_ops->most_memory;

	if (reach && memory > reach)
		return err_set(e,
			"%s: needs %.1f GiB of memory per node, but the %s "
			"addresses only %.0f GiB",
			l->ops->name, (double)memory / (1 << 30),
			l->nic_ops->title, (double)reach / (1 << 30));
	return programs_need_memory(&b->programs, memory, e);
}

static int check_memories(const struct bench *b, struct err *e)
{
	int64_t most = b->source > b->target ? b->source : b->target;
	const struct bench_gpus *gpus = b->driver->gpus;
	int64_t count;

	if (!bench_has_gpus(b))
		return 0;
	if (!gpus)
		return err_set(e, "source and target: this workload transfers "
				  "only host memory");
	count = gpus->count(&b->programs.load);
	if (most > count)
		return err_set(e,
			"source and target: no gpu%lld, since a node has %lld "
			"GPUs, counted from 0 (gpu.count)",
			(long long)most - 1, (long long)count);
	return 0;
}

static int check_keys(const struct bench *b, struct err *e)
{
	int64_t cpus = b->looks->cpus ? b->looks->cpus(b) : HOST_THREADS;
	const struct load *l = &b->programs.load;

	if (load_check_node(l, "from", b->from, e) ||
		load_check_node(l, "to", b->to, e) ||
		bench_check_bytes(b, "bytes", b->bytes, e))
		return -1;
	if (!b->needs.n_programs && b->from == b->to)
		return err_set(e, "from and to are the same node");
	if (b->cpu + b->needs.lanes > (b->needs.lanes ? cpus : INT64_MAX))
		return err_set(
			e, "procs: a node has only %lld CPUs", (long long)cpus);
	if (b->cpu >= cpus)
		return err_set(e,
			"cpu: out of range, since a node has %lld CPUs, "
			"counted from 0 (nic.cpus)",
			(long long)cpus);
	return 0;
}

static int check_port(struct bench *b, struct err *e)
{
	const struct load *l = &b->programs.load;
	uint32_t n = b->driver->n_ports ? b->driver->n_ports(l) : 0;

	if (!b->needs.has_port)
		b->port = -1;
	if (b->port < 0)
		return 0;
	if (!n)
		return err_set(e,
			"port: transfers of the %s cannot name one (want auto)",
			l->nic_ops->title);
	if (b->port >= n)
		return err_set(e,
			"port: out of range, since a node has %u "
			"ports, counted from 0",
			n);
	return 0;
}

static int check_processes(struct bench *b, struct err *e)
{
	const struct load *l = &b->programs.load;
	uint32_t most = msg_most_processes(l->nic_ops);

	b->procs += !b->procs;
	if (b->procs > 1 && !b->needs.is_msg && !b->needs.has_processes)
		return err_set(
			e, "procs: several processes per node need via=msg");
	if (b->needs.lanes > b->driver->most.lanes && b->needs.is_msg)
		return err_set(e, "procs: with messages this workload has one "
				  "program per node, since the programs of a "
				  "node would share its rank (want via=nic)");
	if (b->needs.lanes > b->driver->most.lanes)
		return err_set(e, "procs: the %s serves at most %u processes",
			l->nic_ops->title, b->driver->most.lanes);
	if (b->procs > most)
		return err_set(e, "procs: the %s serves at most %u processes",
			l->nic_ops->title, most);
	if (b->needs.lanes && b->driver->is & BENCH_HAS_PROCESSES)
		b->procs = b->needs.lanes;
	return 0;
}

int bench_init(struct bench *b, const struct bench_needs *n, struct err *e)
{
	static const struct bench_looks none;
	struct load *l = &b->programs.load;
	const struct bench_driver *own = bench_find_driver(l->nic_ops);
	const char *title;
	uint64_t memory = n->memory;

	if (programs_need_nic(&b->programs, e))
		return -1;
	title = n->is_msg ? "message layer" : l->nic_ops->title;
	b->driver = n->is_endpoint ? &bench_endpoint
		    : n->is_msg	   ? &bench_msg
				   : own;
	b->needs = *n;
	b->needs.queues += !n->queues;
	b->source_from += b->source_from ? 0 : BENCH_SOURCE;
	b->target_from += b->target_from ? 0 : BENCH_TARGET;
	if (!b->driver)
		return err_set(e,
			"%s: not available through the %s itself; use via=msg",
			l->ops->name, title);
	b->looks = b->driver->looks ? b->driver->looks : &none;
	if (check_processes(b, e))
		return -1;
	if (l->place && !n->is_msg)
		return err_set(e, "%s: needs via=msg on a part of a machine",
			l->ops->name);
	if (n->is_msg)
		memory += msg_memory(l->nic_ops, l->nic_params,
			load_n_nodes(l) * (uint32_t)b->procs, NULL);
	if (n->is_endpoint)
		memory += ENDPOINT_MEMORY;
	memory *= (uint64_t)b->procs;
	if (b->needs.queues > b->driver->most.queues)
		return err_set(e, "%s: more than %u queues", l->ops->name,
			b->driver->most.queues);
	if (find_means(b, title, e) || check_keys(b, e) || check_port(b, e) ||
		check_means(b, e) || check_memories(b, e) ||
		check_memory(b, memory, e))
		return -1;
	if (!n->n_programs)
		b->needs.n_programs = 2;
	if (n->is_for_all)
		b->needs.n_programs *= (uint32_t)b->procs;
	l->needs.n_programs = b->needs.n_programs;
	l->needs.n_processes = (uint32_t)b->procs;
	return 0;
}

int bench_check_bytes(
	const struct bench *b, const char *key, int64_t bytes, struct err *e)
{
	if (bytes % b->driver->most.grain)
		return err_set(e, "%s: want a multiple of %u bytes", key,
			b->driver->most.grain);
	return 0;
}

static void list_addresses(struct bench *b, const struct net *n)
{
	if (!b->looks->address)
		return;
	b->address = mem_alloc(n->n_nodes, sizeof(*b->address));
	for (site_id s = 0; s < n->n_nodes; s++)
		b->address[s] = b->looks->address(n->topo, s);
}

static size_t own_size(const struct bench *b)
{
	return b->driver->size + b->needs.queues * b->driver->queue_size;
}

void bench_open_ends(struct bench *b)
{
	size_t size = own_size(b), data = b->needs.data;
	uint32_t n = b->needs.n_programs;

	programs_open(&b->programs);
	b->ends = mem_alloc(n, sizeof(*b->ends));
	b->own = mem_alloc(n, size);
	b->data = data ? mem_alloc(n, data) : NULL;
	if (b->needs.is_for_all)
		list_addresses(b, b->programs.load.net);
	for (uint32_t i = 0; i < n; i++) {
		b->ends[i].bench = b;
		b->ends[i].programs = &b->programs;
		b->ends[i].load = &b->programs.load;
		b->ends[i].driver = b->driver;
		b->ends[i].own = b->own + i * size;
		b->ends[i].data = data ? b->data + i * data : NULL;
	}
}

static void run_program(struct bench_end *x)
{
	const struct bench_program *p = x->program;

	if (p->run) {
		p->run(x);
		return;
	}
	if (!bench_open(x) || (p->prepare && !p->prepare(x)))
		return;
	bench_ready(x);
	x->start = x->is_sink ? SIM_NEVER : program_now();
	if (!p->transfer(x))
		return;
	x->end = program_now();
	if (p->check)
		p->check(x);
}

static void run_end(void *end)
{
	struct bench_end *x = end;

	run_program(x);
	x->has_ended = true;
}

/* The first whose program has not ended, or NULL. */
static const struct bench_end *find_unended(const struct bench *b)
{
	for (uint32_t i = 0; b->ends && i < b->needs.n_programs; i++)
		if (b->ends[i].program && !b->ends[i].has_ended)
			return &b->ends[i];
	return NULL;
}

int bench_check_ends(struct load *l, struct err *e)
{
	const struct bench_end *x;

	if (programs_check(l, e))
		return -1;
	x = find_unended((const struct bench *)l);
	if (x)
		return err_set_code(e, EXIT_DEADLOCK,
			"the program of node %u had not ended", x->node);
	return 0;
}

/* Of several processes: what programs of the others have measured. */
static void share_ends(const struct bench *b)
{
	enum { START, END, HAS_ENDED, RESULTS };
	const struct sim *sim = b->programs.load.net->sim;
	size_t data = b->needs.results / sizeof(uint64_t);
	size_t each = RESULTS + data, n = b->needs.n_programs;
	uint64_t *all, *x;

	if (!sim_is_shared(sim) || !b->ends)
		return;
	x = all = mem_alloc(n * each, sizeof(*all));
	for (const struct bench_end *i = b->ends; i < b->ends + n;
		i++, x += each) {
		if (!sim_has(sim, i->node))
			continue;
		x[START] = (uint64_t)i->start;
		x[END] = (uint64_t)i->end;
		x[HAS_ENDED] = i->has_ended;
		if (data)
			memcpy(x + RESULTS, i->data, b->needs.results);
	}
	sim_sum(sim, all, n * each);
	x = all;
	for (struct bench_end *i = b->ends; i < b->ends + n; i++, x += each) {
		i->start = (sim_time)x[START];
		i->end = (sim_time)x[END];
		i->has_ended = x[HAS_ENDED];
		if (data)
			memcpy(i->data, x + RESULTS, b->needs.results);
	}
	mem_free(all);
}

void bench_run(struct bench *b, uint32_t i, site_id node, uint32_t thread,
	const struct bench_program *program)
{
	struct load *l = &b->programs.load;
	struct bench_end *x = &b->ends[i];

	x->node = load_node(l, node);
	x->rank = node;
	x->program = program;
	if (!sim_has(l->net->sim, x->node))
		return; /* another process runs it */
	if (bench_has_gpus(b))
		b->driver->gpus->open(l, x->node);
	program_start(l->host, x->node, thread, l->begin, run_end, x);
}

uint32_t bench_thread(const struct bench *b, uint32_t lane)
{
	return b->procs > 1 ? lane * host_threads_each(b->programs.load.host)
			    : lane;
}

void bench_start_pair(struct bench *b, const struct bench_program *begin,
	const struct bench_program *answer)
{
	uint32_t lanes = b->needs.lanes ? b->needs.lanes : 1;

	bench_open_ends(b);
	for (uint32_t i = 0; i < b->needs.n_programs; i++) {
		bool begins = i < lanes;

		b->ends[i].begins = begins;
		b->ends[i].lane = i % lanes;
		b->ends[i].peer = (uint32_t)(begins ? b->to : b->from);
		bench_run(b, i, (site_id)(begins ? b->from : b->to),
			(uint32_t)b->cpu + bench_thread(b, i % lanes),
			begins ? begin : answer);
	}
}

void bench_start_rank(
	struct bench *b, uint32_t rank, const struct bench_program *program)
{
	uint32_t procs = (uint32_t)b->procs;
	uint32_t threads = host_threads_each(b->programs.load.host);

	bench_run(b, rank, rank / procs,
		rank % procs * threads + (uint32_t)b->cpu, program);
	b->ends[rank].rank = rank;
}

void bench_start_all(struct bench *b, const struct bench_program *program)
{
	bench_open_ends(b);
	for (uint32_t i = 0; i < b->needs.n_programs; i++)
		bench_start_rank(b, i, program);
}

void bench_count(struct bench_end *x)
{
	x->start = program_now();
	if (x->bench->warm && x->bench->looks->warmed)
		x->bench->looks->warmed(x);
}

bool bench_report(const struct bench *b, struct load_result *r)
{
	share_ends(b);
	programs_report(&b->programs, r);
	r->via = b->needs.is_endpoint ? "endpoint"
		 : b->needs.is_msg    ? "msg"
				      : "nic";
	return r->ending == LOAD_FINISHED && bench_time(b) > 0 &&
	       !find_unended(b);
}

router_id bench_router(const struct topo *t, site_id node)
{
	return topo_is_direct(t) ? node : t->ops->peer(t, node, 0).router;
}

uint32_t bench_near(
	const struct topo *t, router_id r, router_id *far, uint32_t most)
{
	uint32_t n = 0, i;

	for (port_id p = 0; p < topo_ports(t); p++) {
		router_id to = t->ops->peer(t, r, p).router;

		if (to == NO_ROUTER || to == r ||
			(!topo_is_direct(t) && to < t->n_nodes))
			continue;
		for (i = 0; i < n && far[i] != to; i++)
			;
		if (i == n && n < most)
			far[n++] = to;
	}
	return n;
}

void bench_span(const struct bench *b, uint32_t first, uint32_t n,
	sim_time *start, sim_time *end)
{
	const struct bench_end *x = &b->ends[first];

	*start = SIM_NEVER;
	*end = 0;
	for (; n--; x++) {
		if (!x->end)
			continue;
		*start = x->start < *start ? x->start : *start;
		*end = x->end > *end ? x->end : *end;
	}
}

sim_time bench_time(const struct bench *b)
{
	sim_time start, end;

	bench_span(b, 0, b->needs.n_programs, &start, &end);
	return end > start ? end - start : 0;
}

uint64_t bench_synthetic(const struct bench *b, uint64_t bytes)
{
	const struct l2_params *p = &b->programs.load.host_params->l2;
	uint64_t most = (uint64_t)p->capacity;

	/* a cache that overflows has tags, 4 bytes a line */
	return bytes < most ? bytes / 256 : 4 * most / (uint64_t)p->line;
}

uint64_t bench_estimate(const struct load *l)
{
	const struct bench *b = (const struct bench *)l;
	const struct bench_needs *n = &b->needs;

	return programs_estimate(n->n_programs, 1 + n->is_msg,
		n->touched + own_size(b) + (n->is_msg ? MSG_BYTES : 0));
}

uint64_t bench_message(const struct load *l)
{
	return (uint64_t)((const struct bench *)l)->bytes;
}

void bench_fini(struct load *l)
{
	struct bench *b = (struct bench *)l;
	uint32_t n = b->ends ? b->needs.n_programs : 0;

	for (uint32_t i = 0; i < n && b->driver->fini; i++)
		b->driver->fini(&b->ends[i]);
	programs_fini(l);
	mem_free(b->ends);
	mem_free(b->own);
	mem_free(b->data);
	mem_free(b->address);
}

/* --- for programs --- */

void bench_ready(struct bench_end *x)
{
	bool is_early = x->bench->needs.is_early;

	/* who only waits for counters goes on at once, if they are set */
	if (x->is_sink && !(x->driver->is & BENCH_SETS_LATER))
		return;
	if (x->driver->ready && !is_early)
		x->driver->ready(x);
	else if (!x->driver->ready)
		program_wait(is_early ? PROGRAMS_START / 2 : PROGRAMS_START);
}

struct bench_transfer bench_transfer(
	const struct bench_end *x, uint32_t node, uint64_t bytes)
{
	return (struct bench_transfer){
		.node = node,
		.to = BENCH_TARGET,
		.from = BENCH_SOURCE,
		.bytes = bytes,
		.means = x->bench->means,
		.queue = BENCH_ANY,
		.port = x->bench->port < 0 ? BENCH_ANY
					   : (uint32_t)x->bench->port,
	};
}
