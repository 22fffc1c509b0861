/* The tables of a run file: weft-runfile(5) says what is in them. */
#ifndef RECORD_SCHEMA_H
#define RECORD_SCHEMA_H

static const char record_schema[] =
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value);"
	"CREATE TABLE argument(kind TEXT, n INTEGER, value TEXT);"
	"CREATE TABLE param(path TEXT, value TEXT, source TEXT, place TEXT);"
	"CREATE TABLE site(id INTEGER PRIMARY KEY, name TEXT, is_node INTEGER,"
	" x0 INTEGER, x1 INTEGER, x2 INTEGER, x3 INTEGER, x4 INTEGER,"
	" x5 INTEGER);"
	"CREATE TABLE link(id INTEGER PRIMARY KEY, site INTEGER, port INTEGER,"
	" name TEXT, to_site INTEGER, to_port INTEGER, wire TEXT,"
	" latency_ps INTEGER, rate_Bps INTEGER,"
	" bytes INTEGER, packets INTEGER, use REAL, waiting REAL,"
	" longest INTEGER, token_wait_ps INTEGER, retries INTEGER,"
	" channel TEXT);"
	"CREATE TABLE shared(link INTEGER, name TEXT, bytes INTEGER,"
	" packets INTEGER, use REAL, waiting REAL, longest INTEGER,"
	" token_wait_ps INTEGER);"
	"CREATE VIEW channel AS SELECT * FROM shared UNION ALL SELECT id, "
	"channel,"
	" bytes, packets, use, waiting, longest, token_wait_ps FROM link"
	" WHERE channel IS NOT NULL;"
	"CREATE TABLE blocked(sample INTEGER, came_by TEXT, wants TEXT,"
	" packets REAL);"
	"CREATE TABLE sample(n INTEGER PRIMARY KEY, from_ps INTEGER,"
	" to_ps INTEGER, injected INTEGER, delivered INTEGER, hops INTEGER,"
	" latency_ps INTEGER, use BLOB, waiting BLOB);"
	"CREATE TABLE figure(name TEXT PRIMARY KEY, value REAL);"
	"CREATE TABLE latency(from_ps INTEGER, to_ps INTEGER, count INTEGER);"
	"CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER);"
	"CREATE TABLE cause(name TEXT PRIMARY KEY, ps INTEGER);"
	"CREATE TABLE budget(class TEXT, messages INTEGER, cause TEXT,"
	" ps INTEGER);"
	"CREATE TABLE message(id INTEGER PRIMARY KEY, node INTEGER,"
	" number INTEGER, start_ps INTEGER, end_ps INTEGER, to_node INTEGER,"
	" class TEXT, packets INTEGER, is_sampled INTEGER);"
	"CREATE TABLE spent(message INTEGER, cause TEXT, ps INTEGER);"
	"CREATE TABLE hop(message INTEGER, n INTEGER, from_ps INTEGER,"
	" to_ps INTEGER, cause TEXT, site INTEGER, what TEXT, link INTEGER,"
	" channel TEXT);";

#endif
