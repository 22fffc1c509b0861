/*
 * Replays a schedule by messages: a program for each rank begins what is ready,
 * and goes on with what waited for it when something has ended.
 *
 * All messages of a rank leave from the same bytes and come to the same bytes
 * of its memory, which nobody looks at: a schedule has no data.
 */
#include "base/mem.h"
#include "load/keys.h"
#include "load/place.h"
#include "load/registry.h"
#include "load/replay/goal_pairs.h"
#include "load/replay/player.h"
#include "load/unstored.h"
#include "parts/domain/domain.h"

#define AT(field) offsetof(struct replay, field)

enum { MOST_STORED = 1 << 20 }; /* bytes of a rank */

/* Where messages leave from and come to; what is longer begins there, too. */
#define SOURCE UINT64_C(0x100000)
/* Where ranks agree on something: always stored. */
#define AGREED_AT (SOURCE - 4096)

static const struct param params[] = {
	KEY_TEXT("file", AT(file), "none",
		"file with a schedule in GOAL's text or binary form: see "
		"weft-goal(1)"),
	KEY_TEXT("place", AT(place), "linear",
		"mapping of ranks to processes: linear, random, or a file with "
		"the number of a process for each rank"),
	KEY(PARAM_COUNT, "procs", AT(procs), "auto", 1, HOST_PROCESSES, "auto",
		"number of processes per node; auto: domain.ranks, or more if "
		"the ranks need them"),
};

static struct replay *of(struct load *l)
{
	return (struct replay *)l;
}

/* --- what is ready --- */

static void push(struct player *p, uint32_t op)
{
	uint32_t c = p->rank->op[op].cpu;

	*(uint32_t *)ring_push(&p->ready[c]) = op;
	p->has_ready |= UINT64_C(1) << c;
}

static uint32_t pop(struct player *p, uint32_t c)
{
	uint32_t op = *(uint32_t *)ring_pop(&p->ready[c]);

	if (!p->ready[c].n)
		p->has_ready &= ~(UINT64_C(1) << c);
	return op;
}

/* What waited for an operation's beginning, or its end. */
static void release(struct player *p, uint32_t op, bool is_start)
{
	const struct goal_rank *r = p->rank;
	uint32_t i = r->op[op].after, end = i + goal_n_after(r, op);

	for (; i < end; i++)
		if ((r->edge[i] & 1) == is_start && !--p->left[r->edge[i] / 2])
			push(p, r->edge[i] / 2);
}

static void end_op(struct player *p, uint32_t op)
{
	p->n_done++;
	p->end = program_now();
	release(p, op, false);
}

/* --- what the log says --- */

static uint32_t log_op(const struct player *p, uint32_t op)
{
	static const char *const texts[] = {
		[GOAL_CALC] = "calc # ns",
		[GOAL_SEND] = "send # B to rank #, tag #",
		[GOAL_RECV] = "recv # B from rank #, tag #",
		[GOAL_COLL] = "collective of # B",
	};
	const struct goal_op *o = &p->rank->op[op];

	return program_log_begin(
		texts[o->kind], (uint64_t[HOST_CALL_ARGS]){
					o->size, player_peer(p, o), o->tag });
}

/* --- operations --- */

struct active *player_take(struct player *p)
{
	struct active *x = p->spare;

	if (x)
		p->spare = x->next;
	else
		x = mem_alloc(1, sizeof(*x));
	x->next = p->active;
	p->active = x;
	return x;
}

/* Whether an operation did not fail: "step.goal:4: the message ...". */
static bool went_well(struct player *p, uint32_t op, const char *what, int code)
{
	const struct replay *r = p->replay;
	char where[GOAL_WHERE], call[160];

	if (!code)
		return true;
	snprintf(call, sizeof(call), "%s%s%s", r->file,
		goal_where(&r->goal, p->rank, op, where), what);
	return programs_did(&p->replay->programs, call, code);
}

