/*
 * Forward error correction: RS(528,514) over symbols of ten bits, on links
 * whose line code is 64b66b.  Four blocks of 66 bits become one of 257, which
 * leaves room for the checks: 80 blocks and a codeword have 5,280 bits each, so
 * the code costs no bandwidth.  Its time is part of the wire's latency.
 *
 * Codewords follow each other without a pause, whatever packets are sent, so a
 * packet begins somewhere within one.  The code is linear: the flipped bits
 * alone decide whether a codeword is corrected, found to be bad, or becomes
 * another codeword.
 */
#ifndef LINK_FEC_H
#define LINK_FEC_H

#include <stdint.h>

#include "base/rs10.h"
#include "sim/sim.h"

/* The kinds of link.fec, in order. */
#define LINK_FECS "none|rs528"
enum { FEC_NONE, FEC_RS528 };

enum {
	FEC_SYMBOLS = 528,
	FEC_DATA_SYMBOLS = 514,
	FEC_BITS = FEC_SYMBOLS * RS10_BITS, /* of a codeword */
	FEC_BLOCKS = 80, /* of 66 bits, in a codeword */
};

struct link_fec {
	struct rs10 code;
	int64_t bps; /* raw bits per second of a link */
};

struct fec_done {
	uint32_t corrected, failed, wrong; /* codewords */
	uint32_t n_bits; /* that are still flipped */
};

void fec_init(struct link_fec *f, int64_t raw_rate);

/* The block of a codeword in which a packet begins that is sent at a time. */
uint32_t fec_phase(const struct link_fec *f, sim_time t);

/*
 * A packet of some number of bits, which begins with block phase of a codeword,
 * with n flipped bits in ascending order: gives those that are still flipped
 * behind the decoder, at most room.  Bits of codewords that fail stay as they
 * are.
 */
struct fec_done fec_pass(const struct link_fec *f, uint32_t phase,
	uint32_t bits, const uint32_t *flip, uint32_t n, uint32_t *bit,
	uint32_t room);

#endif
