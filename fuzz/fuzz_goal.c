/*
 * Feeds the reader of schedules with anything: it reads one that can end, or
 * says why not in one line.  What it has read as text it reads again in binary
 * form, as it was written and then with a few bytes changed.
 *
 *	fuzz_goal [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_goal"

#include <stdlib.h>
#include <string.h>

#include "load/replay/goal.h"
#include "meas/digest.h"

#include "check.h"
#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Edges lead to operations, and all wait for as many as they say. */
static void check_rank(const struct goal_rank *r)
{
	uint64_t needs = 0;
	uint32_t i;

	for (i = 0; i < r->n_edges; i++)
		check(r->edge[i] / 2 < r->n_ops, "an edge leads nowhere");
	for (i = 0; i < r->n_ops; i++)
		needs += r->op[i].needs;
	check(needs == r->n_edges, "an operation waits for nobody");
}

/* Whether it is a schedule. */
static bool feed(struct goal *g, const uint8_t *data, size_t size)
{
	struct fuzz_file f;
	struct err e = { 0 };
	bool is_read;
	uint32_t i;

	file_open(&f, data, size);
	is_read = !goal_read(g, f.path, &e);
	if (!is_read)
		check_refusal(&e);
	for (i = 0; is_read && i < g->n_ranks; i++)
		check_rank(&g->rank[i]);
	file_close(&f);
	return is_read;
}

static void feed_binary(const struct goal *g, uint64_t seed)
{
	char *bytes = NULL, *again = NULL;
	size_t n, n_again, i;
	FILE *f = open_memstream(&bytes, &n);
	struct goal copy;

	goal_write(g, true, f);
	fclose(f);
	check(feed(&copy, (const uint8_t *)bytes, n), "it is refused again");
	f = open_memstream(&again, &n_again);
	goal_write(&copy, true, f);
	fclose(f);
	check(n == n_again && !memcmp(bytes, again, n), "it has changed");
	goal_free(&copy);
	for (i = 0; i < 4; i++) {
		seed = digest_mix(seed + i + 1);
		bytes[seed / 8 % n] = (char)(1 << seed % 8);
		if (feed(&copy, (const uint8_t *)bytes, n - (seed >> 60)))
			goal_free(&copy);
	}
	free(bytes);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct goal g;

	if (feed(&g, data, size)) {
		feed_binary(&g, size ? data[size / 2] + 256 * size : 0);
		goal_free(&g);
	}
	return 0;
}

#ifndef WEFT_LIBFUZZER

#include "driver.h"

static const char *const seeds[] = {
	"num_ranks 2\nrank 0 {\nl1: calc 100 cpu 1\nl2: send 8b to 1 tag 3\n"
	"l2 requires l1\n}\nrank 1 {\nl1: recv 8b from 0 tag 3 nic 0\n}\n",
	"num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2 // c\nb irequires a\n}\n",
};

static const char *const pieces[] = { "num_ranks ", "rank 0 {\n", "}\n", "\n",
	": ", "l1", "l2", " requires ", " irequires ", "send 8b to 1",
	"recv 8b from 0", "calc 1", " tag 4294967295", " cpu 64", " nic 1", "#",
	"//", "18446744073709551616", "1000000000", "\xff", "{", ";" };

int main(int argc, char **argv)
{
	return fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));
}

#endif
