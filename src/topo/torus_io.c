/*
 * Blue Gene/Q's IO nodes: the same chips behind the compute nodes, without
 * links among themselves.  Each serves so many compute nodes in a row, midplane
 * by midplane and board by board, and has links to some of these, its exits,
 * which lie evenly among them: link k of an IO node is at its port io_port + k,
 * and at its exit it is the port io_port.
 *
 * A part of a bigger machine has the IO nodes that have an exit in it, by those
 * links alone.  What they serve there is served by its own exit, or where that
 * is elsewhere by the one before it.
 */
#include <string.h>

#include "base/mem.h"
#include "topo/torus.h"

#define AT(field) offsetof(struct torus, field)

static const struct param io_params[] = {
	PARAM_ROW(PARAM_COUNT, "io.every", AT(io_every), "0", 0,
		TOPO_MAX_ROUTERS,
		"number of compute nodes that share an IO node; 0: no IO nodes",
		"assumed: compute nodes only"),
	PARAM_ROW(PARAM_COUNT, "io.links", AT(io_links), "2", 1, TORUS_IO_LINKS,
		"number of links of an IO node, each to another compute node",
		"BGQ-N6"),
	PARAM_ROW(PARAM_COUNTS, "io.whole", AT(whole), "0", 0, TORUS_MAX_LENGTH,
		"shape of the whole machine, if this one is a partition that "
		"shares its IO nodes (topology.corner); 0: not a partition",
		"assumed: a machine by itself"),
};

static const struct param latency_params[] = {
	PARAM_ROW(PARAM_TIME, "latency.io", AT(latency[WIRE_IO]), "49 ns", 1,
		1000000000,
		"latency between an IO node and a compute node that it is "
		"linked to",
		"assumed: a board crossing"),
};

const struct topo_block torus_io = {
	.section = "topology",
	.needs = "packaging",
	.rows = io_params,
	.n_rows = sizeof(io_params) / sizeof(io_params[0]),
};

const struct topo_block torus_io_latency = {
	.section = "link",
	.needs = "packaging",
	.rows = latency_params,
	.n_rows = sizeof(latency_params) / sizeof(latency_params[0]),
};

/* --- who is served by which --- */

/*
 * How many of a box's routers come before one at x, those of its own block left
 * out, where they are counted block by block.  The block becomes the box.
 */
static uint64_t count_blocks(
	uint32_t n, uint32_t *x, uint32_t *box, const uint32_t *unit)
{
	uint32_t size[TORUS_MAX_DIMS], from[TORUS_MAX_DIMS];
	uint64_t sum = 0, part;

	for (uint32_t i = 0; i < n; i++) {
		from[i] = x[i] / unit[i] * unit[i];
		size[i] =
			box[i] - from[i] < unit[i] ? box[i] - from[i] : unit[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		part = from[i];
		for (uint32_t j = 0; j < n; j++)
			part *= j < i ? box[j] : j > i ? size[j] : 1;
		sum += part;
	}
	for (uint32_t i = 0; i < n; i++)
		x[i] -= from[i];
	memcpy(box, size, n * sizeof(*box));
	return sum;
}

/* Whether it shares the IO nodes of a bigger machine; else a corner is only
 * what its coordinates begin with. */
static bool is_partition(const struct torus *t)
{
	return t->whole.n && t->whole.v[0];
}

/* Of a router, in the order of the whole machine's packaging. */
static uint64_t rank_of(
	const struct torus *t, const uint32_t *whole, router_id r)
{
	uint32_t x[TORUS_MAX_DIMS], box[TORUS_MAX_DIMS],
		unit[3][TORUS_MAX_DIMS], i;
	uint64_t sum = 0;

	for (i = 0; i < t->n_dims; i++) {
		x[i] = torus_coord(t, r, i) +
		       (is_partition(t) ? torus_corner(t, i) : 0);
		box[i] = whole[i];
		unit[0][i] = torus_span(&t->midplane, i, whole[i]);
		unit[1][i] = torus_span(&t->board, i, whole[i]);
		unit[2][i] = 1;
	}
	for (i = 0; i < 3; i++)
		sum += count_blocks(t->n_dims, x, box, unit[i]);
	return sum;
}

/* The link that a router is served by, of those of the whole machine. */
static uint32_t link_of(uint64_t rank, uint32_t every, uint32_t links)
{
	uint32_t k = (uint32_t)(rank % every) / (every / links);

	return (uint32_t)(rank / every) * links + (k < links ? k : links - 1);
}

/* Keeps those that have an exit here.  near: by link of the whole machine,
 * which of these are used where its exit is elsewhere. */
static void keep_some(
	struct torus *t, const router_id *exit, router_id n_io, uint32_t *near)
{
	uint32_t links = (uint32_t)t->io_links, io, k, n = 0, last = UINT32_MAX;

	for (io = 0; io < n_io; io++) {
		bool is_here = false;

		for (k = 0; k < links; k++) {
			t->io_exit[n * links + k] = exit[io * links + k];
			if (exit[io * links + k] != NO_ROUTER) {
				is_here = true;
				last = n * links + k;
			}
			near[io * links + k] = last;
		}
		t->io_number[n] = io;
		n += is_here;
	}
	t->topo.n_io = n;
	for (k = 0; n && t->io_exit[k] == NO_ROUTER;)
		k++;
	for (io = 0; io < n_io * links && near[io] == UINT32_MAX; io++)
		near[io] = k;
}

static void lay_out(struct torus *t, const uint32_t *whole, router_id n_io)
{
	uint32_t every = (uint32_t)t->io_every, links = (uint32_t)t->io_links;
	router_id *exit = mem_alloc(n_io * links, sizeof(*exit)), r;
	uint32_t *near = mem_alloc(n_io * links, sizeof(*near));

	t->io_exit = mem_alloc((n_io + 1) * links, sizeof(*t->io_exit));
	t->io_number = mem_alloc(n_io + 1, sizeof(*t->io_number));
	t->io_way = mem_alloc(t->n, sizeof(*t->io_way));
	memset(exit, 0xff, n_io * links * sizeof(*exit));
	for (r = 0; r < t->n; r++) {
		uint64_t rank = rank_of(t, whole, r);
		uint32_t at = (uint32_t)(rank % every), step = every / links;

		t->io_way[r] = link_of(rank, every, links);
		if (at % step == 0 && at / step < links)
			exit[t->io_way[r]] = r;
	}
	keep_some(t, exit, n_io, near);
	for (r = 0; r < t->n; r++)
		t->io_way[r] = near[t->io_way[r]];
	mem_free(exit);
	mem_free(near);
}

/* The machine that this one may be a part of. */
static int set_whole(const struct torus *t, uint32_t *whole, struct err *e)
{
	memcpy(whole, t->dim, sizeof(t->dim));
	if (!is_partition(t))
		return 0;
	for (uint32_t i = 0; i < t->n_dims; i++) {
		whole[i] = i < t->whole.n ? (uint32_t)t->whole.v[i] : 0;
		if (torus_corner(t, i) + t->dim[i] > whole[i])
			return err_set(e,
				"topology.io.whole: %u routers in dimension %c "
				"do not hold a partition of %u from coordinate "
				"%u on",
				whole[i], t->letters[i], t->dim[i],
				torus_corner(t, i));
	}
	return 0;
}

static uint64_t size_of(const struct torus *t, const uint32_t *whole)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < t->n_dims && n <= TOPO_MAX_ROUTERS; i++)
		n *= whole[i];
	return n;
}

