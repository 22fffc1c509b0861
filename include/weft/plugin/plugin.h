/*
 * Plugins: topologies, routings and workloads in a shared object, loaded by
 * `weft run --plugin ./mine.so ...` (also show, check, params and sweep).  The
 * man page is weft-plugin(7).
 *
 *	static const struct topo_ops *const topologies[] = { &mine_ops, NULL };
 *
 *	WEFT_PLUGIN(.topologies = topologies);
 *
 *	cc -shared -fPIC $(pkg-config --cflags weft) mine.c -o mine.so
 *
 * A topology and a routing are tables of operations, like those inside of Weft.
 * A workload is a program (weft/run.h); it gets the words after its name as
 * arguments (weft_argument()).  Their names are used in machine files and on
 * the command line like any others, and must not be in use already.
 *
 * Several threads call a plugin at once, and its results must depend only on
 * the arguments: a plugin must have no state that changes during a run.  A
 * plugin works only with the version of these tables that it was compiled for;
 * Weft refuses any other.
 */
#ifndef WEFT_PLUGIN_PLUGIN_H
#define WEFT_PLUGIN_PLUGIN_H

#include "weft/plugin/route.h"
#include "weft/plugin/topo.h"
#include "weft/run.h"

enum { WEFT_PLUGIN_ABI = 2 };

struct weft_plugin {
	uint32_t abi;
	/* sizes of the common structs */
	uint32_t topo, topo_ops, route, route_ops, packet, param, app;
	/* each ends with NULL, or is NULL if empty */
	const struct topo_ops *const *topologies;
	const struct route_ops *const *routings;
	const struct weft_app *const *workloads;
};

/* Defines the only global name of a plugin. */
#define WEFT_PLUGIN(...)                                                       \
	extern const struct weft_plugin weft_plugin;                           \
	__attribute__((visibility("default")))                                 \
	const struct weft_plugin weft_plugin = { WEFT_PLUGIN_SIZES,            \
		__VA_ARGS__ }

#define WEFT_PLUGIN_SIZES                                                      \
	.abi = WEFT_PLUGIN_ABI, .topo = sizeof(struct topo),                   \
	.topo_ops = sizeof(struct topo_ops), .route = sizeof(struct route),    \
	.route_ops = sizeof(struct route_ops),                                 \
	.packet = sizeof(struct packet), .param = sizeof(struct param),        \
	.app = sizeof(struct weft_app)

/* Random bits that depend only on the run's seed (route.seed, weft_seed()) and
 * three numbers, for example the source and number of a packet, and the
 * purpose. */
static inline uint64_t weft_random(
	uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t x = (seed + 1) * UINT64_C(0xd6e8feb86659fd93) ^
		     a * UINT64_C(0x9e3779b97f4a7c15) ^
		     (b + 1) * UINT64_C(0xbf58476d1ce4e5b9) ^
		     (c + 1) * UINT64_C(0x94d049bb133111eb);
	int i;

	for (i = 0; i < 3; i++) {
		x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	}
	return x ^ x >> 31;
}

#endif
