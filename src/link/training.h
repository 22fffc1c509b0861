/*
 * The lines of a link, and how a receiver finds their sampling points.
 *
 * A direction of a link has ten differential pairs (QSN-F73, QSN-N45).  Their
 * use is assumed: eight bits in parallel, a line that distinguishes data from
 * control, and the sender's clock, which latches the other nine.  Lines have
 * different lengths, so the middle of a bit does not arrive with the edge of
 * the clock but with a skew; and the clock itself arrives at any phase of the
 * receiver's clock, which has the same frequency.
 *
 * In training the sender repeats a word that is no rotation of itself.  The
 * receiver first tries the phases of its clock, then all delays of all lines at
 * once: the eye is open where the word is right.  It uses the middle between
 * the edges of the eye (QSN-F74).  A line whose edges are not both among the
 * delays cannot be trained.
 */
#ifndef LINK_TRAINING_H
#define LINK_TRAINING_H

#include <stdbool.h>

#include "base/param.h"
#include "sim/sim.h"

enum {
	TRAINING_DATA = 8, /* lines 0 to 7 */
	TRAINING_CONTROL = 8,
	TRAINING_CLOCK = 9,
	TRAINING_LINES = 10,
};

/* Times in ps. */
struct training_params {
	int64_t lines; /* 0: not modelled; or TRAINING_LINES */
	int64_t is_on; /* otherwise lines are sampled without a delay */
	int64_t skew; /* largest, to either side */
	int64_t eye; /* time in which a bit can be read */
	int64_t step, taps; /* of a line's delay; the middle tap is no delay */
	int64_t repeats; /* of the word, at each tap */
};

extern const struct param training_params_table[];

/* Duration of a bit on a line, for the raw rate of a link. */
int64_t training_bit(int64_t rate);
/* Checks the parameters; rate as above. */
int training_check(
	const struct training_params *p, int64_t rate, struct err *e);

/* A line as it was built, or has become. */
struct training_line {
	int64_t skew; /* delay of the middle of its bit after the clock; the
			 phase of a clock */
	int64_t eye; /* 0: it is closed */
};

/* A function of the seed, the directed link and the line. */
struct training_line training_line(const struct training_params *p, int64_t bit,
	uint64_t seed, uint32_t link, uint32_t line);

/* Whether a line is read correctly without any delay. */
bool training_falls_right(const struct training_line *l);

/* Identifies the line in training, for random samples between two bits. */
struct training_who {
	uint64_t seed;
	uint32_t link, line;
};

/* The word that a receiver reads at a tap. */
uint64_t training_sample(const struct training_params *p, int64_t bit,
	const struct training_line *l, int64_t tap, uint64_t lot);

/* Result for a line, or for the phase of the clock. */
struct training_found {
	bool is_open; /* found */
	int64_t first, last; /* taps at which the word was right */
	int64_t tap; /* in the middle */
	int64_t margin; /* distance to the nearer edge */
};

/* Tries all taps: repeats * taps samples. */
struct training_found training_sweep(const struct training_params *p,
	int64_t bit, const struct training_line *l, struct training_who who);
/* The same for the clock: all its phases, which wrap around. */
struct training_found training_align(const struct training_params *p,
	int64_t bit, const struct training_line *l, struct training_who who);

struct training_result {
	struct training_found line[TRAINING_LINES];
	uint32_t failed; /* lines, a bit each; 0: the link is up */
	int64_t margin; /* the smallest of all lines that have one */
};

/* All ten lines of a directed link. */
struct training_result training_run(const struct training_params *p,
	int64_t bit, const struct training_line line[TRAINING_LINES],
	uint64_t seed, uint32_t link);
/* Time of training, which does not depend on the result. */
sim_time training_time(const struct training_params *p, int64_t bit);

#endif
