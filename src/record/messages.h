/* The messages that a run file keeps, with their budgets. */
#ifndef RECORD_MESSAGES_H
#define RECORD_MESSAGES_H

#include <pthread.h>
#include <stdatomic.h>

#include "meas/budget.h"
#include "meas/digest.h"
#include "record/db.h"
#include "record/links.h"
#include "record/record.h"

enum { RECORD_MESSAGES = 20000, RECORD_SLOWEST = 20 };

struct record_messages {
	pthread_mutex_t lock;
	struct book_account *account; /* twice as many as are kept */
	size_t n;
	_Atomic uint64_t below; /* messages of higher ranks are dropped */
	_Atomic uint64_t ended;
};

/* Writes them, and the slowest messages with their routes. */
void record_messages_write(struct record_messages *m,
	const struct record_links *links, struct db *d, struct err *e);
/* How many there were, of all processes. */
uint64_t record_messages_ended(
	const struct record_messages *m, const struct sim *sim);
/* Writes the time that each class of messages spent on each cause. */
void record_classes_write(
	const struct book_class *class, struct db *d, struct err *e);

#endif
