/*
 * The array router, Sunway's: a switch of tiles, one for each port, in rows and
 * columns, and the ports of a node.
 *
 *	link      input tile            tile in the output's column     output
 *	 |                                                                 ^
 *	 v                  row bus   row buffer of an     column          |
 *	[input buffer]--------------->[input and channel]-------->[column]-+
 *	 lists by channel   one for    where packets wait          buffer
 *	 and column         an input   for credits and link
 *
 * The model has packets and stages.  An arriving packet gets its output and
 * joins the list of its channel and of the output's column.  The first packets
 * of a list are in the row buffer, which holds whole packets; the others are in
 * the input buffer, which all channels share.  A packet crosses to its row
 * buffer when that has room and the bus is free.  Its place in the input buffer
 * is free when its tail has crossed.  A packet in a row buffer takes the
 * credits of its link's other end when its output grants it the link: nothing
 * behind the row buffer waits for far room.  An output grants ahead of the
 * link, by the time that fills the column buffer.  So a full row buffer blocks
 * what comes by the same input for the same column on the same channel, and
 * nothing else.  Without rivals no stage takes time.
 *
 * With router.inner: fifo, an input has a single row buffer for each channel,
 * whatever the output: the packet at its head blocks all others.
 *
 * Credits are chunks.  Each channel has some of its own in the receiver of a
 * link, and all channels share the rest: link_room().
 *
 * A node has an injection FIFO for each class and port: user packets of port p
 * use FIFO p, those of high priority n_ports + p, system packets 2 * n_ports +
 * p; packets to the node itself use the first switch.  What comes by a port on
 * a channel enters reception FIFO channel * n_ports + port.
 *
 * Private to the router and its tests.
 */
#ifndef ROUTER_ARRAY_ARRAY_H
#define ROUTER_ARRAY_ARRAY_H

#include "net/net.h"
#include "route/lists.h"

enum {
	ARRAY_CHANNELS = LINK_CHANNELS,
	ARRAY_COLUMNS = 8, /* the most */
	ARRAY_ROWS = 8,
	ARRAY_CLASSES = 3, /* of a node's FIFOs, for each port */
	ARRAY_MOST = 4095, /* chunks of an input buffer */
	ARRAY_SPANS = 64, /* of time, see struct array_switch */
	ARRAY_SPAN_LOG = 13, /* their length, ps */
};

/* Number of an event of PHASE_TOKEN, + port: the other end feeds back. */
enum { ARRAY_WARNING = 2 * NET_LINK };

enum array_inner { ARRAY_INNER, ARRAY_FIFO };
enum array_store { ARRAY_STORE_AUTO, ARRAY_STORE_NEVER };
enum array_rows { ARRAY_BY_CHANNEL, ARRAY_BY_PAIR };

struct array_params {
	int64_t rows, columns;
	int64_t input; /* chunks of an input buffer */
	int64_t own; /* of these, private for each channel; 0: a full packet */
	int64_t shared; /* by all channels */
	int64_t inner; /* an enum array_inner */
	int64_t row; /* packets that a row buffer holds */
	int64_t row_for; /* an enum array_rows */
	int64_t column; /* chunks of a column buffer */
	int64_t store; /* an enum array_store */
	int64_t errors; /* repeated packets of all, parts per million */
	int64_t patience; /* of source-routed packets, ps */
	int64_t feedback; /* yes or no */
};

/* Lists of an input are numbered by channel and column. */
static inline uint32_t array_list(uint32_t channel, uint32_t column)
{
	return channel * ARRAY_COLUMNS + column;
}

/* Behind them each channel has one for multicasts. */
enum {
	ARRAY_LISTS = ARRAY_CHANNELS * ARRAY_COLUMNS,
	ARRAY_ALL_LISTS = ARRAY_LISTS + ARRAY_CHANNELS,
};

#define ARRAY_MANY ((((uint64_t)1 << ARRAY_CHANNELS) - 1) << ARRAY_LISTS)

