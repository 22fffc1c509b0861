#include "cli/run_error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/run.h"
#include "load/jobs.h"
#include "load/replay/exposed.h"
#include "machine/coarse.h"
#include "machine/slice.h"

/* Errors, in per cent, above which there is a warning, and a line at the top.
 */
#define MUCH	  3.0
#define VERY_MUCH 5.0

/* A run of at most so many packet-hops is repeated whole: it takes seconds. */
#define FEW_HOPS UINT64_C(10000000)

enum {
	USUAL_SLICE = 100000, /* ppm of a run */
	LEAST_TRAINS = 64, /* a slice lasts as long as these on a link */
	STEPS = 1024, /* of a slice, at which its work is looked at */
	PATIENCE = 16, /* times as long as with trains */
	FEW = 30, /* samples: too few for a mean */
	SOME = 150, /* messages of a slice */
	MANY = 300, /* enough for a 99th percentile */
};

/* What --error compares. */
enum how {
	NOTHING,
	WHOLE, /* the run */
	WINDOW, /* shorter measurements, after the same warm-up */
	WORK, /* the times for the same work from the start */
};

struct plan {
	uint64_t how;
	uint64_t warmup, measure; /* of WINDOW */
	uint64_t until; /* of WORK, with trains */
	uint64_t bytes; /* of both */
};

enum { PLAN_WORDS = sizeof(struct plan) / sizeof(uint64_t) };

struct run_error {
	struct plan plan;
	char why[400]; /* nothing is compared */
	/* With single packets, and the same part with trains. */
	struct batch_result exact, trains;
};

/* --- figures --- */

typedef void take_figure(void *arg, const char *name, double value);

/* Figures of a list that schedules have. */
static void each_exposed(
	const struct load *l, const char *job, take_figure *f, void *arg)
{
	struct exposed_rows x = exposed_rows(l);
	char name[BATCH_NAME];

	for (uint32_t i = 0; i < x.n; i++) {
		const struct exposed_row *r = &x.row[i];
		char of[BATCH_NAME - JOBS_NAME] = "";

		if (*r->algorithm)
			snprintf(of, sizeof(of), "(%llu,%llu B)",
				(unsigned long long)r->members,
				(unsigned long long)r->bytes);
		snprintf(name, sizeof(name), "%s%sexposed.%s%s.mean_ns", job,
			*job ? "." : "", r->operation, of);
		f(arg, name, sim_ns(r->mean));
	}
	mem_free(x.row);
}

static void each_figure(const struct machine_run *r, take_figure *f, void *arg)
{
	const struct jobs *j = jobs_of(r->load);

	machine_run_each(r, f, arg);
	if (!j)
		each_exposed(r->load, "", f, arg);
	for (uint32_t i = 0; j && i < j->n; i++)
		each_exposed(j->part[i].load, j->part[i].name, f, arg);
}

static void keep(void *arg, const char *name, double value)
{
	batch_keep(arg, name, value);
}

/*
 * The time for the second half of the work: in the first half the network fills
 * up.  A train counts when its last packet arrives; this delay cancels out in
 * the difference of two times.
 */
static void look_at_work(
	const struct machine_run *r, struct batch_result *result)
{
	uint64_t bytes = r->setup.slice.bytes;
	sim_time end;

	if (!bytes)
		bytes = slice_bytes(r->slice);
	batch_keep(result, "slice_bytes", (double)slice_bytes(r->slice));
	end = slice_reached(r->slice, bytes);
	if (bytes && end != SIM_NEVER)
		batch_keep(result, "slice_ps",
			(double)(end - slice_reached(r->slice, bytes / 2)));
}

/* In the run's process. */
static void look(const struct machine_run *r, struct batch_result *result)
{
	result->n_figures = 0;
	if (r->slice)
		look_at_work(r, result);
	batch_keep(result, "latency_n", (double)r->result.latency.n);
	each_figure(r, keep, result);
}

static double find(const struct batch_result *r, const char *name)
{
	for (uint32_t i = 0; i < r->n_figures; i++)
		if (!strncmp(r->figure[i].name, name, BATCH_NAME - 1))
			return r->figure[i].value;
	return NAN;
}

/* --- what is compared --- */

/* The time of the longest packet or train on a link. */
static sim_time train_time(const struct machine_run *r)
{
	const struct link_params *link = &r->machine->link;

	return load_packet_time(link, (uint32_t)link_longest(link));
}

