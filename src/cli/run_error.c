#include "cli/run_error.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "cli/run.h"
#include "machine/coarse.h"

/* Differences above it are warned of, per cent. */
#define MUCH 3.0

/* --- the other run --- */

/* Packets of its trains: short trains, without gaps, are not finer. */
static int64_t shorter(int64_t train)
{
	return train / 2 < LINK_GAPS ? 1 : train / 2;
}

static bool set_up(void *arg, size_t i, struct machine_run_setup *s)
{
	const struct run_again *x = arg;

	(void)i;
	run_again_set_up(x, s);
	s->coarse = shorter(x->run->machine->link.train);
	return true;
}

struct batch_result *run_error(
	const struct cli_args *a, const struct machine_run *r, struct err *e)
{
	struct run_again x =
		run_again_begin(a, r, "again, with shorter trains");
	struct batch b = {
		.setup = set_up,
		.on_done = run_again_on_done,
		.on_wait = run_again_on_wait,
		.arg = &x,
		.n = 1,
		.at_a_time = 1,
		.cluster = r->setup.cluster,
		.stop = cli_stop_flag(),
	};

	if (!a->is_error || r->result.ending != LOAD_FINISHED)
		return NULL;
	if (!r->coarse && r->machine->link.train <= 1) {
		err_set(e, "--error: packets travel one by one, without error "
			   "(want coarse=auto)");
		return NULL;
	}
	if (r->machine->link.train <= 1)
		return NULL;
	x.result = mem_alloc(1, sizeof(*x.result));
	if (batch_run(&b, e) > 0)
		err_set_code(e, EXIT_STOPPED,
			"stopped while it ran again for --error");
	else if (!e->code && x.result->e.code)
		err_set_code(e, x.result->e.code, "--error: %.400s",
			x.result->e.text);
	run_again_end(&x);
	if (!sim_share_error(r->load->net->sim, e))
		return x.result;
	mem_free(x.result);
	return NULL;
}

/* --- what is told --- */

struct difference {
	struct facts *f;
	const struct batch_result *finer;
	double most;
	char name[BATCH_NAME]; /* of the figure that differs most */
};

/* Times and hops of trains, which are not those of packets. */
static bool is_of_trains(const char *name)
{
	const char *dot = strrchr(name, '.');

	name = dot ? dot + 1 : name;
	return !strncmp(name, "latency_", 8) || !strncmp(name, "packet_", 7) ||
	       !strcmp(name, "hops_per_packet");
}

static void add_figure(void *arg, const char *name, double value)
{
	struct difference *d = arg;
	double was = NAN, percent;

	for (uint32_t i = 0; i < d->finer->n_figures; i++)
		if (!strncmp(d->finer->figure[i].name, name, BATCH_NAME - 1))
			was = d->finer->figure[i].value;
	if (isnan(value) || isnan(was) || was == 0)
		return;
	percent = 100 * (value / was - 1);
	facts_group(d->f, NULL);
	facts_text(d->f, "figure", name);
	facts_real(d->f, "value", value);
	facts_real(d->f, "finer", was);
	facts_real(d->f, "percent", percent);
	facts_end(d->f);
	if (!is_of_trains(name) && fabs(percent) > fabs(d->most)) {
		d->most = percent;
		snprintf(d->name, sizeof(d->name), "%s", name);
	}
}

/* Whether a message has several packets that may travel together. */
static bool has_trains(const struct machine_run *r)
{
	const struct load *l = r->load;

	if (r->machine->link.train <= 1)
		return false;
	return !l->ops->message ||
	       l->ops->message(l) > (uint64_t)r->machine->link.payload;
}

void run_error_facts(struct facts *f, const struct machine_run *r,
	const struct batch_result *finer)
{
	struct difference d = { .f = f, .finer = finer };
	int64_t train = r->machine->link.train;

	if (!r->coarse && train <= 1)
		return;
	facts_group(f, "coarse");
	facts_same(f, "packets", (uint64_t)(train > 1 ? train : 1));
	facts_line(f, "coarse",
		has_trains(r)
			? "up to {packets} packets of a message as one train"
			: "packets travel one by one: messages are too short "
			  "for trains");
	if (finer) {
		facts_same(f, "finer_packets", (uint64_t)shorter(train));
		facts_list(f, "error");
		machine_run_each(r, add_figure, &d);
		facts_end(f);
		facts_each(f, "error", 0, "error", "{figure} {percent:+.2f} %");
		if (fabs(d.most) > MUCH) {
			facts_text(f, "worst_figure", d.name);
			facts_real(f, "worst_percent", d.most);
		}
		facts_line(f, "warning",
			shorter(train) > 1
				? "[{worst_figure} differs by "
				  "{worst_percent:+.1f} % from a run with "
				  "trains of {finer_packets} packets]"
				: "[{worst_figure} differs by "
				  "{worst_percent:+.1f} % from a run without "
				  "trains]");
	}
	facts_end(f);
}
