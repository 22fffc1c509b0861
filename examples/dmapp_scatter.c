/*
 * A single stream of stores reaches every PE of a job: PE 0 scatters a table, a
 * line of 64 bytes for each PE.  The descriptor derives the PE from the address
 * in the window, so each PE needs only the store of its own line.  Then PE 0
 * does the same by separate puts, and compares.
 */
#include "dmapp_setup.h"

enum { LINE = 64, WORDS = LINE / 8, TABLE_AT = 0x10000, LINE_AT = 0x1000 };

struct pe {
	weft_time stream, puts;
	uint32_t n_right;
};

static uint64_t value(uint32_t pe, uint32_t i)
{
	return 1000 * (uint64_t)pe + i + 1;
}

static void scatter(const dmapp_jobinfo_t *job, struct pe *mine)
{
	dmapp_pe_t *pes = calloc(job->npes, sizeof(*pes));
	uint32_t i, k;

	for (i = 0; i < job->npes; i++) {
		pes[i] = i;
		for (k = 0; k < WORDS; k++)
			store(TABLE_AT + (uint64_t)i * LINE + 8 * k,
				value(i, k));
	}
	mine->stream = -weft_now();
	must("scatter", dmapp_scatter_ixpe(LINE_AT, &job->sheap_seg, pes,
				job->npes, TABLE_AT, WORDS, DMAPP_QW));
	mine->stream += weft_now();
	mine->puts = -weft_now();
	for (i = 0; i < job->npes; i++)
		must("put", dmapp_put_nbi(LINE_AT + LINE, &job->sheap_seg, i,
				    TABLE_AT + (uint64_t)i * LINE, WORDS,
				    DMAPP_QW));
	must("wait", dmapp_gsync_wait());
	mine->puts += weft_now();
	free(pes);
}

static void run(void *arg)
{
	struct pe *mine = arg;
	dmapp_jobinfo_t job = open_dmapp();
	uint32_t i;

	if (!job.pe)
		scatter(&job, mine);
	weft_wait_until(10 * START); /* long after the last put */
	for (i = 0; i < 2 * WORDS; i++)
		mine->n_right += load(LINE_AT + 8 * (uint64_t)i) ==
				 value(job.pe, i % WORDS);
	must("finalize", dmapp_finalize());
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct pe *pe = nodes;
	uint32_t i, wrong = 0;

	for (i = 0; i < r->n_nodes; i++)
		wrong += 2 * WORDS - pe[i].n_right;
	snprintf(text, size,
		"a line to each of %u PEs: %.2f us as one stream, %.2f us as "
		"puts",
		r->n_nodes, (double)pe[0].stream / 1e6,
		(double)pe[0].puts / 1e6);
	return !wrong;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "dmapp_scatter",
		.help = "One stream of stores reaches every PE.",
		.interface = "gni",
		.run = run,
		.node_bytes = sizeof(struct pe),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
