/* Registers, tables and definitions: a request each. */
#include <errno.h>
#include <string.h>

#include "api/swnet/manager.h"
#include "base/mem.h"

static bool is_target(const struct weft_swnet_target *to)
{
	return to && to->by <= WEFT_SWNET_BY_JTAG &&
	       (to->by != WEFT_SWNET_BY_ROUTE || to->n_hops < WEFT_SWNET_HOPS);
}

static struct registers_body request(
	uint32_t scope, uint32_t command, uint32_t n, const uint64_t *word)
{
	struct registers_body b = { .scope = (uint16_t)scope,
		.command = (uint8_t)command,
		.n_words = (uint8_t)n };

	for (uint32_t i = 0; i < n; i++)
		b.word[i] = word[i];
	return b;
}

int weft_swnet_command(struct weft_swnet *m, const struct weft_swnet_target *to,
	uint32_t scope, uint32_t command, uint64_t *word, uint32_t *n,
	uint32_t most)
{
	struct registers_body b;
	int error;

	if (!m || !is_target(to) || !n || (!word && (*n || most)) ||
		command > UINT8_MAX || scope > UINT16_MAX)
		return EINVAL;
	if (*n > WEFT_SWNET_WORDS)
		return EMSGSIZE;
	b = request(scope, command, *n, word);
	error = manager_call(m, to, &b);
	if (error)
		return error;
	if (b.n_words > most)
		return EMSGSIZE;
	*n = b.n_words;
	memcpy(word, b.word, b.n_words * sizeof(*word));
	return 0;
}

int weft_swnet_identify(struct weft_swnet *m,
	const struct weft_swnet_target *to, struct weft_swnet_identity *id)
{
	uint64_t word[3];
	uint32_t n = 0;
	int error;

	if (!id)
		return EINVAL;
	error = weft_swnet_command(
		m, to, WEFT_SWNET_CHIP, WEFT_SWNET_IDENTIFY, word, &n, 3);
	if (error)
		return error;
	*id = (struct weft_swnet_identity){
		.is_switch = WEFT_SWNET_IS_SWITCH(word[0]),
		.ports = WEFT_SWNET_PORTS_OF(word[0]),
		.came_by = WEFT_SWNET_CAME_BY(word[0]),
		.guid = word[1],
		.place = word[2],
	};
	return 0;
}

/* --- registers --- */

static uint64_t where(uint32_t reg, uint32_t index, uint32_t count)
{
	return (reg & 0xffff) | (uint64_t)(index & 0xffff) << 16 |
	       (uint64_t)count << 32;
}

void manager_read(struct registers_body *b, uint32_t scope, uint32_t reg,
	uint32_t index, uint32_t count)
{
	uint64_t word = where(reg, index, count);

	*b = request(scope, WEFT_SWNET_READ, 1, &word);
}

static bool is_register(uint32_t reg, uint32_t index)
{
	return reg <= UINT16_MAX && index <= UINT16_MAX;
}

int weft_swnet_read(struct weft_swnet *m, const struct weft_swnet_target *to,
	uint32_t scope, uint32_t reg, uint32_t index, uint32_t count,
	uint64_t *value)
{
	struct registers_body b;
	int error;

	if (!m || !is_target(to) || !value || scope > UINT16_MAX)
		return EINVAL;
	if (!is_register(reg, index))
		return ENOENT;
	manager_read(&b, scope, reg, index, count);
	error = manager_call(m, to, &b);
	if (!error)
		memcpy(value, b.word, b.n_words * sizeof(*value));
	return error;
}

int weft_swnet_write(struct weft_swnet *m, const struct weft_swnet_target *to,
	uint32_t scope, uint32_t reg, uint32_t index, uint64_t value)
{
	uint64_t word[2] = { where(reg, index, 1), value };
	uint32_t n = 2;

	if (!is_register(reg, index))
		return ENOENT;
	return weft_swnet_command(m, to, scope, WEFT_SWNET_WRITE, word, &n, 2);
}

/* Words [first, first + 4) of what all channels of a port count. */
static int read_channels(struct weft_swnet *m,
	const struct weft_swnet_target *to, uint32_t port, uint32_t reg,
	uint64_t *value)
{
	return weft_swnet_read(m, to, WEFT_SWNET_PORT(port), reg, 0,
		WEFT_SWNET_CHANNELS, value);
}

int weft_swnet_counters(struct weft_swnet *m,
	const struct weft_swnet_target *to, uint32_t port,
	struct weft_swnet_counters *c)
{
	uint64_t status, busy;
	int error;

