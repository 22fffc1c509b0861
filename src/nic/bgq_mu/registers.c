/*
 * The slave port: loads and stores of eight bytes, one after the other in the
 * order of their arrival, while the rest of the unit goes on (BGQ-F103).  A
 * refused store changes nothing.
 */
#include "nic/bgq_mu/units.h"

#include "base/mem.h"

/* --- kinds --- */

/* Kinds of registers that exist once for each FIFO, ... */
static bool is_inj(uint32_t kind)
{
	return kind <= MU_INJ_STOPPED;
}

static bool is_rec(uint32_t kind)
{
	return kind >= MU_REC_START && kind <= MU_REC_FREE;
}

static bool is_of_subgroup(uint32_t kind)
{
	return kind >= MU_INJ_OWNED && kind <= MU_REC_ARRIVED;
}

enum { OF_UNIT = 1 << 16 }; /* above any sub-group that can be named */

/* The sub-group of a register, which may not exist. */
static uint32_t subgroup_of(uint32_t kind, uint32_t id)
{
	if (is_inj(kind) || kind == MU_BASE)
		return id / MU_PER_SUBGROUP;
	if (is_rec(kind))
		return id / MU_REC_PER_SUBGROUP;
	return is_of_subgroup(kind) ? id : OF_UNIT;
}

/* Whether a user may store to it: thresholds, tails, heads, bases, and
 * interrupts of FIFOs. */
static bool is_users(uint32_t kind, uint32_t id)
{
	if (kind == MU_GI_CONTROL)
		return id < MU_GI_SYSTEM;
	if (subgroup_of(kind, id) >= MU_SYSTEM_SUBGROUP)
		return false;
	switch (kind) {
	case MU_INJ_THRESHOLD:
	case MU_INJ_TAIL:
	case MU_REC_THRESHOLD:
	case MU_REC_HEAD:
	case MU_BASE:
	case MU_INJ_CROSSED:
	case MU_REC_CROSSED:
	case MU_REC_ARRIVED:
		return true;
	default:
		return false;
	}
}

/* --- loads --- */

static uint64_t load_inj(const struct mu_inj_fifo *f, uint32_t kind)
{
	switch (kind) {
	case MU_INJ_START:
		return f->start;
	case MU_INJ_SIZE:
		return f->size;
	case MU_INJ_ENABLE:
		return f->is_enabled;
	case MU_INJ_ATTRIBUTES:
		return f->attributes;
	case MU_INJ_THRESHOLD:
		return f->threshold;
	case MU_INJ_TAIL:
		return f->tail;
	case MU_INJ_HEAD:
		return f->head;
	case MU_INJ_FREE:
		return mu_inj_room(f, f->tail);
	case MU_INJ_COUNT:
		return f->count;
	case MU_INJ_FETCHED:
		return f->fetched;
	default:
		return f->state == MU_INJ_HALTED;
	}
}

static uint64_t load_rec(const struct mu_rec_fifo *f, uint32_t kind)
{
	switch (kind) {
	case MU_REC_START:
		return f->start;
	case MU_REC_SIZE:
		return f->size;
	case MU_REC_ENABLE:
		return f->is_enabled;
	case MU_REC_THRESHOLD:
		return f->threshold;
	case MU_REC_HEAD:
		return f->size ? f->start + f->head % f->size : 0;
	case MU_REC_TAIL:
		return f->size ? f->start + f->tail % f->size : 0;
	default:
		return mu_rec_free(f);
	}
}

static uint64_t load_upc(const struct mu_node *n, uint32_t event, uint32_t unit)
{
	bool is_engine = unit < MU_NET_FIFOS, is_port = unit < MU_MAX_PORTS;

	switch (event) {
	case MU_UPC_PACKETS_IN:
		return is_engine ? n->packets_in[unit] : 0;
	case MU_UPC_MESSAGES_IN:
		return n->messages_in;
	case MU_UPC_PACKETS_OUT:
		return is_engine ? n->packets_out[unit] : 0;
	case MU_UPC_MESSAGES_OUT:
		return n->messages_out;
	case MU_UPC_REQUESTS:
		return is_port ? n->port[unit].side.requests : 0;
	case MU_UPC_OUTSTANDING:
		return is_port ? (uint64_t)n->port[unit].side.outstanding : 0;
	case MU_UPC_BYPASSED:
		return is_port ? n->port[unit].side.bypassed : 0;
	case MU_UPC_REJECTED:
		return n->rejected;
	case MU_UPC_SLAVE_READS:
		return n->slave_reads;
	case MU_UPC_SLAVE_WRITES:
		return n->slave_writes;
	default:
		return 0;
	}
}

