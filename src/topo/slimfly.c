#include "topo/slimfly.h"

#include <stdio.h>

#include "base/galois.h"
#include "base/mem.h"

#define AT(field) offsetof(struct slimfly, field)

static const struct param params[] = {
	PARAM_ROW(PARAM_COUNT, "q", AT(q), "5", 3, 64,
		"size of the finite field, a prime power 4w - 1, 4w or 4w + 1; "
		"the network has 2 q^2 switches",
		"assumed: the smallest that was built"),
	{ .name = "per-router",
		.type = PARAM_COUNT,
		.offset = AT(per_router),
		.def = "auto",
		.min = 1,
		.max = TOPO_MAX_PORTS,
		.words = "auto",
		.help = "number of nodes at each switch; auto: half as many as "
			"it has links to other switches, rounded up",
		.source = "assumed: balanced, as its authors recommend" },
	PARAM_ROW(PARAM_COUNT, "cable.switch", AT(length), "10", 1, 10000,
		"length of the cable between two switches, in metres",
		"assumed: a few racks"),
	SWITCHES_PARAMS,
};

/* X or, if odd, X' of MMS graphs: a flag for each element. */
static void set_steps(const struct galois *g, uint32_t odd, uint8_t *is_step)
{
	uint32_t w = (g->q + 1) / 4;

	for (uint32_t i = 0; i < g->q - 1; i++) {
		uint32_t parity = i % 2;

		/* for q = 4w - 1 parities change in the middle */
		if (g->q % 4 == 3 && i >= 2 * w - 1 + odd)
			parity = !parity;
		if (parity == odd)
			is_step[g->power[i]] = 1;
	}
	if (g->q % 4 != 1 && odd)
		is_step[1] = 1; /* the power q - 1 */
}

/* Joins the switches of one half with the same first element. */
static void join_inside(struct switches_plan *p, const struct galois *g,
	uint32_t half, const uint8_t *is_step)
{
	for (uint32_t x = 0; x < g->q; x++) {
		uint32_t first = (half * g->q + x) * g->q;

		for (uint32_t a = 0; a < g->q; a++)
			for (uint32_t b = a + 1; b < g->q; b++)
				if (is_step[galois_sub(g, a, b)])
					switches_plan_join(
						p, first + a, first + b, 1, 0);
	}
}

static void join_halves(struct switches_plan *p, const struct galois *g)
{
	uint32_t q = g->q;

	for (uint32_t x = 0; x < q; x++)
		for (uint32_t m = 0; m < q; m++)
			for (uint32_t c = 0; c < q; c++) {
				uint32_t y =
					galois_add(g, galois_mul(g, m, x), c);

				switches_plan_join(
					p, x * q + y, (q + m) * q + c, 1, 0);
			}
}

static int slimfly_init(struct topo *topo, struct err *e)
{
	struct slimfly *t = (struct slimfly *)topo;
	struct switches_plan p = { .n_cables = 1,
		.cable = { { t->length, 0 } } };
	uint8_t is_step[2][GALOIS_MAX] = { { 0 } };
	uint32_t q = (uint32_t)t->q, degree;
	struct galois g;

	if (q % 4 == 2 || galois_init(&g, q))
		return err_set(e,
			"topology.q: %u is not a prime power; want 3, 4, 5, 7, "
			"8, 9, 11, 13, ...",
			q);
	degree = q + (q % 4 == 1 ? (q - 1) / 2 : q % 4 ? (q + 1) / 2 : q / 2);
	if (t->per_router < 0)
		t->per_router = (degree + 1) / 2;
	for (uint32_t i = 0; i < 2 * q * q; i++)
		switches_plan_nodes(&p, (uint32_t)t->per_router);
	for (uint32_t half = 0; half < 2; half++) {
		set_steps(&g, half, is_step[half]);
		join_inside(&p, &g, half, is_step[half]);
	}
	join_halves(&p, &g);
	return switches_build(&t->switches, &p, "topology.q", e);
}

static void slimfly_name_shape(const struct topo *topo, char *text, size_t size)
{
	const struct slimfly *t = (const struct slimfly *)topo;

	snprintf(text, size, "Slim Fly of %u switches (q = %lld)",
		t->switches.plan.n, (long long)t->q);
}

const struct topo_ops slimfly_ops = {
	.name = "slimfly",
	.size = sizeof(struct slimfly),
	PARAMS(params),
	.shape_key = "q",
	.routing = "layers",
	.init = slimfly_init,
	.name_shape = slimfly_name_shape,
	SWITCHES_OPS,
};
