/*
 * Feeds the reader of traffic matrices with anything: it reads one that can be
 * drawn from, or says why not in one line.
 *
 *	fuzz_matrix [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_matrix"

#include "load/matrix.h"

#include "check.h"
#include "file.h"

enum { NODES = 27 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a node may draw is another node, at both ends of the numbers. */
static uint64_t check_node(const struct matrix *m, uint32_t s)
{
	uint64_t sum = matrix_sum(m, s), bits[] = { 0, UINT64_MAX };
	uint32_t i, to;

	check(m->first[s] <= m->first[s + 1], "a node ends before it begins");
	for (i = 0; sum && i < 2; i++) {
		to = matrix_draw(m, s, bits[i]);
		check(to < NODES && to != s, "a destination is no other node");
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_file f;
	struct err e = { 0 };
	struct matrix m;
	uint64_t total = 0;
	uint32_t s;

	file_open(&f, data, size);
	if (matrix_read(&m, f.path, "node", NODES, &e)) {
		check_refusal(&e);
	} else {
		for (s = 0; s < NODES; s++)
			total += check_node(&m, s);
		check(total == m.total && total > 0, "sums do not add up");
		matrix_free(&m);
	}
	file_close(&f);
	return 0;
}

#ifndef WEFT_LIBFUZZER

#include "driver.h"

static const char *const seeds[] = {
	"source,destination,weight\n0,1,3\n0,2,0.5 # of node 0\n\n26,0,1e\n",
	"source,destination,rate\r\n0,1,2GB/s\r\n3,4, 8 Gb/s\r\n",
	"0,1,1\n1,2,1000000000000\n2,1,0.000001\n",
};

static const char *const pieces[] = { "source", "destination", "weight", "rate",
	",", "\n", "#", "0,1,1\n", "26", "27", "4294967296", "-1", "0.5",
	"1GB/s", " ", "\r", "\xff", "\"", "18446744073709551616" };

int main(int argc, char **argv)
{
	return fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));
}

#endif