/* Of a sender's counter: all that its channels have ever sent. */
static uint64_t sent(
	struct nic *nic, site_id s, const struct mu_node *n, uint32_t counter)
{
	return net_counters(nic->net, s, counter / MU_SENDER_COUNTERS,
		n->sent[counter].channels, 0)
		.sent_bytes;
}

static uint64_t load_sent(
	struct nic *nic, site_id s, const struct mu_node *n, uint32_t counter)
{
	return n->sent && counter < MU_SENT
		       ? sent(nic, s, n, counter) - n->sent[counter].before
		       : 0;
}

static uint64_t load_range(const struct mu_range *r, uint32_t kind)
{
	return kind == MU_RANGE_FIRST  ? r->first
	       : kind == MU_RANGE_LAST ? r->last
				       : r->rights;
}

static uint64_t load_unit(const struct mu_node *n, uint32_t kind, uint32_t id)
{
	switch (kind) {
	case MU_RANGE_FIRST:
	case MU_RANGE_LAST:
	case MU_RANGE_RIGHTS:
		return id < MU_RANGES ? load_range(&n->range[id], kind) : 0;
	case MU_INT_STATUS:
		return n->status;
	case MU_INT_MASK:
		return n->mask;
	case MU_INT_GROUP:
		return id < MU_GROUPS ? n->group[id] : 0;
	case MU_INT_PENDING:
		return id < MU_GROUPS ? n->status & n->mask & n->group[id] : 0;
	case MU_ERROR_COUNT:
		return id < MU_INTERRUPTS ? n->errors[id] : 0;
	case MU_ERROR_ADDRESS:
		return n->error_address;
	case MU_ERROR_NUMBER:
		return n->error_number;
	case MU_UPC:
		return load_upc(n, id >> 8, id & 0xff);
	case MU_SENT_CHANNELS:
		return n->sent && id < MU_SENT ? n->sent[id].channels : 0;
	default:
		return 0;
	}
}

uint64_t mu_peek(struct nic *nic, site_id s, uint32_t reg)
{
	struct mu_node *n = nic_node(nic, s);
	uint32_t kind = (reg & ~MU_PRIVILEGED) >> 16, id = reg & 0xffff;
	uint32_t sub = subgroup_of(kind, id);
	struct mu_subgroup *g;

	if (kind == MU_UPC && id >> 8 == MU_UPC_SENT)
		return load_sent(nic, s, n, id & 0xff);
	if (kind >= MU_GI_ROUTE)
		return mu_barrier_load(nic, s, kind, id);
	if (sub == OF_UNIT)
		return kind == MU_TIMEOUT ? mu_dcr_timeout(nic, s, id)
					  : load_unit(n, kind, id);
	g = mu_subgroup(n, sub);
	if (!g)
		return 0;
	if (is_inj(kind))
		return load_inj(&g->inj[id % MU_PER_SUBGROUP], kind);
	if (is_rec(kind))
		return load_rec(&g->rec[id % MU_REC_PER_SUBGROUP], kind);
	return kind == MU_BASE ? g->base[id % MU_PER_SUBGROUP]
			       : *mu_mask(g, kind);
}

uint64_t mu_registers_load(struct nic *nic, site_id s, uint32_t reg)
{
	struct mu_node *n = nic_node(nic, s);

	n->slave_reads++;
	return mu_peek(nic, s, reg);
}

/* --- stores: the error, or MU_INTERRUPTS --- */

static bool is_quiet(const struct mu_inj_fifo *f)
{
	return f->state == MU_INJ_IDLE && !f->is_enabled &&
	       !(f->gets && window_span(&f->gets->window));
}

static enum mu_interrupt store_place(
	struct mu_inj_fifo *f, uint32_t kind, uint64_t value)
{
	if (!is_quiet(f) || value % MU_DESCRIPTOR_BYTES)
		return MU_ERROR_REGISTER;
	f->start = kind == MU_INJ_START ? value : f->start;
	f->size = kind == MU_INJ_SIZE ? value : f->size;
	f->head = f->tail = f->get_tail = f->start;
	return MU_INTERRUPTS;
}

