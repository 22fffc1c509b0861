/*
 * A made-up network for tests of the management library, without time: two
 * rails of four leaves and three spines, three nodes to a leaf, two links
 * between siblings.  Packets follow cables and tables as they are; tests
 * exchange cables, cut them, and lose packets.
 */
#ifndef API_SWNET_FAKE_TESTING_H
#define API_SWNET_FAKE_TESTING_H

#include "api/swnet/manager.h"

enum {
	FAKE_RAILS = 2,
	FAKE_LEAVES = 4,
	FAKE_SPINES = 3,
	FAKE_EACH = 3, /* nodes of a leaf */
	FAKE_NODES = FAKE_LEAVES * FAKE_EACH,
	FAKE_SWITCHES = FAKE_LEAVES + FAKE_SPINES, /* of a rail */
	FAKE_DEVICES = FAKE_NODES + FAKE_RAILS * FAKE_SWITCHES,
	FAKE_PORTS = 8, /* of a leaf: 3 down, 3 up, 2 sideways */
	FAKE_NONE = 0xffff,
};

struct fake_end {
	uint16_t device, port;
};

struct fake_list {
	bool is_written;
	uint8_t n, port[WEFT_SWNET_PORTS];
};

struct fake {
	struct fake_end far[FAKE_DEVICES][FAKE_PORTS];
	struct fake_list table[FAKE_DEVICES][FAKE_PORTS][FAKE_NODES];
	uint64_t manager[FAKE_DEVICES];
	uint32_t at; /* the manager's node */
	uint32_t lose; /* one of so many requests vanishes; 0: none */
	uint32_t n_sent, n_jtag;
	sim_time now;
	struct ring answers; /* struct registers_body */
	struct weft_swnet *m;
};

struct fake *fake_new(void);
void fake_free(struct fake *f);

uint32_t fake_leaf(uint32_t rail, uint32_t i);
uint32_t fake_spine(uint32_t rail, uint32_t i);
/* Exchanges the far ends of two cables. */
void fake_exchange(
	struct fake *f, uint32_t a, uint32_t p, uint32_t b, uint32_t q);
void fake_cut(struct fake *f, uint32_t a, uint32_t p);
/* How many switches a packet passes in a rail from a node to another by the
 * first port in each list that works; 0: it does not arrive. */
uint32_t fake_follow(
	const struct fake *f, uint32_t rail, uint32_t src, uint32_t dst);

#endif
