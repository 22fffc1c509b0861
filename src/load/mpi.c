/*
 * An MPI program on the machine: each rank is a process of the host, and a
 * program of the machine stands for it (outside/proxy.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "load/keys.h"
#include "load/place.h"
#include "load/programs.h"
#include "load/registry.h"
#include "outside/proxy.h"

#define AT(field) offsetof(struct mpi, field)

struct mpi {
	struct programs programs;
	/* keys */
	int64_t ranks, ppn, tags, collectives;
	char place[PARAM_TEXT_MAX];

	uint32_t n_ranks, n_groups; /* nodes with ranks */
	uint32_t *at; /* [group] its node */
	uint32_t *which;
	struct host_world world;
	const struct host_world **worlds;
	struct start_rank *place_of; /* [rank] */
	struct output *output;
	struct start *start;
	struct proxy *proxy; /* [rank] */
	atomic_int is_over; /* no rank is waited for any longer */
};

static const struct param params[] = {
	KEY_COUNT("ranks", AT(ranks), "0", 0, TOPO_MAX_ROUTERS,
		"processes of the program; 0: as many as fit"),
	KEY_COUNT(
		"ppn", AT(ppn), "1", 1, HOST_THREADS, "processes of each node"),
	KEY_TEXT("place", AT(place), "linear",
		"nodes of the ranks: linear, random, or a file with the number "
		"of a node for each group of ppn ranks"),
	KEY_WORD("collectives", AT(collectives), "auto", "auto|messages",
		"barriers, broadcasts and reductions of all ranks; auto: by "
		"the network where it can; messages: by MPI's own"),
	KEY_FLAG("tags", AT(tags), "no",
		"each line that a rank prints begins with its number"),
};

static struct mpi *of(struct load *l)
{
	return (struct mpi *)l;
}

static struct mpi *of_programs(struct programs *p)
{
	return (struct mpi *)p;
}

/* --- before --- */

static int find_places(struct mpi *m, struct err *e)
{
	struct load *l = &m->programs.load;
	const struct place_setup p = {
		.how = m->place,
		.n = m->n_groups,
		.n_places = load_n_nodes(l),
		.what = "group",
		.where = "node",
		.seed = l->seed,
	};

	m->at = mem_alloc(p.n, sizeof(*m->at));
	m->which = mem_alloc(p.n_places, sizeof(*m->which));
	return place_all(&p, m->at, m->which, e);
}

static int mpi_init(struct load *l, struct err *e)
{
	struct mpi *m = of(l);
	uint64_t most = (uint64_t)load_n_nodes(l) * (uint64_t)m->ppn;

	if (programs_need_nic(&m->programs, e))
		return -1;
	if (!l->needs.command || !*l->needs.command)
		return err_set(e, "mpi: want a program behind --, as in `weft "
				  "run bgq-board mpi ranks=2 -- ./hello`");
	if ((uint64_t)m->ranks > most)
		return err_set(e,
			"ranks: the machine has %u nodes, which have room for "
			"%" PRIu64 " ranks with ppn=%" PRId64,
			load_n_nodes(l), most, m->ppn);
	m->n_ranks = (uint32_t)(m->ranks ? (uint64_t)m->ranks : most);
	m->n_groups = (m->n_ranks + (uint32_t)m->ppn - 1) / (uint32_t)m->ppn;
	l->needs.n_processes = (uint32_t)m->ppn;
	l->needs.n_programs = m->n_groups * (uint32_t)m->ppn;
	return find_places(m, e);
}

/* --- programs --- */

/* How a rank that has gone ended; its helper tells soon. */
static void describe_end(struct mpi *m, uint32_t rank, char *text, size_t size)
{
	struct start_end end;

	start_await_end(m->start, rank, START_ENDING);
	end = start_end(m->start, rank);
	start_describe(&end, text, size);
}

