#include <string.h>

#include "nic/bgq_mu/mu_testing.h"

#include "host/side_l2.h"
#include "testing/testing.h"

/* --- registers --- */

static void store(uint32_t reg, uint64_t value)
{
	struct nic *nic = host_nic(program_host());

	mu_registers_store(nic, program_worker(), program_node(), program_now(),
		reg, value);
}

void sw_store(enum mu_register kind, uint32_t number, uint64_t value)
{
	store(MU_REGISTER(kind, number), value);
}

void sw_store_system(enum mu_register kind, uint32_t number, uint64_t value)
{
	store(MU_REGISTER(kind, number) | MU_PRIVILEGED, value);
}

uint64_t sw_load(enum mu_register kind, uint32_t number)
{
	struct nic *nic = host_nic(program_host());

	return mu_registers_load(
		nic, program_node(), MU_REGISTER(kind, number));
}

uint64_t sw_upc(enum mu_event event, uint32_t unit)
{
	return sw_load(MU_UPC, mu_upc(event, unit));
}

uint64_t sw_upc_ports(enum mu_event event)
{
	return sw_upc(event, 0) + sw_upc(event, 1) + sw_upc(event, 2);
}

/* --- setting up --- */

struct sw_fifo sw_open_at(
	uint32_t id, uint64_t attributes, uint64_t at, uint64_t bytes)
{
	sw_store_system(MU_INJ_START, id, at);
	sw_store_system(MU_INJ_SIZE, id, bytes);
	sw_store_system(MU_INJ_ATTRIBUTES, id, attributes);
	sw_store_system(MU_INJ_ENABLE, id, 1);
	return (struct sw_fifo){ .id = id, .at = at, .bytes = bytes };
}

struct sw_fifo sw_open(uint32_t id, uint64_t attributes)
{
	return sw_open_at(
		id, attributes, SW_FIFOS + id * SW_FIFO_BYTES, SW_FIFO_BYTES);
}

uint64_t sw_open_rec(uint32_t id, uint64_t bytes)
{
	uint64_t at = SW_REC + (uint64_t)id * SW_REC_BYTES;

	sw_store_system(MU_REC_START, id, at);
	sw_store_system(MU_REC_SIZE, id, bytes);
	sw_store_system(MU_REC_ENABLE, id, 1);
	return at;
}

void sw_open_bases(uint64_t count)
{
	const uint64_t counter = SW_COUNTER | MU_ATOMIC | MU_ATOMIC_STORE_ADD;

	assert_true(program_write(SW_COUNTER, &count, sizeof(count)));
	sw_store(MU_BASE, SW_BASE_TARGET, SW_TARGET);
	sw_store(MU_BASE, SW_BASE_COUNTER, counter);
	sw_store_system(MU_BASE, SW_SYSTEM_TARGET, SW_TARGET);
	sw_store_system(MU_BASE, SW_SYSTEM_COUNTER, counter);
}

/* --- descriptors --- */

void sw_set_destination(struct mu_descriptor *d, site_id dst)
{
	const struct torus *t = torus_of(host_nic(program_host())->net->topo);
	uint64_t at = 0;

	for (uint32_t i = 0; i < MU_DIMS; i++)
		at = at << MU_COORD_BITS |
		     (i < t->n_dims ? torus_coord(t, dst, i) : 0);
	mu_set(d->header.byte + 4, 4, at);
}

void sw_set_channel(struct mu_descriptor *d, enum mu_channel channel)
{
	uint8_t *byte = d->header.byte;

	byte[2] = (uint8_t)((byte[2] & ~0x04) |
			    (channel == MU_DYNAMIC ? 0x04 : 0));
	byte[3] = (uint8_t)((byte[3] & 0x1f) | (unsigned)channel << 5);
}

