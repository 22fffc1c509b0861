#include "inside/start.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* What another launcher has left behind would make ranks talk to that. */
static bool is_outer(const char *pair)
{
	static const char *const names[] = { "OMPI_COMM_", "OMPI_UNIVERSE_",
		"OMPI_APP_", "OMPI_FILE_", "OMPI_FIRST_", "OMPI_NUM_",
		"OMPI_COMMAND", "OMPI_ARGV", "OMPI_MCA_ess", "OMPI_MCA_orte_",
		"OMPI_MCA_pmix", "OMPI_MCA_shmem_RUNTIME",
		"OMPI_MCA_initial_wdir", "OMPI_MCA_mpi_oversubscribe", "PMIX_",
		"PMI_", "PMI2_", "PRTE_", "SLURM_", "JSM_", "FLUX_",
		"WEFT_START=", "WEFT_CHANNEL=", "WEFT_PLACES=", "WEFT_STACK=",
		"WEFT_FOLDER=", "WEFT_DEBUG=", "WEFT_ISOLATION=",
		"WEFT_NUMBERS=" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(pair, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static size_t length(char **list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static size_t name_length(const char *pair)
{
	return strcspn(pair, "=") + 1;
}

static char **place_of(char **list, const char *pair)
{
	for (size_t i = 0; list && list[i]; i++)
		if (strncmp(list[i], pair, name_length(pair)) == 0)
			return &list[i];
	return NULL;
}

void environ_set(char ***list, char *pair)
{
	char **at = place_of(*list, pair);
	size_t n = length(*list);

	if (at) {
		*at = pair;
		return;
	}
	*list = start_alloc(*list, (n + 2) * sizeof(**list));
	(*list)[n] = pair;
	(*list)[n + 1] = NULL;
}

/* What a user has set counts. */
static void set_default(char ***list, char *pair)
{
	if (!place_of(*list, pair))
		environ_set(list, pair);
}

/* --- Open MPI --- */

#define NO_COLL "sm,han,adapt,hcoll"

/* Collectives by shared memory are off, whatever else a user leaves out. */
static void keep_off(char ***list)
{
	char **pair = place_of(*list, "OMPI_MCA_coll=");

	if (pair && strchr(*pair, '=')[1] == '^')
		*pair = start_text("%s," NO_COLL, *pair);
}

/* Nothing goes round the network: no shared memory, no other transport. */
static void add_openmpi(char ***list)
{
	static const char *const pairs[] = {
		"OMPI_MCA_pml=cm",
		"OMPI_MCA_mtl=ofi",
		"OMPI_MCA_mtl_ofi_provider_include=weft",
		"OMPI_MCA_btl=self,ofi",
		"OMPI_MCA_btl_ofi_provider_include=weft",
		/* puts and gets, but for some windows: inside/windows.c */
		"OMPI_MCA_osc=rdma,pt2pt",
		"OMPI_MCA_osc_rdma_btls=ofi",
		"OMPI_MCA_osc_rdma_mtls=ofi",
		("OMPI_MCA_coll=^" NO_COLL),
		/* treematch asks PMIx for the others' nodes, which PMIx 4.2
		 * does not find, and would place ranks on this host */
		"OMPI_MCA_topo=basic",
		"OMPI_MCA_orte_create_session_dirs=0",
		"OMPI_MCA_shmem=mmap",
		"OMPI_MCA_mpi_yield_when_idle=0",
		"OMPI_MCA_hwloc_base_binding_policy=none",
		/* Open MPI 4 takes itself for alone without a launcher that it
		 * knows. */
		"JSM_JSRUN_PORT=0",
	};

	keep_off(list);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		set_default(list, start_text("%s", pairs[i]));
}

/* Whether a list with commas has a word; all of it but for a ^. */
static bool has_word(const char *words, const char *word, size_t n)
{
	while (strcspn(words, ",") != n || strncmp(words, word, n) != 0) {
		words += strcspn(words, ",");
		if (!*words++)
			return false;
	}
	return true;
}

/* What a user may choose where Open MPI has several ways. */
static const struct way {
	const char *name, *words;
} ways[] = {
	{ "OMPI_MCA_pml=", "cm" },
	{ "OMPI_MCA_mtl=", "ofi" },
	{ "OMPI_MCA_btl=", "self,ofi" },
	{ "OMPI_MCA_osc=", "rdma,pt2pt" },
	{ "OMPI_MCA_mtl_ofi_provider_include=", "weft" },
	{ "OMPI_MCA_btl_ofi_provider_include=", "weft" },
};

static char *refuse(const char *pair, const struct way *w)
{
	const char *at = pair + strlen(w->name);
	size_t n = strcspn(at, ",");

	while (has_word(w->words, at, n)) {
		at += n;
		if (!*at++)
			return NULL;
		n = strcspn(at, ",");
	}
	return start_text("%s: messages would go round the simulated network; "
			  "want %s%s, or do not set it",
		pair, w->name, w->words);
}

/* Collectives by shared memory that a user asks for. */
static char *refuse_coll(char **list)
{
	static const char *const words[] = { "sm", "han", "hcoll" };
	char **pair = place_of(list, "OMPI_MCA_coll=");

	if (pair && strchr(*pair, '=')[1] == '^')
		return NULL;
	for (size_t i = 0; pair && i < sizeof(words) / sizeof(words[0]); i++)
		if (has_word(
			    strchr(*pair, '=') + 1, words[i], strlen(words[i])))
			return start_text("%s: %s would go round the simulated "
					  "network",
				*pair, words[i]);
	return NULL;
}

char *environ_refusal(char **list)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		char **pair = place_of(list, ways[i].name);
		char *why = pair ? refuse(*pair, &ways[i]) : NULL;

		if (why)
			return why;
	}
	return refuse_coll(list);
}

/* --- all --- */

/* hwloc would load libraries of graphics and XML, 400 KB a rank. */
#define NO_PLUGINS "HWLOC_PLUGINS_PATH=/dev/null"

static void add_ours(char ***list, const struct start *s, uint32_t rank)
{
	const struct isolation *x = &s->isolation;
	char **other = place_of(*list, "LD_PRELOAD=");

	environ_set(
		list, start_text("LD_PRELOAD=%s/libweft-rank.so%s%s", s->folder,
			      other ? ":" : "", other ? *other + 11 : ""));
	environ_set(list, start_text("FI_PROVIDER_PATH=%s", s->folder));
	environ_set(list, start_text("FI_PROVIDER=weft"));
	set_default(list,
		start_text("OMPI_MCA_mca_base_component_path=%s:SYSTEM_DEFAULT",
			s->folder));
	set_default(list, start_text("OMPI_MCA_osc_rdma_backing_directory=%s",
				  s->scratch));
	set_default(list, start_text(NO_PLUGINS));
	environ_set(list, start_text("WEFT_CHANNEL=%d", START_CHANNEL_FD));
	environ_set(list, start_text("WEFT_REST=%d", START_REST_FD));
	if (s->places >= 0)
		environ_set(
			list, start_text("WEFT_PLACES=%d", START_PLACES_FD));
	/* no number in a namespace: its owner may trace all processes in it */
	environ_set(list, start_text("WEFT_TRACER=%010d",
				  x->is_on ? 0 : (int)s->rank[rank].tracer));
	if (x->numbers)
		environ_set(list, start_text("WEFT_NUMBERS=/proc/%d/fd/%d",
					  (int)getpid(), x->file));
	environ_set(list, start_text("WEFT_NODE=%u", s->rank[rank].node));
	environ_set(list, start_text("WEFT_RANK=%u", rank));
	environ_set(list, start_text("WEFT_RANKS=%u", s->n_ranks));
	environ_set(list, start_text("WEFT_STARTER=%010d", (int)s->self));
	set_default(list, start_text("PYTHONHASHSEED=0"));
	set_default(list, start_text("OMP_NUM_THREADS=1"));
	/* other providers of libfabric write files where a rank dies */
	set_default(list, start_text("HFI_NO_BACKTRACE=1"));
	set_default(list, start_text("IPATH_NO_BACKTRACE=1"));
}

/* NAME alone keeps what it was, if it is an outer job's. */
static void add_variable(char ***list, const char *pair)
{
	const char *value = strchr(pair, '=') ? "" : getenv(pair);

	if (value)
		environ_set(list,
			start_text("%s%s%s", pair, *value ? "=" : "", value));
}

char **environ_make(const struct start *s, uint32_t rank)
{
	char **list = NULL, **added = s->rank[rank].variables;

	for (size_t i = 0; environ[i]; i++)
		if (!is_outer(environ[i]))
			environ_set(&list, start_text("%s", environ[i]));
	for (size_t i = 0; added[i]; i++)
		add_variable(&list, added[i]);
	add_openmpi(&list);
	add_ours(&list, s, rank);
	return list;
}
