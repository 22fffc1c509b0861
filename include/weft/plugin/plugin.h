/*
 * Parts of machines from outside of Weft: a shared object that is loaded by
 * `weft run --plugin ./mine.so ...` (also show, check, params and sweep).
 *
 *	static const struct topo_ops *const topologies[] = { &mine_ops, NULL };
 *
 *	WEFT_PLUGIN(.topologies = topologies);
 *
 *	cc -shared -fPIC $(pkg-config --cflags weft) mine.c -o mine.so
 *
 * A topology and a routing are tables of operations, as those inside of Weft
 * are; a workload is a program (weft/run.h) that the words behind its name are
 * given to (weft_argument()).  Each is named in machine files and on the
 * command line like any other, and none may have a name that is taken.
 *
 * All calls come from several threads at once, and what they return may depend
 * on nothing but their arguments: a plugin has no state that changes during a
 * run.  Versions of these tables are not compatible with each other; Weft
 * refuses a plugin that was compiled for another one.
 */
#ifndef WEFT_PLUGIN_PLUGIN_H
#define WEFT_PLUGIN_PLUGIN_H

#include "weft/plugin/route.h"
#include "weft/plugin/topo.h"
#include "weft/run.h"

enum { WEFT_PLUGIN_ABI = 1 };

struct weft_plugin {
	uint32_t abi;
	/* of the structs that both sides know */
	uint32_t topo, topo_ops, route, route_ops, packet, param, app;
	/* each ends with NULL, and is NULL where there are none */
	const struct topo_ops *const *topologies;
	const struct route_ops *const *routings;
	const struct weft_app *const *workloads;
};

/* What the plugin's only global name stands for. */
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

/* Random bits that are a function of three numbers: a packet's source and
 * number, say, and what they are for. */
static inline uint64_t weft_random(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) ^
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
