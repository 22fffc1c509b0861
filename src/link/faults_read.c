/* Reads a plan of faults from its lines. */
#define _POSIX_C_SOURCE 200809L
#include "link/faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "base/order.h"
#include "base/units.h"

enum {
	DIGITS = 18, /* of a rate, behind the point */
	MOST_POWER = 100, /* of ten */
	MOST_WORDS = 12,
	MOST_EVENTS = 100000,
	MOST_LINES = 1000,
	MOST_KINDS = 24,
	MOST_SKEW = 1000000, /* ps */
	NAME_MAX = 96,
};

#define MOST_RATE UINT64_C(10000000000000000)

/* One line while it is read. */
struct line {
	const struct param_line *from;
	const struct topo *topo;
	const struct fault_plan *plan;
	struct part_names *names;
	struct err *e;
	char *text;
	char *word[MOST_WORDS];
	size_t n;
};

__attribute__((format(printf, 2, 3))) static int fail(
	const struct line *l, const char *format, ...)
{
	char text[sizeof(l->e->text)];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return fault_refuse(l->from->place, l->from->text, text, l->e);
}

static int open_line(struct line *l, const struct param_line *from)
{
	char *save = NULL;

	mem_free(l->text);
	l->text = mem_text(from->text);
	l->from = from;
	l->n = 0;
	for (char *s = strtok_r(l->text, " ", &save); s;
		s = strtok_r(NULL, " ", &save)) {
		if (l->n == MOST_WORDS)
			return fail(l, "too many words");
		l->word[l->n++] = s;
	}
	return l->n ? 0 : fail(l, "the line is empty");
}

/* What there is, with what was probably meant. */
static int refuse_word(const struct line *l, const char *what, const char *word,
	const char *const *names, size_t n)
{
	char all[256] = "", hint[NAME_HINT];
	size_t used = 0;

	for (size_t i = 0; i < n && used < sizeof(all); i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
			i ? ", " : "", names[i]);
	return fail(l, "unknown %s \"%.40s\"%s (this machine has: %s)", what,
		word, name_hint(word, names, n, "", hint), all);
}

static void join(char *text, size_t size, char *const *word, size_t n)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
			i ? " " : "", word[i]);
}

/* --- rates --- */

/* Digits, a point among them and a power of ten, in units of 10^-18. */
static int read_rate(const struct line *l, const char *text, uint64_t *rate)
{
	const char *s = text;
	long places = DIGITS;
	bool behind = false;
	uint64_t v = 0;
	size_t n = 0;
	char *end;

	for (; (*s >= '0' && *s <= '9') || (*s == '.' && !behind); s++) {
		behind |= *s == '.';
		if (*s == '.')
			continue;
		if (++n > DIGITS)
			return fail(l, "\"%.40s\" has too many digits", text);
		v = 10 * v + (uint64_t)(*s - '0');
		places -= behind;
	}
	if (n && (*s == 'e' || *s == 'E') && s[1] && !strchr(" \t", s[1])) {
		long power = strtol(s + 1, &end, 10);

		places += power < -MOST_POWER  ? -MOST_POWER
			  : power > MOST_POWER ? MOST_POWER
					       : power;
		s = end;
	}
	if (!n || *s)
		return fail(l,
			"\"%.40s\" is not a bit error rate (want a number such "
			"as 1e-9 or 0.001)",
			text);
	for (; v && places > 0 && v <= MOST_RATE; places--)
		v *= 10;
	for (; v && places < 0 && v % 10 == 0; places++)
		v /= 10;
	if (v && places < 0)
		return fail(l, "%.40s is not a multiple of 1e-18", text);
	if (v > MOST_RATE || (v && places > 0))
		return fail(l, "%.40s is out of range (0 to 0.01)", text);
	*rate = v;
	return 0;
}

/* Whether a class of links, or all of them, or optical ones, are meant. */
static bool is_meant(const struct topo_wire *w, const char *class)
{
	return !*class || !strcmp(class, w->name) ||
	       (w->is_optical && !strcmp(class, "fibre"));
}

