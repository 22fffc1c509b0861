/* Gemini's interface: puts and gets by FMA, and what is wrong with them. */
#include <errno.h>

#include "testing/gemini_testing.h"

/* --- puts and gets --- */

static void put_and_get(void *arg)
{
	struct gemini_post p = world_post(GEMINI_PUT, 1000);
	struct world *x = arg;

	if (program_node() == 2) {
		assert_int_equal(world_wait(WORLD_CAME, 1).data, 77);
		assert_true(
			world_is_filled(program_host(), 2, WORLD_TARGET, 1000));
	}
	if (program_node())
		return;
	world_fill(WORLD_SOURCE, 1000);
	p.remote_cq = WORLD_CAME;
	p.remote_data = 77;
	p.data = 5;
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	assert_int_equal(world_wait(WORLD_DONE, 1).data, 5);
	p = world_post(GEMINI_GET, 1000);
	p.here = WORLD_SOURCE + 0x8000;
	x->took = program_now();
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	assert_int_equal(world_wait(WORLD_DONE, 2).status, GEMINI_OK);
	x->took = program_now() - x->took;
	assert_true(world_is_filled(
		program_host(), 0, WORLD_SOURCE + 0x8000, 1000));
}

/* The target's event comes when all sixteen packets have, in any order.
 * GEM-F14, GEM-F32. */
static void bytes_are_there_when_events_say_so(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, put_and_get);
	assert_in_range(x.took, 1200 * SIM_NS, 2500 * SIM_NS);
	kit_close(&x.kit);
}

/* Beside its host, with a put and a get of one program. */
static void an_interface_that_is_used_takes_at_most_16_kib(void **state)
{
	struct world x = { .took = 0 };
	const struct nic *nic;

	world_run(&x, NULL, false, put_and_get);
	nic = x.kit.nic;
	for (uint32_t s = 0; s <= 2; s += 2)
		assert_in_range(nic->ops->node_size + nic_node_memory(nic, s),
			1, 16 * 1024);
	kit_close(&x.kit);
}

static void put_a_lot(void *arg)
{
	struct world *x = arg;
	struct gemini_post p = world_post(GEMINI_PUT, x->number);

	if (program_node())
		return;
	x->took = program_now();
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	world_wait(WORLD_DONE, 1);
	x->took = program_now() - x->took;
}

static sim_time time_of_lines(const char *orb, uint32_t lines)
{
	const char *const sets[] = { orb, NULL };
	struct world x = { .number = lines * GEMINI_LINE };

	world_run(&x, sets, false, put_a_lot);
	kit_close(&x.kit);
	return x.took;
}

/* How long 240 more lines take. */
static sim_time time_of_more(const char *orb)
{
	return time_of_lines(orb, 400) - time_of_lines(orb, 160);
}

/* With one request under way each line takes a round trip; with sixteen, so
 * many of them do. GEM-F35. GEM-F48. */
static void the_orb_bounds_what_is_under_way(void **state)
{
	sim_time trip = time_of_more("nic.orb=1") / 240;

	assert_in_range(trip, 700 * SIM_NS, 900 * SIM_NS);
	assert_in_range(time_of_more("nic.orb=16"), 240 / 16 * trip * 97 / 100,
		240 / 16 * trip * 103 / 100);
}

/* --- what is wrong --- */

