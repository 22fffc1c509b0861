/*
 * Headers at random: whatever a user makes the unit send, the receiving node
 * writes nothing but what its ranges allow, takes in or throws away every
 * packet, and never stops.
 */
#include <string.h>

#include "host/node.h"
#include "meas/digest.h"
#include "nic/bgq_mu/mu.h"
#include "nic/bgq_mu/mu_testing.h"
#include "testing/testing.h"

enum {
	LATER = 1000 * SIM_NS,
	PACKETS = 1500, /* of each sender */
	SENDERS = 3,
	REC = 8, /* two of them */
	GET = 40,
	OPEN = 0x3000000, /* what the ranges allow, beside FIFOs */
	OPEN_BYTES = 0x20000,
	RECS = SW_REC + REC * SW_REC_BYTES,
	REC_BYTES = 576, /* a full packet */
	GETS = SW_FIFOS + GET * SW_FIFO_BYTES,
};

/* --- chance --- */

static uint64_t next(uint64_t *x)
{
	*x = digest_mix(*x + 1);
	return *x >> 7;
}

static uint32_t below(uint64_t *x, uint32_t n)
{
	return (uint32_t)(next(x) % n);
}

/* Often a number that means something, else any. */
static uint32_t often(uint64_t *x, uint32_t number, uint32_t n)
{
	return below(x, 3) ? number : below(x, n);
}

static uint64_t any_offset(uint64_t *x)
{
	switch (below(x, 4)) {
	case 0:
		return next(x) & MU_OFFSET_MASK;
	case 1: /* about the ends of what is open */
		return (uint64_t)below(x, 2) * OPEN_BYTES + below(x, 2048) -
		       1024;
	case 2:
		return MU_ATOMIC | below(x, OPEN_BYTES);
	default:
		return below(x, OPEN_BYTES);
	}
}

/* Anything that a unit takes as a descriptor. */
static struct mu_descriptor any(uint64_t *x, site_id dst)
{
	struct mu_descriptor d = sw_put(dst, below(x, 4) ? below(x, 513) : 0);

	for (uint32_t i = 12; i < MU_HEADER_BYTES; i++)
		d.header.byte[i] = (uint8_t)next(x);
	switch (below(x, 5)) {
	case 0:
		mu_set_packet(&d.header, MU_FIFO, below(x, 32));
		mu_set_rec_fifo(&d.header, often(x, REC + below(x, 2), 512),
			any_offset(x));
		break;
	case 1:
		mu_set_packet(&d.header, MU_GET + below(x, 2), below(x, 32));
		mu_set_get_fifo(&d.header, often(x, GET, 1024));
		mu_set_payload(&d, SW_SOURCE + 64 * below(x, 70),
			64 * (1 + below(x, 8)));
		break;
	default:
		mu_set_put(&d.header, often(x, 1, 1024), any_offset(x));
		mu_set_counter(&d.header, often(x, 2, 1024),
			below(x, 3) ? 8 * below(x, 1000) : any_offset(x));
	}
	if (below(x, 8) == 0)
		sw_set_channel(&d, MU_HIGH);
	if (below(x, 2))
		mu_set_fifo_map(&d, MU_MAP_A_MINUS);
	return d;
}

/* --- programs --- */

static void send_any(void *arg)
{
	struct sw_fifo f = sw_open(3, 0);
	uint64_t x = *(uint64_t *)arg + program_node();

	for (uint32_t i = 0; i < 8192; i += 8) {
		uint64_t word = next(&x);

		assert_true(program_write(SW_SOURCE + i, &word, 8));
	}
	/* some descriptors among what gets take for such */
	for (uint32_t i = 0; i < 4096; i += 64) {
		struct mu_descriptor d = any(&x, program_node());

		mu_set_fifo_map(&d, MU_MAP_TORUS);
		mu_set_payload(&d, OPEN + below(&x, OPEN_BYTES), 64);
		assert_true(program_write(SW_SOURCE + i, &d, sizeof(d)));
	}
	program_wait(LATER);
	for (uint32_t i = 0; i < PACKETS; i++) {
		struct mu_descriptor d = any(&x, 0);

		while (!sw_load(MU_INJ_FREE, 3))
			program_charge(50 * SIM_NS);
		sw_inject(&f, &d);
		program_charge(60 * SIM_NS);
	}
	sw_wait_sent(&f);
}

