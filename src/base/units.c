#include "base/units.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "base/wide.h"

__extension__ typedef unsigned __int128 wide;

/* After the point; 10^18 of the largest unit still fits a wide. */
enum { MAX_PLACES = 18, MAX_EXPONENT = 100, UNIT_TEXT = 48 };

struct unit {
	const char *name;
	int64_t size;
	bool is_read_only; /* the formatter does not use it */
};

/*
 * The smallest unit first: of two texts of one length the formatter keeps
 * the first, and "500 ps" reads better than "0.5 ns".
 */
struct kind {
	struct unit units[24]; /* ends at a NULL name */
	const char *bare; /* the unit of a number that names none, or NULL */
	const char *not_whole;
	const char *list;
};

static const struct kind kinds[] = {
	[UNIT_NONE] = {
		.units = {
			{ "", 1, false },
			{ "Ki", INT64_C(1) << 10, true },
			{ "Mi", INT64_C(1) << 20, true },
			{ "Gi", INT64_C(1) << 30, true },
		},
		.bare = "",
		.not_whole = "not a whole number",
		.list = "no unit",
	},
	[UNIT_TIME] = {
		.units = {
			{ "ps", 1, false },
			{ "ns", 1000, false },
			{ "us", 1000000, false },
			{ "\xc2\xb5s", 1000000, true }, /* micro */
			{ "\xce\xbcs", 1000000, true }, /* mu */
			{ "ms", 1000000000, false },
			{ "s", 1000000000000, false },
		},
		.not_whole = "not a whole number of ps",
		.list = "ns, us, ms, s or ps",
	},
	[UNIT_RATE] = {
		.units = {
			{ "B/s", 1, false },
			{ "KB/s", 1000, false },
			{ "MB/s", 1000000, false },
			{ "GB/s", 1000000000, false },
			{ "Kb/s", 125, true },
			{ "Mb/s", 125000, true },
			{ "Gb/s", 125000000, true },
			{ "TB/s", 1000000000000, true },
			{ "Tb/s", 125000000000, true },
			{ "Kbps", 125, true },
			{ "Mbps", 125000, true },
			{ "Gbps", 125000000, true },
			{ "Tbps", 125000000000, true },
			{ "Kbit/s", 125, true },
			{ "Mbit/s", 125000, true },
			{ "Gbit/s", 125000000, true },
			{ "Tbit/s", 125000000000, true },
			{ "KBps", 1000, true },
			{ "MBps", 1000000, true },
			{ "GBps", 1000000000, true },
		},
		.not_whole = "not a whole number of B/s",
		.list = "B/s, KB/s, MB/s, GB/s, Kb/s, Mb/s or Gb/s",
	},
	[UNIT_BYTES] = {
		.units = {
			{ "B", 1, false },
			{ "KB", 1000, false },
			{ "KiB", INT64_C(1) << 10, false },
			{ "MB", 1000000, false },
			{ "MiB", INT64_C(1) << 20, false },
			{ "GB", 1000000000, false },
			{ "GiB", INT64_C(1) << 30, false },
		},
		.bare = "B",
		.not_whole = "not a whole number of bytes",
		.list = "B, KB, KiB, MB, MiB, GB or GiB",
	},
	[UNIT_FRACTION] = {
		.units = { { "", 1000000, false }, { "%", 10000, false } },
		.bare = "",
		.not_whole = "finer than a millionth",
		.list = "% or no unit",
	},
	[UNIT_CLOCK] = {
		.units = {
			{ "Hz", 1, false },
			{ "kHz", 1000, false },
			{ "MHz", 1000000, false },
			{ "GHz", 1000000000, false },
		},
		.not_whole = "not a whole number of Hz",
		.list = "MHz, GHz, kHz or Hz",
	},
	[UNIT_LOAD] = {
		.list = "% or no unit, a rate such as 5 GB/s",
	},
};

