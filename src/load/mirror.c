/*
 * Complement traffic through the interfaces of QsNetII: the nodes are two
 * halves, and each node exchanges DMAs with its mirror image in the other
 * one, all at once, so that every message crosses the middle.  Of an odd
 * number of nodes the middle one is idle.
 */
#include "load/mirror.h"

#include "api/elan.h"
#include "base/mem.h"
#include "load/programs.h"

#define AT(field) offsetof(struct mirror, field)
#define MIB	  (UINT64_C(1) << 20)

/* Addresses, the same on all nodes. */
#define COME_AT	  UINT64_C(0x1000)
#define SENT_AT	  UINT64_C(0x2000)
#define SOURCE_AT (16 * MIB)
#define TARGET_AT (32 * MIB)
#define MEMORY	  (48 * MIB)

enum { EVENT_COME = 1, EVENT_SENT };

struct mirror;

struct side {
	struct mirror *mirror;
	site_id node, peer;
	int target; /* the synthetic region */
	sim_time start, end;
};

struct mirror {
	struct programs programs;
	/* keys */
	int64_t bytes, rounds;

	struct side *sides; /* [node] */
};

static const struct param params[] = {
	{ .name = "bytes",
		.type = PARAM_BYTES,
		.offset = AT(bytes),
		.def = "64 KiB",
		.min = 8,
		.max = 16 * MIB,
		.help = "of a DMA, whole words" },
	{ .name = "rounds",
		.type = PARAM_COUNT,
		.offset = AT(rounds),
		.def = "2",
		.min = 1,
		.max = 100000,
		.help = "DMAs of each node" },
};

static struct mirror *of(struct load *l)
{
	return (struct mirror *)l;
}

/* What a node sends is its own; what comes is the other's. */
static void fill_own(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	const struct side *s = arg;

	memory_fill_by(s->mirror->programs.load.seed, s->node, offset, out, n);
}

static void fill_other(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	const struct side *s = arg;

	memory_fill_by(s->mirror->programs.load.seed, s->peer, offset, out, n);
}

/* --- the program --- */

static void check(struct side *s)
{
	struct mirror *m = s->mirror;
	const struct memory_region *r =
		host_synthetic(m->programs.load.host, s->node, s->target);
	uint64_t want = (uint64_t)m->rounds * (uint64_t)m->bytes;

	if (r->wrong || r->written != want)
		programs_complain(&m->programs,
			"%llu bytes came, not %llu; %llu were wrong",
			(unsigned long long)r->written,
			(unsigned long long)want, (unsigned long long)r->wrong);
}

static void exchange(struct side *s, struct elan_cq *q)
{
	const struct mirror *m = s->mirror;
	struct elan_dma d = {
		.bytes = (uint64_t)m->bytes,
		.destination = s->peer,
		.from = SOURCE_AT,
		.to = TARGET_AT,
		.source_event = EVENT_SENT,
		.target_event = EVENT_COME,
	};
	int64_t k;

	elan_arm(q, EVENT_COME, (uint64_t)m->rounds * d.bytes, COME_AT, 1);
	elan_arm(q, EVENT_SENT, (uint64_t)m->rounds, SENT_AT, 1);
	program_wait(PROGRAMS_START);
	s->start = program_now();
	for (k = 0; k < m->rounds; k++)
		elan_dma(q, &d);
	elan_wait_word(COME_AT, 1);
	s->end = program_now();
	elan_wait_word(SENT_AT, 1);
	check(s);
}

static void run(void *arg)
{
	struct side *s = arg;
	struct elan_cq q;

	if (programs_did(&s->mirror->programs, "elan_cq_open",
		    elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL)))
		exchange(s, &q);
}

/* --- the course of a run --- */

static int mirror_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct mirror *m = of(l);

	(void)r;
	(void)link;
	l->needs.n_programs = t->n_nodes;
	if (programs_need_elan(&m->programs, MEMORY, e))
		return -1;
	if (t->n_nodes < 2)
		return err_set(e, "mirror: needs two nodes");
	if (m->bytes % 8)
		return err_set(e, "bytes: want whole words of 8");
	return 0;
}

static void mirror_start(struct load *l)
{
	struct mirror *m = of(l);
	struct host *h;
	site_id n = l->net->n_nodes, i;

	m->sides = mem_alloc(n, sizeof(*m->sides));
	programs_open(&m->programs);
	h = m->programs.load.host;
	for (i = 0; i < n; i++) {
		struct side *s = &m->sides[i];

		*s = (struct side){ .mirror = m, .node = i, .peer = n - 1 - i };
		if (s->peer == i)
			continue;
		BUG_IF(host_add_synthetic(h, i, SOURCE_AT, (uint64_t)m->bytes,
			       fill_own, s) < 0);
		s->target = host_add_synthetic(
			h, i, TARGET_AT, (uint64_t)m->bytes, fill_other, s);
		program_start(h, i, 0, 0, run, s);
	}
}

/* The slowest node's time holds for all: nobody is done before. */
static void mirror_report(struct load *l, struct load_result *r)
{
	struct mirror *m = of(l);
	double bytes = 2e6 * (double)m->rounds * (double)m->bytes;
	site_id n = l->net->n_nodes, i;
	sim_time slowest = 0;

	programs_report(&m->programs, r);
	if (r->ending != LOAD_FINISHED)
		return;
	for (i = 0; i < n; i++) {
		sim_time took = m->sides[i].end - m->sides[i].start;

		slowest = took > slowest ? took : slowest;
	}
	if (!slowest)
		return;
	load_figure(r, "both_ways_MBps_per_node", bytes / (double)slowest);
	load_figure(r, "total_GBps",
		bytes / 2e3 * (double)(n - n % 2) / (double)slowest);
}

static void mirror_fini(struct load *l)
{
	mem_free(of(l)->sides);
	programs_fini(l);
}

static uint64_t mirror_estimate(const struct load *l, const struct topo *t)
{
	(void)l;
	return programs_estimate(t->n_nodes, 1, 64 << 10);
}

const struct load_ops load_mirror = {
	.name = "mirror",
	.help = "DMAs of all nodes with their mirror images, on QsNetII",
	.size = sizeof(struct mirror),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.init = mirror_init,
	.start = mirror_start,
	.next = programs_next,
	.report = mirror_report,
	.check = programs_check,
	.fini = mirror_fini,
	.estimate = mirror_estimate,
	.on_delivered = programs_delivered,
};
