#include "machine/flow.h"

#include <stdio.h>
#include <string.h>

#include "load/load.h"
#include "net/use.h"

enum { TRANSFERS = 64 }; /* that a bus is tried with */

static double rate_of(double bytes, sim_time time)
{
	return bytes * (double)PS_PER_S / (double)(time > 0 ? time : 1);
}

/* --- the host --- */

/* Writes of full packets, one after the other. */
static double write_rate(struct side *s, uint32_t bytes)
{
	sim_time first = s->ops->write(s, 0, 0, 0, bytes), last = first;

	for (uint32_t i = 1; i <= TRANSFERS; i++)
		last = s->ops->write(s, 0, 0, (uint64_t)i * bytes, bytes);
	return rate_of((double)bytes * TRANSFERS, last - first);
}

/* The rate of the data of reads, one after the other. */
static double data_rate(struct side *s)
{
	uint32_t bytes = s->most_read;
	sim_time first = s->ops->data(s, 0, 0, 0, bytes), last = first;

	for (uint32_t i = 1; i <= TRANSFERS; i++)
		last = s->ops->data(s, 0, 0, (uint64_t)i * bytes, bytes);
	return rate_of((double)bytes * TRANSFERS, last - first);
}

/* With the largest number of outstanding reads. */
static double reads_rate(struct side *s)
{
	sim_time asked = s->ops->request(s, 0, 0, 0, s->most_read);

	return rate_of((double)s->most_read * s->n_reads,
		s->ops->data(s, 0, asked, 0, s->most_read));
}

/* The remedy is the rate of the bus at which the bound equals the link's. */
static struct flow_bound bus_bound(
	const struct machine *m, const char *what, double rate, double link)
{
	struct flow_bound b = { .what = what, .label = what, .rate = rate };

	snprintf(b.remedy, sizeof(b.remedy), "side.rate=%.4gGB/s",
		(double)m->side->rates(m->side_params).data * link / rate /
			1e9);
	return b;
}

/* A side without a rate is a cache, which is no bound.  Each bound is measured
 * on a new side. */
static uint32_t add_bus(
	const struct machine *m, double link, struct flow_bound *bound)
{
	double (*const tries[])(struct side * s) = { reads_rate, data_rate };
	uint32_t n = 0;

	if (!m->side || !m->side->rates)
		return 0;
	for (uint32_t i = 0; i < 3; i++) {
		struct err e = { 0 };
		struct side *s = side_new(m->side, m->side_params, 1, 1, &e);

		if (!s)
			return n;
		if (i == 2)
			bound[n++] = bus_bound(m, "the bus, for writes",
				write_rate(s, (uint32_t)m->link.payload), link);
		else if (s->most_read && s->n_reads)
			bound[n++] = bus_bound(
				m, "the bus, for reads", tries[i](s), link);
		if (i == 0 && n) {
			bound[0].what = "reads on the bus at a time";
			bound[0].label = "outstanding reads on the bus";
			snprintf(bound[0].remedy, FLOW_REMEDY,
				"side.reads=%.0f",
				s->n_reads * link / bound[0].rate + 1);
		}
		side_free(s);
	}
	return n;
}

/* A generic card's time from packet to packet. */
static bool has_packet_time(const struct machine *m)
{
	for (size_t i = 0; i < m->n_blocks; i++) {
		const struct param_block *b = &m->block[i];

		if (!machine_uses(m, i) || strcmp(b->section, "nic") != 0)
			continue;
		for (size_t k = 0; k < b->n_rows; k++)
			if (!strcmp(b->rows[k].name, "packet") &&
				b->rows[k].type == PARAM_TIME)
				return true;
	}
	return false;
}

static uint32_t add_card(
	const struct machine *m, double link, struct flow_bound *bound)
{
	double payload = (double)m->link.payload;

	if (!has_packet_time(m))
		return 0;
	*bound = (struct flow_bound){ .what = "the card",
		.label = "the card",
		.rate = rate_of(payload, machine_value(m, "nic", "packet")) };
	snprintf(bound->remedy, FLOW_REMEDY, "nic.packet=%.0fps",
		payload * (double)PS_PER_S / link);
	return 1;
}

/* --- the network --- */

/* Tokens that return too late. */
static uint32_t add_buffers(
	const struct machine *m, double link, struct flow_bound *bound)
{
	struct link_rules r;
	struct err e = { 0 };
	uint32_t wire, n = 0;

	if (link_rules_init(&r, &m->link, m->topo, &e))
		return 0;
	wire = net_short_of_room(m->topo, &r, &m->router);
	if (wire < TOPO_MAX_WIRES) {
		int64_t trip = link_round_trip(&r, wire);

		*bound = (struct flow_bound){ .what = "the routers' buffers",
			.label = "the routers' buffers",
			.rate = link * (double)m->router.packets /
				(double)trip };
		snprintf(bound->remedy, FLOW_REMEDY, "router.packets=%lld",
			(long long)trip);
		n = 1;
	}
	link_rules_fini(&r);
	return n;
}

uint32_t flow_bounds(
	const struct machine *m, struct flow_bound bound[FLOW_BOUNDS])
{
	double link =
		(double)load_link_rate(&m->link, (uint32_t)m->link.payload);
	uint32_t n = add_bus(m, link, bound), i;

	n += add_card(m, link, bound + n);
	bound[n++] = (struct flow_bound){
		.what = "the link", .label = "the link", .rate = link
	};
	n += add_buffers(m, link, bound + n);
	for (i = 0; i < n; i++)
		if (bound[i].rate >= link)
			bound[i].remedy[0] = '\0';
	return n;
}

bool flow_knows_host(const struct flow_bound *bound)
{
	return strcmp(bound[0].what, "the link") != 0;
}

struct flow_bound flow_least(const struct flow_bound *bound, uint32_t n)
{
	struct flow_bound least = bound[0];

	for (uint32_t i = 1; i < n; i++)
		if (bound[i].rate < least.rate)
			least = bound[i];
	return least;
}
