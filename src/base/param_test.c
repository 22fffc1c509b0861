#define _POSIX_C_SOURCE 200809L

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/param.h"
#include "testing/testing.h"

struct link {
	int64_t rate, latency, cable, gap, errors, retry;
};

struct routing {
	int64_t zones, queues, window;
	char note[PARAM_TEXT_MAX];
	struct param_list shape, order, lanes;
};

static const struct param link_rows[] = {
	{ "rate", PARAM_RATE, offsetof(struct link, rate), "2 GB/s", 1,
		INT64_C(1000000000000), NULL, "of one lane", "BGQ-N5" },
	{ "latency.board", PARAM_TIME, offsetof(struct link, latency),
		"41.4 ns", 0, 1000000000, NULL, "on a board", NULL },
	{ "latency.cable", PARAM_TIME, offsetof(struct link, cable), "80 ns", 0,
		INT64_MAX, "auto", "over a cable", NULL },
	{ "gap", PARAM_BYTES, offsetof(struct link, gap), "8 B", 0, INT64_MAX,
		NULL, "between packets", NULL },
	{ "errors", PARAM_FRACTION, offsetof(struct link, errors), "0", 0,
		1000000, NULL, "lost", NULL },
	{ "retry", PARAM_FLAG, offsetof(struct link, retry), "yes", 0, 1, NULL,
		"send again", NULL },
};

static const struct param routing_rows[] = {
	{ "zones", PARAM_WORD, offsetof(struct routing, zones), "none", 0, 0,
		"none|longest-first", "order", NULL },
	{ "queues", PARAM_COUNT, offsetof(struct routing, queues), "4", 1, 6,
		NULL, "per port", NULL },
	{ "window", PARAM_COUNT, offsetof(struct routing, window), "auto", 1,
		64, "max|auto", "in flight", NULL },
	{ "note", PARAM_TEXT, offsetof(struct routing, note), "", 0, 0, NULL,
		"anything", NULL },
	{ "shape", PARAM_COUNTS, offsetof(struct routing, shape), "4x4x4x4x2",
		1, 1024, NULL, "routers", NULL },
	{ "order", PARAM_WORDS, offsetof(struct routing, order), "x, y", 0, 0,
		"x|y|z|max", "dimensions", NULL },
	{ "lanes", PARAM_COUNTS, offsetof(struct routing, lanes), "[1, max]", 1,
		9, "max", "each", NULL },
};

struct fixture {
	struct link link;
	struct routing routing;
	struct param_origin link_origins[6], routing_origins[7];
	struct param_block blocks[2];
	struct err e;
};

static struct fixture *fresh(struct fixture *f)
{
	memset(f, 0xa5, sizeof(*f));
	f->e = (struct err){ 0 };
	f->blocks[0] = (struct param_block){ "link", link_rows, 6, &f->link,
		f->link_origins, NULL };
	f->blocks[1] = (struct param_block){ "routing", routing_rows, 7,
		&f->routing, f->routing_origins, NULL };
	param_defaults(&f->blocks[0]);
	param_defaults(&f->blocks[1]);
	return f;
}

static int assign(struct fixture *f, const char *assignment)
{
	f->e = (struct err){ 0 };
	return param_assign(
		f->blocks, 2, assignment, "parameter", "--set", &f->e);
}

static void says(const char *assignment, const char *message)
{
	struct fixture f, before;

	fresh(&f);
	before = f;
	assert_int_equal(assign(&f, assignment), -1);
	assert_int_equal(f.e.code, EXIT_BAD_INPUT);
	assert_string_equal(f.e.text, message);
	/* What was refused has changed nothing. */
	assert_memory_equal(&f.link, &before.link, sizeof(f.link));
	assert_memory_equal(&f.routing, &before.routing, sizeof(f.routing));
	assert_memory_equal(
		f.link_origins, before.link_origins, sizeof(f.link_origins));
}

static void formats(const char *assignment, const char *want)
{
	const struct param_block *b;
	const struct param *row;
	struct fixture f;
	char name[64], text[256];

	fresh(&f);
	if (assign(&f, assignment))
		fail_msg("%s", f.e.text);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(assignment, "="),
		assignment);
	assert_int_equal(
		param_resolve(f.blocks, 2, name, "key", &b, &row, &f.e), 0);
	param_format(b, row, text, sizeof(text));
	assert_string_equal(text, want);
}