static bool begin_message(struct player *p, uint32_t op)
{
	const struct goal_op *o = &p->rank->op[op];
	struct replay *r = p->replay;
	struct active *x = player_take(p);
	uint32_t peer = r->at[player_peer(p, o)];
	int code;

	x->op = op;
	x->mark = log_op(p, op);
	if (o->kind == GOAL_SEND)
		code = weft_msg_send_start(
			&p->msg, peer, o->tag, SOURCE, o->size, &x->request);
	else
		code = weft_msg_receive_start(
			&p->msg, peer, o->tag, r->target, o->size, &x->request);
	return went_well(p, op,
		o->kind == GOAL_SEND ? ": the message cannot be sent"
				     : ": the message cannot be received",
		code);
}

/* Its steps are made as it goes on. */
static void begin_joint(struct player *p, uint32_t op)
{
	const struct goal_op *o = &p->rank->op[op];
	const struct goal *g = &p->replay->goal;
	const struct goal_coll *c = goal_coll_of(g, o);
	const struct algo_plan *plan =
		autos_plan(&p->replay->autos, p->chosen, o->peer);
	const struct coll_run how = {
		.msg = &p->msg,
		.group = &g->colls->group[c->group],
		.place = p->replay->at,
		.at = SOURCE,
		.tag = goal_coll_tag(o->tag),
	};

	if (plan->algo == &algo_network) {
		networks_add(
			&p->networks, (struct joint_of){ op, log_op(p, op) });
		return;
	}
	joints_begin(&p->joints, &how, plan,
		algo_group_member(how.group, player_rank(p)),
		(struct joint_of){ op, log_op(p, op) });
}

static bool begin_op(struct player *p, uint32_t op)
{
	const struct goal_op *o = &p->rank->op[op];
	uint32_t c = o->cpu;

	p->left[op] = PLAYER_BEGUN;
	release(p, op, true);
	if (goal_is_message(o))
		return begin_message(p, op);
	if (o->kind == GOAL_COLL) {
		begin_joint(p, op);
		return true;
	}
	p->calc[c] = op;
	p->computes |= UINT64_C(1) << c;
	p->calc_mark[c] = log_op(p, op);
	p->free_at[c] = program_now() + (sim_time)o->size * SIM_NS;
	return true;
}

/* Begins what can be, cpu by cpu: an operation may make others ready.  False
 * where one failed. */
static bool begin_ready(struct player *p)
{
	uint64_t left = UINT64_MAX, can;

	while ((can = p->has_ready & ~p->computes & left)) {
		uint32_t c = (uint32_t)__builtin_ctzll(can);

		left = UINT64_MAX << c;
		if (!begin_op(p, pop(p, c)))
			return false;
	}
	return true;
}

/* --- waiting --- */

static bool end_calcs(struct player *p)
{
	bool did = false;

	for (uint64_t left = p->computes; left; left &= left - 1) {
		uint32_t c = (uint32_t)__builtin_ctzll(left);

		if (p->free_at[c] > program_now())
			continue;
		p->computes &= ~(UINT64_C(1) << c);
		program_log_end(p->calc_mark[c]);
		end_op(p, p->calc[c]);
		did = true;
	}
	return did;
}

/* Those that have ended since the last look; there may be many that have not.
 * An error is one that the schedule made: a receive that is too short. */
static bool end_messages(struct player *p, bool *is_right)
{
	const struct msg_state *m = msg_state(&p->msg);
	uint64_t left = m->n_over - p->n_over;
	struct active **at = &p->active, *x;
	bool did = false;

	p->n_over = m->n_over;
	while (left && (x = *at)) {
		uint32_t op = x->op;

		if (!msg_is_over(&x->request)) {
			at = &x->next;
			continue;
		}
		if (!went_well(p, op, "", x->request.status.error))
			*is_right = false;
		*at = x->next;
		x->next = p->spare;
		p->spare = x;
		program_log_end(x->mark);
		end_op(p, op);
		left--;
		did = true;
	}
	return did;
}

