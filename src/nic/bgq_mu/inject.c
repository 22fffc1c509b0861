/*
 * Injection.  An injection FIFO has one descriptor in the unit at a time:
 * it is fetched, its packets are cut by whatever engines its FIFO map
 * allows, and when the last one is in the network the head advances and the
 * next one is fetched.  An engine has one packet at a time, and begins it
 * only when its network FIFO has room for a full one.
 */
#include "nic/bgq_mu/mu.h"

#include <string.h>

#include "topo/torus.h"

enum { FIRST_READ = 128 }; /* bytes that the first read of a packet brings */

static bool has_room(const struct mu *mu, site_id s, uint32_t engine)
{
	const struct net *net = mu->nic.net;

	return net->sites[s].inject[engine].chunks >= net->full;
}

/* --- descriptors --- */

void mu_inject_fetch(struct mu *mu, struct mu_node *n, struct sim_worker *w,
	site_id s, sim_time t, uint32_t inj)
{
	struct mu_inj_fifo *f = mu_inj(n, inj);

	if (f->state != MU_INJ_IDLE || !f->is_enabled || f->head == f->tail)
		return;
	f->state = MU_INJ_FETCHING;
	sim_post_self(w, s,
		t + mu->params.arbitration + mu->params.descriptor_read,
		SIM_KEY(PHASE_ENGINE, MU_ENGINE_FETCHED + inj), 0, 0);
}

/* Network FIFOs by map; the router names a user FIFO for a port, of which
 * the even ones lead in the plus direction. */
static uint16_t engines_of(uint64_t map)
{
	uint32_t out = 0, i;

	for (i = 0; i < 2 * MU_DIMS; i++)
		if (map & MU_MAP_A_MINUS >> i)
			out |= 1u << (FIFO_USER + (i ^ 1));
	for (i = 0; i < 2; i++)
		if (map & 0x20 >> i)
			out |= 1u << (FIFO_LOCAL + i);
	if (map & MU_MAP_HIGH)
		out |= 1u << FIFO_HIGH;
	if (map & MU_MAP_SYSTEM)
		out |= 1u << FIFO_SYSTEM;
	return (uint16_t)out;
}

/* NO_SITE where there is no such node. */
static site_id destination(const struct mu *mu, const struct mu_header *h)
{
	site_id dst = 0;
	uint32_t i;

	for (i = 0; i < MU_DIMS; i++) {
		uint32_t x = mu_coord(h, i);

		if (x >= (i < mu->n_dims ? mu->torus->dim[i] : 1))
			return NO_SITE;
		if (i < mu->n_dims)
			dst += x * mu->torus->stride[i];
	}
	return dst;
}

/* A point-to-point direct put whose route is left to the network. */
static bool is_plain_put(const struct mu_descriptor *d)
{
	const struct mu_header *h = &d->header;

	return h->byte[0] == MU_PT2PT && mu_packet_type(h) == MU_PUT &&
	       !mu_is_prefetch(d) && !mu_has_hints(h) && !mu_is_for_io(h) &&
	       !mu_is_deposit(h) && mu_channel(h) <= MU_SYSTEM &&
	       mu_is_dynamic(h) == (mu_channel(h) == MU_DYNAMIC);
}

/* Takes in what was fetched; false where the unit refuses it. */
static bool take_descriptor(const struct mu *mu, struct mu_inj_fifo *f)
{
	const struct mu_descriptor *d = &f->descriptor;
	uint64_t length = mu_length(d), from = mu_payload(d);
	uint64_t memory = host_memory(mu->nic.host);

	f->engines = engines_of(mu_fifo_map(d));
	f->dst = destination(mu, &d->header);
	if (!is_plain_put(d) || !f->engines || f->dst == NO_SITE ||
		from > memory || length > memory - from)
		return false;
	/* A message of no bytes is one packet of a header (BGQ-F14). */
	f->next = 0;
	f->n_packets = length ? (length + mu->payload - 1) / mu->payload : 1;
	return true;
}

/* --- engines --- */

static bool is_sending(const struct mu_node *n, uint32_t inj)
{
	return n->sending[inj / 64] >> inj % 64 & 1;
}

static uint32_t packet_bytes(
	const struct mu *mu, const struct mu_inj_fifo *f, uint64_t packet)
{
	uint64_t left = mu_length(&f->descriptor) - packet * mu->payload;

	return left < mu->payload ? (uint32_t)left : mu->payload;
}

/* Whole chunks are read, so that an odd address costs one more. */
static sim_time read_time(const struct mu *mu, uint64_t from, uint32_t bytes)
{
	uint64_t first = from / MU_CHUNK;
	uint64_t read =
		((from + bytes + MU_CHUNK - 1) / MU_CHUNK - first) * MU_CHUNK;

	if (read <= FIRST_READ)
		return mu->params.payload_read;
	return mu->params.payload_read +
	       mu_time(read - FIRST_READ, mu->params.read_rate);
}

static void start(struct mu *mu, struct mu_node *n, struct sim_worker *w,
	site_id s, sim_time t, uint32_t engine, uint32_t inj)
{
	struct mu_inj_fifo *f = mu_inj(n, inj);
	uint64_t packet = f->next++;
	uint64_t from = mu_payload(&f->descriptor) + packet * mu->payload;
	sim_time read = read_time(mu, from, packet_bytes(mu, f, packet));

	if (f->next == f->n_packets)
		n->sending[inj / 64] &= ~(UINT64_C(1) << inj % 64);
	f->in_flight++;
	n->last = inj;
	n->busy |= (uint16_t)(1u << engine);
	n->job[engine] =
		(struct mu_job){ .packet = packet, .inj = (uint16_t)inj };
	sim_post_self(w, s,
		t + mu->params.header + read + mu->params.fifo_write,
		SIM_KEY(PHASE_ENGINE, MU_ENGINE_INJECTED + engine), 0, 0);
}

