/* What `weft params` says of an option, and values of it. */
#define _GNU_SOURCE
#include "chaos.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t draw(struct dice *d, uint64_t below)
{
	uint64_t z = (d->state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (z ^ (z >> 31)) % below;
}

int64_t draw_wide(struct dice *d, int64_t least, int64_t most)
{
	double low = least < 1 ? 0.5 : (double)least;
	double part = (double)draw(d, 1 << 20) / (1 << 20);
	int64_t v = (int64_t)(low * pow((double)most / low, part));

	return v < least || most <= least ? least : v > most ? most : v;
}

/* --- lists --- */

/* The value of a line "key": "value", or NULL. */
static char *take_value(const char *line, size_t n, const char *key)
{
	const char *end = line + n;
	size_t k = strlen(key);
	char *value;

	while (line < end && *line == ' ')
		line++;
	if (line + k + 4 > end || *line != '"' ||
		strncmp(line + 1, key, k) != 0 ||
		strncmp(line + 1 + k, "\": ", 3) != 0)
		return NULL;
	line += k + 4;
	end -= end[-1] == ',';
	if (*line == '"')
		line++, end--;
	value = strndup(line, (size_t)(end - line));
	if (!strcmp(value, "null"))
		value[0] = '\0';
	return value;
}

size_t json_values(const char *json, const char *key, char **value, size_t most)
{
	size_t n = 0, len;

	for (; *json && n < most; json += len + (json[len] == '\n')) {
		len = strcspn(json, "\n");
		value[n] = take_value(json, len, key);
		n += value[n] != NULL;
	}
	return n;
}

/* Every row has all keys, so the n-th value of each is the n-th row's. */
void options_read(struct options *o, const char *json)
{
	enum { ROWS = 2048 };
	static const char *const keys[] = { "workload", "name", "value", "type",
		"range", "default" };
	char **v[6];
	size_t n[6], i, k;

	for (k = 0; k < 6; k++) {
		v[k] = calloc(ROWS, sizeof(**v));
		n[k] = json_values(json, keys[k], v[k], ROWS);
	}
	o->n = n[1];
	o->v = calloc(o->n + 1, sizeof(*o->v));
	for (i = 0; i < o->n; i++) {
		char *value = n[2] ? v[2][i] : v[5][i];

		o->v[i] = (struct option){ *v[0][i] ? v[0][i] : NULL, v[1][i],
			value, v[3][i], v[4][i] };
		if (!*v[0][i])
			free(v[0][i]);
		if (n[2])
			free(v[5][i]);
	}
	for (k = 0; k < 6; k++)
		free(v[k]);
}

void options_free(struct options *o)
{
	for (size_t i = 0; i < o->n; i++) {
		free(o->v[i].workload);
		free(o->v[i].name);
		free(o->v[i].value);
		free(o->v[i].type);
		free(o->v[i].range);
	}
	free(o->v);
	o->v = NULL;
	o->n = 0;
}

/* --- values --- */

bool option_is(const struct option *o, const char *type)
{
	return !strcmp(o->type, type);
}

static bool is_number(const struct option *o)
{
	return option_is(o, "count") || option_is(o, "time") ||
	       option_is(o, "size") || option_is(o, "rate") ||
	       option_is(o, "fraction");
}

/* In ps, bytes, bytes per second or millionths. */
static int64_t quantity(const struct option *o, const char *text)
{
	static const struct {
		const char *word;
		double factor;
	} units[] = { { "ps", 1 }, { "ns", 1e3 }, { "us", 1e6 }, { "ms", 1e9 },
		{ "s", 1e12 }, { "B", 1 }, { "KB", 1e3 }, { "MB", 1e6 },
		{ "GB", 1e9 }, { "KiB", 0x1p10 }, { "MiB", 0x1p20 },
		{ "GiB", 0x1p30 } };
	char *end, unit[8] = "";
	double v = strtod(text, &end);

	sscanf(end, " %7[A-Za-z]", unit);
	if (option_is(o, "fraction"))
		v *= 1e6;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].word, unit))
			v *= units[i].factor;
	return (int64_t)v;
}