/* Engine events of a switch, + port: an output can grant; a bus is free; a
 * packet at the head of a list, which is aux, has come as a whole.  And without
 * a port: some source-routed packet may have waited for too long. */
enum {
	ARRAY_OUTPUT,
	ARRAY_BUS = TOPO_MAX_PORTS,
	ARRAY_STORED = 2 * TOPO_MAX_PORTS,
	ARRAY_PATIENCE = 3 * TOPO_MAX_PORTS,
	ARRAY_CLIENT,
};

/* Both directions of a switch's port, and the tile behind it. */
struct array_port {
	_Alignas(64) struct link_sender sender;
	struct link_returns returns;

	/* the output */
	uint64_t want[ARRAY_CHANNELS]; /* inputs with a packet for it at the
					* head of a row buffer, by the channel
					* of their arrival */
	uint64_t odd[ARRAY_CHANNELS]; /* of these, whose packet leaves on
				       * another channel */
	uint32_t wanted; /* the channels of these, a bit each */
	uint8_t first[ARRAY_CHANNELS]; /* the input to serve first */
	uint32_t backlog; /* chunks that wait for it in the switch */
	uint8_t turn; /* the channel to serve first */
	bool is_timed; /* an event is pending for when it can grant */
	/* of the input, where there is room: */
	uint16_t errors; /* an average of packets that the link repeated */
	uint8_t slowed; /* how many packets go to slow outputs, in the same way
			 */
	uint8_t bus_turn; /* the list to serve first */
	bool is_bus_timed;
	uint8_t lacking; /* of the output: see lacks_since */
	/* Feedback: by channel, how often credits came back too slowly, and
	 * since when a packet has waited for them, if its bit is set.  And
	 * until when the other end warns of what is behind it. */
	union {
		uint8_t slow[ARRAY_CHANNELS];
		uint32_t any_slow;
	};
	sim_time lacks_since[ARRAY_CHANNELS];
	sim_time warned;

	/* the input */
	sim_time bus_free;
	struct link_returns *far; /* of the other end; NULL: returns are mail */
	struct link_retry *acks; /* see struct net_leaving */
	uint64_t *far_due; /* array_switch.due of the other end, or NULL */
	uint64_t waits; /* lists with packets in the input buffer, a bit each */
	uint64_t full; /* lists whose row buffer has no room */
	uint64_t storing; /* lists whose first packet in the input buffer has
			   * to come as a whole first */
	sim_time told; /* until when the other end need not be told again */
	uint8_t in_row[ARRAY_LISTS]; /* packets of a list in the row buffer */
	struct packet_list list[ARRAY_ALL_LISTS];
	uint64_t packets[ARRAY_CHANNELS]; /* received that have left */
	sim_time waited[ARRAY_CHANNELS]; /* by these */
	uint64_t bytes[ARRAY_CHANNELS]; /* received */
	uint64_t sent[ARRAY_CHANNELS]; /* packets */
};

struct array_switch {
	uint64_t dirty; /* outputs to arbitrate at the end of the instant */
	uint64_t dead; /* ports without a working link */
	struct route_memory *own; /* written entries, or NULL */
	site_id id; /* 0: it has seen nothing yet, and is not set up */
	uint8_t turn; /* the port to try first among equals */
	bool is_waiting; /* an event is pending for source-routed packets */
	bool is_own_last; /* a packet of own_out was the last to get a link */
	uint64_t warned; /* ports that may be warned of */
	/*
	 * For choices: what each port offers to a channel, if it is known and
	 * the port has not changed since.  And a ring of short spans of time,
	 * from the last choice on: the ports to which credits return in each.
	 */
	uint64_t changed;
	uint64_t known[ARRAY_CHANNELS];
	uint64_t due[ARRAY_SPANS];
	uint64_t span; /* of the last choice */
	int32_t offer[ARRAY_CHANNELS][TOPO_MAX_PORTS];
	uint64_t impatient; /* source-routed packets, dropped because they
			     * waited too long */
	uint64_t stranded; /* packets without a way */
	struct packet_list own_out; /* packets that it sends itself, in order */
	struct array_port port[];
};

