/*
 * APEnet+ while things go wrong: random puts between all nodes, of which each
 * packet arrives as it was sent, is reported to its target, or is counted as
 * lost, once.  WEFT_LONG is how often, with 6,400 packets each time; 40+60 are
 * sixty times behind the first forty.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/random.h"
#include "testing/kit_testing.h"
#include "testing/testing.h"
#include "weft/ape.h"

enum { NODES = 16, SLOT = 4160, BATCH = 8 };

#define SOURCE_AT UINT64_C(0x4000000)
#define TARGET_AT UINT64_C(0x8000000)
#define START	  (200000 * (sim_time)SIM_NS)

/* One node's; others never look at it. */
struct end {
	uint64_t sent, arrived, damaged, refused;
	uint32_t last[NODES]; /* 1 + tag, of what came in order */
	uint32_t done; /* the same of what was sent */
	uint8_t *came; /* [source][number] */
};

struct world {
	struct kit kit;
	uint64_t seed;
	uint32_t count; /* of puts of each node */
	bool has_deaths;
	struct end end[NODES];
};

/* --- programs --- */

struct put {
	uint32_t node, bytes;
	uint64_t offset; /* in its slot */
};

/* The k-th of a node. */
static struct put draw(const struct world *w, uint32_t node, uint32_t k)
{
	struct random_bits r =
		random_draw(w->seed, node, RANDOM_TARGET, 2 * (uint64_t)k);
	uint32_t bytes = r.b % 3 ? 1 + (uint32_t)(r.b >> 8) % 256
				 : 1 + (uint32_t)(r.b >> 8) % 4096;

	return (struct put){
		.node = (node + 1 + (uint32_t)(r.a % (NODES - 1))) % NODES,
		.bytes = bytes,
		.offset = (r.a >> 8) % 64,
	};
}

static void fill(const struct world *w, uint32_t node, uint32_t k, void *to)
{
	memory_fill_by(w->seed, (uint64_t)node << 32 | k, 0, to,
		draw(w, node, k).bytes);
}

static uint64_t slot_of(const struct world *w, uint32_t node, uint32_t k)
{
	return (uint64_t)SLOT * (node * w->count + k);
}

/* A slot holds what was put there, or nothing. */
static bool is_right(
	const struct world *w, uint32_t node, uint32_t k, bool has_come)
{
	struct put p = draw(w, node, k);
	uint8_t got[SLOT], want[SLOT] = { 0 };

	if (has_come)
		fill(w, node, k, want + p.offset);
	program_read(TARGET_AT + slot_of(w, node, k), got, SLOT);
	return !memcmp(got, want, SLOT);
}

static void on_event(struct world *w, const struct weft_ape_event *e)
{
	struct end *x = &w->end[program_node()];
	uint8_t *came = &x->came[e->node * w->count + e->tag];

	assert_true(e->node < NODES);
	if (e->kind == WEFT_APE_DONE) {
		x->done = e->tag + 1;
		return;
	}
	if (e->kind == WEFT_APE_ERROR) {
		assert_int_equal(e->error, WEFT_APE_DAMAGED);
		x->damaged++;
		return;
	}
	assert_int_equal(e->kind, WEFT_APE_ARRIVED);
	assert_false(*came);
	*came = 1;
	assert_true(e->tag >= x->last[e->node]);
	x->last[e->node] = e->tag + 1;
	assert_true(is_right(w, e->node, e->tag, true));
	x->arrived++;
}

static void take_events(struct world *w)
{
	struct weft_ape_event e;

	while (!weft_ape_poll(&e))
		on_event(w, &e);
}

static void send(struct world *w, uint32_t own, uint32_t target, uint32_t k)
{
	struct put p = draw(w, program_node(), k);
	struct weft_ape_transfer t = {
		.node = p.node,
		.key = target,
		.offset = slot_of(w, program_node(), k) + p.offset,
		.own_key = own,
		.own_offset = k % BATCH * SLOT,
		.bytes = p.bytes,
		.tag = k,
	};
	uint8_t data[SLOT];
	int code;

	fill(w, program_node(), k, data);
	program_write(SOURCE_AT + t.own_offset, data, p.bytes);
	code = weft_ape_put(&t);
	assert_true(!code || (w->has_deaths && code == EIO));
	w->end[program_node()].sent += !code;
}

