/* Commands on made-up registers: scopes, both maps, and everything that is
 * refused. */
#include <string.h>

#include "base/mem.h"
#include "parts/registers/command.h"
#include "testing/testing.h"

enum { REGS = 3, INDICES = 4, READ_ONLY_REG = 2 };

/* A switch whose registers hold what is written. */
struct fake {
	uint32_t n_ports;
	uint64_t port[WEFT_SWNET_PORTS][REGS][INDICES], chip[REGS];
	struct bank_entries entries[WEFT_SWNET_PORTS];
	struct command_maps *maps;
	struct registers_body b;
};

static uint64_t *word_at(struct fake *f, struct bank_word at)
{
	if (at.reg >= REGS || at.index >= INDICES)
		return NULL;
	return at.port == BANK_CHIP ? &f->chip[at.reg]
				    : &f->port[at.port][at.reg][at.index];
}

static uint32_t read_fake(void *arg, struct bank_word at, uint64_t *value)
{
	uint64_t *word = word_at(arg, at);

	if (!word)
		return WEFT_SWNET_NO_REGISTER;
	*value = *word;
	return WEFT_SWNET_OK;
}

static uint32_t write_fake(void *arg, struct bank_word at, uint64_t value)
{
	uint64_t *word = word_at(arg, at);

	if (!word)
		return WEFT_SWNET_NO_REGISTER;
	if (at.reg == READ_ONLY_REG)
		return WEFT_SWNET_READ_ONLY;
	*word = value;
	return WEFT_SWNET_OK;
}

static uint32_t write_entries_fake(
	void *arg, uint32_t port, const struct bank_entries *e)
{
	struct fake *f = arg;

	f->entries[port] = *e;
	return WEFT_SWNET_OK;
}

static uint32_t read_entry_fake(
	void *arg, uint32_t port, struct bank_entries *e)
{
	struct fake *f = arg;

	*e = f->entries[port];
	return WEFT_SWNET_OK;
}

static const struct bank_ops fake_ops = {
	.read = read_fake,
	.write = write_fake,
	.write_entries = write_entries_fake,
	.read_entry = read_entry_fake,
};

static uint32_t run(struct fake *f, uint32_t command, uint32_t scope,
	uint32_t n, const uint64_t *word)
{
	const struct bank bank = { &fake_ops, f, f->n_ports };

	memset(&f->b, 0, sizeof(f->b));
	f->b.command = (uint8_t)command;
	f->b.scope = (uint16_t)scope;
	f->b.n_words = (uint8_t)n;
	memcpy(f->b.word, word, n * sizeof(*word));
	command_run(&f->maps, &bank, &f->b);
	assert_int_equal(f->b.kind, REGISTERS_ANSWER);
	return f->b.status;
}

#define RUN(f, command, scope, ...)                                            \
	run(f, command, scope,                                                 \
		sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t),        \
		(uint64_t[]){ __VA_ARGS__ })

#define WHERE(reg, index, count)                                               \
	((uint64_t)(reg) | (uint64_t)(index) << 16 | (uint64_t)(count) << 32)

static struct fake *make(uint32_t n_ports)
{
	struct fake *f = mem_alloc(1, sizeof(*f));

	f->n_ports = n_ports;
	return f;
}

static void done(struct fake *f)
{
	mem_free(f->maps);
	mem_free(f);
}

/* SUN-F33 */
static void a_command_acts_on_a_port_a_row_or_all_ports(void **state)
{
	struct fake *f = make(40);
	uint32_t p;

	assert_int_equal(
		RUN(f, WEFT_SWNET_WRITE, WEFT_SWNET_ALL, WHERE(0, 1, 1), 7),
		WEFT_SWNET_OK);
	assert_int_equal(
		RUN(f, WEFT_SWNET_WRITE, WEFT_SWNET_ROW(2), WHERE(0, 1, 1), 8),
		WEFT_SWNET_OK);
	assert_int_equal(RUN(f, WEFT_SWNET_WRITE, WEFT_SWNET_PORT(39),
				 WHERE(0, 1, 1), 9),
		WEFT_SWNET_OK);
	for (p = 0; p < 40; p++)
		assert_int_equal(f->port[p][0][1], p == 39	? 9
						   : p / 8 == 2 ? 8
								: 7);
	assert_int_equal(
		RUN(f, WEFT_SWNET_READ, WEFT_SWNET_ALL, WHERE(0, 1, 1)),
		WEFT_SWNET_OK);
	assert_int_equal(f->b.n_words, 40);
	for (p = 0; p < 40; p++)
		assert_int_equal(f->b.word[p], f->port[p][0][1]);
	done(f);
}

