/* Bursts of errors: many wrong bits side by side. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "link/faults.h"
#include "sim/random.h"

static uint64_t distance(
	struct faults *f, uint32_t link, uint32_t wire, uint32_t n)
{
	return faults_distance(
		f, f->burst[wire].rate, RANDOM_BURST, faults_key(f, link), n);
}

void faults_set_bursts(
	struct faults *f, const struct fault_plan *p, const struct topo *t)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++) {
		f->burst[i] = p->burst[i];
		any |= p->burst[i].rate;
	}
	if (!any)
		return;
	f->bursts = map_alloc(f->links.n * sizeof(*f->bursts));
	for (uint32_t link = 0; link < f->links.n; link++) {
		struct topo_end at = topo_link_end(&f->links, link);

		if (t->ops->peer(t, at.router, at.port).router != NO_ROUTER)
			f->bursts[link].left = distance(f, link,
				t->ops->wire(t, at.router, at.port),
				f->bursts[link].draws++);
	}
}

/* Its bits: a word of random ones for every 64. */
static uint32_t add_burst(const struct faults *f, uint32_t link, uint32_t draw,
	uint32_t length, uint32_t at, uint32_t bits, uint32_t *bit, uint32_t n,
	uint32_t room)
{
	uint64_t random = 0;

	for (uint32_t i = 0; i < length && at + i < bits && n < room; i++) {
		if (i % 64 == 0)
			random = random_draw(f->seed, faults_key(f, link),
				RANDOM_BURST,
				(uint64_t)(i / 64 + 1) << 32 | draw)
					 .b;
		if (!i || i + 1 == length || random >> i % 64 & 1)
			bit[n++] = at + i;
	}
	return n;
}

static int by_number(const void *a, const void *b)
{
	return order(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* A bit that is named twice has been flipped back. */
static uint32_t drop_pairs(uint32_t *bit, uint32_t n)
{
	uint32_t left = 0;

	qsort(bit, n, sizeof(*bit), by_number);
	for (uint32_t i = 0; i < n; i++) {
		if (i + 1 < n && bit[i] == bit[i + 1])
			i++;
		else
			bit[left++] = bit[i];
	}
	return left;
}

uint32_t faults_add_bursts(struct faults *f, uint32_t link, uint32_t wire,
	uint32_t bits, uint32_t *bit, uint32_t n, uint32_t room)
{
	struct fault_link *l = &f->bursts[link];
	uint32_t had = n;

	while (l->left < bits) {
		n = add_burst(f, link, l->draws, f->burst[wire].length,
			(uint32_t)l->left, bits, bit, n, room);
		l->left += 1 + distance(f, link, wire, l->draws++);
	}
	l->left -= bits;
	return n > had ? drop_pairs(bit, n) : n;
}
