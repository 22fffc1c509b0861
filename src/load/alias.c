/*
 * What workloads were called before every machine had them, and what does the
 * same now.  Kept for one release.
 */
#include "load/load.h"

#include <stdio.h>
#include <string.h>

#define PING_KEYS                                                              \
	{                                                                      \
		{ "op=put", "by=sten" }, { "op=", "by=" }, { "mode=", "" },    \
	}

const struct load_alias load_aliases[] = {
	{ "ping", "op=get", "gets", "to=1 rounds=200",
		{ { "op=", "" }, { "mode=latency", "" } } },
	{ "ping", "mode=stream", "stream",
		"by=sten bytes=8 rounds=200 places=1", PING_KEYS },
	{ "ping", "mode=both", "stream",
		"by=sten both=yes bytes=8 rounds=200 places=1", PING_KEYS },
	{ "ping", NULL, "pingpong", "via=nic by=sten rounds=200", PING_KEYS },
	{ "neighbour", NULL, "exchange", "", { { 0 } } },
	{ "put", NULL, "stream", "bytes=1000 rounds=1",
		{ { "count=", "rounds=" } } },
	{ 0 },
};

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Whether any of the keys begins with what the first one does, to its '='. */
static bool has_key(const struct load_words *w, const char *key)
{
	size_t i, n = strcspn(key, "=") + 1;

	for (i = 0; i < w->n; i++)
		if (!strncmp(w->key[i], key, n))
			return true;
	return false;
}

static void add_key(struct load_words *w, const char *text, size_t n)
{
	if (w->n < LOAD_MOST_KEYS && n < sizeof(w->key[0])) {
		memcpy(w->key[w->n], text, n);
		w->key[w->n++][n] = 0;
	}
}

static bool fits(const struct load_alias *a, const char *name,
	const char *const *keys, size_t n)
{
	size_t i;

	if (strcmp(a->name, name) != 0)
		return false;
	for (i = 0; a->when && i < n; i++)
		if (!strcmp(keys[i], a->when))
			return true;
	return !a->when;
}

static void rename_key(
	struct load_words *w, const struct load_alias *a, const char *key)
{
	char text[LOAD_KEY];
	size_t i;

	for (i = 0; i < LOAD_RENAMES && a->renamed[i].was; i++) {
		if (!begins(key, a->renamed[i].was))
			continue;
		snprintf(text, sizeof(text), "%s%s", a->renamed[i].is,
			key + strlen(a->renamed[i].was));
		if (a->renamed[i].is[0])
			add_key(w, text, strlen(text));
		return;
	}
	add_key(w, key, strlen(key));
}

bool load_translate(struct load_words *w, const char *name,
	const char *const *keys, size_t n)
{
	const struct load_alias *a = load_aliases;
	const char *fixed;
	size_t i;

	while (a->name && !fits(a, name, keys, n))
		a++;
	if (!a->name)
		return false;
	*w = (struct load_words){ .name = a->now };
	for (i = 0; i < n; i++)
		rename_key(w, a, keys[i]);
	for (fixed = a->keys; *fixed; fixed += strspn(fixed, " ")) {
		size_t k = strcspn(fixed, " ");

		if (!has_key(w, fixed))
			add_key(w, fixed, k);
		fixed += k;
	}
	return true;
}
