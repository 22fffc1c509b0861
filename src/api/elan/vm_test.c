/* Virtual memory, as programs use it. */
#include <errno.h>

#include "api/elan/elan.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { SMALL = 8 << 10, LARGE = 2 << 20, BYTES = 700 };

#define HIGH (UINT64_C(1) << 63)

static uint64_t take(struct elan_vm how)
{
	uint64_t at = 0;

	assert_int_equal(elan_vm_alloc(&how, &at), 0);
	return at;
}

static void run(struct et *m, void (*a)(void *), void (*b)(void *))
{
	m->params.mmu.on = true;
	et_run_two(m, a, b, m);
}

static struct elan_cq open_queue(void)
{
	struct elan_cq q;

	assert_int_equal(elan_cq_open(&q, 1, ELAN_64K, ELAN_MAY_ALL), 0);
	return q;
}

static uint64_t word_at(uint64_t at)
{
	uint64_t word = 0;

	assert_true(elan_load_bytes(at, &word, 8));
	return word;
}

/* --- addresses --- */

/* The sender's virtual memory, and the receiver's, at other addresses. */
static uint64_t take_buffer(bool is_sender)
{
	return take((struct elan_vm){
		.at = is_sender ? HIGH + 5 * SMALL : -(uint64_t)LARGE,
		.bytes = LARGE,
		.page = is_sender ? SMALL : LARGE,
		.bank = is_sender ? 1 : 2,
	});
}

static void virtual_sender(void *arg)
{
	uint64_t from = take_buffer(true),
		 flag = take((struct elan_vm){ .bytes = 8 });
	struct elan_cq q = open_queue();
	uint8_t data[BYTES];

	assert_true(flag >= HIGH);
	for (uint32_t i = 0; i < BYTES; i++)
		data[i] = et_byte(1, i);
	assert_true(elan_store_bytes(from + SMALL - 99, data, BYTES));
	program_charge(US);
	for (uint32_t i = 0; i < 2; i++) {
		elan_arm(&q, 1, i ? 2 : 1, flag, 1 + i);
		assert_int_equal(elan_write(&q, 1, -(uint64_t)LARGE + 4096 * i,
					 from + SMALL - 99, BYTES, 0, 1,
					 i ? ELAN_FOR_LATENCY : ELAN_FOR_CPU),
			0);
		assert_true(elan_wait_event(&q, flag, 1 + i));
	}
}

static void virtual_receiver(void *arg)
{
	uint64_t to = take_buffer(false);
	struct elan_cq q = open_queue();
	uint8_t data[BYTES];

	(void)q;
	program_charge(100 * US);
	for (uint32_t k = 0; k < 2; k++) {
		assert_true(elan_load_bytes(to + 4096 * k, data, BYTES));
		for (uint32_t i = 0; i < BYTES; i++)
			assert_int_equal(data[i], et_byte(1, i));
	}
}

/* Puts and DMAs, without a byte at these addresses of the nodes' memories. */
static void qsn_f4_bytes_go_between_virtual_addresses(void **state)
{
	run(*state, virtual_sender, virtual_receiver);
	assert_int_equal(
		ET_SUM((struct et *)*state, errors[ELAN_ERROR_REFUSED]), 0);
}

/* --- banks --- */

enum { PLACES = ELAN_BANKS + 1 }; /* the last one is the card's */

/* At one address after the other, so that only the place tells them apart. */
static uint64_t take_places(void)
{
	uint64_t first = 0, at;

	for (uint32_t i = 0; i < PLACES; i++) {
		at = take((struct elan_vm){ .at = i ? first + i * SMALL : 0,
			.bytes = SMALL,
			.bank = i % ELAN_BANKS,
			.flags = i == ELAN_BANKS ? ELAN_VM_CARD : 0 });
		first = i ? first : at;
	}
	return first;
}

static void bank_sender(void *arg)
{
	struct elan_cq q = open_queue();
	uint64_t to = HIGH, word;

	program_charge(10 * US);
	for (uint32_t i = 0; i < PLACES; i++) {
		word = 100 + i;
		assert_int_equal(
			elan_put(&q, 1, to + i * SMALL + 8, &word, 8, 0, 0), 0);
	}
}

