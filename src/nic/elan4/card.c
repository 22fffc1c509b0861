/*
 * Accesses of the card's units to memory: the host's, over the bus, or the
 * card's own, through its cache.  What waits for card memory goes on by steps.
 */
#include "nic/elan4/units.h"

/* --- steps --- */

void elan_card_then(
	const struct nic_at *a, sim_time t, elan_then *then, uint32_t id)
{
	struct slots *steps = &elan_here(a)->steps;
	uint32_t step = slots_take_any(steps);
	struct elan_step *x = slots_at(steps, step);

	x->then = then;
	x->id = id;
	elan_post(a, t > a->t ? t : a->t + 1, ELAN_ENGINE_CARD, step);
}

void elan_card_on_step(const struct nic_at *a, uint32_t step)
{
	struct slots *steps = &elan_here(a)->steps;
	const struct elan_step x = *(struct elan_step *)slots_at(steps, step);

	slots_give(steps, step);
	x.then(a, x.id);
}

/* --- reads --- */

static void on_read(const struct nic_at *a, uint32_t read)
{
	struct slots *reads = &elan_here(a)->card_reads;
	const struct elan_card_read x =
		*(struct elan_card_read *)slots_at(reads, read);

	slots_give(reads, read);
	x.done(a, &(struct side_read){ .id = x.id });
}

void elan_read_begin(const struct nic_at *a, enum elan_unit unit, uint64_t at,
	uint32_t bytes, side_read_done *done, void *owner, uint32_t id)
{
	struct slots *reads = &elan_here(a)->card_reads;
	struct elan_card_read *x;
	uint32_t read;

	if (!elan_is_card(at) || !bytes) {
		side_reads_begin(
			a, &elan_here(a)->reads, at, bytes, done, owner, id);
		return;
	}
	read = slots_take_any(reads);
	x = slots_at(reads, read);
	x->done = done;
	x->id = id;
	elan_card_then(a,
		elan_cache_read(a, unit, at, bytes, a->t) +
			elan_cache_rest(a, bytes),
		on_read, read);
}

/* --- writes --- */

void elan_write_begin(const struct nic_at *a, enum elan_unit unit, uint64_t at,
	uint32_t bytes, elan_granted *granted, uint32_t id)
{
	sim_time t;

	if (!elan_is_card(at)) {
		elan_bus_write(a, at, bytes, granted, id);
		return;
	}
	t = elan_cache_write(a, unit, at, bytes, a->t) +
	    elan_cache_rest(a, bytes);
	granted(a, id, t > a->t ? t : a->t + 1);
}

void elan_write_end(const struct nic_at *a, uint32_t context, uint64_t at,
	const void *from, uint32_t bytes)
{
	if (elan_is_card(at) &&
		!elan_sdram_find(&elan_here(a)->sdram, context, at, bytes))
		elan_count(a)->errors[ELAN_ERROR_ADDRESS]++;
	else
		host_write(a->nic->host, a->w, a->s, a->t, at, from, bytes);
}
