#include "cli/run.h"

#include <inttypes.h>

enum { BAR = 40, MOST_BARS = 24 };

static uint64_t sum(const struct hist *h, uint32_t first, uint32_t n)
{
	uint64_t all = 0;
	uint32_t i;

	for (i = first; i < first + n && i < HIST_BUCKETS; i++)
		all += h->bucket[i];
	return all;
}

static void print_bar(FILE *f, const struct hist *h, uint32_t first,
	uint32_t width, uint64_t most)
{
	int64_t from = first ? hist_upper(first - 1) + 1 : 0;
	uint64_t n = sum(h, first, width);
	uint32_t i;

	fprintf(f, "            %9.1f ns %6.2f %% ", sim_ns(from),
		(double)n * 100 / (double)h->n);
	for (i = 0; i < n * BAR / most; i++)
		fputc('#', f);
	fputc('\n', f);
}

void run_histogram_text(FILE *f, const struct hist *h)
{
	uint32_t first, last, width = 1, i;
	uint64_t most = 1;

	if (!h->n)
		return;
	first = hist_bucket(h->min);
	last = hist_bucket(h->max);
	while ((last / width) - (first / width) >= MOST_BARS)
		width *= 2;
	for (i = first / width; i <= last / width; i++)
		if (sum(h, i * width, width) > most)
			most = sum(h, i * width, width);
	fprintf(f, "histogram   of %" PRIu64 ", each bar from a time on\n",
		h->n);
	for (i = first / width; i <= last / width; i++)
		print_bar(f, h, i * width, width, most);
}

void run_histogram_json(struct json *j, const struct hist *h)
{
	uint32_t i;

	json_array(j, "latency_histogram");
	for (i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		json_object(j, NULL);
		json_real(j, "from_ns", sim_ns(i ? hist_upper(i - 1) + 1 : 0));
		json_real(j, "to_ns", sim_ns(hist_upper(i)));
		json_count(j, "count", h->bucket[i]);
		json_end(j, '}');
	}
	json_end(j, ']');
}
