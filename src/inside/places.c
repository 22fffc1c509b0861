/*
 * Who and where other ranks are, under the names by which an MPI library asks
 * PMIx.  A rank whose own copy of PMIx knew it would take 3.7 KB for each of
 * the others: 4 MiB for 1,024.
 */
#define _GNU_SOURCE /* open_memstream() */
#include "inside/places.h"

#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inside/rank.h"

static const char library[] = "libpmix.so.2";

static const struct place *place;
static uint32_t n_places, own;

static uint32_t variable(const char *name)
{
	const char *text = getenv(name);

	return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

/* Not before it is needed: until then the process may become another one. */
static bool is_known(void)
{
	uint32_t file = variable("WEFT_PLACES"), n = variable("WEFT_RANKS");
	void *p;

	if (place || !file)
		return place;
	p = mmap(NULL, n * sizeof(*place), PROT_READ, MAP_SHARED, (int)file, 0);
	if (p == MAP_FAILED)
		return false;
	close((int)file);
	unsetenv("WEFT_PLACES");
	n_places = n;
	own = variable("WEFT_RANK");
	place = p;
	return true;
}

/* --- facts --- */

static char *node_name(uint32_t rank)
{
	char name[32];

	snprintf(name, sizeof(name), "node%u", place[rank].node);
	return strdup(name);
}

/* Ranks with commas: those of a rank's node. */
static char *local_peers(uint32_t rank)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	for (uint32_t r = place[rank].leader; out && r < n_places; r++)
		if (place[r].node == place[rank].node)
			fprintf(out, "%s%u", r == place[rank].leader ? "" : ",",
				r);
	if (out)
		fclose(out);
	return text;
}

static uint32_t n_ranks(uint32_t rank)
{
	(void)rank;
	return n_places;
}

static uint32_t rank_itself(uint32_t rank)
{
	return rank;
}

static uint32_t program_of(uint32_t rank)
{
	return place[rank].program;
}

static uint32_t process_of(uint32_t rank)
{
	return place[rank].process;
}

static uint32_t node_of(uint32_t rank)
{
	return place[rank].node;
}

static uint32_t n_local(uint32_t rank)
{
	return place[rank].n_local;
}

static uint32_t leader_of(uint32_t rank)
{
	return place[rank].leader;
}

/* One of both is how to get it. */
static const struct fact {
	const char *key;
	pmix_data_type_t type;
	bool is_nodes; /* not a rank's alone */
	uint32_t (*number)(uint32_t rank);
	char *(*text)(uint32_t rank);
} facts[] = {
	{ PMIX_JOB_SIZE, PMIX_UINT32, true, n_ranks, NULL },
	{ PMIX_APPNUM, PMIX_UINT32, false, program_of, NULL },
	{ PMIX_GLOBAL_RANK, PMIX_PROC_RANK, false, rank_itself, NULL },
	{ PMIX_APP_RANK, PMIX_PROC_RANK, false, rank_itself, NULL },
	{ PMIX_LOCAL_RANK, PMIX_UINT16, false, process_of, NULL },
	{ PMIX_NODE_RANK, PMIX_UINT16, false, process_of, NULL },
	{ PMIX_NODEID, PMIX_UINT32, true, node_of, NULL },
	{ PMIX_HOSTNAME, PMIX_STRING, true, NULL, node_name },
	{ PMIX_LOCAL_SIZE, PMIX_UINT32, true, n_local, NULL },
	{ PMIX_NODE_SIZE, PMIX_UINT32, true, n_local, NULL },
	{ PMIX_LOCALLDR, PMIX_PROC_RANK, true, leader_of, NULL },
	{ PMIX_LOCAL_PEERS, PMIX_STRING, true, NULL, local_peers },
};

static const struct fact *find_fact(const char *key)
{
	for (size_t i = 0; key && i < sizeof(facts) / sizeof(facts[0]); i++)
		if (strcmp(facts[i].key, key) == 0)
			return &facts[i];
	return NULL;
}

/* --- of whom --- */

/* The first rank of a node with a name, or n_places. */
static uint32_t find_node(const char *name)
{
	char each[32];
	uint32_t r = 0;

	for (; r < n_places; r++) {
		snprintf(each, sizeof(each), "node%u", place[r].node);
		if (strcmp(each, name) == 0)
			break;
	}
	return r;
}

static uint32_t find_node_number(uint32_t node)
{
	uint32_t r = 0;

	while (r < n_places && place[r].node != node)
		r++;
	return r;
}

