/* The kinds of cases, and what must hold in each. */
#define _GNU_SOURCE
#include "chaos.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* KiB of address space that suffice for so many nodes */
enum { SMALL_SPACE = 2000000, SMALL_NODES = 64 };

/* --- findings --- */

static void print_words(const struct words *w, const struct launch *l)
{
	if (l && l->memory)
		printf("ulimit -v %zu; ", l->memory / 1024);
	if (l && l->fail)
		printf("CHAOS_FAIL=%ld%s LD_PRELOAD=%s ", l->fail,
			l->fails_on ? "+" : "", chaos.shim);
	printf("%s", chaos.weft);
	for (size_t i = 0; i < w->n; i++)
		printf(strpbrk(w->v[i], " *?|&;<>()$`\\\"'") ? " '%s'" : " %s",
			w->v[i]);
	if (l && l->out)
		printf(" >%s", l->out);
	if (l && l->signal)
		printf(" # and signal %d after %ld us", l->signal, l->after_us);
	puts("");
}

void finding(struct trial *t, const struct words *w, const struct launch *l,
	const char *format, ...)
{
	va_list ap;

	printf("seed %" PRIu64 ": ", t->seed);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n    ");
	print_words(w, l);
	t->n_findings++;
	chaos.n_findings++;
}

/* --- what holds always --- */

static bool is_one_line(const char *s)
{
	size_t n = strlen(s);

	if (strncmp(s, "weft: ", 6) != 0 || s[n - 1] != '\n')
		return false;
	for (size_t i = 0; i + 1 < n; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
			return false;
	return true;
}

static bool is_whole_json(const char *s)
{
	size_t n = strlen(s);

	return n > 4 && s[0] == '{' && !strcmp(s + n - 3, "\n}\n");
}

static bool has_flag(const struct words *w, const char *flag)
{
	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->v[i], flag))
			return true;
	return false;
}

/* A link is busy at most all of the time. */
static const char *bad_fraction(const char *json)
{
	static const char *const keys[] = { "mean_use", "max_use" };
	const char *bad = NULL;
	char *v[256];

	for (size_t k = 0; k < 2; k++) {
		size_t n = json_values(json, keys[k], v, 256);

		while (n--) {
			double x = atof(v[n]);

			if (x > 1.0005 || x < 0)
				bad = keys[k];
			free(v[n]);
		}
	}
	return bad;
}

/* Why an outcome is none that the manual allows, or NULL. */
static const char *judge(
	const struct words *w, const struct launch *l, const struct outcome *o)
{
	bool is_refusal = o->code == 2 || (o->code == 4 && !*o->out);

	if (o->is_stuck)
		return "takes no notice of SIGTERM";
	if (o->code > 6 || o->code == 5)
		return "an internal error, a crash, or a sanitizer's complaint";
	if (l && l->out)
		return o->code != 2	     ? "written to nowhere, yet not 2"
		       : is_one_line(o->err) ? NULL
					     : "want one line on stderr";
	if (is_refusal)
		return !is_one_line(o->err) ? "want one line on stderr"
		       : *o->out	    ? "refused, yet it prints"
					    : NULL;
	/* stopped before it ran; or programs wait for ever */
	if ((o->code == 6 || o->code == 3) && !*o->out)
		return is_one_line(o->err) ? NULL : "want one line on stderr";
	if (*o->err && (o->code != 3 || !is_one_line(o->err)))
		return "something on stderr";
	if (has_flag(w, "--json") && !is_whole_json(o->out))
		return "its JSON is cut";
	return bad_fraction(o->out);
}

struct outcome try(
	struct trial *t, const struct words *w, const struct launch *l)
{
	struct outcome o = run_weft(w, l);
	const char *why = judge(w, l, &o);

	if (chaos.is_verbose) {
		printf("%3d ", o.code);
		print_words(w, l);
		if (*o.err)
			printf("    %s", o.err);
	}
	if (why && why != t->last) {
		t->last = why; /* once is enough */
		finding(t, w, l, "exit code %d: %s", o.code, why);
		printf("    %.300s\n", o.err);
	}
	return o;
}

/* --- the same whatever the threads --- */

/* Lines that may differ: what the host did, the budget itself, and the events
 * that it took, since some routers have another arbiter for budgets. */
static char *comparable(const char *json)
{
	static const char *const own[] = { "\"wall_s\"", "\"cpu_s\"",
		"\"setup_s\"", "\"checks_s\"", "\"threads\"",
		"\"ns_per_packet_hop\"", "\"bytes_per_node\"", "\"events\"",
		"\"trip_" };
	char *text = malloc(strlen(json) + 1), *to = text;
	bool in_budget = false;
	size_t n;

	for (; *json; json += n) {
		bool drop = false;

		n = strcspn(json, "\n");
		n += json[n] == '\n';
		if (!strncmp(json, "  \"budget\": {", 13))
			in_budget = true;
		for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
			drop |= !strncmp(json + strspn(json, " "), own[i],
				strlen(own[i]));
		if (!drop && !in_budget)
			to = mempcpy(to, json, n);
		if (!strncmp(json, "  }", 3))
			in_budget = false;
	}
	*to = '\0';
	return text;
}

