#include "outside/proxy.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "host/log.h"
#include "host/program.h"
#include "link/link.h"
#include "outside/computing.h"
#include "outside/late.h"
#include "outside/watch.h"
#include "sim/pace.h"

enum {
	SLICE = 100, /* ms between looks at whether the run is to end */
	MANY_LOOKS = 4096, /* in vain: from then on they take longer */
	OWN_PART = 16, /* a rank may fail its tests so far / 16 by itself */
};

/* --- the endpoint's client --- */

/* A long buffer that is not there would be missed when others fetch it.  The
 * rank copies short ones itself. */
static int take(void *arg, uint64_t bytes, uint64_t *at, uint32_t *hold)
{
	struct proxy *p = arg;

	if (bytes > CHANNEL_SHORT && !reach_has(&p->reach, *at, bytes))
		return EFAULT;
	return window_take(&p->window, bytes, at, hold);
}

static int take_pieces(void *arg, const struct channel_piece *piece, uint32_t n,
	uint64_t *at, uint32_t *hold)
{
	struct proxy *p = arg;

	return window_take_pieces(&p->window, piece, n, at, hold);
}

static void give(void *arg, uint32_t hold)
{
	struct proxy *p = arg;

	window_give(&p->window, hold);
}

static bool load(void *arg, uint64_t offset, void *to, uint64_t bytes)
{
	struct proxy *p = arg;

	return handover_load(p->channel, offset, to, bytes);
}

/* --- what it waits for --- */

static void describe_peer(
	const struct channel_call *c, const char *name, char *text, size_t size)
{
	/* of MPI_Sendrecv() it is where the message comes from */
	bool sends = (strstr(name, "send") || strstr(name, "Send")) &&
		     !strstr(name, "recv");
	int n = snprintf(text, size, " %s ", sends ? "to" : "from");

	text += n;
	size -= (size_t)n;
	if (c->rank == CHANNEL_ANY)
		n = snprintf(text, size, "any");
	else
		n = snprintf(text, size, "%u", c->rank);
	if ((int32_t)c->tag < 0)
		snprintf(text + n, size - (size_t)n, ", any tag");
	else
		snprintf(text + n, size - (size_t)n, ", tag %d",
			(int32_t)c->tag);
}

/* Without arguments that name another rank it says what it has asked for. */
void proxy_describe(const struct proxy *p, char *text, size_t size)
{
	const struct channel_call *c = &p->turn.call;
	const char *name = account_call_name(c->name);
	char more[80] = "";

	if (account_has_peer(c->name))
		describe_peer(c, name, more, sizeof(more));
	else if (p->endpoint)
		endpoint_describe(
			p->endpoint, c->name != 0, more, sizeof(more));
	snprintf(text, size, "%s%s", name, more);
}

static void explain(void *arg, char *text, size_t size)
{
	proxy_describe(arg, text, size);
}

/* --- turns --- */

/* Part of the time since the last charge was the library's. */
static void charge_own(struct proxy *p)
{
	sim_time own = endpoint_own(p->endpoint) - p->own;
	sim_time most = program_now() - p->account.until;

	p->own += own;
	account_until(&p->account, ACCOUNT_OWN, p->turn.call.name,
		p->account.until + (own < most ? own : most));
}

static void charge(struct proxy *p, enum account_kind kind)
{
	charge_own(p);
	account_until(&p->account, kind, p->turn.call.name, program_now());
}

/* Of a rank that does not give its turn back. */
struct lateness {
	int64_t since; /* its CPU time then; 0: not yet known */
	int64_t most; /* until somebody is told */
};

static void tell_late(const struct proxy *p, struct lateness *l)
{
	pid_t pid = start_pid(p->start, p->rank);
	int64_t cpu = late_cpu(pid);
	char where[400];

	if (!l->since)
		l->since = cpu;
	if (cpu - l->since < l->most)
		return;
	late_where(pid, where, sizeof(where));
	p->on_late(p, cpu - l->since, where);
	l->most *= 2;
}

/* Whether waiting longer is useless, because no rank does anything. */
static bool is_hopeless(struct proxy *p, struct watch_wait *t)
{
	struct watch *w;
	char what[400];

	if (!p->start)
		return false;
	w = start_watch(p->start);
	t->told = p->told;
	watch_look(w, t);
	if (watch_is_over(w, t))
		return true;
	if (watch_tells(w, t, t->quiet)) {
		watch_describe(w, p->rank, what, sizeof(what));
		p->on_quiet(p, t->quiet, what);
	}
	p->told = t->told;
	return false;
}

