#include "api/ape/stage.h"

#include <errno.h>

#include "base/ring.h"
#include "parts/gpus/gpus.h"

enum { HEADER = 64 };

/* The header of a chunk in a slot. */
struct chunk {
	uint64_t offset, bytes; /* where it goes */
	uint64_t total; /* of the transfer */
	uint64_t number; /* from its sender, ever */
	uint32_t key, tag;
	uint32_t is_copied, is_quiet, is_last;
	uint8_t unused[HEADER - 52];
};

_Static_assert(sizeof(struct chunk) == HEADER, "size");

struct ape_landing {
	sim_time begun, end;
	uint64_t from; /* its slot */
	uint32_t peer, node;
	uint32_t error;
	struct chunk chunk;
};

/* The peer to which an empty slot is to be reported. */
struct owed {
	uint32_t peer, node;
};

static const struct ape_params *params_of(const struct ape_stage *s)
{
	return s->user.nic->params;
}

/* How long to poll for a peer's count if faults may have lost it. */
static const sim_time PATIENCE = 100000000 * (sim_time)SIM_NS;

static struct host *host_of(const struct ape_stage *s)
{
	return s->user.nic->host;
}

/* --- memory: the queue, own slots, counts of those emptied, others' --- */

/* Whole lines of 64 bytes, which queues are aligned to. */
static uint64_t slot_bytes(const struct ape_params *p)
{
	return HEADER + (((uint64_t)p->chunk + 63) & ~UINT64_C(63));
}

static uint64_t own_slot(const struct ape_stage *s, uint64_t i)
{
	return s->at + ape_user_memory(s->user.nic) +
	       i % APE_SLOTS * slot_bytes(params_of(s));
}

/* Counts of a peer's chunks, offsets from own_slot(s, 0) on, which is where the
 * key's memory begins. */
enum count { EMPTIED, TOLD /* it has emptied of ours */, SENT, COUNTS = 4 };

static uint64_t count_at(
	const struct ape_stage *s, uint32_t peer, enum count which)
{
	return APE_SLOTS * slot_bytes(params_of(s)) +
	       8 * ((uint64_t)peer * COUNTS + which);
}

static uint64_t slot_at(const struct ape_stage *s, uint32_t peer, uint64_t i)
{
	return count_at(s, s->user.nic->n_nodes * s->n_processes, 0) +
	       ((uint64_t)peer * APE_SLOTS + i % APE_SLOTS) *
		       slot_bytes(params_of(s));
}

uint64_t ape_stage_memory(const struct nic *nic, uint32_t n_processes)
{
	uint64_t n = (uint64_t)nic->n_nodes * n_processes;
	uint64_t slot = slot_bytes(nic->params);

	return ape_user_memory(nic) + (n + 1) * APE_SLOTS * slot +
	       8 * COUNTS * n;
}

static uint32_t process_of(const struct ape_stage *s, uint32_t key)
{
	return (key >> APE_KEY_SHIFT) - s->first;
}

static uint32_t peer_of(
	const struct ape_stage *s, uint32_t node, uint32_t process)
{
	return node * s->n_processes + process;
}

static uint64_t count(
	const struct ape_stage *s, uint32_t peer, enum count which)
{
	uint64_t n = 0;

	program_read(own_slot(s, 0) + count_at(s, peer, which), &n, sizeof(n));
	return n;
}

/* Increments a count; returns its old value. */
static uint64_t add(const struct ape_stage *s, uint32_t peer, enum count which)
{
	uint64_t n = count(s, peer, which), more = n + 1;

	program_write(
		own_slot(s, 0) + count_at(s, peer, which), &more, sizeof(more));
	return n;
}

/* --- life --- */

static void on_event(void *arg, const struct workq_completion *c);

int ape_stage_open(struct ape_stage *s)
{
	struct nic *nic = nic_check(host_nic(program_host()), &apenet_ops);
	int code;

	s->user = (struct ape_user){
		.queue = s->first + s->process,
		.at = s->at,
		.heeds = s->heeds,
		.on_event = on_event,
		.arg = s,
	};
	ring_init(&s->landings, sizeof(struct ape_landing));
	ring_init(&s->owed, sizeof(struct owed));
	code = ape_user_open(&s->user);
	if (code)
		return code;
	s->user.n_keys = APE_STAGE_KEY;
	ape_enter(nic, s->user.node, ape_key(s->user.queue, APE_STAGE_KEY),
		own_slot(s, 0),
		ape_stage_memory(nic, s->n_processes) - ape_user_memory(nic));
	return 0;
}

