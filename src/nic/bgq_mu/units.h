/* What the message unit's files do for each other, file by file. */
#ifndef NIC_BGQ_MU_UNITS_H
#define NIC_BGQ_MU_UNITS_H

#include "nic/bgq_mu/mu.h"

/* --- mu.c --- */

/* Records what happened, and interrupts. */
void mu_tell(const struct nic_at *a, enum mu_interrupt what, uint64_t number,
	uint64_t address);

/*
 * Passes a word of a packet through an engine's buffer and flips the bits of
 * MU_FAULT; false if the code cannot correct them and the engine must stop.
 * Injection engines come first, then those of reception.
 */
bool mu_pass_flips(const struct nic_at *a, uint32_t engine, uint64_t word);

static inline bool mu_is_sound(
	const struct nic_at *a, uint32_t engine, uint64_t word)
{
	return __builtin_expect(!mu_here(a)->flips, 1) ||
	       mu_pass_flips(a, engine, word);
}

/* A number below a bound, by the node's shift register. */
static inline uint32_t mu_random(struct mu_node *n, uint32_t below)
{
	uint32_t x = lfsr_step(n->lfsr);

	n->lfsr = (uint16_t)x;
	return x * below >> 16;
}

static inline bool mu_is_system(uint32_t inj)
{
	return inj >= MU_SYSTEM_SUBGROUP * MU_PER_SUBGROUP;
}

static inline enum mu_level mu_level_of(uint32_t inj, uint32_t attributes)
{
	if (mu_is_system(inj))
		return MU_LEVEL_SYSTEM;
	return attributes & MU_INJ_HIGH ? MU_LEVEL_HIGH : MU_LEVEL_NORMAL;
}

/* --- account.c: only if there is a book --- */

void mu_account_free(struct mu_node *n);
/* A tail's store leaves the core. */
void mu_account_store(struct mu_node *n, uint32_t inj, sim_time t);
/* The unit wants the next descriptor; it has taken it in. */
void mu_account_want(const struct nic_at *a, uint32_t inj);
void mu_account_fetched(const struct nic_at *a, uint32_t inj);
/* A packet goes into the network; it has been pulled out and has room. */
void mu_account_packet(const struct nic_at *a, uint32_t engine,
	const struct mu_job *job, packet_id id);
void mu_account_pulled(const struct nic_at *a, uint32_t engine, packet_id id);

/* --- port.c --- */

static inline struct mu_port *mu_port(
	const struct nic_at *a, uint32_t requester)
{
	return &mu_here(a)->port[mu_of(a)->port_of[requester]];
}

/* A requester takes its port if it is free and none waits for it; otherwise it
 * waits until the port calls it. */
static inline bool mu_port_is_free(const struct nic_at *a, uint32_t requester)
{
	const struct mu_port *p = mu_port(a, requester);

	return p->side.free_at <= a->t && !p->asking;
}

void mu_port_wait(const struct nic_at *a, uint32_t requester);
/* Either of these. */
void mu_port_ask(const struct nic_at *a, uint32_t requester);
void mu_port_on_free(const struct nic_at *a, uint32_t port);

bool mu_port_allows_slow(
	const struct nic_at *a, uint64_t at, uint64_t bytes, uint32_t right);

/* Whether the ranges allow an access; usually the first one does. */
static inline bool mu_port_allows(const struct nic_at *a, uint64_t at,
	uint64_t bytes, bool is_write, bool is_system)
{
	uint32_t right = is_system ? is_write ? MU_SYSTEM_WRITE : MU_SYSTEM_READ
			 : is_write ? MU_USER_WRITE
				    : MU_USER_READ;

	if (__builtin_expect(bytes <= mu_here(a)->open_end &&
				     at <= mu_here(a)->open_end - bytes,
		    1))
		return true;
	return mu_port_allows_slow(a, at, bytes, right);
}

/* Requests for [at, at + bytes), which the ranges allow, by the requester's
 * port; returns when the last one is done. */
static inline sim_time mu_port_read(
	const struct nic_at *a, uint32_t requester, uint64_t at, uint32_t bytes)
{
	const struct mu *mu = mu_of(a);

	return mu->ports.read(
		mu->side, &mu_port(a, requester)->side, a->s, a->t, at, bytes);
}

static inline sim_time mu_port_write(
	const struct nic_at *a, uint32_t requester, uint64_t at, uint32_t bytes)
{
	const struct mu *mu = mu_of(a);

	return mu->ports.write(
		mu->side, &mu_port(a, requester)->side, a->s, a->t, at, bytes);
}

static inline sim_time mu_port_atomic(
	const struct nic_at *a, uint32_t requester, uint64_t at, uint32_t words)
{
	const struct mu *mu = mu_of(a);

	return mu->ports.atomic(mu->side, &mu_port(a, requester)->side, a->s,
		a->t, at, 8 * words);
}

/* How many more descriptors fit after a tail. */
static inline uint64_t mu_inj_room(const struct mu_inj_fifo *f, uint64_t tail)
{
	uint64_t used =
		tail >= f->head ? tail - f->head : f->size - (f->head - tail);

	/* one place stays free: full must differ from empty */
	return f->size ? (f->size - used) / MU_DESCRIPTOR_BYTES - 1 : 0;
}

/* --- fetch.c --- */

