#define _GNU_SOURCE
#include "cli/cli.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/name.h"
#include "base/units.h"
#include "cli/run_budget.h"
#include "load/load.h"
#include "machine/machine.h"
#include "out/json.h"
#include "topo/torus.h"

enum { NODES_PER_THREAD = 1024 };

/* Set by the first SIGINT or SIGTERM; the second one ends the process. */
static atomic_int stop_asked;

static void on_signal(int number)
{
	atomic_store_explicit(&stop_asked, 1, memory_order_relaxed);
	signal(number, SIG_DFL);
}

struct run {
	struct cli_args args;
	struct machine *machine;
	struct load *load;
	struct param_block keys;
	struct book_how book;
	struct net *net;
	struct load_result result;
	uint64_t digest, hops, packets, events, memory;
	double wall_s;
	uint32_t threads;
};

static double wall_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- progress --- */

struct ticker {
	double start, last;
};

static void on_progress(void *arg, const struct load_progress *p)
{
	struct ticker *k = arg;
	double now = wall_clock(), spent = now - k->start;
	char time[48];

	if (now - k->last < 0.2)
		return;
	k->last = now;
	units_format(UNIT_TIME, p->now / SIM_NS * SIM_NS, time, sizeof(time));
	fprintf(stderr, "\r%s simulated, %.2f M packet-hops/s", time,
		(double)p->hops / spent / 1e6);
	if (p->per_mille)
		fprintf(stderr, ", %u %%, %.0f s to go  ",
			p->per_mille > 1000 ? 100 : p->per_mille / 10,
			p->per_mille > 1000
				? 0
				: spent * (1000 - p->per_mille) / p->per_mille);
	fputs("\033[K", stderr);
}

/* --- setting up --- */

static const struct load_ops *find_load(const char *name, struct err *e)
{
	const struct load_ops *ops = load_find(name);
	const char *names[64], *near;
	size_t n = 0;

	if (ops)
		return ops;
	for (; load_registry[n]; n++)
		names[n] = load_registry[n]->name;
	near = name_nearest(name, names, n);
	err_set(e, "no workload is called \"%.40s\"%s%s%s", name,
		near ? "; did you mean " : "", near ? near : "",
		near ? "?" : "; `weft help run` lists them");
	return NULL;
}

/* A key that is given twice contradicts itself. */
static int read_key(struct run *r, const char *text, struct err *e)
{
	size_t i, was = 0, is = 0;

	for (i = 0; i < r->keys.n_rows; i++)
		was += r->keys.origins[i].set;
	if (param_assign(&r->keys, 1, text, "key", "command line", e))
		return -1;
	for (i = 0; i < r->keys.n_rows; i++)
		is += r->keys.origins[i].set;
	if (is == was)
		return err_set(e, "%.*s is given twice",
			(int)strcspn(text, "="), text);
	return 0;
}

static int read_load(struct run *r, struct err *e)
{
	const struct load_ops *ops = find_load(r->args.word[1], e);
	size_t i;

	if (!ops)
		return -1;
	r->load = mem_alloc(1, ops->size);
	r->load->ops = ops;
	r->load->seed = r->args.seed;
	r->load->nic = r->machine->nic;
	r->load->nic_params = r->machine->nic_params;
	r->load->host_params = &r->machine->host;
	r->keys = (struct param_block){
		.section = "",
		.rows = ops->params,
		.n_rows = ops->n_params,
		.values = r->load,
		.origins =
			mem_alloc(ops->n_params, sizeof(struct param_origin)),
	};
	param_defaults(&r->keys);
	for (i = 2; i < r->args.n_words; i++)
		if (read_key(r, r->args.word[i], e))
			return -1;
	return ops->init(r->load, r->machine->topo, r->machine->route,
		&r->machine->link, e);
}

static uint32_t pick_threads(const struct run *r)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t most = r->machine->topo->n_routers / NODES_PER_THREAD;

	if (r->args.threads)
		return r->args.threads;
	if (most > (uint32_t)cores)
		most = (uint32_t)cores;
	return most < 1 ? 1 : most;
}

