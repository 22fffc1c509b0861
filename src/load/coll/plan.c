#include "load/coll/plan.h"

#include <string.h>

#include "base/name.h"

enum {
	LEAST_CHUNK = 8 << 10,
	MOST_CHUNK = 512 << 10,
	MOST_NAMES = 16,
	FIRST_STEPS = 64,
};

const char *const algo_op_names[ALGO_OPS] = {
	[ALGO_BROADCAST] = "broadcast",
	[ALGO_REDUCE] = "reduce",
	[ALGO_ALLREDUCE] = "allreduce",
	[ALGO_REDUCESCATTER] = "reducescatter",
	[ALGO_ALLGATHER] = "allgather",
	[ALGO_ALLTOALL] = "alltoall",
	[ALGO_ALLTOALLV] = "alltoallv",
};

/* --- names --- */

const struct algo *algo_find(const char *name, struct err *e)
{
	const char *names[MOST_NAMES];
	char hint[NAME_HINT];
	size_t n;

	for (n = 0; algo_registry[n]; n++) {
		if (!strcmp(algo_registry[n]->name, name))
			return algo_registry[n];
		names[n] = algo_registry[n]->name;
	}
	err_set(e, "algo: no algorithm is called \"%.40s\"%s", name,
		name_hint(name, names, n, "; weft-collective(7) lists them",
			hint));
	return NULL;
}

enum algo_op algo_find_op(const char *name)
{
	uint32_t op = 0;

	while (op < ALGO_OPS && strcmp(algo_op_names[op], name) != 0)
		op++;
	return op;
}

/* --- plans --- */

/* "ring, tree or halving" */
static void list_able(enum algo_op op, char *text, size_t size)
{
	const char *last = NULL;

	for (size_t i = 0; algo_registry[i]; i++) {
		if (!algo_has(algo_registry[i], op))
			continue;
		if (last && *text)
			name_add(text, size, ", ");
		if (last)
			name_add(text, size, last);
		last = algo_registry[i]->name;
	}
	if (*text)
		name_add(text, size, " or ");
	name_add(text, size, last);
}

static uint64_t usual_chunk(const struct algo_plan *p)
{
	uint64_t cuts = (uint64_t)p->algo->cuts_each * p->n + p->algo->cuts;
	uint64_t chunk = p->bytes / p->channels / (cuts ? cuts : 1);
	uint64_t most = p->algo->most_chunk ? p->algo->most_chunk : MOST_CHUNK;

	if (chunk > most)
		return most;
	return chunk < LEAST_CHUNK ? LEAST_CHUNK : chunk;
}

static int check_blocks(const struct algo_plan *p, struct err *e)
{
	uint64_t all = (uint64_t)p->n * p->grain;

	if (p->op != ALGO_ALLTOALL && !p->algo->has_equal_blocks)
		return 0;
	if (p->op == ALGO_ALLTOALLV || p->bytes % all == 0)
		return 0;
	return err_set(e,
		"bytes: %s%s needs blocks of equal length (want a multiple of "
		"%llu)",
		p->op == ALGO_ALLTOALL ? "" : p->algo->name,
		p->op == ALGO_ALLTOALL ? "alltoall" : "",
		(unsigned long long)all);
}

int algo_settle(struct algo_plan *p, struct err *e)
{
	char able[128] = "";

	if (!algo_has(p->algo, p->op)) {
		list_able(p->op, able, sizeof(able));
		return err_set(e, "algo: %s has no %s (want %s)", p->algo->name,
			algo_op_names[p->op], able);
	}
	if (algo_op_has_root(p->op) && p->root >= p->n)
		return err_set(e,
			"root: out of range (want one of the members 0 to %u)",
			p->n - 1);
	p->channels += !p->channels;
	p->grain += !p->grain;
	p->unit += !p->unit;
	if (p->n % p->unit)
		return err_set(e,
			"unit: %u members are not units of %u (want a "
			"divisor)",
			p->n, p->unit);
	if (!p->algo->has_unit)
		p->unit = 1; /* so that sweeps over algorithms may set it */
	if (!p->chunk && algo_has_steps(p))
		p->chunk = usual_chunk(p);
	if (p->chunk && p->chunk < p->grain)
		return err_set(e, "chunk: want %u bytes or more", p->grain);
	if (check_blocks(p, e))
		return -1;
	return p->algo->check ? p->algo->check(p, e) : 0;
}

