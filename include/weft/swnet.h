/*
 * The management of Sunway's network: registers of the switches (SWHRC), read
 * and written by a program on one node, the manager.  The man page is
 * weft-swnet(7).
 *
 * Switches.  A switch has registers of its own and a set for each port.  Its
 * ports stand in 5 rows of 8: port p is in row p / 8.  A control unit (RCM)
 * hands each command to 5 row units (RM), each of these to the agents (MA) of
 * its 8 ports, all at once: a command for all ports takes as long as one for a
 * single port, except that its answer may be longer.
 *
 * Ways.  In band, command and answer are packets: on a route that the manager
 * names port by port, which needs no tables, or to the GUID of a switch, by the
 * tables.  Out of band, JTAG reaches every
 * switch, also if all links are down, but takes 1 ms.  A switch serves both at
 * the same time.
 *
 * Commands are mapped twice: a command is a list of operations, which the
 * control unit keeps, and an operation is an action on a register, which each
 * agent keeps.  Both maps can be written from WEFT_SWNET_OWN on.
 *
 * All operations may be repeated without harm, so the library sends a command
 * again if its answer does not come in time.
 */
#ifndef WEFT_SWNET_H
#define WEFT_SWNET_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
	WEFT_SWNET_HOPS = 10, /* switches on a route, at most */
	WEFT_SWNET_HERE = 0xff, /* in a route: it ends at this switch */
	WEFT_SWNET_PORTS = 40, /* of a switch */
	WEFT_SWNET_COLUMNS = 8, /* ports of a row */
	WEFT_SWNET_ROWS = 5,
	WEFT_SWNET_CHANNELS = 4,
	WEFT_SWNET_SLICE = 16, /* bytes */
	WEFT_SWNET_MULTICASTS = 32, /* entries of a port */
	WEFT_SWNET_SCRATCH = 4,
	WEFT_SWNET_WORDS = 248, /* of a command, and of its answer */
	WEFT_SWNET_NUMBERS = 64, /* of commands, and of operations */
	WEFT_SWNET_OWN = 16, /* the first that software may define */
	WEFT_SWNET_STEPS = 8, /* operations of a command */
};

/* Registers of a port; those with an index have several words. */
enum weft_swnet_register {
	/* read only */
	WEFT_SWNET_STATUS, /* bit 0: its link is up; bits 8-15: its lanes */
	WEFT_SWNET_RECEIVED, /* [channel] packets */
	WEFT_SWNET_SENT,
	WEFT_SWNET_SLICES_IN, /* [channel] of 16 B */
	WEFT_SWNET_SLICES_OUT,
	WEFT_SWNET_OCCUPANCY, /* [channel] packets in the input buffer, now */
	/* Part of the time for which the link was busy, in thousandths, since
	 * the register was last written, with any value. */
	WEFT_SWNET_BUSY,
	WEFT_SWNET_SPLIT, /* entries of the table's first part */
	WEFT_SWNET_MULTICAST, /* [entry] ports, a bit each; 0: none */
	WEFT_SWNET_NOTES, /* [WEFT_SWNET_SCRATCH] for the manager's own use */
	WEFT_SWNET_REGISTERS,
};

/* Registers of a switch, for WEFT_SWNET_CHIP. */
enum weft_swnet_chip_register {
	/* read only */
	WEFT_SWNET_GUID, /* supernode << 32 | number */
	WEFT_SWNET_PLACE, /* level << 32 | number, by the pins of its slot */
	WEFT_SWNET_N_PORTS,
	/* Packets dropped: source routes that waited for too long; without a
	 * way; commands that found the control unit's queue full. */
	WEFT_SWNET_LATE,
	WEFT_SWNET_NO_WAY,
	WEFT_SWNET_REFUSED,
	WEFT_SWNET_COMMANDS, /* executed, in band */
	WEFT_SWNET_ACCESSES, /* by JTAG */
	/* The node that gets events: 1 << 63 | supernode << 32 | number of its
	 * GUID; 0: none. */
	WEFT_SWNET_MANAGER,
	WEFT_SWNET_CHIP_NOTES, /* [WEFT_SWNET_SCRATCH] */
	WEFT_SWNET_CHIP_REGISTERS,
};

/* Commands that every switch knows.  Words are operands, then results: for a
 * row or all ports those of each port, in order. */
enum weft_swnet_command {
	/* Answers kind, ports and the port that it came by (WEFT_SWNET_IDENTITY
	 * below), GUID and place.  Nodes answer it, too. */
	WEFT_SWNET_IDENTIFY,
	/* register | index << 16 | count << 32, for count words from the index
	 * on */
	WEFT_SWNET_READ,
	WEFT_SWNET_WRITE, /* the same, then count values */
	WEFT_SWNET_SET, /* bits of count registers; values have them */
	WEFT_SWNET_CLEAR,
	/* part | first << 16 | count << 32; number of ports; the ports, 8 to a
	 * word, the first in the lowest byte */
	WEFT_SWNET_WRITE_ENTRIES,
	WEFT_SWNET_READ_ENTRY, /* the same word; answers as above */
	WEFT_SWNET_DEFINE, /* number; number of steps; steps, one to a word */
	WEFT_SWNET_DEFINE_OPERATION, /* number; the operation */
	WEFT_SWNET_COMMANDS_KNOWN,
};