struct array_fifo {
	struct packet_list list;
	uint16_t count, room; /* packets */
};

/* A port of a node. */
struct array_end {
	_Alignas(64) struct link_sender sender;
	struct link_returns returns;
	struct link_returns *far; /* as above */
	uint64_t *far_due;
	struct link_retry *acks;
	struct array_fifo fifo[ARRAY_CLASSES];
	uint8_t filled; /* FIFOs with packets, a bit each */
	uint8_t turn; /* the FIFO to serve first */
	uint8_t leaving; /* the FIFO of the packet on the link */
	bool is_timed; /* an event is pending for when it has left */
	int32_t held[ARRAY_CHANNELS]; /* chunks not released */
	uint64_t packets[ARRAY_CHANNELS]; /* received */
};

struct array_node {
	uint64_t dirty; /* ports */
	struct net_client *client;
	site_id id;
	struct array_end end[];
};

/* Common to all switches, or to all nodes. */
struct array {
	struct router router;
	struct array_params how;
	struct packet *packets;
	const struct route *route;
	const struct link_rules *link;
	struct net_tally *tally;
	struct book *book;
	bool is_faulty; /* links have faults */
	bool has_rates; /* they differ, or may */
	bool is_stepped; /* the routing names channels */
	uint32_t n_ports;
	uint32_t row; /* packets of a row buffer */
	bool is_paired; /* two channels share one */
	bool stores; /* it may store packets as a whole */
	bool feeds; /* it feeds back how fast credits return */
	int32_t capacity; /* chunks of a channel */
	struct link_pool pool; /* shared of these */
	sim_time column; /* that fills a column buffer */
	uint8_t column_of[TOPO_MAX_PORTS];
};

/*
 * The code of a switch that every packet runs is built twice: the full build
 * has time budgets, faults, links of different rates and row buffers for pairs;
 * the plain one knows that there are none.
 */
#ifndef ARRAY_FULL
#define ARRAY_FULL 1
#endif

static inline struct book *array_book(const struct array *a)
{
	return ARRAY_FULL ? a->book : NULL;
}

static inline bool array_stores(const struct array *a)
{
	return ARRAY_FULL && a->stores;
}

static inline bool array_is_paired(const struct array *a)
{
	return ARRAY_FULL && a->is_paired;
}

static inline struct array *array_of(const struct router *r)
{
	return (struct array *)(uintptr_t)r;
}

static inline bool array_is_node(const struct router *r)
{
	return !r->sites.first;
}

static inline struct array *array_nodes(const struct net *n)
{
	return array_of(n->router[NET_NODES]);
}

static inline struct array *array_switches(const struct net *n)
{
	return array_of(n->router[NET_SWITCHES]);
}

static inline struct array_node *array_node(const struct array *a, site_id s)
{
	return router_site(&a->router, s);
}

static inline struct array_switch *array_switch(
	const struct array *a, site_id s)
{
	return router_site(&a->router, s);
}

/* array.c: sets a switch up that has not seen anything yet; before it has, its
 * bytes are 0, but for written entries.  Only faults set up all of them. */
void array_wire_switch(struct array *a, site_id id);

/* A port of a switch.  Compilers that know where it comes from compute its
 * address anew for every field. */
static inline struct array_port *array_port(struct array_switch *s, port_id p)
{
	struct array_port *x = &s->port[p];

	__asm__("" : "+r"(x));
	return x;
}

/* Credits return to a port at t. */
static inline void array_due(uint64_t *due, port_id p, sim_time t)
{
	due[t >> ARRAY_SPAN_LOG & (ARRAY_SPANS - 1)] |= (uint64_t)1 << p;
}

/* store.c: the first packet of a list in an input buffer crosses when it has
 * come as a whole, if its input is slower than its output, or its link had
 * errors. */
