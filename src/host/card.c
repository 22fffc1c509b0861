#define _GNU_SOURCE
#include "host/card.h"

#include "base/err.h"
#include "host/node.h"
#include "sim/fiber.h"

enum { FIRST_POOL = 256 }; /* each is twice as large as the one before */

struct card_thread {
	struct program program; /* what runs; none of the host's own */
	struct card_thread *next; /* of the node's */
	struct card_thread *next_free; /* of those that have ended */
	struct fiber_pool *pool;
	uint32_t fiber;
};

/* --- fibers: the host's, shared by its nodes --- */

static uint32_t pool_size(uint32_t i)
{
	return (uint32_t)FIRST_POOL << i;
}

static void add_pool(struct host *h, struct card_fibers *f, struct err *e)
{
	if (f->n_pools == CARD_POOLS) {
		err_set_code(e, EXIT_LIMIT,
			"more threads on cards than the model allows");
		return;
	}
	f->pool[f->n_pools] =
		fiber_pool_new(pool_size(f->n_pools), h->stack_bytes, e);
	if (!f->pool[f->n_pools])
		return;
	f->n_pools++;
	f->used = 0;
}

/* Called rarely: a node keeps what it has got. */
static void take_fiber(struct host *h, struct card_thread *c)
{
	struct card_fibers *f = &h->card_fibers;
	struct err e = { 0 };

	pthread_mutex_lock(&f->lock);
	if (!f->n_pools || f->used == pool_size(f->n_pools - 1))
		add_pool(h, f, &e);
	if (!e.code) {
		c->pool = f->pool[f->n_pools - 1];
		c->fiber = f->used++;
	}
	pthread_mutex_unlock(&f->lock);
	if (e.code)
		err_raise(&e);
}

/* --- life --- */

void card_init(struct host *h)
{
	pthread_mutex_init(&h->card_fibers.lock, NULL);
}

void card_fini(struct host *h)
{
	struct card_fibers *f = &h->card_fibers;
	struct card_thread *c;

	while (f->n_pools)
		fiber_pool_free(f->pool[--f->n_pools]);
	pthread_mutex_destroy(&f->lock);
	for (site_id i = host_next(h, 0); i < h->n_nodes;
		i = host_next(h, i + 1)) {
		struct cards *k = h->nodes[i].cards;

		for (; k && k->all; k->all = c) {
			c = k->all->next;
			mem_free(k->all);
		}
		mem_free(k);
	}
}

uint64_t card_held(const struct node *n)
{
	const struct card_thread *c = n->cards ? n->cards->all : NULL;
	uint64_t sum = n->cards ? sizeof(*n->cards) : 0;

	for (; c; c = c->next)
		sum += sizeof(*c);
	return sum;
}

static struct cards *cards_of(struct host *h, site_id node)
{
	struct node *n = &h->nodes[node];

	if (!n->cards)
		n->cards = mem_alloc(1, sizeof(*n->cards));
	return n->cards;
}

/* --- threads --- */

static struct card_thread *new_thread(
	struct host *h, struct cards *k, site_id node)
{
	struct card_thread *c = mem_alloc(1, sizeof(*c));

	c->program.host = h;
	c->program.node = node;
	c->program.is_card = c->program.is_apart = true;
	take_fiber(h, c);
	c->next = k->all;
	k->all = c;
	return c;
}

struct card_thread *card_start(
	struct host *h, site_id node, void (*run)(void *arg), void *arg)
{
	struct cards *k = cards_of(h, node);
	struct card_thread *c = k->free;

	if (c)
		k->free = c->next_free;
	else
		c = new_thread(h, k, node);
	c->program.run = run;
	c->program.arg = arg;
	program_prepare(&c->program, c->pool, c->fiber);
	return c;
}

bool card_resume(struct card_thread *c, struct sim_worker *w, sim_time t)
{
	struct cards *k = node_of(&c->program)->cards;

	if (!program_enter(&c->program, c->pool, c->fiber, w, t))
		return false;
	c->next_free = k->free;
	k->free = c;
	return true;
}

void card_suspend(void)
{
	const struct program *p = program_current();
	const struct card_thread *c = (const struct card_thread *)p;

	BUG_IF(!p || !p->is_card);
	fiber_suspend(c->pool, c->fiber);
}

sim_time *card_clock(struct card_thread *c)
{
	return &c->program.now;
}

void card_watch(
	struct host *h, site_id node, card_on_write *on_write, void *arg)
{
	struct cards *k = cards_of(h, node);

	k->on_write = on_write;
	k->arg = arg;
	poll_set_watched(h, &h->nodes[node]);
}