/* "[CLASS] RATE": the rate, and a bit for each class of links that has it. */
static int read_classes(struct line *l, uint64_t *rate, uint32_t *classes)
{
	const struct topo *t = l->topo;
	const char *names[TOPO_MAX_WIRES + 1];
	bool has_fibre = false;
	char class[NAME_MAX];

	*classes = 0;
	join(class, sizeof(class), l->word, l->n - 1);
	if (read_rate(l, l->word[l->n - 1], rate))
		return -1;
	for (uint32_t i = 0; i < t->n_wires; i++) {
		names[i] = t->wire[i].name;
		has_fibre |= t->wire[i].is_optical;
		if (is_meant(&t->wire[i], class))
			*classes |= 1u << i;
	}
	names[t->n_wires] = "fibre";
	return *classes ? 0
			: refuse_word(l, "class of links", class, names,
				  t->n_wires + has_fibre);
}

static int read_bit_errors(struct line *l, struct fault_plan *p)
{
	uint64_t rate = 0;
	uint32_t classes;

	if (read_classes(l, &rate, &classes))
		return -1;
	for (; classes; classes &= classes - 1)
		p->rate[__builtin_ctz(classes)] = rate;
	return 0;
}

/* "[CLASS] RATE BITS" */
static int read_bursts(struct line *l, struct fault_plan *p)
{
	struct fault_burst burst = { 0 };
	char *end = NULL;
	uint32_t classes;
	unsigned long bits;

	if (l->n < 2)
		return fail(l, "want a rate and a length in bits, for example "
			       "\"1e-10 40\"");
	bits = strtoul(l->word[--l->n], &end, 10);
	if (*end || bits < 1 || bits > FAULT_MOST_BURST)
		return fail(l, "the length of a burst is 1 to %d bits",
			FAULT_MOST_BURST);
	if (read_classes(l, &burst.rate, &classes))
		return -1;
	burst.length = (uint32_t)bits;
	for (; classes; classes &= classes - 1)
		p->burst[__builtin_ctz(classes)] = burst;
	return 0;
}

/* A line of chips or of memories: [0], or behind the word double [1]. */
static int read_inner(struct line *l, uint64_t *rate, uint32_t n)
{
	bool is_double = l->n == 2 && !strcmp(l->word[0], "double");

	if (l->n > 2 || (l->n == 2 && !is_double) || (is_double && n < 2))
		return fail(l,
			n < 2 ? "want a probability, for example \"1e-9\""
			      : "want a probability, for example \"1e-9\" or "
				"\"double 1e-12\"");
	return read_rate(l, l->word[l->n - 1], &rate[is_double]);
}

/* --- events --- */

static int find_word(const struct line *l, const char *what, const char *word,
	const char *const *names, size_t n, uint32_t *found)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(names[i], word) != 0)
			continue;
		*found = i;
		return 0;
	}
	return refuse_word(l, what, word, names, n);
}

static int read_lane(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e)
{
	char *end;

	if (n < 2)
		return err_set(e, "the number of the lane is missing (want, "
				  "for example, lane 7 A+ 0)");
	p->unit = (uint32_t)strtoul(word[n - 1], &end, 10);
	if (*end || *word[n - 1] < '0' || *word[n - 1] > '9')
		return err_set(
			e, "\"%.40s\" is not a lane number", word[n - 1]);
	return part_read_link(k, names, word, n - 1, p, e);
}

static int read_fibre(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e)
{
	const struct topo *t = names->topo;

	if (read_lane(k, names, word, n, p, e))
		return -1;
	if (!t->wire[t->ops->wire(t, p->site, p->port)].is_fibre)
		return err_set(e, "this link has no fibres: only links between "
				  "midplanes have fibres");
	if (p->unit >= CHIP_FIBRES)
		return err_set(e,
			"links have lanes 0 to %d, the last of "
			"which is the spare",
			CHIP_FIBRES - 1);
	return 0;
}

static const struct part_kind fault_fibre = {
	.word = "lane", .exists = faults_has_fibres, .read = read_fibre
};

const struct part_kind fault_lane = { .word = "lane", .read = read_lane };

