/* Reads papers/SYSTEM.yaml (paper.h). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/name.h"
#include "machine/tree.h"
#include "paper/paper.h"

/* A system with the file that its texts belong to. */
struct file {
	struct paper_system is; /* first */
	struct tree tree;
	struct paper_experiment *experiment;
	char **words; /* [experiment]: its command, cut into words */
	char **plans; /* [experiment]: the path of its plan of faults, or NULL
		       */
	struct paper_row *row;
	struct paper_missing *missing;
	size_t notes; /* a node, or 0 */
};

static int fail(const struct file *f, size_t at, const char *what)
{
	return tree_fail(&f->tree, f->tree.v[at].at, "%s", what);
}

/* --- experiments --- */

/* Cuts the first word off a command; quotes keep spaces together.  NULL: there
 * is none. */
static char *cut_word(char **rest)
{
	char *s = *rest + strspn(*rest, " ");
	bool is_quoted = *s == '\'';
	char *end = s + is_quoted;

	if (!*s)
		return NULL;
	s = end;
	end += strcspn(end, is_quoted ? "'" : " ");
	*rest = *end ? end + 1 : end;
	*end = '\0';
	return s;
}

/* Adds a word to a list that ends with a NULL or with the array. */
static bool add_word(const char **list, const char *word)
{
	size_t n = 0;

	while (n < PAPER_MAX_WORDS && list[n])
		n++;
	if (n < PAPER_MAX_WORDS)
		list[n] = word;
	return word && n < PAPER_MAX_WORDS;
}

static bool read_command(struct paper_experiment *x, char *text)
{
	char *word = cut_word(&text), *how = cut_word(&text);
	bool is_run = how && !strcmp(how, "run"), is_good = true;

	if (!word || strcmp(word, "weft") != 0 || !how ||
		(!is_run && strcmp(how, "show") != 0))
		return false;
	while ((word = cut_word(&text)) && is_good) {
		if (!strcmp(word, "--shape"))
			is_good = (x->shape = cut_word(&text)) != NULL;
		else if (!strcmp(word, "--set"))
			is_good = add_word(x->sets, cut_word(&text));
		else if (!strcmp(word, "--faults"))
			is_good = (x->faults = cut_word(&text)) != NULL;
		else if (!x->machine)
			x->machine = word;
		else if (is_run && !x->workload)
			x->workload = word;
		else
			is_good = is_run && add_word(x->keys, word);
	}
	return is_good && x->machine && (!is_run || x->workload);
}

static int read_experiments(struct file *f, size_t map, enum paper_pace pace)
{
	const struct node *v = f->tree.v;

	for (size_t k = map + 1; map && k < v[map].end; k = v[v[k].end].end) {
		size_t i = f->is.n_experiments++;
		struct paper_experiment *x = &f->experiment[i];

		x->name = tree_text(&f->tree, k);
		x->command = tree_text(&f->tree, v[k].end);
		x->pace = pace;
		f->words[i] = mem_text(x->command ? x->command : "");
		if (!x->name || !read_command(x, f->words[i]))
			return fail(f, k,
				"want a name and a command, `weft run MACHINE "
				"WORKLOAD ...` or `weft show MACHINE ...`");
	}
	return 0;
}

/* --- rows --- */

enum {
	ID,
	WHAT,
	UNIT,
	KIND,
	OF,
	OVER,
	LESS,
	TIMES,
	REPEATS,
	NOTE,
	NEAR, /* and those behind it: enum paper_rule */
	N_KEYS = NEAR + 4,
};

static const char *const row_keys[] = { "id", "what", "unit", "kind", "of",
	"over", "less", "times", "repeats", "note", "near", "at-least",
	"at-most", "more-than", NULL };

static int read_formula(
	const struct file *f, size_t at, struct paper_formula *m)
{
	const char *wrong = paper_formula_read(
		m, tree_text(&f->tree, at), f->experiment, f->is.n_experiments);

	return wrong ? fail(f, at, wrong) : 0;
}

/* The ratio to a second value, or the difference. */
static int read_second(
	const struct file *f, const size_t *x, struct paper_formula *m)
{
	if (read_formula(f, x[OVER] ? x[OVER] : x[LESS], m))
		return -1;
	paper_formula_add(m, x[OVER] ? PAPER_RATIO : PAPER_DIFFERENCE, 0);
	return 0;
}

/* The model's value. */
static int read_model(
	const struct file *f, size_t at, const size_t *x, struct paper_row *row)
{
	struct paper_formula *m = &row->model;
	double scale = 1, over = 1;

	if (x[TIMES] && !sscanf(tree_text(&f->tree, x[TIMES]), "%lf/%lf",
				&scale, &over))
		return fail(f, x[TIMES], "want a number, or two as in 100/36");
	if (!x[OF] || (x[OVER] && x[LESS]))
		return fail(f, at,
			"want the model's value: of, and over or less for a "
			"second figure");
	if (read_formula(f, x[OF], m) ||
		((x[OVER] || x[LESS]) && read_second(f, x, m)))
		return -1;
	paper_formula_add(m, PAPER_NUMBER, scale / over);
	paper_formula_add(m, PAPER_PRODUCT, 0);
	return 0;
}