static void ports_of_a_small_switch_end_where_it_does(void **state)
{
	struct fake *f = make(18);

	assert_true(command_ports(WEFT_SWNET_ALL, 18) == 0x3ffff);
	assert_true(command_ports(WEFT_SWNET_ROW(2), 18) == 0x30000);
	assert_true(command_ports(WEFT_SWNET_ROW(3), 18) == 0);
	assert_true(command_ports(WEFT_SWNET_ROW(5), 40) == 0);
	assert_int_equal(
		RUN(f, WEFT_SWNET_READ, WEFT_SWNET_PORT(18), WHERE(0, 0, 1)),
		WEFT_SWNET_NO_PORT);
	assert_int_equal(RUN(f, WEFT_SWNET_READ, 0x400, WHERE(0, 0, 1)),
		WEFT_SWNET_NO_PORT);
	assert_int_equal(
		RUN(f, WEFT_SWNET_READ, WEFT_SWNET_ALL + 1, WHERE(0, 0, 1)),
		WEFT_SWNET_NO_PORT);
	done(f);
}

static void bits_are_set_and_cleared(void **state)
{
	struct fake *f = make(4);

	RUN(f, WEFT_SWNET_WRITE, WEFT_SWNET_ALL, WHERE(0, 2, 2), 0xf0, 0xff);
	RUN(f, WEFT_SWNET_SET, WEFT_SWNET_PORT(1), WHERE(0, 2, 2), 3, 0);
	RUN(f, WEFT_SWNET_CLEAR, WEFT_SWNET_PORT(2), WHERE(0, 2, 2), 0x30, 1);
	assert_int_equal(f->port[1][0][2], 0xf3);
	assert_int_equal(f->port[1][0][3], 0xff);
	assert_int_equal(f->port[2][0][2], 0xc0);
	assert_int_equal(f->port[2][0][3], 0xfe);
	assert_int_equal(f->port[0][0][2], 0xf0);
	done(f);
}

static void the_chip_has_registers_of_its_own(void **state)
{
	struct fake *f = make(40);

	assert_int_equal(
		RUN(f, WEFT_SWNET_WRITE, WEFT_SWNET_CHIP, WHERE(1, 0, 1), 5),
		WEFT_SWNET_OK);
	assert_int_equal(f->chip[1], 5);
	assert_int_equal(f->port[0][1][0], 0);
	/* entries and operations are of ports */
	assert_int_equal(RUN(f, WEFT_SWNET_DEFINE_OPERATION, WEFT_SWNET_CHIP,
				 WEFT_SWNET_OWN, 0),
		WEFT_SWNET_NO_PORT);
	done(f);
}

static void lists_of_entries_are_packed_and_unpacked(void **state)
{
	struct fake *f = make(40);
	uint64_t word[8] = { WHERE(WEFT_SWNET_INTER, 300, 17), 18 };
	uint32_t i;

	for (i = 0; i < 18; i++)
		word[2 + i / 8] |= (uint64_t)(39 - i) << i % 8 * 8;
	assert_int_equal(
		run(f, WEFT_SWNET_WRITE_ENTRIES, WEFT_SWNET_ALL, 5, word),
		WEFT_SWNET_OK);
	assert_int_equal(f->entries[33].part, WEFT_SWNET_INTER);
	assert_int_equal(f->entries[33].first, 300);
	assert_int_equal(f->entries[33].count, 17);
	for (i = 0; i < 18; i++)
		assert_int_equal(f->entries[33].port[i], 39 - i);
	assert_int_equal(
		RUN(f, WEFT_SWNET_READ_ENTRY, WEFT_SWNET_PORT(33), word[0]),
		WEFT_SWNET_OK);
	assert_int_equal(f->b.n_words, 4);
	assert_memory_equal(f->b.word, word + 1, 4 * sizeof(*word));
	/* the list is shorter than it says, or no list */
	assert_int_equal(
		run(f, WEFT_SWNET_WRITE_ENTRIES, WEFT_SWNET_ALL, 4, word),
		WEFT_SWNET_BAD_VALUE);
	word[1] = 41;
	assert_int_equal(
		run(f, WEFT_SWNET_WRITE_ENTRIES, WEFT_SWNET_ALL, 8, word),
		WEFT_SWNET_BAD_VALUE);
	done(f);
}

