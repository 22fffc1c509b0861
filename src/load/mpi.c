/*
 * An MPI program on the machine: each rank is a process of the host, and a
 * program of the machine stands for it (outside/proxy.h).  Of several Weft
 * processes (sim/cluster.h), the first one starts all ranks, and each serves
 * those of its own nodes (outside/siblings.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "load/commands.h"
#include "load/keys.h"
#include "load/mpi_facts.h"
#include "load/mpi_launch.h"
#include "load/mpi_room.h"
#include "load/mpi_time.h"
#include "load/place.h"
#include "load/programs.h"
#include "load/registry.h"
#include "outside/debugger.h"
#include "outside/limits.h"
#include "outside/proxy.h"
#include "outside/siblings.h"
#include "parts/mpi/mpi.h"

#define AT(field) offsetof(struct mpi, field)

enum { DEATH_END, DEATH_GO_ON };

struct mpi {
	struct programs programs;
	/* keys */
	int64_t ranks, ppn, tags, collectives, stack, copy, death, isolation;
	char place[PARAM_TEXT_MAX];
	struct mpi_time time;

	struct commands commands;
	uint32_t n_ranks, n_groups; /* nodes with ranks */
	uint32_t *at; /* [group] its node */
	uint32_t *which;
	struct host_world world;
	const struct host_world **worlds;
	struct start_rank *place_of; /* [rank] */
	struct siblings *siblings; /* NULL: there is one process */
	struct output *output;
	struct start *start;
	struct registry *registry;
	struct proxy *proxy; /* [rank] */
	struct pin *pin;
	/* Not 0: no rank is waited for any longer; of all processes. */
	atomic_int *over, own_over;
	sim_time dies_next; /* the next node with ranks */
	struct proxy *buried; /* the first whose node has died, or NULL */
	bool is_any_buried; /* in any process */
	struct trip_sums trips;
};

