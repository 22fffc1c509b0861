/*
 * Collectives by the steps of an algorithm (load/coll), as programs' messages.
 * Up to 1 MiB the bytes are real, and every result is compared with a plain
 * loop; above, bytes travel by name: each must come to where it belongs, as
 * often as it should.
 *
 * algo=auto: all members run each algorithm that supports the operation once,
 * after a barrier, and choose the one whose slowest member was fastest.
 *
 * Ranks outside of the group have no programs.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "facts/facts.h"
#include "load/bench/collective.h"
#include "load/coll/messages.h"
#include "load/matrix.h"

enum {
	MOST_REAL = 1 << 20,
	GRAIN = 8,
	LINE = 4096,
};

/* Of ranks that agree on something. */
#define AGREED_AT (BENCH_SOURCE - LINE)

struct collective_algo {
	struct algo_group group;
	struct algo_plan plan[ALGO_TRIED]; /* one, or those that are tried */
	/* times of these, ps, and the fastest; set by member 0 */
	uint64_t time[ALGO_TRIED], chosen;
	uint32_t n_plans;
	uint64_t *blocks; /* of alltoallv */
	struct coll_run *runs; /* [rank] what each takes part in */
	uint32_t n_runs;
	bool is_real, is_auto;
};

/* A program's. */
struct turn {
	struct collective_algo *a;
	struct bench_end *x;
	struct coll_run *run;
	struct algo_plan plan;
	uint32_t member;
	int region;
	uint64_t come;
};

static struct collective *of(const struct bench_end *x)
{
	return (struct collective *)x->bench;
}

bool collective_algo_is_named(const struct collective *c)
{
	return (c->steps || c->is_network) && c->op != OP_BARRIER;
}

/* --- plans --- */

static int check_op(const struct collective *c, bool is_named, struct err *e)
{
	if (c->op > OP_ALLREDUCE && !is_named)
		return err_set(e,
			"op: %s needs an algorithm (want algo=auto, or see "
			"weft-collective(7))",
			algo_op_names[c->op - OP_BROADCAST]);
	if (c->op > OP_ALLREDUCE && c->is_network)
		return err_set(e, "op: the network has no %s (want algo=auto)",
			algo_op_names[c->op - OP_BROADCAST]);
	return 0;
}

/* Keys that only algorithms have. */
static int check_keys(const struct collective *c, bool has_steps, struct err *e)
{
	const char *key = c->channels > 1	      ? "channels"
			  : c->chunk > 0	      ? "chunk"
			  : c->unit > 1		      ? "unit"
			  : strcmp(c->members, "all") ? "group"
			  : !c->overlap		      ? "overlap"
			  : strcmp(c->sizes, "none")  ? "sizes"
						      : NULL;

	if (key && !has_steps)
		return err_set(e,
			"%s: needs an algorithm by messages, such as algo=ring",
			key);
	if (has_steps && c->by != BY_SOFTWARE)
		return err_set(e,
			"algo: %s is by=software (want algo=network, or "
			"algo=library)",
			c->algo);
	if (has_steps && c->op == OP_BARRIER)
		return err_set(e, "op: an algorithm needs data (want "
				  "op=allreduce, or algo=library)");
	if (has_steps && c->apart)
		return err_set(e, "apart: not with an algorithm");
	return 0;
}

static enum algo_op op_of(const struct collective *c)
{
	return (enum algo_op)(c->op - OP_BROADCAST);
}

/* Who it is where nobody was named. */
static int64_t default_root(const struct algo_group *g)
{
	return algo_group_member(g, 0) == ALGO_NOBODY ? algo_group_rank(g, 0)
						      : 0;
}

static int find_members(struct collective *c, uint32_t n_ranks, struct err *e)
{
	struct algo_group *g = &c->steps->group;

	if (algo_group_read(g, c->members, n_ranks, e))
		return -1;
	if (c->root == COLLECTIVE_ROOT_AUTO)
		c->root = default_root(g);
	if (!algo_op_has_root(op_of(c)))
		return 0;
	if (c->root >= 0 && c->root < n_ranks &&
		algo_group_member(g, (uint32_t)c->root) == ALGO_NOBODY)
		return err_set(e, "root: rank %lld is not in the group",
			(long long)c->root);
	if (c->root < 0 && g->rank)
		return err_set(e, "root: rotate needs group=all");
	return 0;
}

/* The bytes from one member to another one: of all weights of the one that
 * sends most, as bytes. */
