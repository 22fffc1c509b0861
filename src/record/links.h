/*
 * Links in a run file: their traffic between two samples and over the whole
 * run, the lengths of queues, and the links that packets at the head of a
 * buffer wait for.  Call these functions only between windows, when no site
 * runs.
 */
#ifndef RECORD_LINKS_H
#define RECORD_LINKS_H

#include "net/use.h"
#include "record/tables.h"

/* Loads of links, or of one channel of theirs, between two samples: [link]. */
struct record_loads {
	uint16_t *use, *waiting;
	uint16_t *tokens; /* NULL without a book */
	uint16_t *retries; /* failed copies; NULL: links do not retry */
};

/* A channel of all links that lead to routers of one kind. */
struct record_channel {
	const char *name;
	uint32_t kind, number;
	bool is_used; /* in the sample */
	struct record_past {
		uint64_t sent, came, resent;
		sim_time stayed, token_wait;
	} * past; /* until the last sample: [link] */
	struct record_loads now;
};

struct record_part {
	void *at;
	size_t bytes;
};

struct record_links {
	const struct net *net;
	struct net_links links;
	uint32_t *at; /* [site * n_ports + port]: index of the link */
	char **name; /* names of links, each once */
	uint32_t n_names;
	uint32_t *name_of; /* [link] */
	double *ps_per_byte; /* [class of wires] */
	struct record_link_past {
		struct net_carried carried;
		sim_time free_at;
		uint64_t resent;
		/* sum of packets that wait for it, over the samples that looked
		 * for them; with many buffers, not every sample does */
		double wanted;
	} * past; /* until the last sample: [link] */
	/* Most packets in all channels together, then in each channel. */
	uint32_t *longest; /* [link * (1 + NET_MOST_CHANNELS)] */
	struct record_loads now; /* of one sample */
	struct net_count count[NET_MOST_CHANNELS]; /* 0 between two ports */
	struct record_channel channel[NET_KINDS * NET_MOST_CHANNELS];
	uint32_t n_channels;
	uint32_t n_of_nodes; /* the first ones, of links to nodes */
	uint64_t *wants; /* [n_names][n_names + 1], of one look: see one() */
	double *wanted; /* [link] of one sample */
	uint16_t *wanted_now;
	uint64_t n_wanted, wanted_every;
	uint32_t *used; /* buffers of a site that hold packets */
	struct record_part *mine; /* all of these arrays */
	size_t n_mine;
};

void record_links_init(struct record_links *k, const struct net *n);
void record_links_fini(struct record_links *k);

/* The link that leaves a site by a port. */
uint32_t record_link_at(const struct record_links *k, site_id s, port_id p);

/* Takes a sample between two times; returns the number of packet-hops. */
uint64_t record_links_sample(
	struct record_links *k, sim_time from, sim_time now);
/* Packets that wait for each link at the n-th sample; NULL if this sample does
 * not look.  A packet waits for a link if it is to be injected into it, or if
 * the head of its buffer may take it. */
uint16_t *record_links_wanted(struct record_links *k, int64_t n);
/* A list as a column's value, of all processes; NULL stays NULL. */
struct row_list record_list(const struct record_links *k, uint16_t *list);
/* The name of the only channel that carried data in a sample; "" if none did,
 * NULL if several did. */
const char *record_links_only(const struct record_links *k);
/* Writes the load of each channel in the n-th sample, if there are several. */
int record_channels_write(
	struct record_links *k, struct db *d, int64_t n, struct err *e);
/* Writes the links that packets wait for at the n-th sample. */
int record_links_look(
	struct record_links *k, struct db *d, int64_t n, struct err *e);
/* Writes the total traffic of links at the end of a run, when the last sample
 * was taken. */
void record_links_write(
	struct record_links *k, struct db *d, sim_time end, struct err *e);

#endif