/* The next injection FIFO in turn with a packet for an engine, or
 * MU_INJ_FIFOS. */
static uint32_t choose(struct mu_node *n, uint32_t engine)
{
	uint32_t from = n->last + 1, word = from / 64 % MU_SENDING_WORDS, k;
	uint64_t later = ~UINT64_C(0) << from % 64;

	/* The first word comes twice: from the next one on, and up to it. */
	for (k = 0; k <= MU_SENDING_WORDS; k++) {
		uint64_t m = n->sending[word];

		m &= k == 0		     ? later
		     : k == MU_SENDING_WORDS ? ~later
					     : ~UINT64_C(0);
		for (; m; m &= m - 1) {
			uint32_t inj = word * 64 + (uint32_t)__builtin_ctzll(m);

			if (mu_inj(n, inj)->engines >> engine & 1)
				return inj;
		}
		word = word + 1 < MU_SENDING_WORDS ? word + 1 : 0;
	}
	return MU_INJ_FIFOS;
}

/* Lets an idle engine begin a packet, if it can. */
static void go_on(struct mu *mu, struct mu_node *n, struct sim_worker *w,
	site_id s, sim_time t, uint32_t engine)
{
	uint32_t inj;

	if (n->busy >> engine & 1 || !has_room(mu, s, engine))
		return;
	inj = choose(n, engine);
	if (inj < MU_INJ_FIFOS)
		start(mu, n, w, s, t, engine, inj);
}

void mu_inject_on_fetched(struct mu *mu, struct sim_worker *w, site_id s,
	sim_time t, uint32_t inj)
{
	struct mu_node *n = mu_node(mu, s);
	struct mu_inj_fifo *f = mu_inj(n, inj);
	uint32_t m;

	if (!host_read(mu->nic.host, s, f->head, &f->descriptor,
		    sizeof(f->descriptor)) ||
		!take_descriptor(mu, f)) {
		f->state = MU_INJ_STOPPED;
		n->refused++;
		return;
	}
	f->state = MU_INJ_SENDING;
	n->sending[inj / 64] |= UINT64_C(1) << inj % 64;
	for (m = f->engines; m && is_sending(n, inj); m &= m - 1)
		go_on(mu, n, w, s, t, (uint32_t)__builtin_ctz(m));
}

/* --- packets --- */

/* The payload with the header that says where it goes. */
static struct mu_buffer *fill_buffer(struct mu *mu, struct sim_worker *w,
	site_id s, const struct mu_inj_fifo *f, uint64_t packet, uint32_t bytes)
{
	const struct mu_descriptor *d = &f->descriptor;
	struct mu_buffer *b = payload_take(mu->payloads, w->id);
	uint64_t at = packet * mu->payload;
	uint32_t chunks = (bytes + MU_CHUNK - 1) / MU_CHUNK;

	b->header = d->header;
	mu_set_packet(&b->header, MU_PUT, chunks);
	mu_set_put(&b->header, mu_put_base(&d->header),
		mu_put_offset(&d->header) + at);
	mu_set_valid_bytes(&b->header, bytes);
	BUG_IF(!host_read(
		mu->nic.host, s, mu_payload(d) + at, b->payload, bytes));
	memset(b->payload + bytes, 0, chunks * MU_CHUNK - bytes);
	return b;
}

static packet_id make_packet(struct mu *mu, struct mu_node *n,
	struct sim_worker *w, site_id s, sim_time t, const struct mu_job *job)
{
	static const uint8_t kind[] = {
		[MU_DYNAMIC] = PACKET_DYNAMIC,
		[MU_DETERMINISTIC] = PACKET_DETERMINISTIC,
		[MU_HIGH] = PACKET_HIGH,
		[MU_SYSTEM] = PACKET_SYSTEM,
	};
	struct net *net = mu->nic.net;
	const struct mu_inj_fifo *f = mu_inj(n, job->inj);
	const struct mu_header *h = &f->descriptor.header;
	uint32_t bytes = packet_bytes(mu, f, job->packet);
	packet_id id = packet_take(net->pool, w->id);

	net->packets[id] = (struct packet){
		.src = s,
		.dst = f->dst,
		.number = n->number++,
		.born = t,
		.kind = kind[mu_channel(h)],
		.flags = mu_stays_on_bubble(h) ? PACKET_STAY : 0,
		.zone = (uint8_t)mu_zone(h),
		.bytes = (uint16_t)bytes,
		.load = payload_to_load(
			fill_buffer(mu, w, s, f, job->packet, bytes)),
	};
	return id;
}

void mu_inject_on_done(struct mu *mu, struct sim_worker *w, site_id s,
	sim_time t, uint32_t engine)
{
	struct mu_node *n = mu_node(mu, s);
	struct mu_job job = n->job[engine];
	struct mu_inj_fifo *f = mu_inj(n, job.inj);

	net_inject(mu->nic.net, w, s, engine, make_packet(mu, n, w, s, t, &job),
		t);
	n->busy &= (uint16_t) ~(1u << engine);
	if (!--f->in_flight && f->next == f->n_packets) {
		f->head += MU_DESCRIPTOR_BYTES;
		if (f->head == f->start + f->size)
			f->head = f->start;
		f->count++;
		f->state = MU_INJ_IDLE;
		mu_inject_fetch(mu, n, w, s, t, job.inj);
	}
	go_on(mu, n, w, s, t, engine);
}

void mu_inject_on_room(struct mu *mu, struct sim_worker *w, site_id s,
	sim_time t, uint32_t engine)
{
	go_on(mu, mu_node(mu, s), w, s, t, engine);
}
