/*
 * Schedules of collectives: the steps of an algorithm (load/coll), as sends,
 * receives and computations, or the operation itself, whose steps are made when
 * it begins.
 *
 * A step begins when the one before it in its lane has begun ("irequires"), and
 * when the steps are over that it waits for ("requires"): of these only those
 * that no step before it waits for.
 */
#include <inttypes.h>

#include "base/mem.h"
#include "load/coll/plan.h"
#include "load/keys.h"
#include "load/replay/goal_build.h"
#include "load/replay/make.h"

#define AT(field) offsetof(struct goal_make, field)

#define COMMON(bytes_text)                                                     \
	KEY_COUNT("ranks", AT(ranks), "16", 2, GOAL_RANKS, "number of ranks"), \
		KEY_BYTES("bytes", AT(bytes), "64 KiB", 1, INT64_C(1) << 36,   \
			bytes_text),                                           \
		KEY_COUNT("rounds", AT(rounds), "1", 1, 100000,                \
			"number of repetitions of the whole schedule"),        \
		KEY(PARAM_TIME, "compute", AT(compute), "0 ns", 0,             \
			INT64_C(1000000000000), NULL,                          \
			"time to add the bytes of a message"),                 \
		KEY_COUNT("channels", AT(channels), "1", 1, ALGO_CHANNELS,     \
			"number of parts of the data that move side by side"), \
		KEY(PARAM_BYTES, "chunk", AT(chunk), "auto", 1, 1 << 30,       \
			"auto",                                                \
			"longest message; auto: by the algorithm, 8 KiB to "   \
			"512 KiB"),                                            \
		KEY_COUNT("unit", AT(unit), "1", 1, GOAL_RANKS,                \
			"number of neighbouring ranks that are close to each " \
			"other, for hierarchical and ring"),                   \
		KEY_FLAG("overlap", AT(overlap), "yes",                        \
			"whether the stages of hierarchical overlap"),         \
		KEY_WORD("as", AT(as), "steps", "steps|operations",            \
			"form; steps: sends and receives; operations: "        \
			"collective operations, which replay expands")

#define ALGO(value)                                                            \
	KEY_TEXT("algo", AT(algo), value, "algorithm: see weft-collective(7)")

const struct param make_coll_params[10] = {
	ALGO("ring"),
	COMMON("number of bytes of a rank's data"),
};
const struct param make_root_params[11] = {
	ALGO("tree"),
	COMMON("number of bytes of a rank's data"),
	KEY_COUNT("root", AT(root), "0", 0, GOAL_RANKS,
		"rank that broadcasts, or gets the sum"),
};
const struct param make_alltoall_params[10] = {
	ALGO("pairwise"),
	COMMON("number of bytes from each rank to each other rank"),
};

/* --- plans --- */

static int plan_of(const struct goal_make *m, enum algo_op op,
	struct algo_plan *p, struct err *e)
{
	*p = (struct algo_plan){
		.algo = algo_find_any(m->algo, e),
		.op = op,
		.n = (uint32_t)m->ranks,
		.root = (uint32_t)m->root,
		.bytes = (uint64_t)m->bytes *
			 (uint64_t)(op == ALGO_ALLTOALL ? m->ranks : 1),
		.channels = (uint32_t)m->channels,
		.chunk = m->chunk > 0 ? (uint64_t)m->chunk : 0,
		.unit = (uint32_t)m->unit,
		.grain = 1,
		.is_apart = !m->overlap,
	};
	return p->algo ? algo_settle(p, e) : -1;
}

int make_check_steps(const struct goal_make *m, struct err *e)
{
	const struct algo *a = algo_find_any(m->algo, e);

	if (!a)
		return -1;
	if (m->as || a->lanes)
		return 0;
	return err_set(e,
		"algo: %s has no steps before it runs (want as=operations)",
		m->algo);
}

double make_size(const struct goal_make *m, const struct algo_plan *p)
{
	double n = 0;

	if (m->as)
		return p->n;
	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t lane = 0; lane < algo_lanes(p); lane++)
			n += (double)algo_count(p, i, lane);
	return n;
}

