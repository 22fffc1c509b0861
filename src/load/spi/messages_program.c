/*
 * An actor's program.  In each round it sends a message in each lane, when
 * the receiver has told it to, and then takes what was sent to it: looks at
 * every byte and the guards around it, makes the lane ready for the next
 * message, and tells who will send it: by a put onto a word, of another kind
 * each time, after which that word has the round's number.
 */
#include "load/spi/messages.h"

#include <inttypes.h>
#include <string.h>

#include "meas/digest.h"
#include "topo/torus.h"

enum {
	SLOT = 0x8000,
	LINE = 128,
	BLOCK = 2048, /* bytes that it handles at a time */
	GUARD = 64,
	GUARD_BYTE = 0xa5,
	WORD_BEFORE = 0x5a, /* bytes of words that a put will change */
};

static uint32_t threads_of(const struct actor *a)
{
	return (uint32_t)a->m->threads;
}

static uint32_t node_of(const struct actor *a, uint32_t actor)
{
	return actor / threads_of(a);
}

static uint32_t thread_of(const struct actor *a, uint32_t actor)
{
	return actor % threads_of(a);
}

static uint32_t base_of(const struct actor *a, uint32_t actor, enum base base)
{
	return thread_of(a, actor) * MU_PER_SUBGROUP + base;
}

static bool complain(struct actor *a, const char *what, uint32_t sender,
	uint32_t lane, uint64_t round)
{
	return programs_complain(&a->m->programs,
		"%s of actor %" PRIu32 "'s message in lane %" PRIu32
		", round %" PRIu64,
		what, sender, lane, round);
}

static bool did(struct actor *a, const char *call, int32_t code)
{
	return programs_did(&a->m->programs, call, code);
}

/* Sets a counter. */
static void set_counter(uint64_t counter, uint64_t bytes)
{
	spi_store(counter, &bytes, sizeof(bytes));
}

/* --- places, relative to an actor's base --- */

static uint64_t counter_of(uint32_t lane, bool is_own)
{
	return (is_own ? OWN_COUNTER : COUNTER) + (uint64_t)lane * LINE;
}

static uint64_t target_of(const struct plan_message *m, uint32_t lane)
{
	bool is_own = m->type == PLAN_GET || m->type == PLAN_LOCAL;

	return (is_own ? OWN_TARGETS : TARGETS) + (uint64_t)lane * SLOT +
	       PLAN_ALIGN + m->target;
}

static uint64_t credit_of(uint32_t lane, uint64_t round)
{
	return CREDITS +
	       (lane * MESSAGES_CREDITS + round % MESSAGES_CREDITS) * 8;
}

/* --- a message's bytes --- */

static uint32_t block_of(uint32_t at, uint32_t end)
{
	return end - at < BLOCK ? end - at : BLOCK;
}

/* The first bytes of a stream. */
static void store_bytes(
	const struct actor *a, uint64_t stream, uint64_t to, uint32_t bytes)
{
	uint8_t block[BLOCK];
	uint32_t at;

	for (at = 0; at < bytes; at += BLOCK) {
		memory_fill_by(a->m->plan.seed, stream, at, block,
			block_of(at, bytes));
		spi_store(a->base + to + at, block, block_of(at, bytes));
	}
}

static void store_byte(uint64_t to, uint8_t byte, uint32_t bytes)
{
	uint8_t block[BLOCK];
	uint32_t at;

	memset(block, byte, sizeof(block));
	for (at = 0; at < bytes; at += BLOCK)
		spi_store(to + at, block, block_of(at, bytes));
}

/* What words become by an atomic put. */
static void change_words(enum base base, uint8_t *bytes, uint32_t n)
{
	uint64_t old, word;
	uint32_t i;

	memset(&old, WORD_BEFORE, sizeof(old));
	for (i = 0; i < n; i += 8) {
		memcpy(&word, bytes + i, 8);
		switch (base) {
		case BASE_ADD:
			word += old;
			break;
		case BASE_MAX:
			word = word > old ? word : old;
			break;
		case BASE_XOR:
			word ^= old;
			break;
		case BASE_OR:
			word |= old;
			break;
		default:
			break;
		}
		memcpy(bytes + i, &word, 8);
	}
}

