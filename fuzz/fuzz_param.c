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
#define FUZZ_NAME "fuzz_param"

#include <string.h>

#include "base/mem.h"
#include "base/param.h"
#include "base/units.h"

#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct values {
	int64_t count, time, rate, bytes, fraction, flag, word;
	char text[PARAM_TEXT_MAX];
	struct param_list counts, words;
};

enum { N_LINK = 6, N_ROUTER = 3, N_BARE = 1 };

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

static void check_error(const struct err *e)
{
	check_refusal(e);
	check(*e->text, "no message");
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
		{ "link", link_rows, N_LINK, &values, origins, NULL },
		{ "router", router_rows, N_ROUTER, &values, NULL, NULL },
		{ "", bare_rows, N_BARE, &values, NULL, NULL },
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

#include "driver.h"

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

int main(int argc, char **argv)
{
	return fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));
}

#endif