static bool has_programs_of_host(const struct machine_run *r)
{
	const struct jobs *j = jobs_of(r->load);

	for (uint32_t i = 0; j && i < j->n; i++)
		if (j->part[i].command)
			return true;
	return r->load->needs.command && *r->load->needs.command;
}

static sim_time longest(sim_time t, int64_t ppm, sim_time least)
{
	sim_time part = (sim_time)((double)t * (double)ppm / 1e6);

	return part > least ? part : least;
}

static bool is_key(const struct machine_run *r, const char *key)
{
	return r->keys.rows && param_find(&r->keys, key);
}

static double figure(const struct machine_run *r, const char *name)
{
	const struct load_result *l = &r->result;

	for (uint32_t i = 0; i < l->n_figures; i++)
		if (!strcmp(l->figure[i].name, name))
			return l->figure[i].value;
	return 0;
}

/* At least the warm-up, since a shorter time would save little, and the time of
 * some messages. */
static sim_time least_window(const struct machine_run *r, sim_time warmup)
{
	sim_time least = LEAST_TRAINS * train_time(r);
	double n = figure(r, "messages");

	if (least < warmup)
		least = warmup;
	if (n > 0 && (double)r->result.measured * SOME / n > (double)least)
		least = (sim_time)((double)r->result.measured * SOME / n);
	return least;
}

static struct plan make_plan(
	const struct cli_args *a, const struct machine_run *r)
{
	int64_t part = a->slice ? a->slice : USUAL_SLICE;
	uint64_t train = (uint64_t)r->machine->link.train;
	sim_time least = LEAST_TRAINS * train_time(r), all;
	struct plan p = { .how = WHOLE };

	if (!a->slice &&
		(r->hops * train <= FEW_HOPS || has_programs_of_host(r)))
		return p;
	if (is_key(r, "warmup") && is_key(r, "measure")) {
		all = r->result.measured;
		p.warmup = (uint64_t)(figure(r, "warmup_ns") * SIM_NS);
		p.measure = (uint64_t)longest(
			all, part, least_window(r, (sim_time)p.warmup));
		if ((sim_time)p.measure < all)
			p.how = WINDOW;
		return p;
	}
	all = r->result.end;
	p.until = (uint64_t)longest(all, part, least);
	if ((sim_time)p.until < all)
		p.how = WORK;
	return p;
}

/* Why a run cannot be compared; NULL: it can. */
static const char *refusal(const struct machine_run *r)
{
	switch (r->result.ending) {
	case LOAD_FINISHED:
	case LOAD_SATURATED:
	case LOAD_TIMEOUT:
		break;
	default:
		return load_ending_name(r->result.ending);
	}
	return NULL;
}

/* --- the other runs --- */

struct again {
	struct run_again common; /* first */
	const struct plan *plan;
	bool is_exact;
	char text[2][64];
	const char *key[LOAD_MOST_KEYS + 2];
};

/* The keys of the run, with other times. */
static void set_window(struct again *x, struct machine_run_setup *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_keys && n < LOAD_MOST_KEYS; i++)
		if (strncmp(s->keys[i], "warmup=", 7) != 0 &&
			strncmp(s->keys[i], "measure=", 8) != 0)
			x->key[n++] = s->keys[i];
	snprintf(x->text[0], sizeof(x->text[0]), "warmup=%llups",
		(unsigned long long)x->plan->warmup);
	snprintf(x->text[1], sizeof(x->text[1]), "measure=%llups",
		(unsigned long long)x->plan->measure);
	x->key[n++] = x->text[0];
	x->key[n++] = x->text[1];
	s->keys = x->key;
	s->n_keys = n;
}

static void set_work(const struct again *x, struct machine_run_setup *s)
{
	const struct plan *p = x->plan;

	s->slice = (struct slice_setup){
		.is_counted = true,
		.bytes = x->is_exact ? p->bytes : 0,
		.step = (sim_time)(p->until / STEPS + 1),
		.most = (sim_time)(p->until * (x->is_exact ? PATIENCE : 1)),
	};
}

static bool set_up(void *arg, size_t i, struct machine_run_setup *s)
{
	struct again *x = arg;

	(void)i;
	run_again_set_up(&x->common, s);
	s->coarse = x->is_exact ? 1 : x->common.run->machine->link.train;
	if (x->plan->how == WINDOW)
		set_window(x, s);
	if (x->plan->how == WORK)
		set_work(x, s);
	return true;
}

