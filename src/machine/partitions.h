/*
 * Partitions: jobs of a file, weft-jobs(5), that have links of their own.  Each
 * is a machine by itself, cut out of a bigger one, and its workload knows
 * nothing of the others.
 */
#ifndef MACHINE_PARTITIONS_H
#define MACHINE_PARTITIONS_H

#include "coll/class_route.h"
#include "parts/files/files.h"
#include "load/replay/exposed.h"
#include "machine/batch.h"
#include "machine/jobs.h"

struct machine_partition {
	struct machine_job job;
	const char *faults; /* a file, or NULL */
	uint32_t n_dims, from[TOPO_MAX_DIMS], size[TOPO_MAX_DIMS];
	struct topo_partition cut;
	/* Class routes that are written out; nodes are the job's own. */
	struct class_register *routes;
	size_t n_routes;
};

struct machine_partitions {
	struct machine_partition *v;
	uint32_t n;
	struct jobs_reader *reader; /* which holds their texts */
};

/* There are none if the jobs share links.  The caller frees them, also after an
 * error. */
int machine_partitions_read(struct machine_partitions *p, const char *path,
	const struct topo *t, uint64_t seed, struct err *e);
void machine_partitions_free(struct machine_partitions *p);

/* An IO node has no more links (topology.io.links). */
enum { PARTITIONS_OF_IO = 4 };

/* The partitions that an IO node has exits in, by number; returns how many. */
uint32_t machine_partitions_of_io(const struct machine_partitions *p,
	const struct topo *t, uint32_t io, uint32_t member[PARTITIONS_OF_IO]);

/* What to run, and what came of it. */
struct machine_partitions_run {
	const struct machine_partitions *list;
	const struct machine *machine; /* that they are parts of */
	const struct machine_run_setup *setup; /* [partition] */
	struct batch_result *result; /* [partition], zeroed */
	struct exposed_rows *exposed; /* [partition], zeroed */
	uint32_t threads;
	/* Processes, each of which runs some of them; or NULL. */
	struct cluster *cluster;
	/* So many have ended; may be NULL. */
	void (*on_done)(void *arg, uint32_t n);
	void *arg;
};

/* Runs all of them to their ends.  Their own errors are results, which all
 * processes have then. */
int machine_partitions_run(
	const struct machine_partitions_run *how, struct err *e);

/* "4x4x4x4x2 at 0,0,0,4,0" */
void machine_partition_name(
	const struct machine_partition *p, char *text, size_t size);

/* What the links of a unit's surface do. */
enum machine_surface { SURFACE_RESET, SURFACE_LOOP, SURFACE_NEXT };

/* Of the unit that a partition's router at is in, at one end of a dimension. */
enum machine_surface machine_partition_surface(
	const struct machine_partition *p, const uint32_t *at, uint32_t dim,
	bool is_up);

#endif
