/* The job of MPI that this process is a part of, if there is one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/err.h"
#include "base/mem.h"
#include "sim/cluster.h"
#include "sim/pace.h"
#include "sim/room.h"
#include <weft_cluster.h> /* both made by meson */
#include <weft_paths.h>

enum { PATH = 1024 };

/* What launchers say in the environment, and the object that understands it. */
static const struct kind {
	const char *size, *rank;
	const char *name; /* of weft-cluster-NAME.so */
	const char *package;
	const char *socket; /* to the launcher, which closes when that ends */
} kinds[] = {
	{ "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "openmpi",
		"libopenmpi-dev", NULL },
	/* srun, by the door that Open MPI has */
	{ "SLURM_STEP_NUM_TASKS", "PMIX_RANK", "openmpi", "libopenmpi-dev",
		NULL },
	{ "PMI_SIZE", "PMI_RANK", "mpich", "libmpich-dev", "PMI_FD" },
};

static uint32_t number(const char *variable)
{
	const char *text = getenv(variable);

	return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static bool has_socket(const struct kind *k)
{
	struct stat s;

	return k->socket && getenv(k->socket) &&
	       !fstat((int)number(k->socket), &s) && S_ISSOCK(s.st_mode);
}

/* In a job inside of a job the variables of both are there. */
static const struct kind *find_kind(void)
{
	const struct kind *found = NULL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		/* a shell within a job may have kept one of them */
		if (number(kinds[i].size) > 1 && getenv(kinds[i].rank) &&
			(!found || has_socket(&kinds[i])))
			found = &kinds[i];
	return found;
}

bool cluster_has_launcher(void)
{
	const struct kind *k = find_kind();

	return k && has_socket(k);
}

uint32_t cluster_job(uint32_t *me)
{
	const struct kind *k = find_kind();

	*me = k ? number(k->rank) : 0;
	return k ? number(k->size) : 1;
}

static bool find_object(const struct kind *k, char *path)
{
	static const char *const ways[] = { "", "../lib/weft/" };
	char way[64];

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		snprintf(way, sizeof(way), "%sweft-cluster-%s.so", ways[i],
			k->name);
		if (beside_program(way, path, PATH) && !access(path, R_OK))
			return true;
	}
	snprintf(path, PATH, "%s/weft-cluster-%s.so", WEFT_INSIDE_DIR, k->name);
	return !access(path, R_OK);
}

static void *alloc(size_t n)
{
	return mem_alloc(1, n);
}

/* The variables of a job may be left over from its shell. */
static struct cluster *check(struct cluster *c, struct err *e)
{
	static char name[CLUSTER_NAME];
	uint32_t me, n = cluster_job(&me);

	if (c->n != n) {
		err_set(e,
			"the environment is that of process %u of %u of a job "
			"of MPI, but MPI finds %u (was weft started by the "
			"launcher of this MPI, or by a shell inside the job?)",
			me, n, c->n);
		c->ops->leave(c, 0);
		return NULL;
	}
	cluster_name(c->me, name);
	err_name_process(name, NULL, 0);
	return c;
}

/* The door of an object.  Its sim/mpi.c and sim/cluster.h must be those of this
 * program, since no call would tell a difference. */
static cluster_open *find_door(const char *path, struct err *e)
{
	/* MPI's own plugins need its names */
	void *object = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	const char *build = object ? dlsym(object, "weft_cluster_build") : NULL;
	cluster_open *open = NULL;

	if (!object) {
		err_set(e, "%s", dlerror());
		return NULL;
	}
	if (!build || strcmp(build, WEFT_CLUSTER_BUILD) != 0) {
		err_set(e,
			"%s is from another build of Weft: install weft and "
			"its objects for MPI together",
			path);
		return NULL;
	}
	*(void **)&open = dlsym(object, "weft_cluster_open");
	BUG_IF(!open);
	return open;
}

struct cluster *cluster_join(struct err *e)
{
	static const struct cluster_help help = {
		.alloc = alloc,
		.free = mem_free,
		.add = cluster_add,
		.look = cluster_look,
		.clock = pace_clock,
		.is_apart = cluster_is_apart,
		.room_size = room_size,
		.room_open = room_open,
		.room_close = room_close,
	};
	const struct kind *k = find_kind();
	char path[PATH];
	cluster_open *open;

	if (number(k->size) > CLUSTER_MOST) {
		err_set(e, "%u processes in a job of MPI (want at most %d)",
			number(k->size), CLUSTER_MOST);
		return NULL;
	}
	if (!find_object(k, path)) {
		err_set(e,
			"weft-cluster-%s.so is missing: to run in a job of "
			"MPI, "
			"Weft must be built with %s",
			k->name, k->package);
		return NULL;
	}
	open = find_door(path, e);
	return open ? check(open(&help), e) : NULL;
}
