/* What a page shows of a run: a query for each part of its data. */
#include "record/read.h"
#include "report/pack.h"
#include "report/report.h"

enum { MOST_COLUMNS = 16, SLOWEST = 20 };

/* An object of a query's first column to its second. */
static void write_pairs(struct db_query *q, struct json *j, const char *key)
{
	json_object(j, key);
	while (db_next(q))
		db_json(j, db_text(q, 0), q, 1);
	json_end(j, '}');
}

/* The same of causes and their times. */
static void write_causes(struct db_query *q, struct json *j, const char *key)
{
	json_object(j, key);
	while (db_next(q))
		json_real(j, record_cause(db_text(q, 0)), db_real(q, 1));
	json_end(j, '}');
}

/* An array of a query's one column. */
static void write_texts(struct db_query *q, struct json *j, const char *key)
{
	json_array(j, key);
	while (db_next(q))
		json_text(j, NULL, db_text(q, 0));
	json_end(j, ']');
}

/* An object of columns of numbers, by their names. */
static void write_columns(struct db_query *q, struct json *j, const char *key)
{
	struct pack column[MOST_COLUMNS] = { { 0 } };
	int n = db_n_columns(q), i;

	while (db_next(q))
		for (i = 0; i < n; i++)
			pack_add(&column[i], db_real(q, i));
	json_object(j, key);
	for (i = 0; i < n; i++)
		pack_write(&column[i], j, db_column(q, i));
	json_end(j, '}');
}

/* An array of rows, which are arrays of a query's columns. */
static void write_rows(struct db_query *q, struct json *j, const char *key)
{
	json_array(j, key);
	while (db_next(q)) {
		json_array(j, NULL);
		for (int i = 0; i < db_n_columns(q); i++)
			db_json(j, NULL, q, i);
		json_end(j, ']');
	}
	json_end(j, ']');
}

/* A row's columns, in an object that is open. */
static void write_members(struct db_query *q, struct json *j)
{
	for (int i = 0; i < db_n_columns(q); i++)
		db_json(j, db_column(q, i), q, i);
}

static void write_objects(struct db_query *q, struct json *j, const char *key)
{
	json_array(j, key);
	while (db_next(q)) {
		json_object(j, NULL);
		write_members(q, j);
		json_end(j, '}');
	}
	json_end(j, ']');
}

/* Processes and calls that a page has room for. */
#define ROWS                                                                   \
	"r AS (SELECT node, process, row_number() OVER (ORDER BY node,"        \
	" process) - 1 n FROM call GROUP BY node, process ORDER BY node,"      \
	" process LIMIT 64), s AS (SELECT c.id, c.name, c.from_ps, c.to_ps,"   \
	" r.n row FROM call c JOIN r USING(node, process) ORDER BY c.from_ps," \
	" c.id LIMIT 20000)"

#define MOST_RANKS "1024"

