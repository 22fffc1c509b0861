/*
 * GOAL's binary form, as LogGOPSim's txt2bin writes it on a little-endian
 * machine.  No field is aligned:
 *
 *	u64 4223, which marks the form
 *	u32 ranks, u8 highest cpu, u8 highest nic
 *	for each rank: u64 begin, u64 end of its part; counted from byte 8
 *	each rank's part:
 *		u32 operations, u32 roots
 *		u32 for each root: an operation that waits for nothing
 *		a record of 39 bytes for each operation
 *		u32 for each edge: an operation that waits for another
 *
 * and a record:
 *
 *	u32 how many it waits for
 *	u8 kind: 1 send, 2 recv, 3 calc
 *	u32 peer, u64 size, u32 tag, u8 cpu, u8 nic
 *	u32 how many wait for its end, u32 the first of them among the edges
 *	u32 how many wait for its start, u32 the first of them
 *
 * Parts are taken as they come, one after the other, so a file is never in
 * memory as a whole, and what it claims costs nothing until it is there.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "load/replay/goal_build.h"

enum {
	MAGIC = 4223,
	USED_UP = 2342, /* where the simulator has changed it in place */
	ORIGIN = 8, /* what positions are counted from */
	HEADER = 14,
	RECORD = 39,
	BLOCK = 1024, /* words or records that are read at once */
};

static const uint8_t kind_code[] = {
	[GOAL_SEND] = 1,
	[GOAL_RECV] = 2,
	[GOAL_CALC] = 3,
};

static uint64_t get(const uint8_t *b, unsigned n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | b[n];
	return v;
}

static uint32_t get_word(const uint8_t *b)
{
	return (uint32_t)get(b, 4);
}

static uint8_t *put(uint8_t *b, uint64_t v, unsigned n)
{
	for (; n--; v >>= 8)
		*b++ = (uint8_t)v;
	return b;
}

bool goal_is_binary(int first)
{
	return first == (MAGIC & 0xff) || first == (USED_UP & 0xff);
}

/* --- reading --- */

/* What a record says of those that wait for its end, and for its start. */
struct reach {
	uint32_t n[2], first[2];
	uint32_t needs;
};

struct reader {
	struct goal_build *b;
	FILE *file;
	uint64_t at; /* bytes from its beginning */
	uint32_t number; /* of the rank, whose part this is: */
	uint32_t n_ops, n_roots, n_edges;
	uint32_t *root, *edge;
	struct reach *reach;
};

static int take(struct reader *r, uint8_t *to, size_t n)
{
	if (fread(to, 1, n, r->file) != n)
		return err_set(r->b->e, "%s: %s", r->b->path,
			ferror(r->file) ? strerror(errno)
					: "the file ends too early");
	r->at += n;
	return 0;
}

static int wrong(const struct reader *r, const char *what)
{
	return err_set(r->b->e, "%s: rank %u: %s", r->b->path, r->number, what);
}

static int wrong_op(const struct reader *r, uint32_t op, const char *what)
{
	return err_set(r->b->e, "%s: rank %u, operation %u: %s", r->b->path,
		r->number, op, what);
}

/* Up to the place where a part begins. */
static int skip_to(struct reader *r, uint64_t at)
{
	uint8_t none[BLOCK];

	while (r->at < at)
		if (take(r, none, at - r->at < BLOCK ? at - r->at : BLOCK))
			return -1;
	return 0;
}

static int take_words(struct reader *r, uint32_t **words, uint32_t n)
{
	uint8_t block[4 * BLOCK];
	uint32_t done = 0, room = 0;

	while (done < n) {
		uint32_t more = n - done < BLOCK ? n - done : BLOCK;

		if (take(r, block, 4 * more))
			return -1;
		if (done + more > room) {
			room = 2 * room + more;
			*words = mem_grow(*words, room, sizeof(**words));
		}
		for (uint32_t i = 0; i < more; i++)
			(*words)[done++] = get_word(block + 4 * i);
	}
	return 0;
}

/* The name of what is out of bounds; NULL: nothing is. */
static const char *check_op(const struct reader *r, const struct goal_op *op)
{
	if (op->cpu >= GOAL_CPUS)
		return "want a cpu from 0 to 63";
	if (op->kind == GOAL_CALC)
		return op->size > GOAL_CALC_NS ? "computes for more than 200 s"
					       : NULL;
	if (op->peer >= r->b->goal->n_ranks)
		return "sends to or receives from a rank that does not exist";
	if (op->tag > GOAL_TAG)
		return "want a tag below 2^32 - 1";
	return op->size > GOAL_BYTES ? "a message of more than 1 TiB" : NULL;
}

