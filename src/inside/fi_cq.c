#include "inside/fi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Completion queues and counters.  Both are filled at crossings (ep_done()), so
 * looking at one that is empty is what makes a rank cross. */

static struct queue *cq_of(struct fid_cq *fid)
{
	return (struct queue *)fid;
}

static struct counter *counter_of(struct fid_cntr *fid)
{
	return (struct counter *)fid;
}

/* --- queues --- */

static void grow(struct queue *q)
{
	size_t size = q->size ? 2 * q->size : 64;
	struct entry *entry = malloc(size * sizeof(*entry));

	/* An entry that is lost would be waited for without end. */
	if (!entry)
		abort();
	for (size_t i = 0; i < q->n; i++)
		entry[i] = q->entry[(q->first + i) % q->size];
	free(q->entry);
	q->entry = entry;
	q->size = size;
	q->first = 0;
}

void cq_add(struct queue *q, const struct entry *e)
{
	if (q->most > 0 && q->n == q->most) {
		q->is_overrun = true;
		return;
	}
	if (q->n == q->size)
		grow(q);
	q->entry[(q->first + q->n++) % q->size] = *e;
}

static size_t entry_bytes(enum fi_cq_format format)
{
	switch (format) {
	case FI_CQ_FORMAT_MSG:
		return sizeof(struct fi_cq_msg_entry);
	case FI_CQ_FORMAT_DATA:
		return sizeof(struct fi_cq_data_entry);
	case FI_CQ_FORMAT_TAGGED:
		return sizeof(struct fi_cq_tagged_entry);
	default:
		return sizeof(struct fi_cq_entry);
	}
}

/* All forms are beginnings of the longest one. */
static ssize_t take(struct queue *q, char *to, size_t n, fi_addr_t *from)
{
	size_t bytes = entry_bytes(q->format), i;

	/* What was lost is lost: nobody can rely on the queue any longer. */
	if (q->is_overrun)
		return -FI_EOVERRUN;
	if (q->n == 0)
		return -FI_EAGAIN;
	if (q->entry[q->first].error)
		return -FI_EAVAIL;
	for (i = 0; i < n && q->n > 0; i++) {
		const struct entry *e = &q->entry[q->first];

		if (e->error)
			break;
		memcpy(to + i * bytes, &e->tagged, bytes);
		if (from)
			from[i] = e->from;
		q->first = (q->first + 1) % q->size;
		q->n--;
	}
	return (ssize_t)i;
}

static ssize_t read_from(
	struct fid_cq *fid, void *to, size_t n, fi_addr_t *from)
{
	struct queue *q = cq_of(fid);
	ssize_t answer;

	weft_link_lock();
	if (q->n == 0)
		weft_link_look(&q->looks);
	answer = take(q, to, n, from);
	weft_link_unlock();
	return answer;
}

static ssize_t read_some(struct fid_cq *fid, void *to, size_t n)
{
	return read_from(fid, to, n, NULL);
}

/* Only what this rank receives, or a signal, ends it before its time. */
static ssize_t wait_from(struct fid_cq *fid, void *to, size_t n,
	fi_addr_t *from, const void *condition, int milliseconds)
{
	struct queue *q = cq_of(fid);
	ssize_t answer;

	weft_link_lock();
	while (q->n == 0 && !q->is_signaled)
		if (!weft_link_wait(milliseconds))
			break;
	q->is_signaled = false;
	answer = take(q, to, n, from);
	weft_link_unlock();
	return answer;
}

static ssize_t wait_some(struct fid_cq *fid, void *to, size_t n,
	const void *condition, int milliseconds)
{
	return wait_from(fid, to, n, NULL, condition, milliseconds);
}

static ssize_t read_error(
	struct fid_cq *fid, struct fi_cq_err_entry *to, uint64_t flags)
{
	struct queue *q = cq_of(fid);
	const struct entry *e;

	weft_link_lock();
	if (q->n == 0 || !q->entry[q->first].error) {
		weft_link_unlock();
		return -FI_EAGAIN;
	}
	e = &q->entry[q->first];
	to->op_context = e->tagged.op_context;
	to->flags = e->tagged.flags;
	to->len = e->tagged.len;
	to->buf = e->tagged.buf;
	to->data = e->tagged.data;
	to->tag = e->tagged.tag;
	to->olen = e->beyond;
	to->err = e->error;
	to->prov_errno = e->error;
	to->err_data = NULL;
	to->err_data_size = 0;
	q->first = (q->first + 1) % q->size;
	q->n--;
	weft_link_unlock();
	return 1;
}

