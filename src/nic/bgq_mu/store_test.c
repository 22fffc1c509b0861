/* Memory FIFO messages, as they are stored and as software reads them. */
#include <string.h>

#include "nic/bgq_mu/receive_testing.h"
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

/* --- header and payload --- */

static void fill_own(struct mu_descriptor *d)
{
	uint32_t i;

	for (i = 0; i < SW_OWN_BYTES; i++)
		d->header.byte[SW_OWN + i] = sw_byte(77, i);
}

static void send_headed(void *arg)
{
	struct sw_fifo f = sw_open(3, 0);
	struct mu_descriptor d = sw_fifo_message(1, 5, 1300);

	(void)arg;
	sw_fill(SW_SOURCE, 3, 1300);
	mu_set_fifo_map(&d, MU_MAP_A_MINUS);
	mu_set_rec_fifo(&d.header, 5, 0x123456789);
	fill_own(&d);
	program_wait(LATER);
	sw_inject(&f, &d);
	mu_set_payload(&d, 0, 0);
	sw_inject(&f, &d);
}

static void expect_own(const struct mu_header *h)
{
	uint32_t i;

	for (i = 0; i < SW_OWN_BYTES; i++)
		assert_int_equal(h->byte[SW_OWN + i], sw_byte(77, i));
}

static void read_headed(void *arg)
{
	static const uint32_t bytes[] = { 512, 512, 276, 0 };
	struct sw_reader r = sw_open_reader(5, 4096);
	struct sw_packet p;
	uint32_t i, j;

	(void)arg;
	poison(r.at, r.bytes);
	for (i = 0; i < 4; i++) {
		sw_take(&r, &p);
		assert_int_equal(p.header.byte[0], MU_PT2PT);
		assert_int_equal(mu_packet_type(&p.header), MU_FIFO);
		assert_int_equal(mu_rec_fifo(&p.header), 5);
		assert_int_equal(
			mu_put_offset(&p.header), 0x123456789 + i % 3 * 512);
		expect_own(&p.header);
		assert_int_equal(p.bytes, (bytes[i] + 31) / 32 * 32);
		for (j = 0; j < bytes[i]; j++)
			assert_int_equal(p.payload[j], sw_byte(3, i * 512 + j));
		for (; j < p.bytes; j++)
			assert_int_equal(p.payload[j], 0);
	}
	program_charge(LATER);
	assert_int_equal(sw_available(&r), 0);
	assert_int_equal(r.head, 4 * 32 + 512 + 512 + 288);
	sw_expect_all(r.at + r.head, POISON, r.bytes - r.head);
}

/* BGQ-F104, BGQ-F116: the descriptor's template is in each header. */
static void bgq_f116_a_packet_is_stored_with_its_header(void **state)
{
	const struct sw_program programs[] = {
		{ 0, send_headed, NULL },
		{ 1, read_headed, NULL },
	};

	(void)state;
	sw_run_on("2", 1, programs, 2);
}

/* --- round the end --- */

enum { ROUNDS = 400, RING = 32 * 21 };

/* Lengths that visit all places of the FIFO with all packets. */
static uint32_t length_of(uint32_t i)
{
	return i * 29 % 513;
}

static void send_round(void *arg)
{
	struct sw_fifo f = sw_open(3, 0);
	uint32_t i;

	(void)arg;
	sw_fill(SW_SOURCE, 0, 2048);
	program_wait(LATER);
	for (i = 0; i < ROUNDS; i++) {
		struct mu_descriptor d = sw_fifo_message(1, 9, length_of(i));

		mu_set_payload(&d, SW_SOURCE + i, length_of(i));
		sw_set_own(&d, i);
		while (!sw_load(MU_INJ_FREE, 3))
			program_charge(50 * SIM_NS);
		sw_inject(&f, &d);
		program_charge(60 * SIM_NS);
	}
}