/* The rank that a question is about, or n_places: not one for this table. */
static uint32_t whose(const pmix_proc_t *p, const struct fact *f,
	const pmix_info_t info[], size_t n)
{
	if (p && p->nspace[0] && strcmp(p->nspace, PLACES_JOB) != 0)
		return n_places;
	for (size_t i = 0; f->is_nodes && i < n; i++) {
		if (strcmp(info[i].key, PMIX_HOSTNAME) == 0)
			return find_node(info[i].value.data.string);
		if (strcmp(info[i].key, PMIX_NODEID) == 0)
			return find_node_number(info[i].value.data.uint32);
	}
	if (!p || (f->is_nodes && p->rank == PMIX_RANK_WILDCARD))
		return own;
	return p->rank < n_places ? p->rank : n_places;
}

/* Allocated as the library would; NULL: ask it. */
static pmix_value_t *find_value(const pmix_proc_t *p, const char *key,
	const pmix_info_t info[], size_t n)
{
	const struct fact *f = is_known() ? find_fact(key) : NULL;
	uint32_t rank = f ? whose(p, f, info, n) : 0, number;
	pmix_value_t *v;

	if (!f || rank >= n_places)
		return NULL;
	v = calloc(1, sizeof(*v));
	if (!v)
		return NULL;
	v->type = f->type;
	if (f->text) {
		v->data.string = f->text(rank);
		return v;
	}
	number = f->number(rank);
	if (f->type == PMIX_UINT16)
		v->data.uint16 = (uint16_t)number;
	else if (f->type == PMIX_UINT32)
		v->data.uint32 = number;
	else
		v->data.rank = number;
	return v;
}

/* --- the names --- */

INSIDE_EXPORT pmix_status_t PMIx_Get(const pmix_proc_t *p, const char key[],
	const pmix_info_t info[], size_t n, pmix_value_t **value)
{
	pmix_status_t (*real)(const pmix_proc_t *, const char *,
		const pmix_info_t[], size_t, pmix_value_t **);
	pmix_value_t *v = find_value(p, key, info, n);
	pmix_status_t status;

	if (v) {
		*value = v;
		return PMIX_SUCCESS;
	}
	call_library(&real, library, "PMIx_Get");
	call_mine()->is_asking = true;
	status = real(p, key, info, n, value);
	call_mine()->is_asking = false;
	return status;
}

INSIDE_EXPORT pmix_status_t PMIx_Get_nb(const pmix_proc_t *p, const char key[],
	const pmix_info_t info[], size_t n, pmix_value_cbfunc_t done,
	void *data)
{
	pmix_status_t (*real)(const pmix_proc_t *, const char *,
		const pmix_info_t[], size_t, pmix_value_cbfunc_t, void *);
	pmix_value_t *v = find_value(p, key, info, n);

	if (v) {
		done(PMIX_SUCCESS, v, data);
		if (v->type == PMIX_STRING)
			free(v->data.string);
		free(v);
		return PMIX_SUCCESS;
	}
	call_library(&real, library, "PMIx_Get_nb");
	return real(p, key, info, n, done, data);
}

INSIDE_EXPORT pmix_status_t PMIx_Resolve_peers(const char *node,
	const pmix_nspace_t job, pmix_proc_t **procs, size_t *n)
{
	pmix_status_t (*real)(
		const char *, const char *, pmix_proc_t **, size_t *);
	uint32_t first = n_places;

	if (is_known() && (!job || !*job || strcmp(job, PLACES_JOB) == 0))
		first = node ? find_node(node) : place[own].leader;
	if (first == n_places) {
		call_library(&real, library, "PMIx_Resolve_peers");
		return real(node, job, procs, n);
	}
	*n = 0;
	*procs = calloc(place[first].n_local, sizeof(**procs));
	if (!*procs)
		return PMIX_ERR_NOMEM;
	for (uint32_t r = first; r < n_places; r++)
		if (place[r].node == place[first].node) {
			pmix_proc_t *p = &(*procs)[(*n)++];

			snprintf(p->nspace, sizeof(p->nspace), PLACES_JOB);
			p->rank = r;
		}
	return PMIX_SUCCESS;
}

INSIDE_EXPORT pmix_status_t PMIx_Resolve_nodes(
	const pmix_nspace_t job, char **nodes)
{
	pmix_status_t (*real)(const char *, char **);
	size_t bytes;
	FILE *out;

	if (!is_known() || (job && *job && strcmp(job, PLACES_JOB) != 0)) {
		call_library(&real, library, "PMIx_Resolve_nodes");
		return real(job, nodes);
	}
	*nodes = NULL;
	out = open_memstream(nodes, &bytes);
	if (!out)
		return PMIX_ERR_NOMEM;
	for (uint32_t r = 0; r < n_places; r++)
		if (place[r].leader == r)
			fprintf(out, "%snode%u", r ? "," : "", place[r].node);
	fclose(out);
	return PMIX_SUCCESS;
}