static const struct param params[] = {
	KEY_COUNT("ranks", AT(ranks), "0", 0, TOPO_MAX_ROUTERS,
		"processes of the program; 0: as many as fit on a job's nodes"),
	KEY_COUNT(
		"ppn", AT(ppn), "1", 1, HOST_THREADS, "processes of each node"),
	KEY_TEXT("place", AT(place), "linear",
		"nodes of the ranks: linear, random, or a file with the number "
		"of a node for each group of ppn ranks"),
	KEY_WORD("collectives", AT(collectives), "auto", "auto|messages",
		"barriers, broadcasts and reductions of all ranks; auto: by "
		"the network where it can; messages: by MPI's own"),
	KEY_WORD("stack", AT(stack), "openmpi", "openmpi|pmi|none",
		"MPI library of the program; openmpi: Open MPI; pmi: one that "
		"finds its peers by PMI-1; none: none, the program calls "
		"libfabric itself"),
	KEY_WORD("copy", AT(copy), "auto", "auto|channel",
		"way of long messages' bytes; auto: the simulator reads and "
		"writes ranks' memory where the host allows it; channel: ranks "
		"copy them"),
	KEY_WORD("isolation", AT(isolation), "auto", "auto|none",
		"PID namespace of the ranks; auto: where the host allows it"),
	KEY_WORD("death", AT(death), "end", "end|go-on",
		"after the death of a node with its ranks; end: the run is "
		"over, as with any launcher; go-on: other ranks run on"),
	KEY_FLAG("tags", AT(tags), "no",
		"each line that a rank prints begins with its number"),
	MPI_TIME_KEYS(AT(time)),
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

static int check_room(struct mpi *m, struct err *e)
{
	uint64_t n = m->commands.n_ranks;
	int code = mpi_room_check(&m->programs, (uint32_t)m->ppn, &n, e);

	m->n_ranks = (uint32_t)n;
	return code;
}

static const char *const stacks[] = { "openmpi", "pmi", "none" };

static int check_launch(const struct mpi *m, struct err *e)
{
	return mpi_launch_check(&m->programs.load.needs.launch, &m->commands,
		stacks[m->stack], m->n_ranks, e);
}

static int mpi_init(struct load *l, struct err *e)
{
	struct mpi *m = of(l);

	if (programs_need_nic(&m->programs, e))
		return -1;
	if (!l->needs.command || !*l->needs.command)
		return err_set(e,
			l->place ? "mpi: want a program, the job's command"
				 : "mpi: want a program behind --, as in `weft "
				   "run bgq-board mpi ranks=2 -- ./hello`");
	if (commands_read(
		    &m->commands, l->needs.command, (uint64_t)m->ranks, e) ||
		check_room(m, e) || check_launch(m, e))
		return -1;
	m->n_groups = (m->n_ranks + (uint32_t)m->ppn - 1) / (uint32_t)m->ppn;
	l->needs.n_processes = (uint32_t)m->ppn;
	l->needs.n_programs = m->n_groups * (uint32_t)m->ppn;
	return mpi_time_init(&m->time, l, m->n_ranks, e) ? -1
							 : find_places(m, e);
}

static uint64_t mpi_estimate(const struct load *l)
{
	const struct mpi *m = (const struct mpi *)l;

	return limits_memory(m->n_ranks) +
	       programs_estimate(m->n_groups, (uint32_t)m->ppn, 0);
}

/* --- programs --- */

/* How a rank has ended. */
static int describe_end(struct mpi *m, uint32_t rank, char *text, size_t size)
{
	const struct start_end end = start_end(m->start, rank);

	if (start_was_killed(m->start, rank))
		m->proxy[rank].reasons |= CHANNEL_SIGNAL;
	return start_describe(&end, text, size);
}

/* A signal for all of a group is for the ranks, too. */
static bool is_stopped(const struct mpi *m)
{
	const atomic_int *stop = sim_stop(m->programs.load.net->sim);

	return stop && atomic_load(stop);
}

/* "in MPI_Recv" */
static const char *where(const struct proxy *p, char *text, size_t size)
{
	const char *name = account_call_name(p->turn.call.name);
	bool is_none = name == account_call_name(0);

	snprintf(text, size, "%s%s", is_none ? "" : "in ", name);
	return text;
}

static void complain(struct mpi *m, struct proxy *p)
{
	char how[300], text[400], call[64];

	if (p->ending == PROXY_DIED) {
		int code = describe_end(m, p->rank, how, sizeof(how));

		snprintf(text, sizeof(text), "rank %u %s at %.3f us %s",
			p->rank, how, (double)p->ended / 1e6,
			where(p, call, sizeof(call)));
		if (!is_stopped(m))
			programs_give_up(&m->programs, code, text);
	} else if (p->ending == PROXY_IDLE) {
		mpi_time_describe_idle(p, text, sizeof(text));
		programs_give_up(&m->programs, EXIT_DEADLOCK, text);
	} else if (p->ending == PROXY_ASTRAY) {
		mpi_time_describe(&m->time, p, text, sizeof(text));
		programs_give_up(&m->programs, EXIT_BAD_INPUT, text);
	} else if (p->ending == PROXY_GARBAGE) {
		snprintf(text, sizeof(text),
			"rank %u: its channel holds what no rank writes",
			p->rank);
		programs_give_up(&m->programs, EXIT_ANSWER_NO, text);
	} else {
		mpi_room_describe(
			&m->programs.load, p->error, how, sizeof(how));
		snprintf(text, sizeof(text), "rank %u: %s", p->rank, how);
		programs_give_up(&m->programs, EXIT_LIMIT, text);
	}
}

static void on_lost(struct proxy *p)
{
	struct mpi *m = of_programs(p->owner);

	if (p->ending == PROXY_FINISHED || p->ending == PROXY_STOPPED)
		return;
	complain(m, p);
	atomic_store(m->over, 1); /* others need not be waited for */
}

/*
 * Whether another rank was killed from outside while this one computes: nothing
 * would notice before it calls MPI.  Ranks whose nodes die are killed by us,
 * and other ends wait for their simulated time.
 */
static bool is_vain(struct proxy *p)
{
	struct mpi *m = of_programs(p->owner);
	char how[300], text[400];

	for (uint32_t i = 0; i < m->n_ranks; i++) {
		struct start_end end;
		int code;

		if (i == p->rank || m->proxy[i].dies_at != SIM_NEVER ||
			!start_was_killed(m->start, i))
			continue;
		/* the other's proxy may belong to another worker */
		p->reasons |= CHANNEL_SIGNAL;
		end = start_end(m->start, i);
		code = start_describe(&end, how, sizeof(how));
		snprintf(text, sizeof(text),
			"rank %u %s while rank %u computed at %.3f us", i, how,
			p->rank, (double)program_now() / 1e6);
		if (!is_stopped(m))
			programs_give_up(&m->programs, code, text);
		return true;
	}
	return false;
}

static void run_rank(void *arg)
{
	proxy_run(arg);
	on_lost(arg);
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
	if (l->place)
		l->world = &m->world;
	else if (!is_whole(m))
		host_set_worlds(l->host, m->worlds);
}

/* Whether there is a core for each rank and each worker. */
static bool has_cores(const struct mpi *m)
{
	return pin_has_cores(
		m->n_ranks + siblings_n(m->siblings) *
				     sim_n_workers(m->programs.load.net->sim));
}

static bool is_own(const struct mpi *m, uint32_t rank)
{
	return sim_has(m->programs.load.net->sim,
		m->world.node[rank / (uint32_t)m->ppn]);
}

static void place_ranks(struct mpi *m)
{
	const struct sim *sim = m->programs.load.net->sim;
	uint32_t each = (uint32_t)m->ppn;

	m->place_of = mem_alloc(m->n_ranks, sizeof(*m->place_of));
	for (uint32_t i = 0; i < m->n_ranks; i++)
		m->place_of[i] = (struct start_rank){
			.node = m->world.node[i / each],
			.process = i % each,
			.program = commands_of(&m->commands, i),
			.home = sim_process(sim, m->world.node[i / each]),
			.command = commands_words(&m->commands, i),
		};
}

static int begin_ranks(struct mpi *m, struct err *e)
{
	struct load *l = &m->programs.load;
	const struct msg_ops *ops = api_to(l->nic_ops)->msg;
	const struct load_launch *how = &l->needs.launch;
	const int to[OUTPUT_STREAMS] = { how->is_silent ? -1 : STDOUT_FILENO,
		how->is_silent ? -1 : STDERR_FILENO };
	char helper[1024];
	struct start_setup s = {
		.helper = helper,
		.stack = stacks[m->stack],
		.folder = how->folder,
		.variables = how->variables,
		.debugged = how->is_debugged ? how->debugged : CHANNEL_NONE,
		.has_input = !how->is_silent && !l->place &&
			     !(how->is_debugged && debugger_is_here()),
		.is_isolated = !m->isolation && !how->is_debugged,
		.n_ranks = m->n_ranks,
		.n_nodes = m->n_groups,
		.n_processes = (uint32_t)m->ppn,
		.collectives = m->collectives ? 0 : endpoint_collectives(ops),
		.seed = l->seed,
		.ways = m->time.ways,
		.spins = has_cores(m) ? CHANNEL_SPINS : 0,
		.siblings = m->siblings,
		.stop = { m->over, sim_stop(l->net->sim) },
		.patience = m->time.patience_wall / 1000,
	};

	if (start_find_helper(helper, sizeof(helper), e))
		return -1;
	limits_raise(m->n_ranks, &s.files);
	m->output = output_new(m->n_ranks, to, m->tags);
	place_ranks(m);
	s.rank = m->place_of;
	s.output = m->output;
	m->start = start_ranks(&s, e);
	return m->start ? 0 : -1;
}

static void write_output(struct mpi *m, int64_t until)
{
	output_gather(m->output, m->programs.load.net->sim, until);
	output_write(m->output, until);
}

/* Processes begin together, or none does. */
static int start_all(struct mpi *m, struct err *e)
{
	const struct sim *sim = m->programs.load.net->sim;

	m->siblings = siblings_meet(sim, e);
	if (e->code)
		return -1;
	m->over = m->siblings ? siblings_word(m->siblings) : &m->own_over;
	begin_ranks(m, e);
	if (sim_share_error(sim, e))
		return -1;
	start_await_begin(m->start, sim_stop(sim), e);
	if (!sim_share_error(sim, e))
		start_check_begin(m->start, e);
	if (!sim_share_error(sim, e))
		return 0;
	write_output(m, INT64_MAX);
	return -1;
}

static struct proxy_times times_of(const struct load *l)
{
	const struct mpi_params *p = mpi_params_of(l->host);

	return (struct proxy_times){
		.turn = p->turn,
		.test = p->test,
	};
}

/* Whether a worker waits as long as its rank runs: then one core does. */
static bool takes_turns(const struct mpi *m)
{
	return !has_cores(m) && !times_of(&m->programs.load).turn;
}

static struct proxy proxy_of(struct mpi *m, uint32_t rank)
{
	struct load *l = &m->programs.load;
	site_id node = m->world.node[rank / (uint32_t)m->ppn];

	return (struct proxy){
		.owner = &m->programs,
		.start = m->start,
		.output = m->output,
		.registry = m->registry,
		.rank = rank,
		.n_ranks = m->n_ranks,
		.node = node,
		.process = rank % (uint32_t)m->ppn,
		.times = times_of(l),
		.stop = { m->over, sim_stop(l->net->sim) },
		.pin = m->pin,
		.by_channel = m->copy,
		.dies_at = host_dies_at(l->host, node),
		.on_lost = on_lost,
		.is_vain = is_vain,
	};
}

static void mpi_start(struct load *l)
{
	struct mpi *m = of(l);
	uint32_t each = (uint32_t)m->ppn, threads = host_threads_each(l->host);
	struct err e = { 0 };

	programs_open(&m->programs);
	m->programs.names_all = true;
	set_world(m);
	if (start_all(m, &e))
		err_raise(&e);
	m->registry = registry_new(m->n_groups * each);
	registry_share(m->registry, l->net->sim, m->world.node, each);
	m->proxy = mem_alloc(m->n_ranks, sizeof(*m->proxy));
	m->pin = takes_turns(m) ? pin_new(siblings_me(m->siblings),
					  siblings_n(m->siblings))
				: NULL;
	m->dies_next = SIM_NEVER;
	for (uint32_t i = 0; i < m->n_groups * each; i++) {
		struct proxy *p = i < m->n_ranks ? &m->proxy[i] : NULL;

		if (p)
			*p = proxy_of(m, i);
		if (p)
			mpi_time_set(&m->time, p);
		if (p && !start_has_begun(m->start, i)) {
			p->ending = PROXY_FINISHED;
			p = NULL;
		}
		if (!is_own(m, i))
			continue; /* another process runs it */
		program_start(l->host, m->world.node[i / each],
			i % each * threads, l->begin,
			p ? run_rank : mpi_room_idle, p);
	}
}

/* --- afterwards --- */

/* Ranks die with their nodes; returns the time of the next death. */
static sim_time bury(struct mpi *m, sim_time now)
{
	sim_time next = SIM_NEVER;

	for (uint32_t i = 0; i < m->n_ranks; i++) {
		struct proxy *p = &m->proxy[i];

		if (p->ending != PROXY_RUNS || !is_own(m, i))
			continue;
		if (p->dies_at > now) {
			next = p->dies_at < next ? p->dies_at : next;
			continue;
		}
		proxy_bury(p);
		if (!m->buried || p->ended < m->buried->ended)
			m->buried = p;
	}
	return next;
}

/* Of all processes. */
static bool is_any(const struct mpi *m, bool is)
{
	uint64_t any = is;

	sim_max(m->programs.load.net->sim, &any, 1);
	return any;
}

static void bury_all(struct mpi *m, sim_time now)
{
	uint64_t next = ~(uint64_t)bury(m, now);

	sim_max(m->programs.load.net->sim, &next, 1);
	m->dies_next = (sim_time)~next;
	m->is_any_buried = is_any(m, m->buried);
}

/* What ranks say in the turns that they have does not depend on how fast they
 * are. */
static void settle(struct mpi *m)
{
	for (uint32_t i = 0; i < m->n_ranks; i++)
		if (m->proxy[i].ending == PROXY_RUNS && is_own(m, i))
			proxy_settle(&m->proxy[i]);
}

static sim_time mpi_next(struct load *l)
{
	struct mpi *m = of(l);
	sim_time now = sim_now(l->net->sim), next;

	write_output(m, now);
	/* the others' word may change at any time */
	l->has_given_up = is_any(m, atomic_load(m->over));
	if (!l->has_given_up && l->net->faults)
		bury_all(m, now);
	if (m->is_any_buried && m->death == DEATH_END) {
		settle(m);
		l->has_given_up = true;
	}
	if (l->has_given_up) {
		atomic_store(m->over, 1);
		return SIM_NEVER;
	}
	if (mpi_time_is_over(&m->time, l, m->proxy, m->n_ranks))
		return programs_stall(&m->programs);
	next = programs_next(l);
	return next < m->dies_next ? next : m->dies_next;
}

/* A rank that ended otherwise than with 0, though it had left in order. */
static int check_code(struct mpi *m, uint32_t i, struct err *e)
{
	struct start_end end = start_end(m->start, i);
	char how[300];
	int code = describe_end(m, i, how, sizeof(how));

	if (!end.has_ended)
		return mpi_time_fail_idle(&m->proxy[i], is_stopped(m), e);
	if (end.how == CHANNEL_ENDED && !end.value)
		return 0;
	return err_set_code(e, code, "rank %u %s after MPI_Finalize at %.3f us",
		i, how, (double)m->proxy[i].ended / 1e6);
}

static int check_account(struct mpi *m, uint32_t i, struct err *e)
{
	return proxy_is_exact(&m->proxy[i])
		       ? 0
		       : err_set_code(e, EXIT_INTERNAL,
				 "rank %u: its account is not the sum of its "
				 "parts",
				 i);
}

/* A rank that has left without MPI_Finalize(), for which others wait. */
static int check_missing(struct mpi *m, uint32_t i, struct err *e)
{
	return m->proxy[i].is_gone
		       ? err_set_code(e, EXIT_ANSWER_NO,
				 "rank %u ended without MPI_Finalize, and "
				 "other ranks wait for it",
				 i)
		       : 0;
}

/* The first of all ranks that a check finds something wrong with. */
static int check_all(struct mpi *m,
	int (*check)(struct mpi *m, uint32_t rank, struct err *e),
	struct err *e)
{
	uint32_t i = 0;

	while (i < m->n_ranks && (!is_own(m, i) || !check(m, i, e)))
		i++;
	return sim_share_first(m->programs.load.net->sim, e, i);
}

static int check_codes(struct mpi *m, struct err *e)
{
	start_await_end(m->start, CHANNEL_ANY);
	return check_all(m, check_code, e);
}

static int tell_missing(struct mpi *m, struct err *e)
{
	struct err missing = { 0 };

	if (check_all(m, check_missing, &missing))
		*e = missing;
	return -1;
}

/* Of several processes, whether it was the first in any. */
static bool is_first_buried(const struct mpi *m)
{
	const struct sim *sim = m->programs.load.net->sim;
	uint64_t at = m->buried ? ~(uint64_t)m->buried->ended : 0, first = at;
	uint64_t rank, least;

	sim_max(sim, &first, 1);
	rank = least = at && at == first ? ~(uint64_t)m->buried->rank : 0;
	sim_max(sim, &least, 1);
	return rank && rank == least;
}

static int tell_buried(const struct mpi *m, struct err *e)
{
	const struct proxy *p = m->buried;
	char text[64];

	if (is_first_buried(m))
		err_set_code(e, EXIT_ANSWER_NO,
			"node %u died at %.3f us, and rank %u with it, %s",
			p->node, (double)p->ended / 1e6, p->rank,
			where(p, text, sizeof(text)));
	return sim_share_error(m->programs.load.net->sim, e);
}

/* What was printed and is nowhere. */
static int check_output(const struct mpi *m, struct err *e)
{
	int error = output_error(m->output);

	return error ? err_set(e, "cannot write what the program prints: %s",
			       strerror(error))
		     : 0;
}

static int mpi_check(struct load *l, struct err *e)
{
	struct mpi *m = of(l);
	int code;

	if (m->is_any_buried && m->death == DEATH_END)
		code = tell_buried(m, e);
	else
		code = programs_check(l, e);
	if (code && e->code == EXIT_DEADLOCK)
		code = tell_missing(m, e);
	if (!code && m->is_any_buried)
		code = tell_buried(m, e);
	if (!code)
		code = check_codes(m, e);
	if (!code)
		code = check_all(m, check_account, e);
	write_output(m, INT64_MAX);
	if (!code)
		check_output(m, e);
	return sim_share_error(l->net->sim, e);
}

static bool records(const struct mpi *m)
{
	return m->time.ways.computing == CHANNEL_RECORD;
}

static void mpi_report(struct load *l, struct load_result *result)
{
	struct mpi *m = of(l);

	programs_report(&m->programs, result);
	for (uint32_t i = 0; i < m->n_ranks; i++)
		if (is_own(m, i))
			proxy_close_account(&m->proxy[i], sim_now(l->net->sim));
	proxy_gather(m->proxy, m->n_ranks, l->net->sim);
	for (uint32_t i = 0; i < m->n_ranks && records(m); i++)
		computing_tell(
			m->time.computing, i, l->net->sim, m->proxy[i].node);
	m->trips = mpi_trips(m->proxy, m->n_ranks, l->net->sim);
	mpi_figures(m->proxy, m->n_ranks, &m->trips, result);
}

static void mpi_facts(const struct load *l, struct facts *f)
{
	const struct mpi *m = (const struct mpi *)l;

	mpi_facts_of(m->proxy, m->n_ranks, &m->trips, f);
	mpi_time_facts(&m->time, m->proxy, m->n_ranks, f);
}

static void mpi_describe(const struct load *l, char *text, size_t size)
{
	const struct mpi *m = (const struct mpi *)l;

	mpi_head(m->proxy, m->n_ranks, text, size);
}

static const struct proxy *mpi_ranks(const struct load *l, uint32_t *n)
{
	const struct mpi *m = (const struct mpi *)l;

	*n = m->proxy ? m->n_ranks : 0;
	return m->proxy;
}

static const char *mpi_file(const struct load *l)
{
	const struct mpi *m = (const struct mpi *)l;

	return records(m) ? m->time.file : NULL;
}

static void mpi_write(const struct load *l, FILE *f)
{
	computing_write(((const struct mpi *)l)->time.computing, f);
}

static void mpi_fini(struct load *l)
{
	struct mpi *m = of(l);

	commands_free(&m->commands);
	start_free(m->start);
	if (m->output)
		output_write(m->output, INT64_MAX);
	output_free(m->output);
	siblings_free(m->siblings);
	for (uint32_t i = 0; m->proxy && i < m->n_ranks; i++)
		proxy_free(&m->proxy[i]);
	pin_free(m->pin);
	mem_free(m->proxy);
	registry_free(m->registry);
	mem_free(m->place_of);
	mem_free(m->worlds);
	mem_free(m->world.node);
	mem_free(m->world.place);
	mem_free(m->at);
	mem_free(m->which);
	mpi_time_fini(&m->time);
	programs_fini(l);
}

static const char *mpi_one_host(const struct load *l)
{
	(void)l;
	return "an MPI program";
}

const struct load_ops load_mpi = {
	.one_host = mpi_one_host,
	.name = "mpi",
	.help = "an MPI program; its ranks run as host processes",
	.size = sizeof(struct mpi),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.prints = true,
	.can_share = true,
	.on_delivered = programs_delivered,
	.init = mpi_init,
	.start = mpi_start,
	.next = mpi_next,
	.report = mpi_report,
	.facts = mpi_facts,
	.file = mpi_file,
	.write = mpi_write,
	.has_lines = true,
	.describe = mpi_describe,
	.ranks = mpi_ranks,
	.check = mpi_check,
	.estimate = mpi_estimate,
	.fini = mpi_fini,
};
