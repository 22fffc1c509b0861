/* Bits that flip and links that die: no byte is lost or wrong, or somebody is
 * told. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nic/bgq_mu/mu_testing.h"
#include "testing/contract_testing.h"
#include "testing/testing.h"
#include "weft/spi.h"

static const struct clause all_puts = { .run = put_to_all, .n_puts = 64 };

/* --- gets, one after the other --- */

enum { GETS = 12 };

static bool get_many(struct bench_end *x)
{
	uint32_t n = contract_nodes(x), i;
	uint64_t bytes = whole(x, 296);

	bench_make(x, number(x->node, 0, 0), BENCH_SOURCE, bytes);
	bench_ready(x);
	for (i = 0; i < GETS; i++) {
		uint32_t from = (x->node + 1 + i) % n;

		if (from != x->node &&
			(!get(x, from, BENCH_SOURCE, i, bytes) ||
				!bench_check(x, number(from, 0, 0), target(i),
					bytes)))
			return false;
	}
	return true;
}

static const struct clause all_gets = { .run = get_many, .has_gets = true };

/* --- bits --- */

static void under_bit_errors(
	void **state, const struct clause *c, const char *rate, bool by_link)
{
	const struct kit_kinds *kinds = *state;
	const char *const sets[] = { rate, "link.retry=replay", NULL };
	const char *const cards[] = { rate, NULL };
	struct kit_kinds some = { .n = 0 };
	void *now = &some;

	/* what sends nothing twice has links that do */
	for (uint32_t i = 0; i < kinds->n; i++)
		if (by_link || kinds->kind[i].nic->can & NIC_RESENDS)
			some.kind[some.n++] = kinds->kind[i];
	assert_true(some.n > 0);
	contract_everywhere(&now, c, by_link ? sets : cards);
}

#define BIT_TEST(name, clause, rate, by_link)                                  \
	static void name(void **state)                                         \
	{                                                                      \
		under_bit_errors(                                              \
			state, clause, "faults.bit-errors=" rate, by_link);    \
	}

BIT_TEST(cards_put_right_what_links_damage, &all_puts, "1e-6", false)
BIT_TEST(cards_get_right_what_links_damage, &all_gets, "1e-6", false)
BIT_TEST(cards_stand_many_errors, &all_puts, "4e-6", false)
BIT_TEST(links_put_right_what_they_damage, &all_puts, "1e-6", true)
BIT_TEST(links_get_right_what_they_damage, &all_gets, "1e-6", true)
BIT_TEST(links_stand_many_errors, &all_puts, "2e-5", true)

/* --- time-outs of links --- */

enum { STREAM = 256 << 10 };

/* What a node sends over one link, with a time-out. */
struct patience {
	uint32_t trips;
	sim_time begin, end;
};

static void send_with(void *arg)
{
	struct patience *p = arg;
	struct mu_descriptor d = sw_put(1, STREAM);
	struct sw_fifo f = sw_open(0, 0);
	uint32_t trips = 0;
	sim_time t;

	assert_int_equal(Kernel_SetLinkTimeout(0, p->trips), EPERM);
	program_set_system(true);
	assert_int_equal(Kernel_SetLinkTimeout(10, 4), EINVAL);
	assert_int_equal(Kernel_SetLinkTimeout(0, 0), EINVAL);
	assert_int_equal(Kernel_SetLinkTimeout(0, 1000001), EINVAL);
	assert_int_equal(Kernel_GetLinkTimeout(10, &trips), EINVAL);
	assert_int_equal(Kernel_GetLinkTimeout(0, &trips), 0);
	assert_int_equal(trips, 4);
	/* 20 cycles of the ring each */
	t = program_now();
	assert_int_equal(Kernel_SetLinkTimeout(0, p->trips), 0);
	assert_int_equal(Kernel_GetLinkTimeout(0, &trips), 0);
	assert_int_equal(program_now() - t, 400 * SIM_NS);
	assert_int_equal(trips, p->trips);
	assert_int_equal(Kernel_GetLinkTimeout(1, &trips), 0);
	assert_int_equal(trips, 4);
	program_set_system(false);
	program_wait(10000 * SIM_NS);
	p->begin = program_now();
	sw_inject(&f, &d);
}

