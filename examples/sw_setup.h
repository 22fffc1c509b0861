/* Common code of the examples for Sunway.  A call that fails is a bug in the
 * example and ends it.  All nodes make the same calls in the same order, so
 * their keys and the names of their queues are the same. */
#ifndef SW_SETUP_H
#define SW_SETUP_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/msg.h>
#include <weft/program.h>
#include <weft/run.h>
#include <weft/swverbs.h>

enum { SPACE_AT = 0x100000, SPACE = 0x100000 }; /* registered bytes */

struct sw {
	struct weft_msg m; /* for barriers */
	struct weft_sw *dev;
	struct weft_sw_cq *cq;
	struct weft_sw_sq *sq;
	uint32_t key;
};

static inline void must(const char *what, int code)
{
	if (!code)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(code));
	exit(1);
}

static inline void open_sw(struct sw *s)
{
	must("messages", weft_msg_init(&s->m, NULL));
	must("open", weft_sw_open(NULL, &s->dev));
	must("cq", weft_sw_create_cq(s->dev, 256, false, &s->cq));
	must("sq", weft_sw_create_sq(s->dev, s->cq, 64, &s->sq));
	must("register", weft_sw_reg_segment(s->dev, SPACE_AT, SPACE,
				 WEFT_SW_READ | WEFT_SW_WRITE, &s->key));
}

static inline void close_sw(struct sw *s)
{
	weft_msg_barrier(&s->m);
	must("close", weft_sw_close(s->dev));
	weft_msg_fini(&s->m);
}

/* The next completion, which must report success. */
static inline struct weft_sw_completion await(struct sw *s)
{
	struct weft_sw_completion c;

	must("wait", weft_sw_wait(s->cq, &c, WEFT_SW_FOREVER));
	if (c.status) {
		fprintf(stderr, "%s\n", weft_sw_status_name(c.status));
		exit(1);
	}
	return c;
}

/* A virtual RQ with n buffers of some bytes, from an address on. */
static inline struct weft_sw_rq *open_rq(
	struct sw *s, uint32_t n, uint64_t at, uint32_t bytes)
{
	struct weft_sw_rq_options how = { .kind = WEFT_SW_VIRTUAL, .depth = n };
	struct weft_sw_rq *rq;

	must("rq", weft_sw_create_rq(s->dev, s->cq, &how, &rq));
	for (uint32_t i = 0; i < n; i++)
		must("recv", weft_sw_post_recv(rq, i, at + i * bytes, bytes));
	return rq;
}

/* The same RQ of another node. */
static inline struct weft_sw_address address(
	struct weft_sw_rq *rq, uint32_t node)
{
	struct weft_sw_queue q;

	must("query", weft_sw_query_rq(rq, &q));
	q.address.node = node;
	return q.address;
}

/* Stores bytes at an offset of the space, and sends them to an RQ. */
static inline int send_bytes(struct sw *s, struct weft_sw_address to,
	uint64_t at, const void *bytes, uint32_t n, uint32_t tag,
	uint32_t flags)
{
	struct weft_sw_work w = {
		.to = to,
		.own_key = s->key,
		.own_at = at,
		.bytes = n,
		.tag = tag,
		.flags = WEFT_SW_QUIET | flags,
	};

	weft_msg_store(SPACE_AT + at, bytes, n);
	return weft_sw_post_send(s->sq, &w);
}

/* Bytes that depend only on two numbers. */
static inline void fill(uint8_t *to, uint32_t n, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = (uint8_t)(a * 31 + b * 7 + i * i);
}

#endif