static void complain(struct mpi *m, const struct proxy *p)
{
	char how[300], text[400];

	if (p->ending == PROXY_DIED) {
		describe_end(m, p->rank, how, sizeof(how));
		snprintf(text, sizeof(text),
			"rank %u ended with %s at %.3f us, after %s", p->rank,
			how, (double)p->ended / 1e6,
			proxy_call_name(p->turn.call.name));
		programs_give_up(&m->programs, EXIT_ANSWER_NO, text);
	} else if (p->ending == PROXY_GARBAGE) {
		snprintf(text, sizeof(text),
			"rank %u: its channel holds what no rank writes",
			p->rank);
		programs_give_up(&m->programs, EXIT_ANSWER_NO, text);
	} else {
		snprintf(text, sizeof(text), "rank %u: %s", p->rank,
			strerror(p->error));
		programs_give_up(&m->programs, EXIT_LIMIT, text);
	}
}

static void on_lost(struct proxy *p)
{
	struct mpi *m = of_programs(p->owner);

	if (p->ending == PROXY_FINISHED || p->ending == PROXY_STOPPED)
		return;
	complain(m, p);
	/* the others need not be waited for */
	m->is_over = 1;
}

static void run_rank(void *arg)
{
	proxy_run(arg);
	on_lost(arg);
}

/* A place of the last node that has no rank. */
static void run_nothing(void *arg)
{
	struct weft_msg m;

	(void)arg;
	if (!weft_msg_init(&m, NULL))
		weft_msg_fini(&m);
}

/* All nodes, in their order: the machine's own collectives are for these. */
static bool is_whole(const struct mpi *m)
{
	uint32_t n = m->programs.load.net->n_nodes, i = 0;

	while (i < m->n_groups && m->world.node[i] == i)
		i++;
	return i == n;
}

static void set_world(struct mpi *m)
{
	struct load *l = &m->programs.load;
	uint32_t n = l->net->n_nodes;

	m->world = (struct host_world){
		.n = m->n_groups,
		.node = mem_alloc(m->n_groups, sizeof(*m->world.node)),
		.place = mem_alloc(n, sizeof(*m->world.place)),
		.begin = l->begin,
	};
	memset(m->world.place, 0xff, n * sizeof(*m->world.place));
	m->worlds = mem_alloc(n, sizeof(*m->worlds));
	for (uint32_t i = 0; i < m->n_groups; i++) {
		site_id node = load_node(l, m->at[i]);

		m->world.node[i] = node;
		m->world.place[node] = i;
		m->worlds[node] = &m->world;
	}
	if (!l->place && !is_whole(m))
		host_set_worlds(l->host, m->worlds);
}

static int start_all(struct mpi *m, struct err *e)
{
	struct load *l = &m->programs.load;
	const struct msg_ops *ops = api_to(l->nic_ops)->msg;
	const int to[OUTPUT_STREAMS] = { STDOUT_FILENO, STDERR_FILENO };
	char helper[1024];
	struct start_setup s = {
		.helper = helper,
		.n_ranks = m->n_ranks,
		.n_nodes = m->n_groups,
		.n_processes = (uint32_t)m->ppn,
		.collectives = m->collectives ? 0 : endpoint_collectives(ops),
		.seed = l->seed,
	};

	if (start_find_helper(helper, sizeof(helper), e))
		return -1;
	m->output = output_new(m->n_ranks, to, m->tags, e);
	if (!m->output)
		return -1;
	m->place_of = mem_alloc(m->n_ranks, sizeof(*m->place_of));
	for (uint32_t i = 0; i < m->n_ranks; i++)
		m->place_of[i] = (struct start_rank){
			.node = m->world.node[i / s.n_processes],
			.process = i % s.n_processes,
			.command = l->needs.command,
		};
	s.rank = m->place_of;
	s.output = m->output;
	m->start = start_ranks(&s, e);
	return m->start ? 0 : -1;
}

static void mpi_start(struct load *l)
{
	struct mpi *m = of(l);
	uint32_t each = (uint32_t)m->ppn, threads = host_threads_each(l->host);
	struct err e = { 0 };

	programs_open(&m->programs);
	set_world(m);
	if (start_all(m, &e))
		err_raise(&e);
	m->proxy = mem_alloc(m->n_ranks, sizeof(*m->proxy));
	for (uint32_t i = 0; i < m->n_groups * each; i++) {
		struct proxy *p = i < m->n_ranks ? &m->proxy[i] : NULL;

		if (p)
			*p = (struct proxy){ .owner = &m->programs,
				.start = m->start,
				.output = m->output,
				.rank = i,
				.times = { .test = 100 * (sim_time)SIM_NS },
				.stop = &m->is_over,
				.on_lost = on_lost };
		program_start(l->host, m->world.node[i / each],
			i % each * threads, l->begin,
			p ? run_rank : run_nothing, p);
	}
}

