/*
 * APEnet+: R. Ammendola et al., "Architectural improvements and 28 nm FPGA
 * implementation of the APEnet+ 3D Torus network for hybrid HPC systems".  It
 * prints few numbers, and most of them fix a constant.  What was fitted, and so
 * is no evidence, was settled before the rest was looked at: APE-N5, N8, N11,
 * N14 with N16, N15, N17, N19, N20 and N22; N18 is an input.
 */
#include "paper/apenet.h"

#include "paper/rows.h"

/* --- experiments --- */

enum {
	/* Both nodes of a pair send at once. */
	FRAMING,
	FRAMING_34,
	/* What `weft show` knows. */
	SHOW_PAIR,
	SHOW_QUONG,
	SHOW_NEXT,
	SHOW_NEXT_SLOW,
	N_EXPERIMENTS,
};

static const struct paper_experiment experiments[N_EXPERIMENTS] = {
	[FRAMING] = { .machine = "apenet-pair",
		.workload = "complement",
		.keys = { "bytes=4096", "load=max" } },
	[FRAMING_34] = { .machine = "apenet-pair",
		.sets = { "link.lane-rate=8.5Gb/s" },
		.workload = "complement",
		.keys = { "bytes=4096", "load=max" } },
	[SHOW_PAIR] = { .machine = "apenet-pair" },
	[SHOW_QUONG] = { .machine = "apenet-quong" },
	[SHOW_NEXT] = { .machine = "apenet-v5" },
	[SHOW_NEXT_SLOW] = { .machine = "apenet-v5",
		.sets = { "link.lane-rate=11.3Gb/s" } },
};

/* --- rows --- */

#define ID(n) "APE-N" #n

static const char framing_note[] =
	"link.control was fitted: two words after every eight leave 0.8, and "
	"five words around 4 KiB leave 0.981 of that.";
static const char fast_note[] =
	"Follows from the efficiency at lanes of 8.5 Gb/s; that the paper's "
	"2.6 GB/s belong to these is a reading of its text.";
static const char code_note[] =
	"The paper says below 1 %; 128b/130b takes 2 of 130 bits, 1.54 %. It "
	"is "
	"the paper that is wrong, so the row stays red.";

static const struct paper_row rows[] = {
	{ ID(10), "raw rate of a link", "Gb/s", EXACTLY(28), .kind = ARITHMETIC,
		ONE(8, SHOW_PAIR, "link_GBps") },
	{ ID(11), "efficiency of the framing", "of 1", WITHIN(0.784, 0.3),
		.kind = CALIBRATED,
		RATIO(1, FRAMING, "throughput_GBps_per_node", SHOW_PAIR,
			"data_GBps"),
		.note = framing_note },
	{ ID(12), "sustained rate of a link", "GB/s", WITHIN(2.6, 3),
		.kind = PREDICTED,
		ONE(1, FRAMING_34, "throughput_GBps_per_node"),
		.note = fast_note },
	{ ID(25), "nodes of QUonG", "nodes", EXACTLY(16), .kind = ARITHMETIC,
		ONE(1, SHOW_QUONG, "nodes") },
	{ ID(27), "overhead of the code of PCIe Gen3", "%", AT_MOST(1, 0.01),
		.kind = ARITHMETIC, ONE(1, SHOW_NEXT, "side_code_pct"),
		.note = code_note },
	{ ID(28), "rate of PCIe Gen3 x8", "GB/s", WITHIN(7.9, 1),
		.kind = ARITHMETIC, ONE(1, SHOW_NEXT, "side_GBps") },
	{ ID(31), "raw rate of the next link", "Gb/s", WITHIN(56, 1),
		.kind = ARITHMETIC, ONE(8, SHOW_NEXT, "link_GBps"),
		.note = "The paper rounds 56.4 down." },
	{ ID(32), "raw rate in its first test", "Gb/s", EXACTLY(45.2),
		.kind = ARITHMETIC, ONE(8, SHOW_NEXT_SLOW, "link_GBps") },
};

const struct paper_system paper_apenet = {
	.name = "apenet",
	.title = "APEnet+",
	.prefix = "APE-",
	.experiments = experiments,
	.n_experiments = N_EXPERIMENTS,
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
};
