/*
 * Steps of training a transformer.  Ranks share the work in three ways: tensor
 * neighbours share each layer, data replicas share the tokens of a step, and
 * stages of the pipeline share the layers; rank t + tensor (d + data s).
 *
 * In a step each micro-batch goes forwards through all stages, then each goes
 * backwards, which takes twice as long.  In each layer, each way, the tensor
 * neighbours sum their activations twice; with experts, tokens are exchanged
 * with their experts and back.  The gradients of a layer are summed over the
 * replicas when its last micro-batch is through, beside the layers before it
 * and one after the other, as a library's stream has them, or all of them in
 * the end.  With shards, each replica gets its part of the sums, and then the
 * new parameters of the others.  The next step begins when all this is done.
 *
 * All numbers have two bytes (bf16).  A layer has 12 hidden^2 parameters, of
 * which 8 hidden^2 are an expert's.
 */
#include <inttypes.h>
#include <string.h>

#include "load/keys.h"
#include "load/replay/goal_build.h"
#include "load/replay/make.h"

#define AT(field) offsetof(struct goal_make, field)

enum { WORD = 2, PER_LAYER = 12, OF_EXPERTS = 8 };

/* Tags of messages between stages begin here. */
#define STAGE_TAG (UINT32_C(1) << 30)

const struct param make_training_params[17] = {
	KEY_COUNT("tensor", AT(tensor), "1", 1, 4096,
		"number of neighbouring ranks that share each layer"),
	KEY_COUNT("pipeline", AT(pipeline), "4", 1, 4096,
		"number of stages, which share the layers"),
	KEY_COUNT("data", AT(data), "4", 1, GOAL_RANKS,
		"number of replicas, which share the tokens"),
	KEY_COUNT("experts", AT(experts), "1", 1, 4096,
		"number of experts of a layer, one on each of so many "
		"replicas; 1: none"),
	KEY_COUNT("layers", AT(layers), "8", 1, 100000, "number of layers"),
	KEY_COUNT("hidden", AT(hidden), "256", 1, 1 << 20,
		"length of the vector of a token"),
	KEY_COUNT("sequence", AT(sequence), "128", 1, 1 << 24,
		"number of tokens of a sequence"),
	KEY_COUNT("tokens", AT(tokens), "2048", 1, INT64_C(1) << 40,
		"number of tokens of a step, of all replicas"),
	KEY(PARAM_COUNT, "parameters", AT(parameters), "auto", 1,
		INT64_C(1) << 50, "auto",
		"number of parameters, with one expert; auto: 12 layers x "
		"hidden^2"),
	KEY(PARAM_COUNT, "batches", AT(batches), "auto", 1, 1 << 20, "auto",
		"number of micro-batches of a replica in a step; auto: one for "
		"each sequence"),
	KEY_FLAG("shard", AT(shard), "no",
		"whether replicas share gradients and parameters: "
		"reduce-scatter and all-gather instead of all-reduce"),
	KEY_FLAG("overlap", AT(overlap), "yes",
		"whether the gradients of a layer are summed beside the "
		"computation of the layers before it"),
	KEY(PARAM_TIME, "compute", AT(compute), "1 us", 0,
		INT64_C(1000000000000), NULL,
		"time of a layer forwards; backwards takes twice as long"),
	KEY_COUNT("rounds", AT(rounds), "1", 1, 100000, "number of steps"),
	KEY_TEXT("algo", AT(algo), "ring",
		"algorithm of sums: see weft-collective(7)"),
	KEY(PARAM_BYTES, "chunk", AT(chunk), "auto", 8, 1 << 30, "auto",
		"length of the longest message of a collective: see "
		"weft-collective(7)"),
	KEY_WORD("as", AT(as), "steps", "steps|operations",
		"form of collectives; steps: sends and receives; operations: "
		"collective operations, which replay expands"),
};

/* --- what follows from the keys --- */

/* Of a rank; in bytes but for the first ones. */
struct share {
	int64_t layers, batches, tokens; /* of a micro-batch */
	uint64_t activations; /* of a layer: what tensor neighbours sum */
	uint64_t between; /* stages, of a micro-batch */
	uint64_t exchanged; /* with experts */
	uint64_t gradients; /* of all its layers */
	uint64_t dense, sparse; /* of a layer: of all replicas; of an expert */
};