static struct mu_descriptor message(
	site_id dst, uint64_t length, enum mu_packet_type type)
{
	struct mu_descriptor d;

	memset(&d, 0, sizeof(d));
	mu_set_payload(&d, SW_SOURCE, length);
	mu_set_fifo_map(
		&d, dst == program_node() ? MU_MAP_LOCAL : MU_MAP_TORUS);
	d.header.byte[0] = MU_PT2PT;
	sw_set_channel(&d, MU_DYNAMIC);
	sw_set_destination(&d, dst);
	mu_set_packet(&d.header, type, MU_PAYLOAD / MU_CHUNK);
	return d;
}

struct mu_descriptor sw_put(site_id dst, uint64_t length)
{
	struct mu_descriptor d = message(dst, length, MU_PUT);

	mu_set_put(&d.header, SW_BASE_TARGET, 0);
	mu_set_counter(&d.header, SW_BASE_COUNTER, 0);
	return d;
}

struct mu_descriptor sw_fifo_message(site_id dst, uint32_t rec, uint64_t length)
{
	struct mu_descriptor d = message(dst, length, MU_FIFO);

	mu_set_rec_fifo(&d.header, rec, 0);
	return d;
}

struct mu_descriptor sw_get(site_id dst, uint32_t inj, uint64_t length)
{
	struct mu_descriptor d = message(dst, length, MU_GET);

	mu_set_get_fifo(&d.header, inj);
	return d;
}

void sw_make_system(struct mu_descriptor *d)
{
	sw_set_channel(d, MU_SYSTEM);
	mu_set_fifo_map(d, MU_MAP_SYSTEM);
	if (mu_packet_type(&d->header) == MU_PUT) {
		mu_set_put(&d->header, SW_SYSTEM_TARGET,
			mu_put_offset(&d->header));
		mu_set_counter(&d->header, SW_SYSTEM_COUNTER,
			mu_counter_offset(&d->header));
	}
}

static uint64_t place(const struct sw_fifo *f)
{
	return f->at + f->n * MU_DESCRIPTOR_BYTES % f->bytes;
}

void sw_write(struct sw_fifo *f, const struct mu_descriptor *d)
{
	assert_true(program_write(place(f), d, sizeof(*d)));
	f->n++;
}

void sw_advance(const struct sw_fifo *f)
{
	if (f->id >= MU_SYSTEM_SUBGROUP * MU_PER_SUBGROUP)
		sw_store_system(MU_INJ_TAIL, f->id, place(f));
	else
		sw_store(MU_INJ_TAIL, f->id, place(f));
}

void sw_inject(struct sw_fifo *f, const struct mu_descriptor *d)
{
	sw_write(f, d);
	sw_advance(f);
}

/* --- descriptors that cannot be --- */

enum { PAYLOAD = 8, LENGTH = 16, MAP = 24, HEAD = 32, KEEP = 0xff };

const struct sw_bad sw_bads[SW_BADS] = {
	{ MU_ERROR_DESCRIPTOR, HEAD, 1, 0, 0 }, /* of no type */
	{ MU_ERROR_DESCRIPTOR, MAP, 8, 0, 0 },
	{ MU_ERROR_DESCRIPTOR, MAP, 8, 0, 0x10000 | MU_MAP_TORUS },
	{ MU_ERROR_DESCRIPTOR, MAP, 8, 0, MU_MAP_TORUS | 0x2 }, /* a tree's */
	{ MU_ERROR_DESCRIPTOR, MAP, 8, 0, MU_MAP_TORUS | 0x20 }, /* local */
	{ MU_ERROR_DESCRIPTOR, HEAD + 3, 1, 0x1f, 5 << 5 }, /* a tree's */
	/* dynamic on the other channel, and the other way round */
	{ MU_ERROR_DESCRIPTOR, HEAD + 3, 1, 0, MU_DETERMINISTIC << 5 },
	{ MU_ERROR_DESCRIPTOR, HEAD + 2, 1, 0, 0 },
	{ MU_ERROR_DESCRIPTOR, HEAD + 4, 4, 0, 4u << 24 }, /* no such node */
	{ MU_ERROR_DESCRIPTOR, HEAD + 4, 4, 0, 1 }, /* nor such a dimension */
	{ MU_ERROR_DESCRIPTOR, HEAD + 1, 1, 0, 0xc0 }, /* hints: both ways */
	{ MU_ERROR_DESCRIPTOR, HEAD + 2, 1, KEEP, 0x40 }, /* beyond */
	{ MU_ERROR_DESCRIPTOR, HEAD + 2, 1, KEEP, 0x02 }, /* deposits */
	/* half a descriptor, and none */
	{ MU_ERROR_DESCRIPTOR, HEAD + 8, 1, 0x3f, MU_GET << 6 },
	{ MU_ERROR_DESCRIPTOR, HEAD + 8, 1, 0x3f, MU_PACED_GET << 6 },
	{ MU_ERROR_DESCRIPTOR, LENGTH, 8, 0, UINT64_MAX },
	{ MU_ERROR_RANGE, PAYLOAD, 8, 0, NIC_TESTING_MEMORY - 7 },
	{ MU_ERROR_RANGE, PAYLOAD, 8, 0, UINT64_MAX - 50 }, /* round the end */
	{ MU_ERROR_PERMISSION, HEAD + 2, 1, KEEP, 0x20 }, /* to an IO node */
	{ MU_ERROR_PERMISSION, HEAD + 3, 1, 0x1f, MU_SYSTEM << 5 },
	{ MU_ERROR_PERMISSION, MAP, 8, 0, MU_MAP_TORUS | MU_MAP_SYSTEM },
};

