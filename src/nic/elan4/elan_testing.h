/*
 * For tests of Elan4: a fat tree whose nodes have one each, and what software
 * does with it, word by word, without an interface that helps it.
 *
 * Functions on a struct et are for the test itself, all others for programs.
 */
#ifndef NIC_ELAN4_ELAN_TESTING_H
#define NIC_ELAN4_ELAN_TESTING_H

#include "host/bytes_testing.h"
#include "host/program.h"
#include "host/side_bus.h"
#include "nic/elan4/units.h"
#include "nic/nic_testing.h"
#include "route/updown.h"
#include "testing/kit_testing.h"
#include "weft/elan.h"

enum {
	ET_CONTEXT = 1, /* may touch all memory, on every node */
	ET_OTHER = 7, /* only what is at ET_OTHER_AT */
	ET_OTHER_AT = 0x400000,
	ET_OTHER_BYTES = 0x1000,
	ET_FLAG = 0x1000, /* words for events */
	ET_SOURCE = 0x1000000,
	ET_TARGET = 0x2000000,
	ET_MEMORY = 0x10000000,
};

struct et {
	/* set by et_init(), with defaults; a test may change them */
	const char *nodes;
	struct link_params link;
	struct net_params router;
	struct elan_params params;
	const struct book_how *book;
	const struct fault_plan *faults;
	int64_t spread; /* an enum updown_spread */
	uint32_t n_processes; /* of a node; 0: one */

	/* set by et_start() */
	struct kit kit;
	struct net *net;
	struct host *host;
	struct nic *nic;
	struct nic_mail mail;
};

struct et_program {
	site_id node;
	void (*run)(void *arg);
	void *arg;
};

void et_init(struct et *m, const char *nodes);
/* Builds the machine; what goes wrong fails the test. */
void et_start(struct et *m, uint32_t n_workers, uint32_t n_programs);
/* Runs until nothing is left to do, and audits. */
void et_go(struct et *m);
/* Both, with programs from time 0 on, each on a thread of its own. */
void et_run(struct et *m, uint32_t n_workers, const struct et_program *programs,
	uint32_t n);
#define ET_RUN(m, n_workers, ...)                                              \
	et_run(m, n_workers, (const struct et_program[]){ __VA_ARGS__ },       \
		sizeof((const struct et_program[]){ __VA_ARGS__ }) /           \
			sizeof(struct et_program))
/* One for node 0, and one for node 1, or NULL; by one worker. */
void et_run_two(struct et *m, void (*a)(void *), void (*b)(void *), void *arg);
void et_fini(struct et *m);

/* A test whose state is a machine of four nodes, unless it sets m->nodes. */
int et_set_up(void **state);
int et_tear_down(void **state);
#define ET_TEST(name)                                                          \
	cmocka_unit_test_setup_teardown(name, et_set_up, et_tear_down)

uint64_t et_digest(const struct et *m);

/* A node's insides, its bus, and its counts. */
struct elan_node *et_node(const struct et *m, site_id s);
const struct bus *et_bus(const struct et *m, site_id s);
struct elan_counts et_counts(const struct et *m, site_id s);
/* A count's sum over all nodes. */
uint64_t et_sum(const struct et *m, size_t field);
#define ET_SUM(m, field) et_sum((m), offsetof(struct elan_counts, field))
/* Fails the test where a node does not have a pattern's bytes at an address
 * or, if it should have none of them, no zeros. */
void et_expect_at(const struct et *m, site_id s, uint64_t at, uint64_t seed,
	uint32_t bytes, bool has);

/* --- for programs --- */

/* A queue as its owner sees it. */
struct et_queue {
	uint32_t id;
	uint64_t stored; /* bytes, ever */
};

struct nic *et_card(void);
/* A queue of ET_CONTEXT, with all rights and 64 KB. */
struct et_queue et_open(uint32_t id);
struct et_queue et_open_as(
	uint32_t id, enum elan_depth depth, uint32_t rights, uint32_t context);
/* The same with all rights, to which units of the card append at an address,
 * ET_MAPPED say. */
#define ET_MAPPED UINT64_C(0xffff000000000000)
struct et_queue et_open_mapped(uint32_t id, enum elan_depth depth, uint64_t at);
enum elan_error et_error(const struct et_queue *q);
/* Until the queue is stopped by that; the test fails where it is another. */
void et_wait_error(const struct et_queue *q, enum elan_error why);
uint64_t et_room(const struct et_queue *q);
/* Until it has room for so many bytes. */
void et_wait_room(const struct et_queue *q, uint64_t bytes);

/* Stores words in order, in bursts of up to 64 bytes; waits for the bus. */
void et_push(struct et_queue *q, const uint64_t *words, uint32_t n);
/* One store at an offset from what was stored; waits for nothing. */
void et_store(const struct et_queue *q, int64_t offset, const uint64_t *words,
	uint32_t n);

/*
 * Words of a packet that writes bytes of a pattern (et_byte) to a node, sets
 * an event there and, acknowledged, one here; returns how many.
 */
enum { ET_PACKET_WORDS = 5 + ELAN_PACKET / 8 };
uint32_t et_packet(uint64_t *words, site_id node, uint64_t to, uint64_t seed,
	uint32_t bytes, uint32_t target_event, uint32_t source_event);
/* The same, stored. */
void et_put(struct et_queue *q, site_id node, uint64_t to, uint64_t seed,
	uint32_t bytes, uint32_t target_event, uint32_t source_event);
/* The same to the nodes of a range. */
void et_cast(struct et_queue *q, uint32_t first, uint32_t last, uint64_t to,
	uint64_t seed, uint32_t bytes, uint32_t target_event,
	uint32_t source_event);
void et_get(struct et_queue *q, site_id node, uint64_t from, uint64_t to,
	uint32_t bytes, uint32_t event);
/* From ET_SOURCE to a node's ET_TARGET. */
struct elan_dma et_dma_to(site_id node, uint64_t bytes, uint32_t source_event,
	uint32_t target_event);
void et_dma(struct et_queue *q, const struct elan_dma *d);
/* Loads code for threads. */
void et_load(uint32_t context, uint32_t code, elan_code *run);
/* The words that start a thread with r, r + 1, ... in its registers; how many.
 * The same, stored. */
uint32_t et_thread_words(uint64_t *words, uint32_t code, uint64_t r);
void et_thread(struct et_queue *q, uint32_t code, uint64_t r);
/* Arms an event to write 1 to ET_FLAG + 8 * event. */
void et_arm(struct et_queue *q, uint32_t event, uint64_t count);
/* Arms one to copy words; sets one of the node's own. */
void et_arm_copy(struct et_queue *q, uint32_t event, uint64_t count,
	uint64_t to, const uint64_t *words, uint32_t n);
void et_add(struct et_queue *q, uint32_t event, uint32_t count);
/* Words of commands; both return how many. */
uint32_t et_dma_words(uint64_t *words, const struct elan_dma *d);
uint32_t et_store_words(uint64_t *words, uint64_t at, uint64_t value);
/* Lets units of the card append to a queue at an address. */
void et_map(const struct et_queue *q, uint64_t at);
/* Until such an event has fired; and clears its word. */
void et_wait_event(uint32_t event);
void et_wait_word(uint64_t at, uint64_t value);
uint64_t et_word(uint64_t at);

/* host/bytes_testing.h, by the names that these tests have. */
#define et_byte	      bytes_at
#define et_fill	      bytes_fill
#define et_expect     bytes_expect
#define et_expect_all bytes_expect_all

#endif
