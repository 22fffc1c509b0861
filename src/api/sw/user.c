#include "api/sw/user.h"

#include <errno.h>
#include <string.h>

/*
 * Where the driver keeps rings: memory of the node that is mapped into the
 * process that has the interface, and into no other.
 */
#define RINGS_AT (UINT64_C(1) << 52)

enum {
	RINGS = 2 << 20, /* bytes for an interface */
	AT_COMPLETIONS = 256 << 10,
	AT_SLOTS = 512 << 10,
	AT_LISTS = 1536 << 10,
};

static const struct memory_range rings = {
	.at = RINGS_AT,
	.bytes = (uint64_t)SWHNI_INTERFACES * RINGS,
	.kind = MEMORY_OF_HOST,
	.rights = MEMORY_MAY_ALL,
};

static const struct workq_params *params_of(const struct swv_user *u)
{
	return &((const struct swhni_params *)u->nic->params)->work;
}

/* --- open and close --- */

int swv_user_open(struct swv_user *u)
{
	struct swhni_setup s = {
		.job = u->job,
		.process = u->process,
		.wanted = u->wanted,
	};
	struct nic_at a;

	u->nic = nic_check(host_nic(program_host()), &swhni_ops);
	u->node = program_node();
	u->engine = s.engine = swhni_engine(u->nic, s.process);
	u->n_entries = u->n_slots = 0;
	s.vm = swhni_vm_of(u->nic, u->node, s.process);
	memory_add_range(host_at(program_host(), u->node), &rings); /* once */
	a = nic_now(u->nic);
	return swhni_open(&a, &s, &u->interface);
}

void swv_user_close(struct swv_user *u)
{
	struct nic_at a = nic_now(u->nic);

	swhni_take_back(&a, u->interface);
}

/* What an earlier owner has left there; memory that was never written stays
 * so. */
static void clear(uint64_t at, uint64_t bytes)
{
	static const uint8_t zeros[1024];
	uint8_t was[sizeof(zeros)];
	uint64_t n;

	for (; bytes; bytes -= n, at += n) {
		n = bytes < sizeof(zeros) ? bytes : sizeof(zeros);
		if (program_read(at, was, n) && memcmp(was, zeros, n) != 0)
			program_write(at, zeros, n);
	}
}

static void begin_anew(struct swv_user *u)
{
	u->posted = u->fetched = u->taken = u->told = 0;
	clear(u->completions_at,
		u->n_completions * sizeof(struct workq_completion));
}

int swv_user_open_send(
	struct swv_user *u, uint32_t n_entries, uint32_t n_completions)
{
	uint64_t own = RINGS_AT + (uint64_t)u->interface * RINGS;
	uint64_t at = u->rings_at ? u->rings_at : own;
	struct workq_rings r = {
		.owner = u->process,
		.n_entries = n_entries,
		.n_completions = n_completions,
		.entries_at = at,
		.completions_at =
			u->rings_at ? at + n_entries * sizeof(struct
							       swhni_descriptor)
				    : at + AT_COMPLETIONS,
	};
	struct nic_at a = nic_now(u->nic);
	int code = swhni_open_queues(&a, u->interface, &r);

	if (code)
		return code;
	u->n_entries = n_entries;
	u->n_completions = n_completions;
	u->entries_at = r.entries_at;
	u->completions_at = r.completions_at;
	begin_anew(u);
	return 0;
}

void swv_user_reset(struct swv_user *u)
{
	struct nic_at a = nic_now(u->nic);

	swhni_reset_queues(&a, u->interface);
	begin_anew(u);
}

int swv_user_open_receive(struct swv_user *u, uint32_t n_slots, uint64_t at)
{
	struct nic_at a = nic_now(u->nic);
	int code;

	if (!at)
		at = RINGS_AT + (uint64_t)u->interface * RINGS + AT_SLOTS;
	code = swhni_open_receive(&a, u->interface, at, n_slots);
	if (code)
		return code;
	u->n_slots = n_slots;
	u->slots_at = at;
	u->received = u->freed = u->returned = 0;
	for (uint32_t i = 0; i < n_slots; i++)
		clear(at + (uint64_t)i * SWHNI_SLOT, sizeof(uint64_t));
	return 0;
}

/* --- descriptors --- */

static void ring(struct swv_user *u, sim_time begun)
{
	struct nic_at a = nic_now(u->nic);

	u->told = u->taken;
	swhni_ring(&a, u->interface, u->process, u->posted, u->taken, begun,
		begun);
}

/* An id is the caller's and, above it, the descriptor's number; those of short
 * messages are others. */
#define NO_NUMBER (UINT64_C(1) << 63)

void swv_user_post(
	struct swv_user *u, struct swhni_descriptor *d, sim_time begun)
{
	uint32_t place = u->posted & (u->n_entries - 1);