/* A tail may go as far as there is room. */
static enum mu_interrupt store_tail(struct mu_inj_fifo *f, uint64_t value)
{
	uint64_t ahead;

	if (f->attributes & MU_INJ_REMOTE_GET || value % MU_DESCRIPTOR_BYTES ||
		value < f->start || value - f->start >= f->size)
		return MU_ERROR_REGISTER;
	ahead = value >= f->tail ? value - f->tail
				 : f->size - (f->tail - value);
	if (ahead / MU_DESCRIPTOR_BYTES > mu_inj_room(f, f->tail))
		return MU_ERROR_OVERRUN;
	f->tail = f->get_tail = value;
	return MU_INTERRUPTS;
}

static enum mu_interrupt store_enable(struct mu_inj_fifo *f, uint64_t value)
{
	if (value > 1 || f->size < 2 * MU_DESCRIPTOR_BYTES)
		return MU_ERROR_REGISTER;
	if (!value && f->state == MU_INJ_HALTED) {
		if (f->in_flight)
			return MU_ERROR_REGISTER;
		f->state = MU_INJ_IDLE;
	}
	f->is_enabled = value;
	return MU_INTERRUPTS;
}

/* All of them or none. */
static enum mu_interrupt store_enable_group(
	struct mu_node *n, uint32_t group, uint64_t mask)
{
	uint32_t first = group * MU_PER_GROUP;

	if (first >= MU_INJ_FIFOS || mask >> MU_PER_GROUP)
		return MU_ERROR_REGISTER;
	for (uint32_t i = 0; i < MU_PER_GROUP; i++)
		if (mask >> i & 1 &&
			mu_inj(n, first + i)->size < 2 * MU_DESCRIPTOR_BYTES)
			return MU_ERROR_REGISTER;
	for (uint32_t i = 0; i < MU_PER_GROUP; i++)
		if (mask >> i & 1)
			mu_inj(n, first + i)->is_enabled = true;
	return MU_INTERRUPTS;
}

static enum mu_interrupt store_inj(
	struct mu_inj_fifo *f, uint32_t kind, uint64_t value)
{
	switch (kind) {
	case MU_INJ_START:
	case MU_INJ_SIZE:
		return store_place(f, kind, value);
	case MU_INJ_ENABLE:
		return store_enable(f, value);
	case MU_INJ_ATTRIBUTES:
		/* While a FIFO is in a set of its level it may not leave it. */
		if (!is_quiet(f) || value > (MU_INJ_HIGH | MU_INJ_REMOTE_GET))
			return MU_ERROR_REGISTER;
		f->attributes = (uint8_t)value;
		if (f->level != MU_LEVEL_SYSTEM)
			f->level = (uint8_t)mu_level_of(0, f->attributes);
		return MU_INTERRUPTS;
	case MU_INJ_THRESHOLD:
		f->threshold = value;
		return MU_INTERRUPTS;
	case MU_INJ_TAIL:
		return store_tail(f, value);
	default:
		return MU_ERROR_REGISTER;
	}
}

static enum mu_interrupt store_head(struct mu_rec_fifo *f, uint64_t value)
{
	uint64_t ahead;

	if (!f->size || value % MU_CHUNK || value < f->start ||
		value - f->start >= f->size)
		return MU_ERROR_REGISTER;
	ahead = (value - f->start + f->size - f->head % f->size) % f->size;
	if (ahead > f->tail - f->head)
		return MU_ERROR_OVERRUN;
	f->head += ahead;
	return MU_INTERRUPTS;
}

static enum mu_interrupt store_rec(
	struct mu_rec_fifo *f, uint32_t kind, uint64_t value)
{
	bool is_quiet = !f->is_enabled && !window_span(&f->order.window);

	switch (kind) {
	case MU_REC_START:
	case MU_REC_SIZE:
		if (!is_quiet || value % MU_CHUNK)
			return MU_ERROR_REGISTER;
		f->start = kind == MU_REC_START ? value : f->start;
		f->size = kind == MU_REC_SIZE ? value : f->size;
		f->head = f->tail = f->shadow = 0;
		return MU_INTERRUPTS;
	case MU_REC_ENABLE:
		if (value > 1 || f->size < 2 * MU_CHUNK)
			return MU_ERROR_REGISTER;
		f->is_enabled = value;
		return MU_INTERRUPTS;
	case MU_REC_THRESHOLD:
		f->threshold = value;
		return MU_INTERRUPTS;
	case MU_REC_HEAD:
		return store_head(f, value);
	default:
		return MU_ERROR_REGISTER;
	}
}

