#include "link/fec.h"

#include "base/wide.h"
#include "link/code.h"

enum {
	WIDE_BLOCK = 257, /* one bit, and those of four blocks */
	NARROW = 4, /* blocks in a wide one */
	DATA = CODE_BLOCK - CODE_SYNC,
	MOST_SYMBOLS = 256, /* wrong ones looked at; more are beyond repair */
};

void fec_init(struct link_fec *f, int64_t raw_rate)
{
	rs10_init(&f->code, 0, FEC_SYMBOLS - FEC_DATA_SYMBOLS);
	f->bps = 8 * raw_rate;
}

uint32_t fec_phase(const struct link_fec *f, sim_time t)
{
	uint128 sent = (uint128)t * (uint128)f->bps / PS_PER_S;

	return (uint32_t)(sent / CODE_BLOCK % FEC_BLOCKS);
}

/* Where bits go that are still wrong. */
struct rest {
	uint32_t *bit, n, room;
	uint64_t first, end; /* bits of the packet in the stream */
};

static void add_bit(struct rest *r, uint64_t at)
{
	if (at >= r->first && at < r->end && r->n < r->room)
		r->bit[r->n++] = (uint32_t)(at - r->first);
}

/* A bit of a codeword's data, as the bit of a block that it was made of; the
 * first of a wide block says that all four have data. */
static void add_data_bit(struct rest *r, uint64_t word, uint32_t at)
{
	uint32_t wide = at / WIDE_BLOCK, in = at % WIDE_BLOCK;
	uint64_t block = word * FEC_BLOCKS + wide * NARROW;

	if (!in) {
		add_bit(r, block * CODE_BLOCK);
		return;
	}
	add_bit(r, (block + (in - 1) / DATA) * CODE_BLOCK + CODE_SYNC +
			   (in - 1) % DATA);
}

static void add_symbols(
	struct rest *r, uint64_t word, const struct rs10_error *e, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0;
			e[i].place < FEC_DATA_SYMBOLS && k < RS10_BITS; k++)
			if (e[i].value >> k & 1)
				add_data_bit(
					r, word, e[i].place * RS10_BITS + k);
}

/* Changes symbols by what the decoder takes for errors. */
static uint32_t apply(struct rs10_error *e, uint32_t n,
	const struct rs10_error *guess, uint32_t n_guess)
{
	uint32_t k, left = 0;

	for (uint32_t i = 0; i < n_guess; i++) {
		for (k = 0; k < n && e[k].place != guess[i].place; k++)
			;
		if (k == n)
			e[n++] = (struct rs10_error){ guess[i].place, 0 };
		e[k].value ^= guess[i].value;
	}
	for (k = 0; k < n; k++)
		left += e[k].value != 0;
	return left ? n : 0;
}

/* The flipped bits of one codeword as symbols; their number. */
static uint32_t gather(const uint32_t *flip, uint32_t n, uint64_t first,
	uint64_t word, struct rs10_error *e)
{
	uint32_t n_symbols = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = (uint32_t)(first + flip[i] - word * FEC_BITS);
		uint16_t place = (uint16_t)(at / RS10_BITS);

		if (!n_symbols || e[n_symbols - 1].place != place) {
			if (n_symbols == MOST_SYMBOLS)
				break;
			e[n_symbols++] = (struct rs10_error){ place, 0 };
		}
		e[n_symbols - 1].value ^= (uint16_t)(1u << at % RS10_BITS);
	}
	return n_symbols;
}

static void pass_word(const struct link_fec *f, uint64_t word,
	struct rs10_error *e, uint32_t n, struct rest *r, struct fec_done *done)
{
	struct rs10_error guess[RS10_CORRECTS];
	uint32_t n_guess;

	if (rs10_decode(&f->code, FEC_SYMBOLS, e, n, guess, &n_guess) ==
		RS10_FAILED) {
		done->failed++;
	} else {
		n = apply(e, n, guess, n_guess);
		done->corrected += !n;
		done->wrong += n != 0;
	}
	add_symbols(r, word, e, n);
}

struct fec_done fec_pass(const struct link_fec *f, uint32_t phase,
	uint32_t bits, const uint32_t *flip, uint32_t n, uint32_t *bit,
	uint32_t room)
{
	uint64_t first = (uint64_t)phase * CODE_BLOCK;
	struct rest rest = { bit, 0, room, first, first + bits };
	struct rs10_error e[MOST_SYMBOLS + RS10_CORRECTS];
	struct fec_done done = { 0 };
	uint32_t i = 0, end;

	while (i < n) {
		uint64_t word = (first + flip[i]) / FEC_BITS;

		for (end = i;
			end < n && (first + flip[end]) / FEC_BITS == word;)
			end++;
		pass_word(f, word, e, gather(flip + i, end - i, first, word, e),
			&rest, &done);
		i = end;
	}
	done.n_bits = rest.n;
	return done;
}
