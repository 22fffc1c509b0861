#include "load/traffic/pieces.h"

struct whole {
	struct slot slot;
	uint32_t left;
	sim_time born;
};

void pieces_init(struct pieces *p)
{
	p->index = (struct index){ 0 };
	slots_init(&p->slots, sizeof(struct whole));
}

void pieces_fini(struct pieces *p)
{
	index_fini(&p->index);
	slots_fini(&p->slots);
}

bool pieces_take(struct pieces *p, uint64_t what, uint32_t of, sim_time *born)
{
	uint32_t id = index_find(&p->index, what);
	struct whole *x;

	if (!id) {
		id = slots_take(&p->slots);
		index_add(&p->index, what, id);
		x = slots_at(&p->slots, id);
		x->left = of;
		x->born = *born;
	}
	x = slots_at(&p->slots, id);
	if (*born < x->born)
		x->born = *born;
	*born = x->born;
	if (--x->left)
		return false;
	index_remove(&p->index, what);
	slots_give(&p->slots, id);
	return true;
}
