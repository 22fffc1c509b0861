/* What a page shows of a run. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "record/read.h"
#include "report/pack.h"
#include "report/report.h"

enum { MOST_COLUMNS = 13, SLOWEST = 20 };

/* --- names and numbers --- */

/* An object of a query's first column to its second. */
static int write_pairs(struct db *d, const char *key, const char *sql,
	struct json *j, struct err *e)
{
	struct db_query *q = db_prepare(d, sql, e);
	int more = -1;

	json_object(j, key);
	while (q && (more = db_next(q, e)) > 0)
		db_json(j, db_text(q, 0), q, 1);
	json_end(j, '}');
	db_finish(q);
	return more;
}

/* An array of texts. */
static int write_texts(struct db *d, const char *key, const char *sql,
	struct json *j, struct err *e)
{
	struct db_query *q = db_prepare(d, sql, e);
	int more = -1;

	json_array(j, key);
	while (q && (more = db_next(q, e)) > 0)
		json_text(j, NULL, db_text(q, 0));
	json_end(j, ']');
	db_finish(q);
	return more;
}

/* An object of columns: format has a letter for each, f of a float, d of a
 * double, u of 32 bits, s of 16, where NULL is 65535. */
static void pack_row(
	struct db_query *q, const char *format, struct pack *column)
{
	int i;

	for (i = 0; format[i]; i++) {
		if (format[i] == 'f')
			pack_f32(&column[i], db_real(q, i));
		else if (format[i] == 'd')
			pack_f64(&column[i], db_real(q, i));
		else if (format[i] == 'u')
			pack_u32(&column[i], (uint32_t)db_int(q, i));
		else
			pack_u16(&column[i], db_is_null(q, i)
						     ? UINT16_MAX
						     : (uint32_t)db_int(q, i));
	}
}

static int write_columns(struct db *d, const char *key, const char *format,
	const char *sql, struct json *j, struct err *e)
{
	struct pack column[MOST_COLUMNS] = { { 0 } };
	struct db_query *q = db_prepare(d, sql, e);
	int more = -1, i;

	if (!q)
		return -1;
	while ((more = db_next(q, e)) > 0)
		pack_row(q, format, column);
	json_object(j, key);
	for (i = 0; format[i]; i++)
		pack_write_column(&column[i],
			format[i] == 'd'   ? 8
			: format[i] == 's' ? 2
					   : 4,
			j, db_column(q, i));
	json_end(j, '}');
	db_finish(q);
	return more;
}

/* --- the machine --- */

/* The numbers that all else refers to are those of rows, so they have to be
 * without gaps. */
static int check_numbers(struct db *d, size_t *n_links, struct err *e)
{
	struct db_query *q = db_prepare(d,
		"SELECT s.n, l.n, s.n = s.most + 1 AND l.n = l.most + 1 AND"
		" l.far < s.n AND s.least = 0 AND l.least = 0 AND l.near >= 0"
		" FROM (SELECT count(*) n, ifnull(max(id), -1) most,"
		" ifnull(min(id), 0) least FROM site) s,"
		" (SELECT count(*) n, ifnull(max(id), -1) most,"
		" ifnull(min(id), 0) least,"
		" min(ifnull(min(site), 0), ifnull(min(to_site), 0)) near,"
		" max(ifnull(max(site), -1), ifnull(max(to_site), -1)) far"
		" FROM link) l",
		e);
	int more = q ? db_next(q, e) : -1;

	if (more > 0) {
		*n_links = (size_t)db_int(q, 1);
		if (!db_int(q, 2))
			more = err_set(e, "%s: its links and sites do not fit",
				db_path(d));
	}
	db_finish(q);
	return more > 0 ? 0 : -1;
}

