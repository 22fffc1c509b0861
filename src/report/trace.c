/*
 * The fields are those of perfetto.protos.Trace, of which few are needed.
 *
 * Slices of one track may not overlap.  So whatever happens in a place is on as
 * many lanes as are needed, which are tracks of one name that the viewer draws
 * as one.  Times are nanoseconds.
 */
#include "report/trace.h"

#include <string.h>

#include "base/mem.h"
#include "out/proto.h"
#include "record/read.h"

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
enum { OF_MACHINE = 1, OF_NODES, OF_SWITCHES, OF_LINKS };

/* A place where things happen, on lanes. */
struct place {
	uint64_t key;
	uint64_t track; /* its own, the lanes' parent */
	struct lane {
		uint64_t track;
		int64_t busy_until;
	} * lane;
	uint32_t n_lanes;
};

struct trace {
	struct db *db;
	FILE *file;
	struct proto all, packet, body, part;
	uint64_t next; /* uuid */
	struct place *place; /* open addressing; a power of two */
	size_t n_places, room;
	char **site; /* names */
	bool *is_node;
	size_t n_sites;
};

/* --- packets --- */

static void end_packet(struct trace *t)
{
	proto_int(&t->packet, PACKET_SEQUENCE, 1);
	proto_message(&t->all, TRACE_PACKET, &t->packet);
	fwrite(t->all.byte, 1, t->all.n, t->file);
	t->all.n = 0;
}

/* Another track, of a parent where that is not 0. */
static uint64_t add_track(struct trace *t, uint64_t parent, const char *name)
{
	uint64_t uuid = ++t->next;

	proto_int(&t->body, TRACK_UUID, uuid);
	proto_text(&t->body, TRACK_NAME, name);
	proto_int(&t->body, TRACK_PARENT, parent);
	proto_message(&t->packet, PACKET_TRACK, &t->body);
	end_packet(t);
	return uuid;
}

static uint64_t add_counter(
	struct trace *t, uint64_t parent, const char *name, const char *unit)
{
	uint64_t uuid = ++t->next;

	proto_int(&t->body, TRACK_UUID, uuid);
	proto_text(&t->body, TRACK_NAME, name);
	proto_int(&t->body, TRACK_PARENT, parent);
	proto_text(&t->part, COUNTER_UNIT, unit);
	proto_message(&t->body, TRACK_COUNTER, &t->part);
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

static uint64_t mix(uint64_t key)
{
	key *= UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 32;
}

static struct place *find(struct trace *t, uint64_t key)
{
	size_t i = mix(key) & (t->room - 1);

	while (t->place[i].key && t->place[i].key != key)
		i = (i + 1) & (t->room - 1);
	return &t->place[i];
}

static void make_room(struct trace *t)
{
	struct place *old = t->place;
	size_t n = t->room, i;

	if (2 * t->n_places < t->room)
		return;
	t->room = n ? 2 * n : 1024;
	t->place = mem_alloc(t->room, sizeof(*t->place));
	for (i = 0; i < n; i++)
		if (old[i].key)
			*find(t, old[i].key) = old[i];
	mem_free(old);
}

/* The place of a key, which is not 0, and its track. */
static struct place *place_of(
	struct trace *t, uint64_t key, uint64_t parent, const char *name)
{
	struct place *p;