static void defaults_fill_every_field(void **state)
{
	struct fixture f;

	fresh(&f);
	assert_int_equal(f.link.rate, 2000000000);
	assert_int_equal(f.link.latency, 41400);
	assert_int_equal(f.link.retry, 1);
	assert_int_equal(f.routing.zones, 0);
	assert_int_equal(f.routing.window, -2);
	assert_string_equal(f.routing.note, "");
	assert_int_equal(f.routing.shape.n, 5);
	assert_int_equal(f.routing.shape.v[4], 2);
	assert_int_equal(f.routing.order.n, 2);
	assert_int_equal(f.routing.order.v[1], 1);
	assert_int_equal(f.routing.lanes.v[1], -1);
	for (int i = 0; i < 6; i++)
		assert_false(f.link_origins[i].set);
}

static void a_default_that_its_row_refuses_is_a_bug(void **state)
{
	static const struct param row = { "queues", PARAM_COUNT, 0, "9", 1, 6,
		NULL, "", NULL };
	int64_t value;
	struct param_block b = { "router", &row, 1, &value, NULL, NULL };
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		assert_non_null(freopen("/dev/null", "w", stderr));
		signal(SIGABRT, SIG_DFL);
		param_defaults(&b);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(
		WIFSIGNALED(status) || WEXITSTATUS(status) == EXIT_INTERNAL);
}

static void an_assignment_notes_its_origin(void **state)
{
	struct fixture f;

	fresh(&f);
	strcpy(f.link_origins[0].source, "BGQ-N5");
	assert_int_equal(assign(&f, " link.rate = 1 GB/s "), 0);
	assert_int_equal(f.link.rate, 1000000000);
	assert_true(f.link_origins[0].set);
	assert_string_equal(f.link_origins[0].place, "--set");
	assert_string_equal(f.link_origins[0].source, "");
}

static void an_assignment_needs_no_origins(void **state)
{
	struct fixture f;

	fresh(&f);
	f.blocks[0].origins = NULL;
	assert_int_equal(assign(&f, "link.rate=1 GB/s"), 0);
}

static void a_wrong_quantity_says_what_is_wanted(void **state)
{
	says("link.rate=2 GBs", "link.rate: \"2 GBs\" is not a rate "
				"(want a number with B/s, KB/s, MB/s, GB/s, "
				"Kb/s, Mb/s or Gb/s)");
	says("link.rate=2", "link.rate: \"2\" is not a rate (unit missing; "
			    "want a number with B/s, KB/s, MB/s, GB/s, "
			    "Kb/s, Mb/s or Gb/s)");
	says("link.latency.board=0.0001 ns",
		"link.latency.board: \"0.0001 ns\" is not a time (not a whole "
		"number of ps; want a number with ns, us, ms, s or ps)");
	says("link.latency.cable=far",
		"link.latency.cable: \"far\" is not a time (not a number; "
		"want a number with ns, us, ms, s or ps, or auto)");
	says("routing.queues=many",
		"routing.queues: \"many\" is not a count (not a number; "
		"want 1 to 6)");
	says("routing.queues=-1",
		"routing.queues: \"-1\" is not a count (negative; "
		"want 1 to 6)");
	says("link.retry=maybe",
		"link.retry: \"maybe\" is not one of no, yes, off, on, "
		"false, true");
}

static void a_value_out_of_range_is_refused(void **state)
{
	says("routing.queues=9", "routing.queues: 9 is out of range (1 to 6)");
	says("routing.queues=0", "routing.queues: 0 is out of range (1 to 6)");
	says("link.latency.board=2 ms",
		"link.latency.board: 2 ms is out of range (0 ps to 1 ms)");
	says("link.errors=101 %", "link.errors: 1.01 is out of range (0 to 1)");
	says("routing.shape=4x0x4",
		"routing.shape: 0 is out of range (1 to 1024)");
	says("routing.window=65",
		"routing.window: 65 is out of range (1 to 64 or max or auto)");
}

static void a_mistyped_word_gets_the_right_one(void **state)
{
	says("routing.zones=longets",
		"routing.zones: \"longets\" is not one of none, longest-first; "
		"did you mean longest-first?");
	says("routing.zones=nnoe",
		"routing.zones: \"nnoe\" is not one of none, longest-first; "
		"did you mean none?");
	says("routing.zones=spiral",
		"routing.zones: \"spiral\" is not one of none, longest-first");
	says("routing.zones=",
		"routing.zones: \"\" is not one of none, longest-first");
}

