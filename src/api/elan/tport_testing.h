/* For tests of tagged ports: two programs, what they send and expect, and what
 * the book says of it. */
#ifndef API_ELAN_TPORT_TESTING_H
#define API_ELAN_TPORT_TESTING_H

#include "api/elan/tport.h"
#include "nic/elan4/elan_testing.h"

enum { TPT_QUEUE = 50, TPT_PORT = 2, TPT_HANDLES = 600 };

#define TPT_AT	UINT64_C(0x8000000)
#define TPT_ALL UINT64_MAX

struct elan_tport tpt_open(void);
/* A message of a number of bytes that depend on its tag; waits for its end. */
void tpt_send(struct elan_tport *t, uint32_t to, uint64_t tag, uint32_t n);
uint32_t tpt_post(struct elan_tport *t, uint32_t from, uint64_t tag,
	uint64_t mask, uint64_t to, uint32_t n);
/* Its message has a tag and a length, and is at an address. */
void tpt_expect(struct elan_tport *t, uint32_t handle, uint64_t tag,
	uint64_t at, uint32_t n);

/* --- what the book says of messages from node 0 to node 1 --- */

enum { TPT_MOST = 512 };

struct tpt_told {
	uint32_t n;
	struct book_account of[TPT_MOST];
	struct book_how how;
};

/* Runs one for node 0, and one for node 1, and fills in *told. */
void tpt_run(struct et *m, struct tpt_told *told, void (*a)(void *),
	void (*b)(void *), void *arg);

#endif
