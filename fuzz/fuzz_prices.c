/*
 * Feeds the reader of price lists with anything: it reads one in which every
 * part is found by its size, or says why not in one line.
 *
 *	fuzz_prices [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_prices"

#include "machine/prices.h"

#include "check.h"
#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_price(const struct prices *p, const struct price *x)
{
	const struct price *found = prices_find(p, x->kind, x->size);
	const struct price *most = prices_largest(p, x->kind);
	char name[2 * PRICE_NAME];

	check(found && found->size == x->size, "a part is not found");
	check(most && most->size >= x->size, "a part is above the largest");
	for (uint32_t i = 0; i < N_PRICES; i++)
		check(x->is[i] <= 1e15, "a number is too large");
	price_name(x, name);
	check(*name, "a part has no name");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_file f;
	struct err e = { 0 };
	struct prices p = { 0 };

	file_open(&f, data, size);
	if (prices_read(&p, f.path, &e)) {
		check_refusal(&e);
	} else {
		for (size_t i = 0; i < p.n; i++)
			check_price(&p, &p.v[i]);
	}
	prices_free(&p);
	file_close(&f);
	return 0;
}

#ifndef WEFT_LIBFUZZER

#include "driver.h"

static const char *const seeds[] = {
	"schema: 1\ntitle: offer\ncurrency: EUR\nswitches:\n"
	"  40: { price: 9, watts: 2, pj-per-bit: 1 }\n"
	"  64: { price: 1e3, watts: 480 }\n"
	"cards: { price: 800, watts: 15 }\ncables:\n  copper:\n"
	"    3: { price: 60, watts: 0 }\n  fibre: { price: 3, watts: 4 }\n"
	"  \"stage 1\": { price: 1, watts: 1 }\n",
	"schema: 1\nswitches: { 8: { price: 1 } }\n",
};

static const char *const pieces[] = { "schema: 1\n",
	"switches:", "cables:", "copper:", "fibre:", "wires:", "cards:",
	"price:", "watts:", "pj-per-bit:", "{", "}", "[", "]", "\n", "  ",
	"64:", "0:", "-1", "1e15", "1e16", "nan", "inf", "\"", "&a", "*a", "!!",
	"\xff" };

int main(int argc, char **argv)
{
	return fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));
}

#endif
