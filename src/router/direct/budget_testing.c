#include "router/direct/budget_testing.h"

#include <stdlib.h>

#include "base/mem.h"
#include "testing/testing.h"

static void on_message(void *arg, const struct book_account *a)
{
	struct ledger *l = arg;
	uint32_t i = atomic_fetch_add(&l->n, 1);

	assert_true(i < MOST);
	l->account[i] = *a;
}

static int compare(const void *x, const void *y)
{
	const struct book_account *a = x, *b = y;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->budget.at > b->budget.at) - (a->budget.at < b->budget.at);
}

struct booked booked_begin(struct rig_how how)
{
	struct booked b = { .ledger = mem_alloc(1, sizeof(*b.ledger)) };

	b.how = (struct book_how){
		.follows = true,
		.on_message = on_message,
		.arg = b.ledger,
	};
	how.book = &b.how;
	b.r = rig_new(&how);
	return b;
}

void booked_run(struct booked *b)
{
	rig_run(b->r);
	qsort(b->ledger->account, b->ledger->n, sizeof(struct book_account),
		compare);
}

void booked_end(struct booked *b)
{
	rig_free(b->r);
	mem_free(b->ledger);
}

void booked_check(const struct booked *b, uint32_t i, const sim_time *w)
{
	const struct budget *g = &b->ledger->account[i].budget;
	sim_time sum = 0;

	assert_true(i < b->ledger->n);
	for (uint32_t c = 0; c < N_CAUSES; c++) {
		if (g->spent[c] != w[c])
			fail_msg("message %u, %s: %lld ps, want %lld", i,
				causes[c].name, (long long)g->spent[c],
				(long long)w[c]);
		sum += w[c];
	}
	assert_true(g->at - g->start == sum);
}
