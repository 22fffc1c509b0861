/*
 * The load of links and of their channels over time, in few steps of equal
 * length: samples are many, and differ in length.
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
	MOST_SPARSE = 2048, /* links of which a page has what few have */
};

/* What channels have ends before WANTED. */
enum kind { USE, WAITING, TOKENS, RETRIES, WANTED, N_KINDS };

static const char *const names[N_KINDS] = { "use", "waiting", "token_wait",
	"retries", "wanted" };

struct load {
	size_t n; /* links */
	size_t n_steps;
	double length; /* of a step, ps */
	float *of[N_KINDS]; /* [step][link]; NULL: none is known */
	float *looked; /* [step]: the part of it that samples with WANTED are */
};

static void empty(struct load *l)
{
	uint32_t k;

	for (k = 0; k < N_KINDS; k++) {
		mem_free(l->of[k]);
		l->of[k] = NULL;
	}
	mem_free(l->looked);
	l->looked = NULL;
}

static void add(float *sum, const uint8_t *sample, size_t n, double weight)
{
	size_t i;

	for (i = 0; i < n; i++) {
		int value = sample[2 * i] | sample[2 * i + 1] << 8;

		sum[i] += (float)(value * weight);
	}
}

/* Shares a sample's list out to the steps that it lies in: averages, but for
 * retries, which are counted. */
static void spread(struct load *l, enum kind k, const uint8_t *list,
	double from, double to)
{
	double of = k == RETRIES ? to - from : l->length;
	size_t step = (size_t)(from / l->length);

	if (!l->of[k])
		l->of[k] = mem_alloc(l->n * l->n_steps, sizeof(*l->of[k]));
	if (k == WANTED && !l->looked)
		l->looked = mem_alloc(l->n_steps, sizeof(*l->looked));
	for (; step < l->n_steps && from < to; step++) {
		double until = fmin(to, (double)(step + 1) * l->length);

		if (until > from) {
			add(l->of[k] + step * l->n, list, l->n,
				(until - from) / of);
			if (k == WANTED)
				l->looked[step] += (float)((until - from) / of);
			from = until;
		}
	}
}

/* Columns: from_ps, to_ps, and the lists. */
static int take(struct load *l, struct db_query *q, struct err *e)
{
	double from = db_real(q, 0), to = db_real(q, 1);
	uint32_t k;

	for (k = 0; k < N_KINDS && (int)(2 + k) < db_n_columns(q); k++) {
		size_t n;
		const uint8_t *list = db_bytes(q, (int)(2 + k), &n);

		if (!list && k >= TOKENS)
			continue;
		if (n != 2 * l->n || !(from >= 0) || !(from < to))
			return err_set(e, "a sample does not fit the links");
		spread(l, k, list, from, to);
	}
	return 0;
}

static int take_all(struct load *l, struct db_query *q, struct err *e)
{
	int more;

	while ((more = db_next(q, e)) > 0)
		if (take(l, q, e))
			return -1;
	return more;
}

static uint32_t as_byte(double x)
{
	return !(x >= 0) ? 0 : x > 255 ? 255 : (uint32_t)(x + 0.5);
}

/* Queues are of all lengths: their logarithm is kept. */
static void pack_value(struct pack *p, enum kind k, double value)
{
	pack_u8(p, k == USE ? as_byte(255 * value / USE_SCALE)
			    : as_byte(255 * log2(1 + value) / 16));
}

/* Of a step in which nothing was looked at, what the one before it had. */
static void fill_wanted(struct load *l)
{
	float *at = l->of[WANTED];
	size_t t, i;

	for (t = 0; at && t < l->n_steps; t++, at += l->n)
		for (i = 0; i < l->n; i++)
			if (l->looked[t] > 0)
				at[i] /= l->looked[t];
			else if (t)
				at[i] = at[(ptrdiff_t)i - (ptrdiff_t)l->n];
}

static void write_all(const struct load *l, enum kind k, struct json *j)
{
	struct pack p = { 0 };
	size_t i;

	for (i = 0; i < l->n * l->n_steps; i++)
		pack_value(&p, k, l->of[k] ? (double)l->of[k][i] : 0);
	pack_write(&p, j, names[k]);
}

