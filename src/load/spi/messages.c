#include "load/spi/messages.h"

#include "base/mem.h"
#include "load/keys.h"

#define AT(field) offsetof(struct messages, field)
#define MIB	  (UINT64_C(1) << 20)

enum {
	MOST_THREADS = 16,
	ACTOR_BYTES = 512 << 10, /* of memory that an actor touches, at most */
};

static const struct param params[] = {
	KEY_COUNT("count", AT(count), "100000", 1, INT64_C(1000000000000),
		"minimum number of messages; all senders send equally many"),
	KEY_COUNT("threads", AT(threads), "2", 1, MOST_THREADS,
		"number of hardware threads of each node that send and "
		"receive"),
};

static const enum mu_atomic operation[N_BASES] = {
	[BASE_ADD] = MU_ATOMIC_STORE_ADD,
	[BASE_STORE] = MU_ATOMIC_STORE,
	[BASE_MAX] = MU_ATOMIC_STORE_MAX,
	[BASE_XOR] = MU_ATOMIC_STORE_XOR,
	[BASE_OR] = MU_ATOMIC_STORE_OR,
};

/* --- an actor's set-up --- */

static bool did(struct actor *a, const char *call, int32_t code)
{
	return programs_did(&a->m->programs, call, code);
}

static bool open_inj(struct actor *a)
{
	static const Kernel_InjFifoAttributes_t attrs[N_OF_FIFOS] = {
		[FIFO_URGENT] = { .Priority = 1 },
		[FIFO_GET] = { .RemoteGet = 1 },
	};

	return fifos_open_group(&a->m->programs, &a->fifos.group[0],
		program_thread(), N_OF_FIFOS, attrs, a->base + FIFOS,
		FIFO_BYTES);
}

static bool open_rec(struct actor *a)
{
	const uint32_t id = 0, thread = program_thread();
	Kernel_MemoryRegion_t region;

	return did(a, "Kernel_CreateMemoryRegion",
		       Kernel_CreateMemoryRegion(
			       &region, a->base + REC_FIFO, REC_BYTES)) &&
	       did(a, "Kernel_AllocateRecFifos",
		       Kernel_AllocateRecFifos(
			       thread, &a->rec, 1, &id, NULL)) &&
	       did(a, "Kernel_RecFifoInit",
		       Kernel_RecFifoInit(
			       &a->rec, id, &region, 0, REC_BYTES - 1)) &&
	       did(a, "Kernel_RecFifoEnable",
		       Kernel_RecFifoEnable(
			       thread / 4, spi_rec_bit(thread, id)));
}

static bool open_bases(struct actor *a)
{
	static const uint32_t ids[] = { 0, 1, 2, 3, 4, 5 };
	MUSPI_BaseAddressTableSubGroup_t g;
	uint32_t i;

	if (!did(a, "Kernel_AllocateBaseAddressTable",
		    Kernel_AllocateBaseAddressTable(
			    program_thread(), &g, N_BASES, ids, 0)))
		return false;
	for (i = 0; i < N_BASES; i++)
		if (!did(a, "MUSPI_SetBaseAddress",
			    MUSPI_SetBaseAddress(&g, i,
				    i ? MUSPI_GetAtomicAddress(
						a->base, operation[i])
				      : a->base)))
			return false;
	return true;
}

bool messages_open(struct actor *a)
{
	return open_inj(a) && open_rec(a) && open_bases(a);
}

/* --- the course of a run --- */

static struct messages *of(struct load *l)
{
	return (struct messages *)l;
}

static uint64_t base_of(uint64_t thread)
{
	return (thread + 1) * 16 * MIB;
}

static int messages_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct messages *m = of(l);
	uint64_t actors = (uint64_t)t->n_nodes * (uint64_t)m->threads;
	uint64_t per_round = actors * PLAN_LANES;

	(void)r;
	(void)link;
	m->plan = (struct plan){
		.seed = l->seed,
		.n_actors = (uint32_t)actors,
	};
	m->rounds = ((uint64_t)m->count + per_round - 1) / per_round;
	l->needs.n_programs = m->plan.n_actors;
	return programs_need(
		&m->programs, "bgq-mu", base_of((uint64_t)m->threads), e);
}

static void messages_start(struct load *l)
{
	struct messages *m = of(l);
	uint32_t threads = (uint32_t)m->threads, i;

	programs_open(&m->programs);
	m->actors = mem_alloc(m->plan.n_actors, sizeof(*m->actors));
	for (i = 0; i < m->plan.n_actors; i++) {
		m->actors[i].m = m;
		m->actors[i].id = i;
		m->actors[i].base = base_of(i % threads);
		program_start(m->programs.load.host, i / threads, i % threads,
			0, messages_program, &m->actors[i]);
	}
}

static void messages_report(struct load *l, struct load_result *r)
{
	struct messages *m = of(l);
	uint64_t n = 0;
	uint32_t i;

	programs_report(&m->programs, r);
	if (r->ending != LOAD_FINISHED || !m->actors)
		return;
	for (i = 0; i < m->plan.n_actors; i++)
		n += m->actors[i].n_sent;
	load_figure(r, "messages", (double)n);
	load_figure(r, "rounds", (double)m->rounds);
}

static void messages_fini(struct load *l)
{
	programs_fini(l);
	mem_free(of(l)->actors);
}

static uint64_t messages_estimate(const struct load *l, const struct topo *t)
{
	uint64_t threads = (uint64_t)((const struct messages *)l)->threads;

	return programs_estimate(
		t->n_nodes, 5 * threads, threads * ACTOR_BYTES);
}

const struct load_ops load_messages = {
	.name = "messages",
	.help = "random messages of all kinds, on Blue Gene/Q",
	.size = sizeof(struct messages),
	PARAMS(params),
	.init = messages_init,
	.start = messages_start,
	.report = messages_report,
	.fini = messages_fini,
	.estimate = messages_estimate,
	PROGRAMS_OPS,
};
