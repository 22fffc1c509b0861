/*
 * What a run file says of links: what they carried between two samples and
 * over the whole run, how long queues became, and what the packets that are
 * first in their buffers wait for.  Only while nothing runs.
 */
#ifndef RECORD_LINKS_H
#define RECORD_LINKS_H

#include "net/use.h"
#include "record/tables.h"

/* Of links between two samples, or of one of their channels: [link]. */
struct record_loads {
	uint16_t *use, *waiting;
	uint16_t *tokens; /* NULL without a book */
	uint16_t *retries; /* copies sent in vain; NULL: links do not retry */
};

/* A channel of the links that lead to routers of some kind. */
struct record_channel {
	const char *name;
	uint32_t kind, number;
	bool is_used; /* in the sample */
	struct record_past {
		uint64_t sent, resent;
		sim_time stayed, token_wait;
	} * past; /* until the last sample: [link] */
	struct record_loads now;
};

struct record_links {
	const struct net *net;
	struct net_links links;
	uint32_t *at; /* [site * n_ports + port] in the list */
	char **name; /* that links have, each once */
	uint32_t n_names;
	uint32_t *name_of; /* [link] */
	double *ps_per_byte; /* [class of wires] */
	struct record_link_past {
		struct net_carried carried;
		uint64_t resent;
		/* packets that wait for it, of all samples that were looked at:
		 * of many buffers not all are */
		double wanted;
	} * past; /* until the last sample: [link] */
	/* Of all channels together, then of each: of both, packets. */
	uint32_t *longest; /* [link * (1 + NET_MOST_CHANNELS)] */
	struct record_loads now; /* of one sample */
	struct record_channel channel[NET_KINDS * NET_MOST_CHANNELS];
	uint32_t n_channels;
	double *wants; /* [n_names][n_names + 1], of one look */
	double *wanted; /* [link] of one sample */
	uint16_t *wanted_now;
	uint64_t n_wanted, wanted_every;
	void **mine; /* all of these arrays */
	size_t n_mine;
};

void record_links_init(struct record_links *k, const struct net *n);
void record_links_fini(struct record_links *k);

/* The link that leaves a site by a port. */
uint32_t record_link_at(const struct record_links *k, site_id s, port_id p);

/* Between two times; returns the packets that came over links. */
uint64_t record_links_sample(
	struct record_links *k, sim_time from, sim_time now);
/* Packets that wait for each link, as the n-th sample is; NULL: that one is not
 * looked at.  A packet waits in a buffer whose first one may take the link, or
 * to be injected. */
const uint16_t *record_links_wanted(struct record_links *k, int64_t n);
/* As a column has it; NULL where there is none. */
struct row_list record_list(const struct record_links *k, const uint16_t *list);
/* The name of the channel that all of a sample was sent on, "" where nothing
 * was, NULL where there were several. */
const char *record_links_only(const struct record_links *k);
/* Writes what channels carried in the n-th sample, where several did. */
int record_channels_write(
	struct record_links *k, struct db *d, int64_t n, struct err *e);
/* Writes what packets wait for: as the n-th sample is. */
int record_links_look(
	struct record_links *k, struct db *d, int64_t n, struct err *e);
/* Writes all that links have carried until the end of a run. */
void record_links_write(
	struct record_links *k, struct db *d, sim_time end, struct err *e);

#endif