static void bad_posts(void *arg)
{
	static const struct {
		uint32_t handle, op, status;
		uint64_t offset;
	} bad[] = {
		{ 9, GEMINI_PUT, GEMINI_BAD_HANDLE, 0 },
		{ WORLD_ALL, GEMINI_PUT, GEMINI_OUT_OF_BOUNDS,
			WORLD_BYTES - 32 },
		{ WORLD_ALL, GEMINI_GET, GEMINI_OUT_OF_BOUNDS, WORLD_BYTES },
		{ WORLD_READ_ONLY, GEMINI_PUT, GEMINI_NO_RIGHT, 0 },
	};
	struct gemini_post p;

	if (program_node())
		return;
	for (uint32_t i = 0; i < 4; i++) {
		p = world_post(bad[i].op, 64);
		p.handle = bad[i].handle;
		p.offset = bad[i].offset;
		assert_int_equal(gemini_fma(world_nic(), &p), 0);
		assert_int_equal(
			world_wait(WORLD_DONE, i + 1).status, bad[i].status);
	}
	p = world_post(GEMINI_PUT, 64);
	p.remote_cq = 7;
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	assert_int_equal(world_wait(WORLD_DONE, 5).status, GEMINI_BAD_QUEUE);
	p.node = 4;
	assert_int_equal(gemini_fma(world_nic(), &p), EINVAL);
	p = world_post(GEMINI_OPS, 64);
	assert_int_equal(gemini_fma(world_nic(), &p), EINVAL);
	p = world_post(GEMINI_PUT, 64);
	p.here = UINT64_MAX - 8;
	assert_int_equal(gemini_fma(world_nic(), &p), EFAULT);
}

/* GEM-F13. */
static void misuse_is_reported_to_who_did_it(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, true, bad_posts);
	assert_int_equal(nic_count(x.kit.nic, 0, "unknown handle"), 1);
	assert_int_equal(
		nic_count(x.kit.nic, 0, "offset outside the handle's range"),
		2);
	assert_int_equal(nic_count(x.kit.nic, 0, "no permission"), 1);
	assert_int_equal(
		nic_count(x.kit.nic, 0, "unknown completion queue"), 1);
	kit_close(&x.kit);
}

enum { OWNED = 3, OWNER = 5 }; /* a handle, and its owner's tag */

/* Node 2's segment is another job's until the post has its tag. */
static void put_to_owner(void *arg)
{
	struct gemini_post p = world_post(GEMINI_PUT, 64);

	if (program_node() == 2) {
		struct ranges *r = gemini_handles(world_nic(), 2);

		ranges_add(r, OWNED, WORLD_TARGET, WORLD_BYTES, GEMINI_WRITE);
		ranges_find(r, OWNED)->tag = OWNER;
	}
	if (program_node())
		return;
	program_charge(1000 * SIM_NS);
	world_fill(WORLD_SOURCE, 64);
	p.handle = OWNED;
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	assert_int_equal(world_wait(WORLD_DONE, 1).status, GEMINI_NO_RIGHT);
	assert_false(world_is_filled(program_host(), 2, WORLD_TARGET, 64));
	p.tag = OWNER;
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	assert_int_equal(world_wait(WORLD_DONE, 2).status, GEMINI_OK);
	assert_true(world_is_filled(program_host(), 2, WORLD_TARGET, 64));
}

/* GEM-F13. */
static void a_segment_is_for_those_who_have_its_owners_tag(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, true, put_to_owner);
	assert_int_equal(nic_count(x.kit.nic, 0, "no permission"), 1);
	kit_close(&x.kit);
}

static void overrun(void *arg)
{
	struct gemini_post p = world_post(GEMINI_PUT, 8);

	for (uint32_t i = 0; i < WORLD_ENTRIES + 3 && !program_node(); i++)
		assert_int_equal(gemini_fma(world_nic(), &p), 0);
	program_charge(10000 * SIM_NS);
	assert_int_equal(
		gemini_cq_lost(world_nic(), program_node(), WORLD_DONE),
		program_node() ? 0 : 3);
}

/* GEM-F28. */
static void a_full_queue_of_events_is_flagged(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, true, overrun);
	assert_int_equal(
		nic_count(x.kit.nic, 0, "completion queue overrun"), 3);
	assert_int_equal(nic_count(x.kit.nic, 0, "events"), WORLD_ENTRIES);
	kit_close(&x.kit);
}

