/*
 * Reliable messages into queues without connections: what a sender keeps of
 * messages that are not known to have arrived, and what a receiver keeps so
 * that it takes none twice.
 *
 * Both sides have 16 windows, whatever the number of peers: a peer belongs to
 * one of them by a hash.  A sender numbers the messages of a window, and has at
 * most 64 of them under way.  A receiver remembers 64 numbers in each window,
 * one in each place, with their sender.  Nothing is agreed on beforehand, no
 * credits come back, and a message is never kept because another one is
 * missing.
 *
 * The card takes a message once.  Only where it gave up, because answers were
 * lost, does the library send a message again, with the time of the first try.
 * If its number is not there, it is new, unless its place has forgotten one
 * that came after that time: then nobody can say, and it is refused.
 */
#ifndef API_SW_WINDOWS_H
#define API_SW_WINDOWS_H

#include "nic/util/window.h"
#include "sim/sim.h"

enum { SW_WINDOWS = 16, SW_WINDOW = 64 };

/* A process's end: an interface of a node. */
static inline uint32_t swv_peer(uint32_t node, uint32_t interface)
{
	return node << 8 | interface;
}

/* The window of a peer. */
static inline uint32_t swv_window_of(uint32_t peer)
{
	return peer * UINT32_C(0x9e3779b1) >> 28;
}

/* --- a sender --- */

struct swv_windows {
	struct window *window; /* [SW_WINDOWS]; NULL until a number is taken */
	uint32_t first; /* number */
};

/* Numbers continue from the time on, so that those of an earlier life on the
 * same interface do not return. */
void swv_windows_init(struct swv_windows *w, sim_time now);
void swv_windows_fini(struct swv_windows *w);
uint64_t swv_windows_memory(const struct swv_windows *w);
__attribute__((cold)) void swv_windows_make(struct swv_windows *w);
/* Whether another message to a peer may be under way; its number. */
static inline bool swv_windows_has_room(
	const struct swv_windows *w, uint32_t peer)
{
	return !w->window ||
	       window_span(&w->window[swv_window_of(peer)]) < SW_WINDOW;
}
static inline uint32_t swv_windows_take(struct swv_windows *w, uint32_t peer)
{
	if (__builtin_expect(!w->window, 0))
		swv_windows_make(w);
	return w->window[swv_window_of(peer)].next++;
}
/* A number has arrived, or its message was given up. */
static inline void swv_windows_done(
	struct swv_windows *w, uint32_t peer, uint32_t number)
{
	window_done(&w->window[swv_window_of(peer)], number);
}

/* --- a receiver --- */

struct swv_known_place;

struct swv_known {
	/* [SW_WINDOWS]; NULL until used, each of them */
	struct swv_known_place **window;
};

enum swv_known_answer { SW_KNOWN_NEW, SW_KNOWN_DOUBLE, SW_KNOWN_UNSURE };

void swv_known_fini(struct swv_known *k);
uint64_t swv_known_memory(const struct swv_known *k);
/* A message has come, of a number, and is remembered if it is new.  first is
 * when it was sent first, of one that was sent again; else SIM_NEVER. */
enum swv_known_answer swv_known_take(struct swv_known *k, uint32_t peer,
	uint32_t number, sim_time first, sim_time now);

#endif
