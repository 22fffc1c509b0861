/* For tests: programs that use messages, on all nodes of every machine. */
#ifndef TESTING_MSG_TESTING_H
#define TESTING_MSG_TESTING_H

#include "api/msg/msg.h"
#include "testing/kit_testing.h"

/* Memory that tests use. */
enum {
	MSG_TEST_SOURCE = 0x1000000,
	MSG_TEST_TARGET = 0x2000000,
	MSG_TEST_OTHER = 0x3000000,
	MSG_TEST_RANKS = 32, /* at most */
};

struct weft_msg_test {
	const struct kit_kind *kind;
	uint32_t n_workers; /* 0: 1 */
	uint32_t n_processes; /* of each node; 0: 1 */
	struct weft_msg_options options;
	void (*run)(struct weft_msg *m, void *arg); /* as each process */
	void *arg;
	bool is_left_open; /* without weft_msg_fini() */
};

/* Runs them to their end; nobody may have told of an error.  Returns the
 * digest. */
uint64_t msg_test_run(const struct weft_msg_test *t);
/* The same on each machine, with one process a node and with several, one
 * worker and three: digests are equal.  Where the machine can match messages
 * itself, so does the host in addition. */
void msg_test_everywhere(void (*run)(struct weft_msg *m, void *arg),
	const struct weft_msg_options *o);
/* Once on each machine, in turn with one process a node and with several; hosts
 * match. */
void msg_test_by_slots(void (*run)(struct weft_msg *m, void *arg),
	const struct weft_msg_options *o);

/* Bytes of a stream, stored and compared. */
void msg_test_fill(uint64_t at, uint64_t stream, uint64_t bytes);
bool msg_test_is(uint64_t at, uint64_t stream, uint64_t bytes);

#endif