static void a_mistyped_name_gets_the_right_one(void **state)
{
	says("link.rat=1", "unknown parameter \"link.rat\"; "
			   "did you mean link.rate?");
	says("link.foo=1",
		"unknown parameter \"link.foo\" (want one of link.rate, "
		"link.latency.board, link.latency.cable, link.gap, "
		"link.errors, link.retry)");
	says("lnk.rate=1", "unknown parameter \"lnk.rate\"; "
			   "did you mean link.rate?");
	says("link.latency=1", "unknown parameter \"link.latency\"; "
			       "did you mean link.latency.board?");
	says("queues=1", "unknown parameter \"queues\"; "
			 "did you mean routing.queues?");
	says("frobnicate=1",
		"unknown parameter \"frobnicate\" (want one of link.rate, "
		"link.latency.board, link.latency.cable, link.gap, "
		"link.errors, link.retry, routing.zones, routing.queues, "
		"routing.window, routing.note, ...)");
	says("link.rate", "\"link.rate\" has no value (want link.rate=value)");
}

static void no_blocks_have_no_names(void **state)
{
	struct err e = { 0 };

	assert_int_equal(param_assign(NULL, 0, "a=b", "key", "", &e), -1);
	assert_string_equal(e.text, "unknown key \"a\" (want one of none)");
}

static void a_list_is_written_in_three_ways(void **state)
{
	formats("routing.shape=4x4x2", "4x4x2");
	formats("routing.shape=[4, 4, 2]", "4x4x2");
	formats("routing.shape= 4,4 , 2", "4x4x2");
	formats("routing.shape=4 x 4 x 2", "4x4x2");
	formats("routing.shape=16", "16");
	formats("routing.shape=[ ]", "[]");
	formats("routing.order=[y, max]", "y,max");
	formats("routing.order=x", "x");
	formats("routing.lanes=1,max,2", "1,max,2");
	formats("routing.lanes=[2, 3]", "2x3");
}

static void a_list_is_read_to_its_end(void **state)
{
	says("routing.shape=2:1",
		"routing.shape: \"2:1\" is not a count (not a whole number; "
		"want 1 to 1024, or several with x between them)");
	says("routing.shape=4x4,2",
		"routing.shape: \"4x4\" is not a count (not a whole number; "
		"want 1 to 1024, or several with x between them)");
	says("routing.shape=4x",
		"routing.shape: \"\" is not a count (not a number; want 1 to "
		"1024, or several with x between them)");
	says("routing.shape=",
		"routing.shape: \"\" is not a count (not a number; want 1 to "
		"1024, or several with x between them)");
	says("routing.shape=[4, 4",
		"routing.shape: \"[4\" is not a count (not a number; want 1 to "
		"1024, or several with x between them)");
	says("routing.shape=4 4",
		"routing.shape: \"4 4\" is not a count (not a whole number; "
		"want 1 to 1024, or several with x between them)");
	says("routing.shape=1x1x1x1x1x1x1x1x1",
		"routing.shape: 9 values (want at most 8)");
	says("routing.order=x|y",
		"routing.order: \"x|y\" is not one of x, y, z, max");
}

static void flags_have_three_pairs_of_words(void **state)
{
	formats("link.retry=on", "yes");
	formats("link.retry=true", "yes");
	formats("link.retry=off", "no");
	formats("link.retry=false", "no");
	formats("link.retry=no", "no");
}

static void words_stand_in_for_numbers(void **state)
{
	struct fixture f;

	fresh(&f);
	assert_int_equal(assign(&f, "routing.window=max"), 0);
	assert_int_equal(f.routing.window, -1);
	assert_int_equal(assign(&f, "link.latency.cable= auto"), 0);
	assert_int_equal(f.link.cable, -1);
	formats("routing.window=max", "max");
}

static void a_text_keeps_its_spaces_and_has_a_limit(void **state)
{
	struct fixture f;
	char text[PARAM_TEXT_MAX + 32] = "routing.note=";

	fresh(&f);
	assert_int_equal(assign(&f, "routing.note= a = b "), 0);
	assert_string_equal(f.routing.note, " a = b ");
	memset(text + 13, 'n', PARAM_TEXT_MAX - 1);
	assert_int_equal(assign(&f, text), 0);
	text[13 + PARAM_TEXT_MAX - 1] = 'n';
	assert_int_equal(assign(&f, text), -1);
	assert_non_null(strstr(f.e.text, "longer than 127 bytes"));
}