static const struct page_part {
	const char *key;
	void (*write)(struct db_query *q, struct json *j, const char *key);
	const char *sql;
} parts[] = {
	{ "meta", write_pairs,
		"SELECT key, value FROM meta WHERE key <> 'machine_file'"
		" AND key <> 'faults_file'" },
	{ "figures", write_pairs, "SELECT name, value FROM figure" },
	{ "counters", write_pairs,
		"SELECT name, value FROM counter WHERE value <> 0" },
	{ "latency", write_columns,
		"SELECT from_ps \"from\", to_ps \"to\", count FROM latency"
		" ORDER BY from_ps" },
	{ "course", write_columns,
		"SELECT from_ps \"from\", to_ps \"to\", injected, delivered,"
		" hops, latency_ps latency, ifnull(timed, delivered) timed"
		" FROM sample ORDER BY n" },
	{ "causes", write_causes, "SELECT name, ps FROM cause WHERE ps > 0" },
	/* The quick half, the slowest hundredth, and the rest. */
	{ "classes", write_objects,
		"WITH r AS (SELECT id, end_ps - start_ps took, percent_rank()"
		" OVER (ORDER BY end_ps - start_ps) at FROM message"
		" WHERE is_sampled),"
		" c AS (SELECT id, (at > 0.5) + (at > 0.99) class FROM r),"
		" n AS (SELECT class, count(*) n FROM c GROUP BY class)"
		" SELECT class, cause, sum(ps) * 1.0 / n ps, n FROM spent"
		" JOIN c ON c.id = message JOIN n USING(class)"
		" GROUP BY class, cause ORDER BY class, min(spent.rowid)" },
	{ "kinds", write_rows,
		"SELECT class, messages, cause, ps FROM budget" },
	{ "blocked", write_rows,
		"SELECT came_by, wants, sum(packets) / (SELECT count("
		"DISTINCT sample) FROM blocked) FROM blocked"
		" GROUP BY came_by, wants" },
	/* What programs called, and when; -1: it never came back. */
	{ "call_rows", write_rows,
		"SELECT node, process, ifnull(max(rank), max(CASE WHEN name"
		" LIKE 'replaying a schedule as rank %' THEN substr(name, 30)"
		" END)) FROM call GROUP BY node, process"
		" ORDER BY node, process LIMIT 64" },
	{ "call_names", write_texts,
		"WITH " ROWS " SELECT DISTINCT name FROM s ORDER BY name" },
	{ "calls", write_columns,
		"WITH " ROWS
		", k AS (SELECT name, row_number() OVER (ORDER BY name)"
		" - 1 n FROM (SELECT DISTINCT name FROM s))"
		" SELECT from_ps \"from\", ifnull(to_ps, -1) \"to\","
		" row, k.n name FROM s JOIN k USING(name)"
		" ORDER BY from_ps, id" },
	/* Ranks of MPI programs; pairs are numbers of such rows. */
	{ "rank_names", write_texts,
		"SELECT ifnull(job || ', ', '') || 'rank ' || rank FROM rank"
		" ORDER BY id LIMIT " MOST_RANKS },
	{ "ranks", write_columns,
		"SELECT rank, node, to_ps - from_ps time, computing_ps"
		" computing, own_ps own, calls_ps calls, tests_ps tests,"
		" messages_ps messages, collectives_ps collectives FROM rank"
		" ORDER BY id LIMIT " MOST_RANKS },
	{ "pairs", write_columns,
		"WITH r AS (SELECT job, rank, row_number() OVER (ORDER BY id)"
		" - 1 n FROM rank ORDER BY id LIMIT " MOST_RANKS ")"
		" SELECT a.n \"from\", b.n \"to\", p.messages, p.bytes,"
		" p.waited_ps waited FROM pair p JOIN r a ON a.rank = p.rank"
		" AND a.job IS p.job JOIN r b ON b.rank = p.peer AND b.job IS"
		" p.job ORDER BY a.n, b.n" },
	{ "called", write_rows,
		"SELECT name, sum(calls), sum(ps) FROM called GROUP BY name"
		" ORDER BY sum(ps) DESC, sum(calls) DESC, name LIMIT 16" },
	{ "exposed", write_objects,
		"SELECT job, operation, algorithm, members, bytes, mean_ps"
		" mean, max_ps max FROM exposed" },
	{ "sites", write_texts, "SELECT name FROM site ORDER BY id" },
	{ "place", write_columns,
		"SELECT is_node, ifnull(x0, -1) x0, ifnull(x1, -1) x1,"
		" ifnull(x2, -1) x2, ifnull(x3, -1) x3, ifnull(x4, -1) x4,"
		" ifnull(x5, -1) x5 FROM site ORDER BY id" },
	{ "port_names", write_texts,
		"SELECT DISTINCT name FROM link ORDER BY name" },
	{ "wire_names", write_texts,
		"SELECT wire FROM link GROUP BY wire ORDER BY min(id)" },
	{ "links", write_columns,
		"SELECT l.site, to_site, w.n wire, p.n port, use,"
		" waiting, bytes, packets, rate_Bps rate, longest,"
		" ifnull(token_wait_ps, -1) token_wait, retries,"
		" ifnull(wanted, 0) wanted FROM link l"
		" JOIN (SELECT name, row_number() OVER (ORDER BY name)"
		" - 1 n FROM (SELECT DISTINCT name FROM link)) p"
		" ON p.name = l.name JOIN (SELECT wire, row_number()"
		" OVER (ORDER BY min(id)) - 1 n FROM link GROUP BY wire)"
		" w ON w.wire = l.wire ORDER BY l.id" },
	{ "channel_names", write_texts,
		"SELECT DISTINCT name FROM channel ORDER BY name" },
	{ "channels", write_columns,
		"SELECT link, c.n channel, use, waiting, longest, retries"
		" FROM channel"
		" JOIN (SELECT name, row_number() OVER (ORDER BY name)"
		" - 1 n FROM (SELECT DISTINCT name FROM channel)) c"
		" USING(name) ORDER BY link" },
};

