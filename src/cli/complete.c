/*
 * `weft complete WORD...` is what the shells' completions call: it prints what
 * can stand in place of the last word, a line each, with a tab and what it
 * means.  Nothing is listed here: options and what a command wants come from
 * the tables and the usage that --help prints, names from where they are used.
 */
#include "cli/complete.h"

#include <string.h>

#include "cli/cli.h"
#include "load/load.h"
#include "load/replay/make.h"
#include "machine/machine.h"
#include "paper/paper.h"

enum { NAME_SIZE = 256 };

/* A command line up to the word that is typed. */
struct line {
	const char *typed;
	const char *word[CLI_MAX_WORDS]; /* before it, without options */
	size_t n_words;
	const char *load; /* the command's own workload, or NULL */
	const struct argp_option *option; /* whose value is typed, or NULL */
};

void cli_offer(const char *typed, const char *word, const char *help)
{
	if (!strncmp(typed, word, strlen(typed)))
		printf("%s\t%.*s\n", word, (int)strcspn(help, "\n"), help);
}

static const struct argp_option *find_option(
	const struct argp_option *o, const char *word)
{
	for (; o->name; o++)
		if ((word[1] == '-' && !strcmp(o->name, word + 2)) ||
			(word[1] == o->key && !word[2]))
			return o;
	return NULL;
}

static struct line read_line(
	const struct argp_option *options, char **word, size_t n)
{
	struct line l = { .typed = n ? word[n - 1] : "" };

	for (size_t i = 0; i + 1 < n; i++) {
		l.option = NULL;
		if (word[i][0] != '-') {
			if (l.n_words < CLI_MAX_WORDS)
				l.word[l.n_words++] = word[i];
			continue;
		}
		l.option = find_option(options, word[i]);
		if (l.option && !l.option->arg)
			l.option = NULL;
		if (l.option && i + 2 < n) {
			l.option = NULL;
			i++;
		}
	}
	return l;
}

static void offer_options(const struct argp_option *o, const char *typed)
{
	char name[NAME_SIZE];

	for (; o->name; o++) {
		char letter[] = { '-', (char)o->key, '\0' };

		if (!o->doc)
			continue;
		snprintf(name, sizeof(name), "--%s", o->name);
		cli_offer(typed, name, o->doc);
		if (o->key < 128)
			cli_offer(typed, letter, o->doc);
	}
}

/* --- parameters and keys --- */

/* "name=", or with that its words. */
static void offer_row(
	const char *typed, const char *section, const struct param *row)
{
	const char *words = row->type == PARAM_FLAG ? "yes|no" : row->words;
	char name[NAME_SIZE], word[2 * NAME_SIZE];
	size_t n = (size_t)snprintf(name, sizeof(name), "%s%s%s=", section,
		*section ? "." : "", row->name);

	if (strncmp(typed, name, n) != 0) {
		cli_offer(typed, name, row->help);
		return;
	}
	while (words && *words) {
		size_t len = strcspn(words, "|");

		snprintf(word, sizeof(word), "%s%.*s", name, (int)len, words);
		cli_offer(typed, word, "");
		words += len + (words[len] == '|');
	}
}

static void offer_rows(const char *typed, const char *section,
	const struct param *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		offer_row(typed, section, &rows[i]);
}

static void offer_params(const struct line *l)
{
	struct err none = { 0 };
	struct machine *m = l->n_words ? machine_look(l->word[0], &none) : NULL;

	if (!m)
		m = machine_default();
	for (size_t i = 0; i < m->n_blocks; i++)
		if (machine_uses(m, i))
			offer_rows(l->typed, m->block[i].section,
				m->block[i].rows, m->block[i].n_rows);
	machine_free(m);
}

