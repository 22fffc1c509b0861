/*
 * Feeds the readers of quantities and of name=value with anything.  Whatever
 * comes, they read or say why not in one line; what they read can be written
 * and read again, and what they refuse changes nothing.
 *
 * Built with WEFT_LIBFUZZER, libFuzzer drives it.  Otherwise it replays the
 * files it is given, or makes its own inputs from a few good ones:
 *
 *	fuzz_param [--runs N] [--seed S] [file ...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/param.h"
#include "base/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct values {
	int64_t count, time, rate, bytes, fraction, flag, word;
	char text[PARAM_TEXT_MAX];
	struct param_list counts, words;
};

enum { N_LINK = 6, N_ROUTER = 3, N_BARE = 1, TEXT_MAX = 1024 };

#define AT(field) offsetof(struct values, field)

static const struct param link_rows[N_LINK] = {
	{ "rate", PARAM_RATE, AT(rate), "2 GB/s", 1, INT64_MAX, NULL, "",
		NULL },
	{ "latency.board", PARAM_TIME, AT(time), "1 ns", 0, 1000000000, "auto",
		"", NULL },
	{ "gap", PARAM_BYTES, AT(bytes), "8 B", 0, INT64_MAX, NULL, "", NULL },
	{ "errors", PARAM_FRACTION, AT(fraction), "0", 0, 1000000, NULL, "",
		NULL },
	{ "retry", PARAM_FLAG, AT(flag), "yes", 0, 1, NULL, "", NULL },
	{ "note", PARAM_TEXT, AT(text), "", 0, 0, NULL, "", NULL },
};

static const struct param router_rows[N_ROUTER] = {
	{ "queues", PARAM_COUNT, AT(count), "4", 1, 6, "max|auto", "", NULL },
	{ "kind", PARAM_WORD, AT(word), "direct", 0, 0, "direct|tiled-first",
		"", NULL },
	{ "shape", PARAM_COUNTS, AT(counts), "4x4", 1, 64, "max", "", NULL },
};

static const struct param bare_rows[N_BARE] = {
	{ "order", PARAM_WORDS, AT(words), "a", 0, 0, "a|b|c", "", NULL },
};

static void check(bool is_right, const char *what)
{
	if (is_right)
		return;
	fprintf(stderr, "fuzz_param: %s\n", what);
	abort();
}

static void check_error(const struct err *e)
{
	check(e->code == EXIT_BAD_INPUT, "wrong exit code");
	check(*e->text, "no message");
	for (const char *s = e->text; *s; s++)
		check((unsigned char)*s >= ' ' && *s != 0x7f, "not one line");
}

static void check_values(const struct param_block *b)
{
	char first[TEXT_MAX], second[TEXT_MAX];
	struct err e = { 0 };

	for (size_t i = 0; i < b->n_rows; i++) {
		param_format(b, &b->rows[i], first, sizeof(first));
		check(!param_read(b, &b->rows[i], first, &e), e.text);
		param_format(b, &b->rows[i], second, sizeof(second));
		check(!strcmp(first, second), "reads back differently");
	}
}

static void try_units(const char *text)
{
	for (int kind = UNIT_NONE; kind <= UNIT_FRACTION; kind++) {
		enum unit_kind k = (enum unit_kind)kind;
		int64_t value = -7, again;
		const char *why = NULL;
		char out[48];

		if (units_read(k, text, &value, &why)) {
			check(why && *why && value == -7, "refused badly");
			continue;
		}
		check(value >= 0, "negative");
		units_format(k, value, out, sizeof(out));
		check(!units_read(k, out, &again, &why) && again == value,
			"a quantity reads back differently");
	}
}

static void try_assign(const char *text)
{
	struct values values = { 0 }, before;
	struct param_origin origins[N_LINK];
	const struct param_block blocks[] = {
		{ "link", link_rows, N_LINK, &values, origins },
		{ "router", router_rows, N_ROUTER, &values, NULL },
		{ "", bare_rows, N_BARE, &values, NULL },
	};
	struct err e = { 0 };

	for (size_t i = 0; i < 3; i++)
		param_defaults(&blocks[i]);
	before = values;
	if (param_assign(blocks, 3, text, "parameter", "--set", &e)) {
		check_error(&e);
		check(!memcmp(&values, &before, sizeof(values)),
			"refused, yet it changed something");
		return;
	}
	check(e.code == 0, "an error, yet it was read");
	for (size_t i = 0; i < 3; i++)
		check_values(&blocks[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_alloc(size + 1, 1);
	const char *value;

	memcpy(text, data, size);
	value = strchr(text, '=');
	try_assign(text);
	try_units(value ? value + 1 : text);
	mem_free(text);
	return 0;
}

#ifndef WEFT_LIBFUZZER

enum { INPUT_MAX = 1024 };

static const char *const seeds[] = { "link.rate=2 GB/s",
	"link.latency.board=41.4 ns", "link.gap=4 KiB", "link.errors=25 %",
	"link.retry=off", "link.note=any text", "router.queues=auto",
	"router.kind=tiled-first", "router.shape=[4, 4, max]",
	"router.shape=4x4x2", "order=a,b,c" };

static const char *const pieces[] = { "=", ".", ",", "x", "[", "]", " ", "\t",
	"\n", "0", "00000000", "9", "9223372036854775807", "0.000000000001",
	"e-15", "-", "+", "ps", "ns", "us", "ms", "s", "B", "KiB", "GiB",
	"GB/s", "%", "max", "auto", "yes", "|", "link", "router", "rate",
	"longets", "\x1b[", "\xff", "\xc2\xb5", "\xe2\x80\xa8",
	"\xf4\x90\x80\x80" };

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct input {
	char text[INPUT_MAX];
	size_t n;
};

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (z ^ (z >> 31)) % below;
}

/* Puts n bytes of s in the place of gone bytes at at. */
static void splice(
	struct input *in, size_t at, size_t gone, const char *s, size_t n)
{
	if (in->n - gone + n > INPUT_MAX)
		return;
	memmove(in->text + at + n, in->text + at + gone, in->n - at - gone);
	memcpy(in->text + at, s, n);
	in->n += n - gone;
}