static void read_round(void *arg)
{
	struct sw_reader r = sw_open_reader(9, RING);
	uint32_t *starts = arg, i, j, k;
	struct sw_packet p;

	poison(r.at - 64, 64);
	poison(r.at + r.bytes, 64);
	for (i = 0; i < ROUNDS; i++) {
		starts[r.head % RING / 32]++;
		sw_take(&r, &p);
		k = sw_own(&p.header);
		assert_int_equal(p.bytes, (length_of(k) + 31) / 32 * 32);
		for (j = 0; j < length_of(k); j++)
			assert_int_equal(p.payload[j], sw_byte(0, k + j));
		/* sometimes it frees several at once */
		if (i % 3 || sw_load(MU_REC_FREE, 9) < 544)
			sw_free(&r);
	}
	program_charge(LATER);
	sw_expect_all(r.at - 64, POISON, 64);
	sw_expect_all(r.at + r.bytes, POISON, 64);
	assert_int_equal(sw_load(MU_REC_TAIL, 9), r.at + r.head % RING);
}

static void bgq_f121_a_fifo_wraps_at_every_place(void **state)
{
	uint32_t starts[RING / 32] = { 0 }, i;
	const struct sw_program programs[] = {
		{ 0, send_round, NULL },
		{ 1, read_round, starts },
	};

	(void)state;
	sw_run_on("2", 1, programs, 2);
	for (i = 0; i < RING / 32; i++)
		assert_true(starts[i] > 0);
}

/* --- many engines, one FIFO --- */

enum { SENDERS = 26, EACH = 40, SHARED = 32 * 97 };

static void send_shared(void *arg)
{
	struct sw_fifo f = sw_open(3, 0);
	uint32_t i, id = program_node();

	(void)arg;
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
	uint32_t i, id, n, had = x->n;

	while (sw_available(r)) {
		uint64_t from = r->head;

		sw_take(r, &p);
		id = sw_own(&p.header) >> 16;
		n = sw_own(&p.header) & 0xffff;
		assert_in_range(id, 0, SENDERS);
		assert_int_equal(p.bytes, (n + 31) / 32 * 32);
		for (i = 0; i < n; i++)
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
	uint32_t i, n = 0;

	memset(x, 0, sizeof(*x));
	for (i = 0; i <= SENDERS; i++)
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
	uint32_t i;

	(void)state;
	for (i = 0; i <= SENDERS; i++)
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

	(void)arg;
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
	uint32_t i, j;

	sw_open_bases(OTHER);
	for (i = 0; i < PARTS; i++) {
		uint64_t at;

		sw_take(&r, &p);
		at = mu_put_offset(&p.header) - (1 << 20);
		assert_int_equal(at % 512, 0);
		assert_true(at / 512 < PARTS);
		assert_false(had >> at / 512 & 1);
		had |= UINT64_C(1) << at / 512;
		for (j = 0; j < 512; j++)
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
	(void)state;
	assert_true(run_parts(true) > 0);
}

static void bgq_f43_only_dynamic_packets_overtake_each_other(void **state)
{
	(void)state;
	assert_true(run_parts(true) > run_parts(false));
	assert_int_equal(run_parts(false), 0);
}

/* --- either kind of completion --- */

static void send_both(void *arg)
{
	struct sw_fifo f = sw_open(3, 0);
	struct mu_descriptor d = sw_fifo_message(1, 9, 100);
	struct mu_descriptor put = sw_put(1, 100);

	(void)arg;
	sw_fill(SW_SOURCE, 1, 100);
	program_wait(LATER);
	sw_inject(&f, &d);
	sw_inject(&f, &put);
}

static void poll_both(void *arg)
{
	struct sw_reader r = sw_open_reader(9, 1024);
	struct sw_packet p;
	uint32_t i;

	(void)arg;
	sw_open_bases(100);
	sw_take(&r, &p);
	for (i = 0; i < 100; i++)
		assert_int_equal(p.payload[i], sw_byte(1, i));
	sw_wait_counter(SW_COUNTER);
	sw_expect(SW_TARGET, 1, 100);
}

static void bgq_f137_software_polls_a_fifo_or_a_counter(void **state)
{
	const struct sw_program programs[] = {
		{ 0, send_both, NULL },
		{ 1, poll_both, NULL },
	};

	(void)state;
	sw_run_on("2", 1, programs, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bgq_f116_a_packet_is_stored_with_its_header),
		cmocka_unit_test(bgq_f121_a_fifo_wraps_at_every_place),
		cmocka_unit_test(
			bgq_f122_the_tail_never_shows_what_is_not_stored),
		cmocka_unit_test(
			bgq_f123_dynamic_packets_are_stored_as_they_come),
		cmocka_unit_test(
			bgq_f43_only_dynamic_packets_overtake_each_other),
		cmocka_unit_test(bgq_f137_software_polls_a_fifo_or_a_counter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