/* --- of some links --- */

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

/* The links that have most of it, in order. */
static struct most *find_most(const struct load *l, enum kind k, size_t *n)
{
	struct most *m = mem_alloc(l->n, sizeof(*m));
	size_t i, t;

	for (i = 0; i < l->n; i++) {
		m[i].link = i;
		for (t = 0; t < l->n_steps; t++)
			m[i].sum += (double)l->of[k][t * l->n + i];
	}
	qsort(m, l->n, sizeof(*m), by_sum);
	for (*n = 0; *n < l->n && *n < MOST_SPARSE && m[*n].sum > 0;)
		++*n;
	return m;
}

static void write_links(const struct most *m, size_t n, struct json *j)
{
	struct pack p = { 0 };
	size_t i;

	for (i = 0; i < n; i++)
		pack_u32(&p, (uint32_t)m[i].link);
	pack_write(&p, j, "links");
}

static void write_values(const struct load *l, enum kind k,
	const struct most *m, size_t n, const char *key, struct json *j)
{
	struct pack p = { 0 };
	size_t i, t;

	for (i = 0; i < n; i++)
		for (t = 0; t < l->n_steps; t++)
			pack_value(
				&p, k, (double)l->of[k][t * l->n + m[i].link]);
	pack_write(&p, j, key);
}

static void write_rare(const struct load *l, enum kind k, struct json *j)
{
	size_t n;
	struct most *m = find_most(l, k, &n);

	if (n) {
		json_object(j, names[k]);
		write_links(m, n, j);
		write_values(l, k, m, n, "values", j);
		json_end(j, '}');
	}
	mem_free(m);
}

/* --- of channels --- */

static void write_channel(
	const struct load *l, const char *name, struct json *j)
{
	size_t n;
	struct most *m = find_most(l, USE, &n);
	uint32_t k;

	json_object(j, NULL);
	json_text(j, "channel", name);
	write_links(m, n, j);
	for (k = 0; k < N_KINDS; k++)
		if (l->of[k])
			write_values(l, k, m, n, names[k], j);
	json_end(j, '}');
	mem_free(m);
}

/* Where several have been used; each has a list of its own, as links lead to
 * nodes or to switches, which may have others. */
static int write_channels(
	struct db *d, struct load *l, struct json *j, struct err *e)
{
	struct db_query *all = db_prepare(d,
		"SELECT DISTINCT channel FROM shared_sample ORDER BY channel",
		e);
	struct db_query *one = !all ? NULL
				    : db_prepare(d,
					      "SELECT from_ps, to_ps, c.use, "
					      "c.waiting, c.token_wait,"
					      " c.retries FROM channel_sample "
					      "c JOIN sample ON n = c.sample"
					      " WHERE c.channel = ?",
					      e);
	int more = -1;

	json_array(j, "channels");
	while (one && (more = db_next(all, e)) > 0) {
		db_bind_text(one, 1, db_text(all, 0));
		if (take_all(l, one, e)) {
			more = -1;
			break;
		}
		db_reset(one);
		if (l->of[USE])
			write_channel(l, db_text(all, 0), j);
		empty(l);
	}
	json_end(j, ']');
	db_finish(all);
	db_finish(one);
	return more;
}

/* --- all --- */

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
	if (!(end < 1e30))
		return err_set(e, "%s: a sample has no end", db_path(d));
	l.n_steps = choose_steps(l.n_steps, n_links);
	l.length = end / (double)l.n_steps;
	q = db_prepare(d,
		"SELECT from_ps, to_ps, use, waiting, token_wait, retries,"
		" wanted FROM sample ORDER BY n",
		e);
	if (q)
		failed = take_all(&l, q, e);
	db_finish(q);
	json_object(j, "load");
	json_count(j, "steps", l.n_steps);
	json_real(j, "end_ps", end);
	write_all(&l, USE, j);
	write_all(&l, WAITING, j);
	fill_wanted(&l);
	write_all(&l, WANTED, j);
	for (k = TOKENS; k < WANTED; k++)
		if (l.of[k])
			write_rare(&l, k, j);
	empty(&l);
	if (!failed)
		failed = write_channels(d, &l, j, e);
	empty(&l);
	json_end(j, '}');
	return failed;
}
