#include "load/messages.h"

#include "base/mem.h"
#include "topo/torus.h"

#define AT(field) offsetof(struct messages, field)
#define MIB	  (UINT64_C(1) << 20)

enum {
	MOST_THREADS = 16,
	ACTOR_BYTES = 512 << 10, /* of memory that an actor touches, at most */
};

static const struct param params[] = {
	{ .name = "count",
		.type = PARAM_COUNT,
		.offset = AT(count),
		.def = "100000",
		.min = 1,
		.max = INT64_C(1000000000000),
		.help = "messages, at least; all send equally many" },
	{ .name = "threads",
		.type = PARAM_COUNT,
		.offset = AT(threads),
		.def = "2",
		.min = 1,
		.max = MOST_THREADS,
		.help = "hardware threads of each node that send and receive" },
};

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
	uint64_t actors = (uint64_t)t->n_routers * (uint64_t)m->threads;
	uint64_t per_round = actors * PLAN_LANES;

	(void)r;
	(void)link;
	if (t->ops != &torus_ops)
		return err_set(e, "messages: wants a torus");
	m->plan = (struct plan){
		.seed = l->seed,
		.n_actors = (uint32_t)actors,
	};
	m->rounds = ((uint64_t)m->count + per_round - 1) / per_round;
	return programs_need(
		&m->programs, base_of((uint64_t)m->threads), e);
}

static void messages_start(struct load *l)
{
	struct messages *m = of(l);
	uint32_t threads = (uint32_t)m->threads, i;

	if (!programs_open(&m->programs, m->plan.n_actors))
		return;
	m->actors = mem_alloc(m->plan.n_actors, sizeof(*m->actors));
	for (i = 0; i < m->plan.n_actors; i++) {
		m->actors[i].m = m;
		m->actors[i].id = i;
		m->actors[i].base = base_of(i % threads);
		program_start(m->programs.host, i / threads, i % threads, 0,
			messages_program, &m->actors[i]);
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
		t->n_routers, 5 * threads, threads * ACTOR_BYTES);
}

const struct load_ops load_messages = {
	.name = "messages",
	.help = "random messages of all kinds between all nodes",
	.size = sizeof(struct messages),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.init = messages_init,
	.start = messages_start,
	.next = programs_next,
	.report = messages_report,
	.check = programs_check,
	.fini = messages_fini,
	.estimate = messages_estimate,
	.memory = programs_memory,
};