/* Where it is not shared evenly nothing is lost. */
static uint64_t part_of(uint64_t all, int64_t n)
{
	return n > 0 ? (all + (uint64_t)n - 1) / (uint64_t)n : all;
}

static struct share share_of(const struct goal_make *m)
{
	struct share s = { .layers = m->layers / m->pipeline };
	uint64_t all = m->parameters > 0
			       ? (uint64_t)m->parameters
			       : PER_LAYER * (uint64_t)m->layers *
					 (uint64_t)(m->hidden * m->hidden);
	uint64_t experts = (uint64_t)m->experts;

	s.batches =
		m->batches > 0 ? m->batches : m->tokens / m->sequence / m->data;
	s.tokens = s.batches ? m->tokens / m->data / s.batches : 0;
	s.activations = (uint64_t)s.tokens * (uint64_t)m->hidden * WORD;
	s.between = s.activations / (uint64_t)m->tensor;
	s.exchanged = part_of(s.between, m->experts) * experts;
	s.gradients = part_of(all, m->tensor * m->pipeline) * WORD;
	s.dense = part_of(s.gradients, s.layers);
	if (experts > 1)
		s.sparse = s.dense * OF_EXPERTS / PER_LAYER;
	s.dense -= s.sparse;
	return s;
}

int64_t make_training_ranks(const struct goal_make *m)
{
	return m->tensor * m->pipeline * m->data;
}

void make_say_training(const struct goal_make *m, const char *start, FILE *f)
{
	struct share s = share_of(m);

	fprintf(f,
		"%s%" PRId64 " ranks: tensor %" PRId64 ", data %" PRId64
		", pipeline %" PRId64 "\n",
		start, make_training_ranks(m), m->tensor, m->data, m->pipeline);
	fprintf(f,
		"%sa rank has %" PRId64 " layer%s and %" PRId64
		" micro-batch%s of %" PRId64 " token%s\n",
		start, s.layers, s.layers == 1 ? "" : "s", s.batches,
		s.batches == 1 ? "" : "es", s.tokens, s.tokens == 1 ? "" : "s");
	if (m->tensor > 1)
		fprintf(f,
			"%stensor: %" PRId64 " all-reduces of %" PRIu64
			" B a rank and step\n",
			start, 4 * s.layers * s.batches, s.activations);
	if (m->experts > 1)
		fprintf(f,
			"%sexperts: %" PRId64 " all-to-alls of %" PRIu64
			" B a rank and step\n",
			start, 4 * s.layers * s.batches, s.exchanged);
	if (m->pipeline > 1)
		fprintf(f,
			"%spipeline: %" PRIu64 " B between stages for each "
			"micro-batch, each way\n",
			start, s.between);
	fprintf(f, "%sdata: %" PRIu64 " B of gradients a rank and step\n",
		start, s.gradients);
}

/* --- checks --- */

static int check_shares(const struct goal_make *m, struct err *e)
{
	struct share s = share_of(m);

	if (make_training_ranks(m) > GOAL_RANKS || make_training_ranks(m) < 2)
		return err_set(e,
			"tensor x data x pipeline: %lld ranks (want 2 to %d)",
			(long long)make_training_ranks(m), GOAL_RANKS);
	if (m->layers % m->pipeline)
		return err_set(e,
			"pipeline: %lld stages do not divide %lld layers",
			(long long)m->pipeline, (long long)m->layers);
	if (m->hidden % m->tensor)
		return err_set(e,
			"tensor: %lld ranks do not divide hidden=%lld",
			(long long)m->tensor, (long long)m->hidden);
	if (m->data % m->experts)
		return err_set(e,
			"experts: %lld experts do not divide %lld replicas",
			(long long)m->experts, (long long)m->data);
	if (m->tokens % m->sequence)
		return err_set(e, "tokens: want whole sequences of %lld tokens",
			(long long)m->sequence);
	if (!s.batches || m->tokens % (m->data * s.batches))
		return err_set(e,
			"tokens: %lld tokens are not shared evenly by %lld "
			"replicas with %lld micro-batches",
			(long long)m->tokens, (long long)m->data,
			(long long)s.batches);
	if (!s.between || s.gradients > GOAL_BYTES)
		return err_set(e, "hidden: too %s for these ranks",
			s.between ? "many" : "few");
	return 0;
}