/* SUN-F67: Two operations, a command of both; ports may map an operation
 * otherwise. */
static void software_defines_commands_in_two_levels(void **state)
{
	struct fake *f = make(16);
	const uint32_t mark = 20, look = 21, both = 30;

	assert_int_equal(
		RUN(f, both, WEFT_SWNET_ALL, 5), WEFT_SWNET_NO_COMMAND);
	assert_int_equal(RUN(f, WEFT_SWNET_DEFINE_OPERATION, WEFT_SWNET_ALL,
				 mark, WEFT_SWNET_DO_SET | 1 << 8 | 2 << 16),
		WEFT_SWNET_OK);
	assert_int_equal(RUN(f, WEFT_SWNET_DEFINE_OPERATION, WEFT_SWNET_ALL,
				 look, WEFT_SWNET_DO_READ | 1 << 8 | 2 << 16),
		WEFT_SWNET_OK);
	assert_int_equal(RUN(f, WEFT_SWNET_DEFINE_OPERATION, WEFT_SWNET_ROW(1),
				 mark, WEFT_SWNET_DO_CLEAR | 1 << 8 | 2 << 16),
		WEFT_SWNET_OK);
	assert_int_equal(
		RUN(f, both, WEFT_SWNET_ALL, 5), WEFT_SWNET_NO_COMMAND);
	assert_int_equal(RUN(f, WEFT_SWNET_DEFINE, WEFT_SWNET_CHIP, both, 2,
				 mark | 1 << 8, look),
		WEFT_SWNET_OK);
	RUN(f, WEFT_SWNET_WRITE, WEFT_SWNET_ALL, WHERE(1, 2, 1), 0xf);
	assert_int_equal(RUN(f, both, WEFT_SWNET_ALL, 1, 0x11), WEFT_SWNET_OK);
	assert_int_equal(f->b.n_words, 16);
	assert_int_equal(f->b.word[3], 0x1f);
	assert_int_equal(f->b.word[12], 0x0e);
	/* its second operand is missing */
	assert_int_equal(RUN(f, both, WEFT_SWNET_ALL, 1), WEFT_SWNET_BAD_VALUE);
	/* no steps: it is no command any more */
	assert_int_equal(RUN(f, WEFT_SWNET_DEFINE, WEFT_SWNET_CHIP, both, 0),
		WEFT_SWNET_OK);
	assert_int_equal(
		RUN(f, both, WEFT_SWNET_ALL, 1, 2), WEFT_SWNET_NO_COMMAND);
	done(f);
}