/* Until the card has read what is to be overwritten; false: it is dead. */
static bool wait_for_source(struct world *w, uint32_t k)
{
	struct end *x = &w->end[program_node()];
	struct weft_ape_event e;

	while (k >= x->done + BATCH) {
		int code = weft_ape_poll(&e);

		if (!code)
			on_event(w, &e);
		else if (code == EIO)
			return false;
		else
			program_charge(2000 * SIM_NS);
	}
	return true;
}

static void program(void *arg)
{
	struct world *w = arg;
	uint64_t all = slot_of(w, NODES, 0);
	uint32_t own, target;

	assert_int_equal(weft_ape_open(0), 0);
	assert_int_equal(weft_ape_register(SOURCE_AT, BATCH * SLOT, &own), 0);
	assert_int_equal(weft_ape_register(TARGET_AT, all, &target), 0);
	program_wait(START);
	for (uint32_t k = 0; k < w->count && wait_for_source(w, k); k++) {
		send(w, own, target, k);
		take_events(w);
	}
	for (uint32_t k = 0; k < (w->has_deaths ? 20 : 4); k++) {
		program_charge(1000000 * SIM_NS);
		take_events(w);
	}
	for (uint32_t node = 0; node < NODES; node++)
		for (uint32_t k = 0; k < w->count; k++)
			if (!w->end[program_node()].came[node * w->count + k] &&
				draw(w, node, k).node == program_node())
				assert_true(is_right(w, node, k, false));
}

/* --- runs --- */

static uint64_t run(struct world *w, const char *const *sets,
	const char *faults, uint32_t threads)
{
	struct kit_how how = {
		.machine = "apenet-quong",
		.sets = sets,
		.faults = faults,
		.seed = w->seed,
		.n_workers = threads,
	};
	uint64_t digest;

	how.needs.n_programs = NODES;
	kit_open(&w->kit, &how);
	for (site_id i = 0; i < NODES; i++) {
		w->end[i] = (struct end){ 0 };
		w->end[i].came = mem_alloc((size_t)NODES * w->count, 1);
		program_start(w->kit.host, i, 0, 0, program, w);
	}
	digest = kit_run(&w->kit, false);
	for (site_id i = 0; i < NODES; i++)
		mem_free(w->end[i].came);
	return digest;
}

static struct end sum(const struct world *w)
{
	struct end all = { 0 };

	for (site_id i = 0; i < NODES; i++) {
		all.sent += w->end[i].sent;
		all.arrived += w->end[i].arrived;
		all.damaged += w->end[i].damaged;
	}
	return all;
}

static uint64_t bit_errors(const struct world *w, uint64_t *headless)
{
	uint64_t n = 0;

	*headless = 0;
	for (uint32_t i = 0; i < w->kit.net->topo->n_wires; i++) {
		struct fault_counts c = faults_total(w->kit.net->faults, i);

		n += c.bit_errors;
		*headless += c.headless;
	}
	return n;
}

/* How often, from which one on, and of how many packets each time. */
static uint32_t repeats(uint32_t *first, uint32_t *count)
{
	const char *is_long = getenv("WEFT_LONG");
	uint32_t n = 1;
	char *end;

	*first = 0;
	*count = is_long ? 400 : 30;
	if (!is_long)
		return n;
	n = (uint32_t)strtoul(is_long, &end, 10);
	if (*end != '+')
		return n;
	*first = n;
	return n + (uint32_t)strtoul(end + 1, NULL, 10);
}

/* APE-G8: a bad header drops a packet, a bad footer is reported to its target
 * and writes nothing. */
static void each_packet_arrives_is_flagged_or_lost_once(void **state)
{
	static const char *const sets[] = { "faults.bit-errors=1e-5", NULL };
	struct world w = { .seed = 0 };
	uint64_t errors = 0, packets = 0, damaged = 0, dropped = 0, headless;
	uint32_t i, n = repeats(&i, &w.count);

	for (; i < n; i++) {
		struct end all;

		w.seed = 1 + i;
		run(&w, sets, NULL, 1);
		all = sum(&w);
		errors += bit_errors(&w, &headless);
		assert_int_equal(all.sent, (uint64_t)NODES * w.count);
		assert_int_equal(all.damaged, nic_sum(w.kit.nic, "torn"));
		assert_int_equal(headless, net_total(w.kit.net).lost);
		assert_int_equal(
			all.sent, all.arrived + all.damaged + headless);
		assert_int_equal(nic_sum(w.kit.nic, "escapes"), 0);
		packets += all.sent;
		damaged += all.damaged;
		dropped += headless;
		kit_close(&w.kit);
	}
	print_message("%llu packets, %llu bit errors: %llu flagged, %llu "
		      "dropped\n",
		(unsigned long long)packets, (unsigned long long)errors,
		(unsigned long long)damaged, (unsigned long long)dropped);
	assert_true(errors > 50 && damaged > 30 && dropped > 0);
}

