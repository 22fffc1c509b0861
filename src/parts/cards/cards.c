#include "parts/cards/cards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODE_NAME = 64 };

/* The card behind the last dot, where nodes have several. */
static int read_number(
	const struct topo *t, const char *name, struct part *p, struct err *e)
{
	const char *dot = strrchr(name, '.');
	unsigned long card = 0;
	char *end = NULL;

	if (dot)
		card = strtoul(dot + 1, &end, 10);
	if (!dot || end == dot + 1 || *end || dot[1] == '-')
		return err_set(e,
			"\"%.40s\" is not a card (want node and card, for "
			"example card 3.1)",
			name);
	if (card >= t->cards)
		return err_set(e, "no card has this number (want 0 to %u)",
			t->cards - 1);
	p->port = p->unit = (uint32_t)card;
	return 0;
}

/* "3.1", or "3" where nodes have one. */
static int read_card(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e)
{
	char node[NODE_NAME];
	const char *dot;

	if (!names->topo->cards || n != 1)
		return part_read_node(k, names, word, n, p, e);
	if (read_number(names->topo, word[0], p, e))
		return -1;
	dot = strrchr(word[0], '.');
	snprintf(node, sizeof(node), "%.*s", (int)(dot - word[0]), word[0]);
	return part_find_site(
		names, "node", node, 0, names->topo->n_nodes, &p->site, e);
}

static const struct part_kind card_kind = {
	.word = "card", .is_whole = true, .forgets = true, .read = read_card
};
static const struct part_kind host_kind = { .word = "host",
	.is_site = true,
	.is_whole = true,
	.read = part_read_node };

static const struct part_kind *const words[] = { &card_kind, &host_kind, NULL };

const struct part_ops part_cards = {
	.name = "cards",
	.needs = "cards",
	.words = words,
};

bool cards_fail(const struct fault_plan *p)
{
	for (size_t i = 0; p && i < p->n_events; i++)
		if (p->event[i].kind == &card_kind)
			return true;
	return false;
}

bool cards_dies(
	const struct fault_plan *p, site_id node, uint32_t card, sim_time t)
{
	for (size_t i = 0; p && i < p->n_events; i++) {
		const struct fault_event *e = &p->event[i];

		if (e->kind == &card_kind && e->site == node && e->at == t &&
			!e->returns &&
			(e->port == PART_SITE || e->port == card))
			return true;
	}
	return false;
}
