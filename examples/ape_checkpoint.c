/*
 * Work that survives the failure of a host: nodes write checkpoints into the
 * next one's memory.  When the Master reports a dead host, the last node, a
 * spare, gets that host's checkpoint, without the help of any program.  Try
 * lofamo.period=1ms lofamo.service=50us faults.events="5 ms host 4 dies".
 */
#include "ape_setup.h"

enum { WORDS = 255, BYTES = 2048, EVERY = 10, STEPS = 120, STEP = 100000000 };

struct state {
	uint64_t step, word[WORDS];
};

struct node {
	struct state state;
	uint32_t task; /* 1 + the node whose work it does; 0: none */
};

static void advance(struct state *s)
{
	for (int i = 0; i < WORDS; i++)
		s->word[i] += 2 * s->word[(i + 1) % WORDS] + s->step;
	s->step++;
}

/* A node's buffer: its own state, and that of the node before it. */
static void work(struct node *mine, const struct weft_ape_transfer *keeper)
{
	while (mine->state.step < STEPS) {
		weft_compute(STEP);
		advance(&mine->state);
		if (mine->state.step % EVERY)
			continue;
		weft_msg_store(0, &mine->state, BYTES);
		must("checkpoint", weft_ape_put(keeper));
		await(WEFT_APE_DONE);
	}
}

static void on_change(void *arg, const struct weft_ape_part *p)
{
	if (p->kind == WEFT_APE_HOST && p->health == WEFT_APE_DEAD)
		*(uint32_t *)arg = 1 + p->node;
}

/* Until a host has died, or long after all nodes are done. */
static void stand_by(struct node *mine)
{
	struct weft_ape_event e;

	must("watch", weft_ape_on_change(on_change, &mine->task));
	for (; !mine->task && weft_now() < INT64_C(2) * STEPS * STEP;
		weft_compute(STEP))
		weft_ape_poll(&e);
	must("watch", weft_ape_on_change(NULL, NULL));
}

static void run(void *arg)
{
	struct weft_ape_transfer keeper = { .offset = BYTES, .bytes = BYTES };
	struct node *mine = arg;
	uint32_t spare = weft_nodes() - 1;

	must("open", weft_ape_open(LIBRARY_AT));
	keeper.key = keeper.own_key = buffer(0, 2 * BYTES);
	weft_wait_until(STEP);
	if (weft_node() == spare) {
		stand_by(mine);
		keeper.node = mine->task % spare;
		must("get", weft_ape_get(&keeper));
		await(WEFT_APE_GOT);
		weft_msg_load(0, &mine->state, BYTES);
	} else {
		mine->task = mine->state.word[0] = 1 + weft_node();
		keeper.node = mine->task % spare;
	}
	if (mine->task)
		work(mine, &keeper);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes, *spare = &n[r->n_nodes - 1];
	uint32_t good = 0;

	for (uint32_t i = 1; i < r->n_nodes; i++) {
		struct state s = { .word = { i } };
		while (s.step < STEPS)
			advance(&s);
		good += !memcmp(&s,
			spare->task == i ? &spare->state : &n[i - 1].state,
			BYTES);
	}
	snprintf(text, size, "%u of %u tasks are done, %s by the spare node",
		good, r->n_nodes - 1, spare->task ? "one" : "none");
	return good == r->n_nodes - 1;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "ape_checkpoint",
		.help = "Checkpoints in a neighbour's memory, and a spare "
			"node.",
		.interface = "ape",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