static void bank_receiver(void *arg)
{
	struct elan_cq q = open_queue();
	uint64_t at = take_places(), word = 0;

	(void)q;
	assert_int_equal(at, HIGH);
	program_charge(50 * US);
	for (uint32_t i = 0; i < ELAN_BANKS; i++)
		assert_int_equal(word_at(at + i * SMALL + 8), 100 + i);
	/* a core reaches the card by slow loads */
	assert_false(elan_load_bytes(at + ELAN_BANKS * SMALL, &word, 8));
	assert_int_equal(
		elan_card_read(at + ELAN_BANKS * SMALL + 8, &word, 8), 0);
	assert_int_equal(word, 100 + ELAN_BANKS);
}

static void qsn_f54_four_upper_parts_and_the_card_are_told_apart(void **state)
{
	run(*state, bank_sender, bank_receiver);
}

/* --- byte order --- */

static void order_thread(const uint64_t reg[ELAN_REGISTERS])
{
	assert_int_equal(elan_thread_write(reg[0] + 16, 3), 0);
	assert_int_equal(elan_thread_wait_word(reg[0] + 8, 2), 0);
	assert_int_equal(elan_thread_write(reg[0] + 24, 4), 0);
}

static void order_program(void *arg)
{
	uint64_t at[] = { take((struct elan_vm){ .bytes = SMALL }),
		take((struct elan_vm){
			.bytes = SMALL, .flags = ELAN_VM_BIG_ENDIAN }) };
	struct elan_cq q = open_queue();

	elan_thread_load(1, order_thread);
	for (uint32_t i = 0; i < 2; i++) {
		const uint64_t store[] = { ELAN_STORE, at[i] + 8, 2 };
		const uint64_t reg[ELAN_REGISTERS] = { at[i] };
		const struct elan_question is_two = {
			.at = at[i] + 8, .value = 2, .yes_event = 2
		};
		uint64_t five = 5;

		elan_arm(&q, 1, 1, at[i], 1);
		elan_set(&q, 1, 1);
		elan_issue(&q, store, 3);
		elan_thread_start(&q, 1, reg);
		elan_arm(&q, 2, 1, at[i] + 32, 6);
		program_charge(10 * US);
		elan_test(&q, 0, &is_two);
		elan_put(&q, 0, at[i] + 40, &five, 8, 0, 0);
		program_charge(10 * US);
		for (uint32_t k = 0; k < 4; k++)
			assert_int_equal(word_at(at[i] + 8 * k),
				elan_order(i ? ELAN_BIG_ENDIAN : 0, k + 1));
		/* the test has found its word; what is put is bytes */
		assert_int_equal(word_at(at[i] + 32),
			elan_order(i ? ELAN_BIG_ENDIAN : 0, 6));
		assert_int_equal(word_at(at[i] + 40), 5);
	}
}

static void qsn_f58_a_process_has_pages_of_both_byte_orders(void **state)
{
	run(*state, order_program, NULL);
}

/* --- rights --- */

static void read_only_program(void *arg)
{
	uint64_t at = take((struct elan_vm){
			 .bytes = SMALL, .flags = ELAN_VM_READ_ONLY }),
		 word = 7;
	struct elan_cq q = open_queue(), other;

	assert_int_equal(elan_cq_open(&other, 2, ELAN_8K, ELAN_MAY_ALL), 0);
	assert_true(elan_store_bytes(at, &word, 8));
	elan_get(&q, 0, at, ET_FLAG, 8, 0);
	assert_true(elan_wait_word(ET_FLAG, 7));
	elan_put(&other, 0, at, &word, 8, 0, 0);
	program_charge(50 * US);
	assert_int_equal(elan_cq_error(&q), ELAN_FINE);
	assert_int_equal(elan_cq_error(&other), ELAN_ERROR_REFUSED);
}

static void a_page_may_be_read_only(void **state)
{
	run(*state, read_only_program, NULL);
}

/* --- life --- */

static void life_program(void *arg)
{
	uint64_t at = take((struct elan_vm){
			 .at = LARGE + ET_MEMORY, .bytes = 1 }),
		 word = 9, again;
	struct elan_cq q = open_queue();

	assert_true(elan_store_bytes(at + SMALL - 8, &word, 8));
	assert_false(elan_store_bytes(at + SMALL - 4, &word, 8));
	assert_int_equal(elan_vm_drop(at, SMALL), 0);
	elan_get(&q, 0, at + SMALL - 8, ET_FLAG, 8, 0);
	assert_true(elan_wait_word(ET_FLAG, 9)); /* its bytes are kept */
	assert_int_equal(elan_vm_free(at), 0);
	assert_false(elan_load_bytes(at, &word, 8));
	elan_put(&q, 0, at, &word, 8, 0, 0);
	program_charge(50 * US);
	assert_int_equal(elan_cq_error(&q), ELAN_ERROR_REFUSED);
	again = take((struct elan_vm){ .at = at, .bytes = SMALL });
	assert_int_equal(word_at(again + SMALL - 8), 0);
}

