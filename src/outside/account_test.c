/* A rank's account. */
#include "outside/account.h"

#include <errno.h>
#include <string.h>

#include "testing/testing.h"

enum { N = 4 };

static uint32_t number_of(const char *name)
{
	uint32_t i = 1;

	while (i < CHANNEL_NAMES && strcmp(account_call_name(i), name) != 0)
		i++;
	return i;
}

/* MPI-F2. */
static void all_time_is_charged_once(void **state)
{
	uint32_t recv = number_of("MPI_Recv");
	struct account a;

	(void)state;
	account_begin(&a, N, 100);
	account_until(&a, ACCOUNT_COMPUTING, 0, 130);
	account_until(&a, ACCOUNT_CALLS, recv, 150);
	account_wait(&a, 2, recv, 220);
	account_wait(&a, CHANNEL_ANY, recv, 225);
	assert_int_equal(a.spent[ACCOUNT_COMPUTING], 30);
	assert_int_equal(a.spent[ACCOUNT_CALLS], 20);
	assert_int_equal(a.spent[ACCOUNT_MESSAGES], 75);
	assert_int_equal(account_pair(&a, 2).waited, 70);
	assert_int_equal(a.nobody, 5);
	/* what it computed was in no call */
	assert_int_equal(account_call(&a, recv).spent, 95);
	assert_int_equal(account_call(&a, 0).spent, 0);
	assert_true(account_is_exact(&a, 225));
	assert_false(account_is_exact(&a, 226));
	a.pair[0].waited++;
	assert_false(account_is_exact(&a, 225));
	account_free(&a);
}

/* MPI-F2. */
static void messages_are_counted_by_receiver(void **state)
{
	const struct channel_command c[] = {
		{ .kind = CHANNEL_SEND, .rank = 1, .bytes = 480 },
		{ .kind = CHANNEL_SEND, .rank = 1, .bytes = 1000 },
		{ .kind = CHANNEL_WRITE, .rank = 3, .bytes = 64 },
		{ .kind = CHANNEL_RECEIVE, .rank = 2, .bytes = 50 },
		{ .kind = CHANNEL_SEND, .rank = N, .bytes = 7 },
		{ .kind = CHANNEL_VECTOR_OF },
	};
	struct account a;

	(void)state;
	account_begin(&a, N, 0);
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		account_command(&a, &c[i], 480);
	assert_int_equal(a.operations, 5);
	assert_int_equal(a.n_short, 2);
	assert_int_equal(a.n_long, 1);
	assert_int_equal(a.n_writes, 1);
	assert_int_equal(account_pair(&a, 1).bytes, 1480);
	assert_int_equal(account_pair(&a, 3).bytes, 64);
	assert_int_equal(account_pair(&a, 2).messages, 0);
	assert_int_equal(a.n_pairs, 2);
	assert_int_equal(a.bytes, 1544);
	account_free(&a);
}

/* MPI-F2. */
static void collectives_are_known_by_name(void **state)
{
	const struct channel_command barrier = { .kind = CHANNEL_BARRIER };
	struct channel_completion c = { .kind = CHANNEL_BARRIER };
	struct account a;

	(void)state;
	assert_true(account_is_collective(number_of("MPI_Allreduce")));
	assert_true(account_is_collective(number_of("MPI_Finalize")));
	assert_false(account_is_collective(number_of("MPI_Recv")));
	assert_false(account_is_collective(UINT32_MAX));
	assert_true(account_has_peer(number_of("MPI_Recv")));
	assert_false(account_has_peer(number_of("MPI_Barrier")));
	assert_string_equal(account_call_name(UINT32_MAX), "outside of MPI");
	account_begin(&a, N, 0);
	account_count(&a, number_of("MPI_Barrier"), 5);
	account_count(&a, number_of("MPI_Finalize"), 1);
	account_count(&a, number_of("MPI_Send"), 0);
	assert_int_equal(a.n_calls, 2);
	assert_int_equal(account_collectives(&a), 5);
	account_command(&a, &barrier, 0);
	account_command(&a, &barrier, 0);
	account_completion(&a, &c);
	c.error = ENOTSUP;
	account_completion(&a, &c);
	assert_int_equal(a.n_network, 1);
	account_free(&a);
}

TESTS(TEST(all_time_is_charged_once), TEST(messages_are_counted_by_receiver),
	TEST(collectives_are_known_by_name))
