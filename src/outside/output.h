/*
 * What ranks print, in the order of simulated time.
 *
 * A rank's standard output and its errors are pipes.  They are emptied while it
 * runs, so that it never waits for room.  What it has printed until it gives
 * the turn away belongs to the time at which it does so; whole lines are
 * written in the order of time and rank once no rank can print anything
 * earlier.  So two runs print the same, byte for byte.
 */
#ifndef OUTSIDE_OUTPUT_H
#define OUTSIDE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sim/sim.h"

struct output;

enum output_stream { OUTPUT_OUT, OUTPUT_ERR, OUTPUT_STREAMS };

/* Writes to these descriptors; is_tagged: each line begins with its rank. */
struct output *output_new(
	uint32_t n_ranks, const int to[OUTPUT_STREAMS], bool is_tagged);
void output_free(struct output *o);

/* Makes the pipes of all ranks. */
int output_open(struct output *o, struct err *e);
/* The end of a rank's pipe that it writes to; given away by the next call. */
int output_pipe(const struct output *o, uint32_t rank, enum output_stream s);
/* The other end, which another process may take over; and that it has. */
int output_reader(const struct output *o, uint32_t rank, enum output_stream s);
void output_leave(struct output *o, uint32_t rank);
int output_take_over(struct output *o, uint32_t rank, enum output_stream s,
	int reader, struct err *e);
/* All ranks have their ends: closes ours. */
void output_begin(struct output *o);

/* From any thread: takes what is in the pipes. */
void output_take(struct output *o);
/* What a rank has printed until now belongs to a time, in ps. */
void output_date(struct output *o, uint32_t rank, int64_t t);
/* No rank will print anything for a time up to this: writes all until then.
 * INT64_MAX: writes everything, also lines without an end. */
void output_write(struct output *o, int64_t until);
/* Of several processes, before each output_write(): what others have goes to
 * the first one. */
void output_gather(struct output *o, const struct sim *sim, int64_t until);
/* Why something could not be written, an errno; or 0. */
int output_error(const struct output *o);

/* The rank's node has died: what it has printed since nobody sees. */
void output_drop(struct output *o, uint32_t rank);

/* For poll(): it can be read when there is something to take. */
int output_file(const struct output *o);

#endif