/* The same with links that repeat what they have damaged: every byte is right,
 * and in order. */
static void links_that_replay_bring_all_through(void **state)
{
	static const char *const sets[] = { "faults.bit-errors=1e-5",
		"link.retry=replay", NULL };
	uint32_t n, i;
	struct world w = { .seed = 0 };

	n = repeats(&i, &w.count);
	for (; i < n; i++) {
		uint64_t digest, headless;
		struct end all;

		w.seed = 1 + i;
		digest = run(&w, sets, NULL, 1);
		all = sum(&w);
		assert_int_equal(all.arrived, (uint64_t)NODES * w.count);
		assert_true(bit_errors(&w, &headless) > 10);
		assert_int_equal(nic_sum(w.kit.nic, "escapes"), 0);
		kit_close(&w.kit);
		if (i % 100)
			continue;
		assert_int_equal(run(&w, sets, NULL, 3), digest);
		kit_close(&w.kit);
	}
}

/* --- deaths --- */

enum { DEATHS = 4, LONG = 512 };

/* Hosts that die for good, links that do not, and cards that are away for
 * longer than it takes their hosts to know. */
static void plan(uint64_t seed, uint32_t count, char text[LONG])
{
	static const char *const ports[] = { "X+", "X-", "Y+", "Y-" };
	int n = snprintf(text, LONG, "faults.events=");
	uint32_t site, us;

	for (uint32_t i = 0; i < DEATHS; i++) {
		struct random_bits r =
			random_draw(seed, i, RANDOM_PATTERN, UINT64_MAX);

		/* each part at most once */
		site = 4 * i + (uint32_t)(r.a % 4);
		us = 200 + (uint32_t)(r.b % (5 * count));
		if (i == 0)
			n += snprintf(text + n, (size_t)(LONG - n),
				"%u us host %u dies", us, site);
		else if (i == 1)
			n += snprintf(text + n, (size_t)(LONG - n),
				"; %u us card %u dies; %u us card %u returns",
				us, site, us + 10000, site);
		else
			n += snprintf(text + n, (size_t)(LONG - n),
				"; %u us link %u %s dies; %u us link %u %s "
				"returns",
				us, site, ports[r.a >> 8 & 3],
				us + 1 + (uint32_t)(r.b >> 40) % 200, site,
				ports[r.a >> 8 & 3]);
	}
}

static void die(const char *retry)
{
	char events[LONG];
	const char *const sets[] = { "faults.bit-errors=1e-6", retry,
		"lofamo.period=1ms", events, NULL };
	struct world w = { .has_deaths = true };
	uint32_t i, n = repeats(&i, &w.count), once;
	uint64_t lost = 0;

	for (; i < n; i++) {
		for (once = 0; once < (i % 100 ? 1 : 2); once++) {
			const struct nic *nic;
			uint64_t gone;

			w.seed = 1 + i;
			plan(w.seed, w.count, events);
			run(&w, sets, NULL, 1 + 2 * once);
			nic = w.kit.nic;
			gone = net_total(w.kit.net).lost +
			       nic_sum(nic, "lost_in_cards");
			assert_int_equal(nic_sum(nic, "packets"),
				nic_sum(nic, "delivered") +
					nic_sum(nic, "torn") + gone);
			assert_int_equal(
				nic_sum(nic, "dropped"), nic_sum(nic, "torn"));
			assert_int_equal(nic_sum(nic, "escapes"), 0);
			assert_int_equal(host_n_dead(w.kit.host), 1);
			lost += gone;
			kit_close(&w.kit);
		}
	}
	print_message("%s: %llu lost\n", retry, (unsigned long long)lost);
	assert_true(lost > 0 || n == 1);
}

static void packets_are_counted_once_while_parts_die(void **state)
{
	die("link.retry=none");
	die("link.retry=replay");
}

TESTS(TEST(each_packet_arrives_is_flagged_or_lost_once),
	TEST(links_that_replay_bring_all_through),
	TEST(packets_are_counted_once_while_parts_die))