void ape_stage_fini(struct ape_stage *s)
{
	ring_fini(&s->landings);
	ring_fini(&s->owed);
}

uint32_t ape_stage_register(struct ape_stage *s, uint64_t at, uint64_t bytes)
{
	return ape_user_register(
		&s->user, at, bytes, gpu_of(at) ? APE_GPU_KEY : 0);
}

/* --- chunks arrive --- */

/* The number of a peer's next chunk, unless chunks were lost; lower numbers are
 * old contents of the slot. */
static uint64_t expected(const struct ape_stage *s, uint32_t peer)
{
	uint64_t n = count(s, peer, EMPTIED);

	for (uint32_t i = 0; i < s->landings.n; i++) {
		const struct ape_landing *x = ring_at(&s->landings, i);

		n += x->peer == peer;
	}
	return n;
}

/* The error of a chunk: it is damaged, or there is no buffer for it. */
static uint32_t judge(const struct ape_stage *s, const struct ape_landing *x)
{
	const struct range *r =
		ape_buffer(s->user.nic, s->user.node, x->chunk.key);
	uint64_t all = r ? r->last - r->first + 1 : 0;

	if (x->from != own_slot(s, 0) + slot_at(s, x->peer, x->chunk.number) ||
		x->chunk.number - expected(s, x->peer) >= APE_SLOTS ||
		x->chunk.bytes > (uint64_t)params_of(s)->chunk)
		return APE_DAMAGED;
	if (!r)
		return APE_NO_BUFFER;
	if (x->chunk.offset > all || x->chunk.bytes > all - x->chunk.offset)
		return APE_OUTSIDE;
	return gpu_of(r->first) && ape_gpu_is_dead(s->user.nic, s->user.node,
					   gpu_of(r->first) - 1, program_now())
		       ? APE_UNREADABLE
		       : APE_OK;
}

static void land(struct ape_stage *s, const struct workq_completion *c)
{
	struct ape_landing x = {
		.from = own_slot(s, 0) + c->value,
		.node = APE_NODE(c->status),
		.peer = (uint32_t)c->id,
		.begun = program_now(),
		.end = program_now(),
	};
	const struct range *r;

	program_read(x.from, &x.chunk, HEADER);
	r = ape_buffer(s->user.nic, s->user.node, x.chunk.key);
	x.error = judge(s, &x);
	if (x.chunk.is_copied && !x.error)
		x.end += (sim_time)x.chunk.bytes * 1000000 /
			 (params_of(s)->copy_rate / 1000000);
	if (!x.error && gpu_of(r->first))
		x.end = gpu_copy(gpus_of(host_of(s)), s->user.node,
			gpu_of(r->first) - 1, GPU_IN, x.end, x.chunk.bytes);
	*(struct ape_landing *)ring_push(&s->landings) = x;
}

static void on_event(void *arg, const struct workq_completion *c)
{
	struct ape_stage *s = arg;
	uint32_t key = (uint32_t)(c->id >> 32);

	/* processes may put other bytes there */
	if (APE_EVENT(c->status) == APE_ARRIVED &&
		key == ape_key(s->user.queue, APE_STAGE_KEY) &&
		(uint32_t)c->id / s->n_processes == APE_NODE(c->status))
		land(s, c);
	else
		s->on_event(s->arg, c);
}

/* Reports an empty slot. */
static void tell_empty(struct ape_stage *s, const struct owed *x)
{
	uint32_t me = peer_of(s, s->user.node, s->process);
	uint32_t process = x->peer % s->n_processes;
	struct ape_command c = {
		.from = own_slot(s, 0) + count_at(s, x->peer, EMPTIED),
		.key = ape_key(s->first + process, APE_STAGE_KEY),
		.offset = count_at(s, me, TOLD),
	};

	ape_user_send(
		&s->user, c, APE_PUT, x->node, APE_QUIET, 8, program_now());
}