/* The numbers that all else refers to are those of rows, so they have to be
 * without gaps. */
static int check_numbers(struct db *d, size_t *n_links, struct err *e)
{
	struct db_query *q = db_prepare(d,
		"SELECT l.n, s.n = s.most + 1 AND l.n = l.most + 1 AND"
		" l.far < s.n AND s.least = 0 AND l.least = 0 AND l.near >= 0"
		" FROM (SELECT count(*) n, ifnull(max(id), -1) most,"
		" ifnull(min(id), 0) least FROM site) s,"
		" (SELECT count(*) n, ifnull(max(id), -1) most,"
		" ifnull(min(id), 0) least,"
		" min(ifnull(min(site), 0), ifnull(min(to_site), 0)) near,"
		" max(ifnull(max(site), -1), ifnull(max(to_site), -1)) far"
		" FROM link) l",
		e);

	if (db_next(q)) {
		*n_links = (size_t)db_int(q, 0);
		if (!db_int(q, 1))
			err_set(e,
				"%s: the file is damaged: a link names a site "
				"that does not exist",
				db_path(d));
	}
	return db_finish(q);
}

/* What a message spent and where it was; m is its row. */
static void write_slow(
	struct db *d, const struct db_query *m, struct json *j, struct err *e)
{
	struct db_query *spent = db_prepare(d,
		"SELECT cause, ps FROM spent WHERE message = ? ORDER BY rowid",
		e);
	struct db_query *hop = db_prepare(d,
		"SELECT from_ps, to_ps, cause, site, what, link, channel"
		" FROM hop WHERE message = ? ORDER BY n",
		e);
	int64_t id = db_int(m, db_find(m, "id"));

	db_bind_int(spent, 1, id);
	write_causes(spent, j, "causes");
	db_finish(spent);
	db_bind_int(hop, 1, id);
	write_rows(hop, j, "hops");
	db_finish(hop);
}

static void write_slowest(struct db *d, struct json *j, struct err *e)
{
	struct db_query *m = db_prepare(d,
		"SELECT id, node, number, to_node, class, start_ps, end_ps"
		" FROM message ORDER BY end_ps - start_ps DESC, start_ps, node,"
		" number LIMIT ?",
		e);

	db_bind_int(m, 1, SLOWEST);
	json_array(j, "slowest");
	while (db_next(m)) {
		json_object(j, NULL);
		write_members(m, j);
		write_slow(d, m, j, e);
		json_end(j, '}');
	}
	json_end(j, ']');
	db_finish(m);
}

static void write_cause_names(struct json *j)
{
	json_object(j, "cause_names");
	for (uint32_t c = 0; c < N_CAUSES; c++)
		json_text(j, causes[c].key, causes[c].name);
	json_end(j, '}');
}

int report_run(struct db *d, struct json *j, struct err *e)
{
	size_t n_links = 0;

	if (check_numbers(d, &n_links, e))
		return -1;
	write_cause_names(j);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !e->code;
		i++) {
		struct db_query *q = db_prepare(d, parts[i].sql, e);

		if (q)
			parts[i].write(q, j, parts[i].key);
		db_finish(q);
	}
	write_slowest(d, j, e);
	return e->code ? -1 : report_load(d, n_links, j, e);
}
