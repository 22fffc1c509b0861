#include "host/params.h"

#define AT(field)   offsetof(struct host_params, field)
#define MOST_TIME   (PS_PER_S / 1000)
#define MOST_MEMORY (INT64_C(1) << L2_ADDRESS_BITS)
#define MOST_L2	    (INT64_C(1) << 30)

const struct param host_params_table[HOST_PARAMS] = {
	PARAM_ROW(PARAM_BYTES, "memory", AT(memory), "16 GiB", L2_PAGE,
		MOST_MEMORY, "memory of a node",
		"assumed: the usual size of compute cards"),
};

const struct param host_processors_table[] = {
	PARAM_ROW(PARAM_COUNT, "processors", AT(processors), "1", 1, 8,
		"processors of a node, each with a side of its own; process p "
		"belongs to processor p modulo this number",
		"assumed: one processor"),
	{ 0 },
};

#undef AT
#define AT(field) offsetof(struct l2_params, field)

const struct param l2_params_table[L2_PARAMS] = {
	PARAM_ROW(PARAM_COUNT, "l2.slices", AT(slices), "16", 1, 256,
		"number of slices that lines are interleaved over", "BGQ-N64"),
	PARAM_ROW(PARAM_BYTES, "l2.line", AT(line), "128 B", L2_BEAT, L2_PAGE,
		"size of a cache line", "BGQ-G33"),
	PARAM_ROW(PARAM_BYTES, "l2.capacity", AT(capacity), "32 MiB", L2_PAGE,
		MOST_L2, "capacity of all slices together", "BGQ-G33"),
	PARAM_ROW(PARAM_COUNT, "l2.ways", AT(ways), "16", 1, 64,
		"associativity: number of lines in a set, of which the least "
		"recently used is replaced",
		"assumed: a common figure; sweeps do not depend on it"),
	PARAM_ROW(PARAM_TIME, "l2.read", AT(read), "80 ns", 1, MOST_TIME,
		"latency of a port's read of up to one line", "BGQ-G33"),
	PARAM_ROW(PARAM_TIME, "l2.write", AT(write), "70 ns", 1, MOST_TIME,
		"time until a write is visible", "BGQ-G33"),
	PARAM_ROW(PARAM_TIME, "l2.atomic", AT(atomic), "70 ns", 1, MOST_TIME,
		"time until an atomic operation is visible", "BGQ-G33"),
	PARAM_ROW(PARAM_RATE, "l2.slice-rate", AT(slice_rate), "25.6 GB/s",
		1000000, PS_PER_S, "rate of one slice",
		"assumed: 32 B per cycle of 800 MHz"),
	PARAM_ROW(PARAM_TIME, "ddr.latency", AT(ddr_latency), "160 ns", 0,
		MOST_TIME, "additional latency of a miss",
		"assumed: difference between a load from DDR and one from L2"),
	PARAM_ROW(PARAM_RATE, "ddr.rate", AT(ddr_rate), "37.5 GB/s", 1000000,
		PS_PER_S, "rate of DDR, reads and writes together",
		"calibrated: BGQ-N114"),
};

static void set_defaults(const struct param *rows, size_t n, void *values)
{
	struct param_block b = {
		.section = "host",
		.rows = rows,
		.n_rows = n,
		.values = values,
	};

	param_defaults(&b);
}

void host_params_defaults(struct host_params *p)
{
	set_defaults(host_params_table, HOST_PARAMS, p);
	set_defaults(
		host_processors_table, param_count(host_processors_table), p);
	set_defaults(l2_params_table, L2_PARAMS, &p->l2);
}

int host_params_check(const struct host_params *p, struct err *e)
{
	return l2_check(&p->l2, e);
}
