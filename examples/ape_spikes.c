/*
 * A spiking network: neurons add up the input of their synapses, lose a part of
 * it in every time step, and fire above a threshold.  A spike reaches the other
 * end of a synapse some steps later, so nodes need to exchange spikes only once
 * per step: as bit maps, from GPU to GPU.
 */
#include "ape_setup.h"

enum { NEURONS = 512, SYNAPSES = 24, DELAYS = 8, STEPS = 60 };
enum { MAP = NEURONS / 8, ENOUGH = 2500, REST = -1000 };

struct node {
	int64_t charge[NEURONS]; /* of its own ones */
	int64_t coming[DELAYS + 1][NEURONS]; /* by the step that it comes in */
	uint32_t n_spikes;
	weft_time took;
};

/* A node's GPU memory: its own map, then two sets of all nodes'. */
struct network {
	struct node *mine;
	uint64_t at;
	uint32_t step, me, n;
};

static uint64_t map_at(uint32_t step, uint32_t node)
{
	return MAP * (uint64_t)(1 + step % 2 * weft_nodes() + node);
}

/* A neuron's state after a step; whether it fires. */
static bool advance(struct node *x, uint32_t i, uint32_t step)
{
	int64_t *coming = &x->coming[step % (DELAYS + 1)][i];

	x->charge[i] += *coming - x->charge[i] / 16 +
			(int64_t)(mix(i, step) % 400); /* from outside */
	*coming = 0;
	if (x->charge[i] < ENOUGH)
		return false;
	x->charge[i] = REST;
	x->n_spikes++;
	return true;
}

/* The effect of a neuron's spike on neurons of a node. */
static void spread(
	struct node *x, uint32_t i, uint32_t step, uint32_t node, uint32_t n)
{
	for (uint32_t k = 0; k < SYNAPSES; k++) {
		uint64_t s = mix(i, 1000000 + k);
		uint32_t to = s % NEURONS, delay = 1 + s / NEURONS % DELAYS;

		if (to % n == node)
			x->coming[(step + delay) % (DELAYS + 1)][to] +=
				(int64_t)(s >> 32) % 400 - 100;
	}
}

static void fire(void *arg)
{
	const struct network *w = arg;
	uint8_t map[MAP] = { 0 };

	for (uint32_t i = w->me; i < NEURONS; i += w->n)
		map[i / 8] |= (uint8_t)(advance(w->mine, i, w->step) << i % 8);
	weft_gpu_store(w->at, map, MAP);
}

static void hear(void *arg)
{
	const struct network *w = arg;
	uint8_t map[MAP];

	for (uint32_t from = 0; from < w->n; from++) {
		weft_gpu_load(w->at + map_at(w->step, from), map, MAP);
		for (uint32_t i = from; i < NEURONS; i += w->n)
			if (map[i / 8] >> i % 8 & 1)
				spread(w->mine, i, w->step, w->me, w->n);
	}
}

static void exchange(struct network *w, uint32_t key, struct events *x)
{
	struct weft_ape_transfer t = {
		.key = key, .own_key = key, .bytes = MAP, .way = way()
	};
	uint32_t rounds = w->step / 2 + 1;

	t.offset = map_at(w->step, w->me);
	t.tag = w->step % 2;
	for (uint32_t i = 0; i < w->n; i++) {
		t.node = (w->me + i) % w->n;
		must("put", weft_ape_put(&t));
	}
	while (x->done < w->n * (w->step + 1) ||
		x->arrived[w->step % 2] < w->n * rounds)
		take_event(x);
}

static void run(void *arg)
{
	struct network w = { .mine = arg };
	uint64_t bytes = map_at(1, weft_nodes());
	struct events x = { 0 };
	struct weft_msg m;
	uint32_t key;

	open_ape(&m);
	w.me = weft_node();
	w.n = weft_nodes();
	w.at = weft_gpu_allocate(0, bytes);
	key = buffer(w.at, bytes);
	weft_msg_barrier(&m);
	w.mine->took = -weft_now();
	for (w.step = 0; w.step < STEPS; w.step++) {
		must("launch", weft_gpu_launch(0, fire, &w, 5000 * WEFT_NS));
		must("kernel", weft_gpu_wait(0));
		exchange(&w, key, &x);
		must("launch", weft_gpu_launch(0, hear, &w, 5000 * WEFT_NS));
		must("kernel", weft_gpu_wait(0));
	}
	w.mine->took += weft_now();
	weft_msg_fini(&m);
}

/* The same network on one node. */
static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *x = nodes;
	struct node *all = calloc(1, sizeof(*all));
	uint32_t step, i, spikes = 0, wrong = 0;
	bool fires[NEURONS];

	for (step = 0; step < STEPS; step++) {
		for (i = 0; i < NEURONS; i++)
			fires[i] = advance(all, i, step);
		for (i = 0; i < NEURONS; i++)
			if (fires[i])
				spread(all, i, step, 0, 1);
	}
	for (i = 0; i < NEURONS; i++)
		wrong += x[i % r->n_nodes].charge[i] != all->charge[i];
	for (i = 0; i < r->n_nodes; i++)
		spikes += x[i].n_spikes;
	wrong += spikes != all->n_spikes || spikes < STEPS;
	free(all);
	snprintf(text, size, "%u spikes in %d steps, %.1f us each", spikes,
		STEPS, (double)x[0].took / STEPS / 1e6);
	return !wrong;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "ape_spikes",
		.help = "A spiking network with delays, in GPUs.",
		.interface = "ape",
		.usage = "[p2p|staged]",
		.accept = accept_way,
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
