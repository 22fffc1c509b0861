/*
 * Rows of parameters for keys that several workloads have.  Only for their
 * tables of keys; at is the field's offset.
 */
#ifndef LOAD_KEYS_H
#define LOAD_KEYS_H

#include "load/load.h"

/* A node's number; init() looks whether there is such a node. */
#define KEY_NODE(key, at, value, text)                                         \
	{                                                                      \
		.name = key, .type = PARAM_COUNT, .offset = at, .def = value,  \
		.min = 0, .max = TOPO_MAX_ROUTERS, .help = text                \
	}

#define KEY_COUNT(key, at, value, least, most, text)                           \
	{                                                                      \
		.name = key, .type = PARAM_COUNT, .offset = at, .def = value,  \
		.min = least, .max = most, .help = text                        \
	}

#define KEY_BYTES(key, at, value, least, most, text)                           \
	{                                                                      \
		.name = key, .type = PARAM_BYTES, .offset = at, .def = value,  \
		.min = least, .max = most, .help = text                        \
	}

#define KEY_WORD(key, at, value, list, text)                                   \
	{                                                                      \
		.name = key, .type = PARAM_WORD, .offset = at, .def = value,   \
		.words = list, .help = text                                    \
	}

/* For load_kind(). */
#define KEY_ROUTING(at, value)                                                 \
	{                                                                      \
		.name = "routing", .type = PARAM_WORD, .offset = at,           \
		.def = value, .words = "dynamic|deterministic",                \
		.help = "adaptive among the hinted directions, or in the "     \
			"order of dimensions"                                  \
	}

/* For load_set_zones(). */
#define KEY_ZONES(at)                                                          \
	{                                                                      \
		.name = "zones", .type = PARAM_TEXT, .offset = at,             \
		.def = "longest-first",                                        \
		.help = "none, longest-first (equal lengths share a zone), "   \
			"order, or groups of dimensions such as A,BCD"         \
	}

/* For experiments (load/bench/bench.h): the layer, ... */
#define KEY_VIA(at)                                                            \
	{                                                                      \
		.name = "via", .type = PARAM_WORD, .offset = at, .def = "nic", \
		.words = "nic|msg",                                            \
		.help = "layer: the network interface's own operations, or "   \
			"weft/msg.h, on any machine"                           \
	}

/* ... two nodes, ... */
#define KEY_PAIR(type)                                                         \
	KEY_NODE("from", offsetof(struct type, bench.from), "0",               \
		"node that begins"),                                           \
		KEY_NODE("to", offsetof(struct type, bench.to), "1",           \
			"other node")

/* ... one of its means, ... */
#define KEY_BY(at)                                                             \
	{                                                                      \
		.name = "by", .type = PARAM_TEXT, .offset = at, .def = "auto", \
		.help = "means of transfer: auto, or put of the message "      \
			"unit; auto, sten (short packets that the core "       \
			"writes) or dma of Elan4"                              \
	}

/* ... and where its programs run. */
#define KEY_CPU(at)                                                            \
	{                                                                      \
		.name = "cpu", .type = PARAM_COUNT, .offset = at, .def = "0",  \
		.min = 0, .max = HOST_THREADS - 1,                             \
		.help = "CPU that the programs run on, on both nodes"          \
	}

#endif