int make_check_size(const struct goal_make *m, double n, struct err *e)
{
	if (n <= GOAL_OPS)
		return 0;
	return err_set(e,
		"%s: these keys give %.2g operations, more than the %d of a "
		"schedule%s",
		m->as ? "rounds" : "as", n, GOAL_OPS,
		m->as ? "" : " (want as=operations)");
}

int make_check_coll(const struct goal_make *m, enum algo_op op, struct err *e)
{
	struct algo_plan p;

	if (plan_of(m, op, &p, e))
		return -1;
	if (make_check_steps(m, e))
		return -1;
	if (m->as && m->compute)
		return err_set(e, "compute: operations have none (want "
				  "as=steps)");
	if (!m->as && (uint64_t)m->rounds * algo_lanes(&p) > GOAL_TAG)
		return err_set(e, "rounds: there are not so many tags");
	return make_check_size(m, (double)m->rounds * make_size(m, &p), e);
}

/* --- steps --- */

/* Of a member. */
struct pen {
	FILE *f;
	const struct make_joint *j;
	const struct algo_plan *plan;
	uint64_t *past; /* [lane] steps that the lane has waited for */
};

/* What a step is called: when it begins; and, of one whose bytes are added,
 * when it is over. */
static void write_begin(const struct pen *p, uint32_t lane, uint64_t i)
{
	fprintf(p->f, "s%" PRIu64 ".%u.%" PRIu64, p->j->number, lane, i);
}

static bool has_sum(const struct pen *p, const struct algo_step *s)
{
	return s->kind == ALGO_ADD && s->bytes &&
	       (p->j->compute || s->add_after.n);
}

static void write_over(const struct pen *p, uint32_t lane, uint64_t i)
{
	struct algo_step s;

	algo_step(p->plan, p->j->member, lane, i, &s);
	write_begin(p, lane, i);
	if (has_sum(p, &s))
		putc('a', p->f);
}

/* Of all steps from past on, that is. */
static void require(struct pen *p, uint32_t lane, uint64_t i, bool is_sum,
	struct algo_after a)
{
	for (uint64_t k = is_sum ? a.n - 1 : p->past[a.lane]; k < a.n; k++) {
		write_begin(p, lane, i);
		fputs(is_sum ? "a requires " : " requires ", p->f);
		write_over(p, a.lane, k);
		putc('\n', p->f);
	}
	if (!is_sum && a.n > p->past[a.lane])
		p->past[a.lane] = a.n;
}

static void write_cpu(const struct pen *p)
{
	if (p->j->cpu)
		fprintf(p->f, " cpu %u", p->j->cpu);
	putc('\n', p->f);
}

static void write_message(
	struct pen *p, const struct algo_step *s, uint32_t lane)
{
	uint64_t tag = p->j->number * algo_lanes(p->plan) + algo_tag(lane);

	if (!s->bytes || s->kind == ALGO_COPY)
		fputs(": calc 0", p->f);
	else
		fprintf(p->f, ": %s %" PRIu64 "b %s %u tag %" PRIu64,
			s->kind == ALGO_SEND ? "send" : "recv", s->bytes,
			s->kind == ALGO_SEND ? "to" : "from",
			p->j->first + s->peer * p->j->stride, tag);
	write_cpu(p);
}

/* What the sum of a step waits for. */
static void write_sum(
	struct pen *p, const struct algo_step *s, uint32_t lane, uint64_t i)
{
	write_begin(p, lane, i);
	fputs("a requires ", p->f);
	write_begin(p, lane, i);
	putc('\n', p->f);
	if (s->add_after.n)
		require(p, lane, i, true, s->add_after);
}

/* Its end, for which others wait. */
static void write_end(struct pen *p)
{
	fprintf(p->f, "e%" PRIu64 ": calc 0", p->j->number);
	write_cpu(p);
	for (uint32_t lane = 0; lane < algo_lanes(p->plan); lane++)
		for (uint64_t i = 0,
			      n = algo_count(p->plan, p->j->member, lane);
			i < n; i++) {
			fprintf(p->f, "e%" PRIu64 " requires ", p->j->number);
			write_over(p, lane, i);
			putc('\n', p->f);
		}
}

