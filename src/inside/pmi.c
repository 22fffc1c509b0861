/*
 * A server of PMI-1, for MPI libraries that ask by it (stack=pmi): lines of
 * "cmd=NAME KEY=VALUE ...", each answered by one, on a socket for each rank.
 * What ranks put is seen by all behind a barrier.
 */
#define _GNU_SOURCE /* strchrnul() */
#include "inside/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINE = 4096, VALUE = 1024 };

struct pmi_rank {
	int fd;
	bool is_waiting; /* in a barrier */
	size_t used;
	char line[LINE];
};

struct pair {
	struct pair *next;
	char *key, *value;
};

static struct {
	const struct start *start;
	struct pmi_rank *rank;
	struct pair *pairs;
	uint32_t n_waiting;
} pmi;

/* --- lines --- */

static void answer(uint32_t rank, const char *text)
{
	size_t bytes = strlen(text);

	/* A rank that is gone is known by its end. */
	if (send(pmi.rank[rank].fd, text, bytes, MSG_NOSIGNAL) < 0)
		return;
}

/* The value of a key in a line, up to the next blank or, of the last key, to
 * the end; empty if there is none. */
static void value_of(const char *line, const char *key, char *to)
{
	char form[80];
	const char *at;
	size_t n;

	snprintf(form, sizeof(form), " %s=", key);
	at = strstr(line, form);
	to[0] = 0;
	if (!at)
		return;
	at += strlen(form);
	n = (size_t)(strchrnul(at, strcmp(key, "value") == 0 ? '\n' : ' ') -
		     at);
	n = n < VALUE ? n : VALUE - 1;
	memcpy(to, at, n);
	to[n] = 0;
}

/* --- what ranks tell each other --- */

static void put(uint32_t rank, const char *line)
{
	struct pair *p = start_alloc(NULL, sizeof(*p));
	char key[VALUE], value[VALUE];

	value_of(line, "key", key);
	value_of(line, "value", value);
	*p = (struct pair){
		.next = pmi.pairs,
		.key = start_text("%s", key),
		.value = start_text("%s", value),
	};
	pmi.pairs = p;
	answer(rank, "cmd=put_result rc=0 msg=success\n");
}

/* Blocks of nodes that have as many ranks as the first one. */
static char *mapping(void)
{
	const struct start *s = pmi.start;

	return start_text(
		"(vector,(0,%u,%u))", s->n_nodes, s->rank[0].n_processes);
}

static void get(uint32_t rank, const char *line)
{
	char key[VALUE];
	const struct pair *p = pmi.pairs;
	char *text;

	value_of(line, "key", key);
	while (p && strcmp(p->key, key) != 0)
		p = p->next;
	if (p)
		text = start_text(
			"cmd=get_result rc=0 msg=success value=%s\n", p->value);
	else
		text = start_text(
			"cmd=get_result rc=-1 msg=key_%s_not_found\n", key);
	answer(rank, text);
	free(text);
}

static void enter_barrier(uint32_t rank)
{
	pmi.rank[rank].is_waiting = true;
	if (++pmi.n_waiting < pmi.start->n_ranks)
		return;
	pmi.n_waiting = 0;
	for (uint32_t i = 0; i < pmi.start->n_ranks; i++) {
		pmi.rank[i].is_waiting = false;
		answer(i, "cmd=barrier_out rc=0\n");
	}
}

static void answer_number(uint32_t rank, const char *what, uint32_t number)
{
	char *text = start_text("cmd=%s=%u\n", what, number);

	answer(rank, text);
	free(text);
}

static void on_abort(uint32_t rank, const char *line)
{
	char code[VALUE];

	value_of(line, "exitcode", code);
	start_tell(pmi.start, CHANNEL_ABORTED, rank, atoi(code), NULL);
}

static bool is_command(const char *line, const char *name)
{
	size_t n = strlen(name);

	return strncmp(line, " cmd=", 5) == 0 &&
	       strncmp(line + 5, name, n) == 0 &&
	       (line[5 + n] == ' ' || line[5 + n] == 0);
}

static void serve(uint32_t rank, const char *line)
{
	static const struct {
		const char *command, *answer;
	} plain[] = {
		{ "init", "cmd=response_to_init pmi_version=1 "
			  "pmi_subversion=1 rc=0\n" },
		{ "get_maxes", "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 "
			       "vallen_max=1024\n" },
		{ "get_my_kvsname", "cmd=my_kvsname rc=0 kvsname=weft\n" },
		{ "finalize", "cmd=finalize_ack rc=0\n" },
	};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (is_command(line, plain[i].command))
			answer(rank, plain[i].answer);
	if (is_command(line, "put"))
		put(rank, line);
	else if (is_command(line, "get"))
		get(rank, line);
	else if (is_command(line, "barrier_in"))
		enter_barrier(rank);
	else if (is_command(line, "get_universe_size"))
		answer_number(
			rank, "universe_size rc=0 size", pmi.start->n_ranks);
	else if (is_command(line, "get_appnum"))
		answer_number(rank, "appnum rc=0 appnum",
			pmi.start->rank[rank].program);
	else if (is_command(line, "abort"))
		on_abort(rank, line);
}

/* --- life --- */

void pmi_open(const struct start *s)
{
	pmi.start = s;
	pmi.rank = start_alloc(NULL, s->n_ranks * sizeof(*pmi.rank));
	pmi.pairs = start_alloc(NULL, sizeof(*pmi.pairs));
	*pmi.pairs = (struct pair){
		.key = start_text("PMI_process_mapping"),
		.value = mapping(),
	};
	for (uint32_t i = 0; i < s->n_ranks; i++)
		pmi.rank[i] = (struct pmi_rank){ .fd = -1 };
}

int pmi_environ(uint32_t rank, char ***list)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	pmi.rank[rank].fd = pair[0];
	environ_set(list, start_text("PMI_FD=%d", START_PMI_FD));
	environ_set(list, start_text("PMI_RANK=%u", rank));
	environ_set(list, start_text("PMI_SIZE=%u", pmi.start->n_ranks));
	return pair[1];
}

int pmi_fd(uint32_t rank)
{
	return pmi.rank ? pmi.rank[rank].fd : -1;
}

bool pmi_serve(uint32_t rank)
{
	struct pmi_rank *r = &pmi.rank[rank];
	ssize_t n = recv(
		r->fd, r->line + r->used, LINE - 1 - r->used, MSG_DONTWAIT);
	char *end, line[LINE + 1];

	if (n <= 0) {
		close(r->fd);
		r->fd = -1;
		return true;
	}
	r->used += (size_t)n;
	r->line[r->used] = 0;
	while ((end = strchr(r->line, '\n'))) {
		*end = 0;
		snprintf(line, sizeof(line), " %s", r->line);
		r->used -= (size_t)(end + 1 - r->line);
		memmove(r->line, end + 1, r->used + 1);
		serve(rank, line);
	}
	return r->is_waiting;
}
