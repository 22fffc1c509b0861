/* Collectives by messages of weft/msg.h: a play (load/coll/play.h) whose
 * members are ranks. */
#ifndef LOAD_COLL_MESSAGES_H
#define LOAD_COLL_MESSAGES_H

#include "load/coll/group.h"
#include "load/coll/play.h"
#include "weft/msg.h"

struct coll_run {
	struct play play;
	struct weft_msg *msg;
	const struct algo_group *group;
	/* The rank of the messages for a rank of the group; NULL: it. */
	const uint32_t *place;
	uint64_t at; /* where the data begin */
	uint32_t tag; /* the first of ALGO_TAGS */
	uint64_t come; /* bytes that have come, or will */
	struct weft_msg_request *request; /* [slot] */
};

/* has_data: sums and copies are made; otherwise nobody looks at the bytes.
 * The other fields but play, come and request are set; plan is borrowed. */
void coll_run_open(struct coll_run *r, const struct algo_plan *plan,
	uint32_t member, bool has_data);
void coll_run_close(struct coll_run *r);

/* Until it is over: 0, or an error number. */
int coll_run_finish(struct coll_run *r);

/*
 * All members call it; each of the n numbers in v becomes the highest that a
 * member has.  Needs only msg, group, place, tag, and room for the numbers at
 * the address.  0, or an error number.
 */
int coll_agree(
	const struct coll_run *r, uint32_t member, int64_t *v, uint32_t n);

#endif
