/*
 * A server of PMIx for one job.  All ranks are clients of this one server, on
 * whatever node of the simulated machine they are: so a fence is complete as
 * soon as the library says so, and each node's own data must be given by node.
 */
#define _GNU_SOURCE /* open_memstream() */
#include "inside/start.h"

#include <pmix.h>
#include <pmix_server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const pmix_nspace_t nspace = "weft";

/* The library's callbacks have no argument of their own. */
static struct start *start_;

/* --- what ranks ask for --- */

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object,
	pmix_op_cbfunc_t done, void *data)
{
	(void)proc, (void)object, (void)done, (void)data;
	return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status,
	const char *text, pmix_proc_t procs[], size_t n, pmix_op_cbfunc_t done,
	void *data)
{
	(void)object, (void)procs, (void)n, (void)done, (void)data;
	start_tell(start_, CHANNEL_ABORTED, proc->rank, status, text);
	return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n,
	const pmix_info_t info[], size_t n_info, char *bytes, size_t n_bytes,
	pmix_modex_cbfunc_t done, void *data)
{
	(void)procs, (void)n, (void)info, (void)n_info;
	done(PMIX_SUCCESS, bytes, n_bytes, data, free, bytes);
	return PMIX_SUCCESS;
}

static pmix_status_t on_modex(const pmix_proc_t *proc, const pmix_info_t info[],
	size_t n_info, pmix_modex_cbfunc_t done, void *data)
{
	(void)proc, (void)info, (void)n_info, (void)done, (void)data;
	return PMIX_ERR_NOT_FOUND;
}

static pmix_server_module_t module = {
	.client_connected = on_connected,
	.client_finalized = on_connected,
	.abort = on_abort,
	.fence_nb = on_fence,
	.direct_modex = on_modex,
};

/* --- what ranks are told --- */

/* Growing list of facts. */
struct facts {
	pmix_info_t *info;
	size_t n, size;
};

static pmix_info_t *add(struct facts *f)
{
	if (f->n == f->size) {
		f->size = f->size ? 2 * f->size : 16;
		f->info = start_alloc(f->info, f->size * sizeof(*f->info));
	}
	memset(&f->info[f->n], 0, sizeof(*f->info));
	return &f->info[f->n++];
}

static void add_number(struct facts *f, const char *key, uint32_t value)
{
	PMIX_INFO_LOAD(add(f), key, &value, PMIX_UINT32);
}

static void add_short(struct facts *f, const char *key, uint32_t value)
{
	uint16_t small = (uint16_t)value;

	PMIX_INFO_LOAD(add(f), key, &small, PMIX_UINT16);
}

static void add_rank(struct facts *f, const char *key, pmix_rank_t rank)
{
	PMIX_INFO_LOAD(add(f), key, &rank, PMIX_PROC_RANK);
}

static void add_text(struct facts *f, const char *key, const char *text)
{
	PMIX_INFO_LOAD(add(f), key, text, PMIX_STRING);
}

/* Facts that belong together become one. */
static void add_array(struct facts *f, const char *key, const struct facts *of)
{
	pmix_data_array_t array = { PMIX_INFO, of->n, of->info };

	PMIX_INFO_LOAD(add(f), key, &array, PMIX_DATA_ARRAY);
	free(of->info);
}

static char *node_name(uint32_t node)
{
	return start_text("node%u", node);
}

/* The ranks of a node, as a list. */
static char *peers(uint32_t node)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	const char *comma = "";

	for (uint32_t r = 0; r < start_->n_ranks; r++)
		if (start_->rank[r].node == node) {
			fprintf(out, "%s%u", comma, r);
			comma = ",";
		}
	fclose(out);
	return text;
}

static bool is_first_of_node(uint32_t rank)
{
	for (uint32_t r = 0; r < rank; r++)
		if (start_->rank[r].node == start_->rank[rank].node)
			return false;
	return true;
}

/* Both maps name the nodes in the order of their first ranks. */
static void add_maps(struct facts *f)
{
	char *nodes = NULL, *ranks = NULL, *regex, *ppn;
	size_t n;
	FILE *to_nodes = open_memstream(&nodes, &n);
	FILE *to_ranks = open_memstream(&ranks, &n);

	for (uint32_t r = 0; r < start_->n_ranks; r++) {
		char *of_node;

		if (!is_first_of_node(r))
			continue;
		of_node = peers(start_->rank[r].node);
		fprintf(to_nodes, "%snode%u", r ? "," : "",
			start_->rank[r].node);
		fprintf(to_ranks, "%s%s", r ? ";" : "", of_node);
		free(of_node);
	}
	fclose(to_nodes);
	fclose(to_ranks);
	PMIx_generate_regex(nodes, &regex);
	PMIx_generate_ppn(ranks, &ppn);
	PMIX_INFO_LOAD(add(f), PMIX_NODE_MAP, regex, PMIX_REGEX);
	PMIX_INFO_LOAD(add(f), PMIX_PROC_MAP, ppn, PMIX_REGEX);
	free(nodes);
	free(ranks);
}