	d->id = (d->id & UINT32_MAX) | (uint64_t)(u->posted & INT32_MAX) << 32;
	/* so that room is known of in time */
	if (place % (u->n_entries / 2 + !(u->n_entries / 2)) == 0)
		d->flags |= SWHNI_TELL;
	program_charge(params_of(u)->post);
	program_write(
		u->entries_at + (uint64_t)place * sizeof(*d), d, sizeof(*d));
	u->posted++;
	ring(u, begun);
}

int swv_user_fsm(struct swv_user *u, struct swhni_descriptor *d,
	const void *data, sim_time begun)
{
	struct nic_at a;

	d->id = (d->id & UINT32_MAX) |
		(uint64_t)(u->n_short++ & INT32_MAX) << 32 | NO_NUMBER;
	program_charge(params_of(u)->post);
	a = nic_now(u->nic);
	return swhni_fsm(&a, u->interface, u->process, d, data, begun, begun);
}

int swv_user_collect(struct swv_user *u, struct swhni_collective *c,
	const void *data, sim_time begun)
{
	struct nic_at a = nic_now(u->nic);

	c->id = (c->id & UINT32_MAX) |
		(uint64_t)(u->n_short++ & INT32_MAX) << 32 | NO_NUMBER;
	return swhni_collect(
		&a, u->interface, u->process, c, data, begun, begun);
}

uint64_t swv_user_lists(const struct swv_user *u)
{
	return RINGS_AT + (uint64_t)u->interface * RINGS + AT_LISTS;
}

/* --- completions and messages --- */

bool swv_user_next(
	const struct swv_user *u, uint32_t i, struct workq_completion *c)
{
	uint32_t number = u->taken + i;

	if (!u->n_entries)
		return false;
	host_read(u->nic->host, u->node,
		u->completions_at +
			(number & (u->n_completions - 1)) * sizeof(*c),
		c, sizeof(*c));
	return (uint32_t)c->number == number + 1;
}

bool swv_user_has_done(const struct swv_user *u)
{
	struct workq_completion c;

	return swv_user_next(u, 0, &c);
}

bool swv_user_would_ring(const struct swv_user *u, uint32_t i)
{
	return u->taken + i - u->told >= u->n_completions / 4;
}

/* Descriptors are fetched in order, so all before one that has completed
 * were. */
static void note_fetched(struct swv_user *u, uint64_t id)
{
	uint32_t next = (uint32_t)(id >> 32) + 1;

	if (!(id & NO_NUMBER) &&
		((next - u->fetched) & INT32_MAX) <= u->n_entries)
		u->fetched += (next - u->fetched) & INT32_MAX;
}

bool swv_user_poll(struct swv_user *u)
{
	struct workq_completion c;
	bool did = false;

	for (; swv_user_next(u, 0, &c); did = true) {
		u->taken++;
		if (SWHNI_EVENT_OF(c.status) == SWHNI_DONE)
			note_fetched(u, c.id);
		if (swv_user_would_ring(u, 0))
			ring(u, program_now());
		if (u->on_done)
			u->on_done(u->arg, &c);
	}
	return did;
}

static uint64_t slot_at(const struct swv_user *u, uint32_t number)
{
	return u->slots_at + (uint64_t)(number & (u->n_slots - 1)) * SWHNI_SLOT;
}

bool swv_user_has_message(const struct swv_user *u)
{
	uint64_t number = 0;

	if (!u->n_slots || u->received - u->freed == u->n_slots)
		return false;
	host_read(u->nic->host, u->node, slot_at(u, u->received), &number,
		sizeof(number));
	return (uint32_t)number == u->received + 1;
}

bool swv_user_peek(struct swv_user *u, struct swhni_slot *head, uint64_t *at)
{
	if (!swv_user_has_message(u))
		return false;
	*at = slot_at(u, u->received);
	program_read(*at, head, sizeof(*head));
	*at += sizeof(*head);
	return true;
}

void swv_user_free_slot(struct swv_user *u)
{
	struct nic_at a = nic_now(u->nic);

	u->freed++;
	if (u->freed - u->returned < (u->n_slots + 3) / 4)
		return;
	u->returned = u->freed;
	swhni_took(&a, u->interface, u->process, u->freed);
}

static bool has_any(void *arg, uint64_t *seen)
{
	*seen = 0;
	return swv_user_has_done(arg) || swv_user_has_message(arg);
}

struct poll_loop swv_user_loop(const struct swv_user *u)
{
	return nic_poll_loop(
		u->nic, params_of(u)->poll_period, params_of(u)->poll_load);
}

bool swv_user_wait(struct swv_user *u, sim_time deadline)
{
	PROGRAM_CALL("waiting for its interface", 0, 0);
	struct poll_loop loop;
	uint64_t seen;

	if (swv_user_has_done(u) || swv_user_has_message(u))
		return true;
	loop = swv_user_loop(u);
	loop.is_checked = true;
	return program_poll_before(has_any, u, loop, deadline, &seen);
}
