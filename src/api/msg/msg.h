/*
 * Shared by the files of the message layer: its state, and the operations that
 * each machine provides.
 *
 * Everything uses two operations that every machine has: a node can write to
 * another node's memory, and read it.  At the same addresses of its memory,
 * each process has for every other process: a ring of slots for messages, one
 * for collectives, words in which the other process counts the slots that it
 * has emptied, and room for a requested atomic.  api/msg/mailbox.h describes
 * how slots are filled and emptied.
 *
 * Where the machine matches messages itself (api/msg/tagged.h), there are no
 * slots.
 */
#ifndef API_MSG_MSG_H
#define API_MSG_MSG_H

#include "api/api.h"
#include "api/msg/mailbox.h"
#include "api/msg/tagged.h"
#include "meas/trips.h"
#include "parts/gpus/gpus.h"
#include "host/program.h"
#include "nic/nic.h"
#include "weft/msg.h"

#define MSG_NO_FIN UINT32_MAX

/* Of tagged messages that collectives send. */
#define MSG_TAG_COLL (UINT64_C(1) << 63)

enum msg_lane { MSG_USER, MSG_COLL, MSG_LANES };

enum {
	MSG_SLOT = 512,
	/* Room for answers; in another place, room for those of messages
	 * alone. */
	MSG_FINS = 64,
	MSG_MORE_FINS = 16320,
	MSG_NEWS = 64,
	MSG_NEWS_ASK = 1, /* of an entry, beside the rank */
	MSG_OWN_WORDS = 800,
	MSG_STAGES = 8, /* of collectives, without slots */
	MSG_PAGE = 4096,
};

struct domain;
struct msg_group;

/* MSG_PARTS: a short one of several slots, of which this is the first. */
enum msg_kind { MSG_SHORT, MSG_LONG, MSG_SELF, MSG_PARTS };

/* Bytes of a part behind the first: its number is all that it has else. */
enum { MSG_PART = MSG_SLOT - 8 };

struct msg_trailer {
	uint64_t bytes; /* of the message */
	uint64_t from; /* address of a long message */
	uint32_t tag;
	uint8_t kind;
	/* wants: its sender needs a block of the pool (api/msg/pool.h) */
	uint8_t is_wide : 1, wants : 1, unused : 6;
	uint16_t fin;
	uint64_t number; /* in its lane, from 1; arrives last */
};

_Static_assert(
	sizeof(struct msg_trailer) == MSG_SLOT - WEFT_MSG_EAGER, "slots");

/* In front of the trailer of a message that has more than a tag of 32 bits. */
struct msg_wide {
	uint64_t data;
	uint32_t tag; /* its upper half */
	uint16_t flags, space;
};

/* A process's state for another one, by lane; in its memory. */
struct msg_peer {
	struct mailbox box;
	uint64_t stuck; /* the last round without an empty slot */
	uint64_t served; /* the last atomic */
};

struct msg_list {
	struct weft_msg_request *first, *last;
};

enum msg_done_kind {
	MSG_DONE, /* nothing to wait for */
	MSG_DONE_WORD, /* a word of its own that becomes zero */
	MSG_DONE_OWN, /* the machine's own kind */
};

/* Bytes of a process's memory, from or for a rank. */
struct msg_piece {
	uint32_t rank;
	uint64_t at, bytes;
};

/* How collectives move their pieces. */
struct msg_pieces {
	/* Sends up to WEFT_MSG_EAGER bytes to a rank, or receives its next ones
	 * in order.  They wait; take() returns how many bytes were sent. */
	void (*give)(struct msg_state *m, uint32_t rank, const void *data,
		uint64_t bytes);
	uint64_t (*take)(
		struct msg_state *m, uint32_t rank, void *data, uint64_t most);
	/* Gives one piece to a rank, and takes another one; returns when the
	 * latter has come. */
	void (*pass)(struct msg_state *m, const struct msg_piece *given,
		const struct msg_piece *taken);
};

/* By slots of their own, and by tagged messages. */
extern const struct msg_pieces msg_pieces_by_slots, msg_pieces_by_tags;

enum { MSG_OVER = 0 }; /* the state of a request that has ended */

/* What an MPI library takes beside the interface. */
struct msg_times {
	sim_time send, receive; /* of a message */
	sim_time match; /* each entry of a list that does not match */
};