/* One line too many: it is refused, and so is the event of the whole. */
static void half_refused(void *arg)
{
	struct gemini_post p = world_post(GEMINI_PUT, 256);

	if (program_node())
		return;
	p.offset = WORLD_BYTES - 128;
	p.remote_cq = WORLD_CAME;
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	assert_int_equal(
		world_wait(WORLD_DONE, 1).status, GEMINI_OUT_OF_BOUNDS);
}

static void an_event_stands_for_all_packets_or_for_none(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, true, half_refused);
	assert_int_equal(nic_count(x.kit.nic, 2, "events"), 0);
	kit_close(&x.kit);
}

/* Its memory is the program's from then on. */
static void close_with_events_under_way(void *arg)
{
	struct gemini_post p = world_post(GEMINI_PUT, 8);
	uint64_t word = 0;

	if (program_node())
		return;
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	gemini_cq_close(world_nic(), 0, WORLD_DONE);
	program_charge(10000 * SIM_NS);
	program_read(world_ring(WORLD_DONE), &word, 8);
	assert_int_equal(word, 0);
	assert_int_equal(gemini_cq_open(world_nic(), 0, WORLD_DONE,
				 world_ring(WORLD_DONE), WORLD_ENTRIES),
		0);
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	gemini_cq_close(world_nic(), 0, WORLD_DONE);
	assert_int_equal(gemini_cq_open(world_nic(), 0, WORLD_DONE,
				 world_ring(WORLD_DONE), WORLD_ENTRIES),
		0);
	p.data = 7;
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	assert_int_equal(world_wait(WORLD_DONE, 1).data, 7);
}

static void a_queue_that_was_closed_gets_no_events(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, close_with_events_under_way);
	assert_int_equal(nic_count(x.kit.nic, 0, "events"), 1);
	kit_close(&x.kit);
}

/* The target says where events go, as long as that is open. */
static void events_by_handle(void *arg)
{
	struct gemini_post p = world_post(GEMINI_PUT, 8);

	if (program_node() == 2) {
		ranges_add(gemini_handles(world_nic(), 2), 5, WORLD_TARGET,
			WORLD_BYTES,
			GEMINI_WRITE |
				gemini_events_to(world_nic(), 2, WORLD_CAME));
		assert_int_equal(world_wait(WORLD_CAME, 1).data, 77);
		gemini_cq_close(world_nic(), 2, WORLD_CAME);
		gemini_cq_open(world_nic(), 2, WORLD_CAME,
			world_ring(WORLD_CAME), WORLD_ENTRIES);
	}
	if (program_node())
		return;
	program_charge(1000 * SIM_NS);
	p.handle = 5;
	p.remote_cq = GEMINI_CQ_OF_HANDLE;
	p.remote_data = 77;
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	assert_int_equal(world_wait(WORLD_DONE, 1).status, GEMINI_OK);
	program_charge(1000 * SIM_NS);
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	assert_int_equal(world_wait(WORLD_DONE, 2).status, GEMINI_BAD_QUEUE);
	p.handle = WORLD_ALL; /* which names none */
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	assert_int_equal(world_wait(WORLD_DONE, 3).status, GEMINI_BAD_QUEUE);
}

/* GEM-F28. */
static void a_handle_names_the_queue_of_its_events(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, true, events_by_handle);
	assert_int_equal(nic_count(x.kit.nic, 2, "events"), 1);
	kit_close(&x.kit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_there_when_events_say_so),
		cmocka_unit_test(
			an_interface_that_is_used_takes_at_most_16_kib),
		cmocka_unit_test(the_orb_bounds_what_is_under_way),
		cmocka_unit_test(misuse_is_reported_to_who_did_it),
		cmocka_unit_test(
			a_segment_is_for_those_who_have_its_owners_tag),
		cmocka_unit_test(a_full_queue_of_events_is_flagged),
		cmocka_unit_test(an_event_stands_for_all_packets_or_for_none),
		cmocka_unit_test(a_queue_that_was_closed_gets_no_events),
		cmocka_unit_test(a_handle_names_the_queue_of_its_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
