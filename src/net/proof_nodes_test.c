/* What interfaces wait for: packets that wait for each other are told. */
#include <string.h>

#include "base/mem.h"
#include "net/proof.h"
#include "route/hint_testing.h"
#include "testing/testing.h"

enum { USER = 1 << NET_USER, HIGH = 1 << NET_HIGH, SYSTEM = 1 << NET_SYSTEM };

struct fixture {
	struct hint_machine m;
	struct proof_nodes x;
	struct proof p;
};

static int set_up(void **state)
{
	struct fixture *f = mem_alloc(1, sizeof(*f));

	hint_make(&f->m, &(struct hint_how){ .shape = "4x2" });
	f->x = (struct proof_nodes){
		.nic = "card",
		.how = "waits",
		.topo = &f->m.t.topo,
		.route = &f->m.h.route,
	};
	f->p.is_proved = true;
	f->p.n_steps = 2;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	proof_free(&f->p);
	hint_unmake(&f->m);
	mem_free(f);
	return 0;
}

static const struct proof_step *step_of(struct fixture *f)
{
	proof_nodes(&f->p, &f->x);
	assert_int_equal(f->p.n_steps, 3);
	assert_int_equal(f->p.step[2].letter, 'c');
	assert_int_equal(f->p.step[2].holds, f->p.is_proved);
	return &f->p.step[2];
}

static void who_waits_for_nothing_is_taken_in(void **state)
{
	struct fixture *f = *state;
	const struct proof_step *s;

	f->x.how = NULL;
	f->x.is_shared = true;
	s = step_of(f);
	assert_true(s->holds);
	assert_non_null(strstr(s->why, "nic.kind card accepts every packet"));
}

static void answers_with_queues_of_their_own_may_be_waited_for(void **state)
{
	struct fixture *f = *state;
	const struct proof_step *s;

	f->x.waits[NET_USER] = HIGH | SYSTEM;
	f->x.waits[NET_HIGH] = SYSTEM;
	s = step_of(f);
	assert_true(s->holds);
	assert_int_equal(s->n_cycle, 0);
	assert_non_null(strstr(s->why, "queues of their own"));
}

/* Each channel of the example ends where the next one begins. */
static void is_a_cycle(const struct fixture *f, const struct proof_step *s)
{
	assert_false(s->holds);
	assert_true(s->n_cycle >= 2);
	for (uint32_t i = 0; i < s->n_cycle; i++)
		assert_int_equal(torus_ops
					 .peer(f->x.topo, s->cycle[i].router,
						 s->cycle[i].port)
					 .router,
			s->cycle[(i + 1) % s->n_cycle].router);
}

static void answers_in_the_queues_of_requests_may_not(void **state)
{
	struct fixture *f = *state;
	const struct proof_step *s;

	f->x.waits[NET_USER] = HIGH;
	f->x.is_shared = true;
	s = step_of(f);
	is_a_cycle(f, s);
	assert_non_null(strstr(s->why, "share the queues"));
}

static void a_class_may_not_wait_for_itself(void **state)
{
	struct fixture *f = *state;

	f->x.waits[NET_HIGH] = HIGH;
	is_a_cycle(f, step_of(f));
}

static void nor_by_way_of_others(void **state)
{
	struct fixture *f = *state;

	f->x.waits[NET_USER] = HIGH;
	f->x.waits[NET_HIGH] = SYSTEM;
	f->x.waits[NET_SYSTEM] = USER;
	is_a_cycle(f, step_of(f));
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

TESTS(WITH(who_waits_for_nothing_is_taken_in),
	WITH(answers_with_queues_of_their_own_may_be_waited_for),
	WITH(answers_in_the_queues_of_requests_may_not),
	WITH(a_class_may_not_wait_for_itself), WITH(nor_by_way_of_others))
