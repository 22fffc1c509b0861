/* Programs that have threads on the card, by the public interface alone. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/elan/elan.h"
#include "base/err.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

static const uint64_t PAGE_AT = UINT64_C(1) << 48;

enum { SUM = 4, CALL = 5, SUM_AT = 0x2000, OUT_AT = 0x3000, BYTES = 128 };

/* Waits for a message, sums it up, and sends the sum to a node. */
static void sum_thread(const uint64_t reg[ELAN_REGISTERS])
{
	uint64_t packet[] = {
		elan_word(ELAN_OPEN, reg[0], 0),
		elan_word(ELAN_WRITE, 8, 0) | ELAN_CLOSES,
		OUT_AT + 8 * weft_node(),
		0,
	};
	uint8_t data[BYTES];

	assert_int_equal(elan_thread_wait_word(SUM_AT + BYTES, 1), 0);
	assert_int_equal(elan_thread_read(SUM_AT, data, BYTES), 0);
	for (uint32_t i = 0; i < BYTES; i++)
		packet[3] += data[i];
	elan_thread_work(BYTES);
	assert_int_equal(elan_thread_append(PAGE_AT, packet, 4), 0);
	assert_int_equal(elan_thread_write(OUT_AT + 1024, packet[3]), 0);
	assert_int_equal(
		elan_thread_append(PAGE_AT + ELAN_PAGE, packet, 4), EFAULT);
	assert_int_equal(elan_thread_write(OUT_AT + 4, 0), EFAULT);
}

static void sum_program(void *arg)
{
	const uint64_t reg[ELAN_REGISTERS] = { 0 };
	struct elan_cq q, mapped;

	assert_int_equal(elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL), 0);
	assert_int_equal(elan_cq_open(&mapped, 1, ELAN_8K, ELAN_MAY_ALL), 0);
	assert_int_equal(elan_cq_map(&mapped, PAGE_AT), 0);
	assert_int_equal(elan_thread_load(SUM, sum_thread), 0);
	assert_int_equal(elan_thread_load(ELAN_CODES, sum_thread), EINVAL);
	assert_int_equal(elan_thread_start(&q, SUM, reg), 0);
	assert_int_equal(elan_thread_start(&q, ELAN_CODES, reg), EINVAL);
	/* 500 is the sum of what node 0 sends */
	assert_true(elan_wait_word(OUT_AT + 1024, 500 + program_node()));
	assert_int_equal(elan_cq_error(&q), ELAN_FINE);
}

static void root_program(void *arg)
{
	uint8_t data[BYTES + 8] = { 250, 250 };
	struct elan_cq q;

	data[BYTES] = 1;
	assert_int_equal(elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL), 0);
	program_wait(100 * US);
	for (uint32_t i = 1; i < 4; i++) {
		data[7] = (uint8_t)i;
		elan_put(&q, i, SUM_AT, data, sizeof(data), 0, 0);
	}
	for (uint32_t i = 1; i < 4; i++)
		assert_true(elan_wait_word(OUT_AT + 8 * i, 500 + i));
}

static void threads_answer_messages(void **state)
{
	uint64_t digest = 0;

	for (uint32_t workers = 1; workers < 3; workers++) {
		struct et m;

		et_init(&m, "4");
		ET_RUN(&m, workers, { 0, root_program, NULL },
			{ 1, sum_program, NULL }, { 2, sum_program, NULL },
			{ 3, sum_program, NULL });
		assert_int_equal(ET_SUM(&m, threads), 3);
		assert_true(!digest || digest == et_digest(&m));
		digest = et_digest(&m);
		et_fini(&m);
	}
}

/* --- who calls what is not for him --- */

static uint32_t which;

static void call_thread(const uint64_t *reg)
{
	struct elan_cq q = { 0 };
	uint64_t word = 0;

	switch (which) {
	case 0:
		elan_put(&q, 1, 0, &word, 8, 0, 0);
		break;
	case 1:
		elan_cq_open(&q, 3, ELAN_8K, 0);
		break;
	case 2:
		elan_load_bytes(0, &word, 8);
		break;
	case 3:
		weft_compute(1);
		break;
	case 4:
		elan_wait_word(0, 0);
		break;
	case 5:
		weft_spawn(3, NULL, NULL);
		break;
	case 6:
		elan_thread_load(1, call_thread);
		break;
	default:
		break;
	}
}

static void call_program(void *arg)
{
	const uint64_t reg[ELAN_REGISTERS] = { 0 };
	struct elan_cq q;

	assert_int_equal(elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL), 0);
	elan_thread_load(CALL, call_thread);
	elan_thread_start(&q, CALL, reg);
	program_charge(10 * US);
	if (which == 7)
		elan_thread_work(1);
	if (which == 8)
		elan_thread_wait_word(0, 0);
}

/* Whether a child ends with an internal error. */
static bool is_bug(void)
{
	int status = 0;
	pid_t child = fork();
	struct et m;

	assert_true(child >= 0);
	if (!child) {
		signal(SIGABRT, SIG_DFL);
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		et_init(&m, "4");
		et_run_two(&m, call_program, NULL, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) ||
	       (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_INTERNAL);
}

static void threads_are_no_programs(void **state)
{
	for (which = 0; which < 9; which++)
		assert_true(is_bug());
	assert_false(is_bug());
}

TESTS(TEST(threads_answer_messages), TEST(threads_are_no_programs))