static void finish(struct ape_stage *s, const struct ape_landing *x)
{
	const struct chunk *k = &x->chunk;
	const struct range *r = ape_buffer(s->user.nic, s->user.node, k->key);
	struct workq_completion c = {
		.id = k->tag | (uint64_t)k->key << 32,
		.value = k->offset + k->bytes - k->total,
		.status = APE_STATUS(
			x->error ? APE_ERROR : APE_ARRIVED, x->error, x->node),
		.more = (uint32_t)k->total,
	};
	struct nic_at now;

	if (x->error == APE_DAMAGED) {
		c.id = (uint64_t)ape_key(s->user.queue, APE_STAGE_KEY) << 32;
		c.value = c.more = 0;
	}
	if (!x->error)
		program_move(r->first + k->offset, x->from + HEADER, k->bytes);
	now = nic_now(s->user.nic);
	ape_copied(&now, s->user.queue, x->begun, x->end);
	add(s, x->peer, EMPTIED);
	*(struct owed *)ring_push(&s->owed) = (struct owed){ x->peer, x->node };
	if (x->error || (k->is_last && !k->is_quiet))
		s->on_event(s->arg, &c);
}

bool ape_stage_step(struct ape_stage *s)
{
	bool did = ape_user_poll(&s->user);
	struct ape_landing x;

	while (s->landings.n) {
		x = *(struct ape_landing *)ring_at(&s->landings, 0);
		if (x.end > program_now())
			break;
		ring_pop(&s->landings);
		finish(s, &x);
		did = true;
	}
	return did;
}

void ape_stage_wait(struct ape_stage *s, sim_time deadline)
{
	const struct ape_landing *x;

	/* while there is nothing else to do */
	while (s->owed.n && !ape_user_has_event(&s->user)) {
		struct owed o = *(struct owed *)ring_pop(&s->owed);

		tell_empty(s, &o);
	}
	x = s->landings.n ? ring_at(&s->landings, 0) : NULL;
	if (x && x->end < deadline)
		deadline = x->end;
	ape_user_wait(&s->user, deadline);
}

/* --- chunks leave --- */

static sim_time begin_copy(struct ape_stage *s, enum ape_way way,
	const struct ape_put *p, uint64_t at, uint64_t *n)
{
	uint64_t chunk = (uint64_t)params_of(s)->chunk;
	sim_time end = program_now();

	*n = p->bytes - at < chunk ? p->bytes - at : chunk;
	if (gpu_of(p->from))
		end = gpu_copy(gpus_of(host_of(s)), s->user.node,
			gpu_of(p->from) - 1, GPU_OUT, end, *n);
	if (way == APE_COPIED)
		end += (sim_time)*n * 1000000 /
		       (params_of(s)->copy_rate / 1000000);
	return end;
}

/* Sends a chunk from one of its own slots. */
static uint32_t send_chunk(struct ape_stage *s, enum ape_way way,
	const struct ape_put *p, uint64_t slot, uint64_t at, uint64_t n,
	sim_time begun)
{
	bool is_last = at + n == p->bytes, is_gpu = p->key & APE_GPU_KEY;
	uint32_t to = peer_of(s, p->node, process_of(s, p->key));
	uint32_t me = peer_of(s, s->user.node, s->process);
	struct chunk k = {
		.offset = p->offset + at,
		.bytes = n,
		.total = p->bytes,
		.is_last = is_last,
		.key = p->key,
		.tag = p->tag,
		.is_copied = way == APE_COPIED,
		.is_quiet = p->is_quiet,
	};
	struct ape_command c = {
		.from = slot + HEADER,
		.key = p->key,
		.offset = p->offset + at,
		.tag = p->tag,
	};

	if (!is_gpu)
		return ape_user_send(&s->user, c, APE_PUT, p->node,
			p->is_quiet ? APE_QUIET : 0, n, begun);
	k.number = add(s, to, SENT);
	program_write(slot, &k, HEADER);
	c.from = slot;
	c.key = ape_key(s->first + process_of(s, p->key), APE_STAGE_KEY);
	c.offset = slot_at(s, me, k.number);
	c.tag = me;
	return ape_user_send(
		&s->user, c, APE_PUT, p->node, APE_GOES_ON, HEADER + n, begun);
}

