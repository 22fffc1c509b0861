#define _GNU_SOURCE
#include <string.h>

#include "base/mem.h"
#include "cli/run.h"
#include "out/file.h"
#include "testing/testing.h"

enum { MOST_WORDS = 16 };

/* Reads a command line, whose words have one blank between them. */
static int parse(
	struct cli_args *a, unsigned takes, const char *line, struct err *e)
{
	static char text[512];
	char *word[MOST_WORDS + 1], *save = NULL;
	int n = 0;

	*e = (struct err){ 0 };
	snprintf(text, sizeof(text), "weft %s", line);
	for (word[0] = strtok_r(text, " ", &save); word[n];
		word[n] = strtok_r(NULL, " ", &save))
		assert_true(++n < MOST_WORDS);
	return cli_parse(a, n, word,
		&(struct cli_command){ .takes = takes,
			.usage = "MACHINE",
			.help = "help",
			.words = { 0, CLI_MAX_WORDS } },
		e);
}

static void refused(unsigned takes, const char *line, const char *why)
{
	struct cli_args a;
	struct err e;

	assert_int_equal(parse(&a, takes, line, &e), -1);
	assert_string_equal(e.text, why);
}

static void options_may_stand_anywhere_among_the_words(void **state)
{
	struct cli_args a;
	struct err e;

	assert_int_equal(parse(&a, CLI_MACHINE | CLI_RUN | CLI_JSON,
				 "bgq --set a.b=1 random --json load=max "
				 "--set=c.d=2 --shape 4x4 --seed 7",
				 &e),
		0);
	assert_int_equal(a.n_words, 3);
	assert_string_equal(a.word[0], "bgq");
	assert_string_equal(a.word[1], "random");
	assert_string_equal(a.word[2], "load=max");
	assert_null(a.word[3]);
	assert_int_equal(a.n_sets, 2);
	assert_string_equal(a.set[0], "a.b=1");
	assert_string_equal(a.set[1], "c.d=2");
	assert_string_equal(a.shape, "4x4");
	assert_int_equal(a.seed, 7);
	assert_true(a.is_json);
	assert_false(a.is_quiet);
}

static void what_is_not_said_has_its_default(void **state)
{
	struct cli_args a;
	struct err e;

	assert_int_equal(parse(&a, CLI_RUN | CLI_BOOK, "bgq", &e), 0);
	assert_int_equal(a.seed, 1);
	assert_int_equal(a.threads, 0);
	assert_false(a.follows || a.is_budget || a.is_json);
	assert_null(a.output);
}

static void a_message_is_followed_by_node_and_number(void **state)
{
	struct cli_args a;
	struct err e;

	assert_int_equal(parse(&a, CLI_BOOK, "--follow 12.3", &e), 0);
	assert_true(a.follows);
	assert_int_equal(a.follow_node, 12);
	assert_int_equal(a.follow_number, 3);
	assert_int_equal(parse(&a, CLI_BOOK, "--follow 5", &e), 0);
	assert_int_equal(a.follow_node, 0);
	assert_int_equal(a.follow_number, 5);
	refused(CLI_BOOK, "--follow 1.x",
		"--follow: \"x\" is not a number from 0 to 4294967294");
}

static void values_that_make_no_sense_are_refused(void **state)
{
	refused(CLI_RUN, "--seed -1",
		"--seed: \"-1\" is not a number from 0 to "
		"18446744073709551614");
	refused(CLI_RUN, "--seed 1 --seed 2", "--seed is given twice");
	refused(CLI_RUN, "bgq --seed", "--seed needs a value");
	refused(CLI_JSON, "--json=yes", "--json takes no value");
}

static void a_hint_says_what_was_meant(void **state)
{
	refused(CLI_MACHINE, "--shpae 4x4",
		"unknown option \"--shpae\"; did you mean --shape?");
	refused(CLI_MACHINE, "--nodes 4",
		"unknown option \"--nodes\"; the number of nodes is set by "
		"--shape N, or by --shape AxBxC for a torus");
	refused(CLI_MACHINE, "--rounds=4",
		"unknown option \"--rounds=4\"; want a key without dashes: "
		"rounds=VALUE");
	/* which the command does not take */
	refused(CLI_JSON, "--budget",
		"unknown option \"--budget\"; --help lists them");
}

static void a_command_says_the_run_again(void **state)
{
	const struct machine_run_setup s = { 0 };
	struct cli_args a, again;
	struct err e;
	char *text;

	assert_int_equal(
		parse(&a, CLI_MACHINE | CLI_RUN | CLI_RECORD,
			"torus random load=0.5 --set link.code=none --shape "
			"4x4 --until 2500ns --seed 9",
			&e),
		0);
	text = run_command(&a, &s);
	assert_string_equal(text,
		"weft run torus random load=0.5 --set link.code=none --shape "
		"4x4 --until '2.5 us' --seed 9");
	mem_free(text);
	a.until = 0;
	a.set[0] = "faults.events=1 us node 3 dies";
	text = run_command(&a, &s);
	assert_non_null(strstr(text, " 'faults.events=1 us node 3 dies' "));
	mem_free(text);
	a.set[0] = "link.code=none";
	text = run_command(&a, &s);
	assert_int_equal(parse(&again, CLI_MACHINE | CLI_RUN, text + 9, &e), 0);
	mem_free(text);
	assert_int_equal(again.n_words, 3);
	assert_int_equal(again.seed, 9);
	assert_string_equal(again.shape, "4x4");
}

static void outputs_are_named_after_their_inputs(void **state)
{
	struct cli_args a = { .word = { "/nowhere.d/a.db" }, .n_words = 1 };
	struct err e = { 0 };
	char path[64];

	cli_name_output(&a, ".html", &out_page, path, sizeof(path), &e);
	assert_string_equal(path, "/nowhere.d/a.html");
	a.word[0] = "/nowhere.d/a";
	cli_name_output(&a, ".html", &out_page, path, sizeof(path), &e);
	assert_string_equal(path, "/nowhere.d/a.html");
	a.output = "/nowhere.d/a";
	e = (struct err){ 0 };
	assert_int_equal(
		cli_name_output(&a, ".html", &out_page, path, sizeof(path), &e),
		-1);
	assert_string_equal(
		e.text, "/nowhere.d/a: the output would overwrite a run file");
	assert_int_equal(
		cli_name_output(&a, ".html", &out_page, path, 8, &e), -1);
}

TESTS(TEST(options_may_stand_anywhere_among_the_words),
	TEST(what_is_not_said_has_its_default),
	TEST(a_message_is_followed_by_node_and_number),
	TEST(values_that_make_no_sense_are_refused),
	TEST(a_hint_says_what_was_meant), TEST(a_command_says_the_run_again),
	TEST(outputs_are_named_after_their_inputs))