/* Those that the machine has; returns their number. */
static size_t list_kinds(const struct line *l,
	const struct part_kind *kind[MOST_KINDS], const char *name[MOST_KINDS])
{
	const struct topo *t = l->topo;
	const struct part_kind *const *of[] = { t->ops->parts, l->plan->parts };
	size_t n = 0;

	if (!of[0])
		of[0] = part_kinds;
	if (l->plan->lanes > 1)
		kind[n++] = &fault_lane;
	else if (l->plan->is_checked && faults_has_fibres(t))
		kind[n++] = &fault_fibre;
	if (l->plan->has_buffers)
		kind[n++] = &fault_buffer;
	for (size_t i = 0; i < 2; i++)
		for (; of[i] && *of[i] && n < MOST_KINDS; of[i]++)
			if (!(*of[i])->exists || (*of[i])->exists(t))
				kind[n++] = *of[i];
	for (size_t i = 0; i < n; i++)
		name[i] = kind[i]->word;
	return n;
}

static bool has_some(const struct line *l, const struct part_kind *kind)
{
	const struct part_kind *const *lacks = l->plan->lacks;

	while (*lacks && *lacks != kind)
		lacks++;
	return !*lacks;
}

static int find_kind(const struct line *l, const char *word, struct part *p)
{
	const struct part_kind *kind[MOST_KINDS];
	const char *name[MOST_KINDS];
	size_t n = list_kinds(l, kind, name), some = 0, i;

	for (i = 0; i < n; i++) {
		if (strcmp(name[i], word) != 0)
			continue;
		p->kind = kind[i];
		return 0;
	}
	for (i = 0; i < n; i++)
		if (has_some(l, kind[i]))
			name[some++] = name[i];
	return refuse_word(l, "part", word, name, some);
}

/* What a part's words say; the last one is the event's. */
static int read_part(struct line *l, size_t at, struct part *p)
{
	struct err e = { .text = "" };

	if (find_kind(l, l->word[at], p))
		return -1;
	if (p->kind->read(
		    p->kind, l->names, l->word + at + 1, l->n - at - 2, p, &e))
		return fail(l, "%s", e.text);
	if (p->kind == &fault_lane && p->unit >= l->plan->lanes)
		return fail(l, "links have lanes 0 to %lld",
			(long long)l->plan->lanes - 1);
	return 0;
}

/* "flips 2": the number is taken off the line. */
static int read_flips(struct line *l, struct fault_event *e)
{
	const char *n = l->word[l->n - 1];

	if (!l->plan->has_buffers || l->n < 2 ||
		strcmp(l->word[l->n - 2], "flips") != 0)
		return 0;
	if (strcmp(n, "1") != 0 && strcmp(n, "2") != 0)
		return fail(l, "want flips 1 or flips 2");
	e->flips = (uint32_t)(*n - '0');
	l->n--;
	return 0;
}

static int check_event(const struct line *l, const struct fault_event *e)
{
	if ((e->flips != 0) != (e->kind == &fault_buffer))
		return fail(l, e->flips
				       ? "flips is only for buffers (want dies)"
				       : "a buffer does not die or return "
					 "(want flips 1 or flips 2)");
	if (e->fails != (e->kind == &fault_fibre))
		return fail(l, e->fails ? "fails is only for lanes of fibres "
					  "(want dies)"
					: "a lane of a fibre does not die or "
					  "return (want fails)");
	if (e->escapes && e->kind != &part_link)
		return fail(l, "escapes is only for links (want dies)");
	if (e->is_sick && !e->kind->can_sicken)
		return fail(
			l, "a %s cannot be sick (want dies)", e->kind->word);
	if (e->is_announced && !e->kind->is_site)
		return fail(l, "leaves is only for nodes, chips and boards "
			       "(want dies)");
	return 0;
}

