#include "router/array/array_testing.h"

#include "base/param_testing.h"
#include "link/link_testing.h"

struct link_params array_test_link(void)
{
	struct link_params p = link_test_defaults();

	p.rate = 10000000000;
	p.header = 32;
	p.trailer = 16;
	p.payload = FULL;
	p.word = 16;
	p.chunk = 64;
	p.protocol = 0;
	p.gap = 0;
	return p;
}

struct array_params array_test_params(void)
{
	struct array_params p = { 0 };

	param_defaults(&(struct param_block){ .rows = array_ops.params,
		.n_rows = array_ops.n_params,
		.values = &p });
	p.own = FULL_CHUNKS;
	p.shared = FULL_CHUNKS;
	return p;
}

struct packet array_test_packet(site_id src, site_id dst, uint32_t bytes)
{
	return (struct packet){
		.src = src, .dst = dst, .bytes = (uint16_t)bytes
	};
}

struct packet array_test_kind(site_id src, site_id dst, uint8_t kind)
{
	struct packet p = array_test_packet(src, dst, FULL);

	p.kind = kind;
	return p;
}

sim_time array_test_period(const struct star_rig *r)
{
	return link_ser(&r->net->link, FULL) + r->net->link.gap;
}

uint32_t array_test_came(const struct star_rig *r, uint32_t first, uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t i = first; i < first + n; i++)
		sum += r->got[i].tail > 0;
	return sum;
}