void sw_spoil(struct mu_descriptor *d, const struct sw_bad *b)
{
	uint8_t *at = (uint8_t *)d + b->at;

	mu_set(at, b->bytes, (mu_get(at, b->bytes) & b->and) | b->or);
	if (mu_packet_type(&d->header) == MU_PACED_GET)
		mu_set(d->byte + LENGTH, 8, 0);
}

/* --- waiting --- */

void sw_wait_counter(uint64_t at)
{
	struct poll_loop loop = { .period = 1 };
	uint64_t word;

	assert_true(program_poll(at, WORD_IS, 0, loop, &word));
}

struct sent {
	struct nic *nic;
	site_id node;
	uint32_t inj;
	uint64_t count;
};

static bool has_sent(void *arg, uint64_t *seen)
{
	const struct sent *s = arg;

	*seen = mu_registers_load(
		s->nic, s->node, MU_REGISTER(MU_INJ_COUNT, s->inj));
	return *seen >= s->count;
}

void sw_wait_count(uint32_t inj, uint64_t count)
{
	struct sent s = {
		.nic = host_nic(program_host()),
		.node = program_node(),
		.inj = inj,
		.count = count,
	};
	struct poll_loop loop = { .period = 1 };
	uint64_t seen;

	program_poll_until(has_sent, &s, loop, &seen);
}

void sw_wait_sent(const struct sw_fifo *f)
{
	sw_wait_count(f->id, f->n);
}

struct l2_counts sw_l2_counts(struct host *h, site_id node)
{
	return l2_counts(side_l2_of(host_cache(h))->l2, node);
}

void sw_open_and_wait(void *arg)
{
	sw_open_bases(*(uint64_t *)arg);
	sw_wait_counter(SW_COUNTER);
}

void sw_open_only(void *arg)
{
	(void)arg;
	sw_open_bases(0);
}

/* --- a whole run --- */

void sw_run(struct nic_testing *m, uint32_t n_workers,
	const struct sw_program *programs, uint32_t n)
{
	nic_testing_start(m, n_workers, n);
	for (uint32_t i = 0; i < n; i++)
		program_start(m->host, programs[i].node, i % HOST_THREADS, 0,
			programs[i].run, programs[i].arg);
	nic_testing_run(m);
}

uint64_t sw_run_on(const char *shape, uint32_t n_workers,
	const struct sw_program *programs, uint32_t n)
{
	struct nic_testing m;
	uint64_t digest;

	nic_testing_machine(&m, "bgq", shape);
	sw_run(&m, n_workers, programs, n);
	digest = nic_testing_digest(&m);
	nic_testing_fini(&m);
	return digest;
}

/* --- a reception FIFO as software reads it --- */

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

/* --- waiting for it --- */

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