static int write_machine(
	struct db *d, size_t n_links, struct json *j, struct err *e)
{
	return write_texts(
		       d, "sites", "SELECT name FROM site ORDER BY id", j, e) ||
	       write_columns(d, "place", "sssssss",
		       "SELECT is_node, x0, x1, x2, x3, x4, x5 FROM site"
		       " ORDER BY id",
		       j, e) ||
	       write_texts(d, "port_names",
		       "SELECT DISTINCT name FROM link ORDER BY name", j, e) ||
	       write_texts(d, "wire_names",
		       "SELECT wire FROM link GROUP BY wire ORDER BY min(id)",
		       j, e) ||
	       write_columns(d, "links", "uusuffddduddf",
		       "SELECT l.site, to_site, w.n wire, p.n port, use,"
		       " waiting, bytes, packets, rate_Bps rate, longest,"
		       " ifnull(token_wait_ps, -1) token_wait, retries,"
		       " ifnull(wanted, 0) wanted FROM link l"
		       " JOIN (SELECT name, row_number() OVER (ORDER BY name)"
		       " - 1 n FROM (SELECT DISTINCT name FROM link)) p"
		       " ON p.name = l.name JOIN (SELECT wire, row_number()"
		       " OVER (ORDER BY min(id)) - 1 n FROM link GROUP BY wire)"
		       " w ON w.wire = l.wire ORDER BY l.id",
		       j, e) ||
	       write_texts(d, "channel_names",
		       "SELECT DISTINCT name FROM channel ORDER BY name", j,
		       e) ||
	       write_columns(d, "channels", "usffud",
		       "SELECT link, c.n channel, use, waiting, longest,"
		       " retries"
		       " FROM channel"
		       " JOIN (SELECT name, row_number() OVER (ORDER BY name)"
		       " - 1 n FROM (SELECT DISTINCT name FROM channel)) c"
		       " USING(name) ORDER BY link",
		       j, e) ||
	       report_load(d, n_links, j, e);
}

/* --- messages --- */

/* A query's causes: name and ps. */
static int write_causes(struct db_query *q, struct json *j, struct err *e)
{
	int more;

	json_object(j, "causes");
	while ((more = db_next(q, e)) > 0)
		json_real(j, record_cause(db_text(q, 0)), db_real(q, 1));
	json_end(j, '}');
	return more;
}

static int write_budget(struct db *d, struct json *j, struct err *e)
{
	struct db_query *q =
		db_prepare(d, "SELECT name, ps FROM cause WHERE ps > 0", e);
	int failed = q ? write_causes(q, j, e) : -1;

	db_finish(q);
	return failed;
}

/* An array of rows, which are arrays of a query's columns. */
static int write_rows(
	struct db_query *q, const char *key, struct json *j, struct err *e)
{
	int more, i;

	json_array(j, key);
	while ((more = db_next(q, e)) > 0) {
		json_array(j, NULL);
		for (i = 0; i < db_n_columns(q); i++)
			db_json(j, NULL, q, i);
		json_end(j, ']');
	}
	json_end(j, ']');
	return more;
}

static int write_table(struct db *d, const char *key, const char *sql,
	struct json *j, struct err *e)
{
	struct db_query *q = db_prepare(d, sql, e);
	int failed = q ? write_rows(q, key, j, e) : -1;

	db_finish(q);
	return failed;
}

/* What a message spent and where it was; m is its row. */
static int write_slow(struct db_query *m, struct db_query *spent,
	struct db_query *hop, struct json *j, struct err *e)
{
	int i, failed;

	json_object(j, NULL);
	for (i = 1; i < db_n_columns(m); i++)
		db_json(j, db_column(m, i), m, i);
	db_bind_int(spent, 1, db_int(m, 0));
	db_bind_int(hop, 1, db_int(m, 0));
	failed = write_causes(spent, j, e) || write_rows(hop, "hops", j, e);
	json_end(j, '}');
	db_reset(spent);
	db_reset(hop);
	return failed;
}

static int write_slowest(struct db *d, struct json *j, struct err *e)
{
	struct db_query *spent = NULL, *hop = NULL;
	struct db_query *m = db_prepare(d,
		"SELECT id, node, number, to_node, class, start_ps, end_ps"
		" FROM message ORDER BY end_ps - start_ps DESC, start_ps, node,"
		" number LIMIT ?",
		e);
	int more = -1;

	if (m)
		spent = db_prepare(d,
			"SELECT cause, ps FROM spent WHERE message = ?"
			" ORDER BY rowid",
			e);
	if (spent)
		hop = db_prepare(d,
			"SELECT from_ps, to_ps, cause, site, what, link,"
			" channel FROM hop WHERE message = ? ORDER BY n",
			e);
	if (hop)
		db_bind_int(m, 1, SLOWEST);
	json_array(j, "slowest");
	while (hop && (more = db_next(m, e)) > 0)
		if (write_slow(m, spent, hop, j, e)) {
			more = -1;
			break;
		}
	json_end(j, ']');
	db_finish(m);
	db_finish(spent);
	db_finish(hop);
	return more;
}

