/*
 * A 3D Heisenberg spin glass, over-relaxed: each spin is rotated around the
 * field of its six neighbours, first at even sites, then at odd ones.  The
 * lattice is cut into slabs along z, one per GPU.  The first and last plane of
 * a slab are computed first and sent to its neighbours, while the GPU computes
 * the planes between them.
 */
#include "ape_setup.h"

enum { L = 12, SITES = L * L, HALVES = 8 };

struct plane {
	double spin[SITES][3];
};

enum { BYTES = sizeof(struct plane), TAKES = SITES * 100 * WEFT_NS };

struct node {
	struct plane plane[L];
	uint32_t z, n; /* its planes */
	weft_time took;
};

/* Planes of a slab; two pairs of halos follow, of which one is read while the
 * other one is written. */
struct slab {
	uint64_t at;
	uint32_t z, n, half;
};

struct part {
	const struct slab *slab;
	uint32_t from, to, step;
};

static void begin(struct plane *p, uint32_t z)
{
	for (uint32_t i = 0; i < 3 * SITES; i++)
		p->spin[i / 3][i % 3] = (double)(mix(i, z) % 2001) - 1000;
}

/* A plane between two others. */
static void relax(struct plane *const p[3], uint32_t z, uint32_t half)
{
	for (uint32_t i = 0; i < SITES; i++) {
		uint32_t x = i % L, y = i / L, site = z * SITES + i;
		double h[3] = { 0 }, hh = 0, sh = 0, *s = p[1]->spin[i];

		for (int k = 0; k < 6 && (x + y + z + half) % 2; k++) {
			uint32_t dz = 1u + (k == 4) - (k == 5);
			uint32_t at = (x + L + (k == 0) - (k == 1)) % L +
				      (y + L + (k == 2) - (k == 3)) % L * L;
			uint32_t other = (z + L + dz - 1) % L * SITES + at;
			double j = mix(site + other, site ^ other) % 2 ? 1 : -1;

			for (int c = 0; c < 3; c++)
				h[c] += j * p[dz]->spin[at][c];
		}
		for (int c = 0; c < 3; c++)
			hh += h[c] * h[c], sh += s[c] * h[c];
		for (int c = 0; c < 3 && hh > 0; c++)
			s[c] = 2 * sh / hh * h[c] - s[c];
	}
}

/* Of spins after a half sweep; side 1 is above. */
static uint64_t halo(uint32_t half, uint32_t side)
{
	return BYTES * (uint64_t)(L + half % 2 * 2 + side);
}

static void kernel(void *part)
{
	const struct part *k = part;
	const struct slab *s = k->slab;

	for (uint32_t i = k->from; i < k->to; i += k->step) {
		uint64_t at = s->at + BYTES * (uint64_t)i;
		uint64_t low = s->at + halo(s->half + 1, 0),
			 from[3] = { i ? at - BYTES : low, at,
				 i + 1 < s->n ? at + BYTES : low + BYTES };
		struct plane p[3];

		for (int j = 0; j < 3; j++)
			weft_gpu_load(from[j], &p[j], BYTES);
		relax((struct plane *[]){ p, p + 1, p + 2 }, s->z + i, s->half);
		weft_gpu_store(at, &p[1], BYTES);
	}
}

static void sweep(struct slab *s, uint32_t key, uint32_t n)
{
	struct part edges = { s, 0, s->n, s->n > 1 ? s->n - 1 : 1 };
	struct part bulk = { s, 1, s->n - 1, 1 };
	struct weft_ape_transfer t = {
		.key = key, .own_key = key, .bytes = BYTES, .way = way()
	};
	struct events x = { 0 };

	for (s->half = 0; s->half < HALVES; s->half++) {
		must("launch", weft_gpu_launch(0, kernel, &edges,
				       TAKES * (s->n > 1 ? 2 : 1)));
		must("kernel", weft_gpu_wait(0));
		must("launch", weft_gpu_launch(1, kernel, &bulk,
				       s->n > 2 ? TAKES * (s->n - 2) : 0));
		for (uint32_t side = 0; side < 2; side++) {
			t.node = (weft_node() + (side ? n - 1 : 1)) % n;
			t.offset = halo(s->half, side);
			t.own_offset = side ? 0 : BYTES * (s->n - 1);
			t.tag = s->half % 2;
			must("put", weft_ape_put(&t));
		}
		while (x.done < 2 * s->half + 2 ||
			x.arrived[s->half % 2] < s->half / 2 * 2 + 2)
			take_event(&x);
		must("kernel", weft_gpu_wait(1));
	}
}

static void run(void *arg)
{
	uint32_t me = weft_node(), n = weft_nodes() < L ? weft_nodes() : L, key;
	struct node *mine = arg;
	struct weft_msg m;
	struct slab s = { 0 };

	open_ape(&m);
	mine->z = s.z = me < n ? L * me / n : 0;
	mine->n = s.n = me < n ? L * (me + 1) / n - s.z : 0;
	s.at = weft_gpu_allocate(0, halo(1, 2));
	key = buffer(s.at, halo(1, 2));
	for (uint32_t p = 0; p < s.n + 2; p++) {
		begin(mine->plane, (s.z + p + L - 1) % L);
		weft_msg_store(p == s.n + 1 ? halo(1, 1)
			       : p	    ? BYTES * (p - 1)
					    : halo(1, 0),
			mine->plane, BYTES);
	}
	must("copy", weft_gpu_copy(s.at, 0, halo(1, 2)));
	weft_msg_barrier(&m);
	mine->took = -weft_now();
	if (s.n)
		sweep(&s, key, n);
	mine->took += weft_now();
	must("copy", weft_gpu_copy(0, s.at, halo(1, 2)));
	weft_msg_load(0, mine->plane, s.n * BYTES);
	weft_msg_fini(&m);
}

/* The same lattice on one node. */
static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	struct plane p[L];
	bool is_same = true;

	for (uint32_t z = 0; z < L; z++)
		begin(&p[z], z);
	for (uint32_t i = 0, z = 0; i < HALVES * L; i++, z = i % L)
		relax((struct plane *[]){ &p[(z + L - 1) % L], &p[z],
			      &p[(z + 1) % L] },
			z, i / L);
	for (uint32_t i = 0; i < r->n_nodes; i++)
		is_same &= !memcmp(n[i].plane, &p[n[i].z], n[i].n * BYTES);
	snprintf(text, size, "%d sweeps, %.1f us each, %.1f in kernels",
		HALVES / 2, (double)n[0].took / (HALVES / 2) / 1e6,
		2e-6 * TAKES * n[0].n);
	return is_same;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "ape_spin",
		.help = "A 3D spin glass on GPUs, cut into slabs.",
		.interface = "ape",
		.usage = "[p2p|staged]",
		.accept = accept_way,
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