/* whole + part / 10^places */
struct decimal {
	int64_t whole, part;
	int places;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_spaces(const char *s)
{
	return s + strspn(s, " \t");
}

static int refuse(const char **why, const char *reason)
{
	*why = reason;
	return -1;
}

static int read_whole(const char **s, int64_t *whole, const char **why)
{
	if (!is_digit(**s))
		return refuse(why,
			**s == '-'   ? "negative"
			: **s == '.' ? "a digit is missing before the point"
				     : "not a number");
	for (*whole = 0; is_digit(**s); ++*s) {
		if (__builtin_mul_overflow(*whole, 10, whole) ||
			__builtin_add_overflow(*whole, **s - '0', whole))
			return refuse(why, "too large");
	}
	return 0;
}

static int read_part(const char **s, struct decimal *d, const char **why)
{
	const char *digits = *s;
	size_t n = strspn(digits, "0123456789");

	if (!n)
		return refuse(why, "not a number");
	*s += n;
	while (n && digits[n - 1] == '0')
		n--;
	if (n > MAX_PLACES)
		return refuse(why, "too many decimals");
	for (size_t i = 0; i < n; i++)
		d->part = d->part * 10 + (digits[i] - '0');
	d->places = (int)n;
	return 0;
}

static int64_t power_of_10(int n)
{
	int64_t p = 1;

	while (n--)
		p *= 10;
	return p;
}

static int multiply_by_10(struct decimal *d, const char **why)
{
	int64_t digit = 0, one;

	if (d->places) {
		one = power_of_10(--d->places);
		digit = d->part / one;
		d->part %= one;
	}
	if (__builtin_mul_overflow(d->whole, 10, &d->whole) ||
		__builtin_add_overflow(d->whole, digit, &d->whole))
		return refuse(why, "too large");
	return 0;
}

static int divide_by_10(struct decimal *d, const char **why)
{
	int64_t digit = d->whole % 10;

	d->whole /= 10;
	if (!digit && !d->part)
		return 0;
	if (d->places == MAX_PLACES)
		return refuse(why, "too many decimals");
	d->part += digit * power_of_10(d->places++);
	return 0;
}

/* "e-9", "e6", "E+6", or nothing. */
static int read_exponent(const char **s, struct decimal *d, const char **why)
{
	const char *at = *s;
	bool is_negative;
	int n = 0;

	if (*at != 'e' && *at != 'E')
		return 0;
	is_negative = *++at == '-';
	at += *at == '-' || *at == '+';
	if (!is_digit(*at))
		return 0;
	for (; is_digit(*at); at++)
		n = n < MAX_EXPONENT ? 10 * n + (*at - '0') : n;
	while (n--)
		if (is_negative ? divide_by_10(d, why) : multiply_by_10(d, why))
			return -1;
	*s = at;
	return 0;
}

static int read_decimal(const char **s, struct decimal *d, const char **why)
{
	*s = skip_spaces(*s);
	if (read_whole(s, &d->whole, why))
		return -1;
	if (**s == '.') {
		++*s;
		if (read_part(s, d, why))
			return -1;
	}
	return read_exponent(s, d, why);
}

static const struct unit *find_unit(
	const struct kind *k, const char *name, size_t len)
{
	for (const struct unit *u = k->units; u->name; u++)
		if (strlen(u->name) == len && !strncmp(u->name, name, len))
			return u;
	return NULL;
}

static const struct unit *read_unit(
	const struct kind *k, const char *s, const char **why)
{
	const struct unit *u;
	size_t n;

	s = skip_spaces(s);
	n = strlen(s);
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		n--;
	if (!n && !k->bare) {
		*why = "unit missing";
		return NULL;
	}
	u = n ? find_unit(k, s, n) : find_unit(k, k->bare, strlen(k->bare));
	if (!u)
		*why = k == &kinds[UNIT_NONE] ? k->not_whole : "unknown unit";
	return u;
}

static int read_load(const char *text, int64_t *value, const char **why)
{
	int64_t v;

	if (units_read(UNIT_RATE, text, &v, why))
		return units_read(UNIT_FRACTION, text, value, why);
	if (!v || v >= UNIT_ABSOLUTE)
		return refuse(why, v ? "too large" : "nothing");
	*value = UNIT_ABSOLUTE + v;
	return 0;
}

int units_read(
	enum unit_kind kind, const char *text, int64_t *value, const char **why)
{
	const struct kind *k = &kinds[kind];
	struct decimal d = { 0 };
	const struct unit *u;
	wide part, sum, one = 1;