	if (!c)
		return EINVAL;
	if (port > 0xff)
		return ENXIO;
	memset(c, 0, sizeof(*c));
	error = weft_swnet_read(
		m, to, WEFT_SWNET_PORT(port), WEFT_SWNET_STATUS, 0, 1, &status);
	if (!error)
		error = weft_swnet_read(m, to, WEFT_SWNET_PORT(port),
			WEFT_SWNET_BUSY, 0, 1, &busy);
	if (error)
		return error;
	c->is_up = status & 1;
	c->lanes = status >> 8 & 0xff;
	c->busy = (uint32_t)busy;
	error = read_channels(m, to, port, WEFT_SWNET_RECEIVED, c->received);
	if (!error)
		error = read_channels(m, to, port, WEFT_SWNET_SENT, c->sent);
	if (!error)
		error = read_channels(
			m, to, port, WEFT_SWNET_SLICES_IN, c->slices_in);
	if (!error)
		error = read_channels(
			m, to, port, WEFT_SWNET_SLICES_OUT, c->slices_out);
	if (!error)
		error = read_channels(
			m, to, port, WEFT_SWNET_OCCUPANCY, c->occupancy);
	return error;
}

/* --- tables --- */

int manager_entries(struct registers_body *b, uint32_t scope,
	const struct weft_swnet_entries *e)
{
	uint64_t word[2 + WEFT_SWNET_PORTS / 8] = {
		where(e->part, e->first, e->count), e->n_ports
	};

	if (!is_register(e->part, e->first))
		return ENOENT;
	if (e->n_ports > WEFT_SWNET_PORTS)
		return EINVAL;
	for (uint32_t i = 0; i < e->n_ports; i++)
		word[2 + i / 8] |= (uint64_t)e->port[i] << i % 8 * 8;
	*b = request(scope, WEFT_SWNET_WRITE_ENTRIES, 2 + (e->n_ports + 7) / 8,
		word);
	return 0;
}

int weft_swnet_write_entries(struct weft_swnet *m,
	const struct weft_swnet_target *to, uint32_t scope,
	const struct weft_swnet_entries *e)
{
	struct registers_body b;
	int error;

	if (!m || !is_target(to) || !e || scope > UINT16_MAX)
		return EINVAL;
	error = manager_entries(&b, scope, e);
	return error ? error : manager_call(m, to, &b);
}

int weft_swnet_read_entry(struct weft_swnet *m,
	const struct weft_swnet_target *to, uint32_t port,
	struct weft_swnet_entries *e)
{
	struct registers_body b;
	uint64_t word;
	int error;

	if (!m || !is_target(to) || !e)
		return EINVAL;
	if (!is_register(e->part, e->first))
		return ENOENT;
	if (port > 0xff)
		return ENXIO;
	word = where(e->part, e->first, 1);
	b = request(WEFT_SWNET_PORT(port), WEFT_SWNET_READ_ENTRY, 1, &word);
	error = manager_call(m, to, &b);
	if (error)
		return error;
	e->count = 1;
	e->n_ports = (uint32_t)b.word[0];
	for (uint32_t i = 0; i < e->n_ports; i++)
		e->port[i] = (uint8_t)(b.word[1 + i / 8] >> i % 8 * 8);
	return 0;
}

/* --- definitions --- */

int weft_swnet_define_operation(struct weft_swnet *m,
	const struct weft_swnet_target *to, uint32_t scope, uint32_t number,
	uint32_t action, uint32_t reg, uint32_t index)
{
	uint64_t word[2] = { number,
		action | (uint64_t)reg << 8 | (uint64_t)index << 16 };
	uint32_t n = 2;

	if (action > 0xff || reg > 0xff || index > 0xffff)
		return EINVAL;
	return weft_swnet_command(
		m, to, scope, WEFT_SWNET_DEFINE_OPERATION, word, &n, 2);
}

int weft_swnet_define(struct weft_swnet *m, const struct weft_swnet_target *to,
	uint32_t number, const struct weft_swnet_step *step, uint32_t n)
{
	uint64_t word[2 + WEFT_SWNET_STEPS] = { number, n };
	uint32_t n_words = 2 + n;

	if (n > WEFT_SWNET_STEPS || (!step && n))
		return EINVAL;
	for (uint32_t i = 0; i < n; i++)
		word[2 + i] = step[i].operation | (uint64_t)step[i].operand
							  << 8;
	return weft_swnet_command(m, to, WEFT_SWNET_CHIP, WEFT_SWNET_DEFINE,
		word, &n_words, n_words);
}
