/* The plain card: what its queues do, entry by entry, on a small torus. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "nic/plain/plain_testing.h"

/* --- a put --- */

static void put_program(void *arg)
{
	struct pt_queue q = pt_open(0);
	struct workq_completion c;

	pt_store(PT_SOURCE, 0x1234);
	pt_post(&q, (struct plain_entry){ .id = 77, .bytes = 8 });
	c = pt_wait(&q);
	((struct pt *)arg)->last = program_now();
	assert_int_equal(c.id, 77);
	assert_int_equal(c.status, PLAIN_OK);
	assert_int_equal(workqs_close(q.all, 0), 0);
}

static void a_put_of_eight_bytes_completes_in_about_a_microsecond(void **state)
{
	struct pt m;

	(void)state;
	pt_init(&m);
	pt_run(&m, 1, 1, put_program);
	assert_int_equal(pt_word_at(&m, 1, PT_TARGET), 0x1234);
	assert_in_range(m.last, 500 * SIM_NS, 5000 * SIM_NS);
	pt_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_put_of_eight_bytes_completes_in_about_a_microsecond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