/* --- afterwards --- */

static sim_time mpi_next(struct load *l)
{
	struct mpi *m = of(l);

	output_write(m->output, sim_now(l->net->sim));
	if (m->is_over)
		return SIM_NEVER;
	return programs_next(l);
}

/* A rank that ended otherwise than with 0, though it had left in order. */
static int check_codes(struct mpi *m, struct err *e)
{
	start_await_end(m->start, CHANNEL_ANY, START_ENDING);
	for (uint32_t i = 0; i < m->n_ranks; i++) {
		struct start_end end = start_end(m->start, i);
		char how[300];

		if (end.has_ended && end.how == CHANNEL_ENDED && !end.value)
			continue;
		start_describe(&end, how, sizeof(how));
		return err_set_code(e, EXIT_ANSWER_NO, "rank %u %s%s", i,
			end.has_ended ? "ended with " : "does not end",
			end.has_ended ? how : "");
	}
	return 0;
}

static int mpi_check(struct load *l, struct err *e)
{
	struct mpi *m = of(l);
	int code = programs_check(l, e);

	if (!code)
		code = check_codes(m, e);
	output_write(m->output, INT64_MAX);
	return code;
}

/* Of one that has not ended: until now. */
static sim_time lasted(const struct mpi *m, const struct proxy *p)
{
	sim_time end = p->ended ? p->ended : sim_now(m->programs.load.net->sim);

	return p->began ? end - p->began : 0;
}

static void mpi_report(struct load *l, struct load_result *result)
{
	struct mpi *m = of(l);
	const struct proxy *slowest = &m->proxy[0];
	uint64_t crossings = 0, commands = 0, network = 0, messages = 0;

	programs_report(&m->programs, result);
	for (uint32_t i = 0; i < m->n_ranks; i++) {
		const struct proxy *p = &m->proxy[i];

		crossings += p->crossings;
		commands += p->commands;
		network += p->endpoint ? p->endpoint->n_collectives : 0;
		messages += p->turn.by_messages;
		if (lasted(m, p) > lasted(m, slowest))
			slowest = p;
	}
	load_figure(result, "ranks", m->n_ranks);
	load_figure(result, "time_ns", (double)lasted(m, slowest) / SIM_NS);
	load_figure(result, "waiting_ns",
		(double)slowest->account.waiting / SIM_NS);
	load_figure(
		result, "calls_ns", (double)slowest->account.calls / SIM_NS);
	load_figure(
		result, "tests_ns", (double)slowest->account.tests / SIM_NS);
	load_figure(result, "own_ns", (double)slowest->account.own / SIM_NS);
	load_figure(result, "crossings", (double)crossings);
	load_figure(result, "operations", (double)commands);
	load_figure(result, "collectives_by_network", (double)network);
	load_figure(result, "collectives_by_messages", (double)messages);
}

static void mpi_fini(struct load *l)
{
	struct mpi *m = of(l);

	start_free(m->start);
	if (m->output)
		output_write(m->output, INT64_MAX);
	output_free(m->output);
	for (uint32_t i = 0; m->proxy && i < m->n_ranks; i++)
		proxy_free(&m->proxy[i]);
	mem_free(m->proxy);
	mem_free(m->place_of);
	mem_free(m->worlds);
	mem_free(m->world.node);
	mem_free(m->world.place);
	mem_free(m->at);
	mem_free(m->which);
	programs_fini(l);
}

const struct load_ops load_mpi = {
	.name = "mpi",
	.help = "an MPI program, whose ranks are processes of the host",
	.size = sizeof(struct mpi),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.prints = true,
	.on_delivered = programs_delivered,
	.init = mpi_init,
	.start = mpi_start,
	.next = mpi_next,
	.report = mpi_report,
	.check = mpi_check,
	.fini = mpi_fini,
};
