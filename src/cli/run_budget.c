#include "cli/run.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "out/figure.h"

enum { BAR = 30, PLACE = 256 };

const struct book_how *run_book_how(
	const struct cli_args *a, struct book_how *how)
{
	*how = (struct book_how){
		.follows = a->follows,
		.node = a->follow_node,
		.number = a->follow_number,
	};
	return a->is_budget || a->follows ? how : NULL;
}

int run_book_check(
	const struct cli_args *a, const struct topo *t, struct err *e)
{
	if (a->follows && a->follow_node >= t->n_nodes)
		return err_set(e, "--follow: the machine has nodes 0 to %u",
			t->n_nodes - 1);
	return 0;
}

int run_book_missed(
	const struct cli_args *a, const struct net *n, struct err *e)
{
	uint32_t sent;

	if (!a->follows)
		return 0;
	sent = book_n_sent(n->book, a->follow_node);
	if (a->follow_number < sent)
		return 0;
	if (!sent)
		return err_set(
			e, "--follow: node %u sent no message", a->follow_node);
	return err_set(e,
		"--follow: node %u sent only %u message%s, numbers 0 to %u",
		a->follow_node, sent, sent > 1 ? "s" : "", sent - 1);
}

static double percent(double part, double whole)
{
	return whole > 0 ? part / whole * 100 : 0;
}

/* --- the budget --- */

/* Causes that took any time, the greatest first; returns how many. */
static uint32_t by_share(const uint64_t *spent, enum cause *order)
{
	uint32_t n = 0, i, c;

	for (c = 0; c < N_CAUSES; c++) {
		if (!spent[c])
			continue;
		for (i = n++; i && spent[order[i - 1]] < spent[c]; i--)
			order[i] = order[i - 1];
		order[i] = (enum cause)c;
	}
	return n;
}

/* Of n messages together: what each spent, on average. */
static void print_causes(FILE *f, const uint64_t *spent, uint64_t n)
{
	static const char bar[BAR + 1] = "##############################";
	enum cause order[N_CAUSES];
	uint32_t some = by_share(spent, order), i;
	uint64_t sum = 0;

	for (i = 0; i < some; i++)
		sum += spent[order[i]];
	for (i = 0; i < some; i++) {
		double ps = (double)spent[order[i]];
		double share = percent(ps, (double)sum);
		int length = (int)(share / 100 * BAR + 0.5);

		fprintf(f, "  %-17s %11.3f ns  %5.1f %%%s%.*s\n",
			cause_names[order[i]], ps / (double)n / SIM_NS, share,
			length ? "  " : "", length, bar);
	}
	fprintf(f, "  %-17s %11.3f ns\n", "sum",
		(double)sum / (double)n / SIM_NS);
}

static void longest_spent(const struct book_sums *s, uint64_t *spent)
{
	uint32_t c;

	for (c = 0; c < N_CAUSES; c++)
		spent[c] = (uint64_t)s->longest.budget.spent[c];
}

static void print_budget(FILE *f, const struct book_sums *s)
{
	const struct book_account *l = &s->longest;
	char half[FIGURE_TEXT], most[FIGURE_TEXT];
	uint64_t spent[N_CAUSES];

	if (!s->n) {
		fputs("budget      no message was completed\n", f);
		return;
	}
	figure_time(sim_ns(hist_quantile(&s->whole, 500)), half);
	figure_time(sim_ns(hist_quantile(&s->whole, 990)), most);
	fprintf(f,
		"budget      of %" PRIu64
		" message%s, on average; half took less than %s, 99 %% less "
		"than %s\n",
		s->n, s->n > 1 ? "s" : "", half, most);
	print_causes(f, s->spent, s->n);
	fprintf(f,
		"longest     message %u of node %u, from %.3f to %.3f ns "
		"(--follow %u.%u)\n",
		l->number, l->src, sim_ns(l->budget.start),
		sim_ns(l->budget.at), l->src, l->number);
	longest_spent(s, spent);
	print_causes(f, spent, 1);
}

/* All causes, also those that took no time, with exact sums in ps. */
static void json_causes(
	struct json *j, const uint64_t *spent, uint64_t n, uint64_t sum)
{
	uint32_t c;

	json_object(j, "causes");
	for (c = 0; c < N_CAUSES; c++) {
		json_object(j, cause_keys[c]);
		json_real(
			j, "ns", n ? (double)spent[c] / (double)n / SIM_NS : 0);
		json_real(j, "pct", percent((double)spent[c], (double)sum));
		json_count(j, "ps", spent[c]);
		json_end(j, '}');
	}
	json_end(j, '}');
}