static void set_range(uint32_t i, uint64_t first, uint64_t bytes)
{
	sw_store_system(MU_RANGE_FIRST, i, first);
	sw_store_system(MU_RANGE_LAST, i, first + bytes - 1);
	sw_store_system(MU_RANGE_RIGHTS, i, MU_USER_READ | MU_USER_WRITE);
}

static uint64_t taken(void)
{
	uint64_t n = sw_upc(MU_UPC_REJECTED, 0);

	for (uint32_t i = 0; i < MU_NET_FIFOS; i++)
		n += sw_upc(MU_UPC_PACKETS_OUT, i);
	return n;
}

/* Empties FIFOs, and those that a bad descriptor has stopped. */
static void tidy_up(void *arg)
{
	set_range(0, OPEN, OPEN_BYTES);
	set_range(1, RECS, 2 * SW_REC_BYTES);
	set_range(2, GETS, SW_FIFO_BYTES);
	for (uint32_t i = 0; i < 2; i++)
		sw_open_rec(REC + i, REC_BYTES);
	sw_store(MU_BASE, 1, OPEN);
	sw_store(MU_BASE, 2, OPEN | MU_ATOMIC | MU_ATOMIC_STORE_ADD);
	sw_open(GET, MU_INJ_REMOTE_GET);
	while (taken() < SENDERS * PACKETS) {
		program_charge(200 * SIM_NS);
		for (uint32_t i = 0; i < 2; i++)
			sw_store(MU_REC_HEAD, REC + i,
				sw_load(MU_REC_TAIL, REC + i));
		if (!sw_load(MU_INJ_STOPPED, GET))
			continue;
		sw_store_system(MU_INJ_ENABLE, GET, 0);
		sw_store_system(MU_INJ_START, GET, GETS);
		sw_store_system(MU_INJ_ENABLE, GET, 1);
	}
}

/* --- what is left --- */

static bool is_open(uint64_t at)
{
	return at - OPEN < OPEN_BYTES || at - RECS < 2 * SW_REC_BYTES ||
	       at - GETS < SW_FIFO_BYTES;
}

/* All pages that a node ever wrote; a digest of what is in them. */
static uint64_t look_at_memory(const struct nic_testing *m)
{
	const struct memory *memory = &m->host->nodes[0].hot.memory;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < memory->room; i++) {
		const struct memory_page *p = &memory->table[i];
		uint64_t at = p->number * MEMORY_PAGE;

		for (uint32_t j = 0; p->bytes && j < MEMORY_PAGE; j++) {
			if (!p->bytes[j])
				continue;
			if (!is_open(at + j))
				fail_msg("0x%llx was written",
					(unsigned long long)(at + j));
			sum += digest_mix((at + j) << 8 | p->bytes[j]);
		}
	}
	return sum;
}

static uint64_t run(uint32_t n_workers, uint64_t seed)
{
	struct sw_program programs[SENDERS + 1] = { { 0, tidy_up, NULL } };
	struct nic_testing m;
	const struct mu_node *n;
	struct mu_params *p;
	uint64_t sum;

	for (uint32_t i = 1; i <= SENDERS; i++)
		programs[i] = (struct sw_program){ i, send_any, &seed };
	nic_testing_machine(&m, "bgq", "4");
	p = m.params;
	p->buffers = 1 + (int64_t)(seed % 5);
	sw_run(&m, n_workers, programs, SENDERS + 1);
	n = m.nic->nodes[0];
	assert_true(n->messages_in > 50);
	sum = look_at_memory(&m) + nic_testing_digest(&m);
	assert_true(n->errors[MU_ERROR_RANGE] > 0);
	assert_true(n->errors[MU_ERROR_FIFO] > 0);
	assert_true(n->errors[MU_ERROR_BASE] > 0);
	assert_true(n->errors[MU_ERROR_COUNTER] > 0);
	assert_true(n->errors[MU_ERROR_DESCRIPTOR] > 0);
	assert_true(n->errors[MU_INT_REC_FULL] > 0);
	assert_true(n->errors[MU_INT_GET_FULL] > 0);
	nic_testing_fini(&m);
	return sum;
}

static void bgq_f128_no_header_reaches_what_ranges_forbid(void **state)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		uint64_t sum = run(1, seed);

		assert_true(sum);
		assert_true(run(3, seed) == sum);
	}
}

TESTS(TEST(bgq_f128_no_header_reaches_what_ranges_forbid))
