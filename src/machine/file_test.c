#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "machine/file.h"
#include "machine/tree.h"
#include "testing/testing.h"

struct topology {
	int64_t kind;
	struct param_list shape, order;
};

struct link {
	int64_t rate, board, cable, gap, retry;
	char note[PARAM_TEXT_MAX];
};

enum { N_TOPOLOGY = 3, N_LINK = 6 };

static const struct param topology_rows[N_TOPOLOGY] = {
	{ "kind", PARAM_WORD, offsetof(struct topology, kind), "torus", 0, 0,
		"torus|mesh|fat-tree", "", NULL },
	{ "shape", PARAM_COUNTS, offsetof(struct topology, shape), "2x2", 1, 64,
		NULL, "", NULL },
	{ "order", PARAM_WORDS, offsetof(struct topology, order), "[]", 0, 0,
		"a|b|c", "", NULL },
};

static const struct param link_rows[N_LINK] = {
	{ "rate", PARAM_RATE, offsetof(struct link, rate), "1 GB/s", 1,
		INT64_MAX, NULL, "", NULL },
	{ "latency.board", PARAM_TIME, offsetof(struct link, board), "1 ns", 0,
		INT64_MAX, NULL, "", NULL },
	{ "latency.cable", PARAM_TIME, offsetof(struct link, cable), "2 ns", 0,
		INT64_MAX, NULL, "", NULL },
	{ "gap", PARAM_BYTES, offsetof(struct link, gap), "0", 0, 4096, NULL,
		"", NULL },
	{ "retry", PARAM_FLAG, offsetof(struct link, retry), "no", 0, 1, NULL,
		"", NULL },
	{ "note", PARAM_TEXT, offsetof(struct link, note), "", 0, 0, NULL, "",
		NULL },
};

struct fixture {
	struct topology topology;
	struct link link;
	struct param_origin topology_origins[N_TOPOLOGY], link_origins[N_LINK];
	struct param_block blocks[2];
	struct machine_header header;
	struct err e;
};

static void fresh(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->blocks[0] = (struct param_block){ "topology", topology_rows,
		N_TOPOLOGY, &f->topology, f->topology_origins, NULL };
	f->blocks[1] = (struct param_block){ "link", link_rows, N_LINK,
		&f->link, f->link_origins, NULL };
	param_defaults(&f->blocks[0]);
	param_defaults(&f->blocks[1]);
}

static int read_bytes(struct fixture *f, const char *text, size_t len)
{
	/* A copy without a NUL, so that a sanitizer sees a read past it. */
	char *copy = mem_alloc(len, 1);
	int failed;

	fresh(f);
	memcpy(copy, text, len);
	failed = machine_text_read(
		"m.yaml", copy, len, NULL, &f->header, f->blocks, 2, &f->e);
	mem_free(copy);
	return failed;
}

static void is_one_line(const struct err *e)
{
	assert_int_equal(e->code, EXIT_BAD_INPUT);
	assert_true(strlen(e->text) > 0);
	for (const char *s = e->text; *s; s++)
		assert_true((unsigned char)*s >= 0x20 && *s != 0x7f);
}

static void bytes_say(const char *text, size_t len, const char *message)
{
	struct fixture f;

	assert_int_equal(read_bytes(&f, text, len), -1);
	is_one_line(&f.e);
	assert_string_equal(f.e.text, message);
}

static void says(const char *text, const char *message)
{
	bytes_say(text, strlen(text), message);
}

#define HEAD "schema: 1\nmachine: m\n"

static void read_well(struct fixture *f, const char *text)
{
	if (read_bytes(f, text, strlen(text)))
		fail_msg("%s", f->e.text);
}

static const char whole[] =
	"schema: 1\n"
	"machine: bgq-midplane\n"
	"title: one line for humans\n"
	"topology:\n"
	"  kind: torus\n"
	"  shape: { value: [4, 4, 4, 4, 2], source: BGQ-N17 }\n"
	"link:\n"
	"  rate: { value: 2 GB/s, source: BGQ-N5 }\n"
	"  latency:\n"
	"    board: { value: 41.4 ns, source: \"calibrated: N90 to N92\" }\n"
	"  gap: 8 B\n"
	"  retry: yes # a comment\n";

