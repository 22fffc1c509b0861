/*
 * For tests of nic/util: a made-up interface on a small torus.  It sends
 * numbers, which the test of its receiver takes, turns away or loses.
 */
#ifndef NIC_UTIL_TOY_TESTING_H
#define NIC_UTIL_TOY_TESTING_H

#include "nic/nic_testing.h"
#include "nic/util/outbox.h"
#include "nic/util/resend.h"

enum { TOY_MOST = 4096 };

enum toy_verdict { TOY_NUMBER, TOY_TAKEN, TOY_TURNED_AWAY, TOY_LOST };

/* Something that happened: to a number, when, on which try or route. */
struct toy_note {
	uint32_t what, which;
	sim_time at;
};

struct toy_log {
	struct toy_note note[TOY_MOST];
	uint32_t n;
};

struct toy_item {
	struct resend_item item;
	uint32_t number;
};

struct toy_node {
	struct ticks ticks;
	struct outbox outbox;
	struct resend resend;
	uint32_t sent; /* packets, ever */
};

struct toy {
	struct nic_testing m;
	struct resend_how resend;
	/* what the receiver does with a number's try, from 0 on */
	enum toy_verdict (*judge)(uint32_t number, uint32_t try);
	struct toy_log came; /* at receivers: number, try */
	struct toy_log routes; /* number, route */
	struct toy_log acked, given_up; /* number, tries */
	struct toy_log late; /* number, tries */
	struct toy_log events; /* of TOY_EVENT: data */
};

/* A test may change what it has set. */
struct toy *toy_new(void);
/* Runs a program at node 0 from time 0 on, until nothing is left to do. */
void toy_run(struct toy *t, void (*run)(void *arg));
void toy_free(struct toy *t);

/* --- for the program --- */

struct nic_at toy_at(void);
struct toy_node *toy_node(const struct nic_at *a);
/* Sends a number to node 1 and waits for nothing. */
void toy_send(struct toy *t, uint32_t number);
/* An event that is due then: noted in events with its data. */
void toy_post(struct toy *t, sim_time due, uint32_t data);

#endif