static int read_event(struct line *l, struct fault_event *e)
{
	char text[NAME_MAX];
	const char *last;
	size_t at = 1; /* the kind's place: behind "30us" or "30 us" */
	const char *why;

	if (read_flips(l, e))
		return -1;
	last = l->word[l->n - 1];
	if (l->n > 1 && strspn(l->word[0], "0123456789.") == strlen(l->word[0]))
		at = 2;
	if (l->n < at + 3)
		return fail(l,
			"want a time, a part, and dies or returns, for example "
			"\"30 us node 7 dies\"");
	join(text, sizeof(text), l->word, at);
	if (units_read(UNIT_TIME, text, &e->at, &why) || e->at < 0)
		return fail(l, "\"%.40s\" is not a time", text);
	if (e->at >= LINK_MAX_TIME)
		return fail(l,
			"%.40s is later than the end of any run (want less "
			"than %d s)",
			text, (int)(LINK_MAX_TIME / SIM_NS / 1000000000));
	e->returns = !strcmp(last, "returns");
	e->is_announced = !strcmp(last, "leaves") && l->plan->is_managed;
	e->is_sick = !strcmp(last, "sick");
	e->escapes = !strcmp(last, "escapes") && l->plan->is_checked;
	e->fails = !strcmp(last, "fails") && l->plan->is_checked;
	if (strcmp(last, "dies") != 0 && !e->returns && !e->is_announced &&
		!e->is_sick && !e->escapes && !e->fails && !e->flips)
		return fail(l,
			"\"%.40s\" is not an event (want dies%s%s or returns)",
			last, l->plan->is_managed ? ", leaves" : "",
			l->plan->is_checked ? ", escapes" : "");
	if (read_part(l, at, &e->part) || check_event(l, e))
		return -1;
	join(e->name, sizeof(e->name), l->word + at, l->n - at - 1);
	e->place = l->from->place;
	e->text = l->from->text;
	return 0;
}

static int by_escape(const void *a, const void *b)
{
	const struct fault_escape *x = a, *y = b;

	return 2 * order(x->link, y->link) + order(x->at, y->at);
}

static int read_events(
	struct line *l, struct fault_plan *p, const struct param_lines *lines)
{
	struct topo_links links;

	if (lines->n > MOST_EVENTS)
		return err_set(l->e, "faults.events: more than %d events",
			MOST_EVENTS);
	links = topo_links(l->topo);
	p->event = mem_alloc(lines->n + 1, sizeof(*p->event));
	p->escape = mem_alloc(lines->n + 1, sizeof(*p->escape));
	p->fibre = mem_alloc(lines->n + 1, sizeof(*p->fibre));
	p->flip = mem_alloc(lines->n + 1, sizeof(*p->flip));
	for (size_t i = 0; i < lines->n; i++) {
		struct fault_event *x = &p->event[p->n_events];
		uint32_t link;

		*x = (struct fault_event){ 0 };
		if (open_line(l, &lines->v[i]) || read_event(l, x))
			return -1;
		link = topo_link(&links, x->site, x->port);
		if (x->flips) {
			p->flip[p->n_flips++] = (struct fault_flip){ x->site,
				x->unit, x->flips, x->at };
		} else if (x->escapes || x->fails) {
			struct fault_escape y = { link, x->unit, x->at };

			if (x->escapes)
				p->escape[p->n_escapes++] = y;
			else
				p->fibre[p->n_fibres++] = y;
		} else {
			p->n_events++;
		}
	}
	if (p->n_escapes)
		qsort(p->escape, p->n_escapes, sizeof(*p->escape), by_escape);
	if (p->n_fibres)
		qsort(p->fibre, p->n_fibres, sizeof(*p->fibre), by_escape);
	return fault_plan_order(p, l->topo, l->e);
}

/* --- lines --- */

const char *const fault_line_names[] = { "0", "1", "2", "3", "4", "5", "6", "7",
	"control", "clock" };

_Static_assert(sizeof(fault_line_names) / sizeof(fault_line_names[0]) ==
		       TRAINING_LINES,
	"all lines have names");

static int read_skew(const struct line *l, size_t at, struct fault_line *x)
{
	char text[NAME_MAX];
	const char *why;

	if (at == l->n - 1 && !strcmp(l->word[at], "closed")) {
		x->is_closed = true;
		return 0;
	}
	if (at >= l->n - 1 || strcmp(l->word[at], "skew") != 0)
		return fail(l,
			"want skew and a time, or closed, after the line's "
			"name");
	if (x->line == TRAINING_CLOCK)
		return fail(l, "the clock has no skew, since lines are "
			       "measured against it; want closed");
	join(text, sizeof(text), l->word + at + 1, l->n - at - 1);
	if (units_read(UNIT_TIME, text + (*text == '-'), &x->skew, &why))
		return fail(l, "\"%.40s\" is not a time", text);
	if (*text == '-')
		x->skew = -x->skew;
	if (x->skew < -MOST_SKEW || x->skew > MOST_SKEW)
		return fail(l,
			"a skew of %.40s is out of range (-1 us to 1 us)",
			text);
	return 0;
}