/* Fit for one line of a terminal: no control characters, UTF-8 whole. */
static void is_one_line(const char *text)
{
	assert_true(*text);
	for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
		assert_true(*s >= 0x20 && *s != 0x7f);
		if (*s >= 0x80) {
			assert_in_range(*s, 0xc2, 0xf4);
			for (int n = *s >= 0xf0	  ? 3
				     : *s >= 0xe0 ? 2
						  : 1;
				n; n--) {
				s++;
				assert_int_equal(*s & 0xc0, 0x80);
			}
		}
	}
}

static void what_is_quoted_is_made_safe(void **state)
{
	says("routing.queues=a\nb\x1b[1m",
		"routing.queues: \"a\\x0ab\\x1b[1m\" is not a count "
		"(not a number; want 1 to 6)");
	says("link.latency.board=40 \xc2\xb5t",
		"link.latency.board: \"40 \xc2\xb5t\" is not a time "
		"(want a number with ns, us, ms, s or ps)");
	says("routing.queues=\xff\xc0\x80\xc2\x9b\xed\xa0\x80",
		"routing.queues: \"\\xff\\xc0\\x80\\xc2\\x9b\\xed\\xa0\\x80\" "
		"is not a count (not a number; want 1 to 6)");
	says("routing.queues=\xf8\x90\x80\x80",
		"routing.queues: \"\\xf8\\x90\\x80\\x80\" "
		"is not a count (not a number; want 1 to 6)");
	says("r\x07te=1", "unknown parameter \"r\\x07te\" (want one of "
			  "link.rate, link.latency.board, link.latency.cable, "
			  "link.gap, link.errors, link.retry, routing.zones, "
			  "routing.queues, routing.window, routing.note, ...)");
}

static uint64_t draw(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void every_message_is_one_short_line(void **state)
{
	static const char *const keys[] = { "link.rate=", "link.retry=",
		"routing.zones=", "routing.note=", "routing.shape=",
		"routing.order=", "", "x=", "link." };
	enum { N_KEYS = sizeof(keys) / sizeof(*keys), LONG = 100000 };
	char *text = mem_alloc(LONG + 64, 1);
	uint64_t seed = 7;
	struct fixture f;

	fresh(&f);
	for (int i = 0; i < 4000; i++) {
		int n = sprintf(text, "%s", keys[i % N_KEYS]);
		int len = (int)(i % 500 ? draw(&seed) % 300 : LONG);

		for (int j = 0; j < len; j++)
			text[n++] = (char)(1 + draw(&seed) % 255);
		text[n] = '\0';
		if (assign(&f, text))
			is_one_line(f.e.text);
		assert_true(strlen(f.e.text) < 400);
	}
	mem_free(text);
}

static int64_t draw_in(uint64_t *seed, int64_t min, int64_t max)
{
	uint64_t width = (uint64_t)max - (uint64_t)min;
	uint64_t v = draw(seed) >> (draw(seed) % 64);

	return min + (int64_t)(width == UINT64_MAX ? v : v % (width + 1));
}

static int64_t n_words(const char *words)
{
	int64_t n = words != NULL;

	for (; words && *words; words++)
		n += *words == '|';
	return n;
}

static int64_t draw_scalar(uint64_t *seed, const struct param *row)
{
	bool is_word = row->type == PARAM_WORD || row->type == PARAM_WORDS;

	if (is_word)
		return draw_in(seed, 0, n_words(row->words) - 1);
	if (row->words && draw(seed) % 4 == 0)
		return -1 - draw_in(seed, 0, n_words(row->words) - 1);
	return draw_in(seed, row->min, row->max);
}

static void draw_field(uint64_t *seed, const struct param *row, void *field)
{
	struct param_list *list = field;
	char *text = field;

	if (row->type == PARAM_TEXT) {
		memset(text, 0, PARAM_TEXT_MAX);
		for (int64_t n = draw_in(seed, 0, PARAM_TEXT_MAX - 1); n;)
			text[--n] = (char)(1 + draw(seed) % 255);
	} else if (row->type == PARAM_COUNTS || row->type == PARAM_WORDS) {
		*list = (struct param_list){ 0 };
		list->n = draw_in(seed, 0, PARAM_LIST_MAX);
		for (int64_t i = 0; i < list->n; i++)
			list->v[i] = draw_scalar(seed, row);
	} else {
		*(int64_t *)field = draw_scalar(seed, row);
	}
}

static void what_is_written_reads_back(void **state)
{
	struct fixture a, b;
	uint64_t seed = 3;
	char text[512];

	fresh(&a);
	for (int i = 0; i < 26000; i++) {
		int which = i % 13 < 6 ? 0 : 1;
		size_t at = (size_t)(which ? i % 13 - 6 : i % 13);
		const struct param *row = &a.blocks[which].rows[at];

		draw_field(&seed, row,
			(char *)a.blocks[which].values + row->offset);
		param_format(&a.blocks[which], row, text, sizeof(text));
		fresh(&b);
		if (param_read(&b.blocks[which], row, text, &b.e))
			fail_msg("%s", b.e.text);
		param_format(&b.blocks[which], row, text, sizeof(text));
		assert_memory_equal(
			(char *)a.blocks[which].values + row->offset,
			(char *)b.blocks[which].values + row->offset,
			row->type == PARAM_TEXT
				? strlen((char *)a.blocks[which].values +
					  row->offset) +
					  1
			: (row->type == PARAM_COUNTS ||
				  row->type == PARAM_WORDS)
				? sizeof(struct param_list)
				: sizeof(int64_t));
	}
}

static void ranges_are_told_in_the_rows_unit(void **state)
{
	static const struct {
		const char *name, *range, *type;
	} rows[] = {
		{ "latency.board", "0 ps to 1 ms", "time" },
		{ "latency.cable", "at least 0 ps or auto", "time" },
		{ "rate", "1 B/s to 1000 GB/s", "rate" },
		{ "gap", "at least 0 B", "size" },
		{ "errors", "0 to 1", "fraction" },
		{ "retry", "yes|no", "flag" },
		{ "zones", "none|longest-first", "word" },
		{ "queues", "1 to 6", "count" },
		{ "window", "1 to 64 or max or auto", "count" },
		{ "note", "up to 127 bytes", "text" },
		{ "shape", "1 to 1024", "list of counts" },
		{ "order", "x|y|z|max", "list of words" },
	};
	struct fixture f;
	char text[64];

	fresh(&f);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct param *row =
			param_find(&f.blocks[i >= 6], rows[i].name);

		assert_non_null(row);
		param_range(row, text, sizeof(text));
		assert_string_equal(text, rows[i].range);
		assert_string_equal(param_type_name(row->type), rows[i].type);
	}
}

