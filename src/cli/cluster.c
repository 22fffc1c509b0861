#define _GNU_SOURCE
#include "cli/cluster.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "meas/digest.h"
#include "record/inputs.h"
#include "sim/kin.h"

void cli_cluster_hush(const struct cluster *c)
{
	int nowhere;

	if (!c || !c->me)
		return;
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	fflush(stdout);
	if (nowhere < 0)
		return;
	dup2(nowhere, STDOUT_FILENO);
	close(nowhere);
}

/* --- the same in all processes --- */

/* Launchers take so long to end a job, at most. */
enum { PAGE = 4096, LAUNCHER_S = 3 };

static uint64_t hash_page(uint64_t h, const uint8_t *page, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = digest_mix(h + page[i]);
	return h;
}

/* The first page of an object has what its linker made of all of it: of the
 * program and, where that is not the program, of the one with this code. */
static uint64_t hash_program(void)
{
	uint64_t (*own)(void) = hash_program;
	uint64_t h = digest_text(0, WEFT_VERSION);
	uint8_t page[PAGE];
	FILE *f = fopen("/proc/self/exe", "r");
	Dl_info object;

	if (f) {
		h = hash_page(h, page, fread(page, 1, sizeof(page), f));
		fclose(f);
	}
	if (dladdr(*(void **)&own, &object))
		h = hash_page(h, object.dli_fbase, PAGE);
	return h;
}

static uint64_t hash_arguments(const struct cli_args *a)
{
	uint64_t h = a->hash;

	for (size_t i = 0; i < a->n_words; i++)
		h = digest_text(h, a->word[i]);
	for (const char *const *word = a->rest; word && *word; word++)
		h = digest_text(h, *word);
	return h;
}

/* Whether a value is that of the first process. */
static bool is_alike(struct cluster *c, uint64_t own)
{
	uint64_t first = own;

	cluster_tell(c, 0, &first, sizeof(first));
	return own == first;
}

static int check_alike(
	struct cluster *c, const struct cli_args *a, struct err *e)
{
	if (!is_alike(c, hash_program()))
		err_set(e, "it is another version or build of weft than "
			   "process 0");
	if (!is_alike(c, hash_arguments(a)))
		err_set(e, "it has other arguments than process 0");
	return cluster_share_signed(c, e);
}

/* "kind\npath\nhash\n" of each file. */
static void list_inputs(struct stream *o, const struct record_inputs *in)
{
	stream_open(o);
	for (size_t i = 0; i < in->n; i++)
		fprintf(o->file, "%s\n%s\n%s\n", in->of[i].kind, in->of[i].path,
			in->of[i].hash);
	stream_close(o);
}

/* Both lists have the files of the same arguments in the same order, but for
 * those that one of them lacks.  The first process's is cut into pieces. */
static void compare_inputs(
	const struct record_inputs *own, char *list, struct err *e)
{
	char *rest = list, *kind, *path = NULL, *hash;
	size_t i = 0;

	for (; (kind = strsep(&rest, "\n")) && *kind; i++) {
		path = strsep(&rest, "\n");
		hash = strsep(&rest, "\n");
		if (!path || !hash || i == own->n ||
			strcmp(own->of[i].path, path) != 0 ||
			strcmp(own->of[i].hash, hash) != 0)
			break;
	}
	if (kind && *kind)
		err_set(e, "the %s %.300s is not the same as that of process 0",
			kind, path ? path : "");
	else if (i < own->n)
		err_set(e, "the %s %.300s is one that process 0 does not have",
			own->of[i].kind, own->of[i].path);
}

int cli_cluster_compare(
	struct cluster *c, const struct record_inputs *in, struct err *e)
{
	struct stream o;
	uint64_t n;
	char *list;

	list_inputs(&o, in);
	n = o.size;
	cluster_tell(c, 0, &n, sizeof(n));
	list = mem_alloc(n + 1, 1);
	if (!c->me)
		memcpy(list, o.text, n);
	cluster_tell(c, 0, list, n);
	if (strcmp(list, o.text) != 0) /* names may have line ends */
		compare_inputs(in, list, e);
	mem_free(list);
	mem_free(o.text);
	return cluster_share_signed(c, e);
}

int cli_cluster_check(const struct machine_run *r, struct err *e)
{
	struct cluster *c = r->setup.cluster;
	struct record_inputs in = { NULL, 0 };
	int code;

	if (!c) /* a job, alone */
		return 0;
	record_inputs_run(&in, r);
	code = cli_cluster_compare(c, &in, e);
	record_inputs_free(&in);
	return code;
}

/* --- */

static int begin(struct cluster *c, const struct cli_args *a, struct err *e)
{
	if (!c)
		return -1;
	c->stop = cli_stop_asked();
	return check_alike(c, a, e);
}

int cli_cluster_join(
	const struct cli_args *a, struct cluster **c, struct err *e)
{
	uint32_t me, n = cluster_job(&me);

	*c = NULL;
	if (n > 1 && a->processes)
		return err_set(e,
			"--processes has no effect in a job of MPI, which has "
			"%u",
			n);
	if (n < 2)
		return 0;
	*c = cluster_join(e);
	return begin(*c, a, e);
}

int cli_cluster_begin(
	const struct cli_args *a, struct cluster **c, struct err *e)
{
	uint32_t me, n = cluster_job(&me);

	*c = NULL;
	if (n < 2 && a->processes < 2)
		return 0;
	if (n > 1)
		return cli_cluster_join(a, c, e);
	fflush(stdout); /* or each prints what is there */
	*c = kin_start(a->processes, e);
	return begin(*c, a, e);
}

int cli_cluster_refuse(const struct cli_command *c, struct err *e)
{
	const unsigned runs = CLI_SEED | CLI_THREADS | CLI_PAPER | CLI_MPI;
	uint32_t me, n = cluster_job(&me);

	if (n < 2 || c->takes & (CLI_PROCESSES | CLI_SWEEP) ||
		!(c->takes & runs))
		return 0;
	err_set(e, "weft %s cannot be run in a job of MPI with %u processes",
		c->name, n);
	if (!cli_cluster_end(NULL, -1, e))
		exit(EXIT_FINISHED);
	return -1;
}

/*
 * What goes wrong before a job has met is wrong in all its processes: the first
 * one says so, and its launcher ends the others.  Where variables of a job are
 * left over in a shell, there is no first one and no launcher.
 */
static int end_alone(int code, struct err *e)
{
	uint32_t me;

	if (!e->code || cluster_job(&me) < 2 || !me)
		return code;
	if (cluster_has_launcher()) {
		*e = (struct err){ 0 };
		return 0;
	}
	signal(SIGTERM, SIG_DFL);
	sleep(LAUNCHER_S);
	return code;
}

int cli_cluster_end(struct cluster *c, int code, struct err *e)
{
	bool is_first, is_told;

	if (!c)
		return end_alone(code, e);
	is_first = !c->me;
	is_told = c->knows_error;
	/* a launcher ends all others when one has ended with an error, but the
	 * first one has yet to print it */
	signal(SIGTERM, SIG_IGN);
	if (!is_first && e->code && !is_told)
		err_last_words(e->text);
	c->ops->leave(c, e->code ? e->code : code);
	if (is_first)
		return code;
	/* A launcher ends the job with the first that fails: that should be the
	 * first process, which says why. */
	code = is_told ? 0 : e->code;
	*e = (struct err){ 0 };
	return code;
}
