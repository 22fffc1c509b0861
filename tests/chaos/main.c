#define _GNU_SOURCE
#include "chaos.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct chaos chaos = { .limit_s = 20 };

static const char usage[] =
	"usage: chaos [OPTION...] WEFT DIRECTORY\n\n"
	"Runs random machines, workloads and plans of faults on 1, 2 and 3\n"
	"threads, with --budget, and some of them in 2 and 3 Weft processes,\n"
	"compares the reports, and tries the ends of ranges, signals,\n"
	"failing allocations, full disks, and outputs into odd files.\n"
	"Whatever is not as weft(1) says is printed, with the commands that\n"
	"show it.  Files that these need stay in DIRECTORY.\n\n"
	"  --seed N       first case (1)\n"
	"  --count N      cases (100)\n"
	"  --seconds N    begin no more cases after this time\n"
	"  --kind NAME    only cases of a kind: alike, ends, signals,\n"
	"                 allocations, full-disk, outputs\n"
	"  --limit N      seconds after which a run gets SIGTERM (20)\n"
	"  --shim FILE    library that makes allocations fail\n"
	"  --sanitized    WEFT has sanitizers, which need address space\n"
	"  --verbose      print every command and its exit code\n"
	"  --help         this text\n\n"
	"It ends with 1 where anything was found.\n";

struct request {
	uint64_t seed, count;
	double seconds;
	const char *kind;
};

static bool is_option(char **argv, const char *name)
{
	return argv[0] && !strcmp(argv[0], name);
}

static int read_options(int argc, char **argv, struct request *r)
{
	int i = 1;

	for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
		bool has_value = i + 1 < argc;

		if (is_option(argv + i, "--help")) {
			fputs(usage, stdout);
			exit(0);
		}
		if (is_option(argv + i, "--verbose"))
			chaos.is_verbose = true;
		else if (is_option(argv + i, "--sanitized"))
			chaos.is_sanitized = true;
		else if (has_value && is_option(argv + i, "--seed"))
			r->seed = strtoull(argv[++i], NULL, 10);
		else if (has_value && is_option(argv + i, "--count"))
			r->count = strtoull(argv[++i], NULL, 10);
		else if (has_value && is_option(argv + i, "--seconds"))
			r->seconds = atof(argv[++i]);
		else if (has_value && is_option(argv + i, "--kind"))
			r->kind = argv[++i];
		else if (has_value && is_option(argv + i, "--limit"))
			chaos.limit_s = atof(argv[++i]);
		else if (has_value && is_option(argv + i, "--shim"))
			chaos.shim = argv[++i];
		else
			break;
	}
	if (argc - i != 2) {
		fputs(usage, stderr);
		exit(2);
	}
	return i;
}

static char *ask(const char *command)
{
	struct words w = { 0 };
	struct outcome o;

	words_add(&w, "%s", command);
	words_add(&w, "--json");
	o = run_weft(&w, NULL);
	words_free(&w);
	if (o.code) {
		fprintf(stderr, "chaos: weft %s: %s", command, o.err);
		exit(2);
	}
	free(o.err);
	return o.out;
}

/* What there is, from weft itself. */
static void read_lists(void)
{
	char *params = ask("params"), *machines = ask("machines");

	options_read(&chaos.options, params);
	chaos.n_machines = json_values(machines, "name", chaos.machine, 128);
	for (size_t i = 0; i < chaos.options.n; i++) {
		char *name = chaos.options.v[i].workload;
		size_t n = chaos.n_workloads;

		if (!name || (n && !strcmp(name, chaos.workload[n - 1])))
			continue;
		chaos.workload[chaos.n_workloads++] = name;
	}
	free(params);
	free(machines);
	if (!chaos.n_machines || !chaos.n_workloads) {
		fputs("chaos: no machines or no workloads\n", stderr);
		exit(2);
	}
}

static size_t n_kinds(void)
{
	size_t n = 0;

	while (kinds[n].name)
		n++;
	return n;
}

static void run_case(uint64_t seed, const char *kind)
{
	const struct kind *k = &kinds[seed % n_kinds()];
	struct trial t;

	for (size_t i = 0; kind && kinds[i].name; i++)
		if (!strcmp(kind, kinds[i].name))
			k = &kinds[i];
	trial_init(&t, seed);
	k->run(&t);
	if (t.n_findings)
		printf("    again: make chaos SEED=%" PRIu64 " COUNT=1%s%s\n",
			seed, kind ? " KIND=" : "", kind ? kind : "");
	trial_fini(&t);
}

int main(int argc, char **argv)
{
	struct request r = { .seed = 1, .count = 100 };
	int i = read_options(argc, argv, &r);
	time_t start = time(NULL);
	uint64_t n;

	chaos.weft = argv[i];
	chaos.dir = argv[i + 1];
	mkdir(chaos.dir, 0777);
	if (access(chaos.weft, X_OK)) {
		perror(chaos.weft);
		return 2;
	}
	read_lists();
	for (n = 0; n < r.count; n++) {
		if (r.seconds > 0 && difftime(time(NULL), start) >= r.seconds)
			break;
		run_case(r.seed + n, r.kind);
	}
	printf("%" PRIu64 " cases from seed %" PRIu64 ", %" PRIu64
	       " runs, %" PRIu64 " findings\n",
		n, r.seed, chaos.n_runs, chaos.n_findings);
	return chaos.n_findings > 0;
}
