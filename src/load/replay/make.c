#include "load/replay/make.h"

#include <inttypes.h>

#include "load/keys.h"

#define AT(field) offsetof(struct goal_make, field)

#define RANKS                                                                  \
	KEY_COUNT("ranks", AT(ranks), "16", 2, GOAL_RANKS, "number of ranks")
#define BYTES(text)                                                            \
	KEY_BYTES("bytes", AT(bytes), "64 KiB", 1, INT64_C(1) << 36, text)
#define ROUNDS                                                                 \
	KEY_COUNT("rounds", AT(rounds), "1", 1, 100000,                        \
		"number of repetitions of the whole schedule")
#define COMPUTE(text)                                                          \
	KEY(PARAM_TIME, "compute", AT(compute), "1 us", 0,                     \
		INT64_C(1000000000000), NULL, text)

/* Writes one rank: operations are numbered, and each may wait for others. */
struct pen {
	FILE *f;
	uint64_t n; /* operations so far */
};

static void begin_rank(struct pen *p, int64_t rank)
{
	p->n = 0;
	fprintf(p->f, "rank %" PRId64 " {\n", rank);
}

static void end_rank(struct pen *p)
{
	fputs("}\n", p->f);
}

/* Each returns its number; 0 is none. */
static uint64_t calc(struct pen *p, int64_t ps)
{
	fprintf(p->f, "l%" PRIu64 ": calc %" PRId64 "\n", ++p->n, ps / 1000);
	return p->n;
}

static uint64_t message(struct pen *p, const char *how, int64_t bytes,
	int64_t peer, uint64_t tag)
{
	fprintf(p->f,
		"l%" PRIu64 ": %s %" PRId64 "b %s %" PRId64 " tag %" PRIu64
		"\n",
		++p->n, how, bytes, *how == 's' ? "to" : "from", peer, tag);
	return p->n;
}

static void requires(struct pen *p, uint64_t op, uint64_t on)
{
	if (op && on)
		fprintf(p->f, "l%" PRIu64 " requires l%" PRIu64 "\n", op, on);
}

/* --- a stencil --- */

/* As square as can be. */
static int64_t width_of(int64_t ranks)
{
	int64_t w = 1;

	for (int64_t i = 1; i * i <= ranks; i++)
		if (ranks % i == 0)
			w = i;
	return ranks / w;
}

static void write_stencil(const struct goal_make *m, enum algo_op op, FILE *f)
{
	int64_t w = width_of(m->ranks), h = m->ranks / w, rank, i, k;
	struct pen p = { .f = f };

	(void)op;
	for (rank = 0; rank < m->ranks; rank++) {
		int64_t x = rank % w, y = rank / w;
		const int64_t peer[4] = { y * w + (x + 1) % w,
			y * w + (x + w - 1) % w, (y + 1) % h * w + x,
			(y + h - 1) % h * w + x };
		uint64_t last = 0;

		begin_rank(&p, rank);
		for (i = 0; i < m->rounds; i++) {
			uint64_t c = calc(&p, m->compute), next;

			requires(&p, c, last);
			for (k = 0; k < 4; k++) {
				requires(&p,
					message(&p, "send", m->bytes, peer[k],
						(uint64_t)(i * 4 + k)),
					c);
				/* what comes from there was sent the other
				 * way */
				requires(&p,
					message(&p, "recv", m->bytes, peer[k],
						(uint64_t)(i * 4 + (k ^ 1))),
					c);
			}
			next = calc(&p, 0);
			for (k = 1; k <= 8; k++)
			requires(&p, next, next - (uint64_t)k);
			last = next;
		}
		end_rank(&p);
	}
}

/* --- training steps --- */

/* Reduce-scatter, then all-gather: a piece goes to the next rank in each of
 * 2 (n - 1) steps.  Returns the last operation. */
static uint64_t ring(struct pen *p, const struct goal_make *m, int64_t rank,
	int64_t first, int64_t stride, int64_t n, uint64_t tag, uint64_t before)
{
	int64_t piece = (m->bytes + n - 1) / n, step;
	int64_t place = (rank - first) / stride;
	int64_t next = first + (place + 1) % n * stride;
	int64_t prev = first + (place + n - 1) % n * stride;
	uint64_t last = before;

	for (step = 0; step < 2 * (n - 1); step++) {
		uint64_t s =
			message(p, "send", piece, next, tag + (uint64_t)step);
		uint64_t r =
			message(p, "recv", piece, prev, tag + (uint64_t)step);

		requires(p, s, last);
		requires(p, r, last);
		last = r;
	}
	return last;
}

