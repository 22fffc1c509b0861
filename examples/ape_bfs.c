/*
 * Breadth-first search, level by level, on an R-MAT graph.  Vertices are
 * distributed over the nodes; each node has the edges of its vertices in its
 * GPU.  In every level a kernel marks the vertices that its edges reach from
 * the last level in a bit map, the maps go to the GPUs of all nodes, and
 * another kernel extracts the new vertices.
 */
#include "ape_setup.h"

enum { SCALE = 10, VERTICES = 1 << SCALE, EDGES = 8 * VERTICES, SEED = 14 };
enum { MAP = VERTICES / 8, NONE = UINT32_MAX };

struct edge {
	uint32_t from, to;
};

struct node {
	uint32_t level[VERTICES]; /* of its own ones */
	uint64_t n_new; /* of the last level */
	weft_time took;
};

/* A node's GPU memory: its map, one of each node, then edges. */
struct search {
	struct node *mine;
	uint64_t at;
	uint32_t n_edges, depth;
};

static uint64_t edge_at(uint32_t i)
{
	return (1 + weft_nodes()) * MAP + i * sizeof(struct edge);
}

static struct edge edge(uint32_t i)
{
	struct edge e = { 0, 0 };

	for (uint32_t bit = 0; bit < SCALE; bit++) {
		uint64_t dice = mix(i / 2 * SCALE + bit, SEED) % 100;

		/* quarters of the matrix, with 57, 19, 19 and 5 % of it */
		e.from = 2 * e.from + (dice >= 76);
		e.to = 2 * e.to + (dice >= 57 && (dice < 76 || dice >= 95));
	}
	return i % 2 ? (struct edge){ e.to, e.from } : e; /* both ways */
}

static void expand(void *arg)
{
	const struct search *s = arg;
	uint8_t map[MAP] = { 0 };
	struct edge e;

	for (uint32_t i = 0; i < s->n_edges; i++) {
		weft_gpu_load(s->at + edge_at(i), &e, sizeof(e));
		if (s->mine->level[e.from] == s->depth)
			map[e.to / 8] |= (uint8_t)(1 << e.to % 8);
	}
	weft_gpu_store(s->at, map, MAP);
}

static void collect(void *arg)
{
	const struct search *s = arg;
	uint32_t n = weft_nodes(), v, i;
	uint8_t all[MAP] = { 0 }, map[MAP];

	for (i = 0; i < n; i++) {
		weft_gpu_load(s->at + (1 + i) * MAP, map, MAP);
		for (v = 0; v < MAP; v++)
			all[v] |= map[v];
	}
	s->mine->n_new = 0;
	for (v = weft_node(); v < VERTICES; v += n)
		if (all[v / 8] >> v % 8 & 1 && s->mine->level[v] == NONE) {
			s->mine->level[v] = s->depth + 1;
			s->mine->n_new++;
		}
}

static void kernel(void (*what)(void *arg), struct search *s, weft_time takes)
{
	must("launch", weft_gpu_launch(0, what, s, takes));
	must("kernel", weft_gpu_wait(0));
}

static void search(struct search *s, uint32_t key, struct weft_msg *m)
{
	uint32_t me = weft_node(), n = weft_nodes(), i;
	struct events x = { 0 };
	uint64_t sum = 1;

	for (s->depth = 0; sum; s->depth++) {
		kernel(expand, s, s->n_edges * WEFT_NS);
		for (i = 0; i < n; i++)
			must("put", weft_ape_put(&(struct weft_ape_transfer){
					    .node = (me + i) % n,
					    .key = key,
					    .own_key = key,
					    .offset = (1 + me) * MAP,
					    .bytes = MAP,
					    .way = way() }));
		while (x.done < n * (s->depth + 1) ||
			x.arrived[0] < n * (s->depth + 1))
			take_event(&x);
		kernel(collect, s, VERTICES * WEFT_NS);
		/* no node sends before all have read, or after all are done */
		weft_msg_store(0, &s->mine->n_new, 8);
		weft_msg_allreduce(m, WEFT_MSG_SUM_INT, 0, 0, 1);
		weft_msg_load(0, &sum, 8);
	}
}

static void run(void *arg)
{
	struct search s = { .mine = arg };
	uint64_t bytes = edge_at(2 * EDGES);
	uint32_t key, i;
	struct weft_msg m;

	open_ape(&m);
	s.at = weft_gpu_allocate(0, bytes);
	key = buffer(s.at, bytes);
	for (i = 0; i < 2 * EDGES; i++) {
		struct edge e = edge(i);

		if (e.from % weft_nodes() == weft_node())
			weft_msg_store(edge_at(s.n_edges++), &e, sizeof(e));
	}
	must("copy", weft_gpu_copy(s.at, 0, bytes));
	memset(s.mine->level, 255, sizeof(s.mine->level));
	if (weft_node() == 0)
		s.mine->level[0] = 0;
	weft_msg_barrier(&m);
	s.mine->took = -weft_now();
	search(&s, key, &m);
	s.mine->took += weft_now();
	weft_msg_fini(&m);
}

/* The same search on one node, until nothing changes. */
static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	uint32_t level[VERTICES], i, depth = 0, n_found = 1, n = 1, wrong = 0;
	const struct node *x = nodes;

	memset(level, 255, sizeof(level));
	for (level[0] = 0; n; depth++)
		for (i = n = 0; i < 2 * EDGES; i++) {
			struct edge e = edge(i);

			if (level[e.from] != depth || level[e.to] != NONE)
				continue;
			level[e.to] = depth + 1;
			n_found++, n++;
		}
	for (i = 0; i < VERTICES; i++)
		wrong += x[i % r->n_nodes].level[i] != level[i];
	snprintf(text, size, "%u of %d vertices in %u levels, %.1f us", n_found,
		VERTICES, depth, (double)x[0].took / 1e6);
	return !wrong && n_found > VERTICES / 2;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "ape_bfs",
		.help = "Breadth-first search on an R-MAT graph in GPUs.",
		.interface = "ape",
		.usage = "[p2p|staged]",
		.accept = accept_way,
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
