/*
 * Events (QSN-F48): 32 bytes of card memory each, which count what has happened
 * and say what is to happen then.  weft/elan4.h describes them.
 *
 * The driver's table has those with numbers.  It belongs to no context, so its
 * events remember which one has armed them, and the bytes that the driver keeps
 * for their copies.  Others are in memory of a context, and anything may be
 * written there: they have the rights of whoever sets them.
 *
 * An event that fires writes a word, or has the event processor copy bytes.  A
 * word takes no time of the event processor: it is part of every message's end,
 * whose times are calibrated with it.
 */
#include "nic/elan4/units.h"

#include <string.h>

#define KEPT (UINT32_C(1) << 31) /* of the bytes: the driver keeps them */

static struct elan_events *events_of(const struct nic_at *a)
{
	return &elan_here(a)->events;
}

/* --- where they are --- */

bool elan_event_open(struct elan_node *n)
{
	struct elan_events *x = &n->events;

	if (!x->table)
		x->table = elan_sdram_take(&n->sdram,
			ELAN_EVENTS * sizeof(struct elan_event), MEMORY_PAGE);
	return x->table;
}

static bool is_in_table(uint32_t event)
{
	return event < ELAN_EVENTS;
}

static uint64_t address_of(const struct elan_node *n, uint32_t event)
{
	if (is_in_table(event))
		return n->events.table + event * sizeof(struct elan_event);
	return ELAN_CARD_AT +
	       (uint64_t)(event - ELAN_EVENTS) * sizeof(struct elan_event);
}

bool elan_event_may(const struct elan_node *n, uint32_t context, uint32_t event)
{
	return is_in_table(event) ||
	       (event < ELAN_EVENT_NAMES &&
		       elan_may(n, context, address_of(n, event),
			       sizeof(struct elan_event)));
}

enum { IN_PAGE = MEMORY_PAGE / sizeof(struct elan_event) };

/* Where it is; one that was never armed is zeros. */
static struct elan_event *cell_of(struct elan_node *n, uint32_t event)
{
	struct elan_events *x = &n->events;
	uint32_t first = event - event % IN_PAGE;

	if (!is_in_table(event))
		return (void *)elan_sdram_place(
			&n->sdram, address_of(n, event));
	if (!x->cell || first != x->first) {
		x->first = first;
		x->cell = (void *)elan_sdram_place(
			&n->sdram, address_of(n, first));
	}
	return &x->cell[event % IN_PAGE];
}

static bool is_sound(const struct nic_at *a, uint32_t event)
{
	return elan_sdram_is_sound(
		a, address_of(elan_here(a), event), sizeof(struct elan_event));
}

/* --- arming --- */

void elan_event_give(struct elan_node *n, uint64_t at, uint32_t bytes)
{
	static const uint8_t zeros[ELAN_COPY_MOST];

	memory_write(n->sdram.memory, MEMORY_NIC, at, zeros, bytes);
	elan_sdram_give(&n->sdram, at, bytes);
}

static bool is_kept(uint32_t event, const struct elan_event *e)
{
	return is_in_table(event) && e->bytes & KEPT;
}

/* Arms it, if the context may; drops what was kept for it. */
static enum elan_error arm(
	const struct nic_at *a, uint32_t event, const struct elan_event *to)
{
	struct elan_event *e;

	if (!event)
		return ELAN_ERROR_COMMAND;
	if (!elan_event_may(elan_here(a), to->context, event))
		return ELAN_ERROR_ADDRESS;
	e = cell_of(elan_here(a), event);
	if (!is_sound(a, event))
		return ELAN_ERROR_MEMORY;
	if (is_in_table(event) && e->count && e->context != to->context)
		return ELAN_ERROR_RIGHT;
	if (is_kept(event, e))
		elan_event_give(elan_here(a), e->from, e->bytes & ~KEPT);
	elan_cache_write(a, ELAN_BY_EVENT, address_of(elan_here(a), event),
		sizeof(*to), a->t);
	*e = *to;
	return ELAN_FINE;
}

static int64_t count_of(uint64_t word)
{
	return word < INT64_MAX ? (int64_t)word : INT64_MAX;
}

enum elan_error elan_event_arm(const struct nic_at *a, uint32_t context,
	uint32_t event, const uint64_t *word)
{
	const struct elan_event to = {
		.count = count_of(word[0]),
		.to = word[1],
		.from = word[2],
		.context = context,
	};

	if (event &&
		(word[1] % 8 || !elan_may(elan_here(a), context, word[1], 8)))
		return ELAN_ERROR_ADDRESS;
	return arm(a, event, &to);
}

/* Whether a context's copies may go there. */
static bool is_target(
	const struct nic_at *a, uint32_t context, uint64_t at, uint32_t bytes)
{
	return at % 8 == 0 &&
	       (elan_may(elan_here(a), context, at, bytes) ||
		       elan_queue_mapped(elan_here(a), context, at, bytes));
}

enum elan_error elan_event_arm_from(const struct nic_at *a, uint32_t context,
	uint32_t event, uint32_t bytes, const uint64_t *word)
{
	const struct elan_event to = {
		.count = count_of(word[0]),
		.to = word[1],
		.from = word[2],
		.bytes = bytes,
		.context = context,
	};

	if (!event || !elan_copy_is_valid(bytes))
		return ELAN_ERROR_COMMAND;
	if (!is_target(a, context, word[1], bytes) || word[2] % 8 ||
		!elan_may(elan_here(a), context, word[2], bytes))
		return ELAN_ERROR_ADDRESS;
	return arm(a, event, &to);
}

