#include "inside/start.h"

#include <string.h>
#include <unistd.h>

extern char **environ;

/* What another launcher has left behind would make ranks talk to that. */
static bool is_outer(const char *pair)
{
	static const char *const names[] = { "OMPI_COMM_", "OMPI_UNIVERSE_",
		"OMPI_APP_", "OMPI_FILE_", "OMPI_FIRST_", "OMPI_NUM_",
		"OMPI_COMMAND", "OMPI_ARGV", "OMPI_MCA_ess", "OMPI_MCA_orte_",
		"OMPI_MCA_pmix", "OMPI_MCA_shmem_RUNTIME", "PMIX_", "PMI_",
		"SLURM_", "JSM_", "FLUX_", "WEFT_START=", "WEFT_CHANNEL=" };

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

/* Nothing goes round the network: no shared memory, no other transport. */
static void add_openmpi(char ***list)
{
	static const char *const pairs[] = {
		"OMPI_MCA_pml=cm",
		"OMPI_MCA_mtl=ofi",
		"OMPI_MCA_mtl_ofi_provider_include=weft",
		"OMPI_MCA_btl=self,ofi",
		"OMPI_MCA_btl_ofi_provider_include=weft",
		"OMPI_MCA_osc=rdma",
		"OMPI_MCA_osc_rdma_btls=ofi",
		"OMPI_MCA_coll=^sm,han,adapt,hcoll",
		"OMPI_MCA_orte_create_session_dirs=0",
		"OMPI_MCA_shmem=mmap",
		"OMPI_MCA_mpi_yield_when_idle=0",
		"OMPI_MCA_hwloc_base_binding_policy=none",
		/* Open MPI 4 takes itself for alone without a launcher that it
		 * knows. */
		"JSM_JSRUN_PORT=0",
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		set_default(list, start_text("%s", pairs[i]));
}

static void add_ours(char ***list, const struct start *s, uint32_t rank)
{
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
	environ_set(list, start_text("WEFT_CHANNEL=%d", START_CHANNEL_FD));
	environ_set(list, start_text("WEFT_REST=%d", START_REST_FD));
	environ_set(list, start_text("WEFT_TRACER=%010d", (int)getppid()));
	environ_set(list, start_text("WEFT_NODE=%u", s->rank[rank].node));
	environ_set(list, start_text("WEFT_RANK=%u", rank));
	set_default(list, start_text("PYTHONHASHSEED=0"));
	set_default(list, start_text("OMP_NUM_THREADS=1"));
	/* other providers of libfabric write files where a rank dies */
	set_default(list, start_text("HFI_NO_BACKTRACE=1"));
	set_default(list, start_text("IPATH_NO_BACKTRACE=1"));
}

char **environ_make(const struct start *s, uint32_t rank)
{
	char **list = NULL, **added = s->rank[rank].variables;

	for (size_t i = 0; environ[i]; i++)
		if (!is_outer(environ[i]))
			environ_set(&list, start_text("%s", environ[i]));
	for (size_t i = 0; added[i]; i++)
		environ_set(&list, start_text("%s", added[i]));
	add_openmpi(&list);
	add_ours(&list, s, rank);
	return list;
}
