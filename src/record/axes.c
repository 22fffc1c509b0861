#define _GNU_SOURCE
#include "record/axes.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "base/wide.h"

#define MILLION INT64_C(1000000)
#define MOST	(INT64_C(1000000000000) * MILLION) /* of numbers */

/* The length of the number at the start of a text: digits, decimals if digits
 * follow the point, and a power of ten. */
static size_t number_length(const char *s)
{
	static const char digits[] = "0123456789";
	size_t n = strspn(s, digits), k;

	if (n && s[n] == '.' && isdigit((unsigned char)s[n + 1]))
		n += 1 + strspn(s + n + 1, digits);
	if (!n || (s[n] != 'e' && s[n] != 'E'))
		return n;
	k = n + 1 + (s[n + 1] == '-' || s[n + 1] == '+');
	return isdigit((unsigned char)s[k]) ? k + strspn(s + k, digits) : n;
}

/* A decimal number in millionths; *rest is what follows it. */
static bool read_decimal(const char *s, int64_t *value, const char **rest)
{
	size_t n = number_length(s);
	char text[64];
	const char *why;

	if (!n || n >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)n, s);
	*rest = s + n;
	return !units_read(UNIT_FRACTION, text, value, &why) && *value <= MOST;
}

static void write_decimal(int64_t v, const char *unit, char *text, size_t size)
{
	size_t n = (size_t)snprintf(
		text, size, "%" PRId64 ".%06" PRId64, v / MILLION, v % MILLION);

	while (n && text[n - 1] == '0')
		text[--n] = '\0';
	if (n && text[n - 1] == '.')
		text[--n] = '\0';
	snprintf(text + n, size - n, "%s", unit);
}

static int add_value(
	struct axis *x, const char *text, size_t len, struct err *e)
{
	char *value;

	for (size_t i = 0; i < x->n; i++)
		if (strlen(x->value[i]) == len &&
			!memcmp(x->value[i], text, len))
			return 0; /* a repeated value counts once */
	value = mem_alloc(len + 1, 1);
	memcpy(value, text, len);
	if (x->n == AXES_VALUES) {
		mem_free(value);
		return err_set(
			e, "%s: more than %d values", x->name, AXES_VALUES);
	}
	x->value = mem_more(x->value, x->n, sizeof(*x->value));
	x->value[x->n++] = value;
	return 0;
}

struct range {
	int64_t from, to, step;
	bool is_factor;
	bool has_step; /* else it is 1 */
	char unit[16];
};

/* How many small units make a large one; 0: they measure different things, or
 * the number is not whole. */
static int64_t units_in(const char *small, const char *large)
{
	static const enum unit_kind kinds[] = { UNIT_BYTES, UNIT_RATE,
		UNIT_TIME };
	char one[32], other[32];
	const char *why;
	int64_t a, b;

	snprintf(one, sizeof(one), "1%s", small);
	snprintf(other, sizeof(other), "1%s", large);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!units_read(kinds[i], one, &a, &why) &&
			!units_read(kinds[i], other, &b, &why))
			return b % a ? 0 : b / a;
	return 0;
}

/* "64KiB..64MiB": the end in the unit of the start. */
static bool join_units(struct range *r, const char *unit)
{
	int64_t n = strcmp(unit, r->unit) ? units_in(unit, r->unit) : 1;

	if (!n || r->to > INT64_MAX / n)
		return false;
	r->to *= n;
	snprintf(r->unit, sizeof(r->unit), "%s", unit);
	return true;
}

/* "8..1GiB" goes from 8 B, since 8 GiB would be above its end; so does
 * "8..8KiB:x2", whose step would lead nowhere. */
static void count_bytes(struct range *r)
{
	char text[64];
	const char *why;
	int64_t v;

	write_decimal(r->to, r->unit, text, sizeof(text));
	if (r->from < r->to || (r->from == r->to && !r->has_step) ||
		!*r->unit || units_read(UNIT_BYTES, text, &v, &why) ||
		v > INT64_MAX / MILLION)
		return;
	r->to = v * MILLION;
	*r->unit = '\0';
}

