/*
 * A lock by compare-and-swap: a word of PE 0 is 0, or 1 + the PE that holds the
 * lock.  The holder adds 1 to another word of PE 0 by a get and a put, which
 * would lose additions without a lock.  A PE that does not get the lock waits
 * longer each time.
 */
#include "dmapp_setup.h"

enum {
	ROUNDS = 5,
	LOCK_AT = 0x1000,
	SUM_AT = 0x2000,
	OLD_AT = 0x3000,
	COPY_AT = 0x4000
};

struct pe {
	weft_time took;
	uint32_t n_tries;
	uint64_t sum;
};

static void take_lock(const dmapp_jobinfo_t *job, struct pe *mine)
{
	weft_time pause = 500 * WEFT_NS;

	for (;;) {
		mine->n_tries++;
		must("lock", dmapp_acswap_qw(OLD_AT, LOCK_AT, &job->sheap_seg,
				     0, 0, 1 + (int64_t)job->pe));
		if (!load(OLD_AT))
			return;
		weft_compute(pause + job->pe * 40 * WEFT_NS);
		pause += pause < 16000 * WEFT_NS ? pause : 0;
	}
}

static void give_lock(const dmapp_jobinfo_t *job)
{
	must("unlock", dmapp_acswap_qw(OLD_AT, LOCK_AT, &job->sheap_seg, 0,
			       1 + (int64_t)job->pe, 0));
	if (load(OLD_AT) != 1 + (uint64_t)job->pe)
		must("own lock", DMAPP_RC_TRANSACTION_ERROR);
}

static void run(void *arg)
{
	struct pe *mine = arg;
	dmapp_jobinfo_t job = open_dmapp();
	uint32_t i;

	mine->took = -weft_now();
	for (i = 0; i < ROUNDS; i++) {
		take_lock(&job, mine);
		must("get", dmapp_get(COPY_AT, SUM_AT, &job.sheap_seg, 0, 1,
				    DMAPP_QW));
		store(COPY_AT, load(COPY_AT) + 1);
		must("put", dmapp_put(SUM_AT, &job.sheap_seg, 0, COPY_AT, 1,
				    DMAPP_QW));
		give_lock(&job);
	}
	mine->took += weft_now();
	weft_wait_until(1000 * START); /* long after the last one */
	mine->sum = load(SUM_AT);
	must("finalize", dmapp_finalize());
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct pe *pe = nodes;
	uint32_t i, tries = 0;

	for (i = 0; i < r->n_nodes; i++)
		tries += pe[i].n_tries;
	snprintf(text, size,
		"%d turns of each of %u PEs, %.1f tries and %.2f us for one",
		ROUNDS, r->n_nodes, (double)tries / ROUNDS / r->n_nodes,
		(double)pe[0].took / ROUNDS / 1e6);
	return pe[0].sum == ROUNDS * (uint64_t)r->n_nodes;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "dmapp_lock",
		.help = "A lock by compare-and-swap.",
		.interface = "gni",
		.run = run,
		.node_bytes = sizeof(struct pe),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
