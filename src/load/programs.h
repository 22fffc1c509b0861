/*
 * What workloads have in common whose nodes run programs: the course of a
 * run, and what is looked at when it is over.  A variant begins with a struct
 * programs and puts programs_next(), programs_check(), ... into its operations.
 *
 * A run is over when nothing is left to happen.  If programs wait then, they
 * would for ever: an error that says who waits for what, with exit code 3.
 * Those on nodes that die are no more then, and only counted.
 */
#ifndef LOAD_PROGRAMS_H
#define LOAD_PROGRAMS_H

#include "api/spi.h"
#include "host/program.h"
#include "load/load.h"

/* When sending begins, where nothing else is said: everybody is ready by
 * then, which software would make sure of with a barrier. */
#define PROGRAMS_START (10000 * (sim_time)SIM_NS)

struct programs_arrivals; /* per worker */

struct programs {
	struct load load;
	struct programs_arrivals *arrivals; /* [worker] */
	uint64_t expected; /* packets, for the progress; 0: not known */
	sim_time until;
	bool is_stalled;
	bool may_err; /* its programs make mistakes */
};

/*
 * In init(): whether the machine has a message unit, or Elan4, and each node
 * so many bytes of memory.
 */
int programs_need(const struct programs *p, uint64_t memory, struct err *e);
int programs_need_elan(
	const struct programs *p, uint64_t memory, struct err *e);
/* The same of another interface, which the user knows as what. */
int programs_need_nic(const struct programs *p, const struct nic_ops *nic,
	const char *what, uint64_t memory, struct err *e);

/* Any that messages (weft/msg.h) know; what they take is added to memory. */
int programs_need_msg(const struct programs *p, uint32_t n_nodes,
	uint64_t memory, struct err *e);

/* In start(), before programs are started. */
void programs_open(struct programs *p);

/* load_ops' own. */
sim_time programs_next(struct load *l);
int programs_check(struct load *l, struct err *e);
void programs_fini(struct load *l);
void programs_delivered(
	void *arg, site_id s, const struct packet *p, sim_time t);

/* In report(): the layer, and the packets' latencies. */
void programs_report(const struct programs *p, struct load_result *r);

/*
 * For estimate(): what nodes with so many programs each take, when their
 * memories hold so many bytes each.
 */
uint64_t programs_estimate(
	uint64_t n_nodes, uint64_t programs_per_node, uint64_t bytes_per_node);

/* The same of one program each that uses messages. */
uint64_t programs_estimate_msg(uint64_t n_nodes, uint64_t bytes_per_node);

/*
 * A program has set up what others send to, and waits until all have: false,
 * and the run will end with an error, where it is too late for that.
 */
bool programs_begin(struct programs *p);

/*
 * From a program: something is wrong, our own mistake.  Of all complaints
 * that of the node with the lowest number is told, its first.  Returns false.
 */
bool programs_complain(struct programs *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Complains of a call that returned an error number; true where it is 0. */
bool programs_did(struct programs *p, const char *call, int32_t code);

/* --- the message unit, as these workloads use it --- */

/* Injection FIFOs, in sub-groups that begin with a program's own. */
enum { PROGRAMS_FIFOS = 128 };

struct programs_fifos {
	MUSPI_InjFifoSubGroup_t group[PROGRAMS_FIFOS / MU_PER_SUBGROUP];
	uint32_t n;
};

/*
 * Takes n FIFOs from sub-group first on, of size bytes each, side by side
 * in memory; false, and complained of, where that fails.
 */
bool programs_open_fifos(struct programs *p, struct programs_fifos *f,
	uint32_t first, uint32_t n, uint64_t at, uint64_t size);

static inline MUSPI_InjFifo_t *programs_fifo(
	struct programs_fifos *f, uint32_t i)
{
	return MUSPI_IdToInjFifo(
		i % MU_PER_SUBGROUP, &f->group[i / MU_PER_SUBGROUP]);
}

/* Entries of the base address table that it sets. */
enum { PROGRAMS_BASE_PAYLOAD, PROGRAMS_BASE_COUNTER };

/* Payloads go behind one address, counters are words behind another. */
bool programs_open_bases(
	struct programs *p, uint64_t payload, uint64_t counters);

/* Injects, as soon as the FIFO has room. */
void programs_inject(MUSPI_InjFifo_t *fifo, const MUHWI_Descriptor_t *desc);

/* Sets a counter. */
static inline void programs_arm(uint64_t counter, uint64_t bytes)
{
	spi_store(counter, &bytes, sizeof(bytes));
}

/* What a put's header needs for one of the keys "routing": dynamic,
 * deterministic. */
void programs_route(
	MUSPI_Pt2PtDirectPutDescriptorInfo_t *info, int64_t routing);

#endif