static void print_difference(const char *a, const char *b)
{
	size_t n = 0, i = 0;

	while (a[i] && a[i] == b[i])
		if (a[i++] == '\n')
			n = i;
	printf("    %.*s  |%.*s\n", (int)strcspn(a + n, "\n"), a + n,
		(int)strcspn(b + n, "\n"), b + n);
}

static bool lacks_memory(const struct outcome *o)
{
	return o->code == 4 && strstr(o->err, "out of memory");
}

/* How much memory was missing is each one's own. */
static void compare(struct trial *t, const struct words *w,
	const struct outcome *a, const struct outcome *b)
{
	char *x = comparable(a->out), *y = comparable(b->out);

	if (a->code != b->code)
		finding(t, w, NULL, "exit code %d, and %d with one thread",
			b->code, a->code);
	else if (strcmp(x, y) || (!(lacks_memory(a) && lacks_memory(b)) &&
					 strcmp(a->err, b->err))) {
		finding(t, w, NULL, "another report than with one thread");
		print_difference(x, y);
	}
	free(x);
	free(y);
}

static struct outcome run_with(struct trial *t, const char *option)
{
	struct launch l = { 0 };
	struct words w = { 0 };
	struct outcome o;

	run_words(t, &w);
	words_add(&w, "%s", option);
	if (t->n_nodes <= SMALL_NODES)
		l.memory = (size_t)SMALL_SPACE * 1024;
	if (!strcmp(option, "--budget")) {
		words_add(&w, "--threads=1");
		l.memory *= 4;
	}
	o = try(t, &w, &l);
	/* Links without errors (untrained ones have many) that cannot deadlock
	 * do not, and programs do not wait for what nobody lost. */
	if (o.code == 3 && !t->has_plan && t->checked == 0 &&
		!has_flag(&w, "--set=link.training.on=no"))
		finding(t, &w, NULL,
			"free of deadlock by `weft check`, "
			"yet a run ends with 3");
	words_free(&w);
	return o;
}

/* Whether there were too many processes for few nodes. */
static bool is_alone(const struct outcome *o)
{
	return o->code == 2 && strstr(o->err, "processes for ");
}

static void run_alike(struct trial *t)
{
	static const char *const ways[] = { "--threads=2", "--threads=3",
		"--budget", "--processes=2", "--processes=3" };
	struct outcome one, other;
	struct words w = { 0 };
	size_t n;

	if (!make_machine(t) || !make_workload(t))
		return;
	if (draw(&t->dice, 2))
		make_plan(t);
	run_words(t, &w);
	one = run_with(t, "--threads=1");
	n = draw(&t->dice, 2) ? 3 : 5;
	for (size_t i = 0; i < n && !one.is_late; i++) {
		other = run_with(t, ways[i]);
		words_add(&w, "%s", ways[i]);
		/* a budget has an entry for each packet that there may be */
		if (!other.is_late && !is_alone(&other) &&
			!(lacks_memory(&other) && !strcmp(ways[i], "--budget")))
			compare(t, &w, &one, &other);
		words_drop(&w, w.n - 1);
		outcome_free(&other);
	}
	outcome_free(&one);
	words_free(&w);
}

/* --- each kind of fault, alone and with another one --- */

/* An exit code of 5 is a finding anywhere: see judge(). */
static void run_faults(struct trial *t)
{
	unsigned a, b;

	if (!make_machine(t) || !make_workload(t))
		return;
	for (a = 0; a < N_FAULTS; a++) {
		if (!make_faults(t, 1u << a))
			continue; /* the machine knows none of that kind */
		b = (unsigned)draw(&t->dice, N_FAULTS);
		make_faults(t, 1u << a | 1u << b);
	}
}

/* --- ends of ranges --- */

static void try_end(struct trial *t, const struct option *o, enum how how)
{
	struct words w = { 0 };
	char value[TEXT_MAX];
	struct outcome out;
	size_t n = strlen(o->name);

	if (!option_value(o, how, &t->dice, value))
		return;
	run_words(t, &w);
	/* in place of what it was */
	for (size_t i = w.n; i-- > 0;) {
		const char *s = w.v[i];

		s += strncmp(s, "--set=", 6) ? 0 : 6;
		if (!strncmp(s, o->name, n) && s[n] == '=')
			words_drop(&w, i);
	}
	words_add(&w, o->workload ? "%s=%s" : "--set=%s=%s", o->name, value);
	out = try(t, &w,
		&(struct launch){ .limit_s = chaos.limit_s / 10,
			.memory = (size_t)2 * SMALL_SPACE * 1024 });
	if ((how == BELOW || how == ABOVE) && out.code != 2 && !out.is_late)
		finding(t, &w, NULL,
			"out of range, yet not refused: exit code %d",
			out.code);
	outcome_free(&out);
	words_free(&w);
}

