/*
 * Packets that an Elan4 builds by itself: a program arms an event for each,
 * whose copy is a packet's commands, and sets them all.  The event processor
 * appends one packet after the other to command queues in turn, for all other
 * nodes in turn, which run no program.
 */
#include <string.h>

#include "api/elan/elan.h"
#include "base/mem.h"
#include "load/keys.h"
#include "load/programs.h"
#include "load/registry.h"

#define AT(field) offsetof(struct events, field)
#define MIB	  (UINT64_C(1) << 20)

/* Addresses, the same on all nodes. */
#define FLAG_AT	  UINT64_C(0x1000)
#define TARGET_AT (1 * MIB)
#define MEMORY	  (64 * MIB)

enum { MOST_QUEUES = 64, MOST_ROUNDS = 60000 };
enum { SENT = 1, FIRST_EVENT };

struct events {
	struct programs programs;
	/* keys */
	int64_t from, bytes, rounds, queues;

	sim_time start, end;
	struct elan_cq cq;
};

static const struct param params[] = {
	KEY_NODE("from", AT(from), "0", "node whose events build the packets"),
	KEY_BYTES("bytes", AT(bytes), "24", 8, ELAN_PACKET,
		"length of a packet, a multiple of 8 bytes"),
	KEY_COUNT("rounds", AT(rounds), "4000", 1, MOST_ROUNDS,
		"total number of packets, each built by an event"),
	KEY_COUNT("queues", AT(queues), "32", 1, MOST_QUEUES,
		"number of command queues that the packets are appended to"),
};

static struct events *of(struct load *l)
{
	return (struct events *)l;
}

/* --- the program --- */

static site_id node_of(const struct events *g, uint32_t k)
{
	site_id n = g->programs.load.net->n_nodes;

	return ((site_id)g->from + 1 + k % (n - 1)) % n;
}

static uint64_t place(const struct events *g, uint32_t k)
{
	return TARGET_AT + k * (uint64_t)g->bytes;
}

static void fill(const struct events *g, uint32_t k, uint8_t *data)
{
	memory_fill_by(g->programs.load.seed, (site_id)g->from, place(g, k),
		data, (size_t)g->bytes);
}

static uint64_t page_of(uint32_t k)
{
	uint64_t end = elan_memory_bytes() + ELAN_PAGE - 1;

	return end - end % ELAN_PAGE + ELAN_PAGE * k;
}

static bool open_queues(struct events *g)
{
	struct elan_cq q;

	if (!programs_did(&g->programs, "elan_cq_open",
		    elan_cq_open(&g->cq, 0, ELAN_64K, ELAN_MAY_ALL)))
		return false;
	for (uint32_t i = 0; i < (uint32_t)g->queues; i++)
		if (!programs_did(&g->programs, "elan_cq_open",
			    elan_cq_open(&q, i + 1, ELAN_64K, ELAN_MAY_STEN)) ||
			!programs_did(&g->programs, "elan_cq_map",
				elan_cq_map(&q, page_of(i))))
			return false;
	return true;
}

static bool arm(struct events *g, uint32_t k)
{
	uint64_t words[ELAN_PUT_WORDS];
	uint8_t data[ELAN_PACKET];
	uint32_t n;

	fill(g, k, data);
	n = elan_put_words(words, node_of(g, k), place(g, k), data,
		(uint32_t)g->bytes, 0, SENT);
	return programs_did(&g->programs, "elan_arm_copy",
		elan_arm_copy(&g->cq, FIRST_EVENT + k, 1,
			page_of(k % (uint32_t)g->queues), words, 8 * n));
}

/* Sets all events, many by each burst of stores. */
static void set_all(struct events *g)
{
	uint64_t words[ELAN_CQ_WORDS];
	uint32_t n = 0;

	for (uint32_t k = 0; k < (uint32_t)g->rounds; k++) {
		words[n++] = elan_word(ELAN_ADD, FIRST_EVENT + k, 1);
		if (n < ELAN_CQ_WORDS && k + 1 < (uint32_t)g->rounds)
			continue;
		elan_issue(&g->cq, words, n);
		n = 0;
	}
}

static void run(void *arg)
{
	struct events *g = arg;

	if (!open_queues(g))
		return;
	elan_arm(&g->cq, SENT, (uint64_t)g->rounds, FLAG_AT, 1);
	for (uint32_t k = 0; k < (uint32_t)g->rounds; k++)
		if (!arm(g, k))
			return;
	/* all of it is in the card */
	program_charge(PROGRAMS_START);
	g->start = program_now();
	set_all(g);
	if (!elan_wait_event(&g->cq, FLAG_AT, 1)) {
		programs_note_stop(&g->programs);
		return;
	}
	g->end = program_now();
}

/* --- the course of a run --- */

static int events_init(struct load *l, struct err *e)
{
	const struct topo *t = l->topo;
	struct events *g = of(l);

	l->needs.n_programs = 1;
	if (programs_need(&g->programs, "elan4", MEMORY, e))
		return -1;
	if (t->n_nodes < 2)
		return err_set(e, "events: needs at least two nodes");
	if (load_check_node(l, "from", g->from, e))
		return -1;
	if (g->bytes % 8)
		return err_set(e, "bytes: want a multiple of 8");
	return 0;
}

static void events_start(struct load *l)
{
	struct events *g = of(l);

	programs_open(&g->programs);
	for (site_id i = sim_next_own(l->net->sim, 0); i < l->net->n_nodes;
		i = sim_next_own(l->net->sim, i + 1))
		BUG_IF(elan_context_set(
			g->programs.load.nic, i, ELAN_CONTEXT, 0, MEMORY - 1));
	program_start(g->programs.load.host, (site_id)g->from, 0, 0, run, g);
}

static int events_check(struct load *l, struct err *e)
{
	uint8_t want[ELAN_PACKET], got[ELAN_PACKET];
	struct events *g = of(l);

	if (programs_check(l, e))
		return -1;
	for (uint32_t k = 0; g->end && k < (uint32_t)g->rounds; k++) {
		if (!sim_has(l->net->sim, node_of(g, k)))
			continue;
		fill(g, k, want);
		host_read(g->programs.load.host, node_of(g, k), place(g, k),
			got, (size_t)g->bytes);
		if (memcmp(want, got, (size_t)g->bytes) != 0) {
			err_set_code(e, EXIT_INTERNAL,
				"events: node %u: packet %u: wrong bytes",
				node_of(g, k), k);
			break;
		}
	}
	return sim_share_error(l->net->sim, e);
}

static void events_report(struct load *l, struct load_result *r)
{
	struct events *g = of(l);
	double took, n = (double)g->rounds;

	sim_tell(l->net->sim, (site_id)g->from, &g->start, sizeof(g->start));
	sim_tell(l->net->sim, (site_id)g->from, &g->end, sizeof(g->end));
	took = (double)(g->end - g->start);
	programs_report(&g->programs, r);
	if (r->ending != LOAD_FINISHED || !g->end)
		return;
	load_figure(r, "packet_ns", took / SIM_NS / n);
	load_figure(r, "packets_per_us", n * 1e6 / took);
}

const struct load_ops load_events = {
	.name = "events",
	.help = "packets built by events, on QsNetII",
	.size = sizeof(struct events),
	PARAMS(params),
	.init = events_init,
	.start = events_start,
	.report = events_report,
	.check = events_check,
	.fini = programs_fini,
	.on_delivered = programs_delivered,
	.next = programs_next,
};