static void wait_for_slot(struct ape_stage *s, const struct ape_put *p)
{
	uint32_t peer = peer_of(s, p->node, process_of(s, p->key));
	sim_time patience = SIM_NEVER;

	if (!(p->key & APE_GPU_KEY))
		return;
	/* faults may have taken the peer, or its count */
	if (s->user.nic->net->faults)
		patience = program_now() + PATIENCE;
	/* the peer's count arrives without an event, so poll */
	while (count(s, peer, SENT) - count(s, peer, TOLD) >= APE_SLOTS &&
		!ape_user_has_lost_card(&s->user)) {
		bool is_vain = program_now() >= patience;

		ape_stage_step(s);
		ape_stage_wait(s,
			is_vain ? SIM_NEVER
				: program_now() +
					  10 * params_of(s)->work.poll_period);
	}
}

static uint32_t send_chunks(
	struct ape_stage *s, enum ape_way way, const struct ape_put *p)
{
	uint32_t number[APE_SLOTS] = { 0 }, i;
	sim_time begun = program_now(), end, next;
	uint64_t at, n, m = 0;

	next = begin_copy(s, way, p, 0, &m);
	for (at = 0, i = 0; at < p->bytes || !i; at += n, i++) {
		uint64_t slot = own_slot(s, i);

		end = next;
		n = m;
		if (at + n < p->bytes)
			next = begin_copy(s, way, p, at + n, &m);
		program_wait(end);
		while (i >= APE_SLOTS &&
			!ape_user_is_done(&s->user, number[i % APE_SLOTS]) &&
			!ape_user_has_lost_card(&s->user)) {
			ape_stage_step(s);
			ape_stage_wait(s, SIM_NEVER);
			ape_stage_step(s);
		}
		s->user.copied = end;
		wait_for_slot(s, p);
		program_move(slot + HEADER, p->from + at, n);
		number[i % APE_SLOTS] =
			send_chunk(s, way, p, slot, at, n, begun);
		if (!n)
			break;
	}
	s->user.copied = 0;
	/* the next transfer uses the same slots */
	while (!ape_user_is_done(&s->user, s->user.posted - 1) &&
		!ape_user_has_lost_card(&s->user)) {
		ape_stage_wait(s, SIM_NEVER);
		ape_stage_step(s);
	}
	return s->user.posted - 1;
}

/* --- the choice --- */

static bool is_gpus(const struct ape_put *p)
{
	return gpu_of(p->from) || p->key & APE_GPU_KEY;
}

static enum ape_way choose(
	const struct ape_stage *s, enum ape_way way, const struct ape_put *p)
{
	const struct ape_params *n = params_of(s);

	if (!is_gpus(p))
		return APE_P2P;
	if (way == APE_AUTO && n->p2p && p->bytes <= (uint64_t)n->p2p_until)
		return APE_P2P;
	return way == APE_AUTO ? APE_STAGED : way;
}

int ape_stage_check(
	const struct ape_stage *s, enum ape_way way, const struct ape_put *p)
{
	if (way >= APE_WAYS ||
		(way == APE_P2P && !params_of(s)->p2p && is_gpus(p)))
		return ENOTSUP;
	return choose(s, way, p) != APE_P2P && gpu_of(p->from) &&
			       ape_gpu_is_dead(s->user.nic, s->user.node,
				       gpu_of(p->from) - 1, program_now())
		       ? EIO
		       : 0;
}

uint32_t ape_stage_put(
	struct ape_stage *s, enum ape_way way, const struct ape_put *p)
{
	struct ape_command c = {
		.from = p->from,
		.key = p->key,
		.offset = p->offset,
		.tag = p->tag,
	};

	if (choose(s, way, p) != APE_P2P)
		return send_chunks(s, choose(s, way, p), p);
	return ape_user_send(&s->user, c, APE_PUT, p->node,
		p->is_quiet ? APE_QUIET : 0, p->bytes, program_now());
}