static void run_ends(struct trial *t)
{
	const struct options *from = &t->params;

	if (!make_machine(t) || !make_workload(t))
		return;
	if (draw(&t->dice, 2))
		from = &chaos.options;
	for (int i = 0; i < 4; i++) {
		const struct option *o = &from->v[draw(&t->dice, from->n)];

		if (from == &chaos.options &&
			(!o->workload || strcmp(o->workload, t->keys.v[0])))
			continue;
		for (int how = LEAST; how <= ABOVE; how++)
			try_end(t, o, (enum how)how);
	}
}

/* --- signals --- */

/* A run that goes on for long, or as long as it may. */
static void run_signals(struct trial *t)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct words w = { 0 };
	struct launch l = { 0 };
	struct outcome o;

	if (!make_machine(t) || !make_workload(t))
		return;
	run_words(t, &w);
	for (size_t i = w.n; i-- > 0;)
		if (!strncmp(w.v[i], "measure=", 8) ||
			!strncmp(w.v[i], "rounds=", 7) ||
			!strncmp(w.v[i], "count=", 6))
			words_drop(&w, i);
	words_add(&w, "--threads=%" PRIu64, 1 + draw(&t->dice, 3));
	l.signal = signals[draw(&t->dice, 3)];
	l.after_us = (long)draw_wide(&t->dice, 1, 200000);
	o = try(t, &w, &l);
	if (o.code == 6 && *o.out && !strstr(o.out, "\"stopped\""))
		finding(t, &w, &l, "stopped, but that is not what it says");
	outcome_free(&o);
	words_free(&w);
}

/* --- allocations that fail, disks that are full --- */

/* Some command of weft. */
static void draw_command(struct trial *t, struct words *w)
{
	static const char *const other[] = { "machines", "params", "claims",
		"help", "--version" };
	static const char *const one[] = { "check", "show", "params" };
	uint64_t n = draw(&t->dice, 12);

	if (n < 5) {
		words_add(w, "%s", other[n]);
		if (n < 3 && draw(&t->dice, 2))
			words_add(w, "--json");
	} else if (n < 8) {
		words_add(w, "%s", one[n - 5]);
		words_copy(w, &t->machine);
		if (draw(&t->dice, 2))
			words_add(w, "--json");
	} else {
		run_words(t, w);
		words_add(w, "--threads=%" PRIu64, 1 + draw(&t->dice, 2));
		if (draw(&t->dice, 3) == 0)
			words_add(w, "--budget");
	}
}

static void try_failing(struct trial *t, const struct words *w,
	const struct outcome *good, long n)
{
	struct launch l = { .fail = 1 + (long)draw(&t->dice, (uint64_t)n),
		.fails_on = draw(&t->dice, 2) };
	struct outcome o = try(t, w, &l);
	char *x = comparable(o.out), *y = comparable(good->out);

	/* it may do without: then all is as it was */
	if (o.code == good->code && !lacks_memory(&o) && strcmp(x, y)) {
		finding(t, w, &l, "another report where an allocation fails");
		print_difference(y, x);
	}
	if (o.code != good->code && o.code != 4)
		finding(t, w, &l,
			"exit code %d where an allocation fails, want 4",
			o.code);
	free(x);
	free(y);
	outcome_free(&o);
}

static void run_allocations(struct trial *t)
{
	struct words w = { 0 };
	struct outcome good;
	long n = 0;

	if (!chaos.shim || !make_machine(t) || !make_workload(t))
		return;
	draw_command(t, &w);
	good = try(t, &w, &(struct launch){ .n_allocations = &n });
	for (int i = 0; i < 6 && n && !good.is_late; i++)
		try_failing(t, &w, &good, n);
	outcome_free(&good);
	words_free(&w);
}

static void run_full_disk(struct trial *t)
{
	struct words w = { 0 };
	struct outcome o;

	if (!make_machine(t) || !make_workload(t))
		return;
	draw_command(t, &w);
	o = try(t, &w, &(struct launch){ .out = "/dev/full" });
	outcome_free(&o);
	words_free(&w);
}

const struct kind kinds[] = {
	{ "alike", run_alike },
	{ "ends", run_ends },
	{ "alike", run_alike },
	{ "signals", run_signals },
	{ "faults", run_faults },
	{ "allocations", run_allocations },
	{ "alike", run_alike },
	{ "full-disk", run_full_disk },
	{ "alike", run_alike },
	{ "outputs", run_outputs },
	{ 0 },
};
