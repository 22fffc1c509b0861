#include "base/mem.h"
#include "host/host_testing.h"
#include "sim/random.h"
#include "testing/testing.h"

#define WINDOW (40 * SIM_NS)

enum { ENGINE_WORD, ENGINE_DEVICE, ENGINE_TAKE };

static void on_engine(struct host_testing *m, struct sim_worker *w,
	site_id site, sim_time t, const struct sim_event *e)
{
	uint64_t word = e->data;

	if (sim_number(e) == ENGINE_WORD) {
		assert_true(host_write(m->host, w, site, t, HOST_TESTING_WORD,
			&word, sizeof(word)));
		host_poke_at(
			m->host, w, site, t, HOST_TESTING_WORD, sizeof(word));
	} else if (sim_number(e) == ENGINE_TAKE) {
		host_take(m->host, site, UINT64_MAX, t,
			t + (sim_time)word * SIM_NS);
	} else {
		m->device[site] = word;
		host_poke(m->host, w, site, t);
	}
}

static void visit(struct sim_worker *w, site_id site)
{
	struct host_testing *m = w->model;
	const struct sim_event *next;
	sim_time t;

	while ((next = sim_next(w, &t))) {
		struct sim_event e = *next;

		if (m->n_workers < 2)
			m->n_visited++;

		if (sim_phase(&e) == PHASE_PROGRAM)
			host_event(m->host, w, site, t, &e);
		else
			on_engine(m, w, site, t, &e);
	}
}

void host_testing_start(struct host_testing *m)
{
	static const struct sim_ops ops = { .visit = visit };
	struct err e = { 0 };
	struct sim_params p = {
		.n_sites = m->n_nodes ? m->n_nodes : 6,
		.n_workers = m->n_workers ? m->n_workers : 1,
		.window = WINDOW,
		.reach = 2 * WINDOW,
		.ops = &ops,
		.model = m,
	};
	struct host_params params;
	struct host_setup s = {
		.n_nodes = p.n_sites,
		.params = &params,
		.n_programs = m->n_programs ? m->n_programs : 32,
		.n_processes = m->n_processes,
		.n_spawned = m->n_spawned,
		.stack_bytes = m->stack_bytes,
	};

	host_params_defaults(&params);
	params.memory = HOST_TESTING_MEMORY;
	m->sim = sim_new(&p, &e);
	assert_non_null(m->sim);
	s.sim = m->sim;
	m->host = host_new(&s, &e);
	assert_non_null(m->host);
	m->device = mem_alloc(p.n_sites, sizeof(*m->device));
}

void host_testing_fini(struct host_testing *m)
{
	host_free(m->host);
	sim_free(m->sim);
	mem_free(m->device);
}

void host_testing_run(struct host_testing *m)
{
	assert_int_equal(sim_run(m->sim, SIM_NEVER - 1), SIM_IDLE);
}

static void post(struct host_testing *m, site_id node, sim_time t,
	unsigned engine, uint32_t value)
{
	sim_post(sim_owner(m->sim, node), node, t,
		SIM_KEY(PHASE_ENGINE, engine), 0, value);
}

void host_testing_write(
	struct host_testing *m, site_id node, sim_time t, uint32_t value)
{
	post(m, node, t, ENGINE_WORD, value);
}

void host_testing_set(
	struct host_testing *m, site_id node, sim_time t, uint32_t value)
{
	post(m, node, t, ENGINE_DEVICE, value);
}

void host_testing_take(
	struct host_testing *m, site_id node, sim_time t, uint32_t ns)
{
	post(m, node, t, ENGINE_TAKE, ns);
}

void host_testing_set_now(struct host_testing *m, uint64_t value)
{
	m->device[program_node()] = value;
	host_poke(m->host, program_worker(), program_node(), program_now());
}

uint64_t host_testing_draw(uint64_t *n, uint64_t below)
{
	return random_below(random_draw(5, 0, RANDOM_TEST, (*n)++).a, below);
}