void array_store(struct array *a, struct sim_worker *w, struct array_switch *s,
	port_id in, uint32_t list, packet_id id, sim_time t);
/* The link has repeated an arriving packet, or not. */
void array_note(struct array_port *i, bool is_repeated);

/* feedback.c: a packet gets credits that it may have waited for; one arrives
 * for an output that may be slow; the other end of a link has told that it is.
 */
void array_got_credits(const struct array *a, struct array_port *o,
	uint32_t channel, const struct packet *p, sim_time t);
void array_feed_back(const struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, port_id out, uint32_t channel,
	sim_time t);
/* Ports that it warns of at t. */
port_mask array_warned(struct array_switch *s, sim_time t);
void array_be_warned(struct sim_worker *w, struct array_switch *s,
	const struct sim_event *e, sim_time t);

/* many.c: a multicast has arrived; one of its copies crosses. */
void array_spread(struct array *a, struct sim_worker *w, struct array_switch *s,
	port_id in, uint32_t came, packet_id id, sim_time t);
void array_copy(struct array *a, struct sim_worker *w, struct array_switch *s,
	port_id in, uint32_t list, sim_time t);

/* links.c: a link has died or returned; source-routed packets wait, and those
 * that have waited too long are dropped; a packet that is here, or has no way,
 * ends. */
void array_on_link(struct router *r, struct sim_worker *w, site_id s, port_id p,
	bool is_up, sim_time t);
void array_wait(struct array *a, struct sim_worker *w, struct array_switch *s,
	sim_time t);
void array_lose_patience(struct array *a, struct sim_worker *w,
	struct array_switch *s, sim_time t);
void array_end_here(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, uint32_t came, packet_id id,
	sim_time t);

/*
 * own.c: packets that the client of a switch sends.  They wait in order, and
 * the first one for its output, in turn with packets that pass.
 */
void array_own_inject(struct net *n, struct sim_worker *w, site_id site,
	uint32_t fifo, packet_id id, sim_time t);
bool array_own_has_room(const struct net *n, site_id site, uint32_t fifo);
void array_own_release(struct net *n, struct sim_worker *w, site_id site,
	uint32_t fifo, uint32_t chunks, sim_time t);
/* The first one leaves by an output whose link is free, if it can. */
bool array_own_leave(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id out, sim_time t);
/* Links have changed: they choose again; or source routes have waited. */
void array_own_again(struct array *a, struct sim_worker *w,
	struct array_switch *s, sim_time t);
/* Returns when the oldest one came, of those that stay; or SIM_NEVER. */
sim_time array_own_drop_old(struct array *a, struct sim_worker *w,
	struct array_switch *s, sim_time t);

/* look.c: see struct router_ops. */
int32_t array_held(
	const struct router *r, site_id s, port_id p, uint32_t channel);
int32_t array_tokens(
	const struct router *r, site_id s, port_id p, uint32_t channel);
int32_t array_room(
	struct router *r, site_id s, port_id p, uint32_t channel, sim_time t);
port_mask array_short_ports(const struct router *r, site_id s);
uint32_t array_n_buffers(const struct router *r, site_id s);
struct net_buffer array_buffer(const struct router *r, site_id s, uint32_t i);
uint32_t array_in_use(const struct router *r, site_id s, uint32_t *list);
uint32_t array_n_injecting(const struct router *r, site_id s);
void array_injecting(const struct router *r, site_id s, double *waiting);
uint32_t array_ways(const struct router *r, const struct net_buffer *b,
	const struct packet *p, struct net_way *way);
sim_time array_count(const struct router *r, site_id s, port_id p, sim_time now,
	struct net_count *c);
uint64_t array_came(const struct router *r, site_id s);

extern const struct router_ops array_ops;
/* Those of switches in the full build: see visit_full.c. */
extern const struct router_calls array_node_calls, array_switch_calls,
	array_full_calls;

#endif