static uint64_t size_of(const struct matrix *m, uint32_t i, uint32_t from,
	uint64_t most, uint64_t bytes)
{
	uint64_t below = i > m->first[from] ? m->upto[i - 1] : 0;
	double share = (double)(m->upto[i] - below) / (double)most;

	return (uint64_t)(share * (double)bytes) / GRAIN * GRAIN;
}

static void set_blocks(
	struct collective_algo *a, const struct matrix *m, uint64_t bytes)
{
	uint64_t n = a->group.n, row = n + 1, most = 1;
	uint64_t *from = mem_alloc(2 * n * row, sizeof(*from));
	uint64_t *to = from + n * row;

	for (uint32_t i = 0; i < n; i++)
		most = matrix_sum(m, i) > most ? matrix_sum(m, i) : most;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = m->first[i]; k < m->first[i + 1]; k++) {
			uint64_t size = size_of(m, k, i, most, bytes);

			from[i * row + m->to[k] + 1] = size;
			to[m->to[k] * row + i + 1] = size;
		}
	for (uint64_t i = 0; i < 2 * n * row; i++)
		from[i] += i % row ? from[i - 1] : 0;
	a->blocks = from;
}

/* Lengths of blocks; the longest results count as the data's length. */
static int read_sizes(struct collective *c, struct err *e)
{
	struct collective_algo *a = c->steps;
	struct matrix m;

	if (op_of(c) != ALGO_ALLTOALLV)
		return strcmp(c->sizes, "none")
			       ? err_set(e, "sizes: only for op=alltoallv")
			       : 0;
	if (!strcmp(c->sizes, "none"))
		return err_set(e, "sizes: alltoallv needs a file with the "
				  "weights of all blocks");
	if (matrix_read(&m, c->sizes, "member", a->group.n, e))
		return -1;
	set_blocks(a, &m, (uint64_t)c->bench.bytes);
	matrix_free(&m);
	return 0;
}

static uint64_t longest(const struct collective_algo *a, uint64_t bytes)
{
	uint64_t n = a->group.n, row = n + 1;

	for (uint64_t i = 0; a->blocks && i < 2 * n; i++)
		if (a->blocks[i * row + n] > bytes)
			bytes = a->blocks[i * row + n];
	return bytes;
}

static uint32_t unit_of(const struct collective *c, const struct algo *algo)
{
	uint32_t near = (uint32_t)c->bench.procs;

	if (c->unit > 0)
		return (uint32_t)c->unit;
	return algo->has_unit && c->steps->group.n % near == 0 ? near : 1;
}

static struct algo_plan plan_of(
	const struct collective *c, const struct algo *algo)
{
	const struct collective_algo *a = c->steps;
	uint64_t row = a->group.n + UINT64_C(1);
	bool has_root = algo_op_has_root(op_of(c)) && c->root >= 0;
	uint32_t root =
		has_root ? algo_group_member(&a->group, (uint32_t)c->root) : 0;

	return (struct algo_plan){
		.algo = algo,
		.op = op_of(c),
		.n = a->group.n,
		.root = root,
		.bytes = longest(a, (uint64_t)c->bench.bytes),
		.channels = (uint32_t)c->channels,
		.chunk = c->chunk > 0 ? (uint64_t)c->chunk : 0,
		.unit = unit_of(c, algo),
		.grain = GRAIN,
		.is_apart = !c->overlap,
		.blocks = { a->blocks,
			a->blocks ? a->blocks + a->group.n * row : NULL },
	};
}

static int plan_all(struct collective *c, struct err *e)
{
	struct collective_algo *a = c->steps;
	struct algo_plan p = plan_of(c, &algo_auto);

	a->n_plans = algo_candidates(&p, a->plan, e);
	return a->n_plans ? 0 : -1;
}

static int plan_one(struct collective *c, struct err *e)
{
	struct collective_algo *a = c->steps;
	const struct algo *algo = algo_find(c->algo, e);

	if (!algo)
		return -1;
	a->plan[0] = plan_of(c, algo);
	a->n_plans = 1;
	return algo_settle(&a->plan[0], e);
}

/* Whether the switch of the only node adds. */
static bool is_in_node(const struct load *l)
{
	return load_n_nodes(l) == 1 && driver_domain_adds(l);
}

