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
	uint32_t i;

	for (i = 0; i < MU_DIMS; i++)
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

static void zero_type(struct mu_descriptor *d)
{
	d->header.byte[0] = 0;
}

static void no_map(struct mu_descriptor *d)
{
	mu_set_fifo_map(d, 0);
}

static void map_of_more(struct mu_descriptor *d)
{
	mu_set_fifo_map(d, 0x10000 | MU_MAP_TORUS);
}

static void collective_map(struct mu_descriptor *d)
{
	mu_set_fifo_map(d, MU_MAP_TORUS | 0x2);
}

static void local_map(struct mu_descriptor *d)
{
	mu_set_fifo_map(d, MU_MAP_TORUS | 0x20);
}

static void collective_channel(struct mu_descriptor *d)
{
	sw_set_channel(d, (enum mu_channel)5);
}

static void dynamic_on_deterministic(struct mu_descriptor *d)
{
	d->header.byte[3] = MU_DETERMINISTIC << 5;
}

static void static_on_dynamic(struct mu_descriptor *d)
{
	d->header.byte[2] = 0;
}

static void no_such_node(struct mu_descriptor *d)
{
	mu_set(d->header.byte + 4, 4, 4u << 24);
}

static void no_such_dimension(struct mu_descriptor *d)
{
	mu_set(d->header.byte + 4, 4, 1);
}

static void both_hints(struct mu_descriptor *d)
{
	d->header.byte[1] = 0xc0;
}

static void hint_beyond(struct mu_descriptor *d)
{
	d->header.byte[2] |= 0x40;
}

static void dynamic_deposit(struct mu_descriptor *d)
{
	d->header.byte[2] |= 0x02;
}

static void half_a_get(struct mu_descriptor *d)
{
	mu_set_packet(&d->header, MU_GET, 16);
}

static void empty_get(struct mu_descriptor *d)
{
	mu_set_packet(&d->header, MU_PACED_GET, 16);
	mu_set_payload(d, SW_SOURCE, 0);
}

static void payload_outside(struct mu_descriptor *d)
{
	mu_set_payload(d, NIC_TESTING_MEMORY - 7, 8);
}

static void payload_wraps(struct mu_descriptor *d)
{
	mu_set_payload(d, UINT64_MAX - 511, 5000);
}

static void endless(struct mu_descriptor *d)
{
	mu_set_payload(d, 8, UINT64_MAX);
}

static void to_io(struct mu_descriptor *d)
{
	d->header.byte[2] |= 0x20;
}

static void system_channel(struct mu_descriptor *d)
{
	sw_set_channel(d, MU_SYSTEM);
}

static void system_map(struct mu_descriptor *d)
{
	mu_set_fifo_map(d, MU_MAP_TORUS | MU_MAP_SYSTEM);
}

const struct sw_bad sw_bads[SW_BADS] = {
	{ zero_type, MU_ERROR_DESCRIPTOR },
	{ no_map, MU_ERROR_DESCRIPTOR },
	{ map_of_more, MU_ERROR_DESCRIPTOR },
	{ collective_map, MU_ERROR_DESCRIPTOR },
	{ local_map, MU_ERROR_DESCRIPTOR },
	{ collective_channel, MU_ERROR_DESCRIPTOR },
	{ dynamic_on_deterministic, MU_ERROR_DESCRIPTOR },
	{ static_on_dynamic, MU_ERROR_DESCRIPTOR },
	{ no_such_node, MU_ERROR_DESCRIPTOR },
	{ no_such_dimension, MU_ERROR_DESCRIPTOR },
	{ both_hints, MU_ERROR_DESCRIPTOR },
	{ hint_beyond, MU_ERROR_DESCRIPTOR },
	{ dynamic_deposit, MU_ERROR_DESCRIPTOR },
	{ half_a_get, MU_ERROR_DESCRIPTOR },
	{ empty_get, MU_ERROR_DESCRIPTOR },
	{ endless, MU_ERROR_DESCRIPTOR },
	{ payload_outside, MU_ERROR_RANGE },
	{ payload_wraps, MU_ERROR_RANGE },
	{ to_io, MU_ERROR_PERMISSION },
	{ system_channel, MU_ERROR_PERMISSION },
	{ system_map, MU_ERROR_PERMISSION },
};

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

/* --- a whole run --- */

void sw_run(struct nic_testing *m, uint32_t n_workers,
	const struct sw_program *programs, uint32_t n)
{
	uint32_t i;

	nic_testing_start(m, n_workers, n);
	for (i = 0; i < n; i++)
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
