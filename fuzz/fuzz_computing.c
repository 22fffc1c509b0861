/*
 * Feeds the reader of recordings with anything: it reads, or says why not in
 * one line.  What it has read it writes and reads again.
 *
 *	fuzz_computing [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_computing"

#include "outside/computing.h"

#include <string.h>

#include "base/mem.h"
#include "base/stream.h"
#include "check.h"
#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *text_of(const struct computing *c)
{
	struct stream o;

	stream_open(&o);
	computing_write(c, o.file);
	stream_close(&o);
	return o.text;
}

static void read_again(const char *text)
{
	struct fuzz_file f;
	struct err e = { 0 };
	struct computing *c;
	char *again;

	file_open(&f, (const uint8_t *)text, strlen(text));
	c = computing_read(f.path, 2, &e);
	check(c != NULL, "a recording that is not read again");
	again = text_of(c);
	check(!strcmp(text, again), "a recording that changes");
	mem_free(again);
	computing_free(c);
	file_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_file f;
	struct err e = { 0 };
	struct computing *c;
	char *text;

	file_open(&f, data, size);
	c = computing_read(f.path, 2, &e);
	if (!c) {
		check_refusal(&e);
	} else {
		text = text_of(c);
		read_again(text);
		mem_free(text);
		computing_free(c);
	}
	file_close(&f);
	return 0;
}

#ifndef WEFT_LIBFUZZER

#include "driver.h"

static const char *const seeds[] = {
	"weft computing 1\nranks 2\nrank 0\nMPI_Comm_rank 100\n- 5\n"
	"-40 1000\noperation 7\nMPI_Finalize 3\nrank 1\n- 1\nend\n",
	"weft computing 1\nranks 2\nrank 0\nrank 1\nend\n",
};

static const char *const pieces[] = { "weft computing 1\n", "ranks 2\n",
	"rank 0\n", "rank 1\n", "end\n", "MPI_Send ", "operation ", "- ", "-7 ",
	"-4294967296 ", "0\n", "99999999999999999999\n", " ", "\n", "\r", "-1",
	"\xff", "%n", "\x1b[1m" };

int main(int argc, char **argv)
{
	return fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));
}

#endif