static int plan(const struct goal_make *m, enum algo_op op, int64_t n,
	uint64_t bytes, struct algo_plan *p, struct err *e)
{
	*p = (struct algo_plan){
		.algo = op == ALGO_ALLTOALL ? &algo_pairwise
					    : algo_find_any(m->algo, e),
		.op = op,
		.n = (uint32_t)n,
		.bytes = bytes,
		.chunk = m->chunk > 0 ? (uint64_t)m->chunk : 0,
	};
	if (p->algo == &algo_hierarchical)
		return err_set(e,
			"algo: hierarchical needs units, and training has no "
			"key for them (want another algorithm)");
	return p->algo ? algo_settle(p, e) : -1;
}

static int check_algo(const struct goal_make *m, struct err *e)
{
	struct algo_plan p;

	if (make_check_steps(m, e))
		return -1;
	if (m->shard)
		return plan(m, ALGO_REDUCESCATTER, m->data, 8, &p, e) ||
		       plan(m, ALGO_ALLGATHER, m->data, 8, &p, e);
	return plan(m, ALGO_ALLREDUCE, m->data, 8, &p, e);
}

/* Operations of a rank in a collective of n, on average. */
static double each_of(
	const struct goal_make *m, enum algo_op op, int64_t n, uint64_t bytes)
{
	struct algo_plan p;
	struct err e;

	if (n < 2 || plan(m, op, n, bytes, &p, &e))
		return 0;
	return make_size(m, &p) / (double)n;
}

/* Of a rank in all steps, or a few less: see half_layer(), sum_gradients(). */
static double size_of(const struct goal_make *m)
{
	struct share s = share_of(m);
	int64_t sums = m->overlap ? s.layers : 1;
	uint64_t bytes = s.dense * (uint64_t)(s.layers / sums);
	double halves = 4 * (double)s.layers * (double)s.batches, n = 1;

	n += each_of(m, ALGO_ALLREDUCE, m->tensor, s.activations);
	n += each_of(m, ALGO_ALLTOALL, m->experts, s.exchanged);
	n *= halves;
	n += (double)sums * each_of(m,
				    m->shard ? ALGO_ALLGATHER : ALGO_ALLREDUCE,
				    m->data, bytes);
	return (double)m->rounds * n;
}

int make_check_training(
	const struct goal_make *m, enum algo_op op, struct err *e)
{
	(void)op;
	if (check_shares(m, e) || check_algo(m, e))
		return -1;
	return make_check_size(
		m, (double)make_training_ranks(m) * size_of(m), e);
}

/* --- a rank --- */

struct pen {
	FILE *f;
	const struct goal_make *m;
	struct share share;
	int64_t rank, stage;
	int64_t alike; /* ranks from this one on that do the same */
	uint64_t n; /* operations so far */
	uint64_t joints; /* collectives so far */
	uint64_t tag; /* of messages between stages */
	char last[24]; /* what the next one waits for */
	char beside[24]; /* the last sum of gradients beside it, or "" */
};

static void wait_for(struct pen *p, const char *op, const char *before)
{
	if (*before)
		fprintf(p->f, "%s requires %s\n", op, before);
}

static void compute(struct pen *p, int64_t ps)
{
	char op[24];

	snprintf(op, sizeof(op), "l%" PRIu64, ++p->n);
	fprintf(p->f, "%s: calc %" PRId64 "\n", op, ps / 1000);
	wait_for(p, op, p->last);
	memcpy(p->last, op, sizeof(op));
}

/* The parameters are new when all gradients are summed. */
static void end_step(struct pen *p)
{
	if (!*p->beside)
		return;
	compute(p, 0);
	wait_for(p, p->last, p->beside);
	*p->beside = '\0';
}

/* A collective after the last operation, which the next one waits for, or the
 * next one beside. */
static void join(struct pen *p, enum algo_op op, int64_t n, int64_t stride,
	uint64_t bytes, bool is_beside)
{
	int64_t member = p->rank / stride % n;
	struct make_joint j = {
		.first = (uint32_t)(p->rank - member * stride),
		.stride = (uint32_t)stride,
		.member = (uint32_t)member,
		.number = p->joints++,
		.cpu = is_beside,
		.is_operation = p->m->as,
		.is_alike = p->alike > 1,
	};
	struct algo_plan algo;
	struct err e;

	if (n < 2 || plan(p->m, op, n, bytes, &algo, &e))
		return;
	j.plan = &algo;
	memcpy(j.before[0], p->last, sizeof(p->last));
	if (is_beside)
		memcpy(j.before[1], p->beside, sizeof(p->beside));
	make_write_joint(&j, p->f);
	snprintf(is_beside ? p->beside : p->last, sizeof(p->last), "e%" PRIu64,
		j.number);
}

