/*
 * Gemini: R. Alverson, D. Roweth and L. Kaplan, "The Gemini System
 * Interconnect".  What was fitted, and so is no evidence: GEM-N32, GEM-N51 and
 * GEM-N52, one constant each.  Rates follow from numbers that the paper gives
 * as inputs; of the rest it prints bounds and orders, and no values.
 */

#include "paper/rows.h"

/* --- experiments --- */

/* Node 1 is on node 0's chip, node 2 an x neighbour, node 8 a y neighbour. */
enum {
	PUT_8,
	PUT_64,
	PUT_NEAR, /* to the node of the same chip */
	GET_8,
	GET_64,
	GET_1K,
	PUT_1K,
	MESSAGE_8,
	MESSAGE_1M,
	/* Puts of four programs. */
	STREAM_X,
	STREAM_X_FAST, /* host's side at 2,600 MHz */
	STREAM_Y,
	STREAM_Y_LANES, /* each of its links without a lane */
	STREAM_CHIP,
	STREAM_SELF,
	FAN_OUT,
	FAN_IN,
	BOTH_X, /* block transfers */
	BOTH_Y,
	BOTH_Y_SLOW, /* lanes of 3.125 Gb/s */
	/* Puts of 1 KiB, by the number of programs. */
	SHORT_1,
	SHORT_2,
	SHORT_4,
	ADD_ONE, /* atomics: one variable, from 32 nodes */
	ADD_ONE_ALONE, /* from one node */
	ADD_MANY,
	HOP_1,
	HOP_2,
	/* What `weft show` knows. */
	SHOW,
	SHOW_SLOW,
	SHOW_LARGEST,
	N_EXPERIMENTS,
};

#define RUN(name, ...)                                                         \
	{                                                                      \
		.machine = "gemini", .workload = name, .keys = { __VA_ARGS__ } \
	}

#define PUT(size, node)                                                        \
	RUN("pingpong", "via=nic", "by=fma", "bytes=" size, "to=" node,        \
		"rounds=100")
#define GET(size) RUN("gets", "bytes=" size, "to=2", "rounds=100")
#define STREAM(node)                                                           \
	"by=fma", "procs=4", "bytes=64KiB", "rounds=40", "places=1", "to=" node
#define SHORT(n)                                                               \
	RUN("stream", "by=fma", "procs=" n, "bytes=1KiB", "rounds=400",        \
		"places=1", "to=2")

