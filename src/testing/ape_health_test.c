/* What programs on APEnet+ hear of faults: registers of their own card, and the
 * Master's news. */
#include <errno.h>

#include "testing/ape_testing.h"

#define PERIOD (1000000 * (sim_time)SIM_NS)
#define DEATH  (5 * PERIOD)
#define END    (20 * PERIOD)

enum { DEAD = 5, NEXT = 6, FAR = 10, NODES = 16 };

static const char *const dies[] = { "lofamo.period=1ms", "lofamo.service=20us",
	"faults.events=5 ms host 5 dies", NULL };

struct heard {
	uint32_t n;
	struct weft_ape_part first;
	sim_time at;
};

/* --- registers --- */

static struct weft_ape_health look(void)
{
	struct weft_ape_health h;

	assert_int_equal(weft_ape_health(&h), 0);
	return h;
}

static bool has_dead_neighbour(const struct weft_ape_health *h)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < WEFT_APE_LINKS; i++) {
		n += h->link[i].host == WEFT_APE_DEAD;
		assert_false(h->link[i].is_silent);
		assert_true(h->link[i].host != WEFT_APE_DEAD ||
			    h->link[i].node == DEAD);
	}
	return n;
}

static void watch_registers(struct ape_world *w, uint32_t node)
{
	struct weft_ape_health h = look();
	sim_time *seen = w->arg;

	for (; program_now() < END; h = look()) {
		if (has_dead_neighbour(&h) && !seen[node])
			seen[node] = program_now();
		program_charge(PERIOD / 20);
	}
	assert_int_equal(h.host, WEFT_APE_NORMAL);
	assert_int_equal(h.card, WEFT_APE_NORMAL);
}

static void programs_read_what_their_neighbours_cards_say(void **state)
{
	sim_time seen[NODES] = { 0 };
	struct ape_world w = { .run = watch_registers, .arg = seen };

	ape_world_run(&w, dies, "4x4x1", false);
	assert_in_range(seen[NEXT], DEATH, DEATH + 5 * PERIOD / 2);
	assert_int_equal(seen[FAR], 0);
	assert_int_equal(seen[DEAD], 0);
	kit_close(&w.kit);
}

/* --- the Master --- */

static void on_change(void *arg, const struct weft_ape_part *p)
{
	struct heard *x = arg;

	if (!x->n++) {
		x->first = *p;
		x->at = program_now();
	}
}

static void watch_master(struct ape_world *w, uint32_t node)
{
	struct heard *x = (struct heard *)w->arg + node;
	struct weft_ape_event e;

	if (node == NEXT) { /* by looking now and then */
		assert_int_equal(weft_ape_on_change(on_change, x), 0);
		for (; program_now() < END; program_charge(PERIOD / 20))
			assert_int_equal(weft_ape_poll(&e), EAGAIN);
	} else if (node == FAR) { /* by waiting for what never comes */
		assert_int_equal(weft_ape_on_change(on_change, x), 0);
		assert_int_equal(weft_ape_wait(&e), EINTR);
		assert_true(x->n > 0);
	}
}

static void ape_f33_the_master_tells_any_program_of_a_dead_host(void **state)
{
	struct heard x[NODES] = { 0 };
	struct ape_world w = { .run = watch_master, .arg = x };
	const struct weft_ape_part *p = &x[FAR].first;

	ape_world_run(&w, dies, "4x4x1", false);
	assert_int_equal(p->kind, WEFT_APE_HOST);
	assert_int_equal(p->node, DEAD);
	assert_int_equal(p->health, WEFT_APE_DEAD);
	assert_in_range(p->since, DEATH, DEATH + 3 * PERIOD);
	assert_true(p->known > p->since);
	assert_in_range(x[FAR].at - p->known, 20000 * SIM_NS, 21000 * SIM_NS);
	assert_true(x[NEXT].n > 0);
	assert_int_equal(x[NEXT].first.node, DEAD);
	assert_true(x[NEXT].at >= x[FAR].at);
	kit_close(&w.kit);
}

/* --- misuse --- */

static void ask_in_vain(struct ape_world *w, uint32_t node)
{
	struct weft_ape_health h;

	assert_int_equal(weft_ape_health(NULL), EINVAL);
	assert_int_equal(weft_ape_health(&h), ENOTSUP);
	assert_int_equal(weft_ape_on_change(on_change, NULL), ENOTSUP);
	assert_int_equal(weft_ape_close(), 0);
	assert_int_equal(weft_ape_on_change(on_change, NULL), EBADF);
}

static void where_nobody_watches_there_is_no_health(void **state)
{
	const char *const off[] = { "lofamo.on=no", NULL };
	struct ape_world w = { .run = ask_in_vain };

	ape_world_run(&w, off, NULL, false);
	kit_close(&w.kit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_read_what_their_neighbours_cards_say),
		cmocka_unit_test(
			ape_f33_the_master_tells_any_program_of_a_dead_host),
		cmocka_unit_test(where_nobody_watches_there_is_no_health),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