/* The last node may have fewer than the others. */
static uint32_t n_peers(uint32_t node)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < start_->n_ranks; r++)
		n += start_->rank[r].node == node;
	return n;
}

static void add_node(struct facts *all, uint32_t rank)
{
	const struct start_rank *r = &start_->rank[rank];
	struct facts f = { .n = 0 };
	char *of_node = peers(r->node);

	add_text(&f, PMIX_HOSTNAME, node_name(r->node));
	add_number(&f, PMIX_NODEID, r->node);
	add_number(&f, PMIX_LOCAL_SIZE, n_peers(r->node));
	add_number(&f, PMIX_NODE_SIZE, n_peers(r->node));
	add_rank(&f, PMIX_LOCALLDR, rank);
	add_text(&f, PMIX_LOCAL_PEERS, of_node);
	add_array(all, PMIX_NODE_INFO_ARRAY, &f);
	free(of_node);
}

static void add_process(struct facts *all, uint32_t rank)
{
	const struct start_rank *r = &start_->rank[rank];
	struct facts f = { .n = 0 };

	add_rank(&f, PMIX_RANK, rank);
	add_number(&f, PMIX_APPNUM, r->program);
	add_rank(&f, PMIX_GLOBAL_RANK, rank);
	add_rank(&f, PMIX_APP_RANK, rank);
	add_short(&f, PMIX_LOCAL_RANK, r->process);
	add_short(&f, PMIX_NODE_RANK, r->process);
	add_number(&f, PMIX_NODEID, r->node);
	add_text(&f, PMIX_HOSTNAME, node_name(r->node));
	add_array(all, PMIX_PROC_DATA, &f);
}

static uint32_t n_programs(void)
{
	return start_->rank[start_->n_ranks - 1].program + 1;
}

static void add_job(struct facts *f)
{
	add_text(f, PMIX_JOBID, nspace);
	add_number(f, PMIX_JOB_SIZE, start_->n_ranks);
	add_number(f, PMIX_UNIV_SIZE, start_->n_ranks);
	add_number(f, PMIX_MAX_PROCS, start_->n_ranks);
	add_number(f, PMIX_JOB_NUM_APPS, n_programs());
	add_number(f, PMIX_NUM_NODES, start_->n_nodes);
	add_maps(f);
}

static pmix_status_t register_job(void)
{
	struct facts f = { .n = 0 };
	pmix_status_t status;

	add_job(&f);
	for (uint32_t r = 0; r < start_->n_ranks; r++)
		if (is_first_of_node(r))
			add_node(&f, r);
	for (uint32_t r = 0; r < start_->n_ranks; r++)
		add_process(&f, r);
	status = PMIx_server_register_nspace(
		nspace, (int)start_->n_ranks, f.info, f.n, NULL, NULL);
	free(f.info);
	return status;
}

static pmix_proc_t proc_of(uint32_t rank)
{
	pmix_proc_t p;

	PMIX_LOAD_PROCID(&p, nspace, rank);
	return p;
}

static bool is_good(pmix_status_t status)
{
	return status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t register_ranks(void)
{
	for (uint32_t r = 0; r < start_->n_ranks; r++) {
		pmix_proc_t p = proc_of(r);
		pmix_status_t status = PMIx_server_register_client(
			&p, getuid(), getgid(), NULL, NULL, NULL);

		if (!is_good(status))
			return status;
	}
	return PMIX_SUCCESS;
}

/* --- life --- */

static pmix_status_t open_server(void)
{
	struct facts f = { .n = 0 };
	pmix_status_t status;

	/* Facts go by messages, not by files of shared memory. */
	setenv("PMIX_MCA_gds", "hash", 1);
	setenv("PMIX_MCA_pmix_show_load_errors", "0", 1);
	setenv("PMIX_MCA_psec", "native", 0);
	/* Its own names have its number in them. */
	add_text(&f, PMIX_SERVER_NSPACE, "weft-server");
	add_rank(&f, PMIX_SERVER_RANK, 0);
	add_text(&f, PMIX_SERVER_TMPDIR, start_->scratch);
	add_text(&f, PMIX_SYSTEM_TMPDIR, start_->scratch);
	status = PMIx_server_init(&module, f.info, f.n);
	free(f.info);
	return status;
}

const char *pmix_open(struct start *s)
{
	pmix_status_t status;

	start_ = s;
	status = open_server();
	if (is_good(status))
		status = register_job();
	if (is_good(status))
		status = register_ranks();
	return is_good(status) ? NULL : PMIx_Error_string(status);
}

const char *pmix_environ(uint32_t rank, char ***list)
{
	pmix_proc_t p = proc_of(rank);
	pmix_status_t status = PMIx_server_setup_fork(&p, list);

	/* It names the host, and that is the simulated one. */
	environ_set(list,
		start_text("PMIX_HOSTNAME=node%u", start_->rank[rank].node));
	return is_good(status) ? NULL : PMIx_Error_string(status);
}

void pmix_close(void)
{
	PMIx_server_finalize();
}
