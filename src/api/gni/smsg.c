/*
 * Short messages of Gemini's user-level interface.
 *
 * A mailbox is a line with two words of credits, and then slots of whole lines.
 * A message ends with its trailer at the end of its slot.  It is one
 * transaction in order, so the trailer's number arrives last.
 */
#include <string.h>

#include "api/gni/gni.h"
#include "base/mem.h"
#include "host/program.h"

enum { LINE = GEMINI_LINE, MOST_CREDIT = 1024, MOST_SIZE = 65536 };

struct trailer {
	uint32_t bytes;
	uint32_t tag;
	uint64_t number; /* from 1 on */
};

/* --- mailboxes --- */

static uint32_t whole(uint32_t bytes, uint32_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static uint32_t slot_bytes(uint32_t max_size)
{
	return whole(max_size + (uint32_t)sizeof(struct trailer), LINE);
}

static bool is_sane(const gni_smsg_attr_t *a)
{
	return a &&
	       (a->msg_type == GNI_SMSG_TYPE_MBOX ||
		       a->msg_type == GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT) &&
	       a->mbox_maxcredit >= 2 && a->mbox_maxcredit <= MOST_CREDIT &&
	       a->msg_maxsize && a->msg_maxsize <= MOST_SIZE;
}

static uint32_t size_of(const gni_smsg_attr_t *a)
{
	return LINE + a->mbox_maxcredit * slot_bytes(a->msg_maxsize);
}

gni_return_t GNI_SmsgBufferSizeNeeded(
	const gni_smsg_attr_t *attr, unsigned int *size)
{
	if (!is_sane(attr) || !size)
		return GNI_RC_INVALID_PARAM;
	*size = size_of(attr);
	return GNI_RC_SUCCESS;
}

static bool is_in_buffer(const gni_smsg_attr_t *a)
{
	return a->mbox_offset <= a->buff_size &&
	       size_of(a) <= a->buff_size - a->mbox_offset;
}

static bool is_placed(const gni_smsg_attr_t *a)
{
	return a->msg_buffer % LINE == 0 && a->mbox_offset % LINE == 0;
}

static bool is_registered(const gni_smsg_attr_t *a)
{
	const struct gni_segment *x = gni_find_mem(&a->mem_hndl);
	uint64_t at = a->msg_buffer + a->mbox_offset;

	return x && at >= x->handle.qword1 &&
	       at - x->handle.qword1 <= x->bytes &&
	       size_of(a) <= x->bytes - (at - x->handle.qword1);
}

static gni_return_t check(const struct gni_end *e, const gni_smsg_attr_t *here,
	const gni_smsg_attr_t *there)
{
	if (!e || !is_sane(here) || !is_sane(there) || !is_placed(here) ||
		!is_placed(there) || !gni_find_cq(e->cq) ||
		here->msg_type != there->msg_type ||
		here->mbox_maxcredit != there->mbox_maxcredit ||
		here->msg_maxsize != there->msg_maxsize)
		return GNI_RC_INVALID_PARAM;
	if (!e->is_bound || e->smsg)
		return GNI_RC_INVALID_STATE;
	if (!is_in_buffer(here) || !is_in_buffer(there))
		return GNI_RC_SIZE_ERROR;
	return is_registered(here) ? GNI_RC_SUCCESS : GNI_RC_INVALID_PARAM;
}

gni_return_t GNI_SmsgInit(gni_ep_handle_t ep, const gni_smsg_attr_t *local,
	const gni_smsg_attr_t *remote)
{
	struct gni_end *e = gni_find_ep(ep);
	gni_return_t code = check(e, local, remote);
	struct gni_smsg *s;

	if (code)
		return code;
	e->smsg = s = mem_alloc(1, sizeof(*s));
	s->type = local->msg_type;
	s->max_size = local->msg_maxsize;
	s->n_slots = local->mbox_maxcredit;
	s->here = local->msg_buffer + local->mbox_offset;
	s->there = remote->msg_buffer + remote->mbox_offset;
	s->mem = remote->mem_hndl;
	s->message = mem_alloc(1, s->max_size);
	return GNI_RC_SUCCESS;
}

void gni_close_smsg(struct gni_end *e)
{
	if (!e->smsg)
		return;
	mem_free(e->smsg->message);
	mem_free(e->smsg);
	e->smsg = NULL;
}

/* Where a message's slot ends, in a mailbox. */
static uint64_t slot_end(
	const struct gni_smsg *s, uint64_t mailbox, uint64_t number)
{
	return mailbox + LINE +
	       (mailbox_slot(s->n_slots, number) + (uint64_t)1) *
		       slot_bytes(s->max_size);
}

static void load(uint64_t at, void *to, size_t n)
{
	program_read(program_base() + at, to, n);
}

/* --- sending --- */

static uint64_t emptied(const struct gni_smsg *s)
{
	uint64_t words[2];

	load(s->here, words, sizeof(words));
	return mailbox_emptied(words);
}

/* A record of bytes to be put at an address there; NULL: there are too many. */
static struct gni_post *new_post(
	gni_ep_handle_t ep, uint64_t to, uint32_t n, uint32_t *id)
{
	const struct gni_end *e = gni_find_ep(ep);
	struct gni_post *x;

	*id = gni_take_post(e->cq);
	if (!*id)
		return NULL;
	x = slots_at(&gni_process()->posts, *id);
	x->ep = ep;
	x->to = to;
	x->n = n;
	x->bytes = mem_alloc(1, n);
	return x;
}

gni_return_t GNI_SmsgSendWTag(gni_ep_handle_t ep, const void *header,
	uint32_t header_length, const void *data, uint32_t data_length,
	uint32_t msg_id, uint8_t tag)
{
	const struct gni_end *e = gni_find_ep(ep);
	uint64_t all = (uint64_t)header_length + data_length;
	struct trailer t = { (uint32_t)all, tag, 0 };
	uint32_t body = whole((uint32_t)all, 8), id;
	struct gni_smsg *s;
	struct gni_post *x;

	if (!e || !e->smsg || !gni_find_cq(e->cq) ||
		(header_length && !header) || (data_length && !data) ||
		tag == GNI_SMSG_ANY_TAG)
		return GNI_RC_INVALID_PARAM;
	s = e->smsg;
	if (all > s->max_size)
		return GNI_RC_SIZE_ERROR;
	if (s->mailbox.sent - emptied(s) >= s->n_slots) {
		program_charge(gni_params()->poll_period);
		return GNI_RC_NOT_DONE;
	}
	t.number = s->mailbox.sent + 1;
	x = new_post(ep, slot_end(s, s->there, t.number) - body - sizeof(t),
		body + (uint32_t)sizeof(t), &id);
	if (!x)
		return GNI_RC_ERROR_RESOURCE;
	s->mailbox.sent++;
	x->number = t.number;
	x->msg_id = msg_id;
	if (header_length)
		memcpy(x->bytes, header, header_length);
	if (data_length)
		memcpy(x->bytes + header_length, data, data_length);
	memcpy(x->bytes + body, &t, sizeof(t));
	gni_put(id, e, &s->mem, GNI_CQ_EVENT_TYPE_SMSG);
	return GNI_RC_SUCCESS;
}

/* Whether an unanswered put needs no second try: the message has arrived, or
 * later credits follow these. */
static bool is_settled(const struct gni_post *x, const struct gni_smsg *s)
{
	uint64_t taken;

	if (x->number)
		return x->number <= emptied(s);
	memcpy(&taken, x->bytes, sizeof(taken));
	return taken != s->mailbox.told;
}

/* Sends it again.  That is safe: nothing else is sent to the slot until the
 * receiver has emptied it, and later messages arrive in order. */
static void send_again(uint32_t post, const struct gni_end *e)
{
	struct gni_post *x = slots_at(&gni_process()->posts, post);

	x->left = 1;
	x->status = 0;
	gni_put(post, e, &e->smsg->mem,
		x->number ? GNI_CQ_EVENT_TYPE_SMSG : GNI_EVENT_CREDITS);
}

bool gni_smsg_ended(uint32_t post, uint32_t *status)
{
	const struct gni_post *x = slots_at(&gni_process()->posts, post);
	const struct gni_end *e = gni_find_ep(x->ep);
	bool is_message = x->number;

	if (*status == GEMINI_TIMED_OUT && e && e->smsg &&
		e->smsg->type == GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT) {
		if (!is_settled(x, e->smsg)) {
			send_again(post, e);
			return false;
		}
		*status = GEMINI_OK;
	}
	gni_give_post(post);
	return is_message;
}

/* --- receiving --- */

gni_return_t GNI_SmsgGetNextWTag(
	gni_ep_handle_t ep, void **header, uint8_t *tag)
{
	const struct gni_end *e = gni_find_ep(ep);
	struct gni_smsg *s = e ? e->smsg : NULL;
	struct trailer t;
	uint64_t end;

	if (!s || !header || !tag)
		return GNI_RC_INVALID_PARAM;
	if (s->is_out)
		return GNI_RC_INVALID_STATE;
	end = slot_end(s, s->here, s->mailbox.taken + 1) - sizeof(t);
	load(end, &t, sizeof(t));
	/* not every flipped bit is seen by a CRC */
	if (t.number != s->mailbox.taken + 1 || t.bytes > s->max_size) {
		program_charge(gni_params()->poll_period);
		return GNI_RC_NOT_DONE;
	}
	if (*tag != GNI_SMSG_ANY_TAG && *tag != t.tag)
		return GNI_RC_NO_MATCH;
	load(end - whole(t.bytes, 8), s->message, t.bytes);
	s->is_out = true;
	*header = s->message;
	*tag = (uint8_t)t.tag;
	program_charge(gni_params()->poll_load);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_SmsgRelease(gni_ep_handle_t ep)
{
	const struct gni_end *e = gni_find_ep(ep);
	struct gni_smsg *s = e ? e->smsg : NULL;
	struct gni_post *x;
	uint32_t word, id;

	if (!s)
		return GNI_RC_INVALID_PARAM;
	if (!s->is_out || !gni_find_cq(e->cq))
		return GNI_RC_INVALID_STATE;
	if (gni_process()->posts.used == GNI_MOST_POSTS)
		return GNI_RC_ERROR_RESOURCE;
	s->is_out = false;
	if (!mailbox_take(&s->mailbox, s->n_slots, &word))
		return GNI_RC_SUCCESS;
	x = new_post(ep, s->there + 8 * word, 8, &id);
	memcpy(x->bytes, &s->mailbox.taken, 8);
	gni_put(id, e, &s->mem, GNI_EVENT_CREDITS);
	return GNI_RC_SUCCESS;
}
