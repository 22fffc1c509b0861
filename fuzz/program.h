/*
 * Random programs: every node makes the calls that an input spells, each
 * beginning at another of its bytes.  Whatever they call, and with whatever
 * numbers, the run ends as the headers of include/weft say, and not with an
 * internal error.
 */
#ifndef FUZZ_PROGRAM_H
#define FUZZ_PROGRAM_H

#include <stdint.h>
#include <stdio.h>

#include "weft/program.h"
#include "weft/run.h"

#include "base/mem.h"

#include "check.h"

enum { PROGRAM_CALLS = 24, PROGRAM_ARGS = 8 };

/* What all nodes read; nobody writes it while they run. */
static struct {
	const uint8_t *data;
	size_t size;
} program_input;

/* Where a node reads. */
struct program_at {
	size_t at;
};

static inline struct program_at program_begin(void)
{
	return (struct program_at){ 7 * weft_node() };
}

static inline uint8_t take(struct program_at *p)
{
	return program_input.size
		       ? program_input.data[p->at++ % program_input.size]
		       : 0;
}

/* Small ones mostly, and those at which something ends. */
static inline uint64_t number(struct program_at *p)
{
	static const uint64_t ends[] = { 0, 8, 64, 511, 512, 513, 4096, 65535,
		65536, 1 << 20, (1 << 22) - 8, 1 << 22, UINT32_MAX,
		UINT64_C(1) << 32, INT64_MAX, UINT64_MAX };
	uint8_t kind = take(p);

	if (kind < 96)
		return kind % 8;
	if (kind < 192)
		return 8u * take(p);
	return ends[kind % 16] + (kind < 224 ? 0 : take(p));
}

static inline uint32_t narrow(struct program_at *p)
{
	return (uint32_t)number(p);
}

/* Runs it with the arguments of a command line, up to a NULL.  What it prints
 * is shown where that is wrong; sanitizers write elsewhere.  Where a call of a
 * collective fails on some nodes, others wait in it for what does not fit: that
 * is the programs' fault, and exit code 5. */
static inline void program_run(const struct weft_app *app,
	const char *const *args, const uint8_t *data, size_t size)
{
	char *argv[PROGRAM_ARGS + 1] = { (char *)app->name };
	FILE *out = stdout, *err = stderr;
	char *said = NULL;
	size_t n_said = 0;
	int argc = 1, code;

	while (argc < PROGRAM_ARGS && args[argc - 1]) {
		argv[argc] = (char *)args[argc - 1];
		argc++;
	}
	program_input.data = data;
	program_input.size = size;
	stdout = stderr = open_memstream(&said, &n_said);
	code = weft_main(argc, argv, app);
	fclose(stdout);
	stdout = out;
	stderr = err;
	check((code >= 0 && code < 5) ||
			(code == 5 && strstr(said, "different collectives")),
		said);
	mem_free(said);
}

/* The same on one of some machines, which the first byte chooses. */
static inline void program_run_one_of(const struct weft_app *app,
	const char *const (*on)[4], size_t n, const uint8_t *data, size_t size)
{
	size_t used = size > 0;

	program_run(app, on[used ? data[0] % n : 0], data + used, size - used);
}

#endif
