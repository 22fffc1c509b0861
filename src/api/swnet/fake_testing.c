#include "api/swnet/fake_testing.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

static const struct fake_end nowhere = { FAKE_NONE, 0 };

uint32_t fake_leaf(uint32_t rail, uint32_t i)
{
	return FAKE_NODES + rail * FAKE_SWITCHES + i;
}

uint32_t fake_spine(uint32_t rail, uint32_t i)
{
	return fake_leaf(rail, FAKE_LEAVES + i);
}

static void plug(struct fake *f, uint32_t a, uint32_t p, uint32_t b, uint32_t q)
{
	f->far[a][p] = (struct fake_end){ (uint16_t)b, (uint16_t)q };
	f->far[b][q] = (struct fake_end){ (uint16_t)a, (uint16_t)p };
}

static void wire(struct fake *f, uint32_t rail)
{
	for (uint32_t i = 0; i < FAKE_LEAVES; i++) {
		uint32_t leaf = fake_leaf(rail, i), j;

		for (j = 0; j < FAKE_EACH; j++)
			plug(f, leaf, j, i * FAKE_EACH + j, rail);
		for (j = 0; j < FAKE_SPINES; j++)
			plug(f, leaf, 3 + j, fake_spine(rail, j), i);
		for (j = 6; j < 8 && i % 2; j++)
			plug(f, leaf, j, leaf - 1, j);
	}
}

void fake_exchange(
	struct fake *f, uint32_t a, uint32_t p, uint32_t b, uint32_t q)
{
	struct fake_end x = f->far[a][p], y = f->far[b][q];

	plug(f, a, p, y.device, y.port);
	plug(f, b, q, x.device, x.port);
}

void fake_cut(struct fake *f, uint32_t a, uint32_t p)
{
	struct fake_end x = f->far[a][p];

	f->far[x.device][x.port] = f->far[a][p] = nowhere;
}

/* --- what switches do --- */

static uint64_t number_of(uint32_t device)
{
	return device < FAKE_NODES
		       ? device
		       : FAKE_NODES + (device - FAKE_NODES) % FAKE_SWITCHES;
}

static uint64_t place_of(uint32_t device)
{
	uint32_t i = (device - FAKE_NODES) % FAKE_SWITCHES;

	if (device < FAKE_NODES)
		return device;
	return i < FAKE_LEAVES ? (UINT64_C(1) << 32 | i)
			       : (UINT64_C(2) << 32 | (i - FAKE_LEAVES));
}

static void write_entries(
	struct fake *f, uint32_t device, struct registers_body *b)
{
	uint32_t first = b->word[0] >> 16 & 0xffff;
	uint32_t count = (uint32_t)(b->word[0] >> 32);
	uint32_t p = 0, end = FAKE_PORTS;

	if (b->scope != WEFT_SWNET_ALL) {
		p = b->scope & 0xff;
		end = p + 1;
	}
	for (; p < end; p++)
		for (uint32_t i = first; i < first + count; i++) {
			struct fake_list *l = &f->table[device][p][i];

			l->is_written = true;
			l->n = (uint8_t)b->word[1];
			for (uint32_t k = 0; k < l->n; k++)
				l->port[k] = (uint8_t)(b->word[2 + k / 8] >>
						       k % 8 * 8);
		}
	b->n_words = 0;
}

static void execute(struct fake *f, uint32_t device, uint32_t came_by,
	struct registers_body *b)
{
	bool is_switch = device >= FAKE_NODES;

	b->kind = REGISTERS_ANSWER;
	switch (b->command) {
	case WEFT_SWNET_IDENTIFY:
		b->n_words = 3;
		b->word[0] = WEFT_SWNET_IDENTITY(
			is_switch, is_switch ? FAKE_PORTS : 2, came_by);
		b->word[1] = number_of(device);
		b->word[2] = place_of(device);
		break;
	case WEFT_SWNET_READ:
		b->n_words = FAKE_PORTS;
		for (uint32_t p = 0; p < FAKE_PORTS; p++)
			b->word[p] = f->far[device][p].device != FAKE_NONE;
		break;
	case WEFT_SWNET_WRITE_ENTRIES:
		write_entries(f, device, b);
		break;
	case WEFT_SWNET_WRITE:
		f->manager[device] = b->word[1];
		b->n_words = 0;
		break;
	default:
		b->status = WEFT_SWNET_NO_COMMAND;
	}
}

