/*
 * Feeds the readers of fault plans with anything, on machines of all kinds,
 * and runs under what was read.  The input's first byte chooses the machine.
 *
 *	fuzz_faults [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_faults"

#include "file.h"
#include "run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	const char *machine, *shape;
	const char *set[2];
} on[] = {
	{ "qsnet2", "6", { "link.lanes=2" } },
	{ "torus", "2x3", { "link.retry=replay", "link.lanes=4" } },
	{ "fattree", "8", { "link.lanes=4" } },
	{ "dragonfly", "32", { "link.retrain=1us" } },
	{ "bgq", "3x2", { "link.retry=replay" } },
	{ "apenet", "3x2x1", { "lofamo.period=1ms", "link.retry=replay" } },
	{ "apenet", "2x2x1", { "lofamo.period=1ms" } },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[] = { "count=4", "lanes=1", "bytes=64" };
	size_t n = sizeof(on) / sizeof(on[0]);
	size_t i = size ? (uint8_t)(data[0] - '0') % n : 0;
	struct machine_run_setup s = {
		.machine.name = on[i].machine,
		.machine.shape = on[i].shape,
		.machine.sets = on[i].set,
		.machine.n_sets = on[i].set[1] ? 2 : 1,
		.workload = "storm",
		.keys = keys,
		.n_keys = 3,
		.threads = 1,
		.seed = 1,
	};
	struct fuzz_file f;

	file_open(&f, data + (size > 0), size - (size > 0));
	s.faults = f.path;
	try_run(&s);
	file_close(&f);
	return 0;
}

#ifndef WEFT_LIBFUZZER

#include "driver.h"

static const char *const seeds[] = {
	"0schema: 1\nfaults:\n  bit-errors: [1e-6, node up 2.5e-5]\n  events:\n"
	"    - 1 us switch 1.0 dies\n    - 3 us switch 1.0 returns\n"
	"    - 2 us link 3 dies\n    - 9 us link 3 returns\n"
	"  lines:\n    - link 2.0 down 0 line 3 skew 200 ps\n"
	"  cold-start: yes\n",
	"1schema: 1\nfaults:\n  events:\n    - 5 us link 1,2 A+ dies\n"
	"    - 6 us link 1,2 A+ returns\n    - 0 ps lane 0 B- 2 dies\n",
	"2schema: 1\nfaults:\n  events: [5 us node 3 dies, 9 us node 3 returns,"
	" 1 us link 1.1 up 0 dies]\n",
	"3schema: 1\nfaults:\n  bit-errors: 0.0001\n",
	"4schema: 1\nfaults: { events: [1 us link 0 A- dies,"
	" 2 us link 0 A- returns], bit-errors: 1e-5 }\n",
	"4schema: 1\nfaults:\n  memories: [1e-4, double 1e-6]\n  events:\n"
	"    - 1 us buffer 3 A+ dynamic flips 2\n"
	"    - 2 us buffer 0 injection 3 flips 1\n",
	"5schema: 1\nfaults:\n  bit-errors: 1e-6\n  events:\n"
	"    - 105 us card 2 dies\n    - 150 us card 2 returns\n"
	"    - 110 us gpu 3.1 dies\n    - 90 us host 5 sick\n"
	"    - 120 us link 0 X+ dies\n    - 130 us link 0 X+ returns\n",
	"6schema: 1\nfaults:\n  bit-errors: 1e-5\n  events:\n"
	"    - 1 us service 1 dies\n    - 140 us host 0 dies\n"
	"    - 120 us node 3 dies\n    - 9 ms node 3 returns\n",
};

static const char *const pieces[] = { "host ", "card ", "gpu ", "service ",
	"sick", "X+", "Y-", "node ", "link ", "switch ", "lane ", "line ",
	"dies", "returns", "buffer ", "flips ", "injection ",
	"memories: ", "system ", "skew ", "closed", "control", "clock", "up 0",
	"down 1", "A+", "B-", "1.0", "2.3", "0,1", "3", "-1", "99999", " us ",
	" ps ", "1e-18", "1e-2", "9e9", "none", "- ", "\n    - ", "[", "]",
	", ", ": ", "\n",
	"bit-errors: ", "events:", "lines:", "cold-start: yes", "0 ps ",
	"9223372036854775807 ps ", "1 s " };

int main(int argc, char **argv)
{
	return fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));
}

#endif
