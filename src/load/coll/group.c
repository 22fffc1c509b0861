#include "load/coll/group.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A range of the text: "5", "0..63" or "1..63:2". */
struct range {
	uint64_t from, to, step;
};

static bool read_number(const char **at, uint64_t *v)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*v = strtoull(*at, &end, 10);
	*at = end;
	return true;
}

static bool read_range(const char **at, struct range *r)
{
	if (!read_number(at, &r->from))
		return false;
	r->to = r->from;
	r->step = 1;
	if (strncmp(*at, "..", 2) != 0)
		return true;
	*at += 2;
	if (!read_number(at, &r->to))
		return false;
	if (**at != ':')
		return true;
	(*at)++;
	return read_number(at, &r->step);
}

/* has: a bit for each rank that is a member. */
static int add_range(struct algo_group *g, uint64_t *has, uint32_t n_ranks,
	const struct range *r, struct err *e)
{
	uint64_t rank = r->from;

	if (r->to < r->from || !r->step)
		return err_set(e, "group: a range goes from a rank to a higher "
				  "one, as in 0..63 or 0..63:2");
	if (r->to >= n_ranks)
		return err_set(e,
			"group: no rank %llu (want ranks from 0 to %u)",
			(unsigned long long)r->to, n_ranks - 1);
	for (; rank <= r->to; rank += r->step) {
		if (has[rank / 64] >> rank % 64 & 1)
			return err_set(e, "group: rank %llu is in it twice",
				(unsigned long long)rank);
		has[rank / 64] |= UINT64_C(1) << rank % 64;
		g->rank[g->n++] = (uint32_t)rank;
	}
	return 0;
}

static int read_ranges(struct algo_group *g, const char *text, uint64_t *has,
	uint32_t n_ranks, struct err *e)
{
	bool is_open = *text == '[';
	const char *at = text + is_open;
	struct range r;

	for (;; at++) {
		if (!read_range(&at, &r))
			break;
		if (add_range(g, has, n_ranks, &r, e))
			return -1;
		if (*at != ',')
			break;
	}
	if (is_open && *at == ']')
		at++;
	if (*at || !g->n)
		return err_set(e,
			"group: \"%.40s\" is no list of ranks (want all, or "
			"ranks as in 0..63 or 0,8,5)",
			text);
	return 0;
}

int algo_group_read(
	struct algo_group *g, const char *text, uint32_t n_ranks, struct err *e)
{
	uint64_t *has;
	int failed;

	*g = (struct algo_group){ .n = n_ranks };
	if (!strcmp(text, "all"))
		return 0;
	has = mem_alloc(n_ranks / 64 + 1, sizeof(*has));
	g->n = 0;
	g->rank = mem_alloc(n_ranks, sizeof(*g->rank));
	failed = read_ranges(g, text, has, n_ranks, e);
	mem_free(has);
	if (failed)
		algo_group_free(g);
	return failed;
}

void algo_group_free(struct algo_group *g)
{
	mem_free(g->rank);
	*g = (struct algo_group){ 0 };
}

uint32_t algo_group_member(const struct algo_group *g, uint32_t rank)
{
	if (!g->rank)
		return rank < g->n ? rank : ALGO_NOBODY;
	for (uint32_t i = 0; i < g->n; i++)
		if (g->rank[i] == rank)
			return i;
	return ALGO_NOBODY;
}