static enum base atomic_base(const struct plan_message *m)
{
	return (enum base)(BASE_ADD + m->bits % (N_BASES - BASE_ADD));
}

/* Where a message's bytes are from: what is got was there before anybody
 * asked, and is a part of a longer stream. */
static uint64_t stream_of(const struct actor *a, const struct plan_message *m,
	uint32_t sender, uint32_t lane, uint64_t round, uint32_t *start)
{
	*start = m->type == PLAN_GET ? m->source : 0;
	if (m->type == PLAN_GET)
		return ~(uint64_t)plan_receiver(
			&a->m->plan, sender, lane, round);
	return plan_stream(sender, lane, round);
}

/* Guards, and a counter where one will count. */
static void arm(
	const struct actor *a, const struct plan_message *m, uint32_t lane)
{
	bool is_own = m->type == PLAN_GET || m->type == PLAN_LOCAL;
	uint64_t at = a->base + target_of(m, lane);

	store_byte(at - GUARD, GUARD_BYTE, GUARD);
	store_byte(at + m->bytes, GUARD_BYTE, GUARD);
	if (m->type == PLAN_ATOMIC)
		store_byte(at, WORD_BEFORE, m->bytes);
	if (m->type == PLAN_PUT || m->type == PLAN_ATOMIC || is_own)
		set_counter(a->base + counter_of(lane, is_own), m->bytes);
}

static bool is_guarded(uint64_t at)
{
	uint8_t got[GUARD], want[GUARD];

	spi_load(at, got, GUARD);
	memset(want, GUARD_BYTE, GUARD);
	return !memcmp(got, want, GUARD);
}

static bool check(struct actor *a, const struct plan_message *m,
	uint32_t sender, uint32_t lane, uint64_t round)
{
	uint64_t from = a->base + target_of(m, lane);
	uint32_t start, at;
	uint64_t stream = stream_of(a, m, sender, lane, round, &start);
	uint8_t got[BLOCK], want[BLOCK];

	if (!is_guarded(from - GUARD) || !is_guarded(from + m->bytes))
		return complain(a, "bytes outside the destination", sender,
			lane, round);
	for (at = 0; at < m->bytes; at += BLOCK) {
		uint32_t n = block_of(at, m->bytes);

		spi_load(from + at, got, n);
		memory_fill_by(a->m->plan.seed, stream, start + at, want, n);
		if (m->type == PLAN_ATOMIC)
			change_words(atomic_base(m), want, n);
		if (memcmp(got, want, n) != 0)
			return complain(a, "wrong bytes", sender, lane, round);
	}
	return true;
}

/* --- descriptors --- */

/* Hints for some of the dimensions in which two nodes differ; on a ring
 * either way will do. */
static uint32_t draw_hints(
	const struct actor *a, uint32_t from, uint32_t to, uint64_t bits)
{
	const struct torus *t = torus_of(a->m->programs.load.net->topo);
	uint32_t hints = 0, i;

	for (i = 0; i < t->n_dims; i++, bits >>= 2) {
		uint32_t x = torus_coord(t, from, i), y = torus_coord(t, to, i);
		bool is_plus = torus_is_ring(t, i) ? bits & 1 : y > x;

		if (x != y && bits & 2)
			hints |= (is_plus ? 0x100u : 0x200u) >> 2 * i;
	}
	return hints;
}

/* The network's part of a header, from a node to an actor, and the map. */
static void choose_way(const struct actor *a, uint32_t from, uint32_t actor,
	enum plan_route route, uint64_t bits, MUHWI_Descriptor_t *d)
{
	uint32_t to = node_of(a, actor), hints = 0;
	bool is_dynamic = route == PLAN_DYNAMIC || route == PLAN_HINTED;
	uint64_t map = (uint64_t)MU_MAP_A_MINUS >> bits % (2 * MU_DIMS);
	enum mu_channel channel = is_dynamic ? MU_DYNAMIC : MU_DETERMINISTIC;