static void a_small_buffer_is_not_overrun(void **state)
{
	struct fixture f;
	char text[8] = "zzzzzzz";

	fresh(&f);
	param_format(&f.blocks[1], &routing_rows[4], text, 5);
	assert_string_equal(text, "4x4x");
	assert_string_equal(text + 5, "zz");
	param_range(&link_rows[1], text, 3);
	assert_string_equal(text, "0 ");
}

static void lines_of_a_text_are_separated_by_semicolons(void **state)
{
	struct param_lines l = { 0 };

	assert_int_equal(param_lines_read(&l, "1 us a dies; 2 us b dies"), 0);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.v[0].text, "1 us a dies");
	assert_string_equal(l.v[1].text, "2 us b dies");
	assert_int_equal(param_lines_read(&l, "1 us c returns"), 0);
	assert_int_equal(l.n, 1);
	assert_int_equal(param_lines_read(&l, "none"), 0);
	assert_int_equal(l.n, 0);
	param_lines_free(&l);
}

TESTS(TEST(defaults_fill_every_field),
	TEST(a_default_that_its_row_refuses_is_a_bug),
	TEST(an_assignment_notes_its_origin),
	TEST(an_assignment_needs_no_origins),
	TEST(a_wrong_quantity_says_what_is_wanted),
	TEST(a_value_out_of_range_is_refused),
	TEST(a_mistyped_word_gets_the_right_one),
	TEST(a_mistyped_name_gets_the_right_one), TEST(no_blocks_have_no_names),
	TEST(a_list_is_written_in_three_ways), TEST(a_list_is_read_to_its_end),
	TEST(flags_have_three_pairs_of_words), TEST(words_stand_in_for_numbers),
	TEST(a_text_keeps_its_spaces_and_has_a_limit),
	TEST(what_is_quoted_is_made_safe),
	TEST(every_message_is_one_short_line), TEST(what_is_written_reads_back),
	TEST(ranges_are_told_in_the_rows_unit),
	TEST(a_small_buffer_is_not_overrun),
	TEST(lines_of_a_text_are_separated_by_semicolons))
