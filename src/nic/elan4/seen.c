/*
 * What a receiver remembers of packets, so that none is executed twice: of
 * each sender's queue the last 64.  Of a packet with a test it remembers what
 * that said, and says so again: a no that is on its way to the sender must stay
 * true, though an older copy of the packet may still be under way.
 */
#include "base/mem.h"
#include "nic/elan4/parts.h"

static struct elan_seen *find(
	const struct elan_node *n, uint32_t src, uint32_t channel)
{
	uint64_t h =
		((uint64_t)src << 32 | channel) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(h >> 32) & (n->seen_room - 1);

	while (n->seen[i].is_used &&
		(n->seen[i].src != src || n->seen[i].channel != channel))
		i = (i + 1) & (n->seen_room - 1);
	return &n->seen[i];
}

static void grow(struct elan_node *n)
{
	struct elan_seen *old = n->seen;
	uint32_t room = n->seen_room, i;

	if (room && n->seen_n < room / 2)
		return;
	n->seen_room = room ? 2 * room : 16;
	n->seen = mem_alloc(n->seen_room, sizeof(*n->seen));
	for (i = 0; i < room; i++)
		if (old[i].is_used)
			*find(n, old[i].src, old[i].channel) = old[i];
	mem_free(old);
}

bool elan_seen_has(
	const struct elan_node *n, uint32_t src, struct elan_buffer *b)
{
	const struct elan_seen *s;
	uint32_t behind;

	if (!n->seen_room)
		return false;
	s = find(n, src, b->channel);
	behind = s->newest - b->sequence;
	if (!s->is_used || behind > UINT32_MAX / 2)
		return false;
	if (behind < 64 && !(s->mask >> behind & 1))
		return false;
	b->verdict = behind < 64 && s->denied >> behind & 1 ? ELAN_DENIED
							    : ELAN_ACKED;
	return true;
}

void elan_seen_add(
	struct elan_node *n, uint32_t src, const struct elan_buffer *b)
{
	struct elan_seen *s;
	uint32_t ahead;

	grow(n);
	s = find(n, src, b->channel);
	if (!s->is_used) {
		*s = (struct elan_seen){ .src = src,
			.channel = b->channel,
			.newest = b->sequence,
			.is_used = true };
		n->seen_n++;
	}
	ahead = b->sequence - s->newest;
	if (ahead <= UINT32_MAX / 2) {
		s->mask = ahead < 64 ? s->mask << ahead : 0;
		s->denied = ahead < 64 ? s->denied << ahead : 0;
		s->newest = b->sequence;
		ahead = 0;
	}
	s->mask |= UINT64_C(1) << -ahead % 64;
	if (b->verdict == ELAN_DENIED)
		s->denied |= UINT64_C(1) << -ahead % 64;
}