static void memory_that_is_given_back_is_gone(void **state)
{
	run(*state, life_program, NULL);
	assert_int_equal(et_counts(*state, 0).faults, 2);
}

static int code_of(struct elan_vm how)
{
	uint64_t at;

	return elan_vm_alloc(&how, &at);
}

static void wrong_program(void *arg)
{
	struct elan_cq q = open_queue();
	uint64_t at = take((struct elan_vm){ .bytes = 2 * SMALL });

	assert_int_equal(elan_cq_map(&q, at), EBUSY);
	assert_int_equal(elan_cq_map(&q, HIGH / 2), 0);
	assert_int_equal(elan_vm_alloc(NULL, &at), EFAULT);
	assert_int_equal(elan_vm_alloc(&(struct elan_vm){ 0 }, NULL), EFAULT);
	assert_int_equal(code_of((struct elan_vm){ 0 }), EINVAL);
	assert_int_equal(
		code_of((struct elan_vm){ .bytes = 1, .page = 4096 }), EINVAL);
	assert_int_equal(
		code_of((struct elan_vm){ .bytes = 1, .flags = 16 }), EINVAL);
	assert_int_equal(
		code_of((struct elan_vm){ .bytes = 1, .bank = 4 }), EINVAL);
	assert_int_equal(
		code_of((struct elan_vm){ .bytes = 1, .at = 4096 }), EINVAL);
	assert_int_equal(code_of((struct elan_vm){
				 .bytes = 2 * SMALL, .at = -(uint64_t)SMALL }),
		EINVAL);
	assert_int_equal(
		code_of((struct elan_vm){ .bytes = UINT64_MAX }), EINVAL);
	assert_int_equal(
		code_of((struct elan_vm){ .bytes = 1, .at = SMALL }), EBUSY);
	assert_int_equal(
		code_of((struct elan_vm){ .bytes = 1, .at = ELAN_CARD_AT }),
		EBUSY);
	assert_int_equal(
		code_of((struct elan_vm){ .bytes = 1, .at = HIGH / 2 }), EBUSY);
	assert_int_equal(
		code_of((struct elan_vm){ .bytes = LARGE, .at = at - SMALL }),
		EBUSY);
	assert_int_equal(
		code_of((struct elan_vm){ .bytes = 2 * ET_MEMORY }), ENOMEM);
	assert_int_equal(code_of((struct elan_vm){
				 .bytes = ET_MEMORY, .flags = ELAN_VM_CARD }),
		ENOMEM);
	assert_int_equal(elan_vm_free(at + SMALL), EINVAL);
	assert_int_equal(elan_vm_free(0), EINVAL);
	assert_int_equal(elan_vm_drop(at, 0), EINVAL);
	assert_int_equal(elan_vm_drop(at, 2 * SMALL + 1), EFAULT);
	assert_int_equal(elan_vm_drop(at + 2 * SMALL, 1), EFAULT);
	assert_int_equal(elan_vm_drop(0, LARGE), 0);
	/* what was refused has taken nothing: all of a bank, a second time */
	for (uint32_t i = 0; i < 2; i++) {
		at = take((struct elan_vm){ .bytes = ET_MEMORY, .bank = 3 });
		assert_int_equal(
			code_of((struct elan_vm){ .bytes = 1, .bank = 3 }),
			ENOMEM);
		assert_int_equal(elan_vm_free(at), 0);
	}
}

static void mistakes_are_refused(void **state)
{
	run(*state, wrong_program, NULL);
}

TESTS(ET_TEST(qsn_f4_bytes_go_between_virtual_addresses),
	ET_TEST(qsn_f54_four_upper_parts_and_the_card_are_told_apart),
	ET_TEST(qsn_f58_a_process_has_pages_of_both_byte_orders),
	ET_TEST(a_page_may_be_read_only),
	ET_TEST(memory_that_is_given_back_is_gone),
	ET_TEST(mistakes_are_refused))
