/*
 * A list of items that do not move in memory, by links inside them.  It owns
 * nothing, and does not know its length.  Items of a pool have numbers instead:
 * see base/slots.h.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stddef.h>

struct list_link {
	struct list_link *next, *prev;
};

struct list {
	struct list_link *first, *last; /* NULL: it is empty */
};

/* The item of a type whose member a link is. */
#define LIST_ITEM(link, type, member)                                          \
	((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void list_push(struct list *l, struct list_link *x)
{
	*x = (struct list_link){ .prev = l->last };
	if (l->last)
		l->last->next = x;
	else
		l->first = x;
	l->last = x;
}

static inline void list_remove(struct list *l, struct list_link *x)
{
	if (x->prev)
		x->prev->next = x->next;
	else
		l->first = x->next;
	if (x->next)
		x->next->prev = x->prev;
	else
		l->last = x->prev;
}

/* Takes out the first of a list that is not empty. */
static inline struct list_link *list_pop(struct list *l)
{
	struct list_link *x = l->first;

	list_remove(l, x);
	return x;
}

#endif