static void json_budget(struct json *j, const struct book_sums *s)
{
	const struct budget *b = &s->longest.budget;
	uint64_t sum = (uint64_t)s->whole.sum, spent[N_CAUSES];

	json_object(j, "budget");
	json_count(j, "messages", s->n);
	json_real(j, "mean_ns", s->n ? (double)sum / (double)s->n / SIM_NS : 0);
	json_count(j, "ps", sum);
	json_causes(j, s->spent, s->n, sum);
	if (!s->n) {
		json_null(j, "longest");
		json_end(j, '}');
		return;
	}
	longest_spent(s, spent);
	json_object(j, "longest");
	json_count(j, "node", s->longest.src);
	json_count(j, "number", s->longest.number);
	json_real(j, "start_ns", sim_ns(b->start));
	json_real(j, "ns", sim_ns(b->at - b->start));
	json_count(j, "ps", (uint64_t)(b->at - b->start));
	json_causes(j, spent, 1, (uint64_t)(b->at - b->start));
	json_end(j, '}');
	json_end(j, '}');
}

/* --- one message's way --- */

/* Its bytes, or nothing. */
static const char *header_text(
	const struct book_step *s, char text[2 * BOOK_HEADER + 1])
{
	uint32_t i;

	text[0] = '\0';
	for (i = 0; i < BOOK_HEADER && s->header[0]; i++)
		sprintf(text + 2 * i, "%02x", s->header[i]);
	return text;
}

static void print_way(FILE *f, const struct cli_args *a, const struct net *n,
	const struct book_trail *r)
{
	const struct book_way *w = r ? &r->way : NULL;
	char where[PLACE], header[2 * BOOK_HEADER + 1];
	uint32_t i;

	fprintf(f, "follow      message %u of node %u", a->follow_number,
		a->follow_node);
	if (!w || !w->n) {
		fputs(": not sent yet\n", f);
		return;
	}
	fprintf(f, ", sent at %.3f ns; %s %.3f ns\n", sim_ns(w->start),
		r->is_done ? "it took" : "it has not arrived after",
		sim_ns(w->step[w->n - 1].until - w->start));
	for (i = 0; i < w->n; i++) {
		const struct book_step *s = &w->step[i];
		sim_time from = book_step_from(w, i);

		net_place_name(n, &s->at, where, sizeof(where));
		fprintf(f, "%14.3f  %+11.3f ns  %-17s %s%s%s\n", sim_ns(from),
			sim_ns(s->until - from), cause_names[s->cause], where,
			*header_text(s, header) ? ", header " : "", header);
	}
	fprintf(f, "%14.3f  %s\n", sim_ns(w->step[w->n - 1].until),
		r->is_done ? "complete" : "in flight");
}

static void json_way(struct json *j, const struct cli_args *a,
	const struct net *n, const struct book_trail *r)
{
	char where[PLACE], header[2 * BOOK_HEADER + 1];
	uint32_t i;

	json_object(j, "follow");
	json_count(j, "node", a->follow_node);
	json_count(j, "number", a->follow_number);
	json_flag(j, "is_complete", r && r->is_done);
	json_array(j, "steps");
	for (i = 0; r && i < r->way.n; i++) {
		const struct book_step *s = &r->way.step[i];

		net_place_name(n, &s->at, where, sizeof(where));
		json_object(j, NULL);
		json_int(j, "from_ps", book_step_from(&r->way, i));
		json_int(j, "until_ps", s->until);
		json_text(j, "cause", cause_keys[s->cause]);
		json_text(j, "where", where);
		if (*header_text(s, header))
			json_text(j, "header", header);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
}

/* --- both --- */

static bool was_sent(const struct cli_args *a, const struct net *n)
{
	return a->follow_number < book_n_sent(n->book, a->follow_node);
}

void run_budget_text(FILE *f, const struct cli_args *a, const struct net *n)
{
	struct book_sums *s = mem_alloc(1, sizeof(*s));

	if (a->is_budget) {
		book_sum(n->book, s);
		print_budget(f, s);
	}
	if (a->follows && was_sent(a, n))
		print_way(f, a, n, book_followed(n->book));
	mem_free(s);
}

void run_budget_json(
	struct json *j, const struct cli_args *a, const struct net *n)
{
	struct book_sums *s = mem_alloc(1, sizeof(*s));

	if (a->is_budget) {
		book_sum(n->book, s);
		json_budget(j, s);
	}
	if (a->follows && was_sent(a, n))
		json_way(j, a, n, book_followed(n->book));
	mem_free(s);
}