static bool end_joints(struct player *p, bool *is_right)
{
	bool did = joints_go_on(&p->joints, msg_state(&p->msg)->n_over);
	struct joint_of x;
	int error;

	while (joints_take(&p->joints, &x, &error)) {
		if (!went_well(p, x.op, "", error))
			*is_right = false;
		program_log_end(x.mark);
		end_op(p, x.op);
		did = true;
	}
	return did;
}

static sim_time next_calc(const struct player *p)
{
	sim_time t = SIM_NEVER;

	for (uint64_t left = p->computes; left; left &= left - 1) {
		uint32_t c = (uint32_t)__builtin_ctzll(left);

		t = p->free_at[c] < t ? p->free_at[c] : t;
	}
	return t;
}

bool player_oldest(const struct player *p, uint32_t *op)
{
	struct joint_of j;

	if (!joints_oldest(&p->joints, &j) &&
		!networks_oldest(&p->networks, &j))
		return false;
	*op = j.op;
	return true;
}

/* --- the course of a rank --- */

/* Adds the time since the last look to what the rank waited for then, unless
 * it computed. */
static void account(struct player *p)
{
	sim_time now = program_now();

	if (!p->computed)
		exposed_add(&p->replay->exposed, player_rank(p), p->awaited,
			now - p->seen);
	p->seen = now;
}

/* Begins and ends what can be; returns whether there was any. */
static bool look(struct player *p)
{
	bool is_right = true, did;
	uint32_t op;

	account(p);
	if (!begin_ready(p)) {
		p->has_failed = true;
		return false;
	}
	p->computed = p->computes;
	p->awaited = player_oldest(p, &op) ? &p->rank->op[op] : NULL;
	did = end_calcs(p);
	did |= msg_step(msg_state(&p->msg));
	did |= end_messages(p, &is_right);
	did |= end_joints(p, &is_right);
	p->has_failed |= !is_right;
	return did;
}

/* While the network performs a collective, the others go on. */
static sim_time look_between(void *arg)
{
	struct player *p = arg;
	bool did = false;

	if (p->is_inside)
		return SIM_NEVER;
	p->is_inside = true;
	while (!p->has_failed && look(p))
		did = true;
	p->is_inside = false;
	return did ? 0 : next_calc(p);
}

static bool perform_next(struct player *p)
{
	struct replay *r = p->replay;
	struct msg_state *m = msg_state(&p->msg);
	struct joint_of of;
	int code;

	if (!networks_next(&r->networks, &p->networks, p->rank, &of))
		return false;
	m->between = look_between;
	m->on_end_arg = p;
	code = networks_perform(&r->networks, &p->networks, &p->msg, r->at,
		&p->rank->op[of.op]);
	m->between = NULL;
	networks_drop(&p->networks, of.op);
	p->has_failed |= !went_well(p, of.op, "", code);
	program_log_end(of.mark);
	end_op(p, of.op);
	return true;
}

static void play(struct player *p)
{
	p->seen = program_now();
	for (uint32_t i = 0; i < GOAL_CPUS; i++)
		ring_init(&p->ready[i], sizeof(i));
	p->left = mem_alloc(p->rank->n_ops + 1, sizeof(*p->left));
	for (uint32_t i = 0; i < p->rank->n_ops; i++) {
		p->left[i] = p->rank->op[i].needs;
		if (!p->left[i])
			push(p, i);
	}
	while (!p->has_failed && p->n_done < p->rank->n_ops)
		if (!look(p) && !p->has_failed && !perform_next(p))
			msg_sleep_before(msg_state(&p->msg), next_calc(p));
	account(p);
}

/* --- the program of a rank --- */