uint64_t algo_longest(const struct algo_plan *p)
{
	uint64_t most = 0;
	struct algo_step s;

	for (uint32_t lane = 0; lane < algo_lanes(p); lane++) {
		uint64_t n = algo_count(p, 0, lane);

		for (uint64_t i = 0; i < n && i < FIRST_STEPS; i++) {
			algo_step(p, 0, lane, i, &s);
			if (s.kind != ALGO_COPY && s.bytes > most)
				most = s.bytes;
		}
	}
	return most;
}

uint64_t algo_space(const struct algo_plan *p)
{
	return (1 + (uint64_t)p->algo->spaces) * p->bytes;
}

double algo_bus_factor(enum algo_op op, uint32_t n, bool in_network)
{
	double all = n, others = n - 1.0;

	switch (op) {
	case ALGO_ALLREDUCE:
		return in_network ? others / (all + 1) : 2 * others / all;
	case ALGO_BROADCAST:
	case ALGO_REDUCE:
		return 1;
	default:
		return others / all;
	}
}

/* --- parts --- */

struct algo_span algo_cut(const struct algo_plan *p, struct algo_span s,
	uint64_t parts, uint64_t i)
{
	uint64_t grains = s.bytes / p->grain;
	uint64_t each = grains / parts, more = grains % parts;
	uint64_t from = each * i + (i < more ? i : more);
	uint64_t to = from + each + (i < more);
	uint64_t end = i + 1 == parts ? s.bytes : to * p->grain;

	return (struct algo_span){ s.at + from * p->grain,
		end - from * p->grain };
}

uint64_t algo_cover(const struct algo_plan *p, struct algo_span s,
	uint64_t parts, uint64_t upto)
{
	uint64_t low = 0, high = parts;

	while (low < high) {
		uint64_t mid = (low + high) / 2;
		struct algo_span c = algo_cut(p, s, parts, mid);

		if (c.at + c.bytes >= upto)
			high = mid;
		else
			low = mid + 1;
	}
	return low < parts ? low + 1 : parts;
}

uint64_t algo_chunks(
	const struct algo_plan *p, struct algo_span s, uint64_t parts)
{
	uint64_t most = (s.bytes + parts - 1) / parts;
	uint64_t n = (most + p->chunk - 1) / p->chunk;

	return n ? n : 1;
}

/* --- rings --- */

/* The place whose block is received in a round, which the previous place has
 * received one round before. */
static uint32_t place_received(const struct algo_ring *r, uint64_t round)
{
	return (uint32_t)((r->place + 3 * (uint64_t)r->n - 2 - round) % r->n);
}

void algo_ring_step(const struct algo_plan *p, const struct algo_ring *r,
	bool is_send, uint64_t i, struct algo_step *out)
{
	uint64_t round = r->first + i / r->chunks, chunk = i % r->chunks;
	uint32_t place = place_received(r, round);
	struct algo_span s;

	if (is_send)
		place = algo_turn(place, 1, r->n);
	place = algo_ring_at(r, place);
	s = r->cuts ? algo_cut(p, r->span, r->cuts, r->cut + r->stride * place)
		    : algo_cut(p, r->span, r->n, place);
	s = algo_cut(p, s, r->channels, r->channel);
	s = algo_cut(p, s, r->chunks, chunk);
	out->after = r->after;
	if (is_send) {
		algo_set(out, ALGO_SEND, r->next, s);
		/* what it received in the last round */
		if (round > r->first)
			out->after = (struct algo_after){ r->lane,
				r->base + i - r->chunks + 1 };
		return;
	}
	algo_set(out, round < r->n - 1 ? ALGO_ADD : ALGO_RECEIVE, r->prev, s);
	out->to = r->space + s.at;
}

/* --- powers of two --- */

struct algo_fold algo_fold(uint32_t n, uint32_t member)
{
	struct algo_fold f = { .core = 1, .partner = UINT32_MAX };

	while (f.core <= n / 2) {
		f.core *= 2;
		f.rounds++;
	}
	f.rest = n - f.core;
	if (member >= 2 * f.rest) {
		f.place = member - f.rest;
		return f;
	}
	f.place = member / 2;
	f.partner = member ^ 1;
	f.is_out = member & 1;
	return f;
}
