/*
 * Feeds the reader of a dragonfly's global links with anything: it makes a
 * network whose links lead back and whose groups are all joined, or says why
 * not in one line.
 *
 *	fuzz_wiring [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_wiring"

#include "topo/dragonfly.h"

#include "check.h"
#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each of the links between two groups leads from one to the other. */
static void check_ways(const struct dragonfly *t, uint32_t from, uint32_t to)
{
	const struct topo *topo = &t->topo;

	for (uint32_t k = 0; k < t->m; k++) {
		uint32_t q = dragonfly_way(t, from, to, k);
		uint32_t owner = dragonfly_owner(t, q);
		struct topo_end far;

		check(owner < t->a, "a link of no router");
		far = dragonfly_ops.peer(topo,
			topo->n_nodes + from * t->a + owner,
			t->global + q - dragonfly_first(t, owner));
		check(far.router != NO_ROUTER &&
				dragonfly_group(t, far.router) == to,
			"a link leads to another group");
	}
}

static void check_network(const struct dragonfly *t)
{
	struct err e = { 0 };

	check(!topo_look(&t->topo, &e), e.text);
	check(t->m > 0, "groups without a link");
	for (uint32_t i = 0; i < t->g * t->g; i++)
		if (i / t->g != i % t->g)
			check_ways(t, i / t->g, i % t->g);
}

/* With some number of routers in each of some groups, and room for links. */
static void read_as(const struct fuzz_file *f, int64_t groups, int64_t routers,
	int64_t globals)
{
	struct dragonfly t = {
		.topo.ops = &dragonfly_ops,
		.nodes = groups * routers,
		.per_router = 1,
		.routers = routers,
		.globals = globals,
		.length = { 1, 1, 1 },
		.delay = 1,
		.logic = 1,
	};
	struct err e = { 0 };

	snprintf(t.wiring, sizeof(t.wiring), "%s", f->path);
	if (dragonfly_ops.init(&t.topo, &e))
		check_refusal(&e);
	else
		check_network(&t);
	dragonfly_ops.fini(&t.topo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_file f;

	file_open(&f, data, size);
	read_as(&f, 2, 1, 1);
	read_as(&f, 3, 2, 2);
	read_as(&f, 5, 4, 60);
	file_close(&f);
	return 0;
}

#ifndef WEFT_LIBFUZZER

#include "driver.h"

static const char *const seeds[] = {
	"0,0,1,0\n",
	"0,0,1,1\n1,0,2,1\n2,0,0,1\n",
	"# two for each pair\n0,0,1,0\n0,1,1,1\n1,0,2,0\n1,1,2,1\n0,0,2,0\n"
	"0,1,2,1\n",
	"0,0,1,0\n0,1,2,0\n0,2,3,0\n0,3,4,0\n1,1,2,1\n1,2,3,1\n1,3,4,1\n"
	"2,2,3,2\n2,3,4,2\n3,3,4,3\n",
};

static const char *const pieces[] = { "0,0,1,0\n", "1,1,2,1\n", "0", "1", "2",
	"3", "4", "5", ",", "\n", "\r\n", "#", " ", "-1", "+1", "4294967296",
	"18446744073709551616", "x", "\xff", "\"", "\t" };

int main(int argc, char **argv)
{
	return fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));
}

#endif