/* Asks for the FIFO's next descriptor, if it is active and has one. */
void mu_fetch_want(const struct nic_at *a, uint32_t inj);
/* The port is free: chooses a FIFO. */
void mu_fetch_take(const struct nic_at *a);
enum mu_level mu_fetch_level(const struct mu_node *n);
void mu_fetch_on_done(const struct nic_at *a, uint32_t inj);
/* If FIFOs that send may use different engines. */
void mu_fetch_count_mixed(struct mu_senders *s, uint32_t engines, int by);
/* A FIFO joins or leaves those with packets to cut. */
static inline void mu_fetch_set_sending(const struct nic_at *a,
	const struct mu_inj_fifo *f, uint32_t inj, bool is_sending)
{
	struct mu_senders *s = &mu_here(a)->sending[f->level];
	uint64_t bit = UINT64_C(1) << inj % 64;

	if (!s->n)
		s->engines = f->engines;
	if (__builtin_expect(s->engines != f->engines || s->are_mixed, 0))
		mu_fetch_count_mixed(s, f->engines, is_sending ? 1 : -1);
	if (is_sending) {
		s->n++;
		s->word[inj / 64] |= bit;
		s->words |= (uint16_t)(1u << inj / 64);
	} else {
		s->n--;
		if (!(s->word[inj / 64] &= ~bit))
			s->words &= (uint16_t) ~(1u << inj / 64);
	}
}
void mu_fetch_halt(const struct nic_at *a, uint32_t inj);

/* --- header.c, clocks.c --- */

extern const struct param_follow mu_clocks[];
_Static_assert((int)MU_NETWORK_BYTES == (int)BOOK_HEADER, "all of it");

/* Makes the table of coordinates. */
void mu_header_init(struct mu *mu);
void mu_header_on_link(const struct net_client *me, packet_id id,
	uint32_t channel, uint32_t number, uint8_t header[BOOK_HEADER]);

/* --- collective.c --- */

static inline bool mu_is_collective_fifo(uint32_t fifo)
{
	return fifo - MU_NET_COLLECTIVE < 2;
}

/* As for other descriptors: MU_INTERRUPTS if it is valid. */
enum mu_interrupt mu_collective_take(
	const struct nic_at *a, struct mu_inj_fifo *f, uint32_t inj);
/* A packet goes into its network FIFO. */
void mu_collective_inject(
	const struct nic_at *a, uint32_t engine, packet_id id);
/* Room of a reception FIFO is given back. */
void mu_collective_release(
	const struct nic_at *a, uint32_t fifo, uint32_t chunks);
/* A packet was received. */
void mu_collective_arrived(const struct nic_at *a, const struct packet *p);
/* net_client_ops' own. */
bool mu_collective_combine(struct net_client *me, struct sim_worker *w,
	site_id s, const packet_id *id, uint32_t n_ids, sim_time t);
void mu_collective_stopped(struct net_client *me, struct sim_worker *w,
	site_id s, uint32_t route, sim_time t);
void mu_collective_describe(
	const struct net_client *me, packet_id id, char *text, size_t size);

/* --- inject.c --- */

/* Lets an idle engine begin a packet, if it can. */
void mu_inject_go_on(const struct nic_at *a, uint32_t engine);
void mu_inject_take(const struct nic_at *a, uint32_t engine);
/* An engine has written its packet into its network FIFO. */
void mu_inject_on_done(const struct nic_at *a, uint32_t engine);

/* --- receive.c --- */

void mu_receive(
	const struct nic_at *a, uint32_t fifo, packet_id id, sim_time tail);
/* The packet is in the engine; its bytes are in memory; its counter is
 * changed. */
void mu_receive_on_pulled(const struct nic_at *a, uint32_t fifo);
void mu_receive_take_write(const struct nic_at *a, uint32_t fifo);
void mu_receive_on_written(const struct nic_at *a, uint32_t fifo, packet_id id);
void mu_receive_take_count(const struct nic_at *a, uint32_t fifo);
void mu_receive_on_counted(const struct nic_at *a, uint32_t fifo, packet_id id);
/* A FIFO has changed: engines that wait for room in it try again. */
void mu_receive_retry(const struct nic_at *a, uint32_t fifo);

/* --- store.c: packets that go into FIFOs --- */

enum mu_room { MU_ROOM, MU_NO_ROOM, MU_REFUSED };

/* Gives a packet its place, or reports an error; no room if others wait before
 * it. */
enum mu_room mu_store_reserve(
	const struct nic_at *a, const struct packet *p, bool is_behind);
/* Its requests, by the engine's port; returns when they are done. */
sim_time mu_store_write(
	const struct nic_at *a, uint32_t requester, const struct packet *p);
/* Its bytes are to be in memory now. */
void mu_store_done(const struct nic_at *a, const struct packet *p);

/* FIFOs that engines wait for. */
static inline uint32_t mu_wait_rec(uint32_t rec)
{
	return rec;
}

static inline uint32_t mu_wait_inj(uint32_t inj)
{
	return MU_REC_FIFOS + inj;
}

/* --- barrier.c --- */

void mu_barrier_init(struct mu *mu);
void mu_barrier_free(struct mu_node *n);
uint64_t mu_barrier_memory(const struct mu_node *n);
void mu_barrier_describe(const struct nic *nic, char *text, size_t size);
void mu_barrier_on_event(const struct nic_at *a, const struct sim_event *e);
/* Registers from MU_GI_ROUTE on. */
uint64_t mu_barrier_load(
	struct nic *nic, site_id s, uint32_t kind, uint32_t class);
enum mu_interrupt mu_barrier_store(
	const struct nic_at *a, uint32_t kind, uint32_t class, uint64_t value);

/* --- registers.c --- */

void mu_registers_on_store(const struct nic_at *a);
/* The ranges have changed. */
void mu_registers_open(struct mu_node *n);
/* Bytes after the reserved ones. */
uint64_t mu_rec_free(const struct mu_rec_fifo *f);

#endif
