#include "nic/util/seen.h"

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

void seen_fini(struct seen *s)
{
	mem_free(s->channel);
}

uint64_t seen_memory(const struct seen *s)
{
	return s->room * sizeof(*s->channel);
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

static void grow(struct seen *s)
{
	struct seen_channel *old = s->channel;
	uint32_t room = s->room;

	if (room && s->n < room / 2)
		return;
	s->room = room ? 2 * room : LEAST;
	s->channel = mem_alloc(s->room, sizeof(*s->channel));
	for (uint32_t i = 0; i < room; i++)
		if (old[i].is_used)
			*find(s, old[i].src, old[i].channel) = old[i];
	mem_free(old);
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
	if (behind < 64 && !(c->mask >> behind & 1))
		return SEEN_NOT;
	return behind < 64 && c->denied >> behind & 1 ? SEEN_NO : SEEN_YES;
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
