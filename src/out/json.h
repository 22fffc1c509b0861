/*
 * Writes JSON, one value after another, with commas and escapes.  It keeps
 * nothing.
 */
#ifndef OUT_JSON_H
#define OUT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH = 16 };

struct json {
	FILE *out;
	uint32_t depth;
	bool has[JSON_DEPTH]; /* whether a comma is due at this depth */
};

void json_init(struct json *j, FILE *out);
/* The key is NULL inside arrays and at the top. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j, char bracket);
/* NULL is null. */
void json_text(struct json *j, const char *key, const char *value);
void json_int(struct json *j, const char *key, int64_t value);
void json_count(struct json *j, const char *key, uint64_t value);
void json_real(struct json *j, const char *key, double value);
void json_flag(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

#endif
