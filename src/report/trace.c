/*
 * The fields are those of perfetto.protos.Trace, of which few are needed.
 *
 * Slices of one track may not overlap.  So whatever happens in a place is on as
 * many lanes as are needed, which are tracks of one name that the viewer draws
 * as one.  Times are nanoseconds.
 */
#include "report/trace.h"

#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "out/proto.h"
#include "record/read.h"
#include "record/tables.h"

enum {
	TRACE_PACKET = 1,

	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	COUNTER_UNIT = 6,

	EVENT_NOTE = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_REAL = 44,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48,
	NOTE_TEXT = 6,
	NOTE_NAME = 10,

	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,

	FRESH = 1, /* nothing before the first packet is needed */
	MOST_LINKS = 200, /* with counters: the busiest */
	NAME_SIZE = 160,
};

/* Groups of tracks, which the viewer calls processes. */
enum { OF_MACHINE = 1, OF_NODES, OF_SWITCHES, OF_LINKS, OF_RANKS };

/* A place where things happen, on lanes. */
struct place {
	uint64_t track; /* its own, the lanes' parent */
	struct lane {
		uint64_t track;
		int64_t busy_until;
	} * lane;
	uint32_t n_lanes;
};

struct trace {
	struct db *db;
	struct err *e; /* once it is set, nothing more is read */
	FILE *file;
	struct proto all, packet, body, part;
	uint64_t next; /* uuid */
	struct place *place; /* the first has the number 1 */
	size_t n_places;
	struct index places;
	char **site; /* names */
	bool *is_node;
	size_t n_sites;
	char **link;
	size_t n_links;
	bool has_ranks; /* their group is there */
};

/* --- packets --- */

static void end_packet(struct trace *t)
{
	proto_int(&t->packet, PACKET_SEQUENCE, 1);
	proto_message(&t->all, TRACE_PACKET, &t->packet);
	fwrite(t->all.byte, 1, t->all.n, t->file);
	t->all.n = 0;
}

/* Another track of a parent; one with a unit is a counter. */
static uint64_t add_track(
	struct trace *t, uint64_t parent, const char *name, const char *unit)
{
	uint64_t uuid = ++t->next;

	proto_int(&t->body, TRACK_UUID, uuid);
	proto_text(&t->body, TRACK_NAME, name);
	proto_int(&t->body, TRACK_PARENT, parent);
	if (unit) {
		proto_text(&t->part, COUNTER_UNIT, unit);
		proto_message(&t->body, TRACK_COUNTER, &t->part);
	}
	proto_message(&t->packet, PACKET_TRACK, &t->body);
	end_packet(t);
	return uuid;
}

/* A group's track has its number. */
static void add_group(struct trace *t, uint64_t group, const char *name)
{
	proto_int(&t->body, TRACK_UUID, group);
	proto_int(&t->part, PROCESS_PID, group);
	proto_text(&t->part, PROCESS_NAME, name);
	proto_message(&t->body, TRACK_PROCESS, &t->part);
	proto_message(&t->packet, PACKET_TRACK, &t->body);
	if (group == OF_MACHINE)
		proto_int(&t->packet, PACKET_FLAGS, FRESH);
	end_packet(t);
}

static void begin_event(
	struct trace *t, int64_t ps, uint32_t type, uint64_t track)
{
	proto_int(&t->packet, PACKET_TIMESTAMP, (uint64_t)ps / 1000);
	proto_int(&t->body, EVENT_TYPE, type);
	proto_int(&t->body, EVENT_TRACK, track);
}

static void end_event(struct trace *t)
{
	proto_message(&t->packet, PACKET_EVENT, &t->body);
	end_packet(t);
}

static void note(struct trace *t, const char *name, const char *text)
{
	proto_text(&t->part, NOTE_NAME, name);
	proto_text(&t->part, NOTE_TEXT, text);
	proto_message(&t->body, EVENT_NOTE, &t->part);
}

static void count(struct trace *t, int64_t ps, uint64_t track, double value)
{
	begin_event(t, ps, TYPE_COUNTER, track);
	proto_real(&t->body, EVENT_REAL, value);
	end_event(t);
}

/* --- places --- */

/* The place of a key, and its track; until the next one is made. */
static struct place *place_of(
	struct trace *t, uint64_t key, uint64_t parent, const char *name)
{
	size_t i = index_find(&t->places, key);

	if (i)
		return &t->place[i - 1];
	t->place = mem_more(t->place, t->n_places, sizeof(*t->place));
	t->place[t->n_places] = (struct place){
		.track = add_track(t, parent, name, NULL),
	};
	index_add(&t->places, key, (uint32_t)++t->n_places);
	return &t->place[t->n_places - 1];
}