static int take_record(struct reader *r, const uint8_t *b, uint32_t i)
{
	const char *what = "neither a send, a recv nor a calc";
	struct reach *reach = &r->reach[i];
	enum goal_kind kind = GOAL_CALC;
	struct goal_op *op;

	while (kind <= GOAL_RECV && kind_code[kind] != b[4])
		kind++;
	if (kind > GOAL_RECV)
		return wrong_op(r, i, what);
	op = goal_build_op(r->b, kind);
	op->size = get(b + 9, 8);
	op->cpu = b[21];
	op->nic = b[22];
	if (kind != GOAL_CALC) {
		op->peer = get_word(b + 5);
		op->tag = get_word(b + 17);
	}
	*reach = (struct reach){
		.needs = get_word(b),
		.n = { get_word(b + 23), get_word(b + 31) },
		.first = { get_word(b + 27), get_word(b + 35) },
	};
	what = check_op(r, op);
	return what ? wrong_op(r, i, what) : 0;
}

static int take_records(struct reader *r)
{
	uint8_t block[RECORD * BLOCK];
	uint32_t done = 0, room = 0;

	while (done < r->n_ops) {
		uint32_t more = r->n_ops - done;

		more = more < BLOCK ? more : BLOCK;
		if (take(r, block, RECORD * more))
			return -1;
		if (done + more > room) {
			room = 2 * room + more;
			r->reach = mem_grow(r->reach, room, sizeof(*r->reach));
		}
		for (uint32_t i = 0; i < more; i++)
			if (take_record(r, block + RECORD * i, done++))
				return -1;
	}
	return 0;
}

/* Each edge belongs to one operation, so there are no more pairs than edges. */
static int add_pairs(struct reader *r, uint32_t op, bool is_start)
{
	uint32_t n = r->reach[op].n[is_start];
	uint64_t first = r->reach[op].first[is_start];

	if (!n)
		return 0;
	if (first + n > r->n_edges || n > r->n_edges - r->b->n_pairs)
		return wrong_op(
			r, op, "has more dependants than the file lists");
	for (uint32_t i = 0; i < n; i++) {
		if (r->edge[first + i] >= r->n_ops)
			return wrong_op(
				r, op, "has a dependant that does not exist");
		goal_build_pair(r->b, r->edge[first + i], op, is_start);
	}
	return 0;
}

/* What the file says twice must agree. */
static int check_needs(const struct reader *r)
{
	const struct goal_op *op = r->b->rank->op;
	uint32_t n_free = 0;

	for (uint32_t i = 0; i < r->n_ops; i++) {
		n_free += !op[i].needs;
		if (op[i].needs != r->reach[i].needs)
			return wrong_op(r, i,
				"waits for more or fewer operations than it "
				"says");
	}
	for (uint32_t i = 0; i < r->n_roots; i++)
		if (r->root[i] >= r->n_ops || op[r->root[i]].needs)
			return wrong(r, "a root waits for other operations");
	return n_free != r->n_roots ? wrong(r, "not all roots are listed") : 0;
}

static int take_lists(struct reader *r)
{
	if (take_words(r, &r->root, r->n_roots) || take_records(r) ||
		take_words(r, &r->edge, r->n_edges))
		return -1;
	for (uint32_t i = 0; i < r->n_ops; i++)
		if (add_pairs(r, i, false) || add_pairs(r, i, true))
			return -1;
	return goal_build_end(r->b) ? -1 : check_needs(r);
}

/* How many of what there are, from the part's size. */
static int take_sizes(struct reader *r, uint64_t size)
{
	uint8_t head[8];
	uint64_t fixed;

	if (size < sizeof(head))
		return wrong(r, "its part of the file is too short");
	if (take(r, head, sizeof(head)))
		return -1;
	r->n_ops = get_word(head);
	r->n_roots = get_word(head + 4);
	fixed = sizeof(head) + UINT64_C(4) * r->n_roots +
		(uint64_t)RECORD * r->n_ops;
	if (r->n_ops > GOAL_OPS)
		return wrong(r, "too many operations");
	if (r->n_roots > r->n_ops || fixed > size || (size - fixed) % 4 ||
		(size - fixed) / 4 > UINT32_MAX)
		return wrong(r, "its operations do not fill its part of the "
				"file; was it written by LogGOPSim's txt2bin?");
	r->n_edges = (uint32_t)((size - fixed) / 4);
	return 0;
}

static int take_part(struct reader *r, const uint8_t *range)
{
	uint64_t begin = get(range, 8), end = get(range + 8, 8);
	int failed;

	if (begin > end || end > INT64_MAX || begin < r->at - ORIGIN)
		return wrong(r,
			"its part of the file overlaps what comes before it");
	goal_build_rank(r->b, r->number);
	failed = skip_to(r, begin + ORIGIN) || take_sizes(r, end - begin) ||
		 take_lists(r);
	mem_free(r->root);
	mem_free(r->edge);
	mem_free(r->reach);
	r->root = r->edge = NULL;
	r->reach = NULL;
	return failed ? -1 : 0;
}