	if (from == to) {
		map = is_dynamic ? MU_MAP_LOCAL : MU_MAP_LOCAL & 0x20;
	} else if (route == PLAN_HIGH) {
		map = MU_MAP_HIGH;
		channel = MU_HIGH;
	} else if (is_dynamic) {
		map |= digest_mix(bits) & MU_MAP_TORUS;
	}
	if (route == PLAN_HINTED)
		hints = draw_hints(a, from, to, bits >> 8);
	mu_set_fifo_map(d, map);
	d->header.byte[1] = (uint8_t)(hints >> 2);
	d->header.byte[2] = (uint8_t)((hints & 3) << 6 | (is_dynamic ? 4 : 0));
	d->header.byte[3] =
		(uint8_t)((uint32_t)channel << 5 | (bits >> 30 & 3) << 3);
	mu_set(d->header.byte + 4, 4, spi_destination(to).Destination);
}

/* A put into an actor's memory, and onto its counter; offsets are from its
 * base. */
static bool build_put(struct actor *a, uint32_t actor, enum base base,
	uint64_t offset, uint64_t counter, MUHWI_Descriptor_t *d)
{
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = {
		.DirectPut = { .Rec_Payload_Base_Address_Id =
				       base_of(a, actor, base),
			.Rec_Payload_Offset = offset,
			.Rec_Counter_Base_Address_Id =
				base_of(a, actor, BASE_ADD),
			.Rec_Counter_Offset = counter },
	};

	return did(a, "MUSPI_CreatePt2PtDirectPutDescriptor",
		MUSPI_CreatePt2PtDirectPutDescriptor(d, &i));
}

static bool build_fifo(struct actor *a, uint32_t actor, uint32_t lane,
	uint64_t round, MUHWI_Descriptor_t *d)
{
	MUSPI_Pt2PtMemoryFIFODescriptorInfo_t i = {
		.MemFIFO = { .Rec_FIFO_Id = thread_of(a, actor) *
					    MU_REC_PER_SUBGROUP },
	};

	memcpy(i.MemFIFO.SoftwareBytes, &round, 8);
	memcpy(i.MemFIFO.SoftwareBytes + 8, &lane, 4);
	return did(a, "MUSPI_CreatePt2PtMemoryFIFODescriptor",
		MUSPI_CreatePt2PtMemoryFIFODescriptor(d, &i));
}

/* Asks an actor's node for a put, the descriptor of which is in memory. */
static bool build_get(struct actor *a, uint32_t actor, MUHWI_Descriptor_t *d)
{
	MUSPI_Pt2PtRemoteGetDescriptorInfo_t i = {
		.RemoteGet = { .Rget_Inj_FIFO_Id =
				       thread_of(a, actor) * MU_PER_SUBGROUP +
				       FIFO_GET },
	};

	return did(a, "MUSPI_CreatePt2PtRemoteGetDescriptor",
		MUSPI_CreatePt2PtRemoteGetDescriptor(d, &i));
}

/* --- sending --- */

static void inject(struct actor *a, uint32_t lane, uint32_t fifo,
	const MUHWI_Descriptor_t *d)
{
	uint64_t number;

	do
		number = MUSPI_InjFifoInject(fifos_at(&a->fifos, fifo), d);
	while (number == SPI_NONE);
	if (lane < PLAN_LANES) {
		a->sent[lane] = number + 1;
		a->fifo[lane] = (uint8_t)fifo;
	}
}

static void await_sent(struct actor *a, uint32_t lane)
{
	const MUSPI_InjFifo_t *f = fifos_at(&a->fifos, a->fifo[lane]);

	while (a->sent[lane] && !MUSPI_CheckDescComplete(f, a->sent[lane] - 1))
		;
}

/* The put that answers a get goes into the source slot, as its payload. */
static bool prepare_get(struct actor *a, const struct plan_message *m,
	uint32_t actor, uint32_t lane, uint64_t source)
{
	MUHWI_Descriptor_t put;

	if (!build_put(a, a->id, BASE_PLAIN, target_of(m, lane),
		    counter_of(lane, true), &put))
		return false;
	choose_way(a, node_of(a, actor), a->id, m->route, digest_mix(m->bits),
		&put);
	mu_set_payload(
		&put, a->m->actors[actor].base + GIFT + m->source, m->bytes);
	return spi_store(source, &put, sizeof(put));
}

