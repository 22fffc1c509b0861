/*
 * Input queues (QSN-F59, QSN-G13).  A sender names a queue by its number, and
 * knows no address.  In card memory a queue is
 *
 *	descriptor   64 bytes: front, back, the first free slot, ...
 *	slot         32 bytes of header, then up to 2 KB of data
 *	slot         ...
 *
 * A slot begins free.  The first packet of a message takes it (*coming*); when
 * all bytes are there, the message joins the end of the queue (*waiting*), and
 * a thread that waits for it goes on, or an event is set.  A thread takes it
 * out (*taken*) and, when it needs the bytes no longer, frees it.  So messages
 * leave in any order; the slot that was freed last is taken first, since its
 * lines are in the cache.
 *
 * The bytes of headers and descriptors are in card memory for threads to read.
 * What the card itself relies on is in the struct, since a program may write
 * there.
 */
#include "nic/elan4/units.h"

#include <errno.h>

#include "base/mem.h"

enum { DESCRIPTOR = 64 };

/* As threads see it; numbers of slots are 1 + slot, 0 is none. */
struct header {
	uint64_t next; /* in its list */
	uint64_t tag;
	uint32_t source, channel; /* a sender's command queue, by its name */
	uint16_t bytes, number;
	uint8_t kind, state;
	uint16_t slot;
};

struct descriptor {
	uint64_t front, back, free;
	uint64_t first; /* address of the first slot */
	uint32_t bytes, n_slots, event, context;
};

_Static_assert(sizeof(struct header) == ELAN_SLOT_HEADER, "four words");
_Static_assert(sizeof(struct descriptor) <= DESCRIPTOR, "one line");

/* --- life --- */

static void queue_free(struct elan_iq *q)
{
	if (q)
		mem_free(q->asked);
	mem_free(q);
}

static void elan_iqs_fini(struct elan_iqs *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		queue_free(x->queue[i]);
	mem_free(x->queue);
}

static uint64_t queue_memory(const struct elan_iq *q)
{
	uint64_t each = sizeof(*q->slot);

	if (!q)
		return 0;
	each += q->asked ? sizeof(*q->asked) : 0;
	return sizeof(*q) + q->n_slots * each;
}

static uint64_t elan_iqs_memory(const struct elan_iqs *x)
{
	uint64_t sum = x->n * sizeof(struct elan_iq *);

	for (uint32_t i = 0; i < x->n; i++)
		sum += queue_memory(x->queue[i]);
	return sum;
}

NIC_MEMBER_OPS(elan_iqs, NULL);

/* --- card memory --- */

static uint64_t slot_at(const struct elan_iq *q, uint32_t slot)
{
	return q->at + DESCRIPTOR + (uint64_t)slot * q->stride;
}

uint64_t elan_iq_data(const struct elan_iq *q, uint32_t slot)
{
	return slot_at(q, slot) + ELAN_SLOT_HEADER;
}

/* Pages stay where they are. */
static struct header *header(
	struct elan_node *n, struct elan_iq *q, uint32_t slot)
{
	struct elan_slot *x = &q->slot[slot];

	if (__builtin_expect(!x->header, 0))
		x->header = elan_sdram_place(&n->sdram, slot_at(q, slot));
	return x->header;
}

/* --- lists of slots --- */

static void save(const struct elan_iq *q)
{
	struct descriptor *d = q->descriptor;

	d->front = q->front;
	d->back = q->back;
	d->free = q->free;
}

static void set_next(struct elan_node *n, struct elan_iq *q, uint32_t slot,
	uint32_t next, enum elan_slot_state state)
{
	struct header *h = header(n, q, slot);

	q->slot[slot].next = (uint16_t)next;
	q->slot[slot].state = (uint8_t)state;
	h->next = next;
	h->state = (uint8_t)state;
}

static uint32_t take_free(struct elan_node *n, struct elan_iq *q)
{
	uint32_t slot = q->free - 1u;

	q->free = q->slot[slot].next;
	q->used++;
	set_next(n, q, slot, 0, ELAN_SLOT_COMING);
	save(q);
	return slot;
}

static void give_free(struct elan_node *n, struct elan_iq *q, uint32_t slot)
{
	set_next(n, q, slot, q->free, ELAN_SLOT_FREE);
	q->free = (uint16_t)(slot + 1);
	q->used--;
	save(q);
}

