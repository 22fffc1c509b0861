/*
 * What all readers of a file of jobs have in common: the list, and of each job
 * its name, workload, keys, start and seed.  Private to jobs.c and
 * partitions.c.
 */
#ifndef MACHINE_JOBS_READ_H
#define MACHINE_JOBS_READ_H

#include "machine/jobs.h"
#include "machine/tree.h"

enum { JOBS_TEXT = 256 };

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
	N_JOBS_KEYS,
};

struct jobs_reader {
	struct tree tree;
	const struct topo *topo;
	uint64_t seed; /* of jobs that name none */
	void *arg; /* of whoever reads */
	char (*name)[JOBS_NAME]; /* [job] */
	uint32_t n, most; /* read so far, in the file */
	uint32_t *taken; /* [node] by which job, + 1 */
	/* of the job that is being read */
	size_t value[N_JOBS_KEYS]; /* nodes of the tree; 0: none */
	struct machine_job job;
	char text[LOAD_MOST_KEYS][JOBS_TEXT];
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
 * Reads a file; one() is called for each job, whose number is r->n - 1, when
 * what all jobs have is read.  On an error, too, jobs_reader_fini() is the
 * caller's to call.
 */
int jobs_read_file(struct jobs_reader *r, const char *path,
	int (*one)(struct jobs_reader *r, size_t job));
void jobs_reader_fini(struct jobs_reader *r);

/* "2x2x2 at 0,0,4", which lies inside the machine. */
int jobs_read_box(struct jobs_reader *r, enum jobs_key key, uint32_t *from,
	uint32_t *size, uint32_t *n_dims);
/* Whether a node lies in one. */
bool jobs_is_inside(const struct topo *t, site_id s, const uint32_t *from,
	const uint32_t *size, uint32_t n_dims);
/* A node belongs to the job that is being read, and to no other. */
int jobs_take(struct jobs_reader *r, size_t where, uint64_t node);

#endif