static void a_whole_machine_is_read(void **state)
{
	struct fixture f;

	read_well(&f, whole);
	assert_string_equal(f.header.name, "bgq-midplane");
	assert_string_equal(f.header.title, "one line for humans");
	assert_string_equal(f.header.base, "");
	assert_int_equal(f.topology.shape.n, 5);
	assert_int_equal(f.topology.shape.v[4], 2);
	assert_int_equal(f.link.rate, 2000000000);
	assert_int_equal(f.link.board, 41400);
	assert_int_equal(f.link.cable, 2000);
	assert_int_equal(f.link.gap, 8);
	assert_int_equal(f.link.retry, 1);
}

static void every_value_tells_its_origin(void **state)
{
	struct fixture f;

	read_well(&f, whole);
	assert_true(f.topology_origins[1].set);
	assert_string_equal(f.topology_origins[1].source, "BGQ-N17");
	assert_string_equal(f.topology_origins[1].place, "m.yaml:6:19");
	assert_string_equal(f.link_origins[1].source, "calibrated: N90 to N92");
	assert_string_equal(f.link_origins[1].place, "m.yaml:10:21");
	assert_string_equal(f.link_origins[3].source, "");
	assert_string_equal(f.link_origins[3].place, "m.yaml:11:8");
	assert_false(f.link_origins[2].set);
}

static void a_value_may_be_written_in_many_ways(void **state)
{
	struct fixture f;

	read_well(&f, HEAD "topology: {shape: 4x4x2, order: [a, c]}");
	assert_int_equal(f.topology.shape.n, 3);
	assert_int_equal(f.topology.order.v[1], 2);
	read_well(&f, HEAD "topology:\n  shape:\n  - 3\n  - 5\n");
	assert_int_equal(f.topology.shape.v[1], 5);
	read_well(&f, HEAD "topology: {shape: []}");
	assert_int_equal(f.topology.shape.n, 0);
	read_well(&f, HEAD "link: {rate: {value: '3 GB/s'}}");
	assert_int_equal(f.link.rate, 3000000000);
	read_well(&f, HEAD "link: !!map {rate: !!str 3 GB/s}");
	assert_int_equal(f.link.rate, 3000000000);
	read_well(&f, HEAD "link:\n  note: \"a, [b] \\\"c\\\" \"\n");
	assert_string_equal(f.link.note, "a, [b] \"c\" ");
	read_well(&f, "%YAML 1.1\n---\n" HEAD "...\n");
	read_well(&f, "\xef\xbb\xbf" HEAD);
	read_well(&f, "schema: 1\r\nmachine: m\r\nlink:\r\n  gap: 9\r\n");
	assert_int_equal(f.link.gap, 9);
}

static void blocks_may_share_a_section(void **state)
{
	int64_t width = 0;
	const struct param row = { "width", PARAM_COUNT, 0, "1", 1, 9, NULL, "",
		NULL };
	static const char text[] = HEAD "link: {width: 7, gap: 3}";
	struct fixture f;

	fresh(&f);
	f.blocks[0] =
		(struct param_block){ "link", &row, 1, &width, NULL, NULL };
	assert_int_equal(machine_text_read("m", text, strlen(text), NULL,
				 &f.header, f.blocks, 2, &f.e),
		0);
	assert_int_equal(width, 7);
	assert_int_equal(f.link.gap, 3);
}

