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

static const struct param stencil_params[] = { RANKS,
	BYTES("number of bytes of each message"), ROUNDS,
	COMPUTE("time that a rank computes in each round") };

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
		.help = "steps of training a neural network on several ranks",
		.params = make_training_params,
		.n_params = N(make_training_params),
		.check = make_check_training,
		.ranks = make_training_ranks,
		.say = make_say_training,
		.write = make_write_training },
	{ .name = "convert",
		.help = "an existing schedule, converted to text or binary "
			"form",
		.params = convert_params,
		.n_params = N(convert_params) },
	{ 0 },
};
