#include "machine/facts.h"

#include <stdio.h>

#include "base/mem.h"

enum { BAR = 30, PLACE = 256 };

static double percent(double part, double whole)
{
	return whole > 0 ? part / whole * 100 : 0;
}

/* --- the budget --- */

/* Causes that took any time, the greatest first; returns how many. */
static uint32_t by_share(const uint64_t *spent, enum cause *order)
{
	uint32_t n = 0, i;

	for (uint32_t c = 0; c < N_CAUSES; c++) {
		if (!spent[c])
			continue;
		for (i = n++; i && spent[order[i - 1]] < spent[c]; i--)
			order[i] = order[i - 1];
		order[i] = (enum cause)c;
	}
	return n;
}

/* A line with a bar for each cause that took any time. */
static void draw_causes(struct facts *f, const uint64_t *spent, uint64_t sum)
{
	static const char bar[BAR + 1] = "##############################";
	enum cause order[N_CAUSES];
	uint32_t n = by_share(spent, order), i;
	char form[160];

	for (i = 0; i < n; i++) {
		enum cause c = order[i];
		double share = percent((double)spent[c], (double)sum);
		int length = (int)(share / 100 * BAR + 0.5);

		snprintf(form, sizeof(form),
			"  %-17s {%s.ns:11.3f} ns  {%s.pct:5.1f} %%%s%.*s",
			causes[c].name, causes[c].key, causes[c].key,
			length ? "  " : "", length, bar);
		facts_line(f, NULL, form);
	}
	facts_line(f, NULL, "  sum               {_sum_ns:11.3f} ns");
}

/* Of n messages together: all causes, also those that took no time, with exact
 * sums in ps, and what each message spent, on average. */
static void add_causes(
	struct facts *f, const uint64_t *spent, uint64_t n, uint64_t sum)
{
	facts_group(f, "causes");
	for (uint32_t c = 0; c < N_CAUSES; c++) {
		facts_group(f, causes[c].key);
		facts_real(
			f, "ns", n ? (double)spent[c] / (double)n / SIM_NS : 0);
		facts_real(f, "pct", percent((double)spent[c], (double)sum));
		facts_count(f, "ps", spent[c]);
		facts_end(f);
	}
	if (n) {
		facts_real(f, "_sum_ns", (double)sum / (double)n / SIM_NS);
		draw_causes(f, spent, sum);
	}
	facts_end(f);
}

static void add_longest(struct facts *f, const struct book_account *l)
{
	uint64_t took = (uint64_t)(l->budget.at - l->budget.start);
	uint64_t spent[N_CAUSES];

	for (uint32_t c = 0; c < N_CAUSES; c++)
		spent[c] = (uint64_t)l->budget.spent[c];
	facts_group(f, "longest");
	facts_count(f, "node", l->src);
	facts_count(f, "number", l->number);
	facts_real(f, "start_ns", sim_ns(l->budget.start));
	facts_real(f, "_end_ns", sim_ns(l->budget.at));
	facts_real(f, "ns", sim_ns(l->budget.at - l->budget.start));
	facts_count(f, "ps", took);
	facts_line(f, "longest",
		"message {number} of node {node}, from {start_ns:.3f} to "
		"{_end_ns:.3f} ns (--follow {node}.{number})");
	add_causes(f, spent, 1, took);
	facts_end(f);
}

static void add_budget(struct facts *f, const struct book_sums *s)
{
	uint64_t sum = (uint64_t)s->whole.sum;

	facts_group(f, "budget");
	facts_count(f, "messages", s->n);
	facts_real(
		f, "mean_ns", s->n ? (double)sum / (double)s->n / SIM_NS : 0);
	facts_count(f, "ps", sum);
	if (s->n) {
		facts_real(
			f, "_half_ns", sim_ns(hist_quantile(&s->whole, 500)));
		facts_real(
			f, "_most_ns", sim_ns(hist_quantile(&s->whole, 990)));
	}
	facts_line(f, "budget",
		s->n ? "average of {messages} message{messages|s}; median "
		       "{_half_ns:u}, p99 {_most_ns:u}"
		     : "no message was completed");
	add_causes(f, s->spent, s->n, sum);
	if (s->n)
		add_longest(f, &s->longest);
	else
		facts_null(f, "longest");
	facts_end(f);
}

/* --- one message's way --- */

static void add_header(struct facts *f, const struct book_step *s)
{
	char text[2 * BOOK_HEADER + 1];
	uint32_t i;

	for (i = 0; i < BOOK_HEADER && s->header[0]; i++)
		sprintf(text + 2 * i, "%02x", s->header[i]);
	if (i)
		facts_text(f, "header", text);
}

static void add_step(struct facts *f, const struct net *n,
	const struct book_way *w, uint32_t i)
{
	const struct book_step *s = &w->step[i];
	sim_time from = book_step_from(w, i);
	char where[PLACE];

	net_place_name(n, &s->at, where, sizeof(where));
	facts_group(f, NULL);
	facts_int(f, "from_ps", from);
	facts_int(f, "until_ps", s->until);
	facts_int(f, "_took_ps", s->until - from);
	facts_text(f, "cause", causes[s->cause].key);
	facts_text(f, "_called", causes[s->cause].name);
	facts_text(f, "where", where);
	add_header(f, s);
	facts_end(f);
}

static void add_way(struct facts *f, const struct net *n,
	const struct book_how *how, const struct book_trail *r)
{
	bool is_done = r && r->is_done, is_sent = r && r->way.n;
	sim_time last = is_sent ? r->way.step[r->way.n - 1].until : 0;

	facts_group(f, "follow");
	facts_count(f, "node", how->node);
	facts_count(f, "number", how->number);
	facts_flag(f, "is_complete", is_done);
	facts_list(f, "steps");
	for (uint32_t i = 0; is_sent && i < r->way.n; i++)
		add_step(f, n, &r->way, i);
	facts_end(f);
	if (!is_sent)
		facts_line(f, "follow",
			"message {number} of node {node}: not sent yet");
	else
		facts_say(f, "follow",
			"message %u of node %u, sent at %.3f ns; %s %.3f ns",
			how->number, how->node, sim_ns(r->way.start),
			is_done ? "it took" : "it has not arrived after",
			sim_ns(last - r->way.start));
	facts_each(f, "steps", 0, NULL,
		"{from_ps/1e3:14.3f}  {_took_ps/1e3:+11.3f} ns  {_called:-17} "
		"{where}[, header {header}]");
	if (is_sent)
		facts_say(f, NULL, "%14.3f  %s", sim_ns(last),
			is_done ? "complete" : "in flight");
	facts_end(f);
}

void facts_of_budget(struct facts *f, const struct net *n, bool has_budget,
	const struct book_how *how)
{
	struct book_sums *s = mem_alloc(1, sizeof(*s));

	facts_place(f, FACTS_AT_BUDGET);
	if (has_budget) {
		book_sum(n->book, s);
		add_budget(f, s);
	}
	if (how->follows && how->number < book_n_sent(n->book, how->node))
		add_way(f, n, how, book_followed(n->book));
	mem_free(s);
}