static int signal_queue(struct fid_cq *fid)
{
	cq_of(fid)->is_signaled = true;
	return 0;
}

static const char *error_text(struct fid_cq *fid, int error, const void *data,
	char *text, size_t bytes)
{
	if (text && bytes > 0)
		snprintf(text, bytes, "%s", fi_strerror(error));
	return fi_strerror(error);
}

static int close_cq(struct fid *fid)
{
	struct queue *q = (struct queue *)fid;

	free(q->entry);
	free(q);
	return 0;
}

static struct fi_ops cq_fid_ops = FI_TABLE(close_cq, none_bind, none_control);

static struct fi_ops_cq cq_ops = {
	.size = sizeof(struct fi_ops_cq),
	.read = read_some,
	.readfrom = read_from,
	.readerr = read_error,
	.sread = wait_some,
	.sreadfrom = wait_from,
	.signal = signal_queue,
	.strerror = error_text,
};

static bool has_wait(enum fi_wait_obj wait)
{
	return wait == FI_WAIT_NONE || wait == FI_WAIT_UNSPEC ||
	       wait == FI_WAIT_YIELD;
}

int cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
	struct fid_cq **to, void *context)
{
	struct queue *q;

	if (attr && !has_wait(attr->wait_obj))
		return -FI_ENOSYS;
	q = calloc(1, sizeof(*q));
	if (!q)
		return -FI_ENOMEM;
	q->fid.fid.fclass = FI_CLASS_CQ;
	q->fid.fid.context = context;
	q->fid.fid.ops = &cq_fid_ops;
	q->fid.ops = &cq_ops;
	if (attr && !((struct domain *)domain)->is_managed)
		q->most = attr->size;
	q->format = attr && attr->format != FI_CQ_FORMAT_UNSPEC
			    ? attr->format
			    : FI_CQ_FORMAT_CONTEXT;
	*to = &q->fid;
	return 0;
}

/* --- counters --- */

static uint64_t read_counter(struct fid_cntr *fid)
{
	struct counter *c = counter_of(fid);
	uint64_t n;

	weft_link_lock();
	weft_link_look(&c->looks);
	n = c->n;
	weft_link_unlock();
	return n;
}

static uint64_t read_counter_errors(struct fid_cntr *fid)
{
	return counter_of(fid)->n_errors;
}

static int add_counter(struct fid_cntr *fid, uint64_t n)
{
	counter_of(fid)->n += n;
	return 0;
}

static int set_counter(struct fid_cntr *fid, uint64_t n)
{
	counter_of(fid)->n = n;
	return 0;
}

static int add_counter_errors(struct fid_cntr *fid, uint64_t n)
{
	counter_of(fid)->n_errors += n;
	return 0;
}

static int set_counter_errors(struct fid_cntr *fid, uint64_t n)
{
	counter_of(fid)->n_errors = n;
	return 0;
}

static int wait_counter(struct fid_cntr *fid, uint64_t most, int milliseconds)
{
	struct counter *c = counter_of(fid);
	uint64_t n_errors = c->n_errors;
	int answer = 0;

	weft_link_lock();
	while (c->n < most && c->n_errors == n_errors)
		if (!weft_link_wait(milliseconds)) {
			answer = -FI_ETIMEDOUT;
			break;
		}
	if (c->n_errors != n_errors)
		answer = -FI_EAVAIL;
	weft_link_unlock();
	return answer;
}

static int close_counter(struct fid *fid)
{
	free((struct counter *)fid);
	return 0;
}

static struct fi_ops cntr_fid_ops =
	FI_TABLE(close_counter, none_bind, none_control);

static struct fi_ops_cntr cntr_ops = {
	.size = sizeof(struct fi_ops_cntr),
	.read = read_counter,
	.readerr = read_counter_errors,
	.add = add_counter,
	.set = set_counter,
	.wait = wait_counter,
	.adderr = add_counter_errors,
	.seterr = set_counter_errors,
};

int cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
	struct fid_cntr **to, void *context)
{
	struct counter *c;

	if (attr && (attr->events != FI_CNTR_EVENTS_COMP ||
			    !has_wait(attr->wait_obj)))
		return -FI_ENOSYS;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -FI_ENOMEM;
	c->fid.fid.fclass = FI_CLASS_CNTR;
	c->fid.fid.context = context;
	c->fid.fid.ops = &cntr_fid_ops;
	c->fid.ops = &cntr_ops;
	*to = &c->fid;
	return 0;
}