static int check_training(
	const struct goal_make *m, enum algo_op op, struct err *e)
{
	(void)op;
	if (m->ranks % m->stages)
		return err_set(e,
			"stages: %lld stages do not divide %lld ranks",
			(long long)m->stages, (long long)m->ranks);
	return 0;
}

/* One step of a rank: its micro-batches forwards, then backwards, then the
 * gradients are summed over the replicas of its stage. */
static uint64_t training_step(struct pen *p, const struct goal_make *m,
	int64_t rank, uint64_t tag, uint64_t last)
{
	int64_t stage = rank % m->stages;
	int64_t replicas = m->ranks / m->stages;

	for (int way = 0; way < 2; way++) {
		bool is_first = way ? stage == m->stages - 1 : stage == 0;
		bool is_last = way ? stage == 0 : stage == m->stages - 1;
		int64_t ahead = way ? rank - 1 : rank + 1;
		int64_t behind = way ? rank + 1 : rank - 1;

		for (int64_t b = 0; b < m->batches; b++) {
			uint64_t r = is_first ? 0
					      : message(p, "recv", m->bytes,
							behind, tag);
			uint64_t c = calc(p, m->compute << way);

			requires(p, c, r);
			requires(p, c, last);
			last = c;
			if (!is_last)
			requires(
				p, message(p, "send", m->bytes, ahead, tag), c);
			tag++;
		}
	}
	if (replicas > 1)
		last = ring(p, m, rank, stage, m->stages, replicas, tag, last);
	return last;
}

static void write_training(const struct goal_make *m, enum algo_op op, FILE *f)
{
	struct pen p = { .f = f };

	(void)op;
	for (int64_t rank = 0; rank < m->ranks; rank++) {
		uint64_t last = 0, tag = 0;

		begin_rank(&p, rank);
		for (int64_t i = 0; i < m->rounds; i++) {
			last = training_step(&p, m, rank, tag, last);
			tag += 2 * (uint64_t)(m->batches + m->ranks);
		}
		end_rank(&p);
	}
}

static const struct param stencil_params[] = { RANKS,
	BYTES("number of bytes of each message"), ROUNDS,
	COMPUTE("time that a rank computes in each round") };

static const struct param training_params[] = {
	RANKS,
	BYTES("bytes between stages, and of a stage's gradients"),
	ROUNDS,
	COMPUTE("time of a forward pass; backward takes twice as long"),
	KEY_COUNT("stages", AT(stages), "4", 1, GOAL_RANKS,
		"number of stages; further ranks are replicas"),
	KEY_COUNT("batches", AT(batches), "4", 1, 10000,
		"number of micro-batches in a step"),
};

static const struct param convert_params[] = {
	KEY_TEXT("file", AT(file), "none",
		"file with a schedule in text or binary form"),
};

#define N(table) sizeof(table) / sizeof((table)[0])

#define COLL(word, text, keys, which)                                          \
	{                                                                      \
		.name = word, .help = text, .params = make_##keys##_params,    \
		.n_params = N(make_##keys##_params), .op = which,              \
		.check = make_check_coll, .write = make_write_coll             \
	}

const struct goal_pattern goal_patterns[] = {
	COLL("allreduce", "every rank gets the sum of all contributions", coll,
		ALGO_ALLREDUCE),
	COLL("reducescatter", "every rank gets a block of the sum", coll,
		ALGO_REDUCESCATTER),
	COLL("allgather", "every rank gets the blocks of all ranks", coll,
		ALGO_ALLGATHER),
	COLL("broadcast", "every rank gets the bytes of one", root,
		ALGO_BROADCAST),
	COLL("reduce", "one rank gets the sum of all contributions", root,
		ALGO_REDUCE),
	COLL("alltoall", "every rank sends to every other rank", alltoall,
		ALGO_ALLTOALL),
	{ .name = "stencil",
		.help = "the ranks of a grid exchange their borders",
		.params = stencil_params,
		.n_params = N(stencil_params),
		.write = write_stencil },
	{ .name = "training",
		.help = "training of a neural network in a pipeline with "
			"replicas",
		.params = training_params,
		.n_params = N(training_params),
		.check = check_training,
		.write = write_training },
	{ .name = "convert",
		.help = "an existing schedule, converted to text or binary "
			"form",
		.params = convert_params,
		.n_params = N(convert_params) },
	{ 0 },
};
