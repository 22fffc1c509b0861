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
		"adaptive among the hinted directions, or in the order of "    \
		"dimensions")

/* For load_set_zones(). */
#define KEY_ZONES(at)                                                          \
	KEY_TEXT("zones", at, "longest-first",                                 \
		"none, longest-first (equal lengths share a zone), order, "    \
		"or groups of dimensions such as A,BCD")

/* For experiments (load/bench/bench.h): the layer, ... */
#define KEY_VIA(at)                                                            \
	KEY_WORD("via", at, "nic", "nic|msg",                                  \
		"layer: the network interface's own operations, or "           \
		"weft/msg.h, on any machine")

/* ... two nodes, ... */
#define KEY_PAIR(type)                                                         \
	KEY_NODE("from", offsetof(struct type, bench.from), "0",               \
		"node that begins"),                                           \
		KEY_NODE("to", offsetof(struct type, bench.to), "1",           \
			"other node")

/* ... one of its means, ... */
#define KEY_BY(at)                                                             \
	KEY_TEXT("by", at, "auto",                                             \
		"one of the network interface's means of transfer, such as "   \
		"sten (short packets that the core writes) and dma of Elan4; " \
		"auto: its driver's choice")

/* ... how many processes each node has, ... */
#define KEY_PROCS(at)                                                          \
	KEY_COUNT("procs", at, "1", 1, HOST_THREADS,                           \
		"processes of each node, where programs use weft/msg.h")

/* ... and where its programs run. */
#define KEY_CPU(at)                                                            \
	KEY_COUNT("cpu", at, "0", 0, HOST_THREADS - 1,                         \
		"CPU that the programs run on")

#endif
