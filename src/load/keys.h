/*
 * Rows of parameters for keys of workloads.  Only for their tables of keys; at
 * is the field's offset, value the default, list a number's words beside
 * numbers.
 */
#ifndef LOAD_KEYS_H
#define LOAD_KEYS_H

#include "load/load.h"

#define KEY(kind, key, at, value, least, most, list, text)                     \
	{                                                                      \
		.name = key, .type = kind, .offset = at, .def = value,         \
		.min = least, .max = most, .words = list, .help = text         \
	}

#define KEY_COUNT(key, at, value, least, most, text)                           \
	KEY(PARAM_COUNT, key, at, value, least, most, NULL, text)
#define KEY_BYTES(key, at, value, least, most, text)                           \
	KEY(PARAM_BYTES, key, at, value, least, most, NULL, text)
#define KEY_WORD(key, at, value, list, text)                                   \
	KEY(PARAM_WORD, key, at, value, 0, 0, list, text)
#define KEY_FLAG(key, at, value, text)                                         \
	KEY(PARAM_FLAG, key, at, value, 0, 0, NULL, text)
#define KEY_TEXT(key, at, value, text)                                         \
	KEY(PARAM_TEXT, key, at, value, 0, 0, NULL, text)
/* A node's number; init() looks whether there is such a node. */
#define KEY_NODE(key, at, value, text)                                         \
	KEY_COUNT(key, at, value, 0, TOPO_MAX_ROUTERS, text)

/* For load_kind(). */
#define KEY_ROUTING(at, value)                                                 \
	KEY_WORD("routing", at, value, "dynamic|deterministic",                \
		"routing of packets; dynamic: adaptive among the hinted "      \
		"directions; deterministic: in dimension order")

/* For load_set_zones(). */
#define KEY_ZONES(at)                                                          \
	KEY_TEXT("zones", at, "longest-first",                                 \
		"zones of dynamic packets: none, longest-first (dimensions "   \
		"of equal length share a zone), order, or groups of "          \
		"dimensions such as A,BCD")

/* For experiments (load/bench/bench.h): the layer, ... */
#define KEY_VIA(at)                                                            \
	KEY_WORD("via", at, "nic", "nic|msg",                                  \
		"layer; nic: the network interface's own operations; msg: "    \
		"weft/msg.h, on any machine")

/* ... the same of those that also send as ranks of MPI programs do, ... */
#define KEY_VIA_ENDPOINT(at)                                                   \
	KEY_WORD("via", at, "nic", "nic|msg|endpoint",                         \
		"layer; nic: the network interface's own operations; msg: "    \
		"weft/msg.h, on any machine; endpoint: messages as ranks of "  \
		"MPI programs send them")

/* ... two nodes, ... */
#define KEY_PAIR(type)                                                         \
	KEY_NODE("from", offsetof(struct type, bench.from), "0",               \
		"node that sends first"),                                      \
		KEY_NODE("to", offsetof(struct type, bench.to), "1",           \
			"node that receives first")

/* ... one of its means, ... */
#define KEY_BY(at)                                                             \
	KEY_TEXT("by", at, "auto",                                             \
		"transfer method of the network interface, for example "       \
		"sten (short packets written by the core) or dma on Elan4; "   \
		"auto: the driver's choice")

/* ... a port of the interface, ... */
#define KEY_PORT(at)                                                           \
	KEY(PARAM_COUNT, "port", at, "auto", 0, TOPO_MAX_PORTS, "auto",        \
		"port of the node by which transfers leave, on machines "      \
		"whose "                                                       \
		"nodes have several; auto: the network interface's choice")

/* ... the memories that it is from and to, ... */
#define KEY_MEMORIES(source_at, target_at)                                     \
	KEY_WORD("source", source_at, "host", "host|gpu0|gpu1|gpu2|gpu3",      \
		"memory that transfers read from"),                            \
		KEY_WORD("target", target_at, "host",                          \
			"host|gpu0|gpu1|gpu2|gpu3",                            \
			"memory that transfers write to")

/* ... all of these, ... */
#define KEY_HOW(type) KEY_VIA(offsetof(struct type, bench.via)), KEY_MEANS(type)

#define KEY_MEANS(type)                                                        \
	KEY_BY(offsetof(struct type, bench.by)),                               \
		KEY_MEMORIES(offsetof(struct type, bench.source),              \
			offsetof(struct type, bench.target))

/* ... how many processes each node has, ... */
#define KEY_PROCS(at)                                                          \
	KEY(PARAM_COUNT, "procs", at, "auto", 1, HOST_PROCESSES, "auto",       \
		"number of processes per node, with via=msg; auto: "           \
		"domain.ranks with messages, else 1")

#define KEY_LANES(at)                                                          \
	KEY_COUNT("procs", at, "1", 1, HOST_PROCESSES,                         \
		"number of processes per node, each with its peer on the "     \
		"other node, with via=nic")

/* ... rounds that come first, ... */
#define KEY_WARM(at)                                                           \
	KEY_COUNT("warm", at, "0", 0, 1000000,                                 \
		"number of additional rounds before those that are counted")

/* ... and where its programs run. */
#define KEY_CPU(at)                                                            \
	KEY_COUNT("cpu", at, "0", 0, HOST_THREADS - 1,                         \
		"CPU that the programs run on")

#endif
