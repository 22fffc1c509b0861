#define _GNU_SOURCE /* strtok_r() */
#include "testing/trial_testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "machine/facts.h"

enum { MOST_WORDS = 32 };

/* The words of a text, which is cut; a word with a dot before its "=" is a
 * parameter. */
static void read_words(char *text, struct machine_run_setup *s,
	const char **keys, const char **sets)
{
	char *rest = NULL, *word = strtok_r(text, " ", &rest);

	s->workload = word;
	while ((word = strtok_r(NULL, " ", &rest))) {
		assert_true(s->n_keys < MOST_WORDS &&
			    s->machine.n_sets < MOST_WORDS);
		if (memchr(word, '.', strcspn(word, "=")))
			sets[s->machine.n_sets++] = word;
		else
			keys[s->n_keys++] = word;
	}
	s->keys = keys;
	s->machine.sets = sets;
}

bool machine_run_figure(
	const struct machine_run *r, const char *name, double *value)
{
	const struct fact *x;
	struct facts all;
	bool is;

	facts_init(&all);
	facts_of_figures(&all, r);
	x = facts_find(&all.root, name);
	is = x && fact_number(x, value);
	facts_fini(&all);
	return is;
}

void trial_open(struct trial *t, const char *machine, const char *line)
{
	const char *keys[MOST_WORDS], *sets[MOST_WORDS];
	struct machine_run_setup s = { .seed = 1, .threads = 1 };
	size_t n = strlen(machine) + 1;

	*t = (struct trial){ .run = mem_alloc(1, sizeof(*t->run)) };
	assert_true(n + strlen(line) < sizeof(t->text));
	snprintf(t->text, sizeof(t->text), "%s", machine);
	snprintf(t->text + n, sizeof(t->text) - n, "%s", line);
	s.machine.name = t->text;
	if (strchr(machine, ' ')) {
		s.machine.shape = strchr(t->text, ' ') + 1;
		*strchr(t->text, ' ') = '\0';
	}
	read_words(t->text + n, &s, keys, sets);
	if (!machine_run_open(t->run, &s, &t->e))
		machine_run_perform(t->run, &t->e);
}

void trial_close(struct trial *t)
{
	machine_run_close(t->run);
	mem_free(t->run);
}

bool trial_has(const struct trial *t, const char *name)
{
	double value;

	return machine_run_figure(t->run, name, &value);
}

double trial_figure(const struct trial *t, const char *name)
{
	double value = 0;

	if (t->e.code || t->run->result.ending != LOAD_FINISHED)
		fail_msg("%s: %s", t->text, t->e.text);
	if (!machine_run_figure(t->run, name, &value))
		fail_msg("%s: no figure %s", t->text, name);
	return value;
}

double trial(const char *machine, const char *line, const char *name)
{
	struct trial t;
	double value;

	trial_open(&t, machine, line);
	value = trial_figure(&t, name);
	trial_close(&t);
	return value;
}

void trial_fails(
	const char *machine, const char *line, int code, const char *text)
{
	struct trial t;

	trial_open(&t, machine, line);
	if (t.e.code != code || !strstr(t.e.text, text))
		fail_msg("%s %s: code %d, not %d with \"%s\": %s", machine,
			line, t.e.code, code, text, t.e.text);
	trial_close(&t);
}

void trial_refused(const char *machine, const char *line, const char *text)
{
	trial_fails(machine, line, EXIT_BAD_INPUT, text);
}

void trial_same(double a, double b)
{
	if (fabs(a - b) > 1e-9 * fabs(b))
		fail_msg("%.12g is not %.12g", a, b);
}

const char *trial_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return name;
}
