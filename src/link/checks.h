/*
 * Checks of packets on Blue Gene/Q: a Hamming code over the network's part of
 * the header, checked when the header has arrived, so that no bad header is
 * routed; symbols of ten bits over the whole packet, checked when the tail has
 * passed a hop; one more over everything that does not change on the way,
 * checked at the destination; and sums of all good packets at both ends of a
 * link, which are compared at the end of a run.
 *
 * All these codes are linear: the flipped bits alone decide what is detected,
 * and no packet is ever written out.  Bits count from the first bit of a
 * packet.
 */
#ifndef LINK_CHECKS_H
#define LINK_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hamming.h"
#include "base/rs10.h"

enum { CHECKS_MOST = 8 }; /* symbols that check a packet */

enum checks_finding { CHECKS_NOTHING, CHECKS_HEADER, CHECKS_TAIL };

struct link_checks {
	struct rs10 hop, end;
	bool has_header;
};

void checks_init(struct link_checks *c, int64_t hop, int64_t end, bool header);

/* What the receiving end of a hop detects of flipped bits, and when. */
enum checks_finding checks_find(
	const struct link_checks *c, const uint32_t *bit, uint32_t n);

/* The change of the checks at the destination by a flipped bit, by root: a bit
 * among the first ones, or a single one, is detected by its symbol. */
uint32_t checks_end(const struct link_checks *c, uint32_t bit);

enum { CHECKS_CODEWORD = (CHECKS_MOST + 3) * RS10_BITS };

/*
 * Bits of a word of the hop's code, which its checks do not detect: from first
 * up to end, chosen by a random number.  Returns their number; 0 if there is no
 * room.
 */
uint32_t checks_codeword(const struct link_checks *c, uint64_t random,
	uint32_t first, uint32_t end, uint32_t bit[CHECKS_CODEWORD]);

/* Difference of the two sums of a link after some bytes. */
struct checks_sums {
	uint32_t difference;
	uint64_t bytes;
};

/* The difference after more bytes. */
uint32_t checks_differ(const struct checks_sums *s, uint64_t bytes);
/* Bits of a packet that ends after some bytes were not detected. */
void checks_escaped(struct checks_sums *s, uint64_t bytes, const uint32_t *bit,
	uint32_t n, uint32_t packet_bytes);

#endif