/* A lane that is free from a time on, and now taken until another. */
static uint64_t take_lane(struct trace *t, struct place *p, const char *name,
	int64_t from, int64_t to)
{
	uint32_t i = 0;

	while (i < p->n_lanes && p->lane[i].busy_until > from)
		i++;
	if (i == p->n_lanes) {
		p->lane = mem_more(p->lane, i, sizeof(*p->lane));
		p->lane[p->n_lanes++].track =
			add_track(t, p->track, name, NULL);
	}
	p->lane[i].busy_until = to;
	return p->lane[i].track;
}

/* Keys: a site's own, and those of its parts by their names. */
static uint64_t site_key(size_t site)
{
	return 1 + (uint64_t)site;
}

static uint64_t part_key(size_t site, const char *part)
{
	uint64_t h = site_key(site) << 32;

	for (; *part; part++)
		h = (h ^ (uint8_t)*part) * UINT64_C(0x100000001b3);
	return h | UINT64_C(1) << 63;
}

static uint64_t track_of_site(struct trace *t, size_t site)
{
	return place_of(t, site_key(site),
		t->is_node[site] ? OF_NODES : OF_SWITCHES, t->site[site])
		->track;
}

static struct place *part_of(struct trace *t, size_t site, const char *part)
{
	uint64_t parent = track_of_site(t, site);

	return place_of(t, part_key(site, part), parent, part);
}

/* --- what a run file has --- */

/* Rows of a table, one after the other. */
static void write_each(struct trace *t, enum table_number table,
	const char *order, void (*write)(struct trace *t, const void *row))
{
	struct db_query *q = row_select(t->db, table, order, t->e);
	union row row;

	while (row_next(q, table, &row))
		write(t, &row);
	db_finish(q);
}

static void add_site(struct trace *t, const void *row)
{
	const struct row_site *s = row;

	t->site = mem_more(t->site, t->n_sites, sizeof(*t->site));
	t->is_node = mem_more(t->is_node, t->n_sites, sizeof(*t->is_node));
	t->is_node[t->n_sites] = s->is_node != 0;
	t->site[t->n_sites++] = mem_text(s->name);
}

static void add_link(struct trace *t, const void *row)
{
	const struct row_link *l = row;

	t->link = mem_more(t->link, t->n_links, sizeof(*t->link));
	t->link[t->n_links++] = mem_text(l->name);
}

static bool is_site(const struct trace *t, int64_t site)
{
	if (site >= 0 && (uint64_t)site < t->n_sites)
		return true;
	err_set(t->e,
		"%s: the file is damaged: a message names a site that does not "
		"exist",
		db_path(t->db));
	return false;
}

static bool are_times(const struct trace *t, int64_t from, int64_t to)
{
	if (from >= 0 && from <= to)
		return true;
	err_set(t->e,
		"%s: the file is damaged: a message, hop, call or sample ends "
		"before it begins",
		db_path(t->db));
	return false;
}

/* A slice has a name, and what is noted of it; then its end. */
static uint64_t begin_slice(struct trace *t, struct place *p, const char *lanes,
	int64_t from, int64_t to, const char *name)
{
	uint64_t track = take_lane(t, p, lanes, from, to);

	begin_event(t, from, TYPE_BEGIN, track);
	proto_text(&t->body, EVENT_NAME, name);
	return track;
}

static void end_slice(struct trace *t, int64_t to, uint64_t track)
{
	end_event(t);
	begin_event(t, to, TYPE_END, track);
	end_event(t);
}

/* An end of a flow: EVENT_FLOW or EVENT_FLOW_END. */
static void write_instant(struct trace *t, const struct place *p, int64_t at,
	const char *name, const char *from, uint32_t end, uint64_t flow)
{
	begin_event(t, at, TYPE_INSTANT, p->track);
	proto_text(&t->body, EVENT_NAME, name);
	if (from)
		note(t, "from", from);
	proto_fixed(&t->body, end, flow);
	end_event(t);
}

/* A message's time at its sender, and the instant at its receiver. */
static void write_message(struct trace *t, const void *row)
{
	const struct row_message *m = row;
	uint64_t flow = 1 + (uint64_t)m->id, track;
	char name[NAME_SIZE];

	if (!is_site(t, m->node) || !is_site(t, m->to_node) ||
		!are_times(t, m->start_ps, m->end_ps))
		return;
	snprintf(name, sizeof(name), "%s %lld.%lld", m->class,
		(long long)m->node, (long long)m->number);
	track = begin_slice(t, part_of(t, (size_t)m->node, "messages"),
		"messages", m->start_ps, m->end_ps, name);
	note(t, "to", t->site[m->to_node]);
	proto_fixed(&t->body, EVENT_FLOW, flow);
	end_slice(t, m->end_ps, track);
	write_instant(t, part_of(t, (size_t)m->to_node, "received"), m->end_ps,
		name, t->site[m->node], EVENT_FLOW_END, flow);
}