struct msg_trip {
	struct trips *trips; /* NULL: time is not budgeted */
	struct trip_sums sums; /* of messages that it has received */
};

/* Behind struct weft_msg. */
struct __attribute__((may_alias)) msg_state {
	const struct msg_ops *ops;
	const struct msg_pieces *pieces;
	const struct msg_tagged *tagged; /* the machine's, or msg_slots */
	struct msg_soft *soft; /* of msg_slots */
	/* Of the library above that uses tagged messages, too, or NULL. */
	void (*on_end)(void *arg, const struct msg_tagged_end *end);
	/* It advances what it has under way besides messages, and returns
	 * whether there was any progress; whether there would be, also outside
	 * of the program. */
	bool (*go_on)(void *arg);
	bool (*can_go_on)(const void *arg);
	/* While a call of its waits, or NULL: it may begin other operations,
	 * but no collective.  Returns when it wants to be called again at the
	 * latest, or 0: what the call waits for may have come meanwhile. */
	sim_time (*between)(void *arg);
	/* Bytes of the process's memory were written; see msg_watch_all(). */
	void (*on_touch)(void *arg, uint64_t at, size_t n);
	void *on_end_arg;
	struct msg_port *port; /* of a machine's table, its own */
	/* Slots that have been written and not yet emptied, a byte for each
	 * page; or NULL: they are not tracked. */
	uint8_t *written;
	struct domain *domain; /* of its node; or NULL */
	bool is_domain_lost; /* for good, and the process knows */
	struct host *host;
	struct memory *memory; /* of its node */
	struct nic *nic;
	uint32_t rank, n_ranks;
	uint32_t node, process, n_processes; /* of its node */
	const struct host_world *world; /* NULL: all nodes */
	uint64_t base, each; /* of its memory: where it begins, its size */
	uint32_t n_slots, eager, n_more_fins;
	uint32_t n_blocks; /* of the pool (api/msg/pool.h); 0: there is none */
	bool is_eager_set; /* by the program */
	bool is_software; /* do not use the network's collectives */
	bool is_logged; /* what processes do */
	sim_time match; /* as in struct msg_times, of slots.c */
	struct msg_trip trip;
	sim_time spent; /* so far, of an MPI library: see msg_charge() */

	/* addresses in the node's memory; where there are slots, stages_at is
	 * a page for the machine */
	uint64_t at, own_at, peers_at, stages_at;
	uint64_t more_fins_at; /* behind all else */
	uint64_t pieces_at; /* stages of collectives by tagged messages */
	uint64_t words_at, fins_at, credits_at, asks_at, tagged_at, slots_at;
	uint64_t end;

	/* what has arrived: a ring of ranks, each with a bit for the kind */
	uint32_t news[MSG_NEWS];
	uint32_t news_first, n_news;
	bool has_all; /* too many for the ring: look at all ranks */
	bool has_word;
	struct weft_msg_done awaited;
	uint64_t awaited_at; /* an address that its end is written to, or 0 */
	uint32_t n_peeked; /* events that it need not be woken for */

	uint64_t dones, fins; /* bits of those in use */
	uint64_t round, n_asked;

	struct msg_list posted, waiting;
	bool is_full; /* a slot could not be emptied */

	/* without slots */
	uint64_t n_begun; /* requests that the machine has */
	uint64_t n_over; /* that have ended so far */
	uint32_t next_stage;
	struct weft_msg_request stage[MSG_STAGES];

	uint64_t own[MSG_OWN_WORDS]; /* the machine's */
};

_Static_assert(
	sizeof(struct msg_state) <= sizeof(struct weft_msg), "WEFT_MSG_WORDS");

/* An interface's own memory, of which each process of a node takes some. */
struct msg_card {
	uint64_t bytes; /* there are */
	uint64_t each; /* at least */
	const char *param; /* that says how large it is */
};

/*
 * Operations of a machine.  They are not called for the process itself, nor
 * with 0 bytes; a rank may be on the same node.  All addresses have been
 * checked, and are addresses in nodes' memories.
 */
struct msg_ops {
	uint64_t memory; /* bytes of a process's memory, at own_at */
	uint32_t most_processes; /* of a node; 0: HOST_THREADS */