static int take_parts(struct reader *r)
{
	uint32_t n = r->b->goal->n_ranks;
	uint8_t *table = mem_alloc(n, 16);
	int failed = take(r, table, (size_t)16 * n);

	for (; !failed && r->number < n; r->number++)
		failed = take_part(r, table + (size_t)16 * r->number);
	mem_free(table);
	return failed;
}

int goal_read_binary(struct goal_build *b, FILE *f)
{
	struct reader r = { .b = b, .file = f };
	uint8_t head[HEADER];

	if (take(&r, head, sizeof(head)))
		return -1;
	if (get(head, 8) == USED_UP)
		return err_set(b->e,
			"%s: a simulator has overwritten this file; convert "
			"its text form again",
			b->path);
	if (get(head, 8) != MAGIC)
		return err_set(
			b->e, "%s: not GOAL, neither text nor binary", b->path);
	return goal_build_ranks(b, get(head + 8, 4)) || take_parts(&r) ? -1 : 0;
}

/* --- writing --- */

static uint32_t n_roots(const struct goal_rank *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_ops; i++)
		n += !r->op[i].needs;
	return n;
}

static void write_number(uint64_t v, unsigned n, FILE *f)
{
	uint8_t b[8];

	put(b, v, n);
	fwrite(b, 1, n, f);
}

static void write_header(const struct goal *g, FILE *f)
{
	uint8_t cpu = 0, nic = 0;

	for (uint32_t i = 0; i < g->n_ranks; i++)
		for (uint32_t k = 0; k < g->rank[i].n_ops; k++) {
			const struct goal_op *op = &g->rank[i].op[k];

			cpu = op->cpu > cpu ? op->cpu : cpu;
			nic = op->nic > nic ? op->nic : nic;
		}
	write_number(MAGIC, 8, f);
	write_number(g->n_ranks, 4, f);
	write_number(cpu, 1, f);
	write_number(nic, 1, f);
}

static void write_table(const struct goal *g, FILE *f)
{
	uint64_t at = HEADER - ORIGIN + (uint64_t)16 * g->n_ranks;

	for (uint32_t i = 0; i < g->n_ranks; i++) {
		const struct goal_rank *r = &g->rank[i];

		write_number(at, 8, f);
		at += 8 + UINT64_C(4) * n_roots(r) +
		      (uint64_t)RECORD * r->n_ops + UINT64_C(4) * r->n_edges;
		write_number(at, 8, f);
	}
}

/* Those that wait for its start, or for its end. */
static uint32_t n_waiting(const struct goal_rank *r, uint32_t op, bool is_start)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < goal_n_after(r, op); i++)
		n += r->edge[r->op[op].after + i] % 2 == is_start;
	return n;
}

static void write_record(
	const struct goal *g, const struct goal_rank *r, uint32_t i, FILE *f)
{
	const struct goal_op *op = &r->op[i];
	uint32_t n_start = n_waiting(r, i, true);
	uint32_t n_end = goal_n_after(r, i) - n_start;
	uint8_t b[RECORD], *at = b;

	at = put(at, op->needs, 4);
	at = put(at, kind_code[op->kind], 1);
	at = put(at, goal_peer(g, r, op), 4);
	at = put(at, op->size, 8);
	at = put(at, op->tag, 4);
	at = put(at, op->cpu, 1);
	at = put(at, op->nic, 1);
	at = put(at, n_end, 4);
	at = put(at, op->after, 4);
	at = put(at, n_start, 4);
	put(at, op->after + n_end, 4);
	fwrite(b, 1, sizeof(b), f);
}

static void write_edges(
	const struct goal_rank *r, uint32_t op, bool is_start, FILE *f)
{
	const uint32_t *edge = r->edge + r->op[op].after;

	for (uint32_t i = 0; i < goal_n_after(r, op); i++)
		if (edge[i] % 2 == is_start)
			write_number(edge[i] / 2, 4, f);
}

static void write_part(const struct goal *g, const struct goal_rank *r, FILE *f)
{
	write_number(r->n_ops, 4, f);
	write_number(n_roots(r), 4, f);
	for (uint32_t i = 0; i < r->n_ops; i++)
		if (!r->op[i].needs)
			write_number(i, 4, f);
	for (uint32_t i = 0; i < r->n_ops; i++)
		write_record(g, r, i, f);
	for (uint32_t i = 0; i < r->n_ops; i++) {
		write_edges(r, i, false, f);
		write_edges(r, i, true, f);
	}
}

void goal_write_binary(const struct goal *g, FILE *f)
{
	write_header(g, f);
	write_table(g, f);
	for (uint32_t i = 0; i < g->n_ranks; i++)
		write_part(g, &g->rank[i], f);
}