static const struct paper_experiment experiments[N_EXPERIMENTS] = {
	[PUT_8] = PUT("8", "2"),
	[PUT_64] = PUT("64", "2"),
	[PUT_1K] = PUT("1KiB", "2"),
	[PUT_NEAR] = PUT("8", "1"),
	[GET_8] = GET("8"),
	[GET_64] = GET("64"),
	[GET_1K] = GET("1KiB"),
	[MESSAGE_8] =
		RUN("pingpong", "via=msg", "bytes=8", "to=2", "rounds=100"),
	[MESSAGE_1M] =
		RUN("pingpong", "via=msg", "bytes=1MiB", "to=8", "rounds=10"),
	[STREAM_X] = RUN("stream", STREAM("2")),
	[STREAM_X_FAST] = { .machine = "gemini",
		.sets = { "side.rate=10.4GB/s" },
		.workload = "stream",
		.keys = { STREAM("2") } },
	[STREAM_Y] = RUN("stream", STREAM("8")),
	[STREAM_Y_LANES] = { .machine = "gemini",
		.sets = { "faults.events=0 ns lane 0,0,0 y+0 1 dies; "
			  "0 ns lane 0,0,0 y+1 1 dies; "
			  "0 ns lane 0,0,0 y+2 1 dies; "
			  "0 ns lane 0,0,0 y+3 1 dies" },
		.workload = "stream",
		.keys = { STREAM("8") } },
	[STREAM_CHIP] = RUN("stream", STREAM("1")),
	[STREAM_SELF] = RUN("stream", STREAM("0")),
	[FAN_OUT] = RUN("fan", "by=fma", "procs=4", "way=out"),
	[FAN_IN] = RUN("fan", "by=fma", "procs=4", "way=in"),
	[BOTH_X] = RUN("stream", "by=bte", "both=yes", "bytes=1MiB",
		"rounds=16", "places=1", "to=2"),
	[BOTH_Y] = RUN("stream", "both=yes", STREAM("8")),
	[BOTH_Y_SLOW] = { .machine = "gemini",
		.sets = { "link.lane-rate=3.125Gb/s" },
		.workload = "stream",
		.keys = { "both=yes", STREAM("8") } },
	[SHORT_1] = SHORT("1"),
	[SHORT_2] = SHORT("2"),
	[SHORT_4] = SHORT("4"),
	[ADD_ONE] = RUN("amo", "variables=1", "senders=32"),
	[ADD_ONE_ALONE] = RUN("amo", "variables=1", "senders=1"),
	[ADD_MANY] = RUN("amo", "variables=8192", "senders=32"),
	[HOP_1] = RUN("pingpong", "via=net", "to=2", "rounds=10"),
	[HOP_2] = RUN("pingpong", "via=net", "to=4", "rounds=10"),
	[SHOW] = { .machine = "gemini" },
	[SHOW_SLOW] = { .machine = "gemini",
		.sets = { "link.lane-rate=3.125Gb/s" } },
	[SHOW_LARGEST] = { .machine = "gemini", .shape = "64x32x32" },
};

/* --- rows --- */

#define ID(n) "GEM-N" #n

/* A bound that the paper prints as "more than", "at most", ... */
#define ABOVE(value) AT_LEAST(value, 0.01)
#define BELOW(value) AT_MOST(value, 0.01)

/* A packet's length: a of the request, b of the response. */
#define PHITS(n, name, x, request, response)                                   \
	{ ID(n) "a", name ", request", "phits", EXACTLY(request),              \
		.kind = ARITHMETIC, ONE(1, x, "request_phits") },              \
	{                                                                      \
		ID(n)                                                          \
		"b", name ", response", "phits", EXACTLY(response),            \
			.kind = ARITHMETIC, ONE(1, x, "response_phits")        \
	}

static const char put_note[] =
	"nic.input was fitted so that the sum is 660 ns. The other parts of "
	"the sum, such as the bus and the Netlink, are assumed.";
static const char message_note[] = "The paper's value is for MPI. Weft's "
				   "messages do no matching, and so take less.";
static const char figure_note[] =
	"The paper's figure has no values in the text, only an order.";
static const char wide_note[] =
	"Over the stream to a y neighbour, which its four links limit; here "
	"the host's side is the limit.";
static const char printed_note[] =
	"The paper truncates: 62.7 % of the connection's rate.";

static const char slow_note[] =
	"The paper's own arithmetic gives 2.94, which it cuts to 2.9: 1.4 of "
	"these 2.1 %. The rest comes from the model: one direction gets more "
	"than its share (2.96 and 2.67), since responses of the other wait "
	"behind requests inside the tiles. With router.inner=ideal the value "
	"is 2.94.";
static const char late_note[] =
	"nic.amo.interval was fitted to it. With senders spread over the "
	"machine it is 97.8: packets that enter a ring wait for others.";