static void push(struct elan_node *n, struct elan_iq *q, uint32_t slot)
{
	set_next(n, q, slot, 0, ELAN_SLOT_WAITING);
	if (q->back)
		set_next(n, q, q->back - 1u, slot + 1, ELAN_SLOT_WAITING);
	else
		q->front = (uint16_t)(slot + 1);
	q->back = (uint16_t)(slot + 1);
	save(q);
}

static uint32_t pop(struct elan_node *n, struct elan_iq *q)
{
	uint32_t slot = q->front - 1u;

	q->front = q->slot[slot].next;
	if (!q->front)
		q->back = 0;
	set_next(n, q, slot, 0, ELAN_SLOT_TAKEN);
	save(q);
	return slot;
}

/* --- the driver --- */

static struct elan_iq *queue_new(uint32_t slots, uint32_t bytes)
{
	struct elan_iq *q = mem_alloc(1, sizeof(*q) + slots * sizeof(*q->slot));
	uint32_t stride = ELAN_SLOT_HEADER + bytes;

	q->n_slots = slots;
	q->bytes = bytes;
	q->stride = (stride + ELAN_GRAIN - 1) / ELAN_GRAIN * ELAN_GRAIN;
	return q;
}

static void set_up(struct elan_node *n, struct elan_iq *q)
{
	q->descriptor = elan_sdram_place(&n->sdram, q->at);
	*(struct descriptor *)q->descriptor = (struct descriptor){
		.first = slot_at(q, 0),
		.bytes = q->bytes,
		.n_slots = q->n_slots,
		.event = q->event,
		.context = q->context,
	};
	q->used = q->n_slots;
	for (uint32_t i = q->n_slots; i; i--) {
		header(n, q, i - 1)->slot = (uint16_t)(i - 1);
		give_free(n, q, i - 1);
	}
}

struct elan_iq *elan_iq_search(
	const struct elan_node *n, uint32_t context, uint32_t id)
{
	for (uint32_t i = 0; i < n->inputs.n; i++) {
		struct elan_iq *q = n->inputs.queue[i];

		if (q && q->id == id && q->context == context)
			return q;
	}
	return NULL;
}

static void add_queue(struct elan_iqs *x, struct elan_iq *q)
{
	uint32_t place = 0;

	while (place < x->n && x->queue[place])
		place++;
	if (place == x->n)
		x->queue = mem_grow(x->queue, ++x->n, sizeof(*x->queue));
	q->place = (uint16_t)place;
	x->queue[place] = q;
}

int elan_input_open(struct nic *nic, site_id s, uint32_t context,
	const struct elan_iq_options *i)
{
	struct elan_node *n = nic_node(nic, s);
	struct elan_iq *q;

	if (i->id >= ELAN_INPUTS || !i->slots || i->slots > ELAN_SLOTS_MOST ||
		i->bytes < 8 || i->bytes > ELAN_SLOT_MOST || i->bytes % 8 ||
		i->event >= ELAN_EVENTS || context >= ELAN_CONTEXTS)
		return EINVAL;
	if (elan_iq(n, context, i->id))
		return EBUSY;
	q = queue_new(i->slots, i->bytes);
	q->at = elan_memory_keep(nic, s, context,
		DESCRIPTOR + (uint64_t)i->slots * q->stride, ELAN_GRAIN);
	if (!q->at) {
		queue_free(q);
		return ENOMEM;
	}
	if (i->asks)
		elan_question_open(q);
	q->id = (uint16_t)i->id;
	q->event = i->event;
	q->context = context;
	set_up(n, q);
	add_queue(&n->inputs, q);
	return 0;
}

/*
 * A sender that ends between two packets of a message leaves a slot that no
 * message will have.  Others may have it when it would have given up, twice.
 */
static void drop_forsaken(
	struct nic *nic, struct elan_node *n, struct elan_iq *q, sim_time t)
{
	sim_time patience = 2 * resend_longest(&((struct elan *)nic)->resend);

	for (uint32_t i = 0; q->coming && i < q->n_slots; i++) {
		if (q->slot[i].state != ELAN_SLOT_COMING ||
			t - q->slot[i].last < patience)
			continue;
		q->coming--;
		n->counts.forsaken++;
		give_free(n, q, i);
	}
}

