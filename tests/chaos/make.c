/* Makes machines, workloads and plans of faults. */
#define _GNU_SOURCE
#include "chaos.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What keeps runs short. */
enum { MOST_COUNT = 200, MOST_BYTES = 65536, MOST_PS = 20000000 };
enum { MOST_NODES = 300, MOST_TRIES = 18 };

void trial_init(struct trial *t, uint64_t seed)
{
	*t = (struct trial){ .seed = seed, .dice = { seed } };
	snprintf(t->file, sizeof(t->file), "%s/%" PRIu64 ".yaml", chaos.dir,
		seed);
	snprintf(t->plan, sizeof(t->plan), "%s/%" PRIu64 "-faults.yaml",
		chaos.dir, seed);
}

void trial_fini(struct trial *t)
{
	if (!t->n_findings) {
		unlink(t->file);
		unlink(t->plan);
	}
	words_free(&t->machine);
	words_free(&t->keys);
	options_free(&t->params);
}

/* --- machines --- */

static bool has_name(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n >= k && !strcmp(name + n - k, end);
}

/* A file that says which variants the machine is made of, and no more. */
static void write_file(struct trial *t)
{
	FILE *f = fopen(t->file, "w");
	char word[TEXT_MAX];

	if (!f) {
		perror(t->file);
		exit(2);
	}
	fprintf(f, "schema: 1\nmachine: chaos-%" PRIu64 "\n", t->seed);
	for (size_t i = 0; i < chaos.options.n; i++) {
		const struct option *o = &chaos.options.v[i];
		size_t section = strcspn(o->name, ".");

		/* most routings go with one topology only */
		if (strcmp(o->name, "topology.kind") != 0 &&
			strcmp(o->name, "nic.kind") != 0 &&
			(strcmp(o->name, "routing.kind") != 0 ||
				draw(&t->dice, 4)))
			continue;
		if (option_word(o, &t->dice, word))
			fprintf(f, "%.*s:\n  kind: %s\n", (int)section, o->name,
				word);
	}
	fclose(f);
}

static void machine_words(
	const struct trial *t, struct words *w, const char *command)
{
	words_add(w, "%s", command);
	words_copy(w, &t->machine);
}

/* What a command says of the machine as it is now. */
static struct outcome ask(struct trial *t, const char *command)
{
	struct words w = { 0 };
	struct outcome o;

	machine_words(t, &w, command);
	words_add(&w, "--json");
	o = try(t, &w, NULL);
	words_free(&w);
	return o;
}

/* How many machines have the name before the first dash in common. */
static uint64_t n_relatives(const char *name)
{
	size_t n = strcspn(name, "-");
	uint64_t sum = 0;

	for (size_t i = 0; i < chaos.n_machines; i++)
		sum += strcspn(chaos.machine[i], "-") == n &&
		       !strncmp(chaos.machine[i], name, n);
	return sum;
}

/* Families of machines are equally likely. */
static const char *draw_machine(struct trial *t)
{
	const char *name;

	do
		name = chaos.machine[draw(&t->dice, chaos.n_machines)];
	while (draw(&t->dice, n_relatives(name)));
	return name;
}

static void choose(struct trial *t)
{
	bool is_own = draw(&t->dice, 2);

	words_free(&t->machine);
	if (is_own)
		write_file(t);
	words_add(&t->machine, "%s", is_own ? t->file : draw_machine(t));
}

static bool read_params(struct trial *t)
{
	struct outcome o = ask(t, "params");
	bool ok = o.code == 0;

	options_free(&t->params);
	if (ok)
		options_read(&t->params, o.out);
	outcome_free(&o);
	return ok;
}

static void set(struct trial *t, const struct option *o, const char *value)
{
	words_add(&t->machine, "--set=%s=%s", o->name, value);
}

/* Further variants that such a machine has a choice of. */
static bool draw_kinds(struct trial *t)
{
	char word[TEXT_MAX];

	for (size_t i = 0; i < t->params.n; i++) {
		const struct option *o = &t->params.v[i];

		if (has_name(o->name, ".kind") &&
			strncmp(o->name, "topology.", 9) != 0 &&
			strncmp(o->name, "routing.", 8) != 0 &&
			strncmp(o->name, "nic.", 4) != 0 && draw(&t->dice, 2) &&
			option_word(o, &t->dice, word))
			set(t, o, word);
	}
	return t->machine.n == 1 || read_params(t);
}