/* The highest of what the ranks bring, for each of n numbers. */
static int agree(struct player *p, int64_t *v, uint32_t n)
{
	const struct replay *r = p->replay;
	const struct algo_group all = { .n = r->goal.n_ranks };
	const struct coll_run how = {
		.msg = &p->msg,
		.group = &all,
		.place = r->at,
		.at = AGREED_AT,
		.tag = goal_coll_tag(0),
	};

	return coll_agree(&how, player_rank(p), v, n);
}

static bool agree_on_time(struct player *p, int64_t v[2])
{
	return programs_did(
		&p->replay->programs, "agreeing on a time", agree(p, v, 2));
}

/*
 * After trials, ranks leave an agreement at different times, which may differ
 * by more than a message takes.  So they agree on a start time that none can
 * miss: a first agreement measures how long one takes, a second one compares
 * the clocks.
 */
static bool begin_together(struct player *p)
{
	int64_t v[2] = { 0, 0 };
	sim_time t = program_now();

	if (!agree_on_time(p, v))
		return false;
	v[0] = program_now();
	v[1] = v[0] - t;
	if (!agree_on_time(p, v))
		return false;
	program_wait(v[0] + 2 * v[1]);
	return true;
}

/* Nobody looks at the bytes, which may be many. */
static bool store_nothing(const struct replay *r)
{
	return !r->unstored ||
	       unstored_add(r->programs.load.host, SOURCE, r->unstored);
}

static int agree_on_one(void *arg, int64_t *v)
{
	return agree(arg, v, 1);
}

/* What the schedule left open. */
static bool choose(struct player *p)
{
	struct replay *r = p->replay;
	const struct autos_end own = {
		.how = { .msg = &p->msg, .place = r->at, .at = SOURCE },
		.rank = player_rank(p),
		.agree = agree_on_one,
		.arg = p,
	};

	p->chosen = mem_alloc(r->autos.n + 1, sizeof(*p->chosen));
	return programs_did(&r->programs, "measuring algorithms",
		autos_choose(&r->autos, &own, p->chosen));
}

/* Opens what the network performs. */
static bool meet(struct player *p)
{
	struct replay *r = p->replay;
	int code = networks_open(&r->networks, &p->networks, &p->msg, r->at);

	if (code)
		programs_give_up(&r->programs, EXIT_DEADLOCK,
			"algo network: the network cannot add for these "
			"processes (want another algorithm, such as algo "
			"ring)");
	return !code;
}

/* All programs return from weft_msg_init() at the same time, and begin then
 * unless something must be measured or opened first. */
static bool prepare(struct player *p)
{
	struct replay *r = p->replay;

	if (!programs_did(&r->programs, "weft_msg_init",
		    weft_msg_init(&p->msg, NULL)) ||
		!store_nothing(r) || !choose(p) || !meet(p))
		return false;
	return (!r->autos.n && !r->networks.n) || begin_together(p);
}

static void run_rank(void *arg)
{
	struct player *p = arg;
	uint64_t args[HOST_CALL_ARGS] = { player_rank(p), 0, 0 };
	uint32_t mark;

	if (!prepare(p))
		return;
	p->begin = program_now();
	mark = program_log_begin(PLAYER_CALL, args);
	program_explain(player_explain, p);
	play(p);
	program_explain(NULL, NULL);
	program_log_end(mark);
	if (p->has_failed)
		return;
	networks_close(&p->replay->networks, &p->networks, &p->msg);
	/* every message to this rank has been received */
	msg_leave(msg_state(&p->msg));
}

/* --- the workload --- */

static int place_ranks(struct replay *r, struct err *e)
{
	const struct place_setup p = {
		.how = r->place,
		.n = r->goal.n_ranks,
		.n_places = r->n_places,
		.what = "rank",
		.where = "process",
		.seed = r->programs.load.seed,
	};

	r->at = mem_alloc(p.n, sizeof(*r->at));
	r->which = mem_alloc(p.n_places, sizeof(*r->which));
	return place_all(&p, r->at, r->which, e);
}