static bool build(struct actor *a, const struct plan_message *m, uint32_t lane,
	uint64_t round, MUHWI_Descriptor_t *d)
{
	uint32_t to = plan_receiver(&a->m->plan, a->id, lane, round);
	uint64_t source =
		SOURCES + (uint64_t)lane * SLOT + PLAN_ALIGN + m->source;
	uint64_t length = m->bytes;
	bool ok;

	if (m->type == PLAN_LOCAL)
		to = a->id;
	if (m->type == PLAN_GET) {
		source &= ~UINT64_C(63);
		length = sizeof(*d);
		ok = prepare_get(a, m, to, lane, a->base + source) &&
		     build_get(a, to, d);
	} else {
		store_bytes(
			a, plan_stream(a->id, lane, round), source, m->bytes);
		ok = m->type == PLAN_FIFO
			     ? build_fifo(a, to, lane, round, d)
			     : build_put(a, to,
				       m->type == PLAN_ATOMIC ? atomic_base(m)
							      : BASE_PLAIN,
				       target_of(m, lane),
				       counter_of(lane, m->type == PLAN_LOCAL),
				       d);
	}
	choose_way(a, node_of(a, a->id), to, m->route, m->bits, d);
	mu_set_payload(d, a->base + source, length);
	mu_set_prefetch(d, m->type == PLAN_PREFETCH);
	return ok;
}

static bool send(struct actor *a, uint32_t lane, uint64_t round)
{
	struct plan_message m = plan_message(&a->m->plan, a->id, lane, round);
	uint32_t fifo = m.route == PLAN_HIGH ? FIFO_URGENT
			: m.bits >> 20 & 1   ? FIFO_ONE
					     : FIFO_TWO;
	MUHWI_Descriptor_t d;

	if (round && !spi_poll(a->base + credit_of(lane, round),
			     round + MESSAGES_CREDITS))
		return false;
	await_sent(a, lane);
	if (m.type == PLAN_GET || m.type == PLAN_LOCAL)
		arm(a, &m, lane);
	if (!build(a, &m, lane, round, &d))
		return false;
	inject(a, lane, fifo, &d);
	a->n_sent++;
	return true;
}

/* Tells who sends next in a lane that it may: the word there has the number
 * of the round that was so many before, and gets this one's. */
static bool send_credit(struct actor *a, uint32_t lane, uint64_t round)
{
	uint32_t to = plan_sender(&a->m->plan, a->id, lane, round);
	uint64_t is = round + MESSAGES_CREDITS, was = round, word = is;
	uint64_t bits =
		digest_mix(is * PLAN_LANES + lane + ((uint64_t)a->id << 40));
	uint64_t at = CREDIT_SOURCES +
		      (lane * MESSAGES_CREDITS + round % MESSAGES_CREDITS) * 8;
	enum base base = (enum base)(bits % BASE_OR);
	MUHWI_Descriptor_t d;

	if (base == BASE_ADD)
		word = is - was;
	else if (base == BASE_XOR)
		word = is ^ was;
	spi_store(a->base + at, &word, sizeof(word));
	if (!build_put(a, to, base, credit_of(lane, round), CREDIT_COUNTER, &d))
		return false;
	choose_way(a, node_of(a, a->id), to, (enum plan_route)(bits >> 8 & 3),
		bits >> 10, &d);
	mu_set_payload(&d, a->base + at, sizeof(word));
	inject(a, PLAN_LANES, FIFO_CREDIT, &d);
	return true;
}

/* --- receiving --- */

/* One packet goes to its place. */
static bool take_packet(struct actor *a)
{
	MUSPI_RecFifo_t *f = MUSPI_IdToRecFifo(0, &a->rec);
	uint32_t most = a->m->programs.load.net->link.max_payload;
	uint32_t lane = 0, sender, n;
	struct plan_message m;
	spi_packet_t p;
	uint64_t round, at;

	spi_wait_packet(f);
	if (!MUSPI_getNextPacket(f, &p))
		return programs_complain(&a->m->programs, "no packet");
	MUSPI_syncRecFifoHwHead(f);
	memcpy(&round, spi_software_bytes(&p.Header), 8);
	memcpy(&lane, spi_software_bytes(&p.Header) + 8, 4);
	at = spi_put_offset(&p.Header);
	if (lane >= PLAN_LANES || round != a->lane[lane].round)
		return programs_complain(
			&a->m->programs, "an unexpected packet");
	sender = plan_sender(&a->m->plan, a->id, lane, round);
	m = plan_message(&a->m->plan, sender, lane, round);
	if (m.type != PLAN_FIFO || at > m.bytes)
		return complain(a, "an unexpected packet", sender, lane, round);
	if ((m.route == PLAN_DETERMINISTIC || m.route == PLAN_HIGH) &&
		at != a->lane[lane].bytes)
		return complain(a, "packets out of order", sender, lane, round);
	most = most && most < MU_PAYLOAD ? most : MU_PAYLOAD;
	n = m.bytes - (uint32_t)at < most ? m.bytes - (uint32_t)at : most;
	spi_store(a->base + target_of(&m, lane) + at, p.Payload, n);
	a->lane[lane].bytes += n;
	a->lane[lane].packets++;
	return true;
}