/* Sizes are always drawn, so that the machine is small; others at times. */
static void draw_params(struct trial *t)
{
	char value[TEXT_MAX];
	uint64_t n = t->params.n, often = draw(&t->dice, 10), n_sets = 0;

	for (size_t i = 0; i < n && n_sets < 60; i++) {
		const struct option *o = &t->params.v[i];
		bool is_size = !strncmp(o->name, "topology.", 9) &&
			       (option_is(o, "count") ||
				       option_is(o, "list of counts"));

		if (has_name(o->name, ".kind") ||
			(!is_size && draw(&t->dice, n) >= often))
			continue;
		if (!option_value(o, is_size ? SMALL : NEAR, &t->dice, value))
			continue;
		if (is_size && has_name(o->name, ".nodes") &&
			option_exceeds(o, 8))
			snprintf(value, sizeof(value), "%" PRIu64,
				1 + draw(&t->dice, 32));
		set(t, o, value);
		n_sets++;
	}
}

/* Whether an error names what a word sets. */
static bool is_about(const char *error, const char *word)
{
	char name[TEXT_MAX];

	if (sscanf(word, "--set=%[^=]", name) != 1)
		sscanf(word, "%[^=]", name);
	return strstr(error, name) != NULL;
}

/*
 * Takes back what an error names: drops it where it is set, else sets it to
 * its least.  False where it names nothing of the machine's.
 */
static bool amend(struct trial *t, const char *error)
{
	struct words *w = &t->machine;
	size_t before = w->n;
	char value[TEXT_MAX];

	for (size_t i = w->n - 1; i >= 1; i--)
		if (is_about(error, w->v[i]))
			words_drop(w, i);
	for (size_t i = 0; i < t->params.n && w->n == before; i++) {
		const struct option *o = &t->params.v[i];

		if (is_about(error, o->name) && strchr(o->name, '.') &&
			option_is(o, "count") &&
			option_value(o, LEAST, &t->dice, value)) {
			set(t, o, value);
			return true;
		}
	}
	return w->n < before;
}

/* Amends it, or drops some of what is set. */
static void relent(struct trial *t, const char *error)
{
	struct words *w = &t->machine;

	if (amend(t, error))
		return;
	for (size_t i = w->n - 1; i >= 1; i--)
		if (draw(&t->dice, 2))
			words_drop(w, i);
}

/* What check refuses a run refuses, too. */
static void try_refused(struct trial *t)
{
	struct words w = { 0 };
	struct outcome o;

	machine_words(t, &w, "run");
	words_add(&w, "%s", chaos.workload[draw(&t->dice, chaos.n_workloads)]);
	o = try(t, &w, &(struct launch){ .limit_s = chaos.limit_s / 10 });
	if (o.code != 2 && !o.is_late)
		finding(t, &w, NULL,
			"`weft check` refuses the machine, a run ends with %d",
			o.code);
	outcome_free(&o);
	words_free(&w);
}

/* And a network that check takes is one for every run. */
static void try_accepted(struct trial *t)
{
	struct words w = { 0 };
	struct outcome o;

	if (t->n_nodes < 2)
		return;
	machine_words(t, &w, "run");
	words_add(&w, "pingpong");
	words_add(&w, "via=net");
	words_add(&w, "rounds=1");
	o = try(t, &w, &(struct launch){ .limit_s = chaos.limit_s / 10 });
	/* but for faults that lose packets, which nobody resends here */
	if (o.code == 2 && !strstr(o.err, "faults:"))
		finding(t, &w, NULL,
			"`weft check` takes the machine, a run refuses it");
	outcome_free(&o);
	words_free(&w);
}

static bool count_nodes(struct trial *t)
{
	struct outcome o = ask(t, "show");
	char *n;
	bool ok = !o.code && json_values(o.out, "nodes", &n, 1) == 1;

	outcome_free(&o);
	if (!ok)
		return false;
	t->n_nodes = strtoull(n, NULL, 10);
	free(n);
	return t->n_nodes <= MOST_NODES;
}

bool make_machine(struct trial *t)
{
	struct outcome o;

	for (int i = 0; i < MOST_TRIES; i++) {
		if (i % 6 == 0) {
			do
				choose(t);
			while (!read_params(t) || !draw_kinds(t));
			draw_params(t);
		}
		t->n_nodes = 0;
		if (!count_nodes(t) && t->n_nodes > MOST_NODES) {
			i += 5 - i % 6; /* another one */
			continue;
		}
		o = ask(t, "check");
		t->checked = o.code;
		if (o.code == 2) {
			try_refused(t);
			relent(t, o.err);
		}
		outcome_free(&o);
		if (t->checked < 2 && count_nodes(t)) {
			try_accepted(t);
			return true;
		}
		if (t->checked < 2)
			return false;
	}
	return false;
}

