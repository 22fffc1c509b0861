#include "host/bus.h"

void bus_init(struct bus *b, const struct bus_params *p)
{
	*b = (struct bus){ .params = p,
		.request = bus_packet(p, BUS_REQUEST, 0) };
	for (uint32_t i = 0; i < BUS_KINDS; i++)
		b->full[i] = bus_packet(p, i, (uint32_t)p->payload);
}
