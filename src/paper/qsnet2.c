/*
 * QsNetII: J. Beecroft et al., "QsNetII: Defining high-performance network
 * design".  What was fitted, and so is no evidence: QSN-N29, QSN-N30, QSN-N38,
 * QSN-N51, QSN-N53, QSN-N71 to QSN-N73, QSN-N77 and, by the size of its
 * network, QSN-N81.  Rows that follow from these are calibrated, too.
 */

#include "paper/rows.h"

/* --- experiments --- */

enum {
	/* A write of eight bytes to and fro, by platform; by the DMA engine. */
	PUT_OPTERON,
	PUT_SECOND, /* by the second CPUs of both nodes */
	PUT_XEON,
	PUT_ITANIUM2,
	DMA_OPTERON,
	/* Many DMAs, one way and both ways. */
	STREAM_OPTERON,
	STREAM_XEON,
	STREAM_ITANIUM2,
	BOTH_ITANIUM2,
	/* Many puts: how fast a core stores. */
	STORES_OPTERON,
	STORES_ITANIUM2,
	/* What links carry when nothing but the network is there. */
	BUSY_PLAIN,
	BUSY_4B5B,
	FARTHEST,
	CROSSOVER,
	GETS,
	EVENTS,
	MIRROR_16,
	MIRROR_1024,
	/* What `weft show` knows. */
	SHOW_16,
	SHOW_16_CABLES,
	SHOW_4096,
	SHOW_4096_CABLES,
	SHOW_4B5B,
	N_EXPERIMENTS,
};

#define PING(platform, ...)                                                    \
	{                                                                      \
		.machine = "qsnet2-16", .sets = { "nic.platform=" platform },  \
		.workload = "pingpong",                                        \
		.keys = { "via=nic", "rounds=200", __VA_ARGS__ },              \
	}

#define STREAM(platform, ...)                                                  \
	{                                                                      \
		.machine = "qsnet2-16", .sets = { "nic.platform=" platform },  \
		.workload = "stream", .keys = { "places=1", __VA_ARGS__ },     \
	}

#define DMAS "by=dma", "bytes=1MiB", "rounds=40"

#define STORES(platform)                                                       \
	STREAM(platform, "by=sten", "bytes=64KiB", "rounds=100")

#define MIRROR(name)                                                           \
	{                                                                      \
		.machine = name, .workload = "mirror"                          \
	}

/* So many packets that the last one on its way does not count. */
#define LASTING "load=max", "warmup=40us", "measure=400us"

static const struct paper_experiment experiments[N_EXPERIMENTS] = {
	[PUT_OPTERON] = PING("opteron", "by=sten", "bytes=8"),
	[PUT_SECOND] = PING("opteron", "by=sten", "bytes=8", "cpu=1"),
	[PUT_XEON] = PING("xeon", "by=sten", "bytes=8"),
	[PUT_ITANIUM2] = PING("itanium2", "by=sten", "bytes=8"),
	[DMA_OPTERON] = PING("opteron", "by=dma", "bytes=8"),
	[STREAM_OPTERON] = STREAM("opteron", DMAS),
	[STREAM_XEON] = STREAM("xeon", DMAS),
	[STREAM_ITANIUM2] = STREAM("itanium2", DMAS),
	[BOTH_ITANIUM2] = STREAM("itanium2", DMAS, "both=yes"),
	[STORES_OPTERON] = STORES("opteron"),
	[STORES_ITANIUM2] = STORES("itanium2"),
	[BUSY_PLAIN] = { .machine = "qsnet2-16",
		.workload = "complement",
		.keys = { LASTING } },
	[BUSY_4B5B] = { .machine = "qsnet2-16",
		.sets = { "link.code=4b5b" },
		.workload = "complement",
		.keys = { LASTING } },
	[FARTHEST] = { .machine = "qsnet2-4096",
		.workload = "pingpong",
		.keys = { "via=nic", "by=sten", "to=4095", "bytes=8",
			"rounds=20" } },
	[CROSSOVER] = { .machine = "qsnet2-16", .workload = "crossover" },
	/* The paper does not say how large its network was. */
	[GETS] = { .machine = "qsnet2-64", .workload = "gets" },
	[EVENTS] = { .machine = "qsnet2-16", .workload = "events" },
	[MIRROR_16] = MIRROR("qsnet2-16"),
	[MIRROR_1024] = MIRROR("qsnet2-1024"),
	[SHOW_16] = { .machine = "qsnet2-16" },
	[SHOW_16_CABLES] = { .machine = "qsnet2-16",
		.sets = { "topology.switch=0ns" } },
	[SHOW_4096] = { .machine = "qsnet2-4096" },
	[SHOW_4096_CABLES] = { .machine = "qsnet2-4096",
		.sets = { "topology.switch=0ns" } },
	[SHOW_4B5B] = { .machine = "qsnet2-16", .sets = { "link.code=4b5b" } },
};