/* Over replicas of which each has its own data, or of one in so many. */
static void sum_over(
	struct pen *p, int64_t every, uint64_t bytes, bool is_beside)
{
	int64_t n = p->m->data / every, stride = p->m->tensor * every;

	if (!p->m->shard) {
		join(p, ALGO_ALLREDUCE, n, stride, bytes, is_beside);
		return;
	}
	join(p, ALGO_REDUCESCATTER, n, stride, bytes, is_beside);
	join(p, ALGO_ALLGATHER, n, stride, bytes, is_beside);
}

static void sum_gradients(struct pen *p, int64_t layers, bool is_beside)
{
	sum_over(p, 1, p->share.dense * (uint64_t)layers, is_beside);
	if (p->share.sparse)
		sum_over(p, p->m->experts, p->share.sparse * (uint64_t)layers,
			is_beside);
}

/* Half a layer: computing, and the sum of what tensor neighbours have. */
static void half_layer(struct pen *p, bool is_backward, bool has_experts)
{
	const struct goal_make *m = p->m;
	int64_t experts = has_experts ? m->experts : 1;

	join(p, ALGO_ALLTOALL, experts, m->tensor, p->share.exchanged, false);
	compute(p, m->compute / 2 << is_backward);
	join(p, ALGO_ALLTOALL, experts, m->tensor, p->share.exchanged, false);
	join(p, ALGO_ALLREDUCE, m->tensor, 1, p->share.activations, false);
}

/* Messages between stages: way 1 is backwards. */
static void pass(struct pen *p, int way, bool is_send)
{
	int64_t each = p->m->tensor * p->m->data;
	int64_t to = p->stage + (is_send == !way ? 1 : -1);
	char op[24];

	if (to < 0 || to >= p->m->pipeline)
		return;
	snprintf(op, sizeof(op), "l%" PRIu64, ++p->n);
	to = (to - p->stage) * each;
	fprintf(p->f,
		p->alike > 1 ? "%s: %s %" PRIu64 "b %s %+" PRId64
			     : "%s: %s %" PRIu64 "b %s %" PRId64,
		op, is_send ? "send" : "recv", p->share.between,
		is_send ? "to" : "from", p->alike > 1 ? to : p->rank + to);
	fprintf(p->f, " tag %" PRIu64 "\n", STAGE_TAG + p->tag);
	wait_for(p, op, p->last);
	if (!is_send)
		memcpy(p->last, op, sizeof(op));
}

static void write_batch(struct pen *p, int way, bool is_last)
{
	pass(p, way, false);
	for (int64_t i = 0; i < p->share.layers; i++) {
		half_layer(p, way, way);
		half_layer(p, way, !way);
		if (way && is_last && p->m->overlap)
			sum_gradients(p, 1, true);
	}
	pass(p, way, true);
	p->tag++;
}

static void write_step(struct pen *p)
{
	for (int way = 0; way < 2; way++)
		for (int64_t b = 0; b < p->share.batches; b++)
			write_batch(p, way, b + 1 == p->share.batches);
	if (!p->m->overlap)
		sum_gradients(p, p->share.layers, false);
	end_step(p);
}

void make_write_training(const struct goal_make *m, enum algo_op op, FILE *f)
{
	struct pen p = { .f = f, .m = m, .share = share_of(m), .alike = 1 };

	(void)op;
	/* of operations, all ranks of a stage have the same */
	if (m->as)
		p.alike = m->tensor * m->data;
	for (; p.rank < make_training_ranks(m); p.rank += p.alike) {
		p.stage = p.rank / (m->tensor * m->data);
		p.n = p.joints = p.tag = 0;
		*p.last = *p.beside = '\0';
		fprintf(f, "rank %" PRId64, p.rank);
		if (p.alike > 1)
			fprintf(f, "..%" PRId64, p.rank + p.alike - 1);
		fputs(" {\n", f);
		for (int64_t i = 0; i < m->rounds; i++)
			write_step(&p);
		fputs("}\n", f);
	}
}