int collective_algo_init(struct collective *c, struct err *e)
{
	struct load *l = &c->bench.programs.load;
	bool has_steps, is_library = !strcmp(c->algo, "library");

	c->is_network = !strcmp(c->algo, "network");
	has_steps = !is_library && !c->is_network;
	if (has_steps && strcmp(c->algo, "auto") && !algo_find(c->algo, e))
		return -1;
	if (c->is_network)
		c->by = is_in_node(l) ? BY_DOMAIN : BY_HARDWARE;
	bench_set_processes(&c->bench, c->by != BY_HARDWARE);
	if (check_op(c, !is_library, e) || check_keys(c, has_steps, e))
		return -1;
	if (!has_steps)
		return 0;
	if (c->bench.bytes % GRAIN || !c->bench.bytes)
		return err_set(e, "bytes: want a multiple of 8, from 8 on");
	c->steps = mem_alloc(1, sizeof(*c->steps));
	c->steps->is_auto = !strcmp(c->algo, "auto");
	if (find_members(c, load_n_nodes(l) * (uint32_t)c->bench.procs, e) ||
		read_sizes(c, e) ||
		(c->steps->is_auto ? plan_all(c, e) : plan_one(c, e)))
		return -1;
	c->steps->is_real = c->steps->plan[0].bytes <= MOST_REAL;
	return 0;
}

uint32_t collective_algo_members(const struct collective *c)
{
	return c->steps->group.n;
}

/* Programs that wait when a run ends leave theirs open. */
void collective_algo_close(struct collective *c)
{
	if (!c->steps)
		return;
	for (uint32_t i = 0; i < c->steps->n_runs; i++)
		if (c->steps->runs[i].request)
			coll_run_close(&c->steps->runs[i]);
	mem_free(c->steps->runs);
	algo_group_free(&c->steps->group);
	mem_free(c->steps->blocks);
	mem_free(c->steps);
}

static uint64_t space_of(const struct collective_algo *a)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < a->n_plans; i++)
		if (algo_space(&a->plan[i]) > most)
			most = algo_space(&a->plan[i]);
	return most;
}

uint64_t collective_algo_memory(const struct collective *c, uint64_t *touched)
{
	uint64_t space = space_of(c->steps);

	*touched =
		c->steps->is_real ? space : bench_synthetic(&c->bench, space);
	return BENCH_SOURCE + (space + LINE - 1) / LINE * LINE;
}

uint64_t collective_algo_message(const struct load *l)
{
	const struct collective *c = (const struct collective *)l;
	uint64_t most = c->steps ? 0 : bench_message(l), bytes;

	for (uint32_t i = 0; c->steps && i < c->steps->n_plans; i++) {
		bytes = algo_longest(&c->steps->plan[i]);
		most = bytes > most ? bytes : most;
	}
	return most;
}

/* --- bytes by name --- */