/* --- rows --- */

#define ID(n) "QSN-N" #n

/* A row of Table 4: a the write's latency, b the bandwidth. */
#define PLATFORM(n, name, us, rate, which, same)                               \
	{ ID(n) "a", name ", write of 8 B", "us", WITHIN(us, 2),               \
		.kind = CALIBRATED, ONE(1e-3, PUT_##which, "one_way_ns") },    \
	{                                                                      \
		ID(n)                                                          \
		"b", name ", bandwidth", "MB/s", WITHIN(rate, 1.5),            \
			.kind = CALIBRATED,                                    \
			ONE(1, STREAM_##which, "total_MBps"), .repeats = same, \
			.note = bandwidth_note                                 \
	}

static const char bandwidth_note[] =
	"The paper's value is for MPI; here DMAs of 1 MiB follow each other.";
static const char peak_note[] = "Relative to the link with 4b5b; relative to "
				"the uncoded link it would be 78 %.";
static const char match_note[] =
	"The paper's sum has 300 ns for MPI's tag match, which the model does "
	"not have yet; 671 ns are cables, switches and interfaces.";
static const char dma_note[] =
	"nic.dma.dispatch and nic.software.dma were fitted to it; both are 0, "
	"since a put, the read's 750 ns, its burst and the longer command "
	"leave no time for them.";
static const char crossover_note[] =
	"No parameter was fitted to it, but the model's DMAs move whole blocks "
	"from stage to stage, a rule that was chosen with the number in mind.";

static const struct paper_row rows[] = {
	{ ID(28), "reads of memory, long bursts", "MB/s", AT_LEAST(900, 0.01),
		.kind = CALIBRATED, ONE(1, STREAM_ITANIUM2, "total_MBps"),
		.repeats = ID(52) "a",
		.note = "Reads are at least as fast as the DMAs that they "
			"feed." },
	{ ID(29), "stores in bursts of 128 B", "MB/s", WITHIN(600, 1.5),
		.kind = CALIBRATED, ONE(1, STORES_ITANIUM2, "stored_MBps") },
	{ ID(30), "stores in bursts of 64 B", "MB/s", WITHIN(450, 1.5),
		.kind = CALIBRATED, ONE(1, STORES_OPTERON, "stored_MBps") },
	{ ID(31), "DMA reads, at best", "MB/s", WITHIN(920, 1.5),
		.kind = CALIBRATED, ONE(1, STREAM_XEON, "total_MBps"),
		.repeats = ID(72) "b" },
	{ ID(38), "packets built by events", "M/s", AT_LEAST(4, 0.01),
		.kind = CALIBRATED, ONE(1, EVENTS, "packets_per_us"),
		.note = "nic.event.slot was fitted to it." },
	{ ID(49), "a wire's data with 4b5b", "Mb/s", WITHIN(1066, 0.1),
		.kind = ARITHMETIC, ONE(1e3, SHOW_4B5B, "data_GBps"),
		.repeats = ID(50) "a" },
	{ ID(50) "a", "link's peak, 4b5b", "MB/s", WITHIN(1066, 0.1),
		.kind = ARITHMETIC, ONE(1e3, SHOW_4B5B, "data_GBps") },
	{ ID(50) "b", "link's peak, not coded", "MB/s", WITHIN(1333, 0.1),
		.kind = ARITHMETIC, ONE(1e3, SHOW_16, "data_GBps") },
	{ ID(51) "a", "link after protocol, 4b5b", "MB/s", WITHIN(928, 0.2),
		.kind = CALIBRATED,
		ONE(1e3, BUSY_4B5B, "throughput_GBps_per_node") },
	{ ID(51) "b", "link after protocol, not coded", "MB/s",
		WITHIN(1160, 0.2), .kind = CALIBRATED,
		ONE(1e3, BUSY_PLAIN, "throughput_GBps_per_node"),
		.repeats = ID(51) "a" },
	{ ID(52) "a", "ping, one way", "MB/s", WITHIN(911, 1.5),
		.kind = CALIBRATED, ONE(1, STREAM_ITANIUM2, "total_MBps") },
	{ ID(52) "b", "of the achievable peak", "%", AT_LEAST(98, 0.1),
		.kind = CALIBRATED,
		RATIO(0.1, STREAM_ITANIUM2, "total_MBps", BUSY_4B5B,
			"throughput_GBps_per_node"),
		.repeats = ID(52) "a", .note = peak_note },
	{ ID(53), "ping, both ways together", "MB/s", WITHIN(900, 1.5),
		.kind = CALIBRATED, ONE(1, BOTH_ITANIUM2, "total_MBps"),
		.note = "A half-duplex bus: 900 is the sum." },
	{ ID(56), "write across 4,096 nodes", "us", AT_MOST(1, 0.01),
		.kind = ARITHMETIC, ONE(1e-3, FARTHEST, "network_ns"),
		.repeats = ID(65), .note = match_note },
	{ ID(58), "of it 50 m of cable", "ns", EXACTLY(200), .kind = ARITHMETIC,
		ONE(1, SHOW_4096_CABLES, "farthest_ns") },
	{ ID(60), "of it 11 switches", "ns", EXACTLY(231), .kind = ARITHMETIC,
		DIFFERENCE(1, SHOW_4096, "farthest_ns", SHOW_4096_CABLES,
			"farthest_ns") },
	{ ID(63), "of it both interfaces", "ns", EXACTLY(240),
		.kind = ARITHMETIC,
		DIFFERENCE(
			1, FARTHEST, "network_ns", SHOW_4096, "farthest_ns") },
	{ ID(65), "write across 4,096 nodes, match too", "ns", EXACTLY(971),
		.kind = ARITHMETIC, ONE(1, FARTHEST, "network_ns"),
		.note = match_note },
	{ ID(66), "bytes of a DMA's read", "B", EXACTLY(512),
		.kind = ARITHMETIC, ONE(1, STREAM_XEON, "read_B") },
	{ ID(67), "bytes of a write, not merged", "B", EXACTLY(128),
		.kind = ARITHMETIC, ONE(1, STORES_OPTERON, "write_B"),
		.note = "Writes of puts, which arrive too slowly to be "
			"merged." },
	{ ID(70), "complement, 1,024 nodes : 16", "times", WITHIN(64, 2),
		.kind = PREDICTED,
		RATIO(1, MIRROR_1024, "total_GBps", MIRROR_16, "total_GBps"),
		.note = "The paper: almost linear in the number of nodes." },
	PLATFORM(71, "Opteron", 0.85, 881.45, OPTERON, NULL),
	PLATFORM(72, "Xeon EM64T", 1.14, 912.21, XEON, NULL),
	PLATFORM(73, "Itanium2", 1.6, 911, ITANIUM2, ID(52) "a"),
	{ ID(74), "highest bandwidth of the three", "MB/s", WITHIN(912, 1.5),
		.kind = CALIBRATED, ONE(1, STREAM_XEON, "total_MBps"),
		.repeats = ID(72) "b", .note = bandwidth_note },
	{ ID(76), "put of 8 B, Opteron", "us", WITHIN(0.85, 2),
		.kind = CALIBRATED, ONE(1e-3, PUT_OPTERON, "one_way_ns"),
		.repeats = ID(71) "a" },
	{ ID(77), "DMA of 8 B, Opteron", "us", WITHIN(1.7, 2),
		.kind = CALIBRATED, ONE(1e-3, DMA_OPTERON, "one_way_ns"),
		.note = dma_note },
	{ ID(78), "DMAs are faster from", "B", WITHIN(1500, 15),
		.kind = PREDICTED, ONE(1, CROSSOVER, "crossover_B"),
		.note = crossover_note },
	{ ID(81), "get of a word from a random node", "us", WITHIN(2.3, 5),
		.kind = CALIBRATED, ONE(1e-3, GETS, "get_ns"),
		.note = "The size of the network, which the paper does not "
			"give, was chosen to match it." },
	{ ID(83), "added latency between second CPUs", "ns", IN_WORDS,
		DIFFERENCE(
			1, PUT_SECOND, "one_way_ns", PUT_OPTERON, "one_way_ns"),
		.note = "The paper: slightly higher latency from the second "
			"CPU, which is one more hop from the bus bridge." },
	{ ID(85), "switches on a path of a 16-way unit", "hops", EXACTLY(3),
		.kind = ARITHMETIC,
		DIFFERENCE(1 / 21., SHOW_16, "farthest_ns", SHOW_16_CABLES,
			"farthest_ns"),
		.note = "21 ns each." },
};

static const struct paper_missing missing[] = {
	{ 54, 55, "MPI on the card" },
	{ 68, 69, "hardware barriers" },
	{ 75, 75, "MPI on the card" },
	{ 86, 86, "an application's trace" },
};

const struct paper_system paper_qsnet2 = {
	.name = "qsnet2",
	.title = "Quadrics QsNetII",
	.citation = "J. Beecroft, D. Addison, D. Hewson, M. McLaren, D. "
		    "Roweth, F. Petrini, J. Nieplocha: \"QsNetII: Defining "
		    "High-Performance Network Design\". IEEE Micro 25(4), pp."
		    " 34-47, 2005",
	.prefix = "QSN-",
	.experiments = experiments,
	.n_experiments = N_EXPERIMENTS,
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.missing = missing,
	.n_missing = sizeof(missing) / sizeof(missing[0]),
};