/* --- workloads --- */

/* A number that a run ends soon with, whatever it counts. */
static int64_t most_of(const struct option *o)
{
	return option_is(o, "count")  ? MOST_COUNT
	       : option_is(o, "size") ? MOST_BYTES
	       : option_is(o, "time") ? MOST_PS
				      : 4000000;
}

static bool is_node(const struct option *o)
{
	return strstr(o->range, "to 4194304") != NULL;
}

static void draw_key(struct trial *t, const struct option *o, bool is_fixed)
{
	char value[TEXT_MAX], limit[TEXT_MAX];
	struct option within = *o;
	const char *to = strstr(o->range, " to ");

	if (is_node(o)) {
		snprintf(value, sizeof(value), "%" PRIu64,
			draw(&t->dice, t->n_nodes + !draw(&t->dice, 20)));
	} else if (to && !option_is(o, "fraction")) {
		/* between its least and what is short */
		static const char *const unit[] = { "", " B", " ps" };
		size_t k = option_is(o, "count")  ? 0
			   : option_is(o, "size") ? 1
						  : 2;

		snprintf(limit, sizeof(limit), "%" PRId64 "%s", most_of(o),
			unit[k]);
		within.value = limit;
		if (!option_value(&within, UP_TO, &t->dice, value))
			return;
	} else if (!option_value(o, NEAR, &t->dice, value)) {
		return;
	}
	if (is_fixed || draw(&t->dice, 3) == 0)
		words_add(&t->keys, "%s=%s", o->name, value);
}

/* Whether runs are long where it is not given. */
static bool is_long(const struct option *o)
{
	return (option_is(o, "time") && !strcmp(o->value, "auto")) ||
	       (!is_node(o) && option_exceeds(o, most_of(o)));
}

static void draw_keys(struct trial *t, const char *name)
{
	words_free(&t->keys);
	words_add(&t->keys, "%s", name);
	for (int fixed = 1; fixed >= 0; fixed--) {
		for (size_t k = 0; k < chaos.options.n; k++) {
			const struct option *o = &chaos.options.v[k];

			if (o->workload && !strcmp(o->workload, name) &&
				is_long(o) == fixed)
				draw_key(t, o, fixed);
		}
		if (fixed)
			t->n_fixed = t->keys.n - 1;
	}
}

static bool is_refused(struct trial *t)
{
	struct words w = { 0 };
	struct outcome o;
	bool refused;

	run_words(t, &w);
	o = try(t, &w, &(struct launch){ .limit_s = chaos.limit_s / 10 });
	refused = o.code == 2 || (o.code == 4 && *o.err);
	if (refused && !amend(t, o.err)) /* the key it is about, or any */
		for (size_t i = t->keys.n - 1; i > t->n_fixed; i--)
			if (is_about(o.err, t->keys.v[i]) || !draw(&t->dice, 3))
				words_drop(&t->keys, i);
	outcome_free(&o);
	words_free(&w);
	return refused;
}

/* It may have been amended since. */
static bool is_checked(struct trial *t)
{
	struct outcome o = ask(t, "check");

	t->checked = o.code;
	outcome_free(&o);
	return t->checked < 2;
}

bool make_workload(struct trial *t)
{
	for (int i = 0; i < MOST_TRIES; i++) {
		if (i % 4 == 0) {
			const char *name =
				chaos.workload[(t->seed + 7 * (unsigned)i) %
					       chaos.n_workloads];

			draw_keys(t, name);
		}
		if (!is_refused(t))
			return is_checked(t);
	}
	return false;
}

void run_words(const struct trial *t, struct words *w)
{
	machine_words(t, w, "run");
	words_copy(w, &t->keys);
	if (t->has_plan)
		words_add(w, "--faults=%s", t->plan);
	words_add(w, "--seed=%" PRIu64, t->seed % 1000);
	words_add(w, "--json");
}

/* --- faults --- */

