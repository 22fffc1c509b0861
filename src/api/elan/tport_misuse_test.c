/* Tagged ports of processes that misuse them: others go on. */
#include <errno.h>

#include "api/elan/tport_testing.h"
#include "testing/testing.h"

enum { FLOOD = 25, BYTES = 2048, ROOM = 4096 };

/* --- two that flood each other --- */

/* All that its queue holds, before it receives anything. */
static void flooding_program(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t other = 1 - weft_node(), h[FLOOD];

	(void)arg;
	program_wait(20 * US);
	for (uint32_t i = 0; i < FLOOD; i++)
		tpt_send(&t, other, 1 + i, BYTES);
	program_wait(500 * US);
	for (uint32_t i = 0; i < FLOOD; i++)
		h[i] = tpt_post(
			&t, other, 1 + i, TPT_ALL, ET_TARGET + i * ROOM, ROOM);
	for (uint32_t i = 0; i < FLOOD; i++)
		tpt_expect(&t, h[i], 1 + i, ET_TARGET + i * ROOM, BYTES);
}

/* Neither slots nor host memory have room for all; receives do not stand behind
 * the messages that cannot leave. */
static void who_floods_can_still_receive(void **state)
{
	struct et *m = *state;

	for (uint32_t by = ELAN_MATCH_CARD; by <= ELAN_MATCH_INTERRUPT; by++) {
		et_fini(m);
		et_init(m, "4");
		m->params.match.by = by;
		m->params.match.slots = 4;
		m->params.match.spill = 0;
		et_run_two(m, flooding_program, flooding_program, NULL);
		assert_int_equal(et_counts(m, 0).noted[ELAN_MATCHED], FLOOD);
		assert_int_equal(et_counts(m, 1).noted[ELAN_MATCHED], FLOOD);
		assert_true(et_counts(m, 0).nacks > 10);
	}
}

/* --- a third one is not concerned --- */

static void patient_program(void *arg)
{
	struct elan_tport t = tpt_open();
	struct elan_cq q;

	(void)arg;
	assert_int_equal(elan_cq_open(&q, 5, ELAN_8K, ELAN_MAY_ALL), 0);
	program_wait(300 * US);
	/* while node 1's port is full */
	elan_put_from(&q, 1, ET_TARGET + 0x800000, ET_SOURCE, 64, 0, 0);
	tpt_expect(&t, tpt_post(&t, 3, 9, TPT_ALL, ET_TARGET, ROOM), 9,
		ET_TARGET, 3000);
	assert_true(program_now() < 400 * US);
}

static void friendly_program(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	program_wait(310 * US);
	tpt_send(&t, 2, 9, 3000);
}

static void others_messages_pass_a_full_port(void **state)
{
	struct et *m = *state;

	m->params.match.slots = 4;
	m->params.match.spill = 0;
	ET_RUN(m, 1, { 0, flooding_program, NULL },
		{ 1, flooding_program, NULL }, { 2, patient_program, NULL },
		{ 3, friendly_program, NULL });
	assert_int_equal(et_counts(m, 2).noted[ELAN_MATCHED], 1);
}

/* --- pages that are missing --- */

static void send_dropping(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	program_wait(40 * US);
	for (uint32_t i = 0; i < FLOOD; i++) {
		assert_int_equal(elan_vm_drop(0, ET_MEMORY), 0);
		tpt_send(&t, 1, 1 + i, i % 2 ? 40 : 6000);
	}
}

static void receive_dropping(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t n;

	(void)arg;
	for (uint32_t i = 0; i < FLOOD; i++) {
		n = i % 2 ? 40 : 6000;
		assert_int_equal(elan_vm_drop(0, ET_MEMORY), 0);
		tpt_expect(&t, tpt_post(&t, 0, 1 + i, TPT_ALL, ET_TARGET, 8192),
			1 + i, ET_TARGET, n);
	}
}

/* At the source, at the target, of a status and of a cell: no call notices. */
static void pages_of_a_port_may_go(void **state)
{
	struct et *m = *state;

	m->params.mmu.on = true;
	m->params.match.slots = 8;
	et_run_two(m, send_dropping, receive_dropping, NULL);
	assert_int_equal(et_counts(m, 1).noted[ELAN_MATCHED], FLOOD);
	assert_true(et_counts(m, 0).faults > 5);
	assert_true(et_counts(m, 1).faults > FLOOD);
	assert_int_equal(et_counts(m, 0).lost, 0);
}

TESTS(ET_TEST(who_floods_can_still_receive),
	ET_TEST(others_messages_pass_a_full_port),
	ET_TEST(pages_of_a_port_may_go))