static void take_with(void *arg)
{
	struct patience *p = arg;

	sw_open_bases(STREAM);
	sw_wait_counter(SW_COUNTER);
	p->end = program_now();
}

/* How long it takes, and how many packets were sent in vain. */
static sim_time stream_with(uint32_t trips, const char *rate, uint64_t *resent)
{
	const char *const sets[] = { rate, NULL };
	struct patience p = { .trips = trips };
	struct kit k;

	kit_open(&k, &(struct kit_how){ .machine = "bgq-board",
			     .sets = sets,
			     .needs = { .n_programs = 2 } });
	program_start(k.host, 0, 0, 0, send_with, &p);
	program_start(k.host, 1, 0, 0, take_with, &p);
	kit_run(&k, false);
	*resent = 0;
	for (uint32_t c = 0; k.net->resent && c < NET_MOST_CHANNELS; c++)
		*resent += k.net->resent[net_channel_at(k.net, 0, 0, c)];
	kit_close(&k);
	return p.end - p.begin;
}

/* At least the longer silence more for each packet that was hit. */
static void bgq_f126_the_system_sets_how_long_a_sender_waits(void **state)
{
	static const char none[] = "faults.bit-errors=0";
	static const char some[] = "faults.bit-errors=1e-6";
	uint64_t resent, again;
	sim_time fast, slow;

	fast = stream_with(4, none, &resent);
	assert_int_equal(fast, stream_with(40, none, &again));
	assert_int_equal(resent + again, 0);
	fast = stream_with(4, some, &resent);
	slow = stream_with(40, some, &again);
	assert_true(resent > 0 && again > 0);
	assert_true(slow - fast >= 36 * 2 * 42 * SIM_NS);
}

/* --- links --- */

/* The first one to a router from a number on; t->n_ports: there is none. */
static port_id find_port(const struct topo *t, router_id r, router_id from)
{
	port_id p = 0;

	while (p < t->n_ports && (t->ops->peer(t, r, p).router == NO_ROUTER ||
					 t->ops->peer(t, r, p).router < from))
		p++;
	return p;
}

/* Of a router, where there are any, to another one; or to a node, if there is
 * only one. */
static void find_link(const struct topo *t, char *text, size_t size)
{
	router_id r = topo_is_direct(t) ? 0 : t->n_nodes;
	char at[64], port[64];
	port_id p = find_port(t, r, r);

	if (p == t->n_ports)
		p = find_port(t, r, 0);
	t->ops->name_router(t, r, at, sizeof(at));
	t->ops->name_port(t, r, p, port, sizeof(port));
	snprintf(text, size, "link %s %s", at, port);
}

/* A plan in a file, whose name is to be unlinked; NULL: the link is for good.
 */
static void write_plan(
	const struct kit_kind *k, const char *returns, char path[64])
{
	struct err e = { 0 };
	struct machine *m =
		machine_load(k->machine, k->sets, kit_n_sets(k), k->shape, &e);
	char link[160];
	FILE *f;
	int fd;

	if (!m)
		fail_msg("%s", e.text);
	find_link(m->topo, link, sizeof(link));
	machine_free(m);
	strcpy(path, "/tmp/weft-plan-XXXXXX.yaml");
	fd = mkstemps(path, 5);
	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	fprintf(f, "schema: 1\nfaults:\n  events:\n    - 10500 ns %s dies\n",
		link);
	if (returns)
		fprintf(f, "    - %s %s returns\n", returns, link);
	fclose(f);
}

static struct outcome run_with_plan(const struct clause *c,
	const struct kit_kind *k, const char *returns, uint32_t threads)
{
	char path[64];
	struct outcome x;

	write_plan(k, returns, path);
	x = contract_run(c, k,
		&(struct contract_how){ .faults = path, .threads = threads });
	unlink(path);
	return x;
}

