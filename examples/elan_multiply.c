/*
 * Products of blocks, as in quantum chemistry: in each step a node gets blocks
 * of two others and puts their product into a slot of a third, which adds up.
 */
#include "elan_setup.h"

enum { N = 16, WORDS = N * N, BYTES = 8 * WORDS, STEPS = 8, GOT = 1, CAME };
enum { BLOCK_AT = 0x100000, GOT_AT = 0x120000, SENT_AT = 0x140000 };
enum { SLOTS_AT = 0x200000, FLAGS_AT = 0x2000, CAME_AT = 0x3000 };

static int64_t *fill(int64_t *block, uint32_t node)
{
	for (uint32_t i = 0; i < WORDS; i++)
		block[i] = (int64_t)((node * 7 + i) % 11) - 5;
	return block;
}

static void multiply(int64_t *c, const int64_t *a, const int64_t *b)
{
	for (uint32_t i = 0; i < WORDS; i++)
		for (uint32_t k = 0; k < N; k++)
			c[i] += a[i / N * N + k] * b[k * N + i % N];
}

/* The nodes of a step: 0 and 1 have factors, 2 gets the product. */
static uint32_t other(uint32_t me, uint32_t step, uint32_t which)
{
	return (me + (step + 1) * (which + 1)) % weft_nodes();
}

static void step(struct elan_cq *q, uint32_t s)
{
	const int64_t *block = weft_map(GOT_AT, 2 * BYTES);

	must("arm", elan_arm(q, GOT, 2 * BYTES, FLAGS_AT + 8 * s, 1));
	for (uint32_t i = 0; i < 2 * BYTES; i += ELAN_PACKET)
		must("get", elan_get(q, other(weft_node(), s, i / BYTES),
				    BLOCK_AT + i % BYTES, GOT_AT + i,
				    ELAN_PACKET, GOT));
	await(q, FLAGS_AT + 8 * s);
	multiply(weft_map(SENT_AT + s * BYTES, BYTES), block, block + WORDS);
	weft_compute(2 * N * WORDS * WEFT_NS / 4);
	must("put",
		elan_put_from(q, other(weft_node(), s, 2), SLOTS_AT + s * BYTES,
			SENT_AT + s * BYTES, BYTES, CAME, 0));
}

static bool is_right(const int64_t *slot)
{
	int64_t sum[WORDS] = { 0 }, want[WORDS] = { 0 }, a[WORDS], b[WORDS];

	for (uint32_t i = 0; i < STEPS * WORDS; i++)
		sum[i % WORDS] += slot[i];
	for (uint32_t i = 0; i < STEPS * weft_nodes(); i++)
		if (other(i / STEPS, i % STEPS, 2) == weft_node())
			multiply(want, fill(a, other(i / STEPS, i % STEPS, 0)),
				fill(b, other(i / STEPS, i % STEPS, 1)));
	return !memcmp(sum, want, sizeof(sum));
}

static void run(void *arg)
{
	weft_time *done = arg; /* 0: with a wrong result */
	struct elan_cq q;

	must("open", elan_cq_open(&q, 0, ELAN_64K, ELAN_MAY_ALL));
	must("arm", elan_arm(&q, CAME, STEPS * BYTES, CAME_AT, 1));
	fill(weft_map(BLOCK_AT, BYTES), weft_node());
	weft_wait_until(START);
	for (uint32_t s = 0; s < STEPS; s++)
		step(&q, s);
	await(&q, CAME_AT);
	if (is_right(weft_map(SLOTS_AT, STEPS * BYTES)))
		*done = weft_now() - START;
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const weft_time *done = nodes;
	uint32_t right = 0;

	while (right < r->n_nodes && done[right])
		right++;
	snprintf(text, size, "%u results right after %.1f us", right,
		(double)*done / 1e6);
	return right == r->n_nodes;
}

int main(int argc, char **argv)
{
	return weft_main(argc, argv,
		&(const struct weft_app){ .name = "elan_multiply",
			.help = "Nodes multiply and add blocks of others.",
			.interface = "elan",
			.run = run,
			.node_bytes = sizeof(weft_time),
			.check = check });
}