/* Sets owners, clears interrupts. */
static enum mu_interrupt store_mask(
	struct mu_subgroup *g, uint32_t kind, uint64_t value)
{
	uint8_t *mask = mu_mask(g, kind);

	if (value > 0xff)
		return MU_ERROR_REGISTER;
	*mask = (uint8_t)(kind <= MU_BASE_OWNED ? value : *mask & ~value);
	return MU_INTERRUPTS;
}

static enum mu_interrupt store_fault(
	struct mu_node *n, uint32_t id, uint64_t value)
{
	if (id >= MU_FLIPS || __builtin_popcountll(value) > 2)
		return MU_ERROR_REGISTER;
	if (!n->flips)
		n->flips = mem_alloc(MU_FLIPS, sizeof(*n->flips));
	n->flips[id] = value;
	return MU_INTERRUPTS;
}

static enum mu_interrupt store_sent(
	const struct nic_at *a, uint32_t id, uint64_t value)
{
	struct mu_node *n = a->node;

	if (id >= MU_SENT || value >> (MU_SYSTEM + 1))
		return MU_ERROR_REGISTER;
	if (!n->sent)
		n->sent = mem_alloc(MU_SENT, sizeof(*n->sent));
	n->sent[id].channels = (uint32_t)value;
	n->sent[id].before = sent(a->nic, a->s, n, id);
	return MU_INTERRUPTS;
}

void mu_registers_open(struct mu_node *n)
{
	const struct mu_range *r = &n->range[0];
	bool is_open = !r->first && r->rights == MU_ALL_RIGHTS;

	n->open_end = is_open && r->last < UINT64_MAX ? r->last + 1 : 0;
}

static enum mu_interrupt store_range(
	struct mu_node *n, uint32_t kind, struct mu_range *r, uint64_t value)
{
	if (kind == MU_RANGE_FIRST)
		r->first = value;
	else if (kind == MU_RANGE_LAST)
		r->last = value;
	else
		r->rights = (uint32_t)value & MU_ALL_RIGHTS;
	mu_registers_open(n);
	return MU_INTERRUPTS;
}

static enum mu_interrupt store_unit(
	const struct nic_at *a, uint32_t kind, uint32_t id, uint64_t value)
{
	struct mu_node *n = a->node;
	bool is_range = kind >= MU_RANGE_FIRST && kind <= MU_RANGE_RIGHTS;

	if (is_range && id >= MU_RANGES)
		return MU_ERROR_REGISTER;
	if (is_range)
		return store_range(n, kind, &n->range[id], value);
	if (kind >= MU_GI_ROUTE)
		return mu_barrier_store(a, kind, id, value);
	switch (kind) {
	case MU_INJ_ENABLE_GROUP:
		return store_enable_group(n, id, value);
	case MU_INT_STATUS:
		n->status &= (uint32_t)~value;
		return MU_INTERRUPTS;
	case MU_INT_MASK:
		n->mask = (uint32_t)value;
		return MU_INTERRUPTS;
	case MU_INT_GROUP:
		if (id >= MU_GROUPS)
			return MU_ERROR_REGISTER;
		n->group[id] = (uint32_t)value;
		return MU_INTERRUPTS;
	case MU_SENT_CHANNELS:
		return store_sent(a, id, value);
	case MU_TIMEOUT:
		return mu_dcr_set_timeout(a->nic, a->s, id, value)
			       ? MU_INTERRUPTS
			       : MU_ERROR_REGISTER;
	case MU_FAULT:
		return store_fault(n, id, value);
	default:
		return MU_ERROR_REGISTER;
	}
}

