/*
 * The sum of a long vector over all ranks, by a ring of sends and receives, and
 * by the library: ./allreduce torus --shape 4x4 -- 524288
 */
#include <stdio.h>
#include <stdlib.h>

#include <weft/msg.h>
#include <weft/program.h>
#include <weft/run.h>

enum { MOST = 1 << 22 }; /* bytes of the vector */
enum { FROM = 1 << 22, TO = 3 << 22, CHUNK = 5 << 22 }; /* addresses */

struct rank {
	weft_time ring, library;
	uint64_t n, wrong;
};

/* Sends a chunk to the next rank and receives one from the previous rank. */
static void pass(struct weft_msg *m, uint64_t at, uint64_t to, uint64_t bytes)
{
	uint32_t me = weft_msg_rank(m), n = weft_msg_ranks(m);
	struct weft_msg_request r;

	weft_msg_send_start(m, (me + 1) % n, 0, at, bytes, &r);
	weft_msg_receive(m, (me + n - 1) % n, 0, to, bytes, NULL);
	weft_msg_finish(m, &r, NULL);
}

/* Chunks go round once to be added up, and once more to reach all ranks. */
static void sum_by_ring(struct weft_msg *m, uint64_t words)
{
	uint32_t me = weft_msg_rank(m), n = weft_msg_ranks(m), i;
	uint64_t each = words / n, k;
	int64_t *sum = weft_map(TO, MOST), *come = weft_map(CHUNK, MOST);

	for (i = 0; i < 2 * (n - 1); i++) {
		uint64_t out = (me + 2 * n - i) % n;
		uint64_t in = (me + 2 * n - i - 1) % n;
		bool adds = i < n - 1;

		pass(m, TO + 8 * each * out, adds ? CHUNK : TO + 8 * each * in,
			8 * each);
		for (k = 0; adds && k < each; k++)
			sum[in * each + k] += come[k];
	}
}

static uint64_t count_wrong(uint32_t n, uint64_t words)
{
	const int64_t *sum = weft_map(TO, MOST);
	uint64_t i, wrong = 0;

	for (i = 0; i < words; i++)
		wrong += sum[i] != (int64_t)(n * (i + 1) + n * (n - 1) / 2);
	return wrong;
}

static void run(void *arg)
{
	const char *bytes = weft_argument(0);
	uint64_t words = (bytes ? strtoull(bytes, NULL, 10) : 1 << 16) / 8, i;
	struct rank *mine = arg;
	struct weft_msg m;
	int64_t *from = weft_map(FROM, MOST), *to = weft_map(TO, MOST);

	weft_msg_init(&m, NULL);
	words = words < MOST / 8 ? words : MOST / 8;
	mine->n = words -= words % weft_msg_ranks(&m);
	for (i = 0; i < words; i++)
		from[i] = to[i] = (int64_t)i + 1 + weft_msg_rank(&m);
	weft_msg_barrier(&m);
	mine->ring = -weft_now();
	sum_by_ring(&m, words);
	mine->ring += weft_now();
	mine->wrong = count_wrong(weft_msg_ranks(&m), words);
	weft_msg_barrier(&m);
	mine->library = -weft_now();
	weft_msg_allreduce(&m, WEFT_MSG_SUM_INT, FROM, TO, words);
	mine->library += weft_now();
	mine->wrong += count_wrong(weft_msg_ranks(&m), words);
	weft_msg_fini(&m);
}

static bool check(
	const struct weft_result *r, const void *ranks, char *text, size_t size)
{
	const struct rank *all = ranks;
	uint64_t wrong = 0;

	for (uint32_t i = 0; i < r->n_nodes; i++)
		wrong += all[i].wrong;
	snprintf(text, size, "%u B: ring %.1f us, library %.1f, ratio %.2f",
		(unsigned)(8 * all->n), (double)all->ring / 1e6,
		(double)all->library / 1e6,
		(double)all->library / (double)all->ring);
	return !wrong;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "allreduce",
		.help = "The sum of a vector by a ring, and by the library.",
		.run = run,
		.node_bytes = sizeof(struct rank),
		.check = check,
		.usage = "[BYTES]",
	};

	return weft_main(argc, argv, &app);
}