	make_room(t);
	p = find(t, key);
	if (!p->key) {
		t->n_places++;
		p->key = key;
		p->track = add_track(t, parent, name);
	}
	return p;
}

/* A lane that is free from a time on, and now taken until another. */
static uint64_t take_lane(struct trace *t, struct place *p, const char *name,
	int64_t from, int64_t to)
{
	uint32_t i = 0;

	while (i < p->n_lanes && p->lane[i].busy_until > from)
		i++;
	if (i == p->n_lanes) {
		p->lane = mem_grow(p->lane, i + 1, sizeof(*p->lane));
		p->lane[p->n_lanes++].track = add_track(t, p->track, name);
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

static int read_sites(struct trace *t, struct err *e)
{
	struct db_query *q = db_prepare(
		t->db, "SELECT name, is_node FROM site ORDER BY id", e);
	int more = -1;

	while (q && (more = db_next(q, e)) > 0) {
		t->site = mem_grow(t->site, t->n_sites + 1, sizeof(*t->site));
		t->is_node = mem_grow(
			t->is_node, t->n_sites + 1, sizeof(*t->is_node));
		t->is_node[t->n_sites] = db_int(q, 1) != 0;
		t->site[t->n_sites++] = mem_text(db_text(q, 0));
	}
	db_finish(q);
	return more;
}

/* A column that names a site. */
static int site_in(const struct trace *t, const struct db_query *q, int i,
	size_t *site, struct err *e)
{
	int64_t n = db_int(q, i);

	if (n < 0 || (uint64_t)n >= t->n_sites)
		return err_set(e, "%s: its messages and sites do not fit",
			db_path(t->db));
	*site = (size_t)n;
	return 0;
}

static int check_times(
	const struct trace *t, int64_t from, int64_t to, struct err *e)
{
	if (from >= 0 && from <= to)
		return 0;
	return err_set(
		e, "%s: something ends before it begins", db_path(t->db));
}

/* A message's time at its sender, and the instant at its receiver. */
static int write_message(
	struct trace *t, const struct db_query *q, struct err *e)
{
	int64_t from = db_int(q, 4), to = db_int(q, 5);
	uint64_t flow = 1 + (uint64_t)db_int(q, 0), track;
	size_t node = 0, to_node = 0;
	char name[NAME_SIZE];

	if (site_in(t, q, 1, &node, e) || site_in(t, q, 3, &to_node, e) ||
		check_times(t, from, to, e))
		return -1;
	track = take_lane(
		t, part_of(t, node, "messages"), "messages", from, to);
	snprintf(name, sizeof(name), "%s %lld.%lld", db_text(q, 6),
		(long long)db_int(q, 1), (long long)db_int(q, 2));
	begin_event(t, from, TYPE_BEGIN, track);
	proto_text(&t->body, EVENT_NAME, name);
	note(t, "to", t->site[to_node]);
	proto_fixed(&t->body, EVENT_FLOW, flow);
	end_event(t);
	begin_event(t, to, TYPE_END, track);
	end_event(t);
	track = part_of(t, to_node, "received")->track;
	begin_event(t, to, TYPE_INSTANT, track);
	proto_text(&t->body, EVENT_NAME, name);
	note(t, "from", t->site[node]);
	proto_fixed(&t->body, EVENT_FLOW_END, flow);
	end_event(t);
	return 0;
}

static struct place *process_of(struct trace *t, size_t node, int64_t process)
{
	char part[NAME_SIZE];

	snprintf(part, sizeof(part), "process %lld", (long long)process);
	return part_of(t, node, part);
}

/* A call of a program; one that never came back has no end. */
static int write_call(struct trace *t, const struct db_query *q, struct err *e)
{
	int64_t from = db_int(q, 3);
	int64_t to = db_is_null(q, 4) ? INT64_MAX : db_int(q, 4);
	size_t node = 0;
	uint64_t track;

	if (site_in(t, q, 0, &node, e) || check_times(t, from, to, e))
		return -1;
	track = take_lane(
		t, process_of(t, node, db_int(q, 1)), "calls", from, to);
	begin_event(t, from, TYPE_BEGIN, track);
	proto_text(&t->body, EVENT_NAME, db_text(q, 2));
	end_event(t);
	if (to == INT64_MAX)
		return 0;
	begin_event(t, to, TYPE_END, track);
	end_event(t);
	return 0;
}

/* One end of a message between processes. */
static void write_end(struct trace *t, const struct place *p, int64_t at,
	const char *name, uint64_t flow, uint32_t field)
{
	begin_event(t, at, TYPE_INSTANT, p->track);
	proto_text(&t->body, EVENT_NAME, name);
	proto_fixed(&t->body, field, flow);
	end_event(t);
}

/* A flow leads from its sender to its receiver. */
static int write_transfer(
	struct trace *t, const struct db_query *q, struct err *e)
{
	uint64_t flow = UINT64_C(1) << 62 | (uint64_t)db_int(q, 0);
	int64_t sent = db_int(q, 7), received = db_int(q, 8);
	size_t from = 0, to = 0;
	char name[NAME_SIZE];

	if (site_in(t, q, 1, &from, e) || site_in(t, q, 3, &to, e) ||
		check_times(t, sent, db_is_null(q, 8) ? sent : received, e))
		return -1;
	snprintf(name, sizeof(name), "send to node %zu, tag %lld, %lld B", to,
		(long long)db_int(q, 5), (long long)db_int(q, 6));
	if (!db_is_null(q, 7))
		write_end(t, process_of(t, from, db_int(q, 2)), sent, name,
			flow, EVENT_FLOW);
	snprintf(name, sizeof(name), "received from node %zu, tag %lld, %lld B",
		from, (long long)db_int(q, 5), (long long)db_int(q, 6));
	if (!db_is_null(q, 8))
		write_end(t, process_of(t, to, db_int(q, 4)), received, name,
			flow, EVENT_FLOW_END);
	return 0;
}

/* A step of a slow message: in a part of a site, or on a link. */
static int write_hop(struct trace *t, const struct db_query *q, struct err *e)
{
	int64_t from = db_int(q, 1), to = db_int(q, 2);
	uint64_t flow = UINT64_C(1) << 32 | (uint64_t)db_int(q, 0), track;
	const char *link = db_text(q, 6), *number = db_text(q, 8);
	char part[NAME_SIZE];
	size_t site = 0;

	if (site_in(t, q, 4, &site, e) || check_times(t, from, to, e))
		return -1;
	snprintf(part, sizeof(part), "%s%s%s%s%s", db_text(q, 5),
		*number ? " " : "", number, *link ? " " : "", link);
	track = take_lane(t, part_of(t, site, part), part, from, to);
	begin_event(t, from, TYPE_BEGIN, track);
	proto_text(&t->body, EVENT_NAME, record_cause(db_text(q, 3)));
	note(t, "channel", db_text(q, 7));
	proto_fixed(&t->body, EVENT_FLOW, flow);
	end_event(t);
	begin_event(t, to, TYPE_END, track);
	end_event(t);
	return 0;
}

/* Rows of a query, one after the other. */
static int write_each(struct trace *t, const char *sql,
	int (*write)(struct trace *t, const struct db_query *q, struct err *e),
	struct err *e)
{
	struct db_query *q = db_prepare(t->db, sql, e);
	int more = -1;

	while (q && (more = db_next(q, e)) > 0)
		if (write(t, q, e)) {
			more = -1;
			break;
		}
	db_finish(q);
	return more;
}

/* --- counters --- */

struct counted_link {
	size_t id;
	uint64_t use, waiting; /* tracks */
};

static int add_link(struct trace *t, const struct db_query *q,
	struct counted_link *l, struct err *e)
{
	char name[NAME_SIZE];
	size_t site = 0;

	if (site_in(t, q, 1, &site, e))
		return -1;
	snprintf(name, sizeof(name), "%s %s", t->site[site], db_text(q, 2));
	l->id = (size_t)db_int(q, 0);
	l->use = add_counter(t, OF_LINKS, name, "% busy");
	snprintf(name, sizeof(name), "%s %s, waiting at its end", t->site[site],
		db_text(q, 2));
	l->waiting = add_counter(t, OF_LINKS, name, "packets");
	return 0;
}

static int find_links(
	struct trace *t, struct counted_link *l, size_t *n, struct err *e)
{
	struct db_query *q = db_prepare(t->db,
		"SELECT id, site, name FROM link ORDER BY use DESC, id LIMIT ?",
		e);
	int more = -1;

	if (q)
		db_bind_int(q, 1, MOST_LINKS);
	while (q && (more = db_next(q, e)) > 0)
		if (add_link(t, q, &l[(*n)++], e)) {
			more = -1;
			break;
		}
	db_finish(q);
	return more;
}

/* A number of a sample's list; lists are as long as they are. */
static double item(const uint8_t *list, size_t bytes, size_t i, double scale)
{
	return 2 * i + 1 < bytes ? (list[2 * i] | list[2 * i + 1] << 8) / scale
				 : 0;
}

static void count_links(struct trace *t, const struct db_query *q,
	const struct counted_link *l, size_t n)
{
	size_t n_use, n_waiting, i;
	const uint8_t *use = db_bytes(q, 5, &n_use);
	const uint8_t *waiting = db_bytes(q, 6, &n_waiting);
	int64_t from = db_int(q, 0);

	for (i = 0; i < n; i++) {
		count(t, from, l[i].use, item(use, n_use, l[i].id, 100));
		count(t, from, l[i].waiting,
			item(waiting, n_waiting, l[i].id, 16));
	}
}

static int write_samples(struct trace *t, struct err *e)
{
	struct counted_link l[MOST_LINKS];
	uint64_t injected = add_counter(t, OF_MACHINE, "injected", "per us");
	uint64_t delivered = add_counter(t, OF_MACHINE, "delivered", "per us");
	uint64_t latency = add_counter(t, OF_MACHINE, "mean latency", "ns");
	struct db_query *q = NULL;
	size_t n = 0;
	int more = find_links(t, l, &n, e);

	if (!more)
		q = db_prepare(t->db,
			"SELECT from_ps, to_ps, injected, delivered, "
			"latency_ps,"
			" use, waiting FROM sample ORDER BY n",
			e);
	while (q && (more = db_next(q, e)) > 0) {
		int64_t from = db_int(q, 0), to = db_int(q, 1);
		double us = ((double)to - (double)from) / 1e6;
		double out = db_real(q, 3);

		/* none takes no time */
		if (check_times(t, from, to > from ? to : -1, e)) {
			more = -1;
			break;
		}
		count(t, from, injected, db_real(q, 2) / us);
		count(t, from, delivered, out / us);
		if (out > 0)
			count(t, from, latency, db_real(q, 4) / out / 1000);
		count_links(t, q, l, n);
	}
	db_finish(q);
	return q ? more : -1;
}

/* --- all --- */

static void fini(struct trace *t)
{
	size_t i;

	for (i = 0; i < t->n_sites; i++)
		mem_free(t->site[i]);
	for (i = 0; i < t->room; i++)
		mem_free(t->place[i].lane);
	mem_free(t->site);
	mem_free(t->is_node);
	mem_free(t->place);
	proto_fini(&t->all);
	proto_fini(&t->packet);
	proto_fini(&t->body);
	proto_fini(&t->part);
}

int trace_write(struct db *d, FILE *f, struct err *e)
{
	struct trace t = { .db = d, .file = f, .next = OF_LINKS };
	int failed;

	add_group(&t, OF_MACHINE, "machine");
	add_group(&t, OF_NODES, "nodes");
	add_group(&t, OF_SWITCHES, "switches");
	add_group(&t, OF_LINKS, "the busiest links");
	failed =
		read_sites(&t, e) || write_samples(&t, e) ||
		write_each(&t,
			"SELECT id, node, number, to_node, start_ps, end_ps,"
			" class FROM message ORDER BY start_ps, id",
			write_message, e) ||
		write_each(&t,
			"SELECT message, from_ps, to_ps, cause, hop.site, what,"
			" link.name, hop.channel, hop.number FROM hop LEFT JOIN"
			" link ON link.id = hop.link"
			" ORDER BY from_ps, message, n",
			write_hop, e) ||
		write_each(&t,
			"SELECT node, process, name, from_ps, to_ps FROM call"
			" ORDER BY from_ps, id",
			write_call, e) ||
		write_each(&t, "SELECT * FROM transfer ORDER BY id",
			write_transfer, e);
	fini(&t);
	return failed ? -1 : 0;
}
