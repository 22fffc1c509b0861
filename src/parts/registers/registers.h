/*
 * The management of a switch: registers, and the units that serve them
 * (weft/swnet.h describes both).
 *
 * Commands and answers are packets of the network's management channel.  What
 * ends at a switch is handed to this part, as the client of all switches: it
 * queues, decodes and executes one command after the other, and injects the
 * answer at the switch.  An answer to a source-routed command goes back by the
 * ports at which the command came in; any other goes to the asking node by the
 * tables.  JTAG needs no packets: a program's access is mail to the switch.
 *
 * A switch has no state here until it is first accessed.
 */
#ifndef PARTS_REGISTERS_REGISTERS_H
#define PARTS_REGISTERS_REGISTERS_H

#include "base/pool.h"
#include "link/packet.h"
#include "parts/part.h"
#include "topo/topo.h"
#include "weft/swnet.h"

struct host;
struct net;
struct registers;

/* What a packet carries. */
enum registers_kind {
	REGISTERS_REQUEST,
	REGISTERS_ANSWER,
	/* A link of a switch has died or returned: port | is_up << 8; place;
	 * GUID.  Nobody answers. */
	REGISTERS_EVENT,
};

struct registers_body {
	/* Ports, a byte each, for the routing (PACKET_VECTOR); then
	 * WEFT_SWNET_HERE if it ends at a switch. */
	uint8_t route[WEFT_SWNET_HOPS + 2];
	uint8_t kind, status, command, n_words;
	uint16_t scope; /* WEFT_SWNET_CHIP ... */
	uint16_t rail; /* port by which an answer came to its node */
	uint32_t sequence; /* the asker's number of the request */
	uint32_t asker; /* node */
	uint32_t unused;
	uint64_t word[WEFT_SWNET_WORDS];
};

enum {
	/* Of packet.tag: tells these packets from others of their channel. */
	REGISTERS_TAG = 0x4d47,
	REGISTERS_HEAD = 32, /* bytes of a body without its words */
};

struct registers_params {
	int64_t control, row, agent; /* of a command in RCM, RM, MA: ps */
	int64_t word; /* of a result, until it is in the answer: ps */
	int64_t queue; /* commands that wait at a switch */
	int64_t jtag; /* of an access, ps */
};

extern const struct part_ops part_registers;

/* NULL: the machine's switches have none. */
struct registers *registers_of(const struct host *h);

/* --- packets, for interfaces --- */

static inline bool registers_are(const struct packet *p)
{
	return p->kind >= PACKET_SYSTEM && p->tag == REGISTERS_TAG &&
	       !(p->flags & PACKET_MANY);
}

static inline struct registers_body *registers_body(const struct packet *p)
{
	return (struct registers_body *)(uintptr_t)p->load;
}

/*
 * Makes a packet with a copy of a body, from a site to another: by the body's
 * route, if it has one, otherwise by the tables.  It is ready for injection.
 */
packet_id registers_packet(struct registers *r, struct sim_worker *w,
	site_id src, site_id dst, const struct registers_body *b,
	bool is_source, sim_time t);
/* Frees a packet and its body. */
void registers_give(struct registers *r, struct sim_worker *w, packet_id id);
/* For mail to another process: see struct net_client_carry. */
void registers_pack(struct registers *r, struct sim_worker *w,
	const struct packet *p, struct cluster_bytes *to);
void registers_unpack(struct registers *r, struct sim_worker *w,
	struct packet *p, const void *from);
/* Frees a packet alone; its body is to be freed later. */
struct registers_body *registers_keep(
	struct registers *r, struct sim_worker *w, packet_id id);
void registers_free(
	struct registers *r, struct sim_worker *w, struct registers_body *b);
/* The way back of a packet that came by a source route: to be a body's
 * route. */
void registers_reverse(const struct packet *p, uint8_t *route);

/* --- names --- */

/* supernode << 32 | number */
uint64_t registers_guid(const struct registers *r, site_id s);
/* The switch or node of a GUID in a rail; NO_SITE: there is none. */
site_id registers_find(const struct registers *r, uint32_t rail, uint64_t guid);
/* level << 32 | number */
uint64_t registers_place(const struct registers *r, site_id s);

/* --- JTAG --- */

/* Switches are on the chain in the order of their sites. */
uint32_t registers_n_chips(const struct registers *r);
/*
 * From a program: waits for the access.  The answer takes the request's place
 * in *b.  EBUSY: another access of this switch was under way.
 */
int registers_jtag(
	struct registers *r, uint32_t chip, struct registers_body *b);

#endif