static void go(const struct cli_args *a, const struct machine_run *r,
	const struct plan *plan, bool is_exact, struct batch_result *result,
	struct err *e)
{
	struct again x = {
		.common = run_again_begin(a, r,
			is_exact ? "again, with single packets"
				 : "again, with trains"),
		.plan = plan,
		.is_exact = is_exact,
	};
	struct batch b = {
		.setup = set_up,
		.look = look,
		.on_done = run_again_on_done,
		.on_wait = run_again_on_wait,
		.arg = &x,
		.n = 1,
		.at_a_time = 1,
		.cluster = r->setup.cluster,
		.stop = cli_stop_flag(),
	};

	x.common.result = result;
	if (batch_run(&b, e) > 0)
		err_set_code(e, EXIT_STOPPED,
			"stopped while it ran again for --error");
	run_again_end(&x.common);
}

/* Only the first process knows results. */
static void share_plan(const struct machine_run *r, struct plan *p)
{
	uint64_t word[PLAN_WORDS];

	memcpy(word, p, sizeof(word));
	if (!sim_is_first(r->load->net->sim))
		memset(word, 0, sizeof(word));
	sim_sum(r->load->net->sim, word, PLAN_WORDS);
	memcpy(p, word, sizeof(word));
}

/* The work of trains in the slice. */
static void find_work(const struct machine_run *r, struct run_error *x)
{
	double bytes = find(&x->trains, "slice_bytes");

	if (bytes > 0)
		x->plan.bytes = (uint64_t)bytes;
	share_plan(r, &x->plan);
}

static void compare(const struct cli_args *a, const struct machine_run *r,
	struct run_error *x, struct err *e)
{
	if (x->plan.how != WHOLE)
		go(a, r, &x->plan, false, &x->trains, e);
	if (x->plan.how == WORK && !e->code) {
		find_work(r, x);
		if (!x->plan.bytes && !x->trains.e.code) {
			snprintf(x->why, sizeof(x->why),
				"no interface delivers bytes in that part of "
				"the run; try --error-slice 50%%");
			return;
		}
	}
	if (!e->code && !x->trains.e.code)
		go(a, r, &x->plan, true, &x->exact, e);
	if (x->trains.e.code || x->exact.e.code)
		snprintf(x->why, sizeof(x->why), "%.380s",
			x->exact.e.code ? x->exact.e.text : x->trains.e.text);
	else if (refusal(r) || (x->plan.how != WORK && !x->exact.n_figures))
		snprintf(x->why, sizeof(x->why), "the run ended %s",
			load_ending_name(x->exact.ending));
}

int run_error_check(
	const struct cli_args *a, const struct machine_run *r, struct err *e)
{
	if (!a->is_error)
		return 0;
	if (r->load->arg)
		return err_set(e, "--error: programs of plugins have no "
				  "figures to compare");
	if (!r->coarse && r->machine->link.train <= 1)
		return err_set(e, "--error needs trains: set coarse=auto");
	return 0;
}

struct run_error *run_error(
	const struct cli_args *a, const struct machine_run *r, struct err *e)
{
	struct run_error *x;

	if (!a->is_error)
		return NULL;
	x = mem_alloc(1, sizeof(*x));
	if (r->machine->link.train > 1 && !refusal(r)) {
		x->plan = make_plan(a, r);
		share_plan(r, &x->plan);
		compare(a, r, x, e);
	} else if (refusal(r)) {
		snprintf(
			x->why, sizeof(x->why), "the run ended %s", refusal(r));
	} else {
		snprintf(x->why, sizeof(x->why), "there are no trains");
	}
	if (!sim_share_error(r->load->net->sim, e))
		return x;
	mem_free(x);
	return NULL;
}

/* --- what is told --- */

struct difference {
	struct facts *f;
	const struct machine_run *run;
	const struct run_error *x;
	const char *lacks; /* communication that the slice has none of */
	double most, most_of_trains;
	char name[BATCH_NAME], name_of_trains[BATCH_NAME];
};

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && !strcmp(name + n - m, end);
}

/* Without the name of a job. */
static const char *base_of(const char *name)
{
	const char *dot = strstr(name, "exposed.");

	if (dot)
		return dot;
	dot = strrchr(name, '.');
	return dot ? dot + 1 : name;
}

/* Latencies of trains, which are not those of packets. */
static bool is_latency(const char *name)
{
	return !strncmp(base_of(name), "latency_", 8);
}

/* Figures that trains have by definition, and measures of other figures. */
static bool is_by_definition(const char *name)
{
	static const char *const names[] = { "packet_time_ns",
		"hops_per_packet", "confidence_95_half_width_pct", "warmup_ns",
		"measured_ns", "messages", "incasts" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(base_of(name), names[i]))
			return true;
	return false;
}