static int build(struct run *r, struct err *e)
{
	struct net_setup s = {
		.topo = r->machine->topo,
		.route = r->machine->route,
		.link = &r->machine->link,
		.router = &r->machine->router,
		.client = r->load->ops->client,
		.client_state = r->load,
		.n_workers = pick_threads(r),
		.seed = r->args.seed,
		.stop = &stop_asked,
		.book = run_book_how(&r->args, &r->book),
	};
	uint64_t need = net_estimate(&s), have = mem_available();

	if (need > have)
		return err_set_code(e, EXIT_LIMIT,
			"%u nodes need about %.1f GiB of memory, and %.1f GiB "
			"are free",
			s.topo->n_nodes, (double)need / (1 << 30),
			(double)have / (1 << 30));
	r->net = net_new(&s, e);
	if (!r->net)
		return -1;
	r->threads = sim_n_workers(r->net->sim);
	r->load->net = r->net;
	return 0;
}

static int run_it(struct run *r, struct err *e)
{
	struct ticker k = { .start = wall_clock() };
	bool talks = !r->args.is_quiet && isatty(STDERR_FILENO);
	int failed;

	if (talks) {
		r->load->on_progress = on_progress;
		r->load->progress_arg = &k;
	}
	failed = load_run(r->load, &r->result, e);
	r->wall_s = wall_clock() - k.start;
	if (talks)
		fputs("\r\033[K", stderr);
	if (failed)
		return -1;
	r->digest = load_digest(r->load);
	r->hops = net_total(r->net).hops;
	r->packets = net_total(r->net).delivered;
	r->events = sim_n_events(r->net->sim);
	r->memory = net_memory(r->net);
	return 0;
}

/* --- telling --- */

static const char *const ending_name[] = {
	[LOAD_FINISHED] = "finished",
	[LOAD_DEADLOCKED] = "deadlocked",
	[LOAD_SATURATED] = "saturated",
	[LOAD_STOPPED] = "stopped",
};

static const int ending_code[] = {
	[LOAD_FINISHED] = EXIT_FINISHED,
	[LOAD_DEADLOCKED] = EXIT_DEADLOCK,
	[LOAD_SATURATED] = EXIT_LIMIT,
	[LOAD_STOPPED] = EXIT_STOPPED,
};

/* Payload GB/s of each node; 0 where nothing was measured. */
static double throughput(const struct run *r)
{
	const struct load_result *l = &r->result;

	if (!l->has_throughput || !l->measured)
		return 0;
	return (double)l->bytes * 1e3 / (double)l->measured / r->net->n_nodes;
}

static double fraction(const struct run *r)
{
	return throughput(r) * 1e9 / (double)r->result.peak_bps;
}

static double ns(int64_t ps)
{
	return (double)ps / SIM_NS;
}

static void json_latency(struct json *j, const struct hist *h)
{
	if (!h->n) {
		json_null(j, "latency_ns");
		return;
	}
	json_object(j, "latency_ns");
	json_real(j, "mean", ns(hist_mean(h)));
	json_real(j, "p50", ns(hist_quantile(h, 500)));
	json_real(j, "p99", ns(hist_quantile(h, 990)));
	json_real(j, "max", ns(h->max));
	json_count(j, "packets", h->n);
	json_end(j, '}');
}

/* A text's lines as an array, without the blanks before them. */
static void json_lines(struct json *j, const char *key, const char *text)
{
	char line[256];
	size_t n;

	json_array(j, key);
	for (; *text; text += n + (text[n] == '\n')) {
		text += strspn(text, " ");
		n = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		json_text(j, NULL, line);
	}
	json_end(j, ']');
}

/* Part of the raw rate, over the whole run, warm-up included. */
static double use(const struct run *r, uint64_t bytes, uint64_t n_links)
{
	double most = (double)link_data_rate(&r->machine->link) *
		      (double)r->result.end / 1e12 * (double)n_links;

	return most > 0 ? (double)bytes / most : 0;
}

/*
 * Links that are told of together: of a direct network those that leave by
 * the same port, of others those of the same class.  False after the last.
 */
static bool get_links(
	const struct run *r, uint32_t i, struct net_use *u, char name[16])
{
	const struct topo *t = r->net->topo;
	bool is_direct = topo_is_direct(t);

	if (i == (is_direct ? t->n_ports : t->n_wires))
		return false;
	if (is_direct) {
		*u = net_port_use(r->net, i, r->result.end);
		t->ops->name_port(t, 0, i, name, 16);
	} else {
		*u = net_wire_use(r->net, i, r->result.end);
		snprintf(name, 16, "%s", t->wire[i].name);
	}
	return true;
}