static __attribute__((noinline)) enum mu_interrupt store(const struct nic_at *a,
	uint32_t kind, uint32_t id, uint64_t value, bool is_privileged)
{
	uint32_t sub = subgroup_of(kind, id);
	struct mu_subgroup *g;

	if (kind >= MU_REGISTERS || (sub >= MU_SUBGROUPS && sub != OF_UNIT))
		return MU_ERROR_REGISTER;
	if (!is_privileged && !is_users(kind, id))
		return MU_ERROR_PERMISSION;
	if (sub == OF_UNIT)
		return store_unit(a, kind, id, value);
	g = mu_subgroup(a->node, sub);
	if (is_inj(kind))
		return store_inj(&g->inj[id % MU_PER_SUBGROUP], kind, value);
	if (is_rec(kind))
		return store_rec(
			&g->rec[id % MU_REC_PER_SUBGROUP], kind, value);
	if (kind != MU_BASE)
		return store_mask(g, kind, value);
	g->base[id % MU_PER_SUBGROUP] = value;
	g->base_set |= (uint8_t)(1u << id % MU_PER_SUBGROUP);
	return MU_INTERRUPTS;
}

/* --- the port --- */

sim_time mu_registers_slot(struct nic *nic, site_id s, sim_time t)
{
	struct mu *mu = (struct mu *)nic;
	struct mu_node *n = nic_node(nic, s);
	sim_time at = t + mu->params.mmio_store;

	if (at < n->slave_at)
		at = n->slave_at;
	n->slave_at = at + mu->params.slave;
	return at;
}

void mu_registers_store(struct nic *nic, struct sim_worker *w, site_id s,
	sim_time t, uint32_t reg, uint64_t value)
{
	struct mu_node *n = nic_node(nic, s);
	uint32_t kind = (reg & ~MU_PRIVILEGED) >> 16;
	struct mu_store *x = ring_push(&n->stores);

	if (__builtin_expect(!!nic->net->book, 0) && kind == MU_INJ_TAIL)
		mu_account_store(n, reg & 0xffff, t);
	*x = (struct mu_store){ .value = value, .reg = reg };
	sim_post_self(w, s, mu_registers_slot(nic, s, t),
		SIM_KEY(PHASE_ENGINE, MU_ENGINE_SLAVE), 0, 0);
}

/* Consequences of a store, other than to a tail. */
static __attribute__((noinline)) void go_on(
	const struct nic_at *a, uint32_t kind, uint32_t id, uint64_t value)
{
	if (kind == MU_INJ_ENABLE)
		mu_fetch_want(a, id);
	if (kind == MU_INJ_ENABLE_GROUP)
		for (; value; value &= value - 1)
			mu_fetch_want(
				a, id * MU_PER_GROUP +
					   (uint32_t)__builtin_ctzll(value));
	/* a waiting packet may find room, or no FIFO any more */
	if (kind == MU_INJ_ENABLE)
		mu_receive_retry(a, mu_wait_inj(id));
	if (kind == MU_REC_HEAD || kind == MU_REC_ENABLE)
		mu_receive_retry(a, mu_wait_rec(id));
	if (kind == MU_INT_MASK)
		host_poke(a->nic->host, a->w, a->s, a->t);
}

/* An access takes effect, or is reported. */
static inline __attribute__((always_inline)) void take_effect(
	const struct nic_at *a, uint32_t reg, uint64_t value)
{
	uint32_t kind = (reg & ~MU_PRIVILEGED) >> 16, id = reg & 0xffff;
	enum mu_interrupt wrong;

	/* nearly all stores: a user's tail */
	if (kind == MU_INJ_TAIL && !(reg & MU_PRIVILEGED) &&
		id / MU_PER_SUBGROUP < MU_SYSTEM_SUBGROUP)
		wrong = store_tail(mu_inj(mu_here(a), id), value);
	else
		wrong = store(a, kind, id, value, reg & MU_PRIVILEGED);
	if (wrong != MU_INTERRUPTS)
		mu_tell(a, wrong, id, value);
	else if (kind == MU_INJ_TAIL)
		mu_fetch_want(a, id);
	else
		go_on(a, kind, id, value);
}

void mu_registers_on_store(const struct nic_at *a)
{
	struct mu_node *n = a->node;
	struct mu_store x = *(const struct mu_store *)ring_pop(&n->stores);

	n->slave_writes++;
	take_effect(a, x.reg, x.value);
}

void mu_dcr_store(struct nic *nic, struct sim_worker *w, site_id s, sim_time t,
	uint32_t reg, uint64_t value)
{
	struct nic_at a = nic_at(nic, w, s, t);

	take_effect(&a, reg, value);
}
