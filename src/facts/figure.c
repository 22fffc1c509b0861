#include "facts/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 4 };

struct unit {
	const char *name;
	double size; /* in the unit of the figure's name */
};

/* From small to large. */
static const struct unit times[] = { { "ps", 1e-3 }, { "ns", 1 }, { "us", 1e3 },
	{ "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 } };
static const struct unit times_us[] = { { "ns", 1e-3 }, { "us", 1 },
	{ "ms", 1e3 }, { "s", 1e6 }, { NULL, 0 } };
static const struct unit times_ms[] = { { "us", 1e-3 }, { "ms", 1 },
	{ "s", 1e3 }, { NULL, 0 } };
static const struct unit megabytes[] = { { "MB/s", 1 }, { "GB/s", 1e3 },
	{ "TB/s", 1e6 }, { NULL, 0 } };
static const struct unit gigabytes[] = { { "MB/s", 1e-3 }, { "GB/s", 1 },
	{ "TB/s", 1e3 }, { NULL, 0 } };
static const struct unit per_cent[] = { { "%", 1 }, { NULL, 0 } };
static const struct unit per_us[] = { { "per us", 1 }, { NULL, 0 } };
static const struct unit bytes[] = { { "B", 1 }, { NULL, 0 } };
static const struct unit joules[] = { { "nJ", 1e-9 }, { "uJ", 1e-6 },
	{ "mJ", 1e-3 }, { "J", 1 }, { "kJ", 1e3 }, { "MJ", 1e6 }, { NULL, 0 } };
static const struct unit millions[] = { { "million/s", 1 }, { NULL, 0 } };

static const struct {
	const char *suffix;
	const struct unit *units;
} suffixes[] = {
	{ "_per_us", per_us },
	{ "_ns", times },
	{ "_us", times_us },
	{ "_ms", times_ms },
	{ "_GBps_per_node", gigabytes },
	{ "_MBps_per_node", megabytes },
	{ "_GBps", gigabytes },
	{ "_MBps", megabytes },
	{ "_pct", per_cent },
	{ "_Mps", millions },
	{ "_B", bytes },
	{ "_J", joules },
};

enum { N_SUFFIXES = sizeof(suffixes) / sizeof(suffixes[0]) };

/* Which suffix a name ends with, or N_SUFFIXES. */
static size_t find_suffix(const char *name)
{
	size_t n = strlen(name), i;

	for (i = 0; i < N_SUFFIXES; i++) {
		size_t k = strlen(suffixes[i].suffix);

		if (n > k && !strcmp(name + n - k, suffixes[i].suffix))
			break;
	}
	return i;
}

struct figure_scale figure_scale(const char *name, double value)
{
	size_t i = find_suffix(name);
	const struct unit *best;

	if (i == N_SUFFIXES)
		return (struct figure_scale){ 1, "" };
	/* a value that rounds to 1000 is 1 in the next unit */
	best = suffixes[i].units;
	for (const struct unit *u = best + 1; u->name; u++)
		if (fabs(value) >= u->size * 0.99995)
			best = u;
	if (value == 0)
		for (best = suffixes[i].units; best->size < 1;)
			best++;
	return (struct figure_scale){ 1 / best->size, best->name };
}

/* Names that need other words. */
static const struct {
	const char *name, *title;
} titles[] = {
	{ "confidence_95_half_width_pct", "95 % within" },
	{ "packet_time_ns", "packet time" },
	{ "first_B", "first faster at" },
	{ "crossover_B", "always faster from" },
	{ "read_B", "mean bus read" },
	{ "write_B", "mean bus write" },
	{ "price_per_Gbps", "price per Gb/s" },
};

void figure_title(const char *name, char text[FIGURE_NAME])
{
	size_t i = find_suffix(name), n = strlen(name), k;

	for (k = 0; k < sizeof(titles) / sizeof(titles[0]); k++)
		if (!strcmp(name, titles[k].name)) {
			snprintf(text, FIGURE_NAME, "%s", titles[k].title);
			return;
		}
	if (i < N_SUFFIXES)
		n -= strlen(suffixes[i].suffix);
	snprintf(text, FIGURE_NAME, "%.*s", (int)n, name);
	if (i < N_SUFFIXES && strstr(suffixes[i].suffix, "_per_node"))
		snprintf(text + n, FIGURE_NAME - n, " per node");
	for (k = 0; text[k]; k++)
		if (text[k] == '_')
			text[k] = ' ';
}

/* The number of decimals that shows all significant digits. */
static int decimals(double value)
{
	int whole = value == 0 ? 1 : (int)floor(log10(fabs(value))) + 1;

	return whole >= DIGITS ? 0 : DIGITS - whole;
}

static void trim(char *text)
{
	size_t n = strlen(text);

	if (!strchr(text, '.'))
		return;
	while (text[n - 1] == '0')
		text[--n] = '\0';
	if (text[n - 1] == '.')
		text[--n] = '\0';
}

/* Digits beyond the significant ones are zeros. */
static double rounded(double value)
{
	double unit = pow(10, floor(log10(fabs(value))) - (DIGITS - 1));

	return unit > 1 ? round(value / unit) * unit : value;
}

static void write_number(double value, char text[FIGURE_TEXT])
{
	if (!isfinite(value) || fabs(value) >= 1e15 ||
		(value != 0 && fabs(value) < 1e-6)) {
		snprintf(text, FIGURE_TEXT, "%.*g", DIGITS, value);
		return;
	}
	snprintf(text, FIGURE_TEXT, "%.*f", decimals(value),
		value == 0 ? 0 : rounded(value));
	trim(text);
}

void figure_scaled(double value, struct figure_scale s, char text[FIGURE_TEXT])
{
	if (!*s.unit && fabs(value) < 1e15 && value == floor(value))
		snprintf(text, FIGURE_TEXT, "%.0f", value);
	else
		write_number(*s.unit ? value * s.by : value, text);
}

void figure_text(const char *name, double value, char text[FIGURE_TEXT])
{
	struct figure_scale s = figure_scale(name, value);
	size_t n;

	figure_scaled(value, s, text);
	n = strlen(text);
	if (*s.unit)
		snprintf(text + n, FIGURE_TEXT - n, " %s", s.unit);
}