static uint64_t replay_message(const struct load *l)
{
	const struct goal *g = &((const struct replay *)l)->goal;
	uint64_t one = goal_longest(g), all = goal_longest_of_colls(g);
	uint64_t tried = autos_longest(&((const struct replay *)l)->autos);

	all = tried > all ? tried : all;
	return one > all ? one : all;
}

static uint64_t to_pages(uint64_t bytes)
{
	return (bytes + 4095) / 4096 * 4096;
}

/*
 * Processes of each node: as many as it usually has, so that neighbouring ranks
 * share one, but no more than there are ranks.
 */
static int count_processes(struct load *l, struct err *e)
{
	struct replay *r = of(l);
	uint32_t n = r->goal.n_ranks, nodes = load_n_nodes(l);
	uint32_t each = (n + nodes - 1) / nodes;
	uint32_t most = msg_most_processes(l->nic_ops);
	uint32_t usual = (uint32_t)domain_ranks(l->parts);

	if (r->procs > 0 && each > r->procs)
		return err_set(e,
			"procs: %s has %u ranks, which need %u processes on "
			"each of the machine's %u nodes",
			r->file, n, each, nodes);
	if (r->procs > 0)
		each = (uint32_t)r->procs;
	else if (each < usual)
		each = usual < n ? usual : n;
	if (each > most)
		return err_set(e,
			"%s: %u ranks are more than %u on each of the "
			"machine's %u nodes",
			r->file, n, most, nodes);
	r->n_places = each * nodes;
	l->needs.n_programs = n;
	l->needs.n_processes = each;
	return 0;
}

static int replay_init(struct load *l, struct err *e)
{
	struct replay *r = of(l);
	uint64_t most, space, own;

	if (programs_need_nic(&r->programs, e))
		return -1;
	if (goal_read(&r->goal, r->file, e) ||
		goal_check_pairs(&r->goal, r->file, e) ||
		goal_number_colls(&r->goal, r->file, e))
		return -1;
	if (count_processes(l, e))
		return -1;
	autos_init(&r->autos, &r->goal);
	if (networks_init(&r->networks, &r->goal, r->file, l, r->n_places, e))
		return -1;
	most = to_pages(goal_longest(&r->goal));
	r->target = SOURCE + most;
	space = to_pages(goal_largest_space(&r->goal));
	space = 2 * most > space ? 2 * most : space;
	most = to_pages(autos_space(&r->autos));
	space = most > space ? most : space;
	r->unstored = space > MOST_STORED ? space : 0;
	r->networks.at = SOURCE + space;
	space += to_pages(networks_space(&r->networks));
	own = msg_memory(l->nic_ops, l->nic_params, r->n_places, NULL);
	if (programs_need_memory(&r->programs,
		    l->needs.n_processes * (SOURCE + space + own + 8192), e))
		return -1;
	return place_ranks(r, e);
}

static site_id node_of_rank(const struct load *l, uint32_t rank)
{
	const struct replay *r = (const struct replay *)l;

	return load_node(l, r->at[rank] / l->needs.n_processes);
}

static void replay_start(struct load *l)
{
	struct replay *r = of(l);
	uint32_t threads = host_threads_each(l->host);

	programs_open(&r->programs);
	r->player = mem_alloc(r->goal.n_ranks, sizeof(*r->player));
	exposed_init(&r->exposed, &r->goal);
	for (uint32_t i = 0; i < r->goal.n_ranks; i++) {
		r->player[i].replay = r;
		r->player[i].rank = &r->goal.rank[i];
		program_start(l->host, node_of_rank(l, i),
			r->at[i] % l->needs.n_processes * threads, l->begin,
			run_rank, &r->player[i]);
	}
}