/* Whether it has so many slots, perhaps of messages that nobody sends any
 * more. */
static bool has_slots(const struct nic_at *a, struct elan_iq *q, uint32_t need)
{
	if (q->used + need > q->n_slots && q->coming)
		drop_forsaken(a->nic, a->node, q, a->t);
	return q->used + need <= q->n_slots;
}

int elan_input_close(struct nic *nic, site_id s, uint32_t context, uint32_t id)
{
	struct elan_node *n = nic_node(nic, s);
	struct elan_iq *q = elan_iq(n, context, id);

	if (!q)
		return EINVAL;
	if (q->coming)
		drop_forsaken(nic, n, q, program_now());
	if (q->used || elan_thread_wants(n, q))
		return EBUSY;
	elan_memory_drop(nic, s, q->at);
	n->inputs.queue[q->place] = NULL;
	queue_free(q);
	return 0;
}

/* --- packets --- */

static struct elan_iq *queue_of(
	const struct nic_at *a, const struct elan_piece *p)
{
	return p->what == ELAN_ENQUEUE
		       ? elan_iq(elan_here(a), p->context, elan_input_of(p))
		       : NULL;
}

static uint32_t total(const struct elan_piece *p)
{
	return (uint32_t)(p->back >> 32);
}

bool elan_iq_allows(const struct nic_at *a, const struct elan_buffer *b,
	const struct elan_piece *p)
{
	const struct elan_iq *q = queue_of(a, p);

	return q && total(p) <= q->bytes &&
	       (!q->asked || elan_question_is_alone(b));
}

/* The slot that a packet's message has, or n_slots. */
static uint32_t find_coming(const struct elan_iq *q,
	const struct elan_buffer *b, const struct elan_piece *p)
{
	uint32_t i = 0, left = q->coming;

	for (; left && i < q->n_slots; i++) {
		const struct elan_slot *x = &q->slot[i];

		if (x->state != ELAN_SLOT_COMING)
			continue;
		if (x->source == elan_sender_of(p) &&
			x->channel == b->channel &&
			x->number == (uint16_t)p->count)
			return i;
		left--;
	}
	return left ? i : q->n_slots;
}

/* Whether an earlier transaction of the packet is of the same message. */
static bool is_begun(const struct elan_buffer *b, uint32_t i)
{
	const struct elan_piece *p = &b->piece[i];

	for (uint32_t k = 0; k < i; k++)
		if (b->piece[k].what == ELAN_ENQUEUE &&
			b->piece[k].event == p->event &&
			b->piece[k].context == p->context &&
			(uint16_t)b->piece[k].count == (uint16_t)p->count)
			return true;
	return false;
}

/* Of a queue that asks: it takes one message. */
static bool takes_question(
	const struct nic_at *a, struct elan_iq *q, const struct elan_buffer *b)
{
	bool is_coming = find_coming(q, b, &b->piece[0]) < q->n_slots;

	return elan_question_may_come(q, b, is_coming) &&
	       (is_coming || has_slots(a, q, 1));
}

bool elan_iq_takes(const struct nic_at *a, const struct elan_buffer *b)
{
	for (uint32_t i = 0; i < b->n_pieces; i++) {
		struct elan_iq *q = queue_of(a, &b->piece[i]);
		uint32_t need = 0;

		if (__builtin_expect(q && q->asked, 0))
			return takes_question(a, q, b);
		for (uint32_t k = 0; q && k <= i; k++)
			need += queue_of(a, &b->piece[k]) == q &&
				!is_begun(b, k) &&
				find_coming(q, b, &b->piece[k]) == q->n_slots;
		if (q && need && !has_slots(a, q, need))
			return false;
	}
	return true;
}

/* Takes a slot for a message of so many bytes. */
static uint32_t reserve(const struct nic_at *a, struct elan_iq *q,
	const struct header *what, sim_time asked)
{
	uint32_t slot = take_free(elan_here(a), q);
	struct elan_slot *x = &q->slot[slot];
	struct header *h = header(elan_here(a), q, slot);

	x->source = what->source;
	x->channel = what->channel;
	x->number = what->number;
	x->left = what->bytes;
	x->note = 0;
	x->is_out = false;
	x->asks = ELAN_ASKS_NOT;
	x->asked = asked;
	x->last = a->t;
	q->coming++;
	h->tag = what->tag;
	h->source = what->source;
	h->channel = what->channel;
	h->bytes = what->bytes;
	h->number = what->number;
	h->kind = what->kind;
	return slot;
}

