#include "parts/registers/command.h"

#include <string.h>

#include "base/mem.h"

/* A command under way. */
struct run {
	struct command_maps **maps;
	const struct bank *bank;
	const struct registers_body *request; /* a copy */
	struct registers_body *answer;
};

port_mask command_ports(uint32_t scope, uint32_t n)
{
	port_mask all = ((port_mask)1 << n) - 1;
	uint32_t which = scope & 0xff;

	switch (scope & ~0xffu) {
	case WEFT_SWNET_PORT(0):
		return which < n ? (port_mask)1 << which : 0;
	case WEFT_SWNET_ROW(0):
		return which < WEFT_SWNET_ROWS
			       ? all & (port_mask)0xff
						 << which * WEFT_SWNET_COLUMNS
			       : 0;
	case WEFT_SWNET_ALL:
		return which ? 0 : all;
	default:
		return 0;
	}
}

/* --- words --- */

static uint32_t add_result(struct run *x, uint64_t value)
{
	if (x->answer->n_words == WEFT_SWNET_WORDS)
		return WEFT_SWNET_TOO_LONG;
	x->answer->word[x->answer->n_words++] = value;
	return WEFT_SWNET_OK;
}

static uint32_t read_word(struct run *x, struct bank_word at)
{
	uint64_t value = 0;
	uint32_t status = x->bank->ops->read(x->bank->arg, at, &value);

	return status ? status : add_result(x, value);
}

/* Of a value: all of it, or bits to be set or cleared. */
static uint32_t write_word(
	struct run *x, struct bank_word at, uint32_t action, uint64_t value)
{
	uint64_t old = 0;
	uint32_t status;

	if (action != WEFT_SWNET_DO_WRITE) {
		status = x->bank->ops->read(x->bank->arg, at, &old);
		if (status)
			return status;
	}
	if (action == WEFT_SWNET_DO_SET)
		value |= old;
	if (action == WEFT_SWNET_DO_CLEAR)
		value = old & ~value;
	return x->bank->ops->write(x->bank->arg, at, value);
}

/* READ to CLEAR, of a port or the chip. */
static uint32_t access_words(struct run *x, uint32_t port)
{
	const struct registers_body *q = x->request;
	struct bank_word at = { .port = port, .reg = q->word[0] & 0xffff };
	uint32_t count = (uint32_t)(q->word[0] >> 32), status = WEFT_SWNET_OK;
	uint32_t action = q->command - WEFT_SWNET_READ;

	if (!count || count > WEFT_SWNET_WORDS ||
		(action && q->n_words != 1 + count))
		return WEFT_SWNET_BAD_VALUE;
	for (uint32_t i = 0; i < count && !status; i++) {
		at.index = (uint32_t)(q->word[0] >> 16 & 0xffff) + i;
		status = action ? write_word(x, at, action, q->word[1 + i])
				: read_word(x, at);
	}
	return status;
}

/* --- table entries --- */

static struct bank_entries entries_of(const struct registers_body *q)
{
	return (struct bank_entries){
		.part = q->word[0] & 0xffff,
		.first = q->word[0] >> 16 & 0xffff,
		.count = (uint32_t)(q->word[0] >> 32),
	};
}

static uint32_t write_entries(struct run *x, uint32_t port)
{
	const struct registers_body *q = x->request;
	struct bank_entries e = entries_of(q);
	uint64_t n = q->n_words > 1 ? q->word[1] : WEFT_SWNET_PORTS + 1;

	if (!e.count || n > WEFT_SWNET_PORTS || q->n_words != 2 + (n + 7) / 8)
		return WEFT_SWNET_BAD_VALUE;
	e.n_ports = (uint32_t)n;
	for (uint32_t i = 0; i < n; i++)
		e.port[i] = (uint8_t)(q->word[2 + i / 8] >> i % 8 * 8);
	return x->bank->ops->write_entries(x->bank->arg, port, &e);
}

static uint32_t read_entry(struct run *x, uint32_t port)
{
	struct bank_entries e = entries_of(x->request);
	uint32_t status = x->bank->ops->read_entry(x->bank->arg, port, &e);
	uint64_t word = 0;

	if (!status)
		status = add_result(x, e.n_ports);
	for (uint32_t i = 0; i < e.n_ports && !status; i++) {
		word |= (uint64_t)e.port[i] << i % 8 * 8;
		if (i % 8 < 7 && i + 1 < e.n_ports)
			continue;
		status = add_result(x, word);
		word = 0;
	}
	return status;
}

/* --- what software defines --- */

static struct command_maps *make_maps(struct run *x)
{
	if (!*x->maps)
		*x->maps = mem_alloc(1, sizeof(**x->maps));
	return *x->maps;
}

static bool is_own(uint64_t number)
{
	return number >= WEFT_SWNET_OWN && number < WEFT_SWNET_NUMBERS;
}

/* Of the control unit, wherever it was to act.  Without steps it is undefined
 * again. */
