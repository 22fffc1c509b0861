/*
 * A textbook switch of up to 64 ports: a packet waits at its input in a queue
 * for its output, and each output serves these queues in turn.
 *
 *	in 0  [ for 0 ][ for 1 ] ...      \
 *	in 1  [ for 0 ][ for 1 ] ...       > link 0, link 1, ...
 *	 ...                              /
 *
 * The queues of an input share its buffer, by channel.  The switch itself is no
 * bottleneck: an input may feed several outputs at once.  If routing offers
 * several ports, an arriving packet takes the one with the least load: packets
 * that wait for the port here, and packets behind it.  Where the routing names
 * channels, and some packets lack room, the one that has waited longest goes
 * first, so that no channel starves another.
 *
 * Nodes have routers of another kind.
 *
 * Private to the router.
 */
#ifndef ROUTER_CROSSBAR_CROSSBAR_H
#define ROUTER_CROSSBAR_CROSSBAR_H

#include "net/net.h"

enum { CROSSBAR_CHANNELS = LINK_CHANNELS };

/* Both directions of a port. */
struct crossbar_port {
	_Alignas(64) struct link_sender sender;
	struct link_returns returns;
	uint64_t want[CROSSBAR_CHANNELS]; /* inputs with packets for it, by the
					   * channel of their arrival */
	struct link_returns
		*back; /* of its other end, or NULL if that is far */
	uint32_t backlog; /* chunks that wait for it */
	uint8_t first[CROSSBAR_CHANNELS]; /* the input to serve first */
	uint8_t turn; /* the channel to serve first */
	uint8_t busy; /* channels that want any, a bit each */
	bool is_awaited; /* packets wait for its timer */
	bool is_short; /* packets that leave on some channel lacked tokens */
	sim_time between; /* when the last one between packets of a train has
			   * gone */
	/* cold */
	_Alignas(64) uint64_t packets[CROSSBAR_CHANNELS]; /* received that have
							   * left */
	sim_time waited[CROSSBAR_CHANNELS]; /* by these */
};

/*
 * A link that has been taken has a timer for when it will be free.  Timers stay
 * in the site, in the order of time: time and port in one word.  The kernel
 * gets one event for all those of a window that packets wait for.
 */
struct crossbar_site {
	site_id id;
	uint32_t lfsr;
	uint32_t n_ports; /* up to the last one with a wire */
	uint64_t *timer, *end_timer; /* the first, and behind the last */
	uint64_t *last_timer; /* the end of their places */
	uint64_t woken; /* windows with an event, a bit each */
	struct packet_list *queue; /* [out][in] of channel 0 */
	struct crossbar_port port[];
};

/*
 * What a switch has been told of others, and has told them, of the load of some
 * ports, for routings that look at more than its own queues: news.c.
 */
struct crossbar_news {
	struct route_news of; /* which switches and ports */
	uint32_t n_ports; /* of each */
	uint32_t unchanged; /* how often the same would have been told */
	bool is_due; /* there is an event that tells */
	uint32_t load[]; /* [switch][port], in chunks */
};

/* Events: in PHASE_ENGINE, to tell; in PHASE_TOKEN, + the number of the switch
 * among those that tell each other, with the port's as aux. */
enum { CROSSBAR_TELL = 1, CROSSBAR_TOLD = 1024 };

enum { CROSSBAR_PORT_BITS = 6 };

/* Places for timers: of each port one, and others to move through. */
static inline uint32_t crossbar_n_timers(uint32_t n_ports)
{
	return 2 * n_ports;
}

/* Where they are. */
static inline uint64_t *crossbar_timers(struct crossbar_site *s)
{
	return (uint64_t *)(void *)&s->port[s->n_ports];
}

_Static_assert(TOPO_MAX_PORTS <= 1 << CROSSBAR_PORT_BITS, "bits of a timer");

struct crossbar {
	struct router router;
	struct packet *packets;
	const struct route *route;
	const struct link_rules *link;
	struct book *book;
	struct crossbar_site **site; /* from the first one on */
	struct crossbar_news **news; /* the same; NULL: they do not tell */
	/* Queues of all sites, channel by channel: a channel that no packet
	 * takes is never touched. */
	struct packet_list *queues;
	size_t per_channel;
	bool is_faulty; /* links have faults, or retry */
	bool has_rates; /* they differ, or may */
	bool is_stepped; /* the routing names channels */
	bool is_exact; /* as route.is_exact */
	uint32_t n_ports; /* the most of a site */
	uint32_t n_channels; /* that packets may have */
	int32_t full; /* chunks of a full packet */
	int32_t capacity; /* chunks of a channel */
};

static inline struct crossbar *crossbar_of(const struct router *r)
{
	return (struct crossbar *)(uintptr_t)r;
}

static inline struct crossbar_site *crossbar_at(
	const struct crossbar *x, site_id s)
{
	return x->site[s - x->router.sites.first];
}

static inline struct packet_list *crossbar_queue(const struct crossbar *x,
	const struct crossbar_site *s, uint32_t channel, port_id out,
	port_id in)
{
	return &s->queue[channel * x->per_channel + out * s->n_ports + in];
}

/* The tokens of a channel that a packet takes, as nodes count them. */
static inline int32_t crossbar_takes(
	const struct crossbar *x, const struct packet *p, uint32_t channel)
{
	return channel && !x->is_exact ? x->full : p->chunks;
}

/* The channel on which a packet leaves, by the channel of its arrival. */
static inline uint32_t crossbar_leaves(
	const struct crossbar *x, const struct packet *p, uint32_t came)
{
	return x->is_stepped ? p->channel : came;
}

/* The load of a port: chunks that wait for it, and chunks behind it, with
 * tokens that have returned by a time. */
static inline uint32_t crossbar_load(const struct crossbar *x,
	struct crossbar_port *o, uint32_t channel, sim_time t)
{
	link_collect(&o->sender, &o->returns, t);
	return o->backlog + (uint32_t)(x->capacity - o->sender.tokens[channel]);
}

/* --- manage.c --- */

/* See router_ops.manage: packets that wait in a switch are dropped. */
void crossbar_manage(struct router *r, struct sim_worker *w, site_id s,
	const struct route *tables, sim_time t);
/* Drops a packet that arrived at a port, on a channel, and is in no queue. */
void crossbar_drop(struct crossbar *x, struct sim_worker *w,
	struct crossbar_site *s, port_id in, uint32_t came, packet_id id,
	sim_time t);

/* --- news.c --- */

void crossbar_news_make(struct crossbar *x);
void crossbar_news_free(struct crossbar *x);
/* A packet waits for a port: others are to know. */
void crossbar_news_begin(const struct crossbar *x, struct sim_worker *w,
	const struct crossbar_site *s, port_id out, sim_time t);
void crossbar_news_tell(const struct crossbar *x, struct sim_worker *w,
	struct crossbar_site *s, sim_time t);
void crossbar_news_hear(const struct crossbar *x, const struct crossbar_site *s,
	const struct sim_event *e);
/* What another switch has told of a port. */
uint32_t crossbar_news_of(const struct crossbar *x,
	const struct crossbar_site *s, router_id at, port_id port);

extern const struct router_ops crossbar_ops;
/* Without budgets, faults and rates that differ, and where the routing names
 * channels or not; and with all of it. */
extern const struct router_calls crossbar_calls, crossbar_calls_stepped,
	crossbar_calls_full;

#endif