	int (*open)(struct msg_state *m);
	/* Waits until none of its own operations is in flight. */
	void (*close)(struct msg_state *m);

	/* Writes up to MSG_SLOT bytes, whole words, to a rank's memory; they
	 * arrive at once or in order.  Needs no software there. */
	void (*post)(struct msg_state *m, uint32_t rank, uint64_t to,
		const void *data, uint32_t bytes);
	/* Fills in *done, with a word of msg_take_word() if it needs one.  done
	 * may be NULL. */
	void (*put)(struct msg_state *m, uint32_t rank, uint64_t to,
		uint64_t from, uint64_t bytes, uint32_t counter,
		struct weft_msg_done *done);
	/* The same, and *arrived is done when all bytes are in the rank's
	 * memory.  *source may be equal to it.  The caller knows that a word is
	 * free. */
	void (*deliver)(struct msg_state *m, uint32_t rank, uint64_t to,
		uint64_t from, uint64_t bytes, struct weft_msg_done *source,
		struct weft_msg_done *arrived);
	/* The word becomes zero when all bytes are here. */
	void (*get)(struct msg_state *m, uint32_t rank, uint64_t from,
		uint64_t to, uint64_t bytes, uint32_t word);
	/* Sets a counter, a word that becomes zero; subtracts bytes that the
	 * process has put into its own memory. */
	void (*expect)(struct msg_state *m, uint32_t counter, uint64_t bytes);
	void (*arrived)(struct msg_state *m, uint32_t counter, uint64_t bytes);

	struct poll_loop (*loop)(struct msg_state *m);

	/* --- optional entries --- */

	/* Of an interface with these parameters; open() returns ENOMEM where it
	 * is full.  NULL: it has none that could be. */
	struct msg_card (*card)(const void *params, uint32_t n_ranks);
	/* NULL: processes match messages in their calls (slots.c). */
	const struct msg_tagged *tagged;
	/* If put() returns MSG_DONE_OWN; also called from outside the
	 * program. */
	bool (*is_done)(
		const struct msg_state *m, const struct weft_msg_done *done);
	/*
	 * Operations that the interface or the network performs.  ENOSYS: not
	 * with these arguments, so software performs them, as it does without
	 * the entry.  All ranks must return the same.
	 */
	int (*atomic)(struct msg_state *m, uint32_t rank, uint64_t at,
		enum weft_msg_atomic op, uint64_t operand, uint64_t *old);
	/* The same: stores a word where another one is. */
	int (*swap_if)(struct msg_state *m, uint32_t rank, uint64_t at,
		uint64_t is, uint64_t word, uint64_t *old);
	/* Both take some time at the other node, in which what its cores store
	 * is lost: then software must not change words that they change. */
	bool has_slow_atomics;
	/* Of a group that is open, called by its leaders, of which the root is
	 * one; NULL: of all ranks. */
	int (*barrier)(struct msg_state *m, struct msg_group *g);
	int (*broadcast)(struct msg_state *m, struct msg_group *g,
		uint32_t root, uint64_t at, uint64_t bytes);
	/* root: WEFT_MSG_ANY for all. */
	int (*reduce)(struct msg_state *m, struct msg_group *g, uint32_t root,
		enum weft_msg_reduction op, uint64_t from, uint64_t to,
		uint64_t n);
	/* Groups of ranks (api/msg/group.h), all three or none.  Whether the
	 * network could serve one: from what all members know alike. */
	bool (*has_group)(struct msg_state *m, const struct msg_group *g);
	/* Called by leaders at about the same time, who may wait for each
	 * other.  If one of them fails, the others close theirs. */
	int (*open_group)(struct msg_state *m, struct msg_group *g);
	void (*close_group)(struct msg_state *m, struct msg_group *g);

	/* What an MPI library takes for a message of so many bytes, beside what
	 * the calls above take.  NULL: as the machine's block mpi says. */
	struct msg_times (*times)(const struct msg_state *m, uint64_t bytes);

	/* Checks bytes of GPU memory for put and get: an error number, or 0. */
	int (*check_gpu)(
		const struct msg_state *m, uint64_t at, uint64_t bytes);

