/*
 * The load of links and of their channels over time, in few steps of equal
 * length: samples are many, and differ in length.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "record/tables.h"
#include "report/pack.h"
#include "report/report.h"

enum {
	MOST_STEPS = 64,
	FEW_STEPS = 16,
	MOST_CELLS = 2 << 20, /* where it is too much for a page */
	MOST_SPARSE = 2048, /* links of which a page has what few have */
};

/* A page has the first two of channels. */
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
	for (uint32_t k = 0; k < N_KINDS; k++) {
		mem_free(l->of[k]);
		l->of[k] = NULL;
	}
	mem_free(l->looked);
	l->looked = NULL;
}

static void add(
	float *sum, const struct row_list *list, size_t n, double weight)
{
	for (size_t i = 0; i < n; i++)
		sum[i] += (float)(row_item(list, i) * weight);
}

/* Shares a sample's list out to the steps that it lies in: averages, but for
 * retries, which are counted. */
static void spread(struct load *l, enum kind k, const struct row_list *list,
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

/* Lists of a time; those that are missing are not known. */
static int take(struct load *l, const struct row_list *list, uint32_t n,
	double from, double to, struct err *e)
{
	for (uint32_t k = 0; k < n; k++) {
		if (!list[k].bytes && k >= TOKENS)
			continue;
		if (list[k].n != 2 * l->n || !(from >= 0) || !(from < to))
			return err_set(e, "the file is damaged: a sample does "
					  "not match the links");
		spread(l, k, &list[k], from, to);
	}
	return 0;
}

static int take_samples(struct load *l, struct db *d, struct err *e)
{
	struct db_query *q = row_select(d, TABLE_sample, "ORDER BY n", e);
	struct row_sample row;

	while (row_next_sample(q, &row)) {
		const struct row_list list[N_KINDS] = {
			[USE] = row.use,
			[WAITING] = row.waiting,
			[TOKENS] = row.token_wait,
			[RETRIES] = row.retries,
			[WANTED] = row.wanted,
		};

		take(l, list, N_KINDS, (double)row.from_ps, (double)row.to_ps,
			e);
	}
	return db_finish(q);
}

static int take_channel(
	struct load *l, struct db *d, const char *channel, struct err *e)
{
	struct db_query *q = db_prepare(d,
		"SELECT from_ps, to_ps, c.use, c.waiting FROM channel_sample c"
		" JOIN sample ON n = c.sample WHERE c.channel = ?",
		e);
	struct row_list list[TOKENS];

	db_bind_text(q, 1, channel);
	while (db_next(q)) {
		list[USE].bytes = db_bytes(q, 2, &list[USE].n);
		list[WAITING].bytes = db_bytes(q, 3, &list[WAITING].n);
		take(l, list, TOKENS, db_real(q, 0), db_real(q, 1), e);
	}
	return db_finish(q);
}

static uint32_t as_byte(double x)
{
	return !(x >= 0) ? 0 : x > 255 ? 255 : (uint32_t)(x + 0.5);
}

/* Queues are of all lengths: their logarithm is kept. */
static void pack_value(struct pack *p, enum kind k, double value)
{
	pack_add(p, k == USE ? as_byte(255 * value / RECORD_USE_SCALE)
			     : as_byte(255 * log2(1 + value) / 16));
}

/* Of a step in which nothing was looked at, what the one before it had. */
static void fill_wanted(struct load *l)
{
	float *at = l->of[WANTED];

	for (size_t t = 0; at && t < l->n_steps; t++, at += l->n)
		for (size_t i = 0; i < l->n; i++)
			if (l->looked[t] > 0)
				at[i] /= l->looked[t];
			else if (t)
				at[i] = at[(ptrdiff_t)i - (ptrdiff_t)l->n];
}

static void write_all(const struct load *l, enum kind k, struct json *j)
{
	struct pack p = { 0 };

	for (size_t i = 0; i < l->n * l->n_steps; i++)
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

	return 2 * ((y->sum > x->sum) - (y->sum < x->sum)) +
	       order((int64_t)x->link, (int64_t)y->link);
}

/* The links that have most of it, in order. */
static struct most *find_most(const struct load *l, enum kind k, size_t *n)
{
	struct most *m = mem_alloc(l->n, sizeof(*m));

	for (size_t i = 0; i < l->n; i++) {
		m[i].link = i;
		for (size_t t = 0; t < l->n_steps; t++)
			m[i].sum += (double)l->of[k][t * l->n + i];
	}
	qsort(m, l->n, sizeof(*m), by_sum);
	for (*n = 0; *n < l->n && *n < MOST_SPARSE && m[*n].sum > 0;)
		++*n;
	return m;
}

static void write_values(const struct load *l, enum kind k,
	const struct most *m, size_t n, struct json *j)
{
	struct pack p = { 0 };

	for (size_t i = 0; i < n; i++)
		for (size_t t = 0; t < l->n_steps; t++)
			pack_value(
				&p, k, (double)l->of[k][t * l->n + m[i].link]);
	pack_write(&p, j, names[k]);
}

/* Some kinds of the links that have most of the first one, into an object that
 * is open. */
static void write_some(
	const struct load *l, enum kind first, enum kind end, struct json *j)
{
	struct pack links = { 0 };
	size_t n;
	struct most *m = find_most(l, first, &n);

	for (size_t i = 0; i < n; i++)
		pack_add(&links, (double)m[i].link);
	pack_write(&links, j, "links");
	for (uint32_t k = first; k < end; k++)
		write_values(l, k, m, n, j);
	mem_free(m);
}

static void write_rare(const struct load *l, enum kind k, struct json *j)
{
	if (!l->of[k])
		return;
	json_object(j, names[k]);
	write_some(l, k, k + 1, j);
	json_end(j, '}');
}

/* Where several have been used; each has a list of its own, as links lead to
 * nodes or to switches, which may have others. */
static int write_channels(
	struct db *d, struct load *l, struct json *j, struct err *e)
{
	struct db_query *q = db_prepare(d,
		"SELECT DISTINCT channel FROM shared_sample ORDER BY channel",
		e);

	json_array(j, "channels");
	while (db_next(q)) {
		take_channel(l, d, db_text(q, 0), e);
		if (l->of[USE]) {
			json_object(j, NULL);
			json_text(j, "channel", db_text(q, 0));
			write_some(l, USE, TOKENS, j);
			json_end(j, '}');
		}
		empty(l);
	}
	json_end(j, ']');
	return db_finish(q);
}

/* --- all --- */

static int find_end(struct db *d, size_t *n, double *end, struct err *e)
{
	struct db_query *q =
		db_prepare(d, "SELECT count(*), max(to_ps) FROM sample", e);

	if (db_next(q)) {
		*n = (size_t)db_int(q, 0);
		*end = db_real(q, 1);
	}
	return db_finish(q);
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
	double end = 0;

	if (find_end(d, &l.n_steps, &end, e))
		return -1;
	if (!n_links || !l.n_steps || !(end > 0))
		return 0;
	if (!(end < 1e30))
		return err_set(e,
			"%s: the file is damaged: a sample has no end",
			db_path(d));
	l.n_steps = choose_steps(l.n_steps, n_links);
	l.length = end / (double)l.n_steps;
	take_samples(&l, d, e);
	json_object(j, "load");
	json_count(j, "steps", l.n_steps);
	json_real(j, "end_ps", end);
	fill_wanted(&l);
	write_all(&l, USE, j);
	write_all(&l, WAITING, j);
	write_all(&l, WANTED, j);
	write_rare(&l, TOKENS, j);
	write_rare(&l, RETRIES, j);
	empty(&l);
	write_channels(d, &l, j, e);
	json_end(j, '}');
	return e->code ? -1 : 0;
}