/* Whether it is one; what is none is a value like any other. */
static bool read_range(const char *s, size_t len, struct range *r)
{
	char text[128], unit[sizeof(r->unit)];
	const char *at;
	size_t n;

	if (len >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)len, s);
	*r = (struct range){ .step = MILLION };
	if (!read_decimal(text, &r->from, &at))
		return false;
	n = strcspn(at, ".");
	if (n >= sizeof(unit))
		return false;
	snprintf(unit, sizeof(unit), "%.*s", (int)n, at);
	at += n;
	if (strncmp(at, "..", 2) != 0 || !read_decimal(at + 2, &r->to, &at))
		return false;
	n = strcspn(at, ":");
	if (n >= sizeof(r->unit))
		return false;
	memcpy(r->unit, at, n);
	at += n;
	r->has_step = *at;
	if (*unit && !join_units(r, unit))
		return false;
	if (!*unit)
		count_bytes(r);
	if (!*at)
		return true;
	r->is_factor = at[1] == 'x';
	return read_decimal(at + 1 + r->is_factor, &r->step, &at) && !*at;
}

/* A step that reaches no second value is a mistake. */
static int check_range(
	const struct axis *x, const struct range *r, struct err *e)
{
	bool is_whole = r->from % MILLION == 0 && r->to % MILLION == 0;
	char from[64], to[64];

	write_decimal(r->from, r->unit, from, sizeof(from));
	write_decimal(r->to, r->unit, to, sizeof(to));
	if (r->from > r->to)
		return err_set(e,
			"%s: the end of the range %s..%s is below its start",
			x->name, from, to);
	if (!r->has_step && !is_whole)
		return err_set(e,
			"%s: the range %s..%s needs a step, as in %s..%s:0.1",
			x->name, from, to, from, to);
	if (x->kind != AXIS_SEED && !r->has_step &&
		(r->to - r->from) / MILLION >= AXES_UNASKED)
		return err_set(e,
			"%s: the range %s..%s has %" PRId64 " values (give a "
			"step, %s..%s:1, or a factor, as in %s..%s:x2)",
			x->name, from, to, (r->to - r->from) / MILLION + 1,
			from, to, r->from ? from : "1", to);
	if (r->is_factor ? r->step <= MILLION || !r->from : !r->step)
		return err_set(e,
			"%s: the step of %s..%s never reaches its end (want a "
			"step above 0, or a factor above 1 and a start above "
			"0)",
			x->name, from, to);
	if (r->from < r->to && !r->is_factor && r->from + r->step > r->to)
		return err_set(e,
			"%s: the step of %s..%s is longer than the range",
			x->name, from, to);
	return 0;
}

/* In the unit of the range, or in a larger one where that is shorter. */
static void write_value(int64_t v, const char *unit, char text[64])
{
	char shorter[64], *space;
	const char *why;
	int64_t bytes;

	write_decimal(v, unit, text, 64);
	if (!*unit || units_read(UNIT_BYTES, text, &bytes, &why))
		return;
	units_format(UNIT_BYTES, bytes, shorter, sizeof(shorter));
	space = strchr(shorter, ' ');
	if (space)
		memmove(space, space + 1, strlen(space));
	if (strlen(shorter) < strlen(text))
		memcpy(text, shorter, strlen(shorter) + 1);
}

static int add_range(struct axis *x, const struct range *r, struct err *e)
{
	char text[64];

	if (check_range(x, r, e))
		return -1;
	for (int128 v = r->from; v <= r->to;
		v = r->is_factor ? v * r->step / MILLION : v + r->step) {
		write_value((int64_t)v, r->unit, text);
		if (add_value(x, text, strlen(text), e))
			return -1;
	}
	return 0;
}

/* Of numbers: "0.1-0.5", "0.1:0.5", "[0.1". */
static bool is_odd(const struct axis *x, const char *s, size_t len)
{
	static const char *const numbers[] = { "load", "bytes", "seed" };
	size_t i = 0, n = number_length(s);

	while (i < 3 && strcmp(numbers[i], x->name) != 0)
		i++;
	return i < 3 && n + strcspn(s + n, "-:[") < len &&
	       (isdigit((unsigned char)*s) || *s == '[');
}

