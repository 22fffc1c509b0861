/* `weft new`: a machine file to begin with, like one that there is. */
#define _XOPEN_SOURCE 700
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "machine/machine.h"
#include "out/file.h"

enum { MOST_ROWS = 512, COLUMNS = 78 };

/* A row of a section that goes into the file. */
struct line {
	const struct param_block *block;
	const struct param *row;
	bool is_done;
};

struct page {
	const char *path;
	FILE *file;
	struct line line[MOST_ROWS];
	size_t n;
};

/* Words, as a comment of lines that are not too long. */
static void print_comment(FILE *f, int indent, const char *text)
{
	int at = fprintf(f, "%*s#", indent, "");

	while (*text) {
		int n = (int)strcspn(text, " ");

		if (at + 1 + n > COLUMNS)
			at = fprintf(f, "\n%*s#", indent, "") - 1;
		at += fprintf(f, " %.*s", n, text);
		text += n + (text[n] == ' ');
	}
	fputc('\n', f);
}

/*
 * A path is relative to the directory of the file that names it: if the new
 * file is in another one, it names the whole path.
 */
static void place_path(const char *page, char *text)
{
	char whole[PATH_MAX];

	if (strchr(page, '/') && *text && *text != '/' &&
		realpath(text, whole) && strlen(whole) < PARAM_TEXT_MAX)
		memcpy(text, whole, strlen(whole) + 1);
}

static void print_value(FILE *f, const struct line *l, const char *page)
{
	char text[PARAM_TEXT_MAX];
	int64_t rate;

	param_format(l->block, l->row, text, sizeof(text));
	if (l->row->type == PARAM_PATH)
		place_path(page, text);
	if (l->row->type == PARAM_RATE) {
		memcpy(&rate, (char *)l->block->values + l->row->offset,
			sizeof(rate));
		if (rate && rate % 12500000 == 0)
			snprintf(text, sizeof(text), "%.10g Gb/s",
				(double)rate * 8 / 1e9);
	}
	fprintf(f,
		l->row->type == PARAM_TEXT || l->row->type == PARAM_PATH
			? " \"%s\"\n"
			: " %s\n",
		text);
}

/* Whether names of other rows go on behind one: retry, and retry.window. */
static bool goes_on(const struct page *p, const char *prefix)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strncmp(p->line[i].row->name, prefix, strlen(prefix)))
			return true;
	return false;
}

/* Rows whose names begin with some components, as nested maps. */
static void print_rows(struct page *p, const char *prefix, int indent)
{
	size_t n = strlen(prefix), i;
	char inner[PARAM_TEXT_MAX];

	for (i = 0; i < p->n; i++) {
		struct line *l = &p->line[i];
		const char *name;
		int k;

		if (l->is_done || strncmp(l->row->name, prefix, n) != 0)
			continue;
		name = l->row->name + n;
		k = (int)strcspn(name, ".");
		snprintf(inner, sizeof(inner), "%s%.*s.", prefix, k, name);
		if (name[k]) {
			fprintf(p->file, "%*s%.*s:\n", indent, "", k, name);
			print_rows(p, inner, indent + 2);
			continue;
		}
		l->is_done = true;
		print_comment(p->file, indent, l->row->help);
		fprintf(p->file, "%*s%s:", indent, "", name);
		if (goes_on(p, inner))
			fprintf(p->file, "\n%*svalue:", indent + 2, "");
		print_value(p->file, l, p->path);
		print_rows(p, inner, indent + 2);
	}
}

/* What the machine sets, and all of its topology. */
static void add_rows(
	struct page *p, const struct machine *m, const struct param_block *b)
{
	bool is_topo = b->values == m->topo && !strcmp(b->section, "topology");

	for (size_t i = 0; i < b->n_rows && p->n < MOST_ROWS; i++)
		if (b->rows[i].type != PARAM_LINES &&
			(b->origins[i].set || is_topo))
			p->line[p->n++] =
				(struct line){ b, &b->rows[i], false };
}

static void print_section(struct page *p, const struct machine *m, size_t first)
{
	const char *section = m->block[first].section;

	p->n = 0;
	for (size_t i = 0; i < m->n_blocks; i++) {
		if (strcmp(m->block[i].section, section) != 0)
			continue;
		if (i < first)
			return; /* it has been printed */
		if (machine_uses(m, i))
			add_rows(p, m, &m->block[i]);
	}
	if (!p->n)
		return;
	fprintf(p->file, "\n%s:\n", section);
	print_rows(p, "", 2);
}

/* "my" of "dir/my.yaml". */
static void name_of(const char *path, char *name, size_t size)
{
	const char *slash = strrchr(path, '/');

	snprintf(name, size, "%s", slash ? slash + 1 : path);
	if (strrchr(name, '.'))
		*strrchr(name, '.') = '\0';
}

/* A text in single quotes, in which one is written twice. */
static void print_caveat(const struct page *p, const char *text)
{
	if (!*text)
		return;
	fputs("caveat: '", p->file);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', p->file);
		fputc(*text, p->file);
	}
	fputs("'\n", p->file);
}

static void print(struct page *p, const struct machine *m, const char *path)
{
	char name[PARAM_TEXT_MAX];

	name_of(path, name, sizeof(name));
	fprintf(p->file,
		"# A machine that starts as a copy of %s.  `weft show %s` "
		"describes it,\n# `weft check` proves that it cannot deadlock, "
		"`weft params` lists all\n# parameters (man "
		"weft-own).\nschema: 1\nmachine: %s\ntitle: \"like %s\"\n",
		m->header.name, path, name, m->header.name);
	print_caveat(p, m->header.caveat);
	for (size_t i = 0; i < m->n_blocks; i++)
		print_section(p, m, i);
}

static int write_file(const struct machine *m, const char *path, struct err *e)
{
	struct out_file f;
	struct page *p;

	if (out_file_open(&f, path, &out_machine, e))
		return -1;
	p = mem_alloc(1, sizeof(*p));
	p->path = path;
	p->file = f.stream;
	print(p, m, path);
	mem_free(p);
	return out_file_close(&f, e);
}

static int perform(const struct cli_args *a, struct err *e)
{
	struct machine *m = cli_machine(a, e);
	int code = m ? write_file(m, a->word[1], e) : -1;

	machine_free(m);
	return code;
}

const struct cli_command cli_new = { .name = "new",
	.brief = "write a machine file to start from",
	.takes = CLI_MACHINE,
	.usage = "MACHINE FILE",
	.help = "Writes a machine file to start from, with the values of "
		"another machine.",
	.words = { 2, 2 },
	.want = "want a machine and a file, as in `weft new torus my.yaml`",
	.run = perform };
