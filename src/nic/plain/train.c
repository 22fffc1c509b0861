#include "nic/plain/card.h"

/* Nine tenths of a bus are left for data. */
static int64_t bus_rate(const struct nic_at *a)
{
	return plain_of(a)->side->rate / 10 * 9;
}

uint32_t plain_train_first(const struct nic_at *a, uint32_t bytes)
{
	const struct link_rules *r = &a->nic->net->link;
	int64_t link = r->bps[0], bus = bus_rate(a), later;

	if (!bus)
		return bytes;
	later = bytes - r->each;
	if (bus < link)
		later = later * (bus / 1000) / (link / 1000);
	return bytes - (uint32_t)later;
}

/* A packet of a train is asked for at once, if the side has as many reads. */
uint32_t plain_whole(const struct side *side, const struct link_rules *r)
{
	bool fits = side->n_reads >= (r->each - 1) / side->most_read + 1;

	return r->train > 1 && r->each > side->most_read && fits ? r->each : 0;
}

void plain_train_rest(
	const struct nic_at *a, uint64_t at, uint32_t first, uint32_t bytes)
{
	side_reads_stream(a, &plain_card(a)->reads, at + first, bytes - first);
}

/* The packets before the last one have come earlier. */
void plain_train_write(
	const struct nic_at *a, uint64_t at, uint32_t bytes, uint32_t before)
{
	const struct link_rules *r = &a->nic->net->link;
	struct side *side = plain_of(a)->side;
	sim_time late = link_ser(r, bytes) - link_ser(r, bytes - before);

	side->ops->write(side, plain_place(a), a->t - late, at, before);
}