/* The paper's value: "911 within 1.5 %", "66 within 4 points"; of an order only
 * the number. */
static int read_value(
	const struct file *f, size_t at, const size_t *x, struct paper_row *row)
{
	static const enum paper_rule rules[] = { PAPER_PERCENT, PAPER_AT_LEAST,
		PAPER_AT_MOST, PAPER_MORE };
	char unit[8] = "";
	uint32_t n = 0;
	int read = 0;

	for (uint32_t i = 0; i < 4; i++) {
		if (!x[NEAR + i])
			continue;
		n++;
		row->rule = rules[i];
		read = sscanf(tree_text(&f->tree, x[NEAR + i]),
			"%lf within %lf %7s", &row->paper, &row->tolerance,
			unit);
	}
	if (n != (row->kind != PAPER_QUALITATIVE))
		return fail(f, at,
			"want one of near, at-least, at-most and more-than, "
			"and none if the kind is qualitative");
	if (row->rule == PAPER_PERCENT && !strcmp(unit, "points"))
		row->rule = PAPER_POINTS;
	if (n && read != (row->rule == PAPER_MORE ? 1 : 3))
		return fail(f, at,
			"want a value with its tolerance, as in 911 within "
			"1.5 % or 66 within 4 points");
	return 0;
}

static int read_kind(const struct file *f, size_t at, struct paper_row *row)
{
	const char *kind = tree_text(&f->tree, at);

	for (uint32_t i = 0; kind && i < N_PAPER_KINDS; i++)
		if (!strcmp(paper_kind_names[i], kind)) {
			row->kind = (enum paper_kind)i;
			return 0;
		}
	return fail(f, at,
		"kind: want predicted, calibrated, arithmetic, functional or "
		"qualitative");
}

/* A note of several rows by its name, or the text itself. */
static const char *find_note(const struct file *f, const char *note)
{
	const struct node *v = f->tree.v;

	for (size_t k = f->notes + 1; note && f->notes && k < v[f->notes].end;
		k = v[v[k].end].end)
		if (v[k].text && !strcmp(v[k].text, note))
			return v[v[k].end].text;
	return note;
}

static int read_row(struct file *f, size_t at)
{
	struct paper_row *row = &f->row[f->is.n_rows++];
	size_t x[N_KEYS] = { 0 };

	if (tree_keys(&f->tree, at, row_keys, N_KEYS, x))
		return -1;
	row->id = tree_text(&f->tree, x[ID]);
	row->what = tree_text(&f->tree, x[WHAT]);
	row->unit = tree_text(&f->tree, x[UNIT]);
	row->repeats = tree_text(&f->tree, x[REPEATS]);
	row->note = find_note(f, tree_text(&f->tree, x[NOTE]));
	if (!row->id || !row->what || !row->unit ||
		strncmp(row->id, f->is.prefix, strlen(f->is.prefix)) != 0)
		return fail(f, at,
			"want what, unit, and an id that begins with the "
			"prefix");
	return read_kind(f, x[KIND], row) || read_value(f, at, x, row) ||
			       read_model(f, at, x, row)
		       ? -1
		       : 0;
}

/* A row follows from one that is there, and not from itself. */
static int check_repeats(const struct file *f, size_t list)
{
	const struct paper_row *row = f->row, *last = row + f->is.n_rows, *of;
	size_t n;

	for (; row < last; row++) {
		for (n = 0, of = row; of && of->repeats && n < f->is.n_rows;
			n++)
			of = paper_row(&f->is, of->repeats);
		if (!of || of->repeats)
			return fail(f, list,
				"a row repeats one that does not exist, or "
				"itself");
	}
	return 0;
}

/* --- files --- */

/* "54-55: MPI" */
static int read_missing(struct file *f, size_t map)
{
	const struct node *v = f->tree.v;

	for (size_t k = map + 1; map && k < v[map].end; k = v[v[k].end].end) {
		struct paper_missing *m = &f->missing[f->is.n_missing++];
		const char *numbers = tree_text(&f->tree, k);
		int n = numbers ? sscanf(numbers, "%u-%u", &m->first, &m->last)
				: 0;

		m->what = tree_text(&f->tree, v[k].end);
		if (n < 1 || !m->what)
			return fail(f, k,
				"want numbers and a text, as in "
				"54-55: MPI");
		if (n == 1)
			m->last = m->first;
	}
	return 0;
}

enum {
	SCHEMA,
	PAPER,
	TITLE,
	CITATION,
	PREFIX,
	ROWS,
	EXPERIMENTS, /* maps, from here on */
	SLOW,
	LONG,
	NOTES,
	MISSING,
	N_HEAD,
};

