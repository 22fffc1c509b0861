#include "nic/util/seen.h"

#include <string.h>

#include "base/bits.h"
#include "base/mem.h"

enum { LEAST = 16 };

struct seen_channel {
	uint32_t src, channel;
	uint32_t newest;
	bool is_used; /* the place in the table */
	bool has_word;
	uint64_t mask; /* bit i: newest - i has been here, and: */
	uint64_t denied; /* was told no */
	uint64_t word;
};

/*
 * Where channels have a longer memory, words follow the table: for each channel
 * a ring of bits, where number n has bit n modulo the span, of those that were
 * here, and one of those that were told no.
 */
static size_t bytes_of(const struct seen *s, uint32_t room)
{
	return room * (sizeof(*s->channel) + s->span / 64 * 2 * 8);
}

void seen_init(struct seen *s, uint32_t span)
{
	BUG_IF(span < 64 || !bits_is_power(span));
	*s = (struct seen){ .span = span };
}

void seen_fini(struct seen *s)
{
	mem_free(s->channel);
}

uint64_t seen_memory(const struct seen *s)
{
	return bytes_of(s, s->room);
}

NIC_MEMBER_OPS(seen, NULL);

static struct seen_channel *find(
	const struct seen *s, uint32_t src, uint32_t channel)
{
	uint64_t h =
		((uint64_t)src << 32 | channel) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(h >> 32) & (s->room - 1);

	while (s->channel[i].is_used &&
		(s->channel[i].src != src || s->channel[i].channel != channel))
		i = (i + 1) & (s->room - 1);
	return &s->channel[i];
}

static uint64_t *long_of(const struct seen *s, const struct seen_channel *c)
{
	uint64_t *first = (uint64_t *)(s->channel + s->room);

	return first + (size_t)(c - s->channel) * (s->span / 64 * 2);
}

static void move(
	struct seen *s, const struct seen *old, const struct seen_channel *c)
{
	struct seen_channel *to = find(s, c->src, c->channel);

	*to = *c;
	if (s->span)
		memcpy(long_of(s, to), long_of(old, c), s->span / 64 * 2 * 8);
}

static void grow(struct seen *s)
{
	struct seen old = *s;
	uint32_t room = s->room;

	if (room && s->n < room / 2)
		return;
	s->room = room ? 2 * room : LEAST;
	s->channel = mem_alloc(1, bytes_of(s, s->room));
	for (uint32_t i = 0; i < room; i++)
		if (old.channel[i].is_used)
			move(s, &old, &old.channel[i]);
	mem_free(old.channel);
}

static bool is_marked(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static enum seen_answer find_long(const struct seen *s,
	const struct seen_channel *c, uint32_t behind, uint32_t number)
{
	const uint64_t *bits = long_of(s, c);
	uint32_t i = number % s->span;

	if (behind < s->span && !is_marked(bits, i))
		return SEEN_NOT;
	return behind < s->span && is_marked(bits, s->span + i) ? SEEN_NO
								: SEEN_YES;
}

enum seen_answer seen_find(
	const struct seen *s, uint32_t src, uint32_t channel, uint32_t number)
{
	const struct seen_channel *c;
	uint32_t behind;

	if (!s->room)
		return SEEN_NOT;
	c = find(s, src, channel);
	behind = c->newest - number;
	if (!c->is_used || behind > UINT32_MAX / 2)
		return SEEN_NOT;
	if (s->span)
		return find_long(s, c, behind, number);
	if (behind < 64 && !(c->mask >> behind & 1))
		return SEEN_NOT;
	return behind < 64 && c->denied >> behind & 1 ? SEEN_NO : SEEN_YES;
}

/* Numbers that come anew take the places of those that are too old now. */
static void forget(
	const struct seen *s, uint64_t *bits, uint32_t newest, uint32_t number)
{
	uint32_t n = number - newest;

	n = n < s->span ? n : s->span;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = (number - i) % s->span;

		bits[k / 64] &= ~(UINT64_C(1) << k % 64);
		bits[(s->span + k) / 64] &= ~(UINT64_C(1) << k % 64);
	}
}

static void add_long(
	struct seen *s, struct seen_channel *c, uint32_t number, bool is_yes)
{
	uint64_t *bits = long_of(s, c);
	uint32_t i = number % s->span;

	if (number - c->newest <= UINT32_MAX / 2) {
		forget(s, bits, c->newest, number);
		c->newest = number;
	}
	bits[i / 64] |= UINT64_C(1) << i % 64;
	if (!is_yes)
		bits[(s->span + i) / 64] |= UINT64_C(1) << i % 64;
}

void seen_add(struct seen *s, uint32_t src, uint32_t channel, uint32_t number,
	bool is_yes)
{
	struct seen_channel *c;
	uint32_t ahead;

	grow(s);
	c = find(s, src, channel);
	if (!c->is_used) {
		*c = (struct seen_channel){ .src = src,
			.channel = channel,
			.newest = number,
			.is_used = true };
		s->n++;
	}
	if (s->span) {
		add_long(s, c, number, is_yes);
		return;
	}
	ahead = number - c->newest;
	if (ahead <= UINT32_MAX / 2) {
		c->mask = ahead < 64 ? c->mask << ahead : 0;
		c->denied = ahead < 64 ? c->denied << ahead : 0;
		c->newest = number;
		ahead = 0;
	}
	c->mask |= UINT64_C(1) << -ahead % 64;
	if (!is_yes)
		c->denied |= UINT64_C(1) << -ahead % 64;
}

enum seen_answer seen_take(
	struct seen *s, uint32_t src, uint32_t channel, uint32_t number)
{
	struct seen_channel *c =
		s->n < s->room / 2 && !s->span ? find(s, src, channel) : NULL;
	uint32_t ahead = c && c->is_used ? number - c->newest : 0;
	enum seen_answer was;

	/* most often it is the next one of a channel, or nearly */
	if (ahead - 1 < 63) {
		c->mask = c->mask << ahead | 1;
		c->denied <<= ahead;
		c->newest = number;
		return SEEN_NOT;
	}
	was = seen_find(s, src, channel, number);
	if (was == SEEN_NOT)
		seen_add(s, src, channel, number, true);
	return was;
}

void seen_note(
	struct seen *s, uint32_t src, uint32_t channel, const uint64_t *word)
{
	struct seen_channel *c = find(s, src, channel);

	c->has_word = word != NULL;
	c->word = word ? *word : 0;
}

bool seen_noted(
	const struct seen *s, uint32_t src, uint32_t channel, uint64_t *word)
{
	const struct seen_channel *c = find(s, src, channel);

	*word = c->word;
	return c->has_word;
}
