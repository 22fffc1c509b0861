/*
 * A message's time between its program and the network, for the book of time
 * budgets (meas/budget.h):
 *
 *	from the program's call until its store leaves    software
 *	until it is at the unit                           descriptor
 *	until those before it in its FIFO are sent        queue at the card
 *	until the descriptor is in the unit               descriptor
 *	until an engine begins the packet                 engine
 *	until its payload is there                        memory read
 *	until it is in the network FIFO                   packet
 *	  ... the network ...
 *	until a reception engine has room for it          receiver
 *	through the engine, into memory                   memory write
 *	the counter                                       completion
 *
 * Kept only if there is a book; nothing here changes a time.
 */
#include "base/mem.h"
#include "base/ring.h"
#include "nic/bgq_mu/units.h"

/* A descriptor that a program has begun to write. */
struct birth {
	sim_time at;
	sim_time left; /* its store left the core; 0: not yet */
};

struct mu_account {
	struct ring births; /* struct birth, in order */
	sim_time wanted; /* the unit knew of the next descriptor */
	/* of the descriptor in the unit */
	struct book_message message;
	sim_time left, came, begun, fetched;
};

static struct book *book_of(const struct nic_at *a)
{
	return a->nic->net->book;
}

static struct mu_account *account(struct mu_node *n, uint32_t inj)
{
	if (!n->accounts)
		n->accounts = mem_alloc(MU_INJ_FIFOS, sizeof(*n->accounts));
	if (!n->accounts[inj]) {
		n->accounts[inj] = mem_alloc(1, sizeof(struct mu_account));
		ring_init(&n->accounts[inj]->births, sizeof(struct birth));
	}
	return n->accounts[inj];
}

void mu_account_free(struct mu_node *n)
{
	for (uint32_t i = 0; n->accounts && i < MU_INJ_FIFOS; i++) {
		if (n->accounts[i])
			ring_fini(&n->accounts[i]->births);
		mem_free(n->accounts[i]);
	}
	mem_free(n->accounts);
}

void mu_note_birth(struct nic *nic, site_id s, uint32_t inj, sim_time t)
{
	struct birth *b;

	if (!nic->net->book || inj >= MU_INJ_FIFOS)
		return;
	b = ring_push(&account(nic_node(nic, s), inj)->births);
	*b = (struct birth){ .at = t };
}

void mu_account_store(struct mu_node *n, uint32_t inj, sim_time t)
{
	struct mu_account *c;

	if (inj >= MU_INJ_FIFOS)
		return;
	c = account(n, inj);
	for (uint32_t k = c->births.n; k; k--) {
		struct birth *b = ring_at(&c->births, k - 1);

		if (b->left)
			break;
		b->left = t;
	}
}

void mu_account_want(const struct nic_at *a, uint32_t inj)
{
	account(mu_here(a), inj)->wanted = a->t;
}

static const enum book_kind kinds[] = {
	[MU_FIFO] = BOOK_SEND,
	[MU_PUT] = BOOK_PUT,
	[MU_GET] = BOOK_GET,
	[MU_PACED_GET] = BOOK_GET,
};

void mu_account_fetched(const struct nic_at *a, uint32_t inj)
{
	const struct mu_inj_fifo *f = mu_inj(mu_here(a), inj);
	struct mu_account *c = account(mu_here(a), inj);
	const struct birth *first = c->births.n ? ring_at(&c->births, 0) : NULL;
	struct birth b;

	/* one from a get, or from bare stores, begins in the unit */
	b = (struct birth){ .at = c->wanted, .left = c->wanted };
	if (first && first->left)
		b = *(const struct birth *)ring_pop(&c->births);
	c->left = b.left;
	c->begun = c->wanted;
	c->came = b.left + mu_of(a)->params.mmio_store;
	if (c->came > c->begun)
		c->came = c->begun;
	c->fetched = a->t;
	if (!mu_is_prefetch(&f->descriptor))
		c->message = book_message(book_of(a), a->s,
			kinds[mu_packet_type(&f->descriptor.header)],
			(uint32_t)f->n_packets, b.at);
}

void mu_account_packet(const struct nic_at *a, uint32_t engine,
	const struct mu_job *job, packet_id id)
{
	struct book *k = book_of(a);
	const struct mu_account *c = account(mu_here(a), job->inj);

	book_open(k, id, &c->message);
	book_at_one(k, id, a->s, "injection FIFO", job->inj);
	book_until(k, id, CAUSE_SOFTWARE, c->left);
	book_until(k, id, CAUSE_DESCRIPTOR, c->came);
	book_until(k, id, CAUSE_CARD, c->begun);
	book_until(k, id, CAUSE_DESCRIPTOR, c->fetched);
	book_until(k, id, CAUSE_ENGINE, job->started);
	book_at_one(k, id, a->s, "injection engine", engine);
	book_until(k, id, CAUSE_MEMORY_READ, job->read);
	book_until(k, id, CAUSE_PACKET, a->t);
}

void mu_account_pulled(const struct nic_at *a, uint32_t engine, packet_id id)
{
	struct book *k = book_of(a);
	sim_time free = a->t - mu_of(a)->params.pull;

	if (free > book_at(k, id))
		book_until(k, id, CAUSE_RECEIVER, free);
	book_at_one(k, id, a->s, "reception engine", engine);
}