static void write_part(FILE *f, struct trial *t)
{
	struct dice *d = &t->dice;
	unsigned node = (unsigned)draw(d, t->n_nodes);

	switch (draw(d, 7)) {
	case 0:
		fprintf(f, "node %u", node);
		break;
	case 5: /* one of parallel links, between routers with nodes */
		fprintf(f, "link %u,0,%u %c+%u", (unsigned)draw(d, 2),
			(unsigned)draw(d, 2), 'x' + (int)draw(d, 3),
			(unsigned)draw(d, 4));
		break;
	case 6:
		fprintf(f, "lane 0,%u,0 %c-%u %u", (unsigned)draw(d, 2),
			'x' + (int)draw(d, 3), (unsigned)draw(d, 4),
			(unsigned)draw(d, 3));
		break;
	case 1:
		fprintf(f, "switch %u.%u", 1 + (unsigned)draw(d, 2),
			(unsigned)draw(d, 4));
		break;
	case 2:
		fprintf(f, "link %u", node);
		break;
	case 3:
		fprintf(f, "link %u.%u up %u", 1 + (unsigned)draw(d, 2),
			(unsigned)draw(d, 4), (unsigned)draw(d, 3));
		break;
	default:
		fprintf(f, "link %u %c%c", node, 'A' + (int)draw(d, 3),
			draw(d, 2) ? '+' : '-');
	}
}

static void write_events(FILE *f, struct trial *t)
{
	uint64_t n = draw(&t->dice, 4);

	if (n)
		fputs("  events:\n", f);
	while (n--) {
		struct dice before;
		uint64_t ns = draw(&t->dice, 4) ? draw(&t->dice, 30000) : 0;

		before = t->dice;
		fprintf(f, "    - %" PRIu64 " ns ", ns);
		write_part(f, t);
		fputs(" dies\n", f);
		if (!draw(&t->dice, 4))
			continue;
		t->dice = before;
		fprintf(f, "    - %" PRIu64 " ns ",
			ns + 1 + draw(&before, 30000));
		write_part(f, t);
		fputs(" returns\n", f);
	}
}

/* A part that leaves is one of a router, or of several. */
static void write_leaving(FILE *f, struct trial *t)
{
	fprintf(f, "%s %u,%u,%u leaves\n", draw(&t->dice, 3) ? "chip" : "board",
		(unsigned)draw(&t->dice, 2), (unsigned)draw(&t->dice, 2),
		(unsigned)draw(&t->dice, 2));
}

static void write_event(FILE *f, struct trial *t, unsigned kind)
{
	struct dice before;
	uint64_t ns = draw(&t->dice, 30000);

	fprintf(f, "    - %" PRIu64 " ns ", ns);
	if (kind == FAULT_LEAVES) {
		write_leaving(f, t);
		return;
	}
	before = t->dice;
	write_part(f, t);
	fputs(" dies\n", f);
	if (kind != FAULT_RETURNS)
		return;
	t->dice = before;
	fprintf(f, "    - %" PRIu64 " ns ", ns + 10000);
	write_part(f, t);
	fputs(" returns\n", f);
}

static void write_faults(FILE *f, struct trial *t, unsigned set)
{
	fputs("schema: 1\nfaults:\n", f);
	if (set >> FAULT_BITS & 1)
		fprintf(f, "  bit-errors: 1e-%d\n", 3 + (int)draw(&t->dice, 4));
	if (set >> FAULT_CHIPS & 1)
		fprintf(f, "  chips: 1e-%d\n", 2 + (int)draw(&t->dice, 3));
	if (set >> FAULT_MEMORIES & 1)
		fprintf(f, "  memories: [1e-3, double 1e-%d]\n",
			2 + (int)draw(&t->dice, 4));
	if (set >> FAULT_EVENTS)
		fputs("  events:\n", f);
	for (unsigned k = FAULT_EVENTS; k < N_FAULTS; k++)
		if (set >> k & 1)
			write_event(f, t, k);
}

bool make_faults(struct trial *t, unsigned set)
{
	for (int i = 0; i < 6; i++) {
		FILE *f = fopen(t->plan, "w");
		struct words w = { 0 };
		struct outcome o;

		if (!f)
			return false;
		write_faults(f, t, set);
		fclose(f);
		t->has_plan = true;
		run_words(t, &w);
		o = try(t, &w, NULL);
		t->has_plan = o.code != 2;
		outcome_free(&o);
		words_free(&w);
		if (t->has_plan)
			return true;
	}
	return false;
}

/* A plan that the machine takes, if one of a few is. */
void make_plan(struct trial *t)
{
	for (int i = 0; i < 4; i++) {
		FILE *f = fopen(t->plan, "w");

		if (!f)
			return;
		fprintf(f,
			"schema: 1\nfaults:\n  bit-errors: %" PRIu64 "e-%d\n",
			draw(&t->dice, 10), 4 + (int)draw(&t->dice, 6));
		write_events(f, t);
		fclose(f);
		t->has_plan = true;
		if (!is_refused(t))
			return;
		t->has_plan = false;
	}
}
