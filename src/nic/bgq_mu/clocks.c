/* Parameters that follow the chip's clocks unless a machine file sets them
 * (BGQ-F10, F11): a slower clock slows down its own part of a message only. */
#include "nic/bgq_mu/units.h"

#define FOLLOWS(section_, name_, clock_, millis_)                              \
	{                                                                      \
		section_, name_, "clock", clock_, millis_, NULL                \
	}

const struct param_follow mu_clocks[] = {
	FOLLOWS("nic", "software.descriptor", "core", 156800),
	FOLLOWS("nic", "software.poll-period", "core", 96000),
	FOLLOWS("nic", "software.poll-load", "core", 80000),
	FOLLOWS("nic", "slave", "memory", 4000),
	FOLLOWS("nic", "port.cycle", "memory", 1000),
	FOLLOWS("nic", "port.fifo", "memory", 2000),
	FOLLOWS("nic", "port.read-rate", "memory", 32000),
	FOLLOWS("nic", "reception.drain-rate", "memory", 4000),
	FOLLOWS("host", "l2.slice-rate", "memory", 32000),
	{ "link", "rate", "clock", "network", 4000, "BGQ-N5, BGQ-N26" },
	FOLLOWS("coll", "up", "network", 9000),
	FOLLOWS("coll", "down", "network", 3000),
	FOLLOWS("coll", "turn", "network", 12000),
	{ 0 },
};