/* Classes of messages: the quick half, the slowest hundredth, and the rest. */
static int write_classes(struct db *d, struct json *j, struct err *e)
{
	struct db_query *q = db_prepare(d,
		"WITH r AS (SELECT id, end_ps - start_ps took, percent_rank()"
		" OVER (ORDER BY end_ps - start_ps) at FROM message"
		" WHERE is_sampled),"
		" c AS (SELECT id, (at > 0.5) + (at > 0.99) class FROM r),"
		" n AS (SELECT class, count(*) n FROM c GROUP BY class)"
		" SELECT class, cause, sum(ps) * 1.0 / n, n FROM spent JOIN c"
		" ON c.id = message JOIN n USING(class) GROUP BY class, cause"
		" ORDER BY class, min(spent.rowid)",
		e);
	int more = -1;

	json_array(j, "classes");
	while (q && (more = db_next(q, e)) > 0) {
		json_object(j, NULL);
		json_int(j, "class", db_int(q, 0));
		json_text(j, "cause", record_cause(db_text(q, 1)));
		json_real(j, "ps", db_real(q, 2));
		json_int(j, "n", db_int(q, 3));
		json_end(j, '}');
	}
	json_end(j, ']');
	db_finish(q);
	return more;
}

/* --- programs --- */

/* Processes and calls that a page has room for. */
#define ROWS                                                                   \
	"r AS (SELECT node, process, row_number() OVER (ORDER BY node,"        \
	" process) - 1 n FROM call GROUP BY node, process ORDER BY node,"      \
	" process LIMIT 64), s AS (SELECT c.id, c.name, c.from_ps, c.to_ps,"   \
	" r.n row FROM call c JOIN r USING(node, process) ORDER BY c.from_ps," \
	" c.id LIMIT 20000)"

/* What programs called, and when; -1: it never came back. */
static int write_calls(struct db *d, struct json *j, struct err *e)
{
	return write_table(d, "call_rows",
		       "SELECT node, process, max(CASE WHEN name LIKE"
		       " 'replaying a schedule as rank %' THEN substr(name, 30)"
		       " END) FROM call GROUP BY node, process"
		       " ORDER BY node, process LIMIT 64",
		       j, e) ||
	       write_texts(d, "call_names",
		       "WITH " ROWS
		       " SELECT DISTINCT name FROM s ORDER BY name",
		       j, e) ||
	       write_columns(d, "calls", "dduu",
		       "WITH " ROWS
		       ", k AS (SELECT name, row_number() OVER (ORDER BY name)"
		       " - 1 n FROM (SELECT DISTINCT name FROM s))"
		       " SELECT from_ps \"from\", ifnull(to_ps, -1) \"to\","
		       " row, k.n name FROM s JOIN k USING(name)"
		       " ORDER BY from_ps, id",
		       j, e);
}

static void write_cause_names(struct json *j)
{
	uint32_t c;

	json_object(j, "cause_names");
	for (c = 0; c < N_CAUSES; c++)
		json_text(j, cause_keys[c], cause_names[c]);
	json_end(j, '}');
}

int report_run(struct db *d, struct json *j, struct err *e)
{
	size_t n_links = 0;

	write_cause_names(j);
	return check_numbers(d, &n_links, e) ||
	       write_pairs(d, "meta",
		       "SELECT key, value FROM meta WHERE key <> 'machine_file'"
		       " AND key <> 'faults_file'",
		       j, e) ||
	       write_pairs(
		       d, "figures", "SELECT name, value FROM figure", j, e) ||
	       write_pairs(d, "counters",
		       "SELECT name, value FROM counter WHERE value <> 0", j,
		       e) ||
	       write_columns(d, "latency", "ddd",
		       "SELECT from_ps \"from\", to_ps \"to\", count FROM"
		       " latency ORDER BY from_ps",
		       j, e) ||
	       write_columns(d, "course", "dddddd",
		       "SELECT from_ps \"from\", to_ps \"to\", injected,"
		       " delivered, hops, latency_ps latency FROM sample"
		       " ORDER BY n",
		       j, e) ||
	       write_budget(d, j, e) || write_slowest(d, j, e) ||
	       write_classes(d, j, e) ||
	       write_table(d, "kinds",
		       "SELECT class, messages, cause, ps FROM budget", j, e) ||
	       write_table(d, "blocked",
		       "SELECT came_by, wants, sum(packets) / (SELECT count("
		       "DISTINCT sample) FROM blocked) FROM blocked"
		       " GROUP BY came_by, wants",
		       j, e) ||
	       write_calls(d, j, e) || write_machine(d, n_links, j, e);
}