/* --- the wire --- */

static int fake_send(void *arg, const struct weft_swnet_target *to,
	const struct registers_body *b)
{
	struct fake *f = arg;
	struct fake_end at = f->far[f->at][to->rail];
	struct registers_body *answer;

	f->n_sent++;
	f->now += 1000;
	for (uint32_t i = 0; i < to->n_hops && at.device != FAKE_NONE; i++)
		at = at.device < FAKE_NODES || to->hop[i] >= FAKE_PORTS
			     ? nowhere
			     : f->far[at.device][to->hop[i]];
	if (at.device == FAKE_NONE ||
		(f->lose && f->n_sent * 2654435761u >> 24 < 256 / f->lose))
		return 0;
	answer = ring_push(&f->answers);
	memcpy(answer, b, sizeof(*b));
	execute(f, at.device, at.port, answer);
	return 0;
}

static bool fake_receive(void *arg, struct registers_body *b, sim_time until)
{
	struct fake *f = arg;

	if (f->answers.n) {
		memcpy(b, ring_pop(&f->answers), sizeof(*b));
		return true;
	}
	f->now = until;
	return false;
}

static int fake_jtag(void *arg, uint32_t chip, struct registers_body *b)
{
	struct fake *f = arg;

	f->n_jtag++;
	if (chip >= FAKE_RAILS * FAKE_SWITCHES)
		return EINVAL;
	execute(f, FAKE_NODES + chip, WEFT_SWNET_HERE, b);
	return 0;
}

static sim_time fake_now(void *arg)
{
	return ((struct fake *)arg)->now;
}

static void fake_close(void *arg)
{
	(void)arg;
}

static uint32_t fake_n_rails(void *arg)
{
	(void)arg;
	return FAKE_RAILS;
}

static uint64_t fake_guid(void *arg)
{
	return ((struct fake *)arg)->at;
}

static const struct manager_wire fake_wire = {
	.send = fake_send,
	.receive = fake_receive,
	.jtag = fake_jtag,
	.now = fake_now,
	.close = fake_close,
	.n_rails = fake_n_rails,
	.guid = fake_guid,
};

struct fake *fake_new(void)
{
	struct fake *f = mem_alloc(1, sizeof(*f));

	for (uint32_t d = 0; d < FAKE_DEVICES; d++)
		for (uint32_t p = 0; p < FAKE_PORTS; p++)
			f->far[d][p] = nowhere;
	for (uint32_t rail = 0; rail < FAKE_RAILS; rail++)
		wire(f, rail);
	ring_init(&f->answers, sizeof(struct registers_body));
	f->m = manager_new(&fake_wire, f);
	return f;
}

void fake_free(struct fake *f)
{
	manager_free(f->m);
	ring_fini(&f->answers);
	mem_free(f);
}

/* --- packets --- */

static struct fake_end step(
	const struct fake *f, struct fake_end at, uint32_t dst)
{
	const struct fake_list *l = &f->table[at.device][at.port][dst];

	for (uint32_t i = 0; i < l->n; i++)
		if (f->far[at.device][l->port[i]].device != FAKE_NONE)
			return f->far[at.device][l->port[i]];
	return nowhere;
}

uint32_t fake_follow(
	const struct fake *f, uint32_t rail, uint32_t src, uint32_t dst)
{
	struct fake_end at = f->far[src][rail];
	uint32_t n = 0;

	while (at.device != FAKE_NONE && at.device >= FAKE_NODES && n < 10) {
		at = step(f, at, dst);
		n++;
	}
	return at.device == dst ? n : 0;
}