/* SUN-F67 */
static void definitions_that_cannot_be_are_refused(void **state)
{
	struct fake *f = make(16);

	/* a known command's number, none, an unknown action, too many steps */
	assert_int_equal(RUN(f, WEFT_SWNET_DEFINE, WEFT_SWNET_CHIP,
				 WEFT_SWNET_READ, 1, WEFT_SWNET_OWN),
		WEFT_SWNET_BAD_VALUE);
	assert_int_equal(RUN(f, WEFT_SWNET_DEFINE, WEFT_SWNET_CHIP,
				 WEFT_SWNET_NUMBERS, 1, WEFT_SWNET_OWN),
		WEFT_SWNET_BAD_VALUE);
	assert_int_equal(RUN(f, WEFT_SWNET_DEFINE, WEFT_SWNET_CHIP,
				 WEFT_SWNET_OWN, 1, WEFT_SWNET_OWN - 1),
		WEFT_SWNET_BAD_VALUE);
	assert_int_equal(RUN(f, WEFT_SWNET_DEFINE_OPERATION, WEFT_SWNET_ALL,
				 WEFT_SWNET_OWN, WEFT_SWNET_ACTIONS),
		WEFT_SWNET_BAD_VALUE);
	assert_int_equal(
		RUN(f, WEFT_SWNET_DEFINE, WEFT_SWNET_CHIP, WEFT_SWNET_OWN, 9,
			16, 16, 16, 16, 16, 16, 16, 16, 16),
		WEFT_SWNET_BAD_VALUE);
	assert_int_equal(RUN(f, WEFT_SWNET_COMMANDS_KNOWN, WEFT_SWNET_ALL, 0),
		WEFT_SWNET_NO_COMMAND);
	assert_int_equal(RUN(f, 200, WEFT_SWNET_ALL, 0), WEFT_SWNET_NO_COMMAND);
	done(f);
}

static void a_command_that_fails_has_no_results(void **state)
{
	struct fake *f = make(40);
	uint64_t many[2] = { WHERE(0, 0, INDICES), 0 };

	assert_int_equal(
		RUN(f, WEFT_SWNET_READ, WEFT_SWNET_ALL, WHERE(REGS, 0, 1)),
		WEFT_SWNET_NO_REGISTER);
	assert_int_equal(f->b.n_words, 0);
	assert_int_equal(RUN(f, WEFT_SWNET_READ, WEFT_SWNET_ALL,
				 WHERE(0, 0, INDICES + 1)),
		WEFT_SWNET_NO_REGISTER);
	assert_int_equal(RUN(f, WEFT_SWNET_WRITE, WEFT_SWNET_ALL,
				 WHERE(READ_ONLY_REG, 0, 1), 1),
		WEFT_SWNET_READ_ONLY);
	assert_int_equal(
		RUN(f, WEFT_SWNET_READ, WEFT_SWNET_ALL, WHERE(0, 0, 0)),
		WEFT_SWNET_BAD_VALUE);
	assert_int_equal(
		RUN(f, WEFT_SWNET_WRITE, WEFT_SWNET_ALL, WHERE(0, 0, 2), 1),
		WEFT_SWNET_BAD_VALUE);
	assert_int_equal(run(f, WEFT_SWNET_READ, WEFT_SWNET_ALL, 0, many),
		WEFT_SWNET_BAD_VALUE);
	/* 40 ports of 4 words fit, 8 ports of 4 words and 3 operations too;
	 * what would be 248 words and one more does not */
	assert_int_equal(run(f, WEFT_SWNET_READ, WEFT_SWNET_ALL, 1, many),
		WEFT_SWNET_OK);
	assert_int_equal(f->b.n_words, 160);
	RUN(f, WEFT_SWNET_DEFINE_OPERATION, WEFT_SWNET_ALL, 16, 0);
	RUN(f, WEFT_SWNET_DEFINE, WEFT_SWNET_CHIP, 16, 7, 16, 16, 16, 16, 16,
		16, 16);
	assert_int_equal(RUN(f, 16, WEFT_SWNET_ALL, 0), WEFT_SWNET_TOO_LONG);
	assert_int_equal(RUN(f, 16, WEFT_SWNET_ROW(0), 0), WEFT_SWNET_OK);
	assert_int_equal(f->b.n_words, 56);
	done(f);
}

TESTS(TEST(a_command_acts_on_a_port_a_row_or_all_ports),
	TEST(ports_of_a_small_switch_end_where_it_does),
	TEST(bits_are_set_and_cleared), TEST(the_chip_has_registers_of_its_own),
	TEST(lists_of_entries_are_packed_and_unpacked),
	TEST(software_defines_commands_in_two_levels),
	TEST(definitions_that_cannot_be_are_refused),
	TEST(a_command_that_fails_has_no_results))