bool option_exceeds(const struct option *o, int64_t most)
{
	return is_number(o) && quantity(o, o->value) > most;
}

static void write_number(const struct option *o, int64_t v, char *text)
{
	const char *unit = option_is(o, "time")	  ? "ps"
			   : option_is(o, "size") ? "B"
			   : option_is(o, "rate") ? "B/s"
						  : "";

	if (option_is(o, "fraction"))
		snprintf(text, TEXT_MAX, "%" PRId64 ".%06" PRId64, v / 1000000,
			v % 1000000);
	else
		snprintf(text, TEXT_MAX, "%" PRId64 "%s", v, unit);
}

static bool draw_number(const struct option *o, enum how how, struct dice *d,
	int64_t value, char *text)
{
	const char *to = strstr(o->range, " to ");
	int64_t least, most, v;

	if (!to)
		return false;
	least = quantity(o, o->range);
	most = quantity(o, to + 4);
	switch (how) {
	case NEAR:
		v = draw_wide(d, value / 8, 8 * value + (value == 0));
		break;
	case SMALL:
		v = least + (int64_t)draw(d, 4);
		break;
	case UP_TO:
		v = draw_wide(d, least, value);
		break;
	case LEAST:
		v = least;
		break;
	case MOST:
		v = most;
		break;
	case BELOW:
		v = least - 1;
		break;
	default:
		v = most + 1;
	}
	if (how < LEAST)
		v = v < least ? least : v > most ? most : v;
	if (v < 0)
		snprintf(text, TEXT_MAX, "-1");
	else
		write_number(o, v, text);
	return true;
}

bool option_word(const struct option *o, struct dice *d, char text[TEXT_MAX])
{
	const char *s = strstr(o->range, " or ");
	size_t n = 1, i;

	s = s ? s + 4 : is_number(o) || option_is(o, "text") ? NULL : o->range;
	if (!s || strstr(s, " to ") || option_is(o, "lines"))
		return false;
	for (i = 0; s[i]; i++)
		n += s[i] == '|';
	for (n = draw(d, n); n; n--)
		s = strchr(s, '|') + 1;
	snprintf(text, TEXT_MAX, "%.*s", (int)strcspn(s, "|"), s);
	return true;
}

/* As many numbers as it has, mostly. */
static bool draw_list(const struct option *o, enum how how, struct dice *d,
	char text[TEXT_MAX])
{
	struct option one = { .type = (char *)"count", .range = o->range };
	const char *s = o->value;
	char number[TEXT_MAX];
	size_t n = 0, many = 1, i;

	for (i = 0; s[i]; i++)
		many += s[i] == 'x' || s[i] == ',';
	if (!draw(d, 6))
		many = 1 + draw(d, 4);
	for (i = 0; i < many && n + 32 < TEXT_MAX; i++) {
		if (!draw_number(&one, how, d, atol(s), number))
			return false;
		n += (size_t)snprintf(
			text + n, TEXT_MAX - n, "%s%s", i ? "x" : "", number);
	}
	return true;
}

bool option_value(const struct option *o, enum how how, struct dice *d,
	char text[TEXT_MAX])
{
	if (option_is(o, "list of counts"))
		return draw_list(o, how, d, text);
	if (is_number(o)) {
		if (how <= UP_TO && how != SMALL && !draw(d, 8) &&
			option_word(o, d, text))
			return true;
		return draw_number(o, how, d, quantity(o, o->value), text);
	}
	if (option_is(o, "text") || option_is(o, "lines") ||
		option_is(o, "path")) {
		memset(text, 'A', TEXT_MAX);
		text[how == ABOVE ? 200 : 3] = '\0';
		return how == ABOVE || (how == MOST && option_is(o, "text"));
	}
	if (how == BELOW || how == ABOVE) {
		snprintf(text, TEXT_MAX, "%s", how == BELOW ? "" : "chaos");
		return true;
	}
	return option_word(o, d, text);
}
