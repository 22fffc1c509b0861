#include "out/json.h"

#include <math.h>
#include <inttypes.h>

#include "base/err.h"
#include "base/name.h"

void json_init(struct json *j, FILE *out)
{
	*j = (struct json){ .out = out };
}

static void quote(struct json *j, const char *s)
{
	size_t n;

	fputc('"', j->out);
	for (; *s; s += n ? n : 1) {
		n = name_letter(s);
		if (*s == '"' || *s == '\\')
			fprintf(j->out, "\\%c", *s);
		else if (n)
			fwrite(s, 1, n, j->out);
		else
			fprintf(j->out, "\\u%04x", (unsigned char)*s);
	}
	fputc('"', j->out);
}

static void new_line(struct json *j)
{
	fputc('\n', j->out);
	for (uint32_t i = 0; i < j->depth; i++)
		fputs("  ", j->out);
}

static void before(struct json *j, const char *key)
{
	if (j->depth) {
		if (j->has[j->depth])
			fputc(',', j->out);
		new_line(j);
	}
	j->has[j->depth] = true;
	if (key) {
		quote(j, key);
		fputs(": ", j->out);
	}
}

static void open_bracket(struct json *j, const char *key, char bracket)
{
	before(j, key);
	fputc(bracket, j->out);
	BUG_IF(j->depth + 1 == JSON_DEPTH);
	j->has[++j->depth] = false;
}

void json_object(struct json *j, const char *key)
{
	open_bracket(j, key, '{');
}

void json_array(struct json *j, const char *key)
{
	open_bracket(j, key, '[');
}

void json_end(struct json *j, char bracket)
{
	bool any = j->has[j->depth--];

	if (any)
		new_line(j);
	fputc(bracket, j->out);
	if (!j->depth)
		fputc('\n', j->out);
}

void json_text(struct json *j, const char *key, const char *value)
{
	if (!value) {
		json_null(j, key);
		return;
	}
	before(j, key);
	quote(j, value);
}

void json_int(struct json *j, const char *key, int64_t value)
{
	before(j, key);
	fprintf(j->out, "%" PRId64, value);
}

void json_count(struct json *j, const char *key, uint64_t value)
{
	before(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

void json_real(struct json *j, const char *key, double value)
{
	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	before(j, key);
	fprintf(j->out, "%.9g", value);
}

void json_flag(struct json *j, const char *key, bool value)
{
	before(j, key);
	fputs(value ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	before(j, key);
	fputs("null", j->out);
}
