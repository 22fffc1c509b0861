#define _GNU_SOURCE
#include "report/report.h"

#include <string.h>

#include "base/mem.h"
#include "base/stream.h"
#include "record/read.h"
#include "record/tables.h"

static int write_file(struct db *d, struct json *j, struct err *e)
{
	const char *path = db_path(d), *slash = strrchr(path, '/');
	int is_sweep = record_is_sweep(d, e), failed;

	if (is_sweep < 0)
		return -1;
	json_object(j, NULL);
	json_text(j, "file", slash ? slash + 1 : path);
	json_text(j, "kind", is_sweep ? "sweep" : "run");
	failed = is_sweep ? report_sweep(d, j, e) : report_run(d, j, e);
	json_end(j, '}');
	return failed ? -1 : 0;
}

/* Parts of one packet in what a page has over time. */
static void write_scales(struct json *j)
{
	json_object(j, "scales");
	json_int(j, "waiting", RECORD_WAITING_SCALE);
	json_int(j, "token_wait", RECORD_TOKENS_SCALE);
	json_end(j, '}');
}

/* No text of a file may end the element that the data stand in. */
static void write_safely(const char *text, size_t n, FILE *out)
{
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '<')
			fputs("\\u003c", out);
		else
			fputc(text[i], out);
	}
}

int report_write(struct db *const *file, size_t n, FILE *out, struct err *e)
{
	struct stream data;
	struct json j;
	int failed = 0;

	stream_open(&data);
	json_init(&j, data.file);
	json_object(&j, NULL);
	json_text(&j, "weft", WEFT_VERSION);
	write_scales(&j);
	json_array(&j, "files");
	for (size_t i = 0; i < n && !failed; i++)
		failed = write_file(file[i], &j, e);
	json_end(&j, ']');
	json_end(&j, '}');
	stream_close(&data);
	if (!failed) {
		fputs((const char *)report_head, out);
		write_safely(data.text, data.size, out);
		fputs((const char *)report_tail, out);
	}
	mem_free(data.text);
	return failed;
}
