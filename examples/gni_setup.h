/* Common code of the examples for Gemini.  A call that fails is a bug in the
 * example and ends it.  Processes exchange the positions of their memory by
 * messages (weft/msg.h), like a launcher would. */
#ifndef GNI_SETUP_H
#define GNI_SETUP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/gni.h>
#include <weft/msg.h>
#include <weft/program.h>
#include <weft/run.h>

enum { TOLD_AT = 0x1000 }; /* for the segments of other nodes */

/* A node: queues for its own events and for those of others, and a segment. */
struct gni {
	struct weft_msg m;
	gni_nic_handle_t nic;
	gni_cq_handle_t done, came;
	gni_mem_handle_t mem;
};

static inline void must(const char *what, gni_return_t code)
{
	if (code == GNI_RC_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, gni_return_name(code));
	exit(1);
}

static inline void open_gni(struct gni *g, uint64_t at, uint64_t bytes)
{
	gni_cdm_handle_t cdm;
	uint32_t node;

	weft_msg_init(&g->m, NULL);
	must("domain", GNI_CdmCreate(weft_node(), 1, 1, 0, &cdm));
	must("attach", GNI_CdmAttach(cdm, 0, &node, &g->nic));
	must("queue", GNI_CqCreate(g->nic, 1024, 0, GNI_CQ_BLOCKING, NULL, NULL,
			      &g->done));
	must("queue", GNI_CqCreate(g->nic, 1024, 0, GNI_CQ_BLOCKING, NULL, NULL,
			      &g->came));
	must("register", GNI_MemRegister(g->nic, at, bytes, g->came,
				 GNI_MEM_READWRITE, UINT32_MAX, &g->mem));
}

static inline gni_ep_handle_t open_end(struct gni *g, uint32_t node)
{
	gni_ep_handle_t ep;

	must("endpoint", GNI_EpCreate(g->nic, g->done, &ep));
	must("bind", GNI_EpBind(ep, node, node));
	return ep;
}

/* Another node: an endpoint and its segment. */
struct peer {
	gni_ep_handle_t ep;
	gni_mem_handle_t mem;
};

/* Learns the segment of a node, and sends its own segment to the node tell,
 * which waits for it in the same way. */
static inline struct peer meet(struct gni *g, uint32_t node, uint32_t tell)
{
	struct peer p = { .ep = open_end(g, node) };
	struct weft_msg_request r;

	weft_msg_store(TOLD_AT, &g->mem, sizeof(g->mem));
	weft_msg_send_start(&g->m, tell, 1, TOLD_AT, sizeof(p.mem), &r);
	weft_msg_receive(&g->m, node, 1, TOLD_AT + 64, sizeof(p.mem), NULL);
	weft_msg_finish(&g->m, &r, NULL);
	weft_msg_load(TOLD_AT + 64, &p.mem, sizeof(p.mem));
	return p;
}

/* A mailbox in this segment for messages of a node, and the node's mailbox for
 * messages of this one. */
static inline gni_ep_handle_t open_box(
	struct gni *g, uint32_t node, gni_smsg_attr_t here)
{
	struct peer p = meet(g, node, node);
	gni_smsg_attr_t there;
	unsigned int size;

	here.mem_hndl = g->mem;
	must("size", GNI_SmsgBufferSizeNeeded(&here, &size));
	here.mbox_offset = node * size;
	here.buff_size = weft_nodes() * size;
	there = here;
	there.mem_hndl = p.mem;
	there.mbox_offset = weft_node() * size;
	must("mailbox", GNI_SmsgInit(p.ep, &here, &there));
	return p.ep;
}

/* Bytes that depend on a number. */
static inline void fill(uint8_t *to, uint32_t bytes, uint32_t number)
{
	for (uint32_t i = 0; i < bytes; i++)
		to[i] = (uint8_t)(number * 7 + i * i);
}

/* Waits for an event, and ends the example if it is an error. */
static inline gni_cq_entry_t await(gni_cq_handle_t cq)
{
	gni_cq_entry_t entry;
	char text[64];

	if (GNI_CqWaitEvent(cq, UINT64_MAX, &entry) != GNI_RC_SUCCESS) {
		GNI_CqErrorStr(entry, text, sizeof(text));
		fprintf(stderr, "event: %s\n", text);
		exit(1);
	}
	return entry;
}

/* The same for a transaction; returns its descriptor. */
static inline gni_post_descriptor_t *complete(struct gni *g)
{
	gni_post_descriptor_t *d;

	must("complete", GNI_GetCompleted(g->done, await(g->done), &d));
	return d;
}

#endif
