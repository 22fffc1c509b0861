/*
 * A network interface: what stands between a node's memory and programs on
 * one side and the network's FIFOs on the other.  One object serves all
 * nodes of a machine; a node's own part comes into being when it is used.
 *
 * It is the network's client.  Of events it gets its own engines' and those
 * of the programs, which it hands on to the host.  Programs reach it in two
 * ways, as on the real machine: by its registers, and by what they write
 * into memory for it to read.
 */
#ifndef NIC_NIC_H
#define NIC_NIC_H

#include "base/param.h"
#include "host/program.h"
#include "net/net.h"

struct nic {
	const struct nic_ops *ops;
	const void *params; /* a struct of ops->params_size */
	struct net *net;
	struct host *host;
	/* told of every packet whose bytes are in memory; may be NULL */
	void (*on_delivered)(
		void *arg, site_id s, const struct packet *p, sim_time t);
	void *arg;
};

/* What it took to bring everything where it should be, of all nodes. */
struct nic_retries {
	uint64_t nacks, timeouts, resent;
	uint64_t duplicates; /* that came and were not executed again */
	uint64_t torn, unreadable; /* packets that came and were not good */
	uint64_t violations; /* of these, seen by the wire's code already */
	uint64_t escapes; /* that were not, and nobody saw it */
};

struct nic_ops {
	const char *name; /* the word written in a machine file */
	const char *title; /* what it is called in a sentence */
	size_t size; /* of the variant, whose first member is struct nic */
	const struct param *params; /* of a struct of its own */
	size_t n_params, params_size;
	const struct net_client_ops *client; /* its state is the nic */

	/* Checks the values against the network; makes the state. */
	int (*init)(struct nic *nic, struct err *e);
	void (*fini)(struct nic *nic);

	/*
	 * A program's store to a register, which leaves the core at t: it
	 * takes effect when it has reached the unit, after all before it.
	 */
	void (*store)(struct nic *nic, struct sim_worker *w, site_id s,
		sim_time t, uint32_t reg, uint64_t value);
	/*
	 * When an access that leaves the core at t is at the unit: it has the
	 * port's next place from then on.  A load that was given a time by
	 * this is made at that time.
	 */
	sim_time (*slot)(struct nic *nic, site_id s, sim_time t);
	/* What a load finds that is at the unit now. */
	uint64_t (*load)(struct nic *nic, site_id s, uint32_t reg);

	/*
	 * After a run that ended by itself: an error where something is
	 * still inside, or was refused.  Only while nothing runs.
	 */
	int (*audit)(struct nic *nic, struct err *e);
	/*
	 * What a node's unit refused to do: how often, and in words.  Only
	 * while nothing runs.
	 */
	uint64_t (*errors)(
		const struct nic *nic, site_id s, char *text, size_t size);
	uint64_t (*memory)(const struct nic *nic); /* bytes that it holds */
	/* NULL where it never sends twice; only while nothing runs. */
	void (*retries)(const struct nic *nic, struct nic_retries *r);
	/* Whether an event is a clock for which nobody waits any more; NULL:
	 * there are none.  Only while nothing runs. */
	bool (*is_stale)(const struct nic *nic, const struct sim_event *e);
};

struct nic_setup {
	const struct nic_ops *ops;
	const void *params; /* borrowed */
	struct net *net;
	struct host *host;
	void (*on_delivered)(
		void *arg, site_id s, const struct packet *p, sim_time t);
	void *arg;
};

/* Makes itself the client of the network and the host's interface. */
struct nic *nic_new(const struct nic_setup *s, struct err *e);
void nic_free(struct nic *nic);

/*
 * For a program of the machine: a poll loop in no step with anything, whose
 * first look falls anywhere in its period.
 */
struct poll_loop nic_poll_loop(
	const struct nic *nic, sim_time period, sim_time load);

/* Events that wait, but for clocks that nobody waits for; only while nothing
 * runs. */
uint64_t nic_n_events(const struct nic *nic);

/*
 * For ops->errors(): those of n kinds that happened, in words; how many.
 */
uint64_t nic_describe_errors(const char *const *names, const uint64_t *counts,
	uint32_t n, char *text, size_t size);

extern const struct nic_ops *const nic_registry[];

#endif
