/*
 * Asks PMIx, as MPI libraries do, where all ranks are; there are two on each
 * node, but one where their number is odd.  Prints the memory that is rank 0's
 * alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pmix.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, n;

typedef pmix_status_t get_call(const pmix_proc_t *, const char *,
	const pmix_info_t *, size_t, pmix_value_t **);
typedef pmix_status_t get_nb_call(const pmix_proc_t *, const char *,
	const pmix_info_t *, size_t, pmix_value_cbfunc_t, void *);
typedef pmix_status_t peers_call(
	const char *, const char *, pmix_proc_t **, size_t *);
typedef pmix_status_t nodes_call(const char *, char **);

static void *function(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

static void fail(const char *what, int about)
{
	fprintf(stderr, "rank %d: %s of %d is wrong\n", rank, what, about);
	MPI_Abort(MPI_COMM_WORLD, 2);
}

static pmix_proc_t proc_of(uint32_t r)
{
	pmix_proc_t p = { .rank = r };

	strcpy(p.nspace, "weft");
	return p;
}

static uint32_t as_number(const pmix_value_t *v)
{
	return v->type == PMIX_UINT16	? v->data.uint16
	       : v->type == PMIX_UINT32 ? v->data.uint32
					: v->data.rank;
}

static void want_number(uint32_t of, const char *key, uint32_t wanted)
{
	get_call *get = (get_call *)function("PMIx_Get");
	pmix_proc_t p = proc_of(of);
	pmix_value_t *v;

	if (get(&p, key, NULL, 0, &v) || as_number(v) != wanted)
		fail(key, (int)of);
	free(v);
}

static void want_text(uint32_t of, const char *key, const pmix_info_t *info,
	const char *form, ...)
{
	get_call *get = (get_call *)function("PMIx_Get");
	pmix_proc_t p = proc_of(of);
	pmix_value_t *v;
	char wanted[64];
	va_list list;

	va_start(list, form);
	vsnprintf(wanted, sizeof(wanted), form, list);
	va_end(list);
	if (get(&p, key, info, info ? 1 : 0, &v) || v->type != PMIX_STRING ||
		strcmp(v->data.string, wanted) != 0)
		fail(key, (int)of);
	free(v->data.string);
	free(v);
}

static void want_peers(uint32_t of, const pmix_info_t *info, int r)
{
	if (r / 2 * 2 + 1 < n)
		want_text(of, PMIX_LOCAL_PEERS, info, "%d,%d", r / 2 * 2,
			r / 2 * 2 + 1);
	else
		want_text(of, PMIX_LOCAL_PEERS, info, "%d", r);
}

static void ask_of(int r)
{
	uint32_t of = (uint32_t)r, node = of / 2;
	pmix_info_t named = { .key = PMIX_HOSTNAME, .value.type = PMIX_STRING };
	char host[32];

	want_number(of, PMIX_LOCAL_RANK, of % 2);
	want_number(of, PMIX_NODE_RANK, of % 2);
	want_number(of, PMIX_GLOBAL_RANK, of);
	want_number(of, PMIX_APPNUM, 0);
	want_number(of, PMIX_NODEID, node);
	want_text(of, PMIX_HOSTNAME, NULL, "node%u", node);
	snprintf(host, sizeof(host), "node%u", node);
	named.value.data.string = host;
	want_peers(PMIX_RANK_WILDCARD, &named, r);
}

static void ask_of_own_node(void)
{
	uint32_t of = PMIX_RANK_WILDCARD;
	uint32_t local = rank / 2 * 2 + 1 < n ? 2 : 1;

	want_number(of, PMIX_JOB_SIZE, (uint32_t)n);
	want_number(of, PMIX_LOCAL_SIZE, local);
	want_number(of, PMIX_LOCALLDR, (uint32_t)(rank / 2 * 2));
	want_peers(of, NULL, rank);
}

static void on_value(pmix_status_t status, pmix_value_t *v, void *data)
{
	if (status || v->data.uint32 != (uint32_t)n - 1)
		fail("what is called back", n - 1);
	*(int *)data = 1;
}

static void ask_otherwise(void)
{
	get_nb_call *get_nb = (get_nb_call *)function("PMIx_Get_nb");
	get_call *get = (get_call *)function("PMIx_Get");
	peers_call *peers = (peers_call *)function("PMIx_Resolve_peers");
	nodes_call *nodes = (nodes_call *)function("PMIx_Resolve_nodes");
	pmix_proc_t p = proc_of((uint32_t)n - 1), *found;
	pmix_value_t *v;
	char *names;
	size_t n_found;
	int is_called = 0;

	if (get_nb(&p, PMIX_GLOBAL_RANK, NULL, 0, on_value, &is_called) ||
		!is_called)
		fail("PMIx_Get_nb", n - 1);
	p.rank = (uint32_t)n;
	if (!get(&p, PMIX_GLOBAL_RANK, NULL, 0, &v))
		fail("a rank that is not there", n);
	if (peers("node0", "weft", &found, &n_found) || n_found != 2 ||
		found[1].rank != 1 || strcmp(found[1].nspace, "weft") != 0)
		fail("PMIx_Resolve_peers", 0);
	if (nodes("weft", &names) || strncmp(names, "node0,node1,", 12) != 0)
		fail("PMIx_Resolve_nodes", 0);
	free(found);
	free(names);
}

static void print_memory(void)
{
	FILE *in = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kb;

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "Private_Dirty: %ld", &kb) == 1)
			printf("%ld KB\n", kb);
	if (in)
		fclose(in);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		print_memory();
	for (int r = 0; r < n; r++)
		ask_of(r);
	ask_of_own_node();
	ask_otherwise();
	MPI_Finalize();
	return 0;
}
