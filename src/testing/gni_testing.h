/*
 * For tests of Gemini's user-level interface: the four nodes of
 * testing/gemini_testing.h, each with a domain, queues, a registered segment
 * and endpoints to all.
 */
#ifndef TESTING_GNI_TESTING_H
#define TESTING_GNI_TESTING_H

#include "testing/gemini_testing.h"
#include "weft/gni.h"

enum { GNI_NODES = 4, GNI_ENTRIES = 64, GNI_PTAG = 7 };

/* A segment, and bytes around it that nobody may touch. */
#define GNI_SEGMENT	  UINT64_C(0x400000)
#define GNI_SEGMENT_BYTES UINT64_C(0x40000)
#define GNI_GUARD	  UINT64_C(0x1000)

/* What a node has. */
struct gni_side {
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_cq_handle_t done, came; /* its own events; others' */
	gni_mem_handle_t mem; /* whose events go to came */
	gni_ep_handle_t ep[GNI_NODES];
};

/* Shared by all nodes' programs, which have one worker. */
struct gni_world {
	struct world world;
	struct gni_side side[GNI_NODES];
	void (*run)(struct gni_world *g, struct gni_side *mine);
	void *arg; /* the test's own */
	uint32_t n; /* too */
};

/* Runs it on all nodes, after all have what they have. */
void gni_world_run(struct gni_world *g, const char *const *sets, bool may_err);

/* --- from a program --- */

/* Until there is an event; its code. */
gni_return_t gni_wait(gni_cq_handle_t cq, gni_cq_entry_t *entry);
/* The same of a transaction: until its event, and its descriptor back. */
gni_return_t gni_await(struct gni_side *mine, gni_post_descriptor_t *d);
/* From the beginning of the own segment to that of another node, or the
 * reverse, with an event here. */
gni_post_descriptor_t gni_descriptor(const struct gni_world *g, uint32_t node,
	gni_post_type_t type, uint64_t bytes);
/* Posts by the call that the type needs. */
gni_return_t gni_post(
	struct gni_side *mine, uint32_t node, gni_post_descriptor_t *d);

#endif