static bool is_time(const char *name)
{
	const char *base = base_of(name);

	return ends_with(base, "time_ns") || !strcmp(base, "took_ns") ||
	       !strcmp(base, "one_way_ns");
}

static bool is_rate(const char *name)
{
	if (!strcmp(name, "fraction_of_peak"))
		return true;
	return (strstr(name, "GBps") || strstr(name, "MBps")) &&
	       strncmp(name, "peak_", 5) != 0 &&
	       strncmp(name, "offered_", 8) != 0;
}

static bool is_peak(const char *name)
{
	return !strcmp(name, "peak_GBps_per_node") ||
	       !strcmp(name, "offered_GBps_per_node");
}

/* Noise of the throughput in a shorter measurement, per cent. */
static double noise(const struct run_error *x)
{
	static const char name[] = "confidence_95_half_width_pct";

	return fmax(find(&x->trains, name), find(&x->exact, name));
}

/* Why a shorter measurement says nothing about a figure; NULL: it does. */
static const char *unseen_in_window(const struct run_error *x, const char *name)
{
	const struct batch_result *a = &x->trains, *b = &x->exact;
	const char *of = is_latency(name)		? "latency_n"
			 : !strncmp(name, "incast_", 7) ? "incasts"
							: "messages";
	double n = fmin(find(a, of), find(b, of));

	if (is_by_definition(name) || !strcmp(name, "sim_time_ns"))
		return "not known: it differs by definition";
	if (ends_with(name, "_ns") &&
		(a->ending == LOAD_SATURATED || b->ending == LOAD_SATURATED))
		return "not known: it grows with time, as queues do";
	if (ends_with(name, "_max_ns"))
		return "not known: a slice has fewer samples";
	if (ends_with(name, "_p99_ns") && !(n >= MANY))
		return "not known: the slice has too few samples";
	if (ends_with(name, "_ns") && !(n >= FEW))
		return "not known: the slice has too few samples";
	return NULL;
}

static const char *in_window(const struct run_error *x, const char *name,
	double *finer, double *percent)
{
	const char *why = unseen_in_window(x, name);

	if (why)
		return why;
	*finer = find(&x->exact, name);
	*percent = 100 * (find(&x->trains, name) / *finer - 1);
	if (is_rate(name) && !is_peak(name) && fabs(*percent) <= noise(x))
		return "not known: less than the noise of the slice";
	return NULL;
}

/* Compares the times for the same work from the start. */
static const char *in_work(const struct difference *d, const char *name,
	double *finer, double *percent)
{
	const struct run_error *x = d->x;
	double ratio =
		find(&x->trains, "slice_ps") / find(&x->exact, "slice_ps");

	if (is_peak(name)) {
		*percent = 0;
		return NULL;
	}
	if (!strncmp(name, "exposed.", 8)) {
		double was = find(&x->exact, name);

		if (!(was > 0) || !(find(&x->trains, name) > 0))
			return "not known: the slice has none of it";
		*percent = 100 * (find(&x->trains, name) / was - 1);
		return NULL;
	}
	if (is_latency(name) && !strchr(name, '.'))
		return in_window(x, name, finer, percent);
	if (strchr(name, '.') || (!is_time(name) && !is_rate(name)))
		return "not known: a slice does not show it";
	if (*d->lacks)
		return d->lacks;
	*percent = 100 * (is_time(name) ? ratio - 1 : 1 / ratio - 1);
	return NULL;
}

static const char *in_whole(const struct run_error *x, const char *name,
	double value, double *finer, double *percent)
{
	*finer = find(&x->exact, name);
	*percent = value == *finer ? 0 : 100 * (value / *finer - 1);
	return isfinite(*percent) ? NULL
				  : "not known: single packets have none";
}

static void note_most(struct difference *d, const char *name, double percent)
{
	bool of_trains = is_latency(name);
	double *most = of_trains ? &d->most_of_trains : &d->most;

	if (is_by_definition(name) || fabs(percent) < fabs(*most) + 1e-6)
		return;
	*most = percent;
	snprintf(of_trains ? d->name_of_trains : d->name, BATCH_NAME, "%s",
		name);
}