static uint32_t reserve_for(const struct nic_at *a, struct elan_iq *q,
	const struct elan_buffer *b, const struct elan_piece *p)
{
	const struct header h = {
		.tag = p->address,
		.source = elan_sender_of(p),
		.channel = b->channel,
		.bytes = (uint16_t)total(p),
		.number = (uint16_t)p->count,
		.kind = (uint8_t)(p->count >> 16),
	};

	return reserve(a, q, &h, b->asked);
}

bool elan_iq_asks(const struct nic_at *a, const struct elan_buffer *b)
{
	const struct elan_iq *q = queue_of(a, &b->piece[0]);

	return q && q->asked && find_coming(q, b, &b->piece[0]) == q->n_slots;
}

void elan_iq_ask(const struct nic_at *a, const struct packet *p,
	const struct elan_buffer *b)
{
	elan_question_keep(a, p, b, queue_of(a, &b->piece[0]));
}

void elan_iq_reserve(const struct nic_at *a, struct elan_buffer *b)
{
	for (uint32_t i = 0; i < b->n_pieces; i++) {
		struct elan_piece *p = &b->piece[i];
		struct elan_iq *q = queue_of(a, p);
		uint32_t slot;

		if (!q)
			continue;
		slot = find_coming(q, b, p);
		if (slot == q->n_slots)
			slot = reserve_for(a, q, b, p);
		q->slot[slot].last = a->t;
		p->address = slot; /* its tag is in the slot */
	}
}

/* It can be seen: a thread takes it, or an event tells of it. */
static void show(const struct nic_at *a, uint32_t id)
{
	struct elan_iq *q = elan_iq_at(elan_here(a), id >> 16);
	uint32_t slot = id & 0xffff;

	if (q->slot[slot].note)
		elan_note(a, q->slot[slot].note)->shown = a->t;
	push(elan_here(a), q, slot);
	elan_count(a)->messages++;
	elan_event_set(a, q->context, q->event, 1);
	elan_thread_on_message(a, q);
}

/* All its bytes are there, or those that ask; t is when the last ones are in
 * card memory. */
static void complete(
	const struct nic_at *a, struct elan_iq *q, uint32_t slot, sim_time t)
{
	sim_time changed = elan_cache_change(a, ELAN_BY_INPUT, q->at, 8, a->t);

	t = t > changed ? t : changed;
	q->coming--;
	q->slot[slot].state = ELAN_SLOT_WHOLE;
	if (t > a->t)
		elan_card_then(a, t, show, (uint32_t)q->place << 16 | slot);
	else
		show(a, (uint32_t)q->place << 16 | slot);
}

/* The input writes whole lines, so that none has to be fetched. */
static sim_time write_lines(const struct nic_at *a, const struct elan_iq *q,
	uint32_t slot, uint32_t offset, uint32_t bytes)
{
	uint32_t line = elan_of(a)->cache.line;
	uint64_t from = elan_iq_data(q, slot) + offset;
	uint64_t end = from + bytes;

	from = offset ? from : slot_at(q, slot);
	from -= from % line;
	end = (end + line - 1) / line * line;
	return elan_cache_write(
		a, ELAN_BY_INPUT, from, (uint32_t)(end - from), a->t);
}

/* Executes one transaction; true if its message is complete. */
static bool put(const struct nic_at *a, const struct elan_buffer *b,
	const struct elan_piece *p, sim_time *t)
{
	struct elan_iq *q = queue_of(a, p);
	uint32_t slot = (uint32_t)p->address, offset = (uint32_t)p->back;
	struct elan_slot *x = &q->slot[slot];

	if (p->bytes)
		elan_sdram_write(a, a->t, elan_iq_data(q, slot) + offset,
			b->data + p->at, p->bytes);
	if (elan_of(a)->cache.is_on)
		*t = write_lines(a, q, slot, offset, p->bytes);
	x->left =
		(uint16_t)(x->left - (p->bytes < x->left ? p->bytes : x->left));
	return !x->left && x->state == ELAN_SLOT_COMING;
}

