/*
 * What checks packets on their way (Blue Gene/Q): a Hamming code over the
 * network's part of the header, looked at when the header is in, so that no bad
 * one is routed; symbols of ten bits over the whole packet, looked at when the
 * tail has passed a hop; one more over what does not change on the way, looked
 * at in the destination; and sums of all good packets at both ends of a link,
 * which are compared at the end of a run.
 *
 * All these codes are linear: the bits that were flipped decide what is found,
 * and no packet is ever written out.  Bits count from a packet's first one.
 */
#ifndef LINK_CHECKS_H
#define LINK_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hamming.h"
#include "base/rs10.h"

enum checks_finding { CHECKS_NOTHING, CHECKS_HEADER, CHECKS_TAIL };

struct link_checks {
	struct rs10 hop, end;
	bool has_header;
};

void checks_init(struct link_checks *c, int64_t hop, int64_t end, bool header);

/* What the far end of a hop finds of flipped bits, and when. */
enum checks_finding checks_find(
	const struct link_checks *c, const uint32_t *bit, uint32_t n);

/* What a flipped bit changes of the checks at the destination, by root: one
 * that is among the first ones, or alone, is found by its symbol. */
uint32_t checks_end(const struct link_checks *c, uint32_t bit);

enum { CHECKS_CODEWORD = (RS10_CHECKS + 3) * RS10_BITS };

/*
 * Bits of a word of the hop's code, which its checks do not find: of those from
 * first on and before end, by a random number.  Returns how many; 0 where there
 * is no room for one.
 */
uint32_t checks_codeword(const struct link_checks *c, uint64_t random,
	uint32_t first, uint32_t end, uint32_t bit[CHECKS_CODEWORD]);

/* By what the two sums of a link differ, as they were after some bytes. */
struct checks_sums {
	uint32_t difference;
	uint64_t bytes;
};

/* As they are after more. */
uint32_t checks_differ(const struct checks_sums *s, uint64_t bytes);
/* Bits of a packet were not found, which ends after so many bytes. */
void checks_escaped(struct checks_sums *s, uint64_t bytes, const uint32_t *bit,
	uint32_t n, uint32_t packet_bytes);

#endif
