/* What goes over the wire, and what is read of it, whole and damaged. */
#include <string.h>

#include "base/mem.h"
#include "nic/apenet/frame.h"
#include "sim/random.h"
#include "testing/testing.h"

enum { BITS = 10 * APE_WORD }; /* of a word on the wire */

struct wire {
	struct packet p;
	struct ape_load *l;
	uint8_t plain[APE_PLAIN], frame[APE_FRAME], got[APE_PLAIN];
	uint32_t n_plain, n;
};

static void make(struct wire *x, uint32_t bytes)
{
	x->p = (struct packet){ .src = 7, .dst = 300000, .bytes = 0 };
	x->p.bytes = (uint16_t)bytes;
	x->l = mem_alloc(1, sizeof(*x->l) + APE_MOST);
	x->l->key = 0x00300005;
	x->l->offset = UINT64_MAX - 77;
	x->l->tag = 123456;
	x->l->op = APE_PUT;
	x->l->flags = APE_LAST;
	x->l->flips.code = 2;
	assert_string_equal(link_codes[2].name, "8b10b");
}

static void write(struct wire *x)
{
	x->n_plain = ape_frame_plain(&x->p, x->l, x->plain);
	x->n = ape_frame_write(x->plain, x->n_plain, x->frame);
}

static bool is_read(struct wire *x)
{
	return ape_frame_read(x->got, x->frame, x->n, x->n) == APE_SOUND &&
	       !memcmp(x->got, x->plain, x->n_plain);
}

static uint64_t draw(uint64_t k, uint64_t n)
{
	return random_below(random_draw(1, 2, RANDOM_TARGET, k).a, n);
}

/* So many words in all: those around it, and two after every eight. */
static uint32_t words(uint32_t payload)
{
	uint32_t n = 2 + 1 + payload + 1;

	return n + n / 8 * 2 + 1;
}

/* Words of a stream differ by a step (memory_fill_by()); of one that held a
 * marker the other words would follow from any of them.  So what is sent by
 * name has no words that are doubled, and need not be made to know it. */
static void no_stream_holds_a_marker(void **state)
{
	uint64_t word[2], step, whole;

	memory_fill_by(1, 2, 0, (uint8_t *)word, sizeof(word));
	step = word[1] - word[0];
	for (uint32_t skip = 0; skip < 8; skip++) {
		uint8_t made[3 * 8];

		memcpy(&whole, ape_marker + skip, 8);
		word[0] = whole - step;
		word[1] = whole + step;
		memcpy(made, &word[0], 8);
		memcpy(made + 8, &whole, 8);
		memcpy(made + 16, &word[1], 8);
		assert_memory_equal(made + 8, ape_marker + skip, 8);
		assert_true(memcmp(made + 8 - skip, ape_marker, APE_WORD) != 0);
	}
}

/* A bit that flips on the way needs bytes to be in. */
static void what_is_named_is_made_where_it_is_hurt(void **state)
{
	struct memory_name name = { 4, 5, 6 };
	struct wire x;

	make(&x, APE_MOST);
	x.l->is_named = true;
	x.l->name = name;
	ape_frame_make(x.l, APE_MOST);
	assert_false(x.l->is_named);
	assert_true(memory_is_by(4, 5, 6, x.l->data, APE_MOST));
	x.l->data[0] ^= 1;
	ape_frame_make(x.l, APE_MOST); /* but once */
	assert_false(memory_is_by(4, 5, 6, x.l->data, APE_MOST));
	mem_free(x.l);
}

/* APE-F20: whatever is sent, and it has a word more for each marker. */
static void ape_f20_any_payload_arrives_unchanged(void **state)
{
	struct wire x;

	for (uint32_t bytes = 0; bytes <= APE_MOST;
		bytes += bytes < 40 ? 1 : 338) {
		make(&x, bytes);
		memory_fill_by(1, bytes, 0, x.l->data, bytes);
		write(&x);
		assert_int_equal(x.n / APE_WORD, words((bytes + 15) / 16));
		assert_true(is_read(&x));
		mem_free(x.l);
	}
	for (uint32_t k = 0; k < 400; k++) {
		uint32_t n = 0;

		make(&x, APE_MOST);
		for (uint32_t i = 0; i < APE_MOST; i += APE_WORD) {
			bool is_marker = draw(1000 * k + i, 400) < k;

			n += is_marker;
			if (is_marker)
				memcpy(x.l->data + i, ape_marker, APE_WORD);
			/* or nearly one */
			if (draw(i, 100) < k % 100)
				memcpy(x.l->data + i, ape_marker,
					is_marker ? APE_WORD : APE_WORD - 1);
		}
		assert_int_equal(ape_frame_doubled(x.l->data, APE_MOST), n);
		write(&x);
		assert_true(x.n / APE_WORD >= words(256 + n) - 2 * n &&
			    x.n <= APE_FRAME);
		assert_true(is_read(&x));
		mem_free(x.l);
	}
}