static uint32_t define(struct run *x)
{
	const struct registers_body *q = x->request;
	struct command_maps *m;
	uint64_t n = q->n_words > 1 ? q->word[1] : WEFT_SWNET_STEPS + 1;

	if (n > WEFT_SWNET_STEPS || q->n_words != 2 + n || !is_own(q->word[0]))
		return WEFT_SWNET_BAD_VALUE;
	for (uint32_t i = 0; i < n; i++)
		if (q->word[2 + i] >> 16 || !is_own(q->word[2 + i] & 0xff))
			return WEFT_SWNET_BAD_VALUE;
	m = make_maps(x);
	m->command[q->word[0]].n_steps = (uint8_t)n;
	for (uint32_t i = 0; i < n; i++)
		m->command[q->word[0]].step[i] = (struct command_step){
			.operation = q->word[2 + i] & 0xff,
			.operand = (uint8_t)(q->word[2 + i] >> 8),
		};
	return WEFT_SWNET_OK;
}

static uint32_t define_operation(struct run *x, uint32_t port)
{
	const struct registers_body *q = x->request;
	uint64_t word = q->n_words > 1 ? q->word[1] : UINT64_MAX;

	if (q->n_words != 2 || word >> 32 ||
		(word & 0xff) >= WEFT_SWNET_ACTIONS || !is_own(q->word[0]))
		return WEFT_SWNET_BAD_VALUE;
	make_maps(x)->agent[port][q->word[0]] = (struct command_operation){
		.is_defined = true,
		.action = word & 0xff,
		.reg = word >> 8 & 0xff,
		.index = (uint16_t)(word >> 16),
	};
	return WEFT_SWNET_OK;
}

/* What an agent does of a step. */
static uint32_t do_step(struct run *x, uint32_t port, struct command_step s)
{
	struct command_operation o = (*x->maps)->agent[port][s.operation];
	struct bank_word at = { port, o.reg, o.index };

	if (!o.is_defined)
		return WEFT_SWNET_NO_COMMAND;
	if (o.action == WEFT_SWNET_DO_READ)
		return read_word(x, at);
	if (s.operand >= x->request->n_words)
		return WEFT_SWNET_BAD_VALUE;
	return write_word(x, at, o.action, x->request->word[s.operand]);
}

static uint32_t do_steps(struct run *x, uint32_t port)
{
	uint32_t c = x->request->command, i = 0, status = WEFT_SWNET_OK;

	if (c >= WEFT_SWNET_NUMBERS || !*x->maps ||
		!(*x->maps)->command[c].n_steps)
		return WEFT_SWNET_NO_COMMAND;
	while (i < (*x->maps)->command[c].n_steps && !status)
		status = do_step(x, port, (*x->maps)->command[c].step[i++]);
	return status;
}

/* --- */

static uint32_t act(struct run *x, uint32_t port)
{
	switch (x->request->command) {
	case WEFT_SWNET_READ:
	case WEFT_SWNET_WRITE:
	case WEFT_SWNET_SET:
	case WEFT_SWNET_CLEAR:
		return access_words(x, port);
	case WEFT_SWNET_WRITE_ENTRIES:
		return write_entries(x, port);
	case WEFT_SWNET_READ_ENTRY:
		return read_entry(x, port);
	case WEFT_SWNET_DEFINE_OPERATION:
		return define_operation(x, port);
	default:
		return do_steps(x, port);
	}
}

/* Row and agent units act all at once; their results follow in order. */
static uint32_t act_on_ports(struct run *x)
{
	port_mask ports = command_ports(x->request->scope, x->bank->n_ports);
	uint32_t status = WEFT_SWNET_OK, first = WEFT_SWNET_OK;

	if (!ports)
		return WEFT_SWNET_NO_PORT;
	for (; ports; ports &= ports - 1) {
		status = act(x, (uint32_t)__builtin_ctzll(ports));
		first = first ? first : status;
	}
	return first;
}

static bool is_for_chip(const struct registers_body *q)
{
	return q->scope == WEFT_SWNET_CHIP && q->command >= WEFT_SWNET_READ &&
	       q->command <= WEFT_SWNET_CLEAR;
}

void command_run(struct command_maps **maps, const struct bank *bank,
	struct registers_body *b)
{
	const struct registers_body request = *b;
	struct run x = { maps, bank, &request, b };

	b->kind = REGISTERS_ANSWER;
	b->n_words = 0;
	if (request.command == WEFT_SWNET_DEFINE)
		b->status = (uint8_t)define(&x);
	else if (!request.n_words &&
		 request.command < WEFT_SWNET_COMMANDS_KNOWN)
		b->status = WEFT_SWNET_BAD_VALUE;
	else if (is_for_chip(&request))
		b->status = (uint8_t)access_words(&x, BANK_CHIP);
	else
		b->status = (uint8_t)act_on_ports(&x);
	if (b->status)
		b->n_words = 0;
}
