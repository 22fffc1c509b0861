/*
 * Feeds the reader of machine files with anything.  Whatever comes, it reads
 * or says why not in one line; what it read can be written and read again.
 *
 * Built with WEFT_LIBFUZZER, libFuzzer drives it.  Otherwise it replays the
 * files it is given, or makes its own from a few good ones:
 *
 *	fuzz_machine [--runs N] [--seed S] [file ...]
 */
#define FUZZ_NAME "fuzz_machine"

#include <string.h>

#include "base/param.h"
#include "machine/file.h"

#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct values {
	int64_t count, time, rate, bytes, fraction, flag, word, board, cable;
	char text[PARAM_TEXT_MAX];
	struct param_list counts, words;
};

enum { N_LINK = 8, N_ROUTER = 4 };

#define AT(field) offsetof(struct values, field)

static const struct param link_rows[N_LINK] = {
	{ "rate", PARAM_RATE, AT(rate), "2 GB/s", 1, INT64_MAX, NULL, "",
		NULL },
	{ "delay", PARAM_TIME, AT(time), "1 ns", 0, 1000000000, "auto", "",
		NULL },
	{ "latency.board", PARAM_TIME, AT(board), "40 ns", 0, INT64_MAX, NULL,
		"", NULL },
	{ "latency.cable", PARAM_TIME, AT(cable), "80 ns", 0, INT64_MAX, NULL,
		"", NULL },
	{ "gap", PARAM_BYTES, AT(bytes), "8 B", 0, INT64_MAX, NULL, "", NULL },
	{ "errors", PARAM_FRACTION, AT(fraction), "0", 0, 1000000, NULL, "",
		NULL },
	{ "retry", PARAM_FLAG, AT(flag), "yes", 0, 1, NULL, "", NULL },
	{ "note", PARAM_TEXT, AT(text), "", 0, 0, NULL, "", NULL },
};

static const struct param router_rows[N_ROUTER] = {
	{ "queues", PARAM_COUNT, AT(count), "4", 1, 6, "max|auto", "", NULL },
	{ "kind", PARAM_WORD, AT(word), "direct", 0, 0, "direct|tiled", "",
		NULL },
	{ "shape", PARAM_COUNTS, AT(counts), "4x4", 1, 64, "max", "", NULL },
	{ "order", PARAM_WORDS, AT(words), "a", 0, 0, "a|b|c", "", NULL },
};

static void check_error(const struct err *e)
{
	check_refusal(e);
	check(strncmp(e->text, "fuzz.yaml:", 10) == 0, "no place");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct values values = { 0 };
	struct param_origin origins[N_LINK + N_ROUTER];
	const struct param_block blocks[] = {
		{ "link", link_rows, N_LINK, &values, origins, NULL },
		{ "router", router_rows, N_ROUTER, &values, origins + N_LINK,
			NULL },
	};
	struct machine_header header;
	struct err e = { 0 };

	param_defaults(&blocks[0]);
	param_defaults(&blocks[1]);
	if (machine_text_read("fuzz.yaml", (const char *)data, size, NULL,
		    &header, blocks, 2, &e)) {
		check_error(&e);
		return 0;
	}
	check(e.code == 0, "an error, yet it was read");
	check_values(&blocks[0]);
	check_values(&blocks[1]);
	return 0;
}

#ifndef WEFT_LIBFUZZER

#include "driver.h"

static const char *const seeds[] = {
	"schema: 1\nmachine: bgq-midplane\ntitle: one line\n"
	"link:\n  rate: { value: 2 GB/s, source: BGQ-N5 }\n"
	"  latency:\n    board: { value: 41.4 ns, source: \"a: b\" }\n"
	"  gap: 8 B\n  errors: 25 %\n  retry: on\n  delay: auto\n"
	"router: {queues: 6, kind: tiled, shape: [4, 4, 2], order: [c, a]}\n",
	"schema: 1\nmachine: m\nrouter:\n  shape:\n  - 3\n  - max\n",
	"%YAML 1.1\n---\nschema: 1\nmachine: 'm'\nbase: other\n...\n",
	"{schema: 1, machine: m, link: {note: \"\\x41 \\u00e9\", gap: 4 KiB}}",
};

static const char *const pieces[] = { "[", "]", "{", "}", ": ", "- ", "? ",
	", ", "\n", "\n  ", "\n---\n", "...", "&a ", "*a", "!!str ", "!x ",
	"|\n ", ">\n ", "'", "\"", "\\0", "\\x9b", "#", "%TAG ! b\n", "<<: ",
	"value: ", "source: ", "link:", "router:", "latency:", "base: m",
	"schema: 1\n", "99999999999999999999", "0.0000001 ns", "4x4x", "\xff",
	"\xef\xbb\xbf", "\xc2\x85", "\xe2\x80\xa8" };

int main(int argc, char **argv)
{
	return fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));
}

#endif
