/*
 * Class routes of a job with links of its own, written out register by
 * register: weft-jobs(5).  Private to partitions.c.
 */
#ifndef MACHINE_JOBS_ROUTES_H
#define MACHINE_JOBS_ROUTES_H

#include "machine/jobs_read.h"
#include "machine/partitions.h"

/* What the job that is being read has of them; the partition's shape is
 * known. */
int jobs_read_routes(struct jobs_reader *r, struct machine_partition *p);

#endif