static void an_unknown_key_is_refused(void **state)
{
	says(HEAD "lnk:\n  rate: 2 GB/s\n",
		"m.yaml:3:1: unknown key \"lnk\"; did you mean link?");
	says(HEAD "titel: x\n",
		"m.yaml:3:1: unknown key \"titel\"; did you mean title?");
	says(HEAD "weather: fine\n",
		"m.yaml:3:1: unknown key \"weather\" (want one of schema, "
		"machine, title, caveat, base, plugins, topology, link)");
	says(HEAD "link:\n  rat: 2 GB/s\n",
		"m.yaml:4:3: unknown key \"link.rat\"; did you mean "
		"link.rate?");
	says(HEAD "link:\n  latency:\n    bord: 2 ns\n",
		"m.yaml:5:5: unknown key \"link.latency.bord\"; "
		"did you mean link.latency.board?");
	says(HEAD "link:\n  latncy:\n    board: 2 ns\n",
		"m.yaml:5:5: unknown key \"link.latncy.board\"; "
		"did you mean link.latency.board?");
	says(HEAD "link:\n  rate: {value: 2 GB/s, sorce: x}\n",
		"m.yaml:4:25: link.rate has keys other than value and source");
	says(HEAD "link:\n  <<: 1\n",
		"m.yaml:4:3: unknown key \"link.<<\" (want one of link.rate, "
		"link.latency.board, link.latency.cable, link.gap, "
		"link.retry, link.note)");
}

static void a_wrong_value_is_refused_in_its_place(void **state)
{
	says(HEAD "link:\n  rate: 2 GBs\n",
		"m.yaml:4:9: link.rate: \"2 GBs\" is not a rate (want a "
		"number with B/s, KB/s, MB/s, GB/s, Kb/s, Mb/s or Gb/s)");
	says(HEAD "link:\n  gap:\n",
		"m.yaml:4:7: link.gap: \"\" is not a size (not a number; want "
		"a number with B, KB, KiB, MB, MiB, GB or GiB)");
	says(HEAD "topology: {shape: [4, 99]}",
		"m.yaml:3:19: topology.shape: 99 is out of range (1 to 64)");
	says(HEAD "topology: {shape: 2:1}",
		"m.yaml:3:19: topology.shape: \"2:1\" is not a count (not a "
		"whole number; want 1 to 64, or several with x between them)");
	says(HEAD "topology: {kind: tours}",
		"m.yaml:3:18: topology.kind: \"tours\" is not one of torus, "
		"mesh, fat-tree; did you mean torus?");
	says(HEAD "topology: {shape: [1,1,1,1,1,1,1,1,1]}",
		"m.yaml:3:19: topology.shape: 9 values (want at most 8)");
}

static void a_wrong_type_is_refused(void **state)
{
	static const char *const lists[] = { HEAD "topology: {shape: [[1], 2]}",
		HEAD "topology: {shape: ['1,2']}",
		HEAD "topology: {shape: ['']}" };

	says("- 1\n", "m.yaml:1:1: a machine file must be a map of sections");
	says(HEAD "link: 5\n", "m.yaml:3:7: link must be a map of keys");
	says(HEAD "link:\n", "m.yaml:3:6: link must be a map of keys");
	says(HEAD "link: {}\n", "m.yaml:3:7: link is empty");
	says(HEAD "link: {latency: {}}", "m.yaml:3:17: link.latency is empty");
	says(HEAD "link: {rate: [1, 2]}",
		"m.yaml:3:14: rate must be a single value");
	says(HEAD "link: {rate: {value: {value: 1}}}",
		"m.yaml:3:22: rate must be a single value");
	says(HEAD "link: {rate: {source: x}}",
		"m.yaml:3:14: link.rate has no value");
	says(HEAD "link: {rate: {value: 1 B/s, source: [x]}}",
		"m.yaml:3:37: source must be a single value");
	for (size_t i = 0; i < 3; i++)
		says(lists[i],
			"m.yaml:3:20: a list may hold only single values");
	says(HEAD "? [a]\n: b\n",
		"m.yaml:3:3: a key must be a word, not a map or a list");
	says(HEAD "link: {latency.board: 1 ns}",
		"m.yaml:3:8: a key may not contain a dot; use nested maps "
		"instead");
}

static void a_key_stands_once(void **state)
{
	says(HEAD "machine: n\n",
		"m.yaml:3:1: this key is already set in line 2");
	says(HEAD "link: {gap: 1}\ntopology: {kind: mesh}\nlink: {gap: 2}\n",
		"m.yaml:5:1: this key is already set in line 3");
	says(HEAD "link: {gap: 1, gap: 1}",
		"m.yaml:3:16: this key is already set in line 3");
	says(HEAD "link: {gap: {value: 1, value: 1}}",
		"m.yaml:3:24: this key is already set in line 3");
}

