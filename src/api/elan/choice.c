/*
 * The library's choice between a put and a DMA (QSN-F83), by what either takes
 * on an idle machine: the CPU, or until the last byte is in the other node's
 * memory.  All of it follows from the machine's parameters, so that the size
 * from which on DMAs are faster is that of each platform.
 *
 * Of latencies only what differs is reckoned: not the way to the card of the
 * last word that makes a packet or a read, nor the network's latency.
 */
#include "api/elan/queue.h"
#include "host/program.h"

/* Longer puts are not reckoned with. */
#define PUT_MOST (UINT64_C(1) << 32)

static sim_time max(sim_time a, sim_time b)
{
	return a > b ? a : b;
}

/* --- the CPU's time --- */

/* Of bytes on the bus, without overheads. */
static sim_time words_take(uint64_t bytes)
{
	uint64_t width = (uint64_t)cq_params()->bus.width;

	return (sim_time)((bytes + width - 1) / width) * cq_params()->bus.clock;
}

/* Of bytes of commands. */
static sim_time stores_take(uint64_t bytes)
{
	uint64_t burst = (uint64_t)cq_host()->pio_burst;
	sim_time bursts = (sim_time)((bytes + burst - 1) / burst);

	return bursts * cq_host()->pio_overhead +
	       words_take((bytes + 7) / 8 * 8);
}

static sim_time put_stores(uint64_t bytes)
{
	return cq_params()->software +
	       stores_take(bytes + 24 * elan_put_packets(bytes));
}

static sim_time dma_stores(void)
{
	return cq_params()->software + cq_params()->dma_software +
	       stores_take(8 * (1 + ELAN_DMA_WORDS));
}

sim_time elan_put_time(uint64_t bytes)
{
	return bytes > PUT_MOST ? INT64_MAX : cq_way() + put_stores(bytes);
}

sim_time elan_dma_time(void)
{
	return cq_way() + dma_stores() + cq_params()->dma_after;
}

/* --- latency --- */

/* A burst of the card, from memory or to it. */
static sim_time burst_takes(uint64_t bytes)
{
	return cq_host()->dma_overhead + words_take(bytes);
}

/* What is written at once of a put: a block, unless the next one comes soon. */
static uint64_t put_burst(void)
{
	const struct elan_params *p = cq_params();

	return stores_take(ELAN_BLOCK) > p->merge_wait
		       ? ELAN_BLOCK
		       : (uint64_t)p->merge / ELAN_BLOCK * ELAN_BLOCK;
}

/* Packets leave as they are stored, and are written burst by burst: one behind
 * the other where that takes longer than to store them. */
static sim_time put_latency(uint64_t bytes)
{
	uint64_t burst = put_burst(), before = bytes ? (bytes - 1) / burst : 0;
	sim_time written = put_stores(before ? burst : bytes) +
			   (sim_time)before * burst_takes(burst);

	return max(put_stores(bytes), written) +
	       burst_takes(bytes - before * burst);
}

/* What a block's packet takes on the link beyond the least one's time, which
 * puts have, too; nothing where it leaves as it is read. */
static sim_time link_takes(uint64_t bytes)
{
	const struct link_rules *l = &cq_card()->net->link;

	return cq_params()->cut_through
		       ? 0
		       : link_ser_on(l, ELAN_FIRST_WIRE, (uint32_t)bytes) -
				 link_ser_on(l, ELAN_FIRST_WIRE, 8);
}

/* What is left of writing a block when all of it is there. */
static sim_time write_takes(uint64_t bytes)
{
	return burst_takes(cq_params()->cut_through ? 0 : bytes);
}

/* From one block of a long DMA to the next: the slowest stage, or what the
 * number of reads and their buffer allow. */
static sim_time block_period(uint64_t block)
{
	const struct elan_params *p = cq_params();
	int64_t places = max(p->read_buffer / (int64_t)block, 1);
	sim_time burst = burst_takes(block);
	sim_time reading = p->read_latency + burst;

	return max(max(burst, link_takes(block)),
		max(reading / p->reads, (reading + p->command) / places));
}

/*
 * A block is read, then sent, then written; the next one is a stage behind.
 * The last one may be short, and overtakes none.
 */
static sim_time dma_latency(uint64_t bytes)
{
	const struct elan_params *p = cq_params();
	uint64_t block = (uint64_t)p->read_block;
	uint64_t before = bytes ? (bytes - 1) / block : 0;
	uint64_t last = bytes - before * block;
	sim_time t = dma_stores() + p->dispatch + p->read_latency;
	sim_time read = t + burst_takes(last), written = 0;

	if (before) {
		sim_time end = t + burst_takes(block) +
			       (sim_time)(before - 1) * block_period(block);

		read = end + burst_takes(last);
		written = end + link_takes(block) + write_takes(block);
	}
	return max(read + link_takes(last), written) + write_takes(last);
}

bool elan_write_is_dma(uint64_t bytes, enum elan_goal goal)
{
	if (bytes > PUT_MOST)
		return true;
	if (goal == ELAN_FOR_CPU)
		return elan_put_time(bytes) > elan_dma_time();
	return put_latency(bytes) > dma_latency(bytes);
}

uint64_t elan_write_acks(uint64_t bytes, enum elan_goal goal)
{
	return elan_write_is_dma(bytes, goal) ? 1 : elan_put_packets(bytes);
}