/* Whether a machine's links bring through what they damage. */
static bool links_retry(const struct kit_kind *k)
{
	struct err e = { 0 };
	struct machine *m =
		machine_load(k->machine, k->sets, kit_n_sets(k), k->shape, &e);
	bool is_so = m && m->link.retry.kind;

	machine_free(m);
	return is_so;
}

/* Resent where there is somebody to do it, or refused at once. */
static void a_link_that_comes_back_has_lost_nothing(void **state)
{
	static const struct clause *const some[] = { &all_puts, &all_gets };
	const struct kit_kinds *kinds = *state;

	for (uint32_t i = 0; i < 2 * kinds->n; i++) {
		const struct kit_kind *k = &kinds->kind[i / 2];
		struct outcome x = run_with_plan(some[i % 2], k, "30 us", 1);

		if (!k->nic->client->on_lost && !links_retry(k)) {
			assert_int_equal(x.e.code, EXIT_BAD_INPUT);
			continue;
		}
		/* what nobody resends may be waited for in vain */
		if (x.e.code &&
			(k->nic->can & NIC_RESENDS || !k->nic->client->on_lost))
			fail_msg("%s %s: %s", k->machine, k->shape, x.e.text);
		assert_int_not_equal(x.e.code, EXIT_BAD_INPUT);
		assert_null(strstr(x.e.text, "audit"));
		assert_true(run_with_plan(some[i % 2], k, "30 us", 3).digest ==
			    x.digest);
	}
}

/* By another way; or the card reports that it gave up, and so does the run. */
static void a_link_that_dies_is_passed_by_or_reported(void **state)
{
	const struct kit_kinds *kinds = *state;
	uint32_t n_passed = 0;

	for (uint32_t i = 0; i < kinds->n; i++) {
		const struct kit_kind *k = &kinds->kind[i];
		struct outcome x;

		if (!(k->nic->can & NIC_RESENDS))
			continue;
		x = run_with_plan(&all_puts, k, NULL, 1);
		n_passed += !x.e.code;
		if (!x.e.code)
			continue;
		assert_true(x.errors > 0);
		assert_int_equal(x.e.code, EXIT_DEADLOCK);
		if (!strstr(x.e.text, "reports:"))
			fail_msg("%s %s: %s", k->machine, k->shape, x.e.text);
	}
	assert_true(n_passed > 0);
}

/* Time budgets sum up under faults, too, and change nothing. */
static void budgets_change_nothing_under_faults(void **state)
{
	static const char *const sets[] = { "faults.bit-errors=1e-6", NULL };
	const struct kit_kinds *kinds = *state;
	const struct book_how book = { 0 };

	for (uint32_t i = 0; i < kinds->n; i++) {
		const struct kit_kind *k = &kinds->kind[i];
		const struct contract_how none = { .sets = sets },
					  how = { .sets = sets, .book = &book };

		if (k->nic->can & NIC_RESENDS)
			assert_true(contract_run(&all_puts, k, &how).digest ==
				    contract_run(&all_puts, k, &none).digest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			bgq_f126_the_system_sets_how_long_a_sender_waits),
		cmocka_unit_test(cards_put_right_what_links_damage),
		cmocka_unit_test(cards_get_right_what_links_damage),
		cmocka_unit_test(cards_stand_many_errors),
		cmocka_unit_test(links_put_right_what_they_damage),
		cmocka_unit_test(links_get_right_what_they_damage),
		cmocka_unit_test(links_stand_many_errors),
		cmocka_unit_test(a_link_that_comes_back_has_lost_nothing),
		cmocka_unit_test(a_link_that_dies_is_passed_by_or_reported),
		cmocka_unit_test(budgets_change_nothing_under_faults),
	};

	return cmocka_run_group_tests(
		tests, contract_set_up, contract_tear_down);
}