int torus_io_init(struct torus *t, struct err *e)
{
	struct topo *topo = &t->topo;
	uint32_t whole[TORUS_MAX_DIMS];
	uint64_t n;

	if (t->wires != TORUS_PACKAGED || !t->io_every)
		return 0;
	if (!torus_is_plain(t) || t->n_dims == TORUS_MAX_DIMS)
		return err_set(e,
			"topology.io.every: IO nodes need a torus of at most "
			"%d dimensions whose routers are nodes (topology.nodes:"
			" 0) with one link in each direction (topology.links: "
			"1)",
			TORUS_MAX_DIMS - 1);
	if (set_whole(t, whole, e))
		return -1;
	n = size_of(t, whole);
	if (n > TOPO_MAX_ROUTERS)
		return err_set(e,
			"topology.io.whole: %llu compute nodes (want at most "
			"%d)",
			(unsigned long long)n, TOPO_MAX_ROUTERS);
	if (n % (uint64_t)t->io_every)
		return err_set(e,
			"topology.io.every: %llu compute nodes cannot be "
			"divided among IO nodes of %lld each",
			(unsigned long long)n, (long long)t->io_every);
	if (t->io_links > t->io_every)
		return err_set(e,
			"topology.io.links: the %lld links of an IO node need "
			"a compute node each, but it has only %lld "
			"(topology.io.every)",
			(long long)t->io_links, (long long)t->io_every);
	lay_out(t, whole, (router_id)n / (router_id)t->io_every);
	if (!t->topo.n_io)
		return 0;
	topo->n_routers += topo->n_io;
	topo->n_ports += (port_id)t->io_links;
	return 0;
}

void torus_io_fini(struct torus *t)
{
	mem_free(t->io_exit);
	mem_free(t->io_number);
	mem_free(t->io_way);
}

router_id torus_io_exit(const struct torus *t, router_id io, uint32_t link)
{
	return t->io_exit[(io - t->n) * (uint32_t)t->io_links + link];
}

router_id torus_io_first(const struct torus *t, router_id io)
{
	uint32_t k = 0;

	while (torus_io_exit(t, io, k) == NO_ROUTER)
		k++;
	return torus_io_exit(t, io, k);
}

router_id torus_io_number(const struct torus *t, router_id io)
{
	return t->io_number[io - t->n];
}

router_id torus_io_of(const struct torus *t, router_id r)
{
	return t->n + t->io_way[r] / (uint32_t)t->io_links;
}

uint32_t torus_io_link(const struct torus *t, router_id r)
{
	return t->io_way[r] % (uint32_t)t->io_links;
}

uint64_t torus_io_exits(const struct torus *t)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->topo.n_io * (uint32_t)t->io_links; i++)
		n += t->io_exit[i] != NO_ROUTER;
	return n;
}

bool torus_is_exit(const struct torus *t, router_id r)
{
	return t->topo.n_io && r < t->n && t->io_exit[t->io_way[r]] == r;
}

struct topo_end torus_io_peer(const struct torus *t, router_id r, port_id p)
{
	struct topo_end none = { .router = NO_ROUTER };
	port_id io = t->base[t->n_dims];

	if (p < io || (r < t->n && (p > io || !torus_is_exit(t, r))))
		return none;
	if (r < t->n)
		return (struct topo_end){ torus_io_of(t, r),
			io + torus_io_link(t, r) };
	r = torus_io_exit(t, r, p - io);
	return r == NO_ROUTER ? none : (struct topo_end){ r, io };
}