/* A marker behind which no other one comes is a control word's: of those that
 * a frame may have, only its beginning and credits. */
static void markers_alone_announce_control_words(void **state)
{
	struct wire x;
	uint32_t n = 0;

	make(&x, APE_MOST);
	for (uint32_t i = 0; i < APE_MOST; i += 3 * APE_WORD)
		memcpy(x.l->data + i, ape_marker, APE_WORD);
	write(&x);
	for (uint32_t i = 0; i < x.n; i += APE_WORD) {
		if (memcmp(x.frame + i, ape_marker, APE_WORD) != 0)
			continue;
		i += APE_WORD;
		if (!memcmp(x.frame + i, ape_marker, APE_WORD))
			n++;
		else
			assert_true(x.frame[i] == 1 || x.frame[i] == 2);
	}
	assert_int_equal(n, ape_frame_doubled(x.l->data, APE_MOST));
	mem_free(x.l);
}

static enum ape_harm hit(struct wire *x, uint32_t n, const uint32_t *bit)
{
	x->l->flips.n = (uint8_t)n;
	for (uint32_t i = 0; i < n; i++)
		x->l->flips.place[i] = bit[i];
	return ape_frame_judge(&x->p, x->l, x->got);
}

/* APE-G8.  Each bit of the wire in turn: one of the first three words drops the
 * packet, none behind them does, and none of its data is taken for good. */
static void every_flipped_bit_is_found_where_it_matters(void **state)
{
	uint32_t bit, seen[4] = { 0 };
	struct wire x;

	make(&x, 100);
	memory_fill_by(1, 9, 0, x.l->data, 100);
	write(&x);
	for (bit = 0; bit < 10 * x.n; bit++) {
		enum ape_harm harm = hit(&x, 1, &bit);

		seen[harm]++;
		if (bit < BITS)
			assert_int_equal(harm, APE_BAD_HEADER);
		if (bit >= 2 * BITS && bit < 3 * BITS)
			assert_true(harm == APE_BAD_HEADER ||
				    harm == APE_BAD_FOOTER);
		if (bit >= 3 * BITS)
			assert_int_not_equal(harm, APE_BAD_HEADER);
	}
	assert_int_equal(seen[APE_ESCAPED], 0);
	/* of four words of 176 in credits, and the end */
	assert_true(seen[APE_SOUND] < 4 * BITS);
	assert_true(seen[APE_BAD_FOOTER] > 7 * BITS);
	mem_free(x.l);
}

/* A header whose bytes are others is dropped, whatever the rest is. */
static void a_damaged_header_is_always_found(void **state)
{
	struct wire x;

	make(&x, 64);
	write(&x);
	for (uint32_t k = 0; k < 20000; k++) {
		uint32_t flips = 1 + (uint32_t)draw(k, 3);

		memset(x.got, 0, sizeof(x.got));
		for (uint32_t i = 0; i < flips; i++) {
			uint32_t bit = (uint32_t)draw(3 * k + i, 128);

			x.frame[2 * APE_WORD + bit / 8] ^=
				(uint8_t)(1 << bit % 8);
		}
		if (memcmp(x.frame + 2 * APE_WORD, x.plain + APE_WORD,
			    APE_WORD) != 0)
			assert_int_equal(
				ape_frame_read(x.got, x.frame, x.n, x.n),
				APE_BAD_HEADER);
		memcpy(x.frame + 2 * APE_WORD, x.plain + APE_WORD, APE_WORD);
	}
	mem_free(x.l);
}

/* Several flips, on several links: nothing changed is taken for good. */
static void what_several_flips_change_is_found(void **state)
{
	uint32_t bit[6], n, damaged = 0;
	struct wire x;

	make(&x, 512);
	memory_fill_by(1, 9, 0, x.l->data, 512);
	write(&x);
	for (uint32_t k = 0; k < 2000; k++) {
		enum ape_harm harm;

		n = 1 + (uint32_t)draw(k, 6);
		for (uint32_t i = 0; i < n; i++) {
			bit[i] = (uint32_t)draw(6 * k + i + 7, 10 * x.n);
			if (i && draw(k + i, 2))
				bit[i] |= FLIPS_NEXT_HOP;
		}
		harm = hit(&x, n, bit);
		assert_int_not_equal(harm, APE_ESCAPED);
		damaged += harm != APE_SOUND;
	}
	assert_true(damaged > 1800);
	mem_free(x.l);
}

TESTS(TEST(no_stream_holds_a_marker),
	TEST(what_is_named_is_made_where_it_is_hurt),
	TEST(ape_f20_any_payload_arrives_unchanged),
	TEST(markers_alone_announce_control_words),
	TEST(every_flipped_bit_is_found_where_it_matters),
	TEST(a_damaged_header_is_always_found),
	TEST(what_several_flips_change_is_found))
