/*
 * The load of links over time, in few steps of equal length: samples are many,
 * and differ in length.
 */
#include <math.h>

#include "base/mem.h"
#include "report/pack.h"
#include "report/report.h"

enum {
	MOST_STEPS = 64,
	FEW_STEPS = 16,
	MOST_CELLS = 4 << 20, /* where it is too much for a page */
	USE_SCALE = 10000,
	WAITING_SCALE = 16,
};

struct load {
	size_t n; /* links */
	size_t n_steps, done;
	double length; /* of a step, ps */
	float *use, *waiting; /* of the step, times ps */
	struct pack packed_use, packed_waiting;
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

	if (find_end(d, &l.n_steps, &end, e))
		return -1;
	if (!n_links || !l.n_steps || !(end > 0))
		return 0;
	l.n_steps = choose_steps(l.n_steps, n_links);
	l.length = end / (double)l.n_steps;
	l.use = mem_alloc(n_links, sizeof(*l.use));
	l.waiting = mem_alloc(n_links, sizeof(*l.waiting));
	q = db_prepare(d,
		"SELECT from_ps, to_ps, use, waiting FROM sample ORDER BY n",
		e);
	if (q)
		failed = take_all(&l, q, e);
	db_finish(q);
	json_object(j, "load");
	json_count(j, "steps", l.n_steps);
	json_real(j, "end_ps", end);
	pack_write(&l.packed_use, j, "use");
	pack_write(&l.packed_waiting, j, "waiting");
	json_end(j, '}');
	mem_free(l.use);
	mem_free(l.waiting);
	return failed;
}