/* An operation of an agent: action | register << 8 | index << 16. */
enum weft_swnet_action {
	WEFT_SWNET_DO_READ, /* its value is a result */
	WEFT_SWNET_DO_WRITE, /* of an operand; ... */
	WEFT_SWNET_DO_SET, /* ... of its bits */
	WEFT_SWNET_DO_CLEAR,
	WEFT_SWNET_ACTIONS,
};

/* A step of a command: operation | operand << 8, a number of the command's
 * words. */

/* Where a command acts. */
#define WEFT_SWNET_CHIP	   0x000u
#define WEFT_SWNET_PORT(p) (0x100u | (uint32_t)(p))
#define WEFT_SWNET_ROW(r)  (0x200u | (uint32_t)(r))
#define WEFT_SWNET_ALL	   0x300u

/* The parts of a port's table. */
enum { WEFT_SWNET_INTRA, WEFT_SWNET_INTER };

/* The first word of an identity. */
#define WEFT_SWNET_IDENTITY(is_switch, ports, came_by)                         \
	((uint64_t)(is_switch) | (uint64_t)(ports) << 8 |                      \
		(uint64_t)(came_by) << 16)
#define WEFT_SWNET_IS_SWITCH(word) ((uint32_t)((word)&1))
#define WEFT_SWNET_PORTS_OF(word)  ((uint32_t)((word) >> 8 & 0xff))
#define WEFT_SWNET_CAME_BY(word)   ((uint32_t)((word) >> 16 & 0xff))

enum weft_swnet_status {
	WEFT_SWNET_OK,
	WEFT_SWNET_NO_COMMAND, /* it is not defined */
	WEFT_SWNET_NO_REGISTER,
	WEFT_SWNET_NO_PORT,
	WEFT_SWNET_NO_ENTRY,
	WEFT_SWNET_READ_ONLY,
	WEFT_SWNET_BAD_VALUE,
	WEFT_SWNET_TOO_LONG, /* its answer would be */
	WEFT_SWNET_STATUSES,
};

/* --- the manager --- */

/* Owned by the library. */
struct weft_swnet;

/*
 * The calling process becomes its node's manager, which enters the operating
 * system once.  EBUSY: the node has one.  ENOSYS: the machine's switches have
 * no registers.  Calls return 0 or a number of errno.h.
 */
int weft_swnet_open(struct weft_swnet **m);
/* Answers that come later are dropped.  Table entries stay as they are. */
int weft_swnet_close(struct weft_swnet *m);

enum weft_swnet_by {
	WEFT_SWNET_BY_ROUTE,
	WEFT_SWNET_BY_GUID,
	WEFT_SWNET_BY_JTAG,
};

/* A switch, and the way to it. */
struct weft_swnet_target {
	uint32_t by; /* enum weft_swnet_by */
	uint32_t rail; /* port of this node by which packets leave */
	uint64_t guid;
	uint32_t chip; /* by JTAG: its number on the chain, from 0 on */
	/* The ports to take, of each switch on the way; none: the switch at the
	 * other end of this node's link. */
	uint32_t n_hops;
	uint8_t hop[WEFT_SWNET_HOPS];
};

/*
 * Executes a command: n words are its operands, then its *n results, of which
 * there is room for most.  Waits for the answer.  EINVAL: an impossible target,
 * or a refused value; ETIMEDOUT: no answer, also after sending it again;
 * ENOSYS: no such command; ENXIO: no such port; ENOENT: no such register or
 * entry; EROFS: read only; EMSGSIZE: too many words; EBUSY: another program
 * uses JTAG.
 */
int weft_swnet_command(struct weft_swnet *m, const struct weft_swnet_target *to,
	uint32_t scope, uint32_t command, uint64_t *word, uint32_t *n,
	uint32_t most);

struct weft_swnet_identity {
	bool is_switch;
	uint32_t ports; /* of it */
	uint32_t came_by; /* its port, by a route; or WEFT_SWNET_HERE */
	uint64_t guid, place;
};

/* By a route that leads to a node, the node's interface answers. */
int weft_swnet_identify(struct weft_swnet *m,
	const struct weft_swnet_target *to, struct weft_swnet_identity *id);

/* Count words of a register, of each port of the scope: there is room. */
int weft_swnet_read(struct weft_swnet *m, const struct weft_swnet_target *to,
	uint32_t scope, uint32_t reg, uint32_t index, uint32_t count,
	uint64_t *value);