#define WANTS_NAME "must be a name of letters, digits, - and _"

static void the_head_is_checked(void **state)
{
	says("machine: m\n", "m.yaml:1:1: schema is missing; want schema: 1");
	says("schema: 1\n",
		"m.yaml:1:1: machine is missing; want machine: NAME");
	says("schema: 2\nmachine: m\nfuture: x\n",
		"m.yaml:1:9: schema: \"2\" is not known to weft " WEFT_VERSION
		"; want schema: 1");
	says("schema: one\nmachine: m\n",
		"m.yaml:1:9: schema: \"one\" is not known to weft " WEFT_VERSION
		"; want schema: 1");
	says("schema: 1\nmachine: ../m\n", "m.yaml:2:10: machine " WANTS_NAME);
	says("schema: 1\nmachine:\n", "m.yaml:2:9: machine " WANTS_NAME);
	says(HEAD "base: ../../etc/passwd\n", "m.yaml:3:7: base " WANTS_NAME);
	says(HEAD "base: nowhere\n",
		"m.yaml:3:7: base: no nowhere.yaml in the directory of the "
		"file or among the machines that `weft machines` lists");
}

#define CONTROL "line breaks and control characters are not allowed"

static void cleverness_is_refused(void **state)
{
	says(HEAD "link: &a {gap: 1}\n", "m.yaml:3:7: anchors are not allowed");
	says(HEAD "link: *a\n", "m.yaml:3:7: aliases are not allowed");
	says("*a\n", "m.yaml:1:1: aliases are not allowed");
	says(HEAD "link: !cable {gap: 1}\n",
		"m.yaml:3:7: tags other than YAML's own are not allowed");
	says(HEAD "title: !!binary aGVsbG8=\n",
		"m.yaml:3:8: tags other than YAML's own are not allowed");
	says(HEAD "--- \n" HEAD, "m.yaml:3:1: more than one YAML document");
	says(HEAD "title: |\n  two\n  lines\n", "m.yaml:3:8: " CONTROL);
	says(HEAD "title: \"a\\0b\"\n", "m.yaml:3:8: " CONTROL);
	says(HEAD "title: \"\\e[31m\"\n", "m.yaml:3:8: " CONTROL);
	says(HEAD "title: \"\\x9b\"\n", "m.yaml:3:8: " CONTROL);
}

static void what_is_no_yaml_is_refused(void **state)
{
	says("", "m.yaml:1:1: the file is empty");
	says("# only a comment\n", "m.yaml:1:1: the file is empty");
	says(HEAD "link: {rate: 2",
		"m.yaml:4:1: did not find expected ',' or '}' "
		"while parsing a flow mapping");
	says(HEAD "link:\n\trate: 1\n",
		"m.yaml:4:1: a tab, which YAML does not accept as indentation "
		"(want spaces)");
	bytes_say("ab\n\0c", 5,
		"m.yaml:2:1: not valid YAML: "
		"control characters are not allowed");
	bytes_say("a: \xff\xfe", 5,
		"m.yaml:1:4: not valid YAML: "
		"invalid leading UTF-8 octet");
	bytes_say("\x7f"
		  "ELF\x02\x01\x01\0\0",
		9,
		"m.yaml:1:1: not valid YAML: "
		"control characters are not allowed");
}

static void nesting_has_a_limit(void **state)
{
	enum { N = 100000 };
	char *text = mem_alloc(2 * N, 1);

	memset(text, '[', N);
	bytes_say(text, N, "m.yaml:1:9: nested more than 8 levels deep");
	memset(text, '{', N);
	bytes_say(text, N, "m.yaml:1:9: nested more than 8 levels deep");
	for (int i = 0; i < N; i++)
		memcpy(text + 2 * i, "- ", 2);
	bytes_say(text, 2 * N, "m.yaml:1:17: nested more than 8 levels deep");
	mem_free(text);
}

