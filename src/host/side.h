/*
 * A side: the connection between a network interface and a node's memory, for
 * all nodes of a machine.  It is a cache or a bus.  It computes times; bytes
 * are read and written by host/host.h at those times.
 *
 * For an interface that works with any side, the machine file selects one
 * (side.kind).  Interfaces of real machines have a fixed side: the message unit
 * the processor's cache (host_cache()), Elan4 a bus.
 *
 * A read takes two calls, because the bus serves others between them: request()
 * now, and data() at the time that it returns.  A longer read may be requested
 * at once, as several requests.  The interface limits the outstanding reads to
 * n_reads of at most most_read bytes each.  t is now, except for store(), which
 * may be called ahead of time.
 *
 * Each processor of a node has a connection of its own (host.processors), or
 * each card (nic.cards).  Calls name it by its place: side_place().  Where
 * nodes have one, a place is a node.
 */
#ifndef HOST_SIDE_H
#define HOST_SIDE_H

#include "base/param.h"
#include "sim/sim.h"

struct side {
	const struct side_ops *ops;
	site_id n_places; /* connections: of all processors of all nodes */
	uint32_t n_each; /* of a node: its processors */
	uint32_t most_read; /* bytes of a read */
	uint32_t n_reads; /* at a time */
	int64_t rate; /* bytes a second in each direction; 0: not known */
};

/* The connection of a node's processor. */
static inline site_id side_place(
	const struct side *s, site_id node, uint32_t processor)
{
	return node * s->n_each + processor;
}

struct side_rates {
	int64_t data, raw; /* 0: not known */
};

/*
 * An interface on the processor's chip may have ports of its own into a side.
 * They take requests of up to a line, one per cycle, each of which waits for
 * its slice's slot in a look-up table.  If the slot is empty, it is filled at
 * once; otherwise the request passes the slower FIFO, which keeps the order of
 * each slice.  The interface decides who uses a port, and when.
 */
enum { SIDE_SLOTS = 16 };

struct side_port_how {
	sim_time cycle; /* from one request to the next */
	sim_time fifo; /* of a request that does not bypass it */
	int64_t read_rate; /* of data that comes back, bytes a second */
};

/* One port of one place. */
struct side_port {
	sim_time free_at; /* for the next request */
	sim_time data_at; /* the read data path is free */
	sim_time slot[SIDE_SLOTS]; /* is empty */
	sim_time calm_at; /* all of them are */
	uint64_t requests, bypassed;
	sim_time outstanding; /* integral */
};

/* Operations of ports.  They request [at, at + bytes) as soon as the port is
 * free; each returns when the last request is done. */
struct side_ports {
	/* For all ports, before they are used. */
	void (*set)(struct side *s, const struct side_port_how *how);
	sim_time (*read)(struct side *s, struct side_port *p, site_id place,
		sim_time t, uint64_t at, uint32_t bytes);
	sim_time (*write)(struct side *s, struct side_port *p, site_id place,
		sim_time t, uint64_t at, uint32_t bytes);
	/* Atomic operations of the memory. */
	sim_time (*atomic)(struct side *s, struct side_port *p, site_id place,
		sim_time t, uint64_t at, uint32_t bytes);
};

struct side_ops {
	const char *name; /* the word written in a machine file */
	const char *title; /* its name in a sentence */
	size_t size; /* of the variant, whose first member is struct side */
	const struct param *params; /* of a struct of its own */
	size_t n_params, params_size;

	/* The parameters are copied. */
	int (*init)(struct side *s, const void *params, struct err *e);
	void (*fini)(struct side *s);

	/* Requests a read; returns when data() is to be called. */
	sim_time (*request)(struct side *s, site_id place, sim_time t,
		uint64_t at, uint32_t bytes);
	/* Returns when all data is in the interface. */
	sim_time (*data)(struct side *s, site_id place, sim_time t, uint64_t at,
		uint32_t bytes);
	/* The least time that data() takes; NULL: data() must be called at the
	 * time that request() returns. */
	sim_time (*least)(const struct side *s, uint32_t bytes);
	/* As data() of n reads of so many bytes, the i-th at t + i * step: when
	 * each is over.  Only with least(). */
	void (*data_of)(struct side *s, site_id place, sim_time t,
		sim_time step, uint32_t bytes, uint32_t n, sim_time *over);
	/* A write; returns when loads can see it. */
	sim_time (*write)(struct side *s, site_id place, sim_time t,
		uint64_t at, uint32_t bytes);
	/* An atomic operation on a word, done by the memory; returns when loads
	 * can see it.  NULL: the interface reads and writes. */
	sim_time (*atomic)(
		struct side *s, site_id place, sim_time t, uint64_t at);
	/* A core's store to the interface; returns when it is there. */
	sim_time (*store)(
		struct side *s, site_id place, sim_time t, uint32_t bytes);

	uint64_t (*memory)(const struct side *s); /* bytes that it uses */
	const struct side_ports *ports; /* NULL: there are none */

	/* Bytes per second in each direction, from the parameters: without and
	 * with the line code.  NULL: it has no rate. */
	struct side_rates (*rates)(const void *params);
};

/* For nodes of so many processors. */
struct side *side_new(const struct side_ops *ops, const void *params,
	site_id n_nodes, uint32_t n_processors, struct err *e);
void side_free(struct side *s);
uint64_t side_memory(const struct side *s); /* s may be NULL */

extern const struct side_ops side_l2_ops, side_pcix_ops, side_ht_ops,
	side_pcie_ops;
extern const struct side_ops *const side_registry[]; /* ends with NULL */

#endif