static void each_step(
	struct pen *p, void (*write)(struct pen *p, const struct algo_step *s,
			       uint32_t lane, uint64_t i))
{
	struct algo_step s;

	for (uint32_t lane = 0; lane < algo_lanes(p->plan); lane++) {
		uint64_t n = algo_count(p->plan, p->j->member, lane);

		for (uint32_t k = 0; k < algo_lanes(p->plan); k++)
			p->past[k] = 0;
		for (uint64_t i = 0; i < n; i++) {
			algo_step(p->plan, p->j->member, lane, i, &s);
			write(p, &s, lane, i);
		}
	}
}

static void write_one(
	struct pen *p, const struct algo_step *s, uint32_t lane, uint64_t i)
{
	write_begin(p, lane, i);
	write_message(p, s, lane);
	if (has_sum(p, s)) {
		write_begin(p, lane, i);
		fprintf(p->f, "a: calc %" PRId64, p->j->compute / 1000);
		write_cpu(p);
	}
}

static void write_edges(
	struct pen *p, const struct algo_step *s, uint32_t lane, uint64_t i)
{
	if (i) {
		write_begin(p, lane, i);
		fputs(" irequires ", p->f);
		write_begin(p, lane, i - 1);
		putc('\n', p->f);
	} else {
		for (int k = 0; k < 2; k++) {
			if (!*p->j->before[k])
				continue;
			write_begin(p, lane, i);
			fprintf(p->f, " requires %s\n", p->j->before[k]);
		}
	}
	if (s->after.n)
		require(p, lane, i, false, s->after);
	if (has_sum(p, s))
		write_sum(p, s, lane, i);
}

static void write_steps(const struct make_joint *j, FILE *f)
{
	struct pen p = { .f = f, .j = j, .plan = j->plan };

	p.past = mem_alloc(algo_lanes(j->plan), sizeof(*p.past));
	each_step(&p, write_one);
	each_step(&p, write_edges);
	if (!j->is_last)
		write_end(&p);
	mem_free(p.past);
}

/* --- operations --- */

static void write_operation(const struct make_joint *j, FILE *f)
{
	const struct algo_plan *p = j->plan;
	uint32_t last = j->first + (p->n - 1) * j->stride;

	fprintf(f, "e%" PRIu64 ": %s %" PRIu64 "b algo %s", j->number,
		algo_op_names[p->op], p->bytes, p->algo->name);
	if (j->is_alike)
		fprintf(f, " members %u stride %u", p->n, j->stride);
	else
		fprintf(f, " group %u..%u:%u", j->first, last, j->stride);
	fprintf(f, " channels %u", p->channels);
	if (p->chunk)
		fprintf(f, " chunk %" PRIu64 "b", p->chunk);
	fprintf(f, " unit %u overlap %s", p->unit, p->is_apart ? "no" : "yes");
	if (algo_op_has_root(p->op))
		fprintf(f, " root %u", j->first + p->root * j->stride);
	if (j->cpu)
		fprintf(f, " cpu %u", j->cpu);
	putc('\n', f);
	for (int k = 0; k < 2; k++)
		if (*j->before[k])
			fprintf(f, "e%" PRIu64 " requires %s\n", j->number,
				j->before[k]);
}

void make_write_joint(const struct make_joint *j, FILE *f)
{
	if (j->is_operation)
		write_operation(j, f);
	else
		write_steps(j, f);
}

/* --- patterns --- */

void make_write_coll(const struct goal_make *m, enum algo_op op, FILE *f)
{
	struct make_joint j = {
		.stride = 1,
		.compute = m->compute,
		.is_operation = m->as,
	};
	struct algo_plan p;
	struct err e;

	if (plan_of(m, op, &p, &e))
		return; /* not after make_check_coll() */
	j.plan = &p;
	for (j.member = 0; j.member < p.n; j.member++) {
		fprintf(f, "rank %u {\n", j.member);
		*j.before[0] = '\0';
		for (j.number = 0; j.number < (uint64_t)m->rounds; j.number++) {
			j.is_last = j.number + 1 == (uint64_t)m->rounds;
			make_write_joint(&j, f);
			snprintf(j.before[0], sizeof(j.before[0]), "e%" PRIu64,
				j.number);
		}
		fputs("}\n", f);
	}
}
