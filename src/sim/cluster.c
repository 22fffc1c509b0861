/* What processes send to each other, whichever way it travels. */
#include "sim/cluster.h"

#include "base/err.h"
#include "base/mem.h"

enum { FIRST_BYTES = 1024 };

void *cluster_add(struct cluster_bytes *b, size_t n)
{
	void *at;

	if (b->room - b->n < n) {
		b->room = 2 * (b->n + n) + FIRST_BYTES;
		b->at = mem_grow(b->at, b->room, 1);
	}
	at = b->at + b->n;
	b->n += n;
	return at;
}

void cluster_bytes_free(struct cluster_bytes *b)
{
	mem_free(b->at);
	*b = (struct cluster_bytes){ 0 };
}

int cluster_share_error(struct cluster *c, struct err *e)
{
	uint64_t first = e->code ? c->n - c->me : 0;

	c->ops->max(c, &first, 1);
	if (!first)
		return 0;
	c->ops->tell(c, (uint32_t)(c->n - first), e, sizeof(*e));
	return -1;
}