	/* For an interface with queues of completions: takes those that have
	 * arrived, and sets their words to zero.  Returns whether there were
	 * any. */
	bool (*poll)(struct msg_state *m);
	/* Whether there are any; also called outside of the program, which the
	 * interface wakes by host_poke(). */
	bool (*has_events)(const struct msg_state *m);
	/*
	 * If most of these only say that the process's own writes have left:
	 * whether there are more than *n that say so and nothing else, or any
	 * others, as in struct poll_through; *n becomes their number.  And its
	 * loop, by a draw.  Both are called from outside of the program.
	 */
	enum poll_news (*peek)(const struct msg_state *m, uint32_t *n);
	struct poll_loop (*loop_by)(const struct msg_state *m, uint64_t draw);
};

static inline struct msg_state *msg_state(struct weft_msg *m)
{
	return (struct msg_state *)m;
}

/* What an MPI library takes beside the interface. */
static inline void msg_charge(struct msg_state *m, sim_time t)
{
	program_charge(t);
	m->spent += t;
}

static inline uint32_t msg_node_of(const struct msg_state *m, uint32_t rank)
{
	uint32_t place = rank / m->n_processes;

	return m->world ? m->world->node[place] : place;
}

static inline uint32_t msg_process_of(const struct msg_state *m, uint32_t rank)
{
	return rank % m->n_processes;
}

/* The node's address for an address of a rank; those of GPUs are the same. */
static inline uint64_t msg_address(
	const struct msg_state *m, uint32_t rank, uint64_t at)
{
	return gpu_of(at) ? at : msg_process_of(m, rank) * m->each + at;
}

/* The layer's own words, without a call: no other program polls them. */
static inline void msg_load(
	const struct msg_state *m, uint64_t at, void *to, size_t n)
{
	memory_read(m->memory, MEMORY_CORE, at, to, n);
}

static inline void msg_store(
	const struct msg_state *m, uint64_t at, const void *from, size_t n)
{
	memory_write(m->memory, MEMORY_CORE, at, from, n);
}

/* --- able.c --- */

/* The most processes of a node that an interface serves. */
uint32_t msg_most_processes(const struct nic_ops *nic);
/* Whether it, or its network, may add. */
bool msg_adds(const struct nic_ops *nic);

/* --- msg.c --- */

/* weft_msg_fini() without its barrier, for a process that no other process will
 * send to or read from.  Returns when its own writes have arrived. */
int msg_leave(struct msg_state *m);

/* Of the job that the program is a process of. */
uint32_t msg_count_ranks(struct host *h);

/* Writes to a rank, at the counterpart of an address of the process itself. */
void msg_post(struct msg_state *m, uint32_t rank, uint64_t own_at,
	const void *data, uint32_t bytes);

/* Counters first, then those of puts and gets. */
static inline uint64_t msg_word_at(const struct msg_state *m, uint32_t word)
{
	return m->words_at + 8 * (uint64_t)word;
}

/* .expect and .arrived of machines that subtract arriving bytes from the word.
 */
void msg_word_expect(struct msg_state *m, uint32_t word, uint64_t bytes);
void msg_word_arrived(struct msg_state *m, uint32_t word, uint64_t bytes);

/* Takes a word for a put or get, or returns 0 if none is free; gives it back.
 */
uint32_t msg_take_word(struct msg_state *m);
void msg_give_word(struct msg_state *m, uint32_t word);
bool msg_word_is_zero(const struct msg_state *m, uint32_t word);

/* Whether a put or get has ended; also outside of the program.  Then its word
 * is given back. */
bool msg_is_done(const struct msg_state *m, const struct weft_msg_done *done);
void msg_end(struct msg_state *m, struct weft_msg_done *done);

/* Takes room for another process's answer: an index, or MSG_FINS if none. */
uint32_t msg_take_fin(struct msg_state *m);
void msg_give_fin(struct msg_state *m, uint32_t fin);
/* There is no answer yet. */
void msg_clear_fin(struct msg_state *m, uint32_t fin);
/* The answer and its value; 0: there is none yet. */
uint64_t msg_fin(const struct msg_state *m, uint32_t fin, uint64_t *value);
void msg_answer(struct msg_state *m, uint32_t rank, uint32_t fin,
	uint64_t answer, uint64_t value);

/* Pages of slots that are all empty take no memory from now on: else a process
 * that talks to all others would hold 8 KiB for each of them. */