/* Keeps the bytes that a queue has just taken out; 0: there is no room. */
static uint64_t keep(
	const struct nic_at *a, const struct elan_queue *q, uint32_t bytes)
{
	uint64_t at = elan_sdram_take(&elan_here(a)->sdram, bytes, ELAN_GRAIN);
	uint64_t words[ELAN_COPY_MOST / 8];

	if (!at)
		return 0;
	for (uint32_t i = 0; i < bytes / 8; i++)
		words[i] = elan_queue_word(q, q->taken - bytes + 8 * i);
	memory_write(elan_here(a)->sdram.memory, MEMORY_NIC, at, words, bytes);
	elan_cache_write(a, ELAN_BY_EVENT, at, bytes, a->t);
	return at;
}

enum elan_error elan_event_arm_copy(const struct nic_at *a,
	const struct elan_queue *q, uint32_t event, uint32_t bytes,
	const uint64_t *word)
{
	struct elan_event to = {
		.count = count_of(word[0]),
		.to = word[1],
		.context = q->context,
	};
	enum elan_error wrong;

	if (!event || !is_in_table(event))
		return ELAN_ERROR_COMMAND; /* nothing is kept for others */
	if (!is_target(a, q->context, word[1], bytes))
		return ELAN_ERROR_ADDRESS;
	wrong = arm(a, event, &to);
	if (wrong || !to.count)
		return wrong;
	to.from = keep(a, q, bytes);
	to.bytes = bytes | KEPT;
	if (!to.from)
		to = (struct elan_event){ 0 };
	*cell_of(elan_here(a), event) = to;
	return to.from ? ELAN_FINE : ELAN_ERROR_ROOM;
}

/* --- setting --- */

static void write_word(const struct nic_at *a, const struct elan_event *e)
{
	if (e->to % 8)
		elan_count(a)->errors[ELAN_ERROR_ADDRESS]++;
	else
		elan_word_to(a, e->context, e->to, e->from);
}

static void fire(const struct nic_at *a, const struct elan_event *e)
{
	const struct elan_copy c = {
		.address = e->to,
		.from = e->from,
		.context = e->context,
		.bytes = e->bytes & ~KEPT,
		.is_kept = e->bytes & KEPT,
	};

	elan_count(a)->fired++;
	if (!c.bytes)
		write_word(a, e);
	else if (elan_copy_is_valid(c.bytes) && (c.from | c.address) % 8 == 0)
		elan_copy_begin(a, &c);
	else
		elan_count(a)->errors[ELAN_ERROR_COMMAND]++;
}

static void on_line(const struct nic_at *a, uint32_t id)
{
	struct elan_events *x = events_of(a);
	const struct elan_firing f =
		*(struct elan_firing *)slots_at(&x->fired, id);

	slots_give(&x->fired, id);
	x->inside--;
	fire(a, &f.event);
}

static void fire_later(
	const struct nic_at *a, const struct elan_event *e, sim_time t)
{
	struct elan_events *x = events_of(a);
	uint32_t id = slots_take_any(&x->fired);

	((struct elan_firing *)slots_at(&x->fired, id))->event = *e;
	x->inside++;
	elan_card_then(a, t, on_line, id);
}

/* Those in a context's memory say nothing of rights that would hold. */
static struct elan_event with_rights(
	uint32_t event, const struct elan_event *e, uint32_t context)
{
	struct elan_event x = *e;

	if (is_in_table(event))
		return x;
	x.context = context;
	x.bytes &= ~KEPT;
	return x;
}

/* Whether a context may set it, and it is armed. */
static bool is_armed(const struct nic_at *a, uint32_t context, uint32_t event)
{
	const struct elan_event *e;

	/* 0 is none, and is never armed */
	if (!event || !events_of(a)->table)
		return false;
	if (!elan_event_may(elan_here(a), context, event)) {
		elan_count(a)->errors[ELAN_ERROR_ADDRESS]++; /* given back */
		return false;
	}
	if (!is_sound(a, event)) {
		elan_context_stop(a, context);
		return false;
	}
	e = cell_of(elan_here(a), event);
	return e->count > 0 && (!is_in_table(event) || e->context == context);
}

void elan_event_set(const struct nic_at *a, uint32_t context, uint32_t event,
	uint64_t count)
{
	struct elan_event *e, fired;
	sim_time t;

	if (!is_armed(a, context, event))
		return;
	e = cell_of(elan_here(a), event);
	t = elan_cache_change(a, ELAN_BY_EVENT, address_of(elan_here(a), event),
		sizeof(*e), a->t);
	if (count < (uint64_t)e->count) {
		e->count -= (int64_t)count;
		return;
	}
	fired = with_rights(event, e, context);
	e->count = 0;
	if (is_kept(event, e))
		e->bytes = 0;
	if (t > a->t)
		fire_later(a, &fired, t);
	else
		fire(a, &fired);
}

int64_t elan_event_count(const struct nic *nic, site_id s, uint32_t event)
{
	struct elan_node *n = nic->nodes[s];

	if (!n || !n->events.table || event >= ELAN_EVENTS)
		return 0;
	return cell_of(n, event)->count;
}
