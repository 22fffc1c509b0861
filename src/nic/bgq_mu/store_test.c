/* Memory FIFO messages, as they are stored and as software reads them. */
#include <string.h>

#include "nic/bgq_mu/mu_testing.h"
#include "testing/testing.h"

enum { LATER = 1000 * SIM_NS, POISON = 0xee };

static void poison(uint64_t at, uint64_t n)
{
	uint8_t page[64];
	uint64_t part;

	memset(page, POISON, sizeof(page));
	for (; n; n -= part, at += part) {
		part = n < sizeof(page) ? n : sizeof(page);
		assert_true(program_write(at, page, part));
	}
}

/* --- many engines, one FIFO --- */

enum { SENDERS = 26, EACH = 40, SHARED = 32 * 97 };

static void send_shared(void *arg)
{
	struct sw_fifo f = sw_open(3, 0);
	uint32_t i, id = program_node();

	sw_fill(SW_SOURCE, id, 600);
	program_wait(LATER);
	for (i = 0; i < EACH; i++) {
		uint32_t n = i * (2 * id + 1) * 37 % 513;
		struct mu_descriptor d = sw_fifo_message(13, 9, n);

		sw_set_own(&d, id << 16 | n);
		if (id % 3 == 0)
			sw_set_channel(&d, MU_HIGH);
		while (!sw_load(MU_INJ_FREE, 3))
			program_charge(50 * SIM_NS);
		sw_inject(&f, &d);
		program_charge(60 * SIM_NS);
	}
}

struct shared {
	uint32_t n, from[SENDERS + 1]; /* packets */
	uint32_t early; /* looks that found a packet stored behind the tail
			 * and its predecessor not */
};

/* Whether something is there behind the tail though nothing is at it. */
static bool is_early(const struct sw_reader *r)
{
	uint64_t seen = sw_available(r), at;
	uint8_t byte;

	sw_peek(r, seen, &byte, 1);
	if (byte != POISON)
		return false;
	for (at = seen + 32; at < r->bytes - 32; at += 32) {
		sw_peek(r, at, &byte, 1);
		if (byte != POISON)
			return true;
	}
	return false;
}

/* Every look: what is before the tail is right.  Whether there was any. */
static bool check_visible(struct sw_reader *r, struct shared *x)
{
	struct sw_packet p;
	uint32_t id, n, had = x->n;

	while (sw_available(r)) {
		uint64_t from = r->head;

		sw_take(r, &p);
		id = sw_own(&p.header) >> 16;
		n = sw_own(&p.header) & 0xffff;
		assert_in_range(id, 0, SENDERS);
		assert_int_equal(p.bytes, (n + 31) / 32 * 32);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(p.payload[i], sw_byte(id, i));
		x->from[id]++;
		x->n++;
		for (; from < r->head; from += 32)
			poison(r->at + from % r->bytes, 32);
	}
	return x->n > had;
}

static void read_shared(void *arg)
{
	struct sw_reader r = sw_open_reader(9, SHARED);
	struct shared *x = arg;

	poison(r.at, r.bytes);
	while (x->n < SENDERS * EACH) {
		x->early += is_early(&r);
		if (check_visible(&r, x))
			sw_free(&r);
		program_charge(5 * SIM_NS);
	}
}

static uint64_t run_shared(uint32_t n_workers, struct shared *x)
{
	struct sw_program programs[SENDERS + 1];
	struct nic_testing m;
	struct mu_params *p;
	uint64_t digest;
	uint32_t n = 0;

	memset(x, 0, sizeof(*x));
	for (uint32_t i = 0; i <= SENDERS; i++)
		programs[n++] =
			i == 13 ? (struct sw_program){ i, read_shared, x }
				: (struct sw_program){ i, send_shared, NULL };
	nic_testing_machine(&m, "bgq", "3x3x3");
	p = m.params;
	p->port_cycle = 20 * SIM_NS; /* a long packet is long on its way */
	sw_run(&m, n_workers, programs, n);
	digest = nic_testing_digest(&m);
	nic_testing_fini(&m);
	return digest;
}

static void bgq_f122_the_tail_never_shows_what_is_not_stored(void **state)
{
	struct shared x, y;
	uint64_t digest = run_shared(1, &x);

	for (uint32_t i = 0; i <= SENDERS; i++)
		assert_int_equal(x.from[i], i == 13 ? 0 : EACH);
	/* or this was no test */
	assert_true(x.early > 100);
	assert_int_equal(run_shared(3, &y), digest);
	assert_memory_equal(&x, &y, sizeof(x));
}

/* --- order --- */

enum { PARTS = 60, OTHER = 100000 };

static void send_parts(void *arg)
{
	struct sw_fifo f = sw_open(3, 0);
	struct mu_descriptor d = sw_fifo_message(6, 9, PARTS * 512);

	sw_fill(SW_SOURCE, 1, PARTS * 512);
	mu_set_rec_fifo(&d.header, 9, 1 << 20);
	/* one engine, or engines would overtake each other */
	mu_set_fifo_map(&d, MU_MAP_A_MINUS);
	if (!*(bool *)arg)
		sw_set_channel(&d, MU_DETERMINISTIC);
	program_wait(LATER);
	sw_inject(&f, &d);
}

/* From the other side, what is in the way on one of two ways. */
static void send_other(void *arg)
{
	struct sw_fifo f = sw_open(3, 0);
	struct mu_descriptor d = sw_put(6, OTHER);

	program_wait(LATER);
	sw_inject(&f, &d);
}

struct pieces {
	bool is_dynamic;
	uint32_t back; /* packets that came after a later one */
};

static void read_pieces(void *arg)
{
	struct sw_reader r = sw_open_reader(9, 65536);
	struct pieces *x = arg;
	struct sw_packet p;
	uint64_t had = 0, last = 0;

	sw_open_bases(OTHER);
	for (uint32_t i = 0; i < PARTS; i++) {
		uint64_t at;

		sw_take(&r, &p);
		at = mu_put_offset(&p.header) - (1 << 20);
		assert_int_equal(at % 512, 0);
		assert_true(at / 512 < PARTS);
		assert_false(had >> at / 512 & 1);
		had |= UINT64_C(1) << at / 512;
		for (uint32_t j = 0; j < 512; j++)
			assert_int_equal(p.payload[j], sw_byte(1, at + j));
		x->back += at < last;
		last = at;
	}
	sw_wait_counter(SW_COUNTER);
}

static uint32_t run_parts(bool is_dynamic)
{
	struct pieces x = { .is_dynamic = is_dynamic };
	const struct sw_program programs[] = {
		{ 0, send_parts, &x.is_dynamic },
		{ 21, send_other, NULL },
		{ 6, read_pieces, &x },
	};

	sw_run_on("5x5", 1, programs, 3);
	return x.back;
}

/* Two ways, one of which is busy. */
static void bgq_f123_dynamic_packets_are_stored_as_they_come(void **state)
{
	assert_true(run_parts(true) > 0);
}

static void bgq_f43_only_dynamic_packets_overtake_each_other(void **state)
{
	assert_true(run_parts(true) > run_parts(false));
	assert_int_equal(run_parts(false), 0);
}

TESTS(TEST(bgq_f122_the_tail_never_shows_what_is_not_stored),
	TEST(bgq_f123_dynamic_packets_are_stored_as_they_come),
	TEST(bgq_f43_only_dynamic_packets_overtake_each_other))
