/*
 * Feeds all that reads run files with damaged ones: each is read, or refused in
 * one line.
 *
 *	fuzz_runfile [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_runfile"

#include "record/db.h"
#include "record/read.h"
#include "record/tables.h"
#include "report/report.h"
#include "report/trace.h"

#include <stdlib.h>
#include <unistd.h>

#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_setup(struct db *d, struct err *e)
{
	struct record_setup s;

	record_setup_read(&s, d, e);
	record_setup_free(&s);
}

/* What is written is thrown away. */
static bool read_all(struct db *d, FILE *out)
{
	struct err e[3] = { { 0 }, { 0 }, { 0 } };
	size_t i;

	read_setup(d, &e[0]);
	report_write(&d, 1, out, &e[1]);
	trace_write(d, out, &e[2]);
	for (i = 0; i < 3; i++)
		if (e[i].code)
			check_refusal(&e[i]);
	return !e[0].code && !e[1].code && !e[2].code;
}

/* SQLite wants a file that has a name; where that is not memory it is slow. */
static const char *write_file(const uint8_t *data, size_t size)
{
	static char path[64];
	FILE *f;

	if (!*path) {
		snprintf(path, sizeof(path), "%s/fuzz_runfile.XXXXXX",
			access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
		check(close(mkstemp(path)) == 0, "cannot make a file");
	}
	f = fopen(path, "w");
	check(f && (!size || fwrite(data, 1, size, f) == size) && !fclose(f),
		"cannot write a file");
	return path;
}

/* Whether it could be read. */
static bool try(const uint8_t *data, size_t size)
{
	const char *path = write_file(data, size);
	FILE *out = fopen("/dev/null", "w");
	struct err e = { 0 };
	struct db *d = db_open(path, &e);
	bool is_read = false;

	check(out != NULL, "no /dev/null");
	if (d)
		is_read = read_all(d, out);
	else
		check_refusal(&e);
	db_close(d);
	fclose(out);
	unlink(path);
	return is_read;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try(data, size);
	return 0;
}

#ifndef WEFT_LIBFUZZER

#include "driver.h"

/* A run of three sites in a row, in which all tables have something. */
static const char rows[] =
	"INSERT INTO meta VALUES('ending', 'finished'), ('machine', 'torus'),"
	" ('machine_name', 'torus'), ('workload', 'random'), ('seed', 1),"
	" ('nodes', 3), ('end_ps', 9000);"
	"INSERT INTO argument VALUES('key', 0, 'load=0.5');"
	"INSERT INTO param VALUES('link.rate', '2 GB/s', 'choice', 'default');"
	"INSERT INTO site VALUES(0, 'node 0', 1, 0, 0, 0, 0, 0, 0),"
	" (1, 'node 1', 1, 1, 0, 0, 0, 0, 0), (2, 'node 2', 1, 2, 0, 0, 0, 0, "
	"0);"
	"INSERT INTO link VALUES"
	" (0, 0, 0, 'A+', 1, 1, 'A', 40, 2, 5, 6, .5, .1, 2, 7, 0, 'dynamic', "
	".3),"
	" (1, 1, 1, 'A-', 0, 0, 'A', 40, 2, 5, 6, .5, .1, 2, 7, 0, 'dynamic', "
	".3),"
	" (2, 1, 0, 'A+', 2, 1, 'A', 40, 2, 5, 6, .5, .1, 2, 7, 0, NULL, NULL),"
	" (3, 2, 1, 'A-', 1, 0, 'A', 40, 2, 5, 6, .5, .1, 2, 7, 0, NULL, NULL);"
	"INSERT INTO shared VALUES(2, 'dynamic', 5, 6, .5, .1, 2, 7, 1);"
	"INSERT INTO blocked VALUES(1, 'A+', 'A-', 3), (1, 'A-', 'reception', "
	"1);"
	"INSERT INTO sample VALUES(0, 0, 4000, 9, 8, 7, 6, x'0100020003000400',"
	" x'0100020003000400', x'0100020003000400', x'0100020003000400', NULL,"
	" NULL, 5), (1, 4000, 9000, 9, 8, 7, 6, x'0100020003000400',"
	" x'0100020003000400', NULL, NULL, 'dynamic',"
	" x'0100020003000400', 5);"
	"INSERT INTO shared_sample VALUES(0, 'dynamic', 'nodes',"
	" x'0100020003000400', x'0100020003000400', NULL,"
	" x'0100020003000400'), (0, 'high', 'nodes', x'0100020003000400',"
	" x'0100020003000400', NULL, NULL);"
	"INSERT INTO figure VALUES('latency_mean_ns', 4.5);"
	"INSERT INTO latency VALUES(1000, 1010, 5);"
	"INSERT INTO counter VALUES('puts', 7);"
	"INSERT INTO cause VALUES('wire', 70), ('queue', 80);"
	"INSERT INTO budget VALUES('put', 2, 'wire', 70), ('get', 1, 'queue', "
	"80);"
	"INSERT INTO message VALUES(0, 0, 0, 10, 500, 1, 'put', 1, 1),"
	" (1, 2, 0, 10, 600, 1, 'get', 1, 1);"
	"INSERT INTO spent VALUES(0, 'wire', 490), (1, 'queue', 590);"
	"INSERT INTO hop VALUES(0, 0, 10, 20, 'queue', 0, 'card', 1, NULL,"
	" NULL), (0, 1, 20, 500, 'wire', 0, 'out by', NULL, 0, 'dynamic');"
	"INSERT INTO call VALUES(0, 0, 0, 0, 'MPI_Send', 1, 2, 0, 1, 7, 8, 1),"
	" (1, 1, 0, 0, 'receive', 15, NULL, NULL, NULL, NULL, NULL, NULL);"
	"INSERT INTO transfer VALUES(1, 0, 0, 1, 0, 7, 64, 12, 18, 0, 1, 9, 9),"
	" (2, 0, 0, 1, 0, 7, 64, 13, NULL, NULL, NULL, NULL, NULL);"
	"INSERT INTO rank VALUES(0, NULL, 0, 0, 0, 10, 20, 1, 2, 3, 0, 4, 0, 5,"
	" 6, 7, 8), (1, NULL, 1, 1, 0, 10, 30, 0, 0, 0, 0, 20, 0, 5, 6, 7, 8);"
	"INSERT INTO pair VALUES(NULL, 0, 1, 1, 8, 4);"
	"INSERT INTO called VALUES(NULL, 0, 'MPI_Send', 1, 10);";

/* What makes an older file of one. */
static const char older[] =
	"CREATE TEMP TABLE newer AS SELECT * FROM link; DROP TABLE link;"
	"CREATE TABLE link AS SELECT id, site, port, name, to_site, to_port,"
	" wire, latency_ps, rate_Bps, bytes, packets, use, waiting, longest,"
	" token_wait_ps, retries, channel FROM newer;"
	"DROP TABLE input; DROP TABLE rank; DROP TABLE pair;"
	"DROP TABLE called; PRAGMA user_version = 2;";

/* A good file of a schema, as bytes; to be freed. */
static uint8_t *make_good(int schema, size_t *size)
{
	const char *path = write_file(NULL, 0);
	uint8_t *data = mem_alloc(FUZZ_FILE_MAX, 1);
	struct err e = { 0 };
	struct db *d = db_create(path, IN_RUNS, &e);
	FILE *f;

	check(d && !db_begin(d, &e) && !db_do(d, rows, &e) &&
			(schema == DB_SCHEMA || !db_do(d, older, &e)) &&
			!db_do(d, "COMMIT", &e),
		e.text);
	db_close(d);
	f = fopen(path, "r");
	check(f != NULL, "cannot read it");
	*size = fread(data, 1, FUZZ_FILE_MAX, f);
	fclose(f);
	return data;
}

/* Damages one page more often than others. */
static void damage(uint8_t *data, size_t *size, uint64_t *seed)
{
	size_t page = draw(seed, *size / 4096 + 1) * 4096;
	size_t n = 1 + draw(seed, 6);

	for (; n && *size > 600; n--) {
		size_t at =
			(page + draw(seed, draw(seed, 2) ? 4096 : 120)) % *size;
		size_t from = draw(seed, *size - 64);

		switch (draw(seed, 12)) {
		case 0:
			*size -= draw(seed, *size);
			break;
		case 1:
			memmove(data + from, data + at % (*size - 64), 64);
			break;
		case 2:
			memset(data + from, (int)draw(seed, 256), 64);
			break;
		case 3:
			data[draw(seed, 100)] = (uint8_t)draw(seed, 256);
			break;
		default:
			data[at] = (uint8_t)draw(seed, 256);
		}
	}
}

int main(int argc, char **argv)
{
	uint64_t runs = 300, seed = 1, n_read = 0, i;
	uint8_t *good[2], *data;
	size_t size[2];
	int k;

	for (k = 1; k + 1 < argc; k += 2) {
		if (!strcmp(argv[k], "--runs"))
			runs = strtoull(argv[k + 1], NULL, 10);
		else if (!strcmp(argv[k], "--seed"))
			seed = strtoull(argv[k + 1], NULL, 10);
	}
	for (k = 0; k < 2; k++) {
		good[k] = make_good(k ? DB_OLDEST : DB_SCHEMA, &size[k]);
		check(try(good[k], size[k]), "a good file is refused");
	}
	data = mem_alloc(FUZZ_FILE_MAX, 1);
	for (i = 0; i < runs; i++) {
		size_t n = size[i % 2];

		memcpy(data, good[i % 2], n);
		damage(data, &n, &seed);
		n_read += try(data, n);
	}
	mem_free(good[0]);
	mem_free(good[1]);
	mem_free(data);
	check(!runs || n_read, "no damaged file is read");
	printf("%llu damaged files, %llu of them read\n",
		(unsigned long long)runs, (unsigned long long)n_read);
	return 0;
}

#endif
