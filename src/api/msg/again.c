#include "api/msg/again.h"

#include <string.h>

struct again {
	struct slots posts;
	struct slot_list open; /* what goes to slots */
	bool is_open;
};

static void fini(void *kept)
{
	slots_fini(&((struct again *)kept)->posts);
}

static uint64_t held(const void *kept)
{
	return slots_memory(&((const struct again *)kept)->posts);
}

static const struct program_library library = { sizeof(struct again), fini,
	held };

struct again *again(void)
{
	struct again *a = program_keep(&library);

	if (!a->is_open) {
		a->is_open = true;
		slots_init(&a->posts, sizeof(struct again_post));
	}
	return a;
}

uint32_t again_add(struct again *a, struct gemini_post *p, uint32_t word)
{
	uint32_t id = slots_take(&a->posts);
	struct again_post *x = slots_at(&a->posts, id);

	p->data = id;
	x->post = *p;
	x->word = word;
	x->tries = AGAIN_TRIES;
	x->has_bytes = p->from;
	if (p->from) {
		memcpy(x->bytes, p->from, p->bytes);
		slots_push(&a->posts, &a->open, id);
	}
	return id;
}

struct again_post *again_find(struct again *a, uint32_t id)
{
	return slots_find(&a->posts, id);
}

void again_end(struct again *a, uint32_t id)
{
	if (again_find(a, id)->has_bytes)
		slots_remove(&a->posts, &a->open, id);
	slots_give(&a->posts, id);
}

bool again_is_busy(const struct again *a, const struct gemini_post *p)
{
	const struct again_post *x;
	uint32_t id;

	for (id = a->open.first; id; id = x->slot.next) {
		x = slots_at(&a->posts, id);
		if (x->post.node == p->node && x->post.handle == p->handle &&
			x->post.offset + x->post.bytes == p->offset + p->bytes)
			return true;
	}
	return false;
}