void msg_track_slots(struct msg_state *m);
/* From now on the library above hears of all writes to the process's memory but
 * for those to the layer's own; also outside of the program. */
void msg_watch_all(struct msg_state *m,
	void (*on_touch)(void *arg, uint64_t at, size_t n));

/* weft_msg_memory() of a machine with an interface, and parameters of that;
 * NULL: the usual ones. */
uint64_t msg_memory(const struct nic_ops *nic, const void *params,
	uint32_t n_ranks, const struct weft_msg_options *o);

/* An operation with a process has failed for good. */
void msg_lose(struct msg_state *m, uint32_t node, uint32_t process);
/* Whether one with a rank has.  Of later ones nobody knows how they end. */
bool msg_is_lost(const struct msg_state *m, uint32_t rank);

/* See msg_ops.times. */
struct msg_times msg_times(const struct msg_state *m, uint64_t bytes);

/* Checks a rank and bytes of its memory or of GPUs, or of its memory alone: an
 * error number, or 0. */
int msg_check(
	const struct msg_state *m, uint32_t rank, uint64_t at, uint64_t bytes);
int msg_check_host(
	const struct msg_state *m, uint32_t rank, uint64_t at, uint64_t bytes);
/* Copies within the node's memories; takes time only from or to a GPU. */
void msg_copy(uint64_t to, uint64_t from, uint64_t bytes);
void msg_read(uint64_t at, void *to, uint64_t bytes);
void msg_write(uint64_t at, const void *from, uint64_t bytes);

/* --- wait.c --- */

/* Handles everything that has arrived; returns whether there was anything. */
bool msg_step(struct msg_state *m);
/* The same, or sleeps until something has arrived. */
void msg_go_on(struct msg_state *m);
/* Sleeps until something has arrived, but no longer than until a time. */
void msg_sleep_before(struct msg_state *m, sim_time t);

/* --- lane.c --- */

/* The address of its state for a rank, and of two words in which that rank
 * reports the slots that it has emptied. */
static inline uint64_t msg_peer_at(
	const struct msg_state *m, enum msg_lane lane, uint32_t rank)
{
	return m->peers_at +
	       ((uint64_t)rank * MSG_LANES + lane) * sizeof(struct msg_peer);
}

static inline uint64_t msg_credits_at(
	const struct msg_state *m, enum msg_lane lane, uint32_t rank)
{
	return m->credits_at + ((uint64_t)rank * MSG_LANES + lane) * 16;
}

static inline struct msg_peer msg_peer(
	const struct msg_state *m, enum msg_lane lane, uint32_t rank)
{
	struct msg_peer p = { 0 };

	msg_load(m, msg_peer_at(m, lane, rank), &p, sizeof(p));
	return p;
}

static inline void msg_set_peer(const struct msg_state *m, enum msg_lane lane,
	uint32_t rank, const struct msg_peer *p)
{
	msg_store(m, msg_peer_at(m, lane, rank), p, sizeof(*p));
}

/* p: what msg_peer() returns; it is kept up to date. */
bool msg_lane_has_slot(struct msg_state *m, enum msg_lane lane, uint32_t rank,
	const struct msg_peer *p);
/* Fills a slot of a rank that has one; a MSG_SHORT has t->bytes of data. */
void msg_lane_send(struct msg_state *m, enum msg_lane lane, uint32_t rank,
	struct msg_peer *p, struct msg_trailer *t, const struct msg_wide *w,
	const void *data);
/* The next message of a rank, if it has arrived, and the address of its bytes.
 */
bool msg_lane_next(const struct msg_state *m, enum msg_lane lane, uint32_t rank,
	const struct msg_peer *p, struct msg_trailer *t, struct msg_wide *w,
	uint64_t *at);
/*
 * Messages of several slots.  A receiver gives slots back when half of them are
 * empty, so a sender that waits until half of them and one more are empty does
 * not wait for ever.
 */

/* The slots of a message, and the most bytes of so many slots. */
uint32_t msg_lane_parts(uint64_t bytes, bool is_wide);
uint64_t msg_lane_most(uint32_t n_parts, bool is_wide);
bool msg_lane_has_slots(struct msg_state *m, enum msg_lane lane, uint32_t rank,
	const struct msg_peer *p, uint32_t n);
