#include "load/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MOST_RANKS = 1 << 20 };

struct commands_one {
	const char **words;
	uint64_t n_ranks; /* 0: not given */
};

static bool is_colon(const char *word)
{
	return !strcmp(word, ":");
}

static bool is_count(const char *word)
{
	return !strcmp(word, "-n") || !strcmp(word, "-np");
}

/* "-n 2" in front of a program. */
static int read_count(struct commands_one *one, struct err *e)
{
	const char *text = one->words[1];
	char *end;

	if (one->n_ranks)
		return err_set(e, "the number of ranks of %.60s is given twice",
			one->words[2] ? one->words[2] : "a program");
	one->n_ranks = text ? strtoull(text, &end, 10) : 0;
	if (!text || *text < '0' || *text > '9' || *end || !one->n_ranks ||
		one->n_ranks > MOST_RANKS)
		return err_set(e, "%s: \"%.40s\" is not a number of ranks",
			one->words[0], text ? text : "");
	one->words += 2;
	return 0;
}

static int check_one(
	struct commands *c, struct commands_one *one, struct err *e)
{
	if (*one->words && is_count(*one->words) && read_count(one, e))
		return -1;
	if (!*one->words || !**one->words)
		return err_set(e, "want a program before and after each colon");
	if (c->n > 1 && !one->n_ranks)
		return err_set(e,
			"%.100s: want the number of ranks of each program, as "
			"in `weft mpirun torus -n 4 -- ./a : -n 2 ./b`",
			*one->words);
	c->n_ranks += one->n_ranks;
	return 0;
}

int commands_read(struct commands *c, const char *const *line, uint64_t ranks,
	struct err *e)
{
	uint32_t n = 0;

	while (line[n])
		n++;
	*c = (struct commands){
		.words = mem_alloc(n + 1, sizeof(*c->words)),
		.one = mem_alloc(n + 1, sizeof(*c->one)),
		.n = 1,
	};
	c->one[0] = (struct commands_one){ c->words, ranks };
	for (uint32_t i = 0; i < n; i++)
		if (is_colon(line[i]))
			c->one[c->n++].words = &c->words[i + 1];
		else
			c->words[i] = line[i];
	for (uint32_t i = 0; i < c->n; i++)
		if (check_one(c, &c->one[i], e))
			return -1;
	return 0;
}

void commands_free(struct commands *c)
{
	mem_free(c->words);
	mem_free(c->one);
	*c = (struct commands){ 0 };
}

const char *commands_name(const struct commands *c, uint32_t which)
{
	return c->one[which].words[0];
}

uint32_t commands_of(const struct commands *c, uint64_t rank)
{
	uint32_t i = 0;

	for (; i + 1 < c->n && rank >= c->one[i].n_ranks; i++)
		rank -= c->one[i].n_ranks;
	return i;
}

const char *const *commands_words(const struct commands *c, uint64_t rank)
{
	return c->one[commands_of(c, rank)].words;
}