static const struct paper_row rows[] = {
	{ ID(2), "nodes of the largest machine", "nodes", ABOVE(100000),
		.kind = ARITHMETIC, ONE(1, SHOW_LARGEST, "nodes") },
	{ ID(9), "links without one of three lanes", "%", NEAR_TO(66.7, 0.5),
		.kind = ARITHMETIC,
		RATIO(100, STREAM_Y_LANES, "total_MBps", STREAM_Y,
			"total_MBps") },
	{ ID(10) "a", "links to an x or z neighbour", "links", EXACTLY(8),
		.kind = ARITHMETIC, ONE(1, SHOW, "most_links") },
	{ ID(10) "b", "links to a y neighbour", "links", EXACTLY(4),
		.kind = ARITHMETIC, ONE(1, SHOW, "least_links") },
	PHITS(23, "write of 8 B", PUT_8, 11, 2),
	PHITS(24, "write of 64 B", PUT_64, 32, 2),
	PHITS(25, "get of 64 B", GET_64, 8, 27),
	{ ID(32), "put of 8 B", "ns", BELOW(700), .kind = CALIBRATED,
		ONE(1, PUT_NEAR, "one_way_ns"), .note = put_note },
	{ ID(33), "message of 8 B", "ns", BELOW(1500), .kind = PREDICTED,
		ONE(1, MESSAGE_8, "one_way_ns"), .note = message_note },
	{ ID(34), "get of 8 B", "ns", BELOW(1500), .kind = PREDICTED,
		ONE(1, GET_8, "get_ns"),
		.note = "The read's 260 ns are assumed." },
	{ ID(35), "a hop", "ns", EXACTLY(105), .kind = ARITHMETIC,
		DIFFERENCE(1, HOP_2, "one_way_ns", HOP_1, "one_way_ns") },
	{ ID(37), "interface, at best", "GB/s", WITHIN(8.3, 2),
		.kind = ARITHMETIC, ONE(1e-3, STREAM_X_FAST, "total_MBps"),
		.note = "With HyperTransport at 2,600 MHz, so that it is not "
			"the limit." },
	{ ID(38), "HyperTransport, raw", "GB/s", EXACTLY(9.6),
		.kind = ARITHMETIC, ONE(1, SHOW, "side_GBps") },
	{ ID(40), "puts by stores, at best", "GB/s", WITHIN(8, 2),
		.kind = ARITHMETIC, ONE(1e-3, STREAM_X, "total_MBps") },
	{ ID(42) "a", "block transfers, both ways: there", "GB/s", WITHIN(7, 2),
		.kind = ARITHMETIC, ONE(1e-3, BOTH_X, "out_MBps") },
	{ ID(42) "b", "block transfers, both ways: back", "GB/s", WITHIN(7, 2),
		.kind = ARITHMETIC, ONE(1e-3, BOTH_X, "back_MBps"),
		.repeats = ID(42) "a" },
	{ ID(45) "a", "connection, lanes of 3.125 Gb/s", "GB/s",
		WITHIN(4.68, 0.2), .kind = ARITHMETIC,
		ONE(4, SHOW_SLOW, "link_GBps"), .note = "Four links." },
	{ ID(45) "b", "connection, lanes of 6.25 Gb/s", "GB/s", EXACTLY(9.375),
		.kind = ARITHMETIC, ONE(4, SHOW, "link_GBps"),
		.repeats = ID(45) "a" },
	{ ID(46), "of it data, packets of 64 B", "%", NEAR_TO(63, 1),
		.kind = ARITHMETIC, ONE(100 / 9375., BOTH_Y, "out_MBps") },
	{ ID(47) "a", "after protocol, 3.125 Gb/s", "GB/s", WITHIN(2.9, 2),
		.kind = ARITHMETIC, ONE(1e-3, BOTH_Y_SLOW, "out_MBps"),
		.repeats = ID(47) "b", .note = slow_note },
	{ ID(47) "b", "after protocol, 6.25 Gb/s", "GB/s", WITHIN(5.8, 2),
		.kind = ARITHMETIC, ONE(1e-3, BOTH_Y, "out_MBps"),
		.repeats = ID(46), .note = printed_note },
	{ ID(48), "message of 1 MiB over several links", "GB/s", ABOVE(5),
		.kind = PREDICTED, ONE(1, MESSAGE_1M, "rate_GBps") },
	{ ID(49) "a", "to the chip's other node", "times",
		MORE_THAN(STREAM_CHIP, "total_MBps", STREAM_Y, "total_MBps"),
		.kind = ARITHMETIC, .note = wide_note },
	{ ID(49) "b", "to the node itself", "times",
		MORE_THAN(STREAM_SELF, "total_MBps", STREAM_Y, "total_MBps"),
		.kind = ARITHMETIC, .note = wide_note },
	{ ID(50) "a", "to all neighbours", "times",
		MORE_THAN(FAN_OUT, "total_MBps", STREAM_Y, "total_MBps"),
		.kind = ARITHMETIC, .note = wide_note },
	{ ID(50) "b", "from all neighbours", "times",
		MORE_THAN(FAN_IN, "total_MBps", STREAM_Y, "total_MBps"),
		.kind = ARITHMETIC, .note = wide_note },
	{ ID(51), "atomics, 8,192 variables", "M/s", ABOVE(45),
		.kind = CALIBRATED, ONE(1, ADD_MANY, "rate_Mps"),
		.note = "nic.amo.reads was fitted to it." },
	{ ID(52), "atomics, one variable", "M/s", WITHIN(100, 2),
		.kind = CALIBRATED, ONE(1, ADD_ONE, "rate_Mps"),
		.note = late_note },
	{ ID(53) "a", "get over put, 8 B", "times",
		MORE_THAN(GET_8, "get_ns", PUT_8, "one_way_ns"),
		.kind = CALIBRATED, .note = figure_note },
	{ ID(53) "b", "get over put, 64 B", "times",
		MORE_THAN(GET_64, "get_ns", PUT_64, "one_way_ns"),
		.kind = CALIBRATED, .note = figure_note },
	{ ID(53) "c", "put of 1 KiB over 8 B", "times",
		MORE_THAN(PUT_1K, "one_way_ns", PUT_8, "one_way_ns"),
		.kind = CALIBRATED, .note = figure_note },
	{ ID(53) "d", "get of 1 KiB over 8 B", "times",
		MORE_THAN(GET_1K, "get_ns", GET_8, "get_ns"),
		.kind = CALIBRATED, .note = figure_note },
	{ ID(54) "a", "puts of 1 KiB, 2 programs over 1", "times",
		MORE_THAN(SHORT_2, "total_MBps", SHORT_1, "total_MBps"),
		.kind = ARITHMETIC, .note = figure_note },
	{ ID(54) "b", "puts of 1 KiB, 4 programs over 2", "times",
		MORE_THAN(SHORT_4, "total_MBps", SHORT_2, "total_MBps"),
		.kind = ARITHMETIC, .note = figure_note },
	{ ID(54) "c", "puts of 64 KiB, 4 programs", "GB/s", WITHIN(8, 2),
		.kind = ARITHMETIC, ONE(1e-3, STREAM_X, "total_MBps"),
		.repeats = ID(40) },
	{ ID(55) "a", "atomics, 1 variable over 8,192", "times",
		MORE_THAN(ADD_ONE, "rate_Mps", ADD_MANY, "rate_Mps"),
		.kind = CALIBRATED, .repeats = ID(52) },
	{ ID(55) "b", "atomics, 32 nodes over 1", "times",
		MORE_THAN(ADD_ONE, "rate_Mps", ADD_ONE_ALONE, "rate_Mps"),
		.kind = CALIBRATED, .note = figure_note },
};

const struct paper_system paper_gemini = {
	.name = "gemini",
	.title = "Cray Gemini",
	.citation = "R. Alverson, D. Roweth, L. Kaplan: \"The Gemini System "
		    "Interconnect\". HOTI 2010, 18th IEEE Symposium on High "
		    "Performance Interconnects, pp. 83-87, 2010",
	.prefix = "GEM-",
	.experiments = experiments,
	.n_experiments = N_EXPERIMENTS,
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
};