/* The first rank of all processes that ended at this time. */
static uint32_t find_slowest(const struct replay *r, sim_time end)
{
	uint64_t first = 0, rank; /* from the largest number down */

	for (uint32_t i = 0; i < r->goal.n_ranks; i++) {
		if (!r->player[i].rank || r->player[i].end != end)
			continue;
		rank = UINT32_MAX - player_rank(&r->player[i]);
		first = rank > first ? rank : first;
	}
	sim_max(r->programs.load.net->sim, &first, 1);
	return UINT32_MAX - (uint32_t)first;
}

static void replay_report(struct load *l, struct load_result *result)
{
	struct replay *r = of(l);
	sim_time begin = SIM_NEVER, end = 0;
	uint64_t done = 0, steps = 0, ends[2];

	programs_report(&r->programs, result);
	for (uint32_t i = 0; r->player && i < r->goal.n_ranks; i++) {
		const struct player *p = &r->player[i];

		done += p->n_done;
		steps += p->joints.n_steps;
		if (p->end > end)
			end = p->end;
		if (p->begin && p->begin < begin)
			begin = p->begin;
	}
	ends[0] = ~(uint64_t)begin;
	ends[1] = (uint64_t)end;
	sim_max(l->net->sim, ends, 2);
	begin = (sim_time)~ends[0];
	end = (sim_time)ends[1];
	sim_sum(l->net->sim, &done, 1);
	sim_sum(l->net->sim, &steps, 1);
	exposed_sum(&r->exposed, l->net->sim);
	autos_sum(&r->autos, l->net->sim);
	load_figure(result, "operations", (double)done);
	load_figure(result, "ranks", r->goal.n_ranks);
	if (r->goal.colls)
		load_figure(result, "collective_steps", (double)steps);
	if (!done)
		return;
	load_figure(result, "slowest_rank", find_slowest(r, end));
	load_figure(result, "time_ns", (double)(end - begin) / SIM_NS);
	load_figure(result, "schedule_start_ns", (double)begin / SIM_NS);
}

static void replay_facts(const struct load *l, struct facts *f)
{
	const struct replay *r = (const struct replay *)l;

	autos_facts(&r->autos, f);
	if (r->goal.colls)
		exposed_facts(&r->exposed, f);
}

static void replay_tell(const struct load *l)
{
	const struct replay *r = (const struct replay *)l;

	for (uint32_t i = 0; i < r->goal.n_ranks; i++)
		player_tell(&r->player[i], l->net->sim, node_of_rank(l, i));
}

static void free_player(struct player *p)
{
	struct active *x;

	joints_fini(&p->joints);
	networks_end_fini(&p->networks);
	mem_free(p->chosen);
	for (uint32_t c = 0; c < GOAL_CPUS; c++)
		ring_fini(&p->ready[c]);
	while ((x = p->active) || (x = p->spare)) {
		if (x == p->active)
			p->active = x->next;
		else
			p->spare = x->next;
		mem_free(x);
	}
	mem_free(p->left);
}

static void replay_fini(struct load *l)
{
	struct replay *r = of(l);

	programs_fini(l);
	for (uint32_t i = 0; r->player && i < r->goal.n_ranks; i++)
		free_player(&r->player[i]);
	mem_free(r->player);
	mem_free(r->at);
	mem_free(r->which);
	exposed_fini(&r->exposed);
	autos_fini(&r->autos);
	networks_fini(&r->networks);
	goal_free(&r->goal);
}

static uint64_t replay_estimate(const struct load *l)
{
	return programs_estimate(
		l->topo->n_nodes, l->needs.n_processes, sizeof(struct player));
}

const struct load_ops load_replay = {
	.name = "replay",
	.can_share = true,
	.help = "a schedule in GOAL: computation, sends and receives of ranks",
	.size = sizeof(struct replay),
	PARAMS(params),
	.init = replay_init,
	.start = replay_start,
	.report = replay_report,
	.facts = replay_facts,
	.tell_waiting = replay_tell,
	.fini = replay_fini,
	.estimate = replay_estimate,
	.message = replay_message,
	PROGRAMS_OPS,
};
