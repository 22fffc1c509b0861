/*
 * Sides that are buses (host/side.h), for interfaces whose card has a fixed
 * bus, which the machine file cannot select; and access to the bus of a place.
 */
#ifndef HOST_SIDE_BUS_H
#define HOST_SIDE_BUS_H

#include "host/bus.h"
#include "host/side.h"

struct side_bus_params {
	struct bus_params bus;
	int64_t rate; /* bytes a second; 0: by bus.clock; -1: by lanes */
	int64_t lanes, generation; /* of PCI Express */
	int64_t request; /* bytes of a read */
	int64_t reads; /* at a time */
	int64_t store; /* ps, from the bus to the card */
	int64_t see; /* ps, from the bus to where loads see a write */
};

const struct bus *side_bus_at(struct side *side, site_id place);

#endif
