#include "parts/clocks/clocks.h"

#include "host/host.h"

#define AT(field) offsetof(struct clock_params, field)
#define CLOCK(name_, field_, def_, help_, source_)                             \
	PARAM_ROW(PARAM_CLOCK, name_, AT(field_), def_, 1000000,               \
		INT64_C(10000000000), help_, source_)

static const struct param clocks[] = {
	CLOCK("core", core, "1.6 GHz",
		"clock of the cores, which scales the times of software",
		"BGQ-N24"),
	CLOCK("memory", memory, "800 MHz",
		"clock of the memory system and the message unit, which scales "
		"the times of the unit's ports and the rate of L2",
		"BGQ-N25"),
	CLOCK("network", network, "500 MHz",
		"clock of the network, which scales the rate of links and the "
		"cycles of collectives",
		"BGQ-N26"),
};

static const struct param ring[] = {
	CLOCK("clock", ring, "100 MHz",
		"clock of the ring of configuration registers", "BGQ-N75"),
	PARAM_ROW(PARAM_COUNT, "access", AT(access), "20", 0, 1000000,
		"number of the ring's cycles that an access takes; there is "
		"one access at a time",
		"assumed: once round the chip"),
};

static const struct part_block blocks[] = {
	{ "clock", clocks, sizeof(clocks) / sizeof(clocks[0]), 0 },
	{ "dcr", ring, sizeof(ring) / sizeof(ring[0]), 0 },
	{ 0 },
};

const struct clock_params *clocks_of(const struct host *h)
{
	return part_params(host_parts(h), &part_clocks);
}

const struct part_ops part_clocks = {
	.name = "clocks",
	.needs = "clocks",
	.blocks = blocks,
	.params_size = sizeof(struct clock_params),
};