static void size_has_a_limit(void **state)
{
	char *text = mem_alloc(MACHINE_FILE_MAX + 1, 1);
	struct fixture f;

	memset(text, '#', MACHINE_FILE_MAX + 1);
	memcpy(text, HEAD, sizeof(HEAD) - 1);
	assert_int_equal(read_bytes(&f, text, MACHINE_FILE_MAX), 0);
	bytes_say(text, MACHINE_FILE_MAX + 1,
		"m.yaml:1:1: the file is larger than 1 MiB");
	mem_free(text);
}

static void a_long_name_is_shown_by_its_end(void **state)
{
	char name[400];
	struct fixture f;

	memset(name, 'd', sizeof(name));
	strcpy(name + 300, "\n/bgq.yaml");
	fresh(&f);
	assert_int_equal(machine_text_read(name, "[", 1, NULL, &f.header,
				 f.blocks, 2, &f.e),
		-1);
	is_one_line(&f.e);
	assert_int_equal(strncmp(f.e.text, "...ddd", 6), 0);
	assert_non_null(strstr(f.e.text, "d?/bgq.yaml:2:1: "));
}

/* Files on disk, in a directory of their own */

static char dir[64];

static int make_dir(void **state)
{
	strcpy(dir, "/tmp/file_test.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static const char *in_dir(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(in_dir(name), "w");

	assert_non_null(f);
	assert_int_equal(fputs(text, f) < 0, 0);
	assert_int_equal(fclose(f), 0);
}

static int read_named(struct fixture *f, const char *name)
{
	char other[128];
	const char *const dirs[] = { "/nonexistent", other, NULL };
	struct trees trees = { 0 };
	int failed;

	snprintf(other, sizeof(other), "%s/other", dir);
	fresh(f);
	failed = machine_file_read(
		&trees, in_dir(name), dirs, &f->header, f->blocks, 2, &f->e);
	trees_free(&trees);
	return failed;
}

static void file_says(const char *name, const char *place, const char *message)
{
	struct fixture f;
	char want[256];

	assert_int_equal(read_named(&f, name), -1);
	is_one_line(&f.e);
	snprintf(want, sizeof(want), "%s/%s: %s", dir, place, message);
	assert_string_equal(f.e.text, want);
}

static void a_base_is_read_first(void **state)
{
	struct fixture f;
	char place[128];

	assert_int_equal(mkdir(in_dir("other"), 0700), 0);
	write_file("other/root.yaml",
		"schema: 1\nmachine: root\ntitle: the root\n"
		"link: {rate: {value: 5 GB/s, source: R}, gap: 1}\n");
	write_file("mid.yaml", "schema: 1\nlink: {gap: 2, note: mid}\n"
			       "machine: mid\nbase: root\n");
	write_file("leaf.yaml",
		"link: {note: leaf}\nbase: mid\nmachine: leaf\nschema: 1\n");
	if (read_named(&f, "leaf.yaml"))
		fail_msg("%s", f.e.text);
	assert_string_equal(f.header.name, "leaf");
	assert_string_equal(f.header.title, "the root");
	assert_string_equal(f.header.base, "mid");
	assert_int_equal(f.link.rate, 5000000000);
	assert_int_equal(f.link.gap, 2);
	assert_string_equal(f.link.note, "leaf");
	assert_string_equal(f.link_origins[0].source, "R");
	snprintf(place, sizeof(place), "%s/other/root.yaml:4:22", dir);
	assert_string_equal(f.link_origins[0].place, place);
}

static void an_error_in_a_base_names_the_base(void **state)
{
	write_file("bad.yaml", HEAD "link: {gab: 1}\n");
	write_file("good.yaml", HEAD "base: bad\n");
	file_says("good.yaml", "bad.yaml:3:8",
		"unknown key \"link.gab\"; did you mean link.gap?");
}

static void a_circle_of_bases_is_refused(void **state)
{
	write_file("a.yaml", HEAD "base: b\n");
	write_file("b.yaml", HEAD "base: a\n");
	file_says("a.yaml", "b.yaml:3:7",
		"a chain of more than 8 bases; is it a cycle?");
}

/* The file of a user beside the machine of the same name. */
static void a_file_may_have_the_name_of_its_base(void **state)
{
	struct fixture f;

	write_file("other/same.yaml",
		HEAD "link: {rate: 7 GB/s, gap: 1, note: other}\n");
	write_file("same.yaml", HEAD "base: same\nlink: {note: own}\n");
	if (read_named(&f, "same.yaml"))
		fail_msg("%s", f.e.text);
	assert_int_equal(f.link.rate, 7000000000);
	assert_string_equal(f.link.note, "own");
}

static void eight_files_may_be_stacked(void **state)
{
	struct fixture f;
	char name[32], text[64];

	write_file("s1.yaml", HEAD "link: {gap: 77}\n");
	for (int i = 2; i <= 9; i++) {
		snprintf(name, sizeof(name), "s%d.yaml", i);
		snprintf(text, sizeof(text), HEAD "base: s%d\n", i - 1);
		write_file(name, text);
	}
	assert_int_equal(read_named(&f, "s8.yaml"), 0);
	assert_int_equal(f.link.gap, 77);
	assert_int_equal(read_named(&f, "s9.yaml"), -1);
}

static void what_cannot_be_read_is_refused(void **state)
{
	file_says("none.yaml", "none.yaml", "No such file or directory");
	assert_int_equal(mkdir(in_dir("folder.yaml"), 0700), 0);
	file_says("folder.yaml", "folder.yaml", "cannot read: Is a directory");
	write_file("large.yaml", HEAD);
	assert_int_equal(truncate(in_dir("large.yaml"), 1 << 21), 0);
	file_says("large.yaml", "large.yaml:1:1",
		"the file is larger than 1 MiB");
	if (geteuid() == 0)
		return;
	write_file("locked.yaml", HEAD);
	assert_int_equal(chmod(in_dir("locked.yaml"), 0), 0);
	file_says(
		"locked.yaml", "locked.yaml", "cannot read: Permission denied");
}

/* Whatever is left of a good file, it reads or says why not. */
static void every_beginning_reads_or_is_refused(void **state)
{
	struct fixture f;

	for (size_t n = 0; n <= strlen(whole); n++)
		if (read_bytes(&f, whole, n))
			is_one_line(&f.e);
}

static void every_changed_byte_reads_or_is_refused(void **state)
{
	static const char bytes[] = "\0\t\n\r #&*!|>%@`'\"{}[],:?-.0aZ~\x7f\x80"
				    "\xc2\xe2\xff";
	char text[sizeof(whole)];
	struct fixture f;

	for (size_t i = 0; i < strlen(whole); i++) {
		for (size_t b = 0; b < sizeof(bytes); b++) {
			memcpy(text, whole, sizeof(text));
			text[i] = bytes[b];
			if (read_bytes(&f, text, strlen(whole)))
				is_one_line(&f.e);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_machine_is_read),
		cmocka_unit_test(every_value_tells_its_origin),
		cmocka_unit_test(a_value_may_be_written_in_many_ways),
		cmocka_unit_test(blocks_may_share_a_section),
		cmocka_unit_test(an_unknown_key_is_refused),
		cmocka_unit_test(a_wrong_value_is_refused_in_its_place),
		cmocka_unit_test(a_wrong_type_is_refused),
		cmocka_unit_test(a_key_stands_once),
		cmocka_unit_test(the_head_is_checked),
		cmocka_unit_test(cleverness_is_refused),
		cmocka_unit_test(what_is_no_yaml_is_refused),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(size_has_a_limit),
		cmocka_unit_test(a_long_name_is_shown_by_its_end),
		cmocka_unit_test(a_base_is_read_first),
		cmocka_unit_test(an_error_in_a_base_names_the_base),
		cmocka_unit_test(a_circle_of_bases_is_refused),
		cmocka_unit_test(a_file_may_have_the_name_of_its_base),
		cmocka_unit_test(eight_files_may_be_stacked),
		cmocka_unit_test(what_cannot_be_read_is_refused),
		cmocka_unit_test(every_beginning_reads_or_is_refused),
		cmocka_unit_test(every_changed_byte_reads_or_is_refused),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
