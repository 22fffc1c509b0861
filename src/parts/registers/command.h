/*
 * Execution of commands: the control unit's map from commands to operations,
 * the agents' maps from operations to registers, and the ports on which a
 * command acts.  Knows neither time nor packets, and registers only by a table
 * of functions.
 */
#ifndef PARTS_REGISTERS_COMMAND_H
#define PARTS_REGISTERS_COMMAND_H

#include "parts/registers/registers.h"

#define BANK_CHIP UINT32_MAX /* in place of a port */

/* Ordered ports of entries [first, first + count) of a part of a table. */
struct bank_entries {
	uint32_t part, first, count;
	uint32_t n_ports;
	uint8_t port[WEFT_SWNET_PORTS];
};

/* A word of a register. */
struct bank_word {
	uint32_t port; /* or BANK_CHIP */
	uint32_t reg, index;
};

/* Registers of a switch.  All return an enum weft_swnet_status; one that fails
 * has changed nothing. */
struct bank_ops {
	uint32_t (*read)(void *arg, struct bank_word at, uint64_t *value);
	uint32_t (*write)(void *arg, struct bank_word at, uint64_t value);
	uint32_t (*write_entries)(
		void *arg, uint32_t port, const struct bank_entries *e);
	/* Of the first entry. */
	uint32_t (*read_entry)(
		void *arg, uint32_t port, struct bank_entries *e);
};

struct bank {
	const struct bank_ops *ops;
	void *arg;
	uint32_t n_ports; /* up to WEFT_SWNET_PORTS */
};

/* An operation as an agent has it. */
struct command_operation {
	bool is_defined;
	uint8_t action, reg;
	uint16_t index;
};

struct command_step {
	uint8_t operation, operand;
};

struct command_maps {
	struct {
		uint8_t n_steps;
		struct command_step step[WEFT_SWNET_STEPS];
	} command[WEFT_SWNET_NUMBERS];
	struct command_operation agent[WEFT_SWNET_PORTS][WEFT_SWNET_NUMBERS];
};

/*
 * Executes a request, which becomes its answer.  *maps is made when something
 * is first defined, and belongs to the caller.  If a port fails, the others
 * have acted all the same, but the answer has no results.
 */
void command_run(struct command_maps **maps, const struct bank *bank,
	struct registers_body *b);

/* The ports of a scope, of n; none if there is no such port or row, or if it is
 * the chip. */
port_mask command_ports(uint32_t scope, uint32_t n);

#endif
