#include "nic/bgq_mu/receive_testing.h"

#include "testing/testing.h"

struct sw_reader sw_open_reader(uint32_t id, uint64_t bytes)
{
	return (struct sw_reader){
		.id = id,
		.at = sw_open_rec(id, bytes),
		.bytes = bytes,
	};
}

static uint64_t available(const struct sw_reader *r, uint64_t tail)
{
	uint64_t at = tail - r->at + r->bytes - r->head % r->bytes;

	/* before the FIFO is open */
	return tail ? at % r->bytes : 0;
}

uint64_t sw_available(const struct sw_reader *r)
{
	return available(r, sw_load(MU_REC_TAIL, r->id));
}

void sw_peek(const struct sw_reader *r, uint64_t offset, void *to, uint64_t n)
{
	uint64_t from = (r->head + offset) % r->bytes;
	uint64_t part = r->bytes - from < n ? r->bytes - from : n;

	assert_true(program_read(r->at + from, to, part));
	assert_true(program_read(r->at, (uint8_t *)to + part, n - part));
}

/* --- waiting --- */

struct wait {
	struct nic *nic;
	site_id node;
	uint32_t reg;
	uint64_t value;
	const struct sw_reader *reader;
};

static bool has_more(void *arg, uint64_t *seen)
{
	const struct wait *x = arg;

	*seen = mu_registers_load(x->nic, x->node, x->reg);
	return available(x->reader, *seen);
}

static bool is_there(void *arg, uint64_t *seen)
{
	const struct wait *x = arg;

	*seen = mu_registers_load(x->nic, x->node, x->reg);
	return *seen >= x->value;
}

static struct wait wait_for(enum mu_register kind, uint32_t number)
{
	return (struct wait){
		.nic = host_nic(program_host()),
		.node = program_node(),
		.reg = MU_REGISTER(kind, number),
	};
}

void sw_wait_register(enum mu_register kind, uint32_t number, uint64_t value)
{
	struct wait x = wait_for(kind, number);
	struct poll_loop loop = { .period = 1 };
	uint64_t seen;

	x.value = value;
	program_poll_until(is_there, &x, loop, &seen);
}

bool sw_is_pending(enum mu_group group, enum mu_interrupt what)
{
	return sw_load(MU_INT_PENDING, group) >> what & 1;
}

/* --- packets --- */

void sw_take(struct sw_reader *r, struct sw_packet *p)
{
	struct wait x = wait_for(MU_REC_TAIL, r->id);
	struct poll_loop loop = { .period = 1 };
	uint64_t seen;

	x.reader = r;
	program_poll_until(has_more, &x, loop, &seen);
	sw_peek(r, 0, &p->header, sizeof(p->header));
	p->bytes = mu_chunks(&p->header) * MU_CHUNK;
	assert_true(p->bytes <= MU_PAYLOAD);
	assert_true(sw_available(r) >= sizeof(p->header) + p->bytes);
	sw_peek(r, sizeof(p->header), p->payload, p->bytes);
	r->head += sizeof(p->header) + p->bytes;
}

void sw_free(const struct sw_reader *r)
{
	uint64_t head = r->at + r->head % r->bytes;

	if (r->id >= MU_SYSTEM_SUBGROUP * MU_REC_PER_SUBGROUP)
		sw_store_system(MU_REC_HEAD, r->id, head);
	else
		sw_store(MU_REC_HEAD, r->id, head);
}

void sw_set_own(struct mu_descriptor *d, uint32_t value)
{
	mu_set(d->header.byte + SW_OWN, 4, value);
}

uint32_t sw_own(const struct mu_header *h)
{
	return (uint32_t)mu_get(h->byte + SW_OWN, 4);
}
