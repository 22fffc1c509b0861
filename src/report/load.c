/*
 * The load of links over time, in few steps of equal length: samples are many,
 * and differ in length.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/pack.h"
#include "report/report.h"

enum {
	MOST_STEPS = 64,
	FEW_STEPS = 16,
	MOST_CELLS = 2 << 20, /* where it is too much for a page */
	USE_SCALE = 10000,
	N_RARE = 2, /* token waits and retries */
	MOST_RARE = 2048, /* links that have most of them */
};

static const char *const rare_names[N_RARE] = { "token_wait", "retries" };

struct load {
	size_t n; /* links */
	size_t n_steps, done;
	double length; /* of a step, ps */
	float *use, *waiting; /* of the step, times ps */
	struct pack packed_use, packed_waiting;
	float *rare[N_RARE]; /* [step][link]; NULL: none is known */
};

static uint32_t as_byte(double x)
{
	return x < 0 ? 0 : x > 255 ? 255 : (uint32_t)(x + 0.5);
}

/* Queues are of all lengths: their logarithm is kept. */
static void end_step(struct load *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		double use = (double)l->use[i] / l->length / USE_SCALE;
		double waiting = (double)l->waiting[i] / l->length;

		pack_u8(&l->packed_use, as_byte(255 * use));
		pack_u8(&l->packed_waiting,
			as_byte(255 * log2(1 + waiting) / 16));
		l->use[i] = l->waiting[i] = 0;
	}
	l->done++;
}

static void add(float *sum, const uint8_t *sample, size_t n, double ps)
{
	size_t i;

	for (i = 0; i < n; i++) {
		int value = sample[2 * i] | sample[2 * i + 1] << 8;

		sum[i] += (float)(value * ps);
	}
}

/* What few links have: token waits, as they are on average, and retries, which
 * are counted. */
static void add_rare(struct load *l, struct db_query *q, double ps, double of)
{
	uint32_t k;

	for (k = 0; k < N_RARE; k++) {
		size_t n;
		const uint8_t *list = db_bytes(q, (int)(4 + k), &n);

		if (!list || n != 2 * l->n)
			continue;
		if (!l->rare[k])
			l->rare[k] = mem_alloc(
				l->n * l->n_steps, sizeof(*l->rare[k]));
		add(l->rare[k] + l->done * l->n, list, l->n,
			ps / (k ? of : l->length));
	}
}

/* Shares a sample out to the steps that it lies in. */
static int take(struct load *l, struct db_query *q, struct err *e)
{
	double from = db_real(q, 0), to = db_real(q, 1);
	size_t n_use, n_waiting;
	const uint8_t *use = db_bytes(q, 2, &n_use);
	const uint8_t *waiting = db_bytes(q, 3, &n_waiting);

	if (n_use != 2 * l->n || n_waiting != 2 * l->n || !(from < to))
		return err_set(e, "a sample does not fit the links");
	while (l->done < l->n_steps) {
		double end = (double)(l->done + 1) * l->length;
		double until = fmin(to, end);

		if (until > from) {
			add(l->use, use, l->n, until - from);
			add(l->waiting, waiting, l->n, until - from);
			add_rare(l, q, until - from, to - db_real(q, 0));
			from = until;
		}
		if (to < end)
			break;
		end_step(l);
	}
	return 0;
}

static int take_all(struct load *l, struct db_query *q, struct err *e)
{
	int more;

	while ((more = db_next(q, e)) > 0)
		if (take(l, q, e))
			return -1;
	while (!more && l->done < l->n_steps)
		end_step(l);
	return more;
}

struct most {
	size_t link;
	double sum;
};

static int by_sum(const void *a, const void *b)
{
	const struct most *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	return x->link < y->link ? -1 : x->link > y->link;
}

/* The links that have most of it, and how much at each step. */
static void write_rare(const struct load *l, uint32_t k, struct json *j)
{
	struct most *m = mem_alloc(l->n, sizeof(*m));
	struct pack links = { 0 }, values = { 0 };
	size_t i, t;

	for (i = 0; i < l->n; i++) {
		m[i].link = i;
		for (t = 0; t < l->n_steps; t++)
			m[i].sum += (double)l->rare[k][t * l->n + i];
	}
	qsort(m, l->n, sizeof(*m), by_sum);
	for (i = 0; i < l->n && i < MOST_RARE && m[i].sum > 0; i++) {
		pack_u32(&links, (uint32_t)m[i].link);
		for (t = 0; t < l->n_steps; t++) {
			float v = l->rare[k][t * l->n + m[i].link];

			pack_u8(&values, as_byte(255 * log2(1 + v) / 16));
		}
	}
	mem_free(m);
	if (links.n) {
		json_object(j, rare_names[k]);
		pack_write(&links, j, "links");
		pack_write(&values, j, "values");
		json_end(j, '}');
	}
}

static int find_end(struct db *d, size_t *n, double *end, struct err *e)
{
	struct db_query *q =
		db_prepare(d, "SELECT count(*), max(to_ps) FROM sample", e);
	int more = q ? db_next(q, e) : -1;

	if (more > 0) {
		*n = (size_t)db_int(q, 0);
		*end = db_real(q, 1);
	}
	db_finish(q);
	return more > 0 ? 0 : -1;
}

static size_t choose_steps(size_t n_samples, size_t n_links)
{
	size_t n = MOST_CELLS / n_links;

	n = n > MOST_STEPS ? MOST_STEPS : n < FEW_STEPS ? FEW_STEPS : n;
	return n < n_samples ? n : n_samples;
}

int report_load(struct db *d, size_t n_links, struct json *j, struct err *e)
{
	struct load l = { .n = n_links };
	struct db_query *q;
	double end = 0;
	int failed = -1;
	uint32_t k;

	if (find_end(d, &l.n_steps, &end, e))
		return -1;
	if (!n_links || !l.n_steps || !(end > 0))
		return 0;
	l.n_steps = choose_steps(l.n_steps, n_links);
	l.length = end / (double)l.n_steps;
	l.use = mem_alloc(n_links, sizeof(*l.use));
	l.waiting = mem_alloc(n_links, sizeof(*l.waiting));
	q = db_prepare(d,
		"SELECT from_ps, to_ps, use, waiting, token_wait, retries"
		" FROM sample ORDER BY n",
		e);
	if (q)
		failed = take_all(&l, q, e);
	db_finish(q);
	json_object(j, "load");
	json_count(j, "steps", l.n_steps);
	json_real(j, "end_ps", end);
	pack_write(&l.packed_use, j, "use");
	pack_write(&l.packed_waiting, j, "waiting");
	for (k = 0; k < N_RARE; k++) {
		if (l.rare[k])
			write_rare(&l, k, j);
		mem_free(l.rare[k]);
	}
	json_end(j, '}');
	mem_free(l.use);
	mem_free(l.waiting);
	return failed;
}
