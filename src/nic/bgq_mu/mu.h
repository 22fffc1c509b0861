/*
 * The message unit's insides, shared by its files and by nobody else.
 *
 *	program --store--> slave port: registers            (mu.c)
 *	                      |
 *	injection FIFOs in memory -> descriptor fetch       (inject.c)
 *	                      |
 *	injection engines, one per network injection FIFO: read the payload,
 *	cut packets -> network
 *
 *	network -> reception engines, one per network reception FIFO: base
 *	address table -> memory, then the counter           (receive.c)
 *
 * mu is the unit of all nodes, n one node's part, w the worker and s the
 * site that is visited.
 */
#ifndef NIC_BGQ_MU_MU_H
#define NIC_BGQ_MU_MU_H

#include "nic/bgq_mu/bgq_mu.h"
#include "nic/bgq_mu/descriptor.h"
#include "nic/payload.h"

/* Numbers of events: ENGINE_CLIENT and above. */
enum mu_engine {
	MU_ENGINE_INJECTED = ENGINE_CLIENT, /* + network FIFO */
	MU_ENGINE_PULLED = MU_ENGINE_INJECTED + N_FIFOS, /* + network FIFO */
	MU_ENGINE_WRITTEN = MU_ENGINE_PULLED + N_FIFOS, /* + network FIFO */
	MU_ENGINE_COUNTED = MU_ENGINE_WRITTEN + N_FIFOS, /* + network FIFO */
	MU_ENGINE_SLAVE = MU_ENGINE_COUNTED + N_FIFOS,
	MU_ENGINE_FETCHED, /* + injection FIFO */
};

enum mu_inj_state {
	MU_INJ_IDLE,
	MU_INJ_FETCHING,
	MU_INJ_SENDING, /* its descriptor is in the unit */
	MU_INJ_STOPPED, /* by a descriptor that was refused */
};

/* An injection FIFO: its pointers and the descriptor that was fetched. */
struct mu_inj_fifo {
	uint64_t start, size, head, tail;
	uint64_t count; /* descriptors sent */
	bool is_enabled;
	uint8_t state;
	uint16_t engines; /* network FIFOs that may carry its packets */
	uint32_t in_flight; /* packets that engines are at work on */
	uint64_t next, n_packets; /* the next packet to be cut; of how many */
	site_id dst;
	struct mu_descriptor descriptor;
};

struct mu_subgroup {
	struct mu_inj_fifo inj[MU_PER_SUBGROUP];
	uint64_t base[MU_PER_SUBGROUP];
	uint8_t base_set; /* a bit for each that was ever written */
	uint8_t inj_owned, base_owned;
};

enum { MU_SENDING_WORDS = (MU_INJ_FIFOS + 63) / 64 };

/* The packet that an injection engine is at work on. */
struct mu_job {
	uint64_t packet; /* of the message, from 0 */
	uint16_t inj;
};

struct mu_store {
	uint64_t value;
	uint32_t reg;
};

struct mu_node {
	struct mu_subgroup *subgroup[MU_SUBGROUPS]; /* NULL until used */
	uint64_t sending[MU_SENDING_WORDS]; /* FIFOs with packets to cut */
	struct mu_job job[N_FIFOS];
	sim_time drained_at[N_FIFOS]; /* by each reception engine */
	struct mu_store *stores; /* on their way to the slave port: a ring */
	uint32_t stores_first, stores_n, stores_room;
	uint32_t number; /* of packets sent */
	uint32_t last; /* injection FIFO that was served */
	uint16_t busy; /* injection engines */
	uint64_t refused;
};

struct mu {
	struct nic nic;
	struct mu_params params;
	struct mu_node **nodes; /* NULL until used */
	struct payload_pool *payloads;
	uint32_t payload; /* the most in a packet */
	uint32_t n_dims;
	const struct torus *torus;
};

/* What a packet's load field points to. */
struct mu_buffer {
	struct mu_header header;
	uint8_t payload[];
};

struct mu_node *mu_node(struct mu *mu, site_id s);

/* NULL where there is no such FIFO. */
struct mu_inj_fifo *mu_inj(struct mu_node *n, uint64_t id);

/* The time of so many bytes at a rate, to the next picosecond. */
sim_time mu_time(uint64_t bytes, int64_t rate);

/* --- inject.c --- */

/* Fetches the FIFO's next descriptor, where there is one and it may. */
void mu_inject_fetch(struct mu *mu, struct mu_node *n, struct sim_worker *w,
	site_id s, sim_time t, uint32_t inj);
void mu_inject_on_fetched(struct mu *mu, struct sim_worker *w, site_id s,
	sim_time t, uint32_t inj);
/* An engine has written its packet into its network FIFO. */
void mu_inject_on_done(struct mu *mu, struct sim_worker *w, site_id s,
	sim_time t, uint32_t engine);
void mu_inject_on_room(struct mu *mu, struct sim_worker *w, site_id s,
	sim_time t, uint32_t engine);

/* --- receive.c --- */

void mu_receive(struct mu *mu, struct sim_worker *w, site_id s, uint32_t fifo,
	packet_id id, sim_time tail);
/* The packet has left its network FIFO; its bytes are in memory; so is the
 * change of its counter. */
void mu_receive_on_pulled(struct mu *mu, struct sim_worker *w, site_id s,
	sim_time t, uint32_t fifo, packet_id id);
void mu_receive_on_written(struct mu *mu, struct sim_worker *w, site_id s,
	sim_time t, uint32_t fifo, packet_id id);
void mu_receive_on_counted(struct mu *mu, struct sim_worker *w, site_id s,
	sim_time t, packet_id id);

#endif