	if (kind == UNIT_LOAD)
		return read_load(text, value, why);
	if (read_decimal(&text, &d, why))
		return -1;
	u = read_unit(k, text, why);
	if (!u)
		return -1;
	for (int i = 0; i < d.places; i++)
		one *= 10;
	part = (wide)d.part * (wide)u->size;
	if (part % one)
		return refuse(why, k->not_whole);
	sum = (wide)d.whole * (wide)u->size + part / one;
	if (sum > INT64_MAX)
		return refuse(why, "too large");
	*value = (int64_t)sum;
	return 0;
}

/* value / size in decimal: its length, or 0 if it does not end within
 * MAX_PLACES. */
static size_t write_decimal(uint64_t value, uint64_t size, char text[UNIT_TEXT])
{
	uint64_t rest = value % size;
	size_t n = name_put_number(text, UNIT_TEXT, 0, value / size);

	if (rest)
		text[n++] = '.';
	for (int i = 0; rest && i < MAX_PLACES; i++) {
		rest *= 10;
		text[n++] = (char)('0' + rest / size);
		rest %= size;
	}
	text[n] = '\0';
	return rest ? 0 : n;
}

/* The exact text in one unit, or "" where that needs too many digits. */
static void write_in(const struct unit *u, uint64_t value, char text[UNIT_TEXT])
{
	size_t n = write_decimal(value, (uint64_t)u->size, text);

	if (!n)
		text[0] = '\0';
	else if (*u->name)
		name_put(text, UNIT_TEXT, name_put(text, UNIT_TEXT, n, " "),
			u->name);
}

void units_format(enum unit_kind kind, int64_t value, char *text, size_t size)
{
	const struct unit *u = kinds[kind].units;
	uint64_t v = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char best[UNIT_TEXT], next[UNIT_TEXT];

	if (kind == UNIT_LOAD) {
		bool is_rate = value > UNIT_ABSOLUTE;

		units_format(is_rate ? UNIT_RATE : UNIT_FRACTION,
			is_rate ? value - UNIT_ABSOLUTE : value, text, size);
		return;
	}
	write_in(u, v, best);
	/* Nothing is "0 ps" or "0 B", not the shorter but odd "0 s". */
	while (v && (++u)->name) {
		if (u->is_read_only)
			continue;
		write_in(u, v, next);
		if (*next && (!*best || strlen(next) < strlen(best)))
			memcpy(best, next, sizeof(best));
	}
	name_put(text, size, name_put(text, size, 0, value < 0 ? "-" : ""),
		best);
}

bool units_is_unit(const char *text)
{
	size_t n = strlen(text);

	for (int k = 0; n && k < UNIT_LOAD; k++)
		if (find_unit(&kinds[k], text, n))
			return true;
	return false;
}

const char *units_list(enum unit_kind kind)
{
	return kinds[kind].list;
}

int64_t units_cycles(int64_t cycles, int64_t hz)
{
	return (int64_t)(((int128)cycles * PS_PER_S + hz / 2) / hz);
}

int64_t units_time(uint64_t bytes, int64_t rate)
{
	return (int64_t)(((int128)bytes * PS_PER_S + rate - 1) / rate);
}

/* Units of bytes have no small b. */
bool units_are_bits(const char *text)
{
	const char *why;
	int64_t rate;

	return !units_read(UNIT_RATE, text, &rate, &why) && strchr(text, 'b');
}