/* What looks like a range and is none is no value, either. */
static int check_value(
	const struct axis *x, const char *s, size_t len, struct err *e)
{
	const char *dots = strstr(s, "..");
	bool is_range = isdigit((unsigned char)*s) && dots && dots < s + len;

	if (!is_range && !is_odd(x, s, len))
		return 0;
	return err_set(e,
		"%s: \"%.*s\" is not a range (want FROM..TO, FROM..TO:STEP or "
		"FROM..TO:xFACTOR, as in 1..5us:2 or 64KiB..64MiB:x32)",
		x->name, (int)(len < 40 ? len : 40), s);
}

/* As far as the next comma that is in no brackets. */
static size_t next_comma(const char *s)
{
	size_t i, depth = 0;

	for (i = 0; s[i] && (s[i] != ',' || depth); i++) {
		depth += s[i] == '[';
		depth -= s[i] == ']' && depth;
	}
	return i;
}

int axes_add(struct axes *a, enum axis_kind kind, const char *name,
	const char *values, struct err *e)
{
	struct axis *x = &a->axis[a->n];
	struct range r;

	if (a->n == AXES_MOST)
		return err_set(
			e, "more than %d keys with several values", AXES_MOST);
	*x = (struct axis){ .kind = kind, .name = mem_text(name) };
	a->n++;
	for (;; values++) {
		size_t len = next_comma(values);

		if (!len)
			return err_set(e, "%s: a value is missing", name);
		if (read_range(values, len, &r)
				? add_range(x, &r, e)
				: check_value(x, values, len, e) ||
					  add_value(x, values, len, e))
			return -1;
		values += len;
		if (!*values)
			return 0;
	}
}

void axes_free(struct axes *a)
{
	for (size_t i = 0; i < a->n; i++) {
		for (size_t k = 0; k < a->axis[i].n; k++)
			mem_free(a->axis[i].value[k]);
		mem_free(a->axis[i].value);
		mem_free(a->axis[i].name);
	}
}

size_t axes_points(const struct axes *a)
{
	size_t n = 1;

	for (size_t i = 0; i < a->n; i++) {
		n *= a->axis[i].n;
		if (n > AXES_POINTS)
			return 0;
	}
	return n;
}

size_t axes_index(const struct axes *a, size_t point, size_t axis)
{
	for (size_t i = a->n; --i > axis;)
		point /= a->axis[i].n;
	return point % a->axis[axis].n;
}

const char *axes_value(const struct axes *a, size_t point, size_t axis)
{
	return a->axis[axis].value[axes_index(a, point, axis)];
}

size_t axes_find(const struct axes *a, const char *name)
{
	size_t i = 0;

	while (i < a->n && strcmp(a->axis[i].name, name) != 0)
		i++;
	return i;
}

enum axis_unit axes_number(const char *value, double *number)
{
	static const struct {
		enum unit_kind kind;
		double scale;
	} kinds[] = {
		[AXIS_PLAIN] = { UNIT_FRACTION, 1e6 },
		[AXIS_RATE] = { UNIT_RATE, 1e9 },
		[AXIS_BYTES] = { UNIT_BYTES, 1 },
		[AXIS_TIME] = { UNIT_TIME, 1e3 },
	};
	const char *why;
	int64_t v = 0;
	uint32_t i;

	for (i = AXIS_PLAIN; i < AXIS_WORD; i++)
		if (!units_read(kinds[i].kind, value, &v, &why))
			break;
	*number = i < AXIS_WORD ? (double)v / kinds[i].scale : 0;
	return (enum axis_unit)i;
}

const char *axes_unit_name(enum axis_unit unit)
{
	static const char *const names[] = { "", "GB/s", "B", "ns", "" };

	return names[unit];
}

int axes_unit(const struct axis *x, enum axis_unit *unit, struct err *e)
{
	enum axis_unit u;
	double number;

	*unit = AXIS_WORD;
	for (size_t i = 0; i < x->n; i++) {
		u = axes_number(x->value[i], &number);
		/* "512" is as good a size as "512 B" */
		if (u == AXIS_WORD || (u == AXIS_PLAIN && *unit == AXIS_BYTES))
			continue;
		if (*unit != AXIS_WORD && u != *unit &&
			(*unit != AXIS_PLAIN || u != AXIS_BYTES))
			return err_set(e,
				"%s: %s has a different unit from the values "
				"before it",
				x->name, x->value[i]);
		*unit = u;
	}
	return 0;
}