/* The block of a row that an address is in. */
static uint32_t block_at(const uint64_t *row, uint32_t n, uint64_t at)
{
	uint32_t low = 0, high = n;

	while (high - low > 1) {
		uint32_t mid = (low + high) / 2;

		if (row[mid] <= at)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* Of an all-to-all, whose blocks have two ends. */
static uint64_t name_of_block(
	const struct turn *t, uint64_t offset, struct memory_name *name)
{
	const struct algo_plan *p = &t->plan;
	bool is_to = offset >= p->bytes;
	uint64_t at = offset - is_to * p->bytes, end;
	const uint64_t *row = is_to ? p->blocks.to : p->blocks.from;
	struct algo_span s;
	uint32_t other;

	if (p->op == ALGO_ALLTOALL) {
		other = (uint32_t)(at / (p->bytes / p->n));
		s = algo_block(p, algo_data(p), other);
		end = s.at + s.bytes;
	} else {
		row += t->member * (p->n + UINT64_C(1));
		other = block_at(row, p->n, at);
		s.at = row[other];
		end = other + 1 == p->n ? p->bytes : row[other + 1];
	}
	name->owner = is_to ? (uint64_t)other << 32 | t->member
			    : (uint64_t)t->member << 32 | other;
	name->offset = at - s.at;
	return end - at;
}

/*
 * Bytes have their address in the data as their name, also in the work space.
 * Of an all-to-all with several spaces blocks move through all places, so all
 * of them are alike.
 */
static uint64_t name_bytes(void *arg, uint64_t offset, struct memory_name *name)
{
	const struct turn *t = arg;
	const struct algo_plan *p = &t->plan;
	uint64_t length = p->bytes;

	*name = (struct memory_name){ .seed = t->x->load->seed };
	if (p->op >= ALGO_ALLTOALL && p->algo->spaces == 1)
		return name_of_block(t, offset, name);
	if (p->algo->has_equal_blocks || p->op == ALGO_ALLTOALL)
		length /= p->n;
	name->offset = offset % length;
	return length - name->offset;
}

static struct memory *memory_of(const struct turn *t)
{
	return host_at(t->x->load->host, t->x->node);
}

static bool name_all(struct turn *t)
{
	if (t->a->is_real)
		return true;
	t->region = memory_add_synthetic(memory_of(t),
		program_base() + BENCH_SOURCE, algo_space(&t->plan), name_bytes,
		t);
	return t->region >= 0 ||
	       programs_complain(t->x->programs, "no synthetic memory");
}

static bool check_names(struct turn *t)
{
	const struct memory_region *r;
	uint64_t written, wrong;

	if (t->a->is_real)
		return true;
	r = memory_region(memory_of(t), t->region);
	written = r->written;
	wrong = r->wrong;
	memory_drop_region(memory_of(t), t->region);
	if (!wrong && written == t->come)
		return true;
	return programs_complain(t->x->programs,
		"%" PRIu64 " bytes arrived instead of %" PRIu64 ", and %" PRIu64
		" of them were wrong",
		written, t->come, wrong);
}

/* --- real bytes --- */

static void fill(struct turn *t, int64_t round)
{
	if (t->a->is_real)
		collective_fill(t->x, BENCH_SOURCE, round, t->member);
}

static bool is_block_right(struct turn *t, int64_t round, uint32_t from)
{
	const struct algo_plan *p = &t->plan;
	uint64_t row = p->n + UINT64_C(1);
	struct algo_span s = algo_block(p, algo_data(p), t->member);
	struct algo_span to = algo_block(p, algo_data(p), from);

	if (p->op == ALGO_ALLTOALLV) {
		s.at = p->blocks.from[from * row + t->member];
		to.at = p->blocks.to[t->member * row + from];
		s.bytes = p->blocks.to[t->member * row + from + 1] - to.at;
	}
	return collective_has(t->x, BENCH_SOURCE + p->bytes + to.at, round,
		s.at, s.bytes, from);
}

static bool is_right(struct turn *t, int64_t round)
{
	const struct algo_plan *p = &t->plan;
	struct algo_span s = algo_data(p);
	bool is_right = true;

	if (!t->a->is_real || (p->op == ALGO_REDUCE && t->member != p->root))
		return true;
	if (p->op == ALGO_BROADCAST)
		return collective_has(
			t->x, BENCH_SOURCE, round, 0, s.bytes, p->root);
	if (p->op == ALGO_ALLREDUCE || p->op == ALGO_REDUCE)
		return collective_has(
			t->x, BENCH_SOURCE, round, 0, s.bytes, COLLECTIVE_SUM);
	if (p->op == ALGO_REDUCESCATTER) {
		s = algo_block(p, s, t->member);
		return collective_has(t->x, BENCH_SOURCE + s.at, round, s.at,
			s.bytes, COLLECTIVE_SUM);
	}
	for (uint32_t m = 0; m < p->n && is_right; m++) {
		struct algo_span b = algo_block(p, s, m);

		is_right = p->op == ALGO_ALLGATHER
				   ? collective_has(t->x, BENCH_SOURCE + b.at,
					     round, b.at, b.bytes, m)
				   : is_block_right(t, round, m);
	}
	return is_right;
}

/* --- the program --- */

static bool play(struct turn *t)
{
	int code;

	coll_run_open(t->run, &t->plan, t->member, t->a->is_real);
	code = coll_run_finish(t->run);
	t->come += t->run->come;
	coll_run_close(t->run);
	return programs_did(t->x->programs, "collective", code);
}

/* Whether all ranks are members; the machine may have collectives for them. */
static bool has_all(const struct turn *t)
{
	return !t->a->group.rank;
}

static bool agree_by_messages(struct turn *t, int64_t *v)
{
	struct coll_run how = *t->run;

	how.at = AGREED_AT;
	return programs_did(t->x->programs, "agreeing on a time",
		coll_agree(&how, t->member, v, 1));
}

static bool meet(struct turn *t)
{
	int64_t nothing = 0;

	if (!has_all(t))
		return agree_by_messages(t, &nothing);
	weft_msg_barrier(t->run->msg);
	return true;
}

/* Sets *time to the longest time of all members, at each member. */
static bool agree(struct turn *t, int64_t *time)
{
	bool did;

	if (!has_all(t))
		return agree_by_messages(t, time);
	weft_msg_store(AGREED_AT, time, sizeof(*time));
	did = programs_did(t->x->programs, "weft_msg_allreduce",
		weft_msg_allreduce(t->run->msg, WEFT_MSG_MAX_INT, AGREED_AT,
			AGREED_AT, 1));
	weft_msg_load(AGREED_AT, time, sizeof(*time));
	return did;
}

static bool try_one(struct turn *t, uint32_t i, int64_t *time)
{
	bool did;

	t->plan = t->a->plan[i];
	t->come = 0;
	if (!name_all(t) || !meet(t))
		return false;
	*time = program_now();
	did = play(t) && check_names(t);
	*time = program_now() - *time;
	return agree(t, time) && did;
}

static bool choose(struct turn *t)
{
	int64_t best = INT64_MAX, time;
	uint32_t chosen = 0;

	for (uint32_t i = 0; t->a->is_auto && i < t->a->n_plans; i++) {
		if (!try_one(t, i, &time))
			return false;
		if (!t->member)
			t->a->time[i] = (uint64_t)time;
		if (time < best) {
			best = time;
			chosen = i;
		}
	}
	if (!t->member)
		t->a->chosen = chosen;
	t->plan = t->a->plan[chosen];
	t->come = 0;
	return name_all(t);
}

static bool take_part(struct turn *t, int64_t round)
{
	struct member *m = t->x->data;

	if (of(t->x)->root < 0 && algo_op_has_root(t->plan.op))
		t->plan.root = collective_root(of(t->x), round);
	fill(t, round);
	m->came = program_now();
	if (!play(t))
		return false;
	collective_count(t->x, round);
	return is_right(t, round);
}

static void run_rounds(struct turn *t)
{
	struct bench_end *x = t->x;
	const struct bench *b = x->bench;

	for (int64_t round = 0; round < b->warm + b->rounds; round++) {
		if (!round || round == b->warm) {
			if (!meet(t))
				return;
			bench_count(x);
		}
		if (!take_part(t, round))
			return;
	}
	if (check_names(t))
		x->end = program_now();
}

static void run_member(struct bench_end *x)
{
	struct collective *c = of(x);
	struct member *m = x->data;
	struct turn t = {
		.a = c->steps,
		.x = x,
		.member = algo_group_member(&c->steps->group, x->rank),
		.run = &c->steps->runs[x->rank],
	};

	*t.run = (struct coll_run){ .msg = bench_messages(x),
		.group = &c->steps->group,
		.at = BENCH_SOURCE };
	m->index = t.member;
	m->count = c->steps->group.n;
	if (bench_open(x) && choose(&t))
		run_rounds(&t);
}

void collective_algo_start(struct collective *c)
{
	static const struct bench_program program = { .run = run_member };
	const struct algo_group *g = &c->steps->group;

	c->steps->n_runs = c->bench.needs.n_programs;
	c->steps->runs = mem_alloc(c->steps->n_runs, sizeof(*c->steps->runs));
	bench_open_ends(&c->bench);
	for (uint32_t i = 0; i < g->n; i++)
		bench_start_rank(&c->bench, algo_group_rank(g, i), &program);
}

/* --- what is measured --- */

void collective_algo_report(
	const struct collective *c, double time, struct load_result *r)
{
	uint32_t n = c->steps ? c->steps->group.n : c->bench.needs.n_programs;
	bool is_in_network = c->is_network || c->by == BY_DOMAIN;
	double rate = (double)c->bench.bytes / time;

	load_figure(r, "algbw_GBps", rate);
	load_figure(r, "busbw_GBps",
		rate * algo_bus_factor(op_of(c), n, is_in_network));
}

void collective_algo_share(struct collective *c)
{
	const struct sim *sim = c->bench.programs.load.net->sim;
	struct collective_algo *a = c->steps;

	sim_max(sim, a->time, a->n_plans);
	sim_max(sim, &a->chosen, 1);
}

void collective_algo_facts(const struct collective *c, struct facts *f)
{
	const struct collective_algo *a = c->steps;
	const struct algo_plan *p;

	if (!a)
		return;
	p = &a->plan[a->chosen];
	facts_group(f, "plan");
	facts_text(f, "algorithm", p->algo->name);
	facts_same(f, "members", p->n);
	facts_same(f, "channels", p->channels);
	facts_same(f, "chunk_bytes", p->chunk);
	facts_text(f, "data", a->is_real ? "real" : "by name");
	if (a->is_auto) {
		facts_list(f, "tried");
		for (uint32_t i = 0; i < a->n_plans; i++) {
			facts_group(f, NULL);
			facts_text(f, "algorithm", a->plan[i].algo->name);
			facts_real(f, "time_ns", sim_ns((sim_time)a->time[i]));
			facts_end(f);
		}
		facts_end(f);
	}
	facts_line(f, "algorithm",
		"{algorithm}: {members} member{members|s}, {channels} "
		"channel{channels|s}, messages of up to {chunk_bytes} B, data "
		"{data}");
	if (a->is_auto)
		facts_each(
			f, "tried", 0, "measured", "{algorithm} {time_ns:u}");
	facts_end(f);
}
