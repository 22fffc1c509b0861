/*
 * Reads a file of jobs: the list, and the name, workload, keys, start and seed
 * of each job.  Private to jobs.c, which reads the nodes of jobs that share a
 * network, and to partitions.c, which reads the others.
 */
#ifndef MACHINE_JOBS_READ_H
#define MACHINE_JOBS_READ_H

#include "machine/jobs.h"
#include "machine/tree.h"

/* The keys of a job. */
enum jobs_key {
	JOBS_K_NAME,
	JOBS_K_NODES,
	JOBS_K_COUNT,
	JOBS_K_BOX,
	JOBS_K_PARTITION,
	JOBS_K_PLACEMENT,
	JOBS_K_WORKLOAD,
	JOBS_K_KEYS,
	JOBS_K_START,
	JOBS_K_SEED,
	JOBS_K_FAULTS,
	JOBS_K_ROUTES,
	JOBS_K_COMMAND,
	N_JOBS_KEYS,
};

struct jobs_reader {
	struct tree tree;
	const struct topo *topo;
	uint64_t seed; /* of jobs that name none */
	void *arg; /* the caller's */
	const char *name[JOBS_MOST]; /* [job] */
	uint32_t n, most; /* read so far, in the file */
	uint32_t *taken; /* [node] by which job, + 1 */
	/* of the job that is being read */
	size_t value[N_JOBS_KEYS]; /* nodes of the tree; 0: none */
	struct machine_job job;
};

#define JOBS_FAIL(r, i, ...)                                                   \
	tree_fail(&(r)->tree, jobs_at(r, i)->at, __VA_ARGS__)

static inline const struct node *jobs_at(const struct jobs_reader *r, size_t i)
{
	return &r->tree.v[i];
}

/* The text of a job's key, which is one word; NULL where it has none. */
static inline const char *jobs_text(
	const struct jobs_reader *r, enum jobs_key key)
{
	return r->value[key] ? jobs_at(r, r->value[key])->text : NULL;
}

/*
 * Reads a file, and calls one() for each job, number r->n - 1, when the values
 * that all jobs have are read.  Texts of jobs live as long as the reader, which
 * the caller frees, also after an error.
 */
struct jobs_reader *jobs_read(const char *path, const struct topo *t,
	uint64_t seed, int (*one)(struct jobs_reader *r, size_t job), void *arg,
	struct err *e);
void jobs_reader_free(struct jobs_reader *r);

/* The values of a map by the numbers of their keys; 0: there is none. */
int jobs_find_values(struct jobs_reader *r, size_t map, const char *const *keys,
	uint32_t n, size_t *value);
/* "2x2x2 at 0,0,4", which lies inside the machine. */
int jobs_read_box(struct jobs_reader *r, enum jobs_key key, uint32_t *from,
	uint32_t *size, uint32_t *n_dims);
/* Whether a node lies in one. */
bool jobs_is_inside(const struct topo *t, site_id s, const uint32_t *from,
	const uint32_t *size, uint32_t n_dims);
/* A node belongs to the job that is being read, and to no other. */
int jobs_take(struct jobs_reader *r, size_t where, uint64_t node);

/* The words of a job's command, with NULL behind the last, which the caller
 * frees; NULL where it has none, or with the error. */
char **jobs_read_command(struct jobs_reader *r);

/* jobs_routes.c: the class routes of a job whose partition is known. */
struct machine_partition;
int jobs_read_routes(struct jobs_reader *r, struct machine_partition *p);

#endif
