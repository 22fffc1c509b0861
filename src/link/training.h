/*
 * The lines of a link, and how a receiver finds where to sample them.
 *
 * A direction of a link is ten differential pairs (QSN-F73, QSN-N45).  What
 * each carries is assumed: eight bits side by side, a line that tells data
 * from control, and the sender's clock, which latches the other nine.  Lines
 * are not equally long, so the middle of a line's bit does not come with the
 * clock's edge but with a skew; and the clock itself comes at any phase of the
 * receiver's own clock, which has the same frequency.
 *
 * In training the sender repeats a word that is no rotation of itself.  The
 * receiver first tries the phases of its clock, then all delays of all lines
 * at once: where the word is right the eye is open.  Between the edges of the
 * eye it takes the middle (QSN-F74).  A line whose edges are not both among
 * the delays cannot be trained.
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
	int64_t lines; /* 0: nothing is known of them; or TRAINING_LINES */
	int64_t is_on; /* else lines are sampled where they fall */
	int64_t skew; /* at most, to either side */
	int64_t eye; /* how long a bit can be read */
	int64_t step, taps; /* of a line's delay; the middle one is none */
	int64_t repeats; /* of the word, at each tap */
};

extern const struct param training_params_table[];
extern const size_t training_params_n;

/* Of a link's raw rate: what a bit lasts on a line. */
int64_t training_bit(int64_t rate);
/* Refuses what cannot be; rate as above. */
int training_check(
	const struct training_params *p, int64_t rate, struct err *e);

/* A line as it was built, or has become. */
struct training_line {
	int64_t skew; /* its bit's middle behind the clock; a clock's phase */
	int64_t eye; /* 0: it is closed */
};

/* A function of the seed, the directed link and the line. */
struct training_line training_line(const struct training_params *p, int64_t bit,
	uint64_t seed, uint32_t link, uint32_t line);

/* Whether a line is read right without any delay. */
bool training_falls_right(const struct training_line *l);

/* Who is trained, for the draws of what is sampled between two bits. */
struct training_who {
	uint64_t seed;
	uint32_t link, line;
};

/* What a receiver reads of the word at a tap. */
uint64_t training_sample(const struct training_params *p, int64_t bit,
	const struct training_line *l, int64_t tap, uint64_t lot);

/* A line's delay, or the phase of the clock. */
struct training_found {
	bool is_open; /* there is one */
	int64_t first, last; /* taps at which the word was right */
	int64_t tap; /* in the middle */
	int64_t margin; /* from there to the nearer edge, ps */
};

/* Tries all taps: repeats * taps samples. */
struct training_found training_sweep(const struct training_params *p,
	int64_t bit, const struct training_line *l, struct training_who who);
/* The same for the clock: all its phases, which follow each other round. */
struct training_found training_align(const struct training_params *p,
	int64_t bit, const struct training_line *l, struct training_who who);

struct training_result {
	struct training_found line[TRAINING_LINES];
	uint32_t failed; /* lines, a bit each; 0: the link is up */
	int64_t margin; /* the least of all lines that have one */
};

/* All ten lines of a directed link. */
struct training_result training_run(const struct training_params *p,
	int64_t bit, const struct training_line line[TRAINING_LINES],
	uint64_t seed, uint32_t link);
/* What that takes, whatever comes of it: all is tried. */
sim_time training_time(const struct training_params *p, int64_t bit);

#endif