static int read_head(const struct file *f, size_t *x)
{
	static const char *const keys[] = { "schema", "paper", "title",
		"citation", "prefix", "rows", "experiments", "slow", "long",
		"notes", "missing", NULL };
	const struct node *v = f->tree.v;

	if (tree_keys(&f->tree, 0, keys, ROWS, x))
		return -1;
	for (size_t i = SCHEMA; i <= ROWS; i++)
		if (!x[i])
			return fail(f, 0,
				"want schema, paper, title, citation, prefix "
				"and rows");
	if (strcmp(v[x[SCHEMA]].text, "1") != 0 || v[x[ROWS]].kind != NODE_LIST)
		return fail(f, 0, "want schema: 1, and a list of rows");
	for (size_t i = EXPERIMENTS; i < N_HEAD; i++)
		if (x[i] && v[x[i]].kind != NODE_MAP)
			return fail(f, x[i], "want keys and values");
	return 0;
}

static int read_rows(struct file *f, size_t list)
{
	const struct node *v = f->tree.v;

	for (size_t i = list + 1; i < v[list].end; i = v[i].end)
		if (read_row(f, i))
			return -1;
	return check_repeats(f, list);
}

static int read_all(struct file *f)
{
	const struct tree *t = &f->tree;
	size_t x[N_HEAD] = { 0 }, n;

	if (read_head(f, x))
		return -1;
	n = tree_length(t, x[EXPERIMENTS]) + tree_length(t, x[SLOW]) +
	    tree_length(t, x[LONG]);
	f->experiment = mem_alloc(n, sizeof(*f->experiment));
	f->words = mem_alloc(n, sizeof(*f->words));
	f->plans = mem_alloc(n, sizeof(*f->plans));
	f->row = mem_alloc(tree_length(t, x[ROWS]), sizeof(*f->row));
	f->missing = mem_alloc(tree_length(t, x[MISSING]), sizeof(*f->missing));
	f->notes = x[NOTES];
	f->is = (struct paper_system){
		.name = t->v[x[PAPER]].text,
		.title = t->v[x[TITLE]].text,
		.citation = t->v[x[CITATION]].text,
		.prefix = t->v[x[PREFIX]].text,
		.experiments = f->experiment,
		.rows = f->row,
		.missing = f->missing,
	};
	return read_experiments(f, x[EXPERIMENTS], PAPER_QUICK) ||
			       read_experiments(f, x[SLOW], PAPER_SLOW) ||
			       read_experiments(f, x[LONG], PAPER_LONG) ||
			       read_missing(f, x[MISSING]) ||
			       read_rows(f, x[ROWS])
		       ? -1
		       : 0;
}

/* Plans of faults are given as seen from the folder above that of papers. */
static void find_plans(struct file *f, const char *path)
{
	const char *end = strrchr(path, '/');
	int n = end ? (int)(end + 1 - path) : 0;

	for (size_t i = 0; i < f->is.n_experiments; i++) {
		struct paper_experiment *x = &f->experiment[i];
		size_t size =
			strlen(path) + 8 + strlen(x->faults ? x->faults : "");

		if (!x->faults || *x->faults == '/')
			continue;
		f->plans[i] = mem_alloc(size, 1);
		snprintf(f->plans[i], size, "%.*s../%s", n, path, x->faults);
		if (!access(f->plans[i], R_OK))
			x->faults = f->plans[i];
	}
}

struct paper_system *paper_read(const char *path, struct err *e)
{
	struct file *f = mem_alloc(1, sizeof(*f));

	f->tree.e = e;
	if (!tree_read_file(&f->tree, path) && !read_all(f)) {
		find_plans(f, path);
		return &f->is;
	}
	paper_free(&f->is);
	return NULL;
}

void paper_free(struct paper_system *s)
{
	struct file *f = (struct file *)s;

	if (!f)
		return;
	for (size_t i = 0; i < f->is.n_experiments; i++) {
		mem_free(f->words[i]);
		mem_free(f->plans[i]);
	}
	mem_free(f->words);
	mem_free(f->plans);
	for (size_t i = 0; i < f->is.n_rows; i++)
		paper_formula_fini(&f->row[i].model);
	mem_free(f->experiment);
	mem_free(f->row);
	mem_free(f->missing);
	tree_free(&f->tree);
	mem_free(f);
}

/* --- all that there are --- */

struct machine_files *paper_files(struct err *e)
{
	struct machine_files *f = machine_files_new("WEFT_PAPERS", "papers");

	if (!f->n)
		err_set(e,
			"no papers found; set WEFT_PAPERS to their directory");
	return f;
}

struct paper_system *paper_find(const char *name, struct err *e)
{
	struct machine_files *all = paper_files(e);
	const char *path = machine_files_find(all, name);
	struct paper_system *s = path ? paper_read(path, e) : NULL;
	char hint[NAME_HINT];

	if (!path)
		err_set(e, "no paper is called \"%.40s\"%s", name,
			name_hint(name, (const char *const *)all->name, all->n,
				"; `weft help paper` lists them", hint));
	machine_files_free(all);
	return s;
}
