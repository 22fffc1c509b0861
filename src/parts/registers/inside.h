/* Shared by the files of the switches' registers. */
#ifndef PARTS_REGISTERS_INSIDE_H
#define PARTS_REGISTERS_INSIDE_H

#include "net/net.h"
#include "parts/registers/command.h"
#include "parts/registers/registers.h"
#include "topo/fattree.h"

/* Since when a link's busy time counts, and what it had sent by then. */
struct chip_busy {
	sim_time since;
	uint64_t bytes;
};

/* The management of a switch. */
struct chip {
	/* Commands that wait, of which the first is being executed. */
	struct packet_list queue;
	uint32_t n_queued;
	sim_time jtag_until; /* when the last access ends */
	port_mask down; /* ports whose links are */
	uint64_t commands, accesses, refused; /* ever */
	uint64_t manager;
	uint64_t notes[WEFT_SWNET_SCRATCH];
	struct {
		uint64_t notes[WEFT_SWNET_SCRATCH];
		struct chip_busy busy;
	} port[WEFT_SWNET_PORTS];
	struct command_maps *maps; /* NULL: nothing is defined */
};

/* It lives longer than the network. */
struct registers {
	const struct registers_params *params;
	struct net *net;
	const struct topo *topo;
	const struct fattree *tree;
	struct pool pool; /* struct registers_body */
	uint32_t n_chips;
	struct chip **chip; /* [switch]; NULL until it is used */
	uint64_t *lost; /* [worker] packets of switches */
};

/* A switch's, made on first use. */
struct chip *registers_chip(struct registers *r, site_id s);

/* Ports of a switch. */
static inline uint32_t registers_n_ports(const struct registers *r, site_id s)
{
	(void)s;
	return r->topo->n_ports < WEFT_SWNET_PORTS ? r->topo->n_ports
						   : WEFT_SWNET_PORTS;
}

/* packet.c: bodies, of which copies take only the words that they have. */
struct registers_body *registers_take(struct registers *r, uint32_t worker);
void registers_copy(
	struct registers_body *to, const struct registers_body *from);

/* bank.c: the registers of a switch at a time. */
struct bank_state {
	struct registers *r;
	struct chip *chip;
	site_id s;
	sim_time t;
};

extern const struct bank_ops bank_ops;

/* chip.c: the client of the switches. */
extern const struct net_client_ops chip_client;

#endif