static void mutate(struct input *in, uint64_t *seed)
{
	size_t at = draw(seed, in->n + 1);
	size_t span = draw(seed, in->n - at + 1);
	char copy[INPUT_MAX], byte = (char)draw(seed, 256);
	const char *piece = pieces[draw(seed, COUNT(pieces))];

	switch (draw(seed, 6)) {
	case 0:
		splice(in, at, at < in->n, &byte, 1);
		break;
	case 1:
		splice(in, at, span < 4 ? span : 4, "", 0);
		break;
	case 2:
		memcpy(copy, in->text + at, span);
		splice(in, draw(seed, in->n + 1), 0, copy, span);
		break;
	default:
		splice(in, at, 0, piece, strlen(piece));
	}
}

static void run(uint64_t runs, uint64_t seed)
{
	struct input in;

	for (uint64_t i = 0; i < runs; i++) {
		const char *start = seeds[draw(&seed, COUNT(seeds))];
		uint64_t n = draw(&seed, 8);

		in.n = strlen(start);
		memcpy(in.text, start, in.n);
		while (n--)
			mutate(&in, &seed);
		LLVMFuzzerTestOneInput((const uint8_t *)in.text, in.n);
	}
	printf("fuzz_param: %llu runs\n", (unsigned long long)runs);
}

static void replay(const char *path)
{
	enum { FILE_MAX = 1 << 20 };
	FILE *f = fopen(path, "rb");
	uint8_t *data = mem_alloc(FILE_MAX, 1);
	size_t n;

	check(f != NULL, path);
	n = fread(data, 1, FILE_MAX, f);
	LLVMFuzzerTestOneInput(data, n);
	mem_free(data);
	fclose(f);
}

int main(int argc, char **argv)
{
	uint64_t runs = 20000, seed = 1;
	int n_files = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--runs") && i + 1 < argc) {
			runs = strtoull(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
			seed = strtoull(argv[++i], NULL, 10);
		} else {
			replay(argv[i]);
			n_files++;
		}
	}
	if (!n_files)
		run(runs, seed);
	return 0;
}

#endif