/* A rank has a track of its own. */
static struct place *rank_of(
	struct trace *t, int64_t node, int64_t process, int64_t rank)
{
	uint64_t key = UINT64_C(1) << 62 | (uint64_t)node << 16 |
		       (uint64_t)(process & UINT16_MAX);
	char name[NAME_SIZE];

	if (!t->has_ranks)
		add_group(t, OF_RANKS, "ranks");
	t->has_ranks = true;
	snprintf(name, sizeof(name), "rank %lld, %s", (long long)rank,
		t->site[node]);
	return place_of(t, key, OF_RANKS, name);
}

static struct place *process_of(
	struct trace *t, int64_t node, int64_t process, int64_t rank)
{
	char part[NAME_SIZE];

	if (rank != ROW_NULL)
		return rank_of(t, node, process, rank);

	snprintf(part, sizeof(part), "process %lld", (long long)process);
	return part_of(t, (size_t)node, part);
}

static void note_number(struct trace *t, const char *name, int64_t value)
{
	char text[24];

	if (value == ROW_NULL)
		return;
	snprintf(text, sizeof(text), "%lld", (long long)value);
	note(t, name, text);
}

/* "rank 3" or "node 7" */
static void name_end(char text[32], int64_t node, int64_t rank)
{
	snprintf(text, 32, "%s %lld", rank == ROW_NULL ? "node" : "rank",
		(long long)(rank == ROW_NULL ? node : rank));
}

/* A call that never came back has no end. */
static void write_call(struct trace *t, const void *row)
{
	const struct row_call *c = row;
	int64_t to = c->to_ps == ROW_NULL ? INT64_MAX : c->to_ps;
	uint64_t track;

	if (!is_site(t, c->node) || !are_times(t, c->from_ps, to))
		return;
	track = begin_slice(t, process_of(t, c->node, c->process, c->rank),
		"calls", c->from_ps, to, c->name);
	note_number(t, "peer", c->peer);
	note_number(t, "tag", c->tag);
	note_number(t, "bytes", c->bytes);
	if (to == INT64_MAX)
		end_event(t);
	else
		end_slice(t, to, track);
}

/* A flow leads from its sender to its receiver. */
static void write_transfer(struct trace *t, const void *row)
{
	const struct row_transfer *x = row;
	uint64_t flow = UINT64_C(1) << 62 | (uint64_t)x->id;
	int64_t sent = x->sent_ps == ROW_NULL ? 0 : x->sent_ps;
	bool has_come = x->received_ps != ROW_NULL;
	char name[NAME_SIZE], from[32], to[32];

	name_end(from, x->from_node, x->from_rank);
	name_end(to, x->to_node, x->to_rank);
	if (!is_site(t, x->from_node) || !is_site(t, x->to_node) ||
		!are_times(t, sent, has_come ? x->received_ps : sent))
		return;
	snprintf(name, sizeof(name), "send to %s, tag %lld, %lld B", to,
		(long long)x->tag, (long long)x->bytes);
	if (x->sent_ps != ROW_NULL)
		write_instant(t,
			process_of(
				t, x->from_node, x->from_process, x->from_rank),
			sent, name, NULL, EVENT_FLOW, flow);
	snprintf(name, sizeof(name), "received from %s, tag %lld, %lld B", from,
		(long long)x->tag, (long long)x->bytes);
	if (has_come)
		write_instant(t,
			process_of(t, x->to_node, x->to_process, x->to_rank),
			x->received_ps, name, NULL, EVENT_FLOW_END, flow);
}

/* A step of a slow message: in a part of a site, or on a link. */
static void write_hop(struct trace *t, const void *row)
{
	const struct row_hop *h = row;
	uint64_t flow = UINT64_C(1) << 32 | (uint64_t)h->message, track;
	bool has_link = h->link >= 0 && (uint64_t)h->link < t->n_links;
	const char *link = has_link ? t->link[h->link] : "";
	char part[NAME_SIZE], number[24] = "";

	if (!is_site(t, h->site) || !are_times(t, h->from_ps, h->to_ps))
		return;
	if (h->number != ROW_NULL)
		snprintf(number, sizeof(number), " %lld", (long long)h->number);
	snprintf(part, sizeof(part), "%s%s%s%s", h->what, number,
		*link ? " " : "", link);
	track = begin_slice(t, part_of(t, (size_t)h->site, part), part,
		h->from_ps, h->to_ps, record_cause(h->cause));
	note(t, "channel", h->channel);
	proto_fixed(&t->body, EVENT_FLOW, flow);
	end_slice(t, h->to_ps, track);
}