/* Whether to give up a rank that does not give its turn back. */
static bool gives_up(struct proxy *p, struct lateness *l, struct watch_wait *t)
{
	if (p->patience)
		tell_late(p, l);
	if (handover_is_stopped(p->channel) || (p->is_vain && p->is_vain(p)))
		p->ending = PROXY_STOPPED;
	else if (is_hopeless(p, t))
		p->ending = PROXY_IDLE;
	return p->ending != PROXY_RUNS;
}

/* What has come with the turn; false if the rank is not to go on. */
static bool take_turn(struct proxy *p)
{
	p->reasons |= p->turn.reasons;
	if (p->computing && p->is_recorded)
		computing_take(p->computing, p->rank, p->channel);
	if (p->turn.why == CHANNEL_ASTRAY)
		p->ending = p->computing && !p->is_recorded ? PROXY_ASTRAY
							    : PROXY_GARBAGE;
	return p->ending == PROXY_RUNS;
}

/* Takes the turn back; false if the rank cannot give it. */
static bool join(struct proxy *p)
{
	struct lateness late = { 0, p->patience };
	struct watch_wait quiet = { 0 };
	enum handover_answer answer;

	do {
		answer = handover_join(p->channel, &p->turn, SLICE);
		if (answer == HANDOVER_LATE && gives_up(p, &late, &quiet))
			return false;
	} while (answer == HANDOVER_LATE);
	p->crossings++;
	p->turns_ns += p->kicked ? (uint64_t)(pace_clock() - p->kicked) : 0;
	output_date(p->output, p->rank, program_now());
	if (answer == HANDOVER_TURN)
		return take_turn(p);
	p->ending = answer == HANDOVER_GONE ? PROXY_DIED : PROXY_GARBAGE;
	return false;
}

/* It does more than to wait and to test. */
static void be_active(struct proxy *p, sim_time until)
{
	p->vain = 0;
	p->active = until;
}

bool proxy_polls(const struct proxy *p)
{
	return p->vain >= MANY_LOOKS;
}

bool proxy_waits(const struct proxy *p)
{
	return p->waits;
}

/* If messages can come only from ranks that test, too, a rank need not ask each
 * time.  It notices an arrival late, by a part of the time for which it has
 * tested.  Its tests take less time than a sleep that makes it active. */
static void give_tests(struct proxy *p)
{
	sim_time most = p->long_sleep / 2 / CHANNEL_LONG_TEST;

	p->own_tests = 0;
	if (p->is_hopeless && proxy_polls(p) && p->turn.why == CHANNEL_LOOK)
		p->own_tests = p->vain / OWN_PART < MANY_LOOKS
				       ? p->vain / OWN_PART
				       : MANY_LOOKS;
	if (p->own_tests > most)
		p->own_tests = (uint32_t)most;
	handover_give_tests(p->channel, p->own_tests);
}

static void hand_over(struct proxy *p)
{
	struct channel_completion c;

	while (handover_has_room(p->channel) &&
		endpoint_next(p->endpoint, &c)) {
		account_completion(&p->account, &c);
		handover_complete(p->channel, &c);
		if (c.error != ENOMSG)
			be_active(p, program_now());
	}
	reach_give(&p->reach);
	give_tests(p);
	if (p->computing && !p->is_recorded)
		computing_give(p->computing, p->rank, p->channel);
	p->kicked = pace_clock();
	pin_rank(p->pin, p->pid, &p->core);
	handover_kick(
		p->channel, program_now(), endpoint_has_next(p->endpoint));
	program_charge(p->times.turn);
	charge(p, ACCOUNT_OWN);
}

static void log_call(struct proxy *p, const struct channel_called *c)
{
	bool has_peer = account_has_peer(c->call.name);
	const struct host_log_call x = {
		.text = account_call_name(c->call.name),
		.args = { has_peer ? c->call.rank : HOST_LOG_NONE,
			has_peer ? c->call.tag : HOST_LOG_NONE, c->call.bytes },
		.has_peer = true,
		.from = c->call.since,
		.to = c->until,
	};

	p->mark = program_log_call(&x);
}

/* Calls that have ended since the last turn.  Tests that follow each other are
 * one entry: a program may make millions. */
static void log_calls(struct proxy *p)
{
	struct channel_called c;
	uint32_t i = 0;

	while (handover_called(p->channel, &i, &c)) {
		if (account_is_test(c.call.name) && !c.call.bytes &&
			c.call.name == p->logged.call.name &&
			c.call.since == p->logged.until)
			program_log_more(p->mark, c.until);
		else
			log_call(p, &c);
		p->logged = c;
	}
}

/* What the rank has done by itself takes its time: part of it was the
 * program's, and the rest in calls. */