void elan_iq_put(const struct nic_at *a, packet_id id, uint32_t i)
{
	struct elan_buffer *b = elan_buffer(a, id);
	const struct elan_piece *p = &b->piece[i];
	struct elan_iq *q = queue_of(a, p);
	sim_time t = a->t;

	if (!q || (!put(a, b, p, &t) && !(b->asks && i + 1u == b->n_pieces)))
		return;
	if (nic_has_book(a) && !b->is_held) {
		b->is_held = true;
		q->slot[p->address].note =
			elan_account_slot(a, id, (uint32_t)p->address);
	}
	complete(a, q, (uint32_t)p->address, t);
}

/* A message of one packet, of which nothing has come: others of a message may
 * count on its slot. */
void elan_iq_cancel(
	const struct nic_at *a, const struct elan_buffer *b, uint32_t i)
{
	for (; i < b->n_pieces; i++) {
		const struct elan_piece *p = &b->piece[i];
		struct elan_iq *q = queue_of(a, p);

		if (!q || total(p) > ELAN_PACKET || (uint32_t)p->back ||
			q->slot[p->address].left != total(p))
			continue;
		q->coming--;
		give_free(elan_here(a), q, (uint32_t)p->address);
	}
}

/* --- messages of the own process --- */

static struct elan_iq *queue_for(
	const struct nic_at *a, const struct elan_queue *q, uint64_t word)
{
	return elan_iq(elan_here(a), q->context, elan_high(word) & 0xffff);
}

bool elan_iq_has_room(
	const struct nic_at *a, struct elan_queue *q, uint64_t word)
{
	struct elan_iq *to = queue_for(a, q, word);

	if (!to || has_slots(a, to, 1))
		return true;
	to->blocks = true;
	elan_queue_block(elan_here(a), q);
	return false;
}

enum elan_error elan_iq_add(const struct nic_at *a, const struct elan_queue *q,
	const uint64_t *word)
{
	struct elan_iq *to = queue_for(a, q, word[0]);
	const struct header h = {
		.tag = word[1],
		.source = elan_rank_of(a, q),
		.channel = q->name,
		.bytes = (uint16_t)elan_low(word[0]),
		.number = (uint16_t)(word[0] >> 48),
		.kind = (uint8_t)(word[0] >> ELAN_KIND & 15),
	};
	sim_time t = a->t;
	uint32_t slot;

	if (!to || h.bytes > to->bytes)
		return ELAN_ERROR_REFUSED;
	slot = reserve(a, to, &h, a->t);
	if (h.bytes)
		elan_sdram_write(
			a, a->t, elan_iq_data(to, slot), word + 2, h.bytes);
	if (elan_of(a)->cache.is_on)
		t = write_lines(a, to, slot, 0, h.bytes);
	complete(a, to, slot, t);
	return ELAN_FINE;
}

/* --- threads --- */

void elan_iq_await(const struct nic_at *a, struct elan_iq *q, uint32_t slot)
{
	set_next(elan_here(a), q, slot, 0, ELAN_SLOT_COMING);
	q->coming++;
}

uint32_t elan_iq_take(const struct nic_at *a, struct elan_iq *q)
{
	return pop(elan_here(a), q);
}

void elan_iq_read(const struct nic_at *a, struct elan_iq *q, uint32_t slot,
	struct elan_message *m)
{
	const struct header *h = header(elan_here(a), q, slot);

	*m = (struct elan_message){
		.at = elan_iq_data(q, slot),
		.tag = h->tag,
		.source = h->source,
		.bytes = h->bytes < q->bytes ? h->bytes : q->bytes,
		.queue = q->id,
		.slot = slot,
		.number = h->number,
		.kind = h->kind,
		.asks = q->slot[slot].asks,
		.left = q->slot[slot].left,
	};
}

void elan_iq_free(const struct nic_at *a, struct elan_iq *q, uint32_t slot)
{
	give_free(elan_here(a), q, slot);
	if (!q->blocks)
		return;
	q->blocks = false;
	elan_queue_unblock_all(a);
}