/* Of the workload or pattern that was named before. */
static void offer_keys(const struct line *l)
{
	const struct goal_pattern *p = goal_patterns;

	for (size_t i = 0; i < l->n_words; i++) {
		const struct load_ops *ops =
			load_find(l->load ? l->load : l->word[i]);

		if (ops)
			offer_rows(l->typed, "", ops->params, ops->n_params);
	}
	for (; p->name; p++)
		if (l->n_words && !strcmp(l->word[0], p->name))
			offer_rows(l->typed, "", p->params, p->n_params);
}

/* --- names --- */

/* Behind those that were typed before, with a comma. */
static void on_machine(void *line, const char *name, const char *path)
{
	const char *typed = ((const struct line *)line)->typed;
	const char *comma = strrchr(typed, ',');
	struct err none = { 0 };
	struct machine *m = machine_look(path, &none);
	char word[2 * NAME_SIZE];

	snprintf(word, sizeof(word), "%.*s%s",
		comma ? (int)(comma - typed + 1) : 0, typed, name);
	cli_offer(typed, word, m ? m->header.title : "");
	machine_free(m);
}

static void offer_loads(const char *typed)
{
	for (size_t i = 0; load_registry[i]; i++)
		cli_offer(
			typed, load_registry[i]->name, load_registry[i]->help);
}

static void offer_papers(const char *typed)
{
	struct err none = { 0 };
	struct machine_files *all = paper_files(&none);

	for (size_t i = 0; i < all->n; i++) {
		struct paper_system *s = paper_read(all->path[i], &none);

		cli_offer(typed, all->name[i], s ? s->title : "");
		paper_free(s);
	}
	machine_files_free(all);
}

static void offer_patterns(const char *typed)
{
	for (const struct goal_pattern *p = goal_patterns; p->name; p++)
		cli_offer(typed, p->name, p->help);
}

/* A word of a usage, or one that stands for others. */
static void offer_meant(const struct line *l, const char *meant)
{
	struct line copy = *l;
	struct err none = { 0 };

	if (!strcmp(meant, "MACHINE"))
		machine_list(on_machine, &copy, &none);
	else if (!strcmp(meant, "WORKLOAD"))
		offer_loads(l->typed);
	else if (!strcmp(meant, "SYSTEM"))
		offer_papers(l->typed);
	else if (!strcmp(meant, "PATTERN"))
		offer_patterns(l->typed);
	else if (!strncmp(meant, "KEY=", 4))
		offer_keys(l);
	else if (*meant >= 'a' && *meant <= 'z')
		cli_offer(l->typed, meant, "");
}

/* Whether words of a command follow: not options, or a program behind --. */
static bool has_more(const char *usage)
{
	return *usage && strncmp(usage, " -", 2) != 0 &&
	       strncmp(usage, " [-", 3) != 0;
}

/* The part of a usage that a word stands for; the last one may be repeated. */
static void offer_words(const struct line *l, const char *usage)
{
	size_t i = 0, n = strcspn(usage, " ");
	char text[NAME_SIZE], *save = NULL;

	while (i < l->n_words && has_more(usage + n)) {
		usage += n + 1;
		n = strcspn(usage, " ");
		i++;
	}
	if (i < l->n_words && (n < 3 || !memchr(usage, '.', n)))
		return;
	snprintf(text, sizeof(text), "%.*s", (int)n, usage);
	for (char *meant = strtok_r(text, "[]|.,", &save); meant;
		meant = strtok_r(NULL, "[]|.,", &save)) {
		offer_meant(l, meant);
		if (memchr(usage, ',', n))
			break; /* MACHINE[,MACHINE...] */
	}
}

void cli_complete(const struct argp_option *options,
	const struct cli_command *c, char **word, size_t n)
{
	struct line l = read_line(options, word, n);

	l.load = c->load;
	if (l.option && !strcmp(l.option->arg, "PATH=VALUE"))
		offer_params(&l);
	else if (l.option)
		return;
	else if (*l.typed == '-')
		offer_options(options, l.typed);
	else
		offer_words(&l, c->usage);
}