static void catch_up(struct proxy *p)
{
	sim_time before = program_now(), outside = p->turn.outside;
	uint32_t failed = 0; /* tests, by itself */
	/* no run lasts longer */
	sim_time clock =
		p->turn.clock < LINK_MAX_TIME ? p->turn.clock : LINK_MAX_TIME;

	if (p->turn.is_busy)
		be_active(p, before);
	if (clock > before && clock - before >= p->long_sleep)
		be_active(p, clock);
	if (p->turn.own_tests < p->own_tests)
		failed = p->own_tests - p->turn.own_tests;
	p->vain += failed;
	if (clock > before)
		program_wait(clock);
	if (outside > program_now() - before)
		outside = program_now() - before;
	if (outside > 0)
		account_until(
			&p->account, ACCOUNT_COMPUTING, 0, before + outside);
	charge(p, failed ? ACCOUNT_TESTS : ACCOUNT_OWN);
	log_calls(p);
}

/* A test in vain after many of them takes longer, unless something comes.
 * Looks for messages are commands, so it waits before these. */
static void doze(struct proxy *p)
{
	endpoint_doze(p->endpoint, program_now() + CHANNEL_LONG_TEST);
	charge(p, ACCOUNT_TESTS);
}

static void begin(struct proxy *p)
{
	const struct channel_command *c = p->turn.command;
	uint64_t eager = endpoint_eager(p->endpoint);

	for (uint32_t i = 0; i < p->turn.n_commands; i++) {
		account_command(&p->account, &c[i], eager);
		if (c[i].kind != CHANNEL_PEEK)
			be_active(p, program_now());
	}
	endpoint_execute(p->endpoint, c, p->turn.n_commands);
	charge(p, ACCOUNT_CALLS);
}

/* Collectives wait for others, all else is work of the interface. */
static void execute(struct proxy *p)
{
	begin(p);
	if (endpoint_has_collective(p->endpoint)) {
		p->waits = true;
		endpoint_meet(p->endpoint);
		p->waits = false;
		charge(p, ACCOUNT_COLLECTIVES);
	}
	endpoint_step(p->endpoint);
	charge(p, ACCOUNT_CALLS);
}

static void look(struct proxy *p)
{
	p->vain++;
	program_charge(p->times.test);
	endpoint_step(p->endpoint);
	charge(p, ACCOUNT_TESTS);
}

static void wait(struct proxy *p)
{
	uint32_t call = p->turn.call.name;

	p->waits = p->turn.until >= LINK_MAX_TIME;
	endpoint_wait(p->endpoint, p->waits ? SIM_NEVER : p->turn.until);
	p->waits = false;
	charge_own(p);
	if (account_is_collective(call))
		charge(p, ACCOUNT_COLLECTIVES);
	else
		account_wait(&p->account, endpoint_first_rank(p->endpoint),
			call, program_now());
}

/* The rank waits in a collective, for which this program waits: it gets its
 * completions, and goes on with all else that it has to do.  If it dies there,
 * this program cannot return from where it is. */
static void relay(void *arg)
{
	struct proxy *p = arg;

	charge(p, ACCOUNT_COLLECTIVES);
	do {
		hand_over(p);
		if (!join(p)) {
			charge(p, ACCOUNT_OWN);
			p->ended = program_now();
			p->on_lost(p);
			program_wait(SIM_NEVER);
		}
		catch_up(p);
		begin(p);
		endpoint_step(p->endpoint);
	} while (p->turn.why != CHANNEL_EXIT && endpoint_has_next(p->endpoint));
	charge(p, ACCOUNT_CALLS);
}

/* Whether it waits by many calls that end. */
static bool looks_again(const struct proxy *p)
{
	return p->turn.why == CHANNEL_LOOK ||
	       (p->turn.why == CHANNEL_WAIT && p->turn.until != INT64_MAX);
}

/* Until the rank says that it leaves, or cannot say anything more. */
static bool serve(struct proxy *p)
{
	/* its calls are MPI's, whatever the interface's library calls */
	PROGRAM_CALL(NULL, 0, 0);

	program_explain(explain, p);
	while (join(p)) {
		catch_up(p);
		program_waits_since(looks_again(p) ? p->active : 0);
		if (p->turn.why == CHANNEL_LOOK && p->vain >= MANY_LOOKS)
			doze(p);
		execute(p);
		if (p->turn.why == CHANNEL_EXIT)
			return true;
		if (p->turn.why == CHANNEL_LOOK)
			look(p);
		else if (p->turn.why == CHANNEL_WAIT)
			wait(p);
		hand_over(p);
	}
	return false;
}