/* --- counters --- */

struct counted_link {
	size_t id;
	uint64_t use, waiting; /* tracks */
};

static size_t find_busiest(struct trace *t, struct counted_link *l)
{
	struct db_query *q = row_select(
		t->db, TABLE_link, "ORDER BY use DESC, id LIMIT ?", t->e);
	char name[NAME_SIZE];
	struct row_link row;
	size_t n = 0;

	db_bind_int(q, 1, MOST_LINKS);
	for (; row_next_link(q, &row) && is_site(t, row.site); n++) {
		snprintf(name, sizeof(name), "%s %s", t->site[row.site],
			row.name);
		l[n].id = (size_t)row.id;
		l[n].use = add_track(t, OF_LINKS, name, "% busy");
		snprintf(name, sizeof(name), "%s %s, waiting at its end",
			t->site[row.site], row.name);
		l[n].waiting = add_track(t, OF_LINKS, name, "packets");
	}
	db_finish(q);
	return n;
}

static void count_links(struct trace *t, const struct row_sample *s,
	const struct counted_link *l, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		count(t, s->from_ps, l[i].use,
			100.0 * row_item(&s->use, l[i].id) / RECORD_USE_SCALE);
		count(t, s->from_ps, l[i].waiting,
			(double)row_item(&s->waiting, l[i].id) /
				RECORD_WAITING_SCALE);
	}
}

static void write_samples(struct trace *t)
{
	struct counted_link l[MOST_LINKS];
	uint64_t injected = add_track(t, OF_MACHINE, "injected", "per us");
	uint64_t delivered = add_track(t, OF_MACHINE, "delivered", "per us");
	uint64_t latency = add_track(t, OF_MACHINE, "mean latency", "ns");
	size_t n = find_busiest(t, l);
	struct db_query *q =
		row_select(t->db, TABLE_sample, "ORDER BY n", t->e);
	struct row_sample s;

	while (row_next_sample(q, &s)) {
		double us = ((double)s.to_ps - (double)s.from_ps) / 1e6;
		double out = (double)s.delivered;
		/* older files have latencies of all packets */
		double timed = s.timed == ROW_NULL ? out : (double)s.timed;

		/* none takes no time */
		if (!are_times(
			    t, s.from_ps, s.to_ps > s.from_ps ? s.to_ps : -1))
			break;
		count(t, s.from_ps, injected, (double)s.injected / us);
		count(t, s.from_ps, delivered, out / us);
		if (timed > 0)
			count(t, s.from_ps, latency,
				(double)s.latency_ps / timed / 1000);
		count_links(t, &s, l, n);
	}
	db_finish(q);
}

/* --- all --- */

static void fini(struct trace *t)
{
	for (size_t i = 0; i < t->n_sites; i++)
		mem_free(t->site[i]);
	for (size_t i = 0; i < t->n_links; i++)
		mem_free(t->link[i]);
	for (size_t i = 0; i < t->n_places; i++)
		mem_free(t->place[i].lane);
	mem_free(t->site);
	mem_free(t->link);
	mem_free(t->is_node);
	mem_free(t->place);
	index_fini(&t->places);
	proto_fini(&t->all);
	proto_fini(&t->packet);
	proto_fini(&t->body);
	proto_fini(&t->part);
}

int trace_write(struct db *d, FILE *f, struct err *e)
{
	struct trace t = { .db = d, .e = e, .file = f, .next = OF_RANKS };

	add_group(&t, OF_MACHINE, "machine");
	add_group(&t, OF_NODES, "nodes");
	add_group(&t, OF_SWITCHES, "switches");
	add_group(&t, OF_LINKS, "the busiest links");
	write_each(&t, TABLE_site, "ORDER BY id", add_site);
	write_each(&t, TABLE_link, "ORDER BY id", add_link);
	write_samples(&t);
	write_each(&t, TABLE_message, "ORDER BY start_ps, id", write_message);
	write_each(&t, TABLE_hop, "ORDER BY from_ps, message, n", write_hop);
	write_each(&t, TABLE_call, "ORDER BY from_ps, id", write_call);
	write_each(&t, TABLE_transfer, "ORDER BY id", write_transfer);
	fini(&t);
	return e->code ? -1 : 0;
}
