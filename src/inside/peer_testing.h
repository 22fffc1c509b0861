/*
 * weft-peer's parts: ranks and time are in peer_testing.c, what commands do is
 * in peer_command_testing.c.
 */
#ifndef INSIDE_PEER_TESTING_H
#define INSIDE_PEER_TESTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "outside/channel.h"

/* ps */
enum { PEER_LATENCY = 1000000, PEER_LOOK = 100000 };

struct done {
	struct done *next;
	struct channel_completion completion;
};

/* A message; or a put, get or atomic, which takes effect when it arrives. */
struct packet {
	struct packet *next;
	uint32_t from, to;
	struct channel_command command; /* as it was sent */
	struct channel_command more;
	char *bytes, *compare;
	bool is_claimed;
	uint64_t claimed_by;
};

/* A receive, or a peek that lasts. */
struct posted {
	struct posted *next;
	struct channel_command command;
	struct channel_command vector;
	struct {
		uint64_t at, bytes;
	} piece[CHANNEL_VECTOR];
	uint64_t filled; /* of one for several messages */
};

struct memory {
	struct memory *next;
	uint64_t key, at, bytes, name, rights;
	bool has_events;
};

/* The collective that ranks are in: they all call them in one order. */
struct together {
	uint32_t n; /* have come */
	char *bytes; /* of the root, or the result so far */
};

struct rank {
	uint32_t number;
	struct peer *peer;
	pid_t pid;
	struct channel *channel;
	int file, output, status;
	bool has_ended, has_left;
	enum { RUNS, WAITS, WAKES } state;
	uint64_t n_waits;
	bool is_touched; /* since its last wait */
	struct done *done, **done_end;
	struct posted *posted;
	struct packet *early;
	struct memory *memory;
	struct channel_command collective;
	uint64_t n_keys;
	size_t room;
	uint32_t n_pieces;
	struct channel_command command[CHANNEL_COMMANDS];
	char in_room[CHANNEL_ROOM]; /* what came with the commands */
	char pieces[CHANNEL_ROOM];
};

struct peer {
	struct rank *rank;
	uint32_t n_ranks, per_node;
	bool is_loud, has_collectives, has_copies;
	struct together together;
	int socket;
	pid_t helper;
	int64_t now;
	struct event *events;
	size_t n_events, size;
	uint64_t n_made, n_turns, sum;
};

_Noreturn void peer_die(const char *what);
void *peer_alloc(size_t n, size_t bytes);
void peer_arrive_later(struct peer *p, struct packet *k);
void peer_touch(struct peer *p, struct rank *r);
void peer_complete(
	struct peer *p, struct rank *r, const struct channel_completion *c);
/* With the rank's next turn; or at once, for memory that others read. */
void peer_store(struct rank *r, uint64_t at, const void *from, size_t bytes);
void peer_store_now(
	struct rank *r, uint64_t at, const void *from, size_t bytes);
void peer_load(struct rank *r, void *to, uint64_t at, size_t bytes);

/* Executes a command; returns how many of those behind it it took, too. */
uint32_t peer_command(
	struct peer *p, struct rank *r, const struct channel_command *c);
void peer_arrive(struct peer *p, struct rank *r, struct packet *k);

/* A barrier, broadcast or reduction. */
void peer_collective(
	struct peer *p, struct rank *r, const struct channel_command *c);

#endif