/* Fills the slots of a message; t->kind: MSG_PARTS. */
void msg_lane_send_parts(struct msg_state *m, enum msg_lane lane, uint32_t rank,
	struct msg_peer *p, struct msg_trailer *t, const struct msg_wide *w,
	const uint8_t *data);
/* Bytes in the first slot of such a message; fills the slot of another part. */
uint64_t msg_lane_first(bool is_wide);
void msg_lane_send_part(struct msg_state *m, enum msg_lane lane, uint32_t rank,
	struct msg_peer *p, const uint8_t *data, uint64_t bytes);
/* Whether part i of the next message is here, and the address of its n bytes.
 */
bool msg_lane_has_part(const struct msg_state *m, enum msg_lane lane,
	uint32_t rank, const struct msg_peer *p, uint32_t i, uint64_t n,
	uint64_t *at);
/* Reads the bytes of a message of several slots, whose first bytes are at an
 * address.  Returns false if not all of it is here. */
bool msg_lane_gather(const struct msg_state *m, enum msg_lane lane,
	uint32_t rank, const struct msg_peer *p, const struct msg_trailer *t,
	uint64_t at, uint8_t *to);

/* Empties its slot. */
void msg_lane_taken(struct msg_state *m, enum msg_lane lane, uint32_t rank,
	struct msg_peer *p);

/* The same for collectives, see struct msg_pieces. */
void msg_lane_give(
	struct msg_state *m, uint32_t rank, const void *data, uint64_t bytes);
uint64_t msg_lane_take(
	struct msg_state *m, uint32_t rank, void *data, uint64_t most);

/* --- tagged.c --- */

void msg_open_requests(struct msg_state *m);
/* Begins a request that is filled in. */
void msg_begin_send(struct msg_state *m, struct weft_msg_request *r);
/* If time is budgeted: a message of n slots leaves, and its trip begins
 * (meas/trips.h). */
void msg_time_send(
	struct msg_state *m, const struct msg_tagged_entry *e, uint32_t n);
void msg_begin_receive(struct msg_state *m, struct weft_msg_request *r);
/* Takes those that have ended, and nothing that arrives; returns whether there
 * were any. */
bool msg_take_ends(struct msg_state *m);
/* Advances all of them; returns whether there was any progress. */
bool msg_advance_requests(struct msg_state *m);
/* Unless a machine matches itself, messages are sent at once if their slots
 * can be free. */
void msg_send_most_at_once(struct msg_state *m);
/* None is under way, and no message waits for a receive. */
bool msg_has_no_requests(struct msg_state *m);

/* --- request.c --- */

/* Whether an operation has ended; its status holds the result. */
static inline bool msg_is_over(const struct weft_msg_request *r)
{
	return r->state == MSG_OVER;
}

static inline void msg_append(struct msg_list *l, struct weft_msg_request *r)
{
	r->next = NULL;
	if (l->first)
		l->last->next = r;
	else
		l->first = r;
	l->last = r;
}

/* Logs a message to a rank; one of a rank, and returns its mark. */
void msg_log_sent(const struct msg_state *m, uint32_t rank, uint64_t tag,
	uint64_t bytes, sim_time since);
uint32_t msg_log_matched(const struct msg_state *m, uint32_t rank, uint64_t tag,
	uint64_t bytes, sim_time since);

/* --- coll.c --- */

/* a = a op b, of n words. */
void msg_combine(
	enum weft_msg_reduction op, uint64_t *a, const uint64_t *b, uint32_t n);
/* Gets bytes of a rank, as soon as a word is free, and waits for them. */
void msg_coll_get(struct msg_state *m, uint32_t rank, uint64_t from,
	uint64_t at, uint64_t bytes);
/* A pass where the taker gets the piece. */
void msg_coll_pass(struct msg_state *m, const struct msg_piece *given,
	const struct msg_piece *taken);

/* --- atomic.c --- */

/* A requested atomic; its number arrives last. */
struct msg_ask {
	uint64_t at, operand;
	uint64_t op, fin;
	uint64_t unused[3];
	uint64_t number;
};

enum atomic_op msg_atomic_op(enum weft_msg_atomic op);
void msg_atomic_serve(struct msg_state *m, uint32_t rank);

#endif
