/*
 * A barrier by atomic operations: each PE adds to a word of PE 0.  The last PE
 * to arrive puts the number of the round into a word of every other PE, which
 * they poll.
 */
#include "dmapp_setup.h"

enum {
	ROUNDS = 10,
	COUNT_AT = 0x1000,
	OLD_AT = 0x2000,
	FLAG_AT = 0x3000,
	NUMBER_AT = 0x4000
};

struct pe {
	weft_time took;
	weft_time left[ROUNDS], came[ROUNDS];
};

static void release(const dmapp_jobinfo_t *job, uint64_t round)
{
	dmapp_pe_t *pes = calloc(job->npes, sizeof(*pes));
	uint32_t i;

	for (i = 0; i < job->npes; i++)
		pes[i] = i;
	store(NUMBER_AT, round);
	must("release", dmapp_put_ixpe(FLAG_AT, &job->sheap_seg, pes, job->npes,
				NUMBER_AT, 1, DMAPP_QW));
	free(pes);
}

static void barrier(const dmapp_jobinfo_t *job, uint64_t round)
{
	must("arrive", dmapp_afadd_qw(OLD_AT, COUNT_AT, &job->sheap_seg, 0, 1));
	if (load(OLD_AT) == job->npes * round - 1)
		release(job, round);
	while (load(FLAG_AT) < round)
		weft_compute(50 * WEFT_NS);
}

static void run(void *arg)
{
	struct pe *mine = arg;
	dmapp_jobinfo_t job = open_dmapp();
	uint32_t i;

	mine->took = -weft_now();
	for (i = 0; i < ROUNDS; i++) {
		weft_compute((job.pe * 37 + i * 11) % 50 * 20 * WEFT_NS);
		mine->came[i] = weft_now();
		barrier(&job, i + 1);
		mine->left[i] = weft_now();
	}
	mine->took += weft_now();
	must("finalize", dmapp_finalize());
}

/* No PE leaves before the last one has arrived. */
static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct pe *pe = nodes;
	uint32_t i, k, n, wrong = 0;

	for (k = 0; k < ROUNDS; k++)
		for (i = 0; i < r->n_nodes; i++)
			for (n = 0; n < r->n_nodes; n++)
				wrong += pe[i].left[k] < pe[n].came[k];
	snprintf(text, size, "%d barriers of %u PEs, %.2f us each", ROUNDS,
		r->n_nodes, (double)pe[0].took / ROUNDS / 1e6);
	return !wrong;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "dmapp_barrier",
		.help = "Barriers by atomic operations.",
		.interface = "gni",
		.run = run,
		.node_bytes = sizeof(struct pe),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