int weft_swnet_write(struct weft_swnet *m, const struct weft_swnet_target *to,
	uint32_t scope, uint32_t reg, uint32_t index, uint64_t value);

/* Of a port. */
struct weft_swnet_counters {
	bool is_up;
	uint32_t lanes;
	uint32_t busy; /* thousandths */
	/* by channel */
	uint64_t received[WEFT_SWNET_CHANNELS], sent[WEFT_SWNET_CHANNELS];
	uint64_t slices_in[WEFT_SWNET_CHANNELS];
	uint64_t slices_out[WEFT_SWNET_CHANNELS];
	uint64_t occupancy[WEFT_SWNET_CHANNELS];
};

int weft_swnet_counters(struct weft_swnet *m,
	const struct weft_swnet_target *to, uint32_t port,
	struct weft_swnet_counters *c);

/* Entries [first, first + count) of a part of the ports' tables: ports in the
 * order in which packets try them. */
struct weft_swnet_entries {
	uint32_t part, first, count;
	uint32_t n_ports;
	uint8_t port[WEFT_SWNET_PORTS];
};

int weft_swnet_write_entries(struct weft_swnet *m,
	const struct weft_swnet_target *to, uint32_t scope,
	const struct weft_swnet_entries *e);
/* The first entry, of one port; e has part and first. */
int weft_swnet_read_entry(struct weft_swnet *m,
	const struct weft_swnet_target *to, uint32_t port,
	struct weft_swnet_entries *e);

/* Defines an operation of the agents of a scope, and a command; no steps: the
 * command ends.  Numbers are WEFT_SWNET_OWN and above. */
int weft_swnet_define_operation(struct weft_swnet *m,
	const struct weft_swnet_target *to, uint32_t scope, uint32_t number,
	uint32_t action, uint32_t reg, uint32_t index);

struct weft_swnet_step {
	uint8_t operation; /* its number */
	uint8_t operand; /* of the command's words, from 0 on */
};

int weft_swnet_define(struct weft_swnet *m, const struct weft_swnet_target *to,
	uint32_t number, const struct weft_swnet_step *step, uint32_t n);

/* --- the machine --- */

struct weft_swnet_device {
	struct weft_swnet_target to; /* a route that reaches it */
	uint32_t rail;
	bool is_switch;
	uint32_t ports;
	uint64_t guid;
	uint32_t level, number; /* its place; of a node, 0 and its number */
};

/* A cable: two devices of the map, and a port of each. */
struct weft_swnet_cable {
	uint32_t device[2];
	uint32_t port[2];
};

/* In the order of their discovery.  A node is a device of each rail. */
struct weft_swnet_map {
	uint32_t n_devices, n_cables;
	struct weft_swnet_device *device;
	struct weft_swnet_cable *cable;
	uint32_t silent; /* links that are up, but whose other end is silent */
};

/* Explores the network by packets alone, from this node on.  Links that are
 * down are not part of it. */
int weft_swnet_discover(struct weft_swnet *m, struct weft_swnet_map **map);
void weft_swnet_map_free(struct weft_swnet_map *map);

/*
 * The cables that are not where most others suggest: finds the rule of the tree
 * that fits most cables, and lists up to most that break it, as numbers of
 * cables.  Returns how many there are.
 */
uint32_t weft_swnet_wrong(
	const struct weft_swnet_map *map, uint32_t *wrong, uint32_t most);

/*
 * Computes the table entries of all switches for all nodes of a map, and writes
 * those that differ from what this manager has written before.  Traffic
 * continues.  *n_written is the number of commands; it may be NULL.  EHOSTDOWN:
 * some nodes cannot be reached from all others in their rail; ETIMEDOUT: a
 * switch did not answer.  In both cases all other entries are written.
 */
int weft_swnet_set_tables(struct weft_swnet *m,
	const struct weft_swnet_map *map, uint32_t *n_written);

/*
 * Sets a multicast entry of a rail in all switches between some nodes: packets
 * that one of them sends to the entry reach all others, on a tree of links.
 * EHOSTDOWN: a node is not in the map of the rail, or no switch is above all of
 * them; ENOENT: no such entry.
 */
int weft_swnet_set_multicast(struct weft_swnet *m,
	const struct weft_swnet_map *map, uint32_t rail, uint32_t entry,
	const uint32_t *node, uint32_t n);

/* --- events --- */

struct weft_swnet_event {
	uint32_t rail; /* by which it came */
	uint32_t level, number; /* place of the switch */
	uint64_t guid;
	uint32_t port;
	bool is_up; /* its link has returned; otherwise it has died */
};

/* Makes all switches of a map report links that fail or return to this node. */
int weft_swnet_watch(struct weft_swnet *m, const struct weft_swnet_map *map);
/* Waits for an event; ETIMEDOUT: a time in picoseconds has passed. */
int weft_swnet_get_event(
	struct weft_swnet *m, struct weft_swnet_event *e, int64_t timeout);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