static void add_figure(void *arg, const char *name, double value)
{
	struct difference *d = arg;
	double finer = NAN, percent = NAN;
	const char *why;

	if (isnan(value))
		return;
	if (d->x->plan.how == WHOLE)
		why = in_whole(d->x, name, value, &finer, &percent);
	else if (d->x->plan.how == WINDOW)
		why = in_window(d->x, name, &finer, &percent);
	else
		why = in_work(d, name, &finer, &percent);
	if (!why && !isfinite(percent))
		why = "not known: the slice has none of it";
	facts_group(d->f, NULL);
	facts_text(d->f, "figure", name);
	facts_real(d->f, "value", value);
	facts_real(d->f, "finer", finer);
	facts_real(d->f, "percent", why ? NAN : percent);
	facts_text(d->f, "why", why);
	facts_end(d->f);
	if (!why)
		note_most(d, name, percent);
}

/* Whether a slice has some of all kinds of communication that the run waits
 * for. */
static void check_kind(void *arg, const char *name, double value)
{
	struct difference *d = arg;

	if (!strncmp(name, "exposed.", 8) && value > 0 &&
		(!(find(&d->x->trains, name) > 0) ||
			!(find(&d->x->exact, name) > 0)))
		d->lacks = "not known: the slice lacks some of the "
			   "communication (exposed)";
}

/* "the first 41.2 us of 412 us". */
static void add_part(
	struct facts *f, const struct machine_run *r, const struct run_error *x)
{
	const struct plan *p = &x->plan;
	double of = p->how == WINDOW ? (double)r->result.measured / SIM_NS
				     : (double)r->result.end / SIM_NS;

	facts_group(f, "compared");
	facts_text(f, "why", *x->why ? x->why : NULL);
	if (p->how != NOTHING) {
		facts_flag(f, "is_whole", p->how == WHOLE);
		facts_real(f, "from_ns", (double)p->warmup / SIM_NS);
		facts_real(f, "slice_ns",
			p->how == WHOLE	   ? of
			: p->how == WINDOW ? (double)p->measure / SIM_NS
					   : (double)p->until / SIM_NS);
		facts_real(f, "of_ns", of);
	}
	if (!*x->why && x->exact.ending != r->result.ending && p->how != WORK)
		facts_text(f, "ending", load_ending_name(x->exact.ending));
	facts_end(f);
	facts_line(f, "compared",
		*x->why		  ? "not compared with single packets: "
				    "{compared.why}"
		: p->how == WHOLE ? "with single packets over the whole run"
				    "[, which ends {compared.ending}]"
		: p->how == WINDOW
			? "with single packets over {compared.slice_ns:u} "
			  "after the "
			  "warm-up, of {compared.of_ns:u}[; single packets "
			  "end {compared.ending}]"
			: "with single packets over the first "
			  "{compared.slice_ns:u} "
			  "of {compared.of_ns:u}");
}

static void add_worst(struct facts *f, const struct difference *d)
{
	bool has_own = fabs(d->most) > MUCH;
	double most = has_own ? d->most : d->most_of_trains;

	if (fabs(d->most) <= VERY_MUCH && fabs(d->most_of_trains) > VERY_MUCH)
		facts_print(f, "_first",
			"%s of trains differs by %+.1f %% from that of single "
			"packets",
			d->name_of_trains, d->most_of_trains);
	if (!has_own || fabs(most) <= MUCH)
		return;
	facts_text(f, "worst_figure", d->name);
	facts_real(f, "worst_percent", most);
	if (fabs(most) > VERY_MUCH)
		facts_print(f, "_first",
			"trains change %s by %+.1f %% (see error)", d->name,
			most);
	else
		facts_line(f, "warning",
			"trains change {worst_figure} by "
			"{worst_percent:+.1f} %");
}

static void add_error(
	struct facts *f, const struct machine_run *r, const struct run_error *x)
{
	struct difference d = { .f = f, .run = r, .x = x, .lacks = "" };

	facts_same(f, "finer_packets", 1);
	add_part(f, r, x);
	if (*x->why || x->plan.how == NOTHING)
		return;
	if (x->plan.how == WORK)
		each_figure(r, check_kind, &d);
	facts_list(f, "error");
	each_figure(r, add_figure, &d);
	facts_end(f);
	facts_each(
		f, "error", 0, "error", "{figure}[ {percent:+.2f} %][ {why}]");
	add_worst(f, &d);
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

void run_error_head(struct facts *f)
{
	facts_line(f, "warning", "[{coarse._first}]");
}

void run_error_facts(
	struct facts *f, const struct machine_run *r, const struct run_error *x)
{
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
	if (x)
		add_error(f, r, x);
	facts_end(f);
}