/* --- life --- */

static int open_all(struct proxy *p)
{
	const struct endpoint_client c = { .take = take,
		.take_pieces = take_pieces,
		.give = give,
		.load = load,
		.arg = p,
		.registry = p->registry,
		.relay = relay };
	const struct memory_foreign rank = { reach_read, reach_write,
		&p->reach };
	int code;

	if (p->start) {
		p->channel = start_channel(p->start, p->rank);
		p->pid = start_pid(p->start, p->rank);
	}
	p->endpoint = mem_alloc(1, sizeof(*p->endpoint));
	code = endpoint_open(p->endpoint, &c, NULL);
	if (code)
		return code;
	p->channel->stop[0] = p->stop[0];
	p->channel->stop[1] = p->stop[1];
	p->core = PIN_ANYWHERE;
	reach_init(&p->reach, p->channel, p->pid, p->by_channel);
	window_init(&p->window, host_at(program_host(), program_node()),
		program_base(), program_base() + p->endpoint->free, &rank);
	if (host_log(program_host()))
		handover_log(p->channel);
	account_begin(&p->account, p->n_ranks, program_now());
	p->active = program_now();
	return 0;
}

/* How a rank ends that leaves without MPI_Finalize(). */
static enum proxy_ending await_end(struct proxy *p)
{
	struct start_end end;

	if (!p->start)
		return PROXY_DIED;
	if (!start_await_end(p->start, p->rank))
		return handover_is_stopped(p->channel) ? PROXY_STOPPED
						       : PROXY_IDLE;
	end = start_end(p->start, p->rank);
	p->is_gone = true;
	return end.how == CHANNEL_ENDED && !end.value ? PROXY_RUNS : PROXY_DIED;
}

/* True if its process ends with 0; otherwise the rank has failed. */
static bool leaves_well(struct proxy *p)
{
	if (!strcmp(account_call_name(p->turn.call.name), "MPI_Finalize"))
		return true;
	hand_over(p);
	p->ending = await_end(p);
	return p->ending == PROXY_RUNS;
}

/* Serves others until all have left. */
static void leave(struct proxy *p)
{
	PROGRAM_CALL(account_call_name(p->turn.call.name), 0, 0);

	/* it does not come first where all wait: it waits for the others */
	program_explain(NULL, NULL);
	endpoint_close(p->endpoint);
	charge(p, ACCOUNT_COLLECTIVES);
	p->ending = PROXY_FINISHED;
	pin_leave(p->pin, p->pid, &p->core);
	p->pin = NULL;
	if (!p->is_gone)
		hand_over(p);
}

/* What is known only of a rank that has run. */
static void remember(struct proxy *p)
{
	if (!p->account.n_ranks)
		return;
	for (uint32_t i = 0; i < CHANNEL_NAMES; i++)
		account_count(&p->account, i, handover_calls(p->channel, i));
	handover_library(p->channel, p->library);
	p->cpu_ns = handover_cpu(p->channel);
}

void proxy_run(void *arg)
{
	struct proxy *p = arg;

	p->error = open_all(p);
	if (p->error)
		p->ending = PROXY_STUCK;
	else if (serve(p) && leaves_well(p))
		leave(p);
	p->ended = program_now();
	remember(p);
	window_fini(&p->window);
}

void proxy_close_account(struct proxy *p, sim_time now)
{
	uint32_t call = p->turn.call.name;

	if (p->ended || !p->account.n_ranks)
		return;
	p->ended = now > p->account.until ? now : p->account.until;
	if (account_is_collective(call))
		account_until(&p->account, ACCOUNT_COLLECTIVES, call, p->ended);
	else
		account_wait(&p->account, CHANNEL_ANY, call, p->ended);
	remember(p);
}

bool proxy_is_exact(const struct proxy *p)
{
	return !p->account.n_ranks || account_is_exact(&p->account, p->ended);
}

/* What it prints behind its last turn belongs to no time of a node that lives,
 * so it must not run on before it is killed. */
void proxy_settle(struct proxy *p)
{
	handover_settle(start_channel(p->start, p->rank), -1);
}

void proxy_bury(struct proxy *p)
{
	proxy_settle(p);
	start_kill(p->start, p->rank);
	output_drop(p->output, p->rank);
	p->ending = PROXY_BURIED;
	p->ended = p->dies_at;
}

void proxy_free(struct proxy *p)
{
	account_free(&p->account);
	window_free(&p->window);
	if (!p->endpoint)
		return;
	endpoint_free(p->endpoint);
	mem_free(p->endpoint);
	reach_fini(&p->reach);
	p->endpoint = NULL;
}