/* Until the message of a lane is there. */
static bool await(struct actor *a, const struct plan_message *m, uint32_t lane)
{
	struct lane *l = &a->lane[lane];

	if (m->type == PLAN_PUT || m->type == PLAN_ATOMIC)
		return spi_poll(a->base + counter_of(lane, false), 0);
	while (l->bytes < m->bytes || !l->packets)
		if (!take_packet(a))
			return false;
	return true;
}

static void ready(struct actor *a, uint32_t lane, uint64_t round)
{
	struct plan_message m = plan_message(&a->m->plan,
		plan_sender(&a->m->plan, a->id, lane, round), lane, round);

	a->lane[lane] = (struct lane){ .round = round };
	if (m.type == PLAN_PUT || m.type == PLAN_ATOMIC || m.type == PLAN_FIFO)
		arm(a, &m, lane);
}

static bool receive(struct actor *a, uint32_t lane, uint64_t round)
{
	uint32_t sender = plan_sender(&a->m->plan, a->id, lane, round);
	struct plan_message m = plan_message(&a->m->plan, sender, lane, round);

	if (m.type == PLAN_PUT || m.type == PLAN_ATOMIC || m.type == PLAN_FIFO)
		if (!await(a, &m, lane) || !check(a, &m, sender, lane, round))
			return false;
	if (round + 1 == a->m->rounds)
		return true;
	ready(a, lane, round + 1);
	return send_credit(a, lane, round + 1);
}

/* What the actor has sent to itself. */
static bool receive_own(struct actor *a, uint32_t lane, uint64_t round)
{
	struct plan_message m = plan_message(&a->m->plan, a->id, lane, round);

	if (m.type != PLAN_GET && m.type != PLAN_LOCAL)
		return true;
	return spi_poll(a->base + counter_of(lane, true), 0) &&
	       check(a, &m, a->id, lane, round);
}

/* --- all of it --- */

static bool prepare(struct actor *a)
{
	uint64_t n_credits = (a->m->rounds - 1) * PLAN_LANES, i;
	uint32_t lane;

	for (lane = 0; lane < PLAN_LANES; lane++) {
		for (i = 0; i < MESSAGES_CREDITS; i++)
			set_counter(a->base + credit_of(lane, i),
				i ? i : MESSAGES_CREDITS);
		ready(a, lane, 0);
	}
	set_counter(a->base + CREDIT_COUNTER, n_credits * 8);
	store_bytes(a, ~(uint64_t)a->id, GIFT, PLAN_MOST + PLAN_ALIGN);
	return messages_open(a);
}

/* Nothing is left of anything that was sent. */
static void finish(struct actor *a)
{
	uint32_t lane;
	uint64_t word;

	for (lane = 0; lane < PLAN_LANES; lane++) {
		await_sent(a, lane);
		spi_load(a->base + counter_of(lane, false), &word, 8);
		if (word)
			programs_complain(&a->m->programs,
				"lane %" PRIu32 "'s counter is %" PRId64, lane,
				(int64_t)word);
	}
	spi_poll(a->base + CREDIT_COUNTER, 0);
}

void messages_program(void *arg)
{
	struct actor *a = arg;
	uint64_t round;
	uint32_t lane;

	if (!prepare(a))
		return;
	if (!programs_begin(&a->m->programs))
		return;
	for (round = 0; round < a->m->rounds; round++) {
		for (lane = 0; lane < PLAN_LANES; lane++)
			if (!send(a, lane, round))
				return;
		for (lane = 0; lane < PLAN_LANES; lane++)
			if (!receive(a, lane, round) ||
				!receive_own(a, lane, round))
				return;
	}
	finish(a);
}
