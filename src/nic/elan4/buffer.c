#include "nic/elan4/buffer.h"

void elan_buffer_cut(struct elan_buffer *b, uint64_t to, uint32_t bytes)
{
	uint32_t at = 0;

	b->data_bytes = (uint16_t)bytes;
	while (at < bytes) {
		uint32_t n = ELAN_BLOCK;

		/* the first one up to a boundary, if all then fits */
		if (!at && to % ELAN_BLOCK && bytes <= ELAN_PACKET - ELAN_BLOCK)
			n -= to % ELAN_BLOCK;
		n = n < bytes - at ? n : bytes - at;
		elan_add_piece(b, (struct elan_piece){ .what = ELAN_WRITE,
					  .address = to + at,
					  .bytes = (uint16_t)n,
					  .at = (uint16_t)at });
		at += n;
	}
}

void elan_buffer_set_times(const struct nic_at *a, struct elan_buffer *b,
	sim_time start, sim_time since)
{
	const struct elan_params *p = elan_params(a);
	uint32_t i, sum = 0;

	b->left_at = start;
	for (i = 0; i < b->n_pieces; i++) {
		sim_time come;

		sum += b->piece[i].bytes;
		come = since + elan_bus_time(a, sum) + p->command;
		b->left[i] = start + elan_ser(a, sum);
		b->left[i] = b->left[i] > come ? b->left[i] : come;
	}
}
