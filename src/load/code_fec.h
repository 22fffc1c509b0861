/*
 * Patterns of errors against a link's forward error correction (link/fec.h):
 * each is decoded, and corrected, found to be bad, or taken for something else.
 */
#ifndef LOAD_CODE_FEC_H
#define LOAD_CODE_FEC_H

#include "link/fec.h"

enum { CODE_MOST_BURST = 1000 }; /* bits */

enum code_outcome {
	CODE_CORRECTED,
	CODE_FAILED, /* the decoder says that there are too many errors */
	CODE_WRONG, /* it made another codeword of it */
	N_CODE_OUTCOMES,
};

struct code_fec {
	struct link_fec fec;
	uint32_t n_bits; /* of a full packet on the wire */
	uint32_t symbols; /* wrong ones of a codeword, or ... */
	uint32_t burst; /* ... the length of a burst in bits */
	bool is_aligned; /* the burst begins with a symbol */
	uint64_t random; /* state of random numbers */
};

/* The next of a sequence of random numbers; and one below some number. */
uint64_t code_draw(uint64_t *random);
uint32_t code_draw_below(uint64_t *random, uint32_t n);

/* So many wrong symbols at different places below some number. */
void code_draw_symbols(
	uint64_t *random, uint32_t places, struct rs10_error *e, uint32_t n);

/* Decodes one random pattern. */
enum code_outcome code_fec_try(struct code_fec *c);

#endif
