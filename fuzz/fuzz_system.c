/*
 * Feeds everything behind a machine's file with anything: what is read is
 * checked for deadlock, and, where it is small, built and run.  Whatever
 * comes is refused in one line or works.
 *
 *	fuzz_system [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_system"

#include "net/proof.h"

#include "file.h"
#include "run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_proof(const struct machine *m)
{
	struct proof p;

	proof_make(&p, m->topo, m->route, NULL, m->router.packets);
	proof_free(&p);
}

/* Traffic of the network alone, and what uses most of an interface. */
static const struct {
	const char *workload;
	const char *keys[2];
} loads[] = {
	{ "random", { "warmup=0ps", "measure=1us" } },
	{ "storm", { "count=30", "bytes=520" } },
	{ "stream", { "by=match", "rounds=3" } },
	{ "collective", { "op=barrier", "by=hardware" } },
};

/* The machine's own bytes choose. */
static size_t choose(const uint8_t *data, size_t size)
{
	size_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += data[i];
	return sum % (sizeof(loads) / sizeof(loads[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t load = choose(data, size);
	struct machine_run_setup s = { .workload = loads[load].workload,
		.keys = loads[load].keys,
		.n_keys = 2,
		.until = 1000000 * (sim_time)SIM_NS,
		.threads = 1,
		.seed = 1 };
	struct err e = { 0 };
	struct fuzz_file f;
	struct machine *m;

	file_open(&f, data, size);
	s.machine.name = f.path;
	m = machine_load(f.path, NULL, 0, NULL, &e);
	check_ending(&e);
	if (m && m->topo->n_nodes <= FUZZ_NODES) {
		try_proof(m);
		try_run(&s);
	}
	machine_free(m);
	file_close(&f);
	return 0;
}

#ifndef WEFT_LIBFUZZER

#include "driver.h"

static const char *const seeds[] = {
	"schema: 1\nmachine: m\ntopology:\n  kind: torus\n  shape: [2, 3]\n"
	"  wrap: [torus, mesh]\nlink:\n  rate: 2 GB/s\n  payload: 512 B\n"
	"router:\n  packets: 4\n  queues: 2\nrouting:\n  kind: hint\n"
	"  order: AB\n  bubble: yes\nnic:\n  kind: bgq-mu\n",
	"schema: 1\nmachine: m\ntopology:\n  kind: fattree\n  nodes: 8\n"
	"  radix: [2, 4]\n  up: 2\n  cable: { length: [1, 3], delay: 5 ns,\n"
	"    copper: 2 }\n"
	"link:\n  route: 1 B\n  header: 5 B\n  code: 4b5b\n"
	"  fibre-code: 8b10b\nrouting:\n"
	"  kind: updown\n  spread: rotate\nnic:\n  kind: elan4\n"
	"  opteron: { relaxed: 10 }\n  memory: { size: 8 MiB, latency: 9 ns }\n"
	"  cache: { on: yes, size: 1 KiB, ways: 2, line: 64 B, fills: 2 }\n"
	"  queue: { resident: 4, cached: 2 }\n  interrupt: 1 us\n"
	"  mmu: { on: yes, entries: 8, sizes: [8KiB, 2MiB], fill: 1 ns,\n"
	"    link: 1 ns, fault: 9 us, demand: yes }\n  hgsync: card\n"
	"  thread: { icache: 256 B, reads: 1, block: 1 MB/s, slice: 1 us }\n"
	"  match: { by: card, cycles: 47, element: 4, eager: 1 KiB,\n"
	"    slots: 8, spill: 64 KiB }\n"
	"faults:\n  bit-errors: [1e-9, fibre 1e-7]\n",
	"schema: 1\nmachine: m\ntopology:\n  kind: dragonfly\n  nodes: 0\n"
	"  per-router: 1\n  routers: 2\n  global: 1\nlink:\n  lanes: 4\n"
	"  chunk: 16 B\nrouting:\n  kind: dragonfly\n  mode: valiant\n"
	"nic:\n  kind: plain\nside:\n  kind: pcie\n  rate: 4 GB/s\n"
	"faults:\n  bit-errors: 1e-9\n",
	"schema: 1\nmachine: m\ntopology:\n  kind: torus\n  shape: [3, 2, 1]\n"
	"  letters: XYZ\n  cable: { length: [5], delay: 5 ns }\nlink:\n"
	"  lanes: 4\n  lane-rate: 7 Gb/s\n  code: 8b10b\n  payload: 4 KiB\n"
	"  control: { words: 2, every: 8 }\nrouting:\n  kind: order\n"
	"  charge: words\nnic:\n  kind: apenet\n  tlb: { entries: 8 }\n"
	"side:\n  kind: pcie\n  payload: 128 B\ngpu:\n  count: 2\n"
	"lofamo:\n  on: yes\n  write: 0.4\nfaults:\n  bit-errors: 1e-6\n",
};

static const char *const pieces[] = { "torus", "fattree", "dragonfly", "hint",
	"updown", "apenet", "order", "8b10b", "bgq-mu", "elan4", "plain",
	"none", "pcix", "l2", "0", "1", "2", "3", "63", "64", "65536", " ns",
	" B", " GB/s", "1 ps", "1 ms", "mesh", "loop", "no", "yes", "single",
	"\n  nodes: 4", "\n  links: 2", "\n  shape: [2, 2]", "\n  up: 1",
	"\n  global: 2", "\n  escape: no", "\n  stages: no",
	"\n  retry: replay", "\n  payload: 8096 B", "\n  header: 1 B",
	"\n  chunk: 1 B", "\n  packets: 1", "\n  wires: packaged",
	"\n  dateline: no", "\n  jitter: 0.9", "\n  ways: 3",
	"\n  window: 4 KiB", "\n  lanes: 0", "\n  copper: 0", "fibre",
	"\n  fibre-code: none", "\n  relaxed: 100", "\n  ways: 64", "reject",
	"interrupt", "host", "cpu", "8 B", "4 KiB", "32MiB", ": ", "\n", "[",
	"]", "," };

int main(int argc, char **argv)
{
	return fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));
}

#endif
