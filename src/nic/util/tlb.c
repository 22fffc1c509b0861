#include "nic/util/tlb.h"

#include "base/err.h"
#include "base/mem.h"

void tlb_init(struct tlb *t, uint32_t entries, uint32_t ways)
{
	*t = (struct tlb){ .ways = ways };
	if (!entries)
		return;
	BUG_IF(!ways || entries % ways);
	t->sets = entries / ways;
	BUG_IF(t->sets & (t->sets - 1));
}

void tlb_fini(struct tlb *t)
{
	for (uint32_t i = 0; t->set && i < t->sets; i++)
		mem_free(t->set[i]);
	mem_free(t->set);
}

uint64_t tlb_memory(const struct tlb *t)
{
	return t->set ? t->sets * sizeof(*t->set) +
				(uint64_t)t->n_used * t->ways * sizeof(**t->set)
		      : 0;
}

NIC_MEMBER_OPS(tlb, NULL);

static struct tlb_entry *set_to_use(struct tlb *t, uint64_t page)
{
	struct tlb_entry **set;

	if (!t->set)
		t->set = mem_alloc(t->sets, sizeof(*t->set));
	set = &t->set[page & (t->sets - 1)];
	if (!*set) {
		*set = mem_alloc(t->ways, sizeof(**set));
		t->n_used++;
	}
	return *set;
}

static struct tlb_entry *find(
	const struct tlb *t, uint32_t space, uint64_t page)
{
	struct tlb_entry *x = t->set ? t->set[page & (t->sets - 1)] : NULL;

	for (uint32_t i = 0; x && i < t->ways; i++)
		if (x[i].used && x[i].page == page && x[i].space == space)
			return &x[i];
	return NULL;
}

bool tlb_has(const struct tlb *t, uint32_t space, uint64_t page)
{
	return find(t, space, page);
}

struct tlb_entry *tlb_place(const struct tlb *t, uint32_t space, uint64_t page)
{
	return find(t, space, page);
}

bool tlb_look(struct tlb *t, uint32_t space, uint64_t page, uint64_t *frame)
{
	struct tlb_entry *x = find(t, space, page);

	if (!x) {
		t->misses++;
		return false;
	}
	t->hits++;
	x->used = ++t->uses;
	*frame = x->frame;
	return true;
}

void tlb_put(struct tlb *t, uint32_t space, uint64_t page, uint64_t frame)
{
	struct tlb_entry *x = find(t, space, page), *set;
	uint32_t i;

	if (!t->sets)
		return;
	set = set_to_use(t, page);
	for (i = 0; !x && i < t->ways; i++)
		if (!set[i].used)
			x = &set[i];
	if (!x)
		for (x = set, i = 1; i < t->ways; i++)
			if (set[i].used < x->used)
				x = &set[i];
	*x = (struct tlb_entry){
		.page = page, .frame = frame, .used = ++t->uses, .space = space
	};
}

uint32_t tlb_drop(struct tlb *t, uint32_t space, uint64_t first, uint64_t n)
{
	uint32_t dropped = 0;

	for (uint32_t i = 0; t->set && i < t->sets * t->ways; i++) {
		struct tlb_entry *x = t->set[i / t->ways];

		if (!x)
			continue;
		x += i % t->ways;
		if (!x->used || x->space != space || x->page - first >= n)
			continue;
		x->used = 0;
		dropped++;
	}
	return dropped;
}