static int read_line(struct line *l, struct fault_line *x)
{
	struct err e = { .text = "" };
	struct part link = { 0 };
	struct topo_links links;
	size_t at = 2;

	while (at < l->n && strcmp(l->word[at], "line") != 0)
		at++;
	if (at + 2 >= l->n || strcmp(l->word[0], "link") != 0)
		return fail(l,
			"want a link, a line, and skew or closed, for example "
			"\"link 7 line clock closed\"");
	if (part_read_link(
		    &part_link, l->names, l->word + 1, at - 1, &link, &e))
		return fail(l, "%s", e.text);
	if (find_word(l, "line", l->word[at + 1], fault_line_names,
		    TRAINING_LINES, &x->line))
		return -1;
	links = topo_links(l->topo);
	x->link = topo_link(&links, link.site, link.port);
	x->place = l->from->place;
	x->text = l->from->text;
	return read_skew(l, at + 2, x);
}

static int by_line(const void *a, const void *b)
{
	const struct fault_line *x = a, *y = b;

	return 2 * order(x->link, y->link) + order(x->line, y->line);
}

static int read_lines(
	struct line *l, struct fault_plan *p, const struct param_lines *lines)
{
	if (lines->n > MOST_LINES)
		return err_set(
			l->e, "faults.lines: more than %d lines", MOST_LINES);
	p->line = mem_alloc(lines->n + 1, sizeof(*p->line));
	for (size_t i = 0; i < lines->n; i++) {
		if (open_line(l, &lines->v[i]))
			return -1;
		if (!p->training.lines)
			return fail(l,
				"this machine does not model the lines of "
				"its links (link.lines is 0, want 10)");
		if (read_line(l, &p->line[i]))
			return -1;
	}
	p->n_lines = lines->n;
	if (p->n_lines)
		qsort(p->line, p->n_lines, sizeof(*p->line), by_line);
	for (size_t i = 1; i < p->n_lines; i++)
		if (!by_line(&p->line[i - 1], &p->line[i]))
			return fault_refuse(p->line[i].place, p->line[i].text,
				"another entry names the same line", l->e);
	return 0;
}

int fault_plan_read(struct fault_plan *p, const struct fault_params *text,
	const struct topo *t, struct err *e)
{
	struct part_names names = { .topo = t };
	struct line l = { .topo = t, .plan = p, .names = &names, .e = e };
	int failed = 0;

	memset(p, 0, offsetof(struct fault_plan, training));
	p->cold_start = text->cold_start;
	for (size_t i = 0; i < text->bit_errors.n && !failed; i++)
		failed = open_line(&l, &text->bit_errors.v[i]) ||
			 read_bit_errors(&l, p);
	for (size_t i = 0; i < text->bursts.n && !failed; i++)
		failed =
			open_line(&l, &text->bursts.v[i]) || read_bursts(&l, p);
	for (size_t i = 0; i < text->fast_lanes.n && !failed; i++)
		failed = open_line(&l, &text->fast_lanes.v[i]) ||
			 read_bit_errors(&l,
				 p->is_fast ? p : &(struct fault_plan){ 0 });
	for (size_t i = 0; i < text->chips.n && !failed; i++)
		failed = open_line(&l, &text->chips.v[i]) ||
			 read_inner(&l, &p->chips, 1);
	for (size_t i = 0; i < text->memories.n && !failed; i++)
		failed = open_line(&l, &text->memories.v[i]) ||
			 read_inner(&l, p->memories, 2);
	if (!failed)
		failed = read_events(&l, p, &text->events) ||
			 read_lines(&l, p, &text->lines);
	if (!failed && p->cold_start && !p->training.lines)
		failed = err_set(e,
			"faults.cold-start: this machine does not model the "
			"lines of its links (link.lines is 0, want 10)");
	mem_free(l.text);
	part_names_fini(&names);
	return failed ? -1 : 0;
}