static void json_links(struct json *j, const struct run *r)
{
	struct net_use u;
	char name[16];
	uint32_t i;

	json_array(j, "links");
	for (i = 0; get_links(r, i, &u, name); i++) {
		if (!u.n_links)
			continue;
		json_object(j, NULL);
		json_text(j, "port", name);
		json_count(j, "links", u.n_links);
		json_real(j, "mean_use", use(r, u.sent_bytes, u.n_links));
		json_real(j, "max_use", use(r, u.most_bytes, 1));
		json_real(j, "mean_queue",
			r->result.end
				? (double)u.waited / (double)r->result.end /
					  (double)u.n_links
				: 0);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void print_links(const struct run *r, FILE *f)
{
	struct net_use u;
	char name[16];
	uint32_t i;

	fputs("links       ", f);
	for (i = 0; get_links(r, i, &u, name); i++) {
		if (i && i % 4 == 0 && !topo_is_direct(r->net->topo))
			fputs("\n            ", f);
		if (u.n_links)
			fprintf(f, "%s %.0f %%  ", name,
				use(r, u.sent_bytes, u.n_links) * 100);
	}
	fputs("of the raw rate, warm-up included\n", f);
}

static void json_results(struct json *j, const struct run *r)
{
	const struct load_result *l = &r->result;
	uint32_t i;

	json_object(j, "results");
	if (l->has_peak && l->has_throughput)
		json_real(j, "fraction_of_peak", fraction(r));
	else
		json_null(j, "fraction_of_peak");
	if (l->has_peak)
		json_real(j, "peak_GBps_per_node", (double)l->peak_bps / 1e9);
	if (l->has_throughput)
		json_real(j, "throughput_GBps_per_node", throughput(r));
	else
		json_null(j, "throughput_GBps_per_node");
	json_latency(j, &l->latency);
	for (i = 0; i < l->n_figures; i++)
		json_real(j, l->figure[i].name, l->figure[i].value);
	if (l->knot[0])
		json_lines(j, "cycle", l->knot);
	json_links(j, r);
	json_end(j, '}');
}

static void json_work(struct json *j, const struct run *r)
{
	json_object(j, "work");
	json_count(j, "packets", r->packets);
	json_count(j, "packet_hops", r->hops);
	json_count(j, "events", r->events);
	json_real(j, "wall_s", r->wall_s);
	json_real(j, "ns_per_packet_hop",
		r->hops ? r->wall_s * 1e9 / (double)r->hops : 0);
	json_real(j, "bytes_per_node", (double)r->memory / r->net->n_nodes);
	json_end(j, '}');
}

static void json_block(
	struct json *j, const char *name, const struct param_block *b)
{
	char text[PARAM_TEXT_MAX];
	size_t i;

	json_object(j, name);
	for (i = 0; i < b->n_rows; i++) {
		param_format(b, &b->rows[i], text, sizeof(text));
		json_text(j, b->rows[i].name, text);
	}
	json_end(j, '}');
}

static void print_json(const struct run *r, FILE *f)
{
	char text[PARAM_TEXT_MAX];
	struct json j;
	size_t i;

	json_init(&j, f);
	json_object(&j, NULL);
	json_text(&j, "weft", WEFT_VERSION);
	json_text(&j, "machine", r->machine->header.name);
	machine_shape(r->machine, text, sizeof(text));
	json_text(&j, "shape", text);
	json_count(&j, "nodes", r->net->n_nodes);
	json_text(&j, "workload", r->load->ops->name);
	json_text(&j, "via", r->result.via);
	json_block(&j, "params", &r->keys);
	json_array(&j, "set");
	for (i = 0; i < r->args.n_sets; i++)
		json_text(&j, NULL, r->args.set[i]);
	json_end(&j, ']');
	json_count(&j, "seed", r->args.seed);
	json_count(&j, "threads", r->threads);
	json_text(&j, "ending", ending_name[r->result.ending]);
	snprintf(text, sizeof(text), "%016" PRIx64, r->digest);
	json_text(&j, "digest", text);
	json_real(&j, "sim_time_ns", ns(r->result.end));
	json_results(&j, r);
	run_budget_json(&j, &r->args, r->net);
	json_work(&j, r);
	json_end(&j, '}');
}

/* The unit that a figure's name ends with goes behind its value. */
static void print_figure(const struct load_figure *g, FILE *f)
{
	static const char *const units[][2] = { { "_ns", "ns" },
		{ "_pct", "%" }, { "_GBps", "GB/s" } };
	const char *unit = "";
	char name[64];
	size_t i, n;

	snprintf(name, sizeof(name), "%s", g->name);
	n = strlen(name);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t k = strlen(units[i][0]);

		if (n <= k || strcmp(name + n - k, units[i][0]) != 0)
			continue;
		name[n - k] = '\0';
		unit = units[i][1];
	}
	for (i = 0; name[i]; i++)
		if (name[i] == '_')
			name[i] = ' ';
	fprintf(f, "%-11s %.6g %s\n", name, g->value, unit);
}

static void print_figures(const struct run *r, FILE *f)
{
	const struct load_result *l = &r->result;
	const struct hist *h = &l->latency;
	uint32_t i;

	if (l->has_throughput && l->has_peak)
		fprintf(f,
			"throughput  %.4g GB/s per node: %.1f %% of the peak "
			"of %.4g GB/s\n",
			throughput(r), fraction(r) * 100,
			(double)l->peak_bps / 1e9);
	else if (l->has_throughput)
		fprintf(f, "throughput  %.4g GB/s per node\n", throughput(r));
	if (h->n)
		fprintf(f,
			"latency     mean %.1f ns, half below %.1f, 99 %% "
			"below %.1f, all below %.1f\n",
			ns(hist_mean(h)), ns(hist_quantile(h, 500)),
			ns(hist_quantile(h, 990)), ns(h->max));
	for (i = 0; i < l->n_figures; i++)
		print_figure(&l->figure[i], f);
	if (r->hops)
		print_links(r, f);
}

static void print_text(const struct run *r, FILE *f)
{
	const struct load_result *l = &r->result;
	char shape[PARAM_TEXT_MAX];
	size_t i;

	machine_shape(r->machine, shape, sizeof(shape));
	fprintf(f, "%s %s, %u nodes: %s", r->machine->header.name, shape,
		r->net->n_nodes, r->load->ops->name);
	for (i = 2; i < r->args.n_words; i++)
		fprintf(f, " %s", r->args.word[i]);
	fprintf(f, ": %s\n", ending_name[l->ending]);
	if (l->knot[0])
		fprintf(f, "these buffers wait for each other:\n%s", l->knot);
	print_figures(r, f);
	fprintf(f,
		"simulated   %.3f us in %.2f s on %u thread%s: %" PRIu64
		" packets, %" PRIu64 " packet-hops, %.0f ns each\n",
		ns(l->end) / 1e3, r->wall_s, r->threads,
		r->threads > 1 ? "s" : "", r->packets, r->hops,
		r->hops ? r->wall_s * 1e9 / (double)r->hops : 0);
	fprintf(f, "digest      %016" PRIx64 "\n", r->digest);
	run_budget_text(f, &r->args, r->net);
}

static void run_free(struct run *r)
{
	if (r->load) {
		r->load->ops->fini(r->load);
		mem_free(r->load->digest);
	}
	net_free(r->net);
	mem_free(r->keys.origins);
	mem_free(r->load);
	machine_free(r->machine);
}

static int perform(struct run *r, struct err *e)
{
	struct cli_out out;

	if (r->args.n_words < 2)
		return err_set(e, "want a machine and a workload: `weft run "
				  "bgq-midplane random`");
	r->machine = machine_load(
		r->args.word[0], r->args.set, r->args.n_sets, r->args.shape, e);
	if (!r->machine || run_book_check(&r->args, r->machine->topo, e) ||
		read_load(r, e) || build(r, e))
		return -1;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	if (run_it(r, e))
		return -1;
	cli_out_open(&out);
	if (r->args.is_json)
		print_json(r, out.file);
	else
		print_text(r, out.file);
	if (cli_out_close(&out, e) || run_book_missed(&r->args, r->net, e))
		return -1;
	return ending_code[r->result.ending];
}

static void list_loads(char *text, size_t size)
{
	size_t n = 0, i;

	n += (size_t)snprintf(text, size,
		"Runs a workload on a machine and says how it went.\v"
		"Workloads (`weft params WORKLOAD` lists the keys):\n");
	for (i = 0; load_registry[i] && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "  %-13s %s\n",
			load_registry[i]->name, load_registry[i]->help);
}

int cli_run(int argc, char **argv, struct err *e)
{
	static struct run r; /* too big for a stack */
	char help[2048];
	int code;

	list_loads(help, sizeof(help));
	code = cli_parse(&r.args, argc, argv,
		CLI_MACHINE | CLI_RUN | CLI_BOOK | CLI_JSON,
		"MACHINE WORKLOAD [KEY=VALUE...]", help, e);
	if (code)
		return code < 0 ? -1 : 0;
	code = perform(&r, e);
	run_free(&r);
	return code;
}
