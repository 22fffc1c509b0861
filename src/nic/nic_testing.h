/* For tests: a small torus whose nodes have memory, programs and a network
 * interface. */
#ifndef NIC_NIC_TESTING_H
#define NIC_NIC_TESTING_H

#include "host/side.h"
#include "nic/nic.h"
#include "parts/part.h"
#include "route/hint.h"
#include "topo/torus.h"

#define NIC_TESTING_MEMORY (UINT64_C(1) << 30) /* bytes per node */

/*
 * A client that packs the bytes of each packet that arrives, spoils them and
 * unpacks them again, as if they had come by mail from another process.
 */
struct nic_mail {
	struct net_client_ops ops;
	const struct net_client_ops *to;
};

struct nic_testing {
	/* set by init(), with defaults; a test may change them */
	struct torus torus;
	struct hint hint;
	struct link_params link;
	struct net_params router;
	const struct nic_ops *ops;
	void *params; /* the interface's */
	int64_t l2_capacity; /* bytes; 0: the usual */
	int64_t processors; /* of a node; 0: one */
	const struct side_ops *side; /* where it takes any: PCI Express */
	void *side_params;
	const struct book_how *book;
	const struct fault_plan *faults;

	/* set by start() */
	struct parts parts;
	struct net *net;
	struct host *host;
	struct nic *nic;
	struct nic_mail mail;
	uint64_t *digest; /* [node] over deliveries */
};

void nic_testing_init(
	struct nic_testing *m, const struct nic_ops *ops, const char *shape);
/* The same of a machine file's interface, with its links, routers and
 * parameters. */
void nic_testing_machine(
	struct nic_testing *m, const char *machine, const char *shape);
/* Builds the machine; what goes wrong fails the test. */
void nic_testing_start(
	struct nic_testing *m, uint32_t n_workers, uint32_t n_programs);
/* Runs until nothing is left to do, and audits. */
void nic_testing_run(struct nic_testing *m);
uint64_t nic_testing_digest(const struct nic_testing *m);
void nic_testing_fini(struct nic_testing *m);

/* --- for kits with a machine of another kind --- */

/* From now on; until the network is freed. */
void nic_testing_mail(struct nic_mail *m, struct net *net);
/* Sets a table's defaults. */
void nic_testing_defaults(const struct param *rows, size_t n, void *values);
/* Runs until nothing is left to do, and audits. */
void nic_testing_finish(struct nic *nic, struct net *net, struct host *host);

#endif
