#include "nic/gemini/frame.h"

#include <string.h>

#include "base/crc16.h"
#include "nic/gemini/card.h"

/* --- the header --- */

struct gem_header gem_header_of(const struct topo *t, const struct packet *p)
{
	struct topo_end to = t->ops->peer(t, p->dst, 0);
	struct topo_end from = t->ops->peer(t, p->src, 0);
	bool is_hashed = p->kind == PACKET_DETERMINISTIC;
	port_id first = to.port; /* where a chip's nodes are */

	while (first &&
		t->ops->peer(t, to.router, first - 1).router < t->n_nodes)
		first--;
	return (struct gem_header){
		.chip = to.router - t->n_nodes,
		.dst = to.port - first,
		.src = from.port - first,
		.v = p->format >= GEM_DONE,
		.r = p->kind == PACKET_VECTOR,
		.a = p->kind == PACKET_DYNAMIC,
		.h = is_hashed && p->hints,
	};
}

/* --- the frame --- */

/* A field of a load that stands in a frame's header. */
struct field {
	uint8_t at, bytes;
};

#define FIELD(name, bytes_)                                                    \
	{                                                                      \
		offsetof(struct gem_load, name), bytes_                        \
	}

static const struct field request_fields[] = {
	FIELD(handle, 2),
	FIELD(offset, 5),
	FIELD(ssid, 2),
	FIELD(count, 2),
	FIELD(request, 2),
	FIELD(bytes, 1),
	FIELD(op, 1),
	FIELD(amo, 1),
};

/* One of two phits has room for the first byte, and no status: it is good. */
static const struct field response_fields[] = {
	FIELD(request, 2),
	FIELD(op, 1),
};

enum { CRC = 2, WORD = 9 /* bytes of 8 of data */ };

/* What a byte of a frame stands for: a byte of the load, or one of these. */
enum { OF_NOTHING = 0xff, OF_WAY = 0xfe };

struct frame {
	uint8_t byte[GEM_FRAME];
	uint8_t of[GEM_FRAME];
	uint32_t n;
};

static void put(
	struct frame *f, uint32_t at, const struct gem_load *l, uint32_t of)
{
	f->of[at] = (uint8_t)of;
	f->byte[at] = ((const uint8_t *)l)[of];
}

static void put_way(struct frame *f, uint32_t at, uint32_t n, uint32_t value)
{
	for (; n--; at++, value >>= 8) {
		f->of[at] = OF_WAY;
		f->byte[at] = (uint8_t)value;
	}
}

static void put_fields(struct frame *f, const struct gem_load *l, uint32_t at,
	uint32_t end, const struct field *x, size_t n)
{
	for (; n--; x++)
		for (uint32_t k = 0; k < x->bytes && at < end; k++)
			put(f, at++, l, x->at + k);
}

/* The phit for routing, other headers, data in words of nine bytes, status and
 * CRC. */
static void write_frame(struct frame *f, const struct topo *t,
	const struct packet *p, const struct gem_load *l, uint32_t n)
{
	uint32_t words = (p->bytes + 7u) / 8, end, i;
	bool has_status = p->format != GEM_DONE;

	*f = (struct frame){ .n = n };
	memset(f->of, OF_NOTHING, sizeof(f->of));
	end = n - CRC - has_status - WORD * words;
	put_way(f, 0, 3, gem_header_pack(gem_header_of(t, p)));
	if (l->is_response) {
		put_fields(f, l, 3, end, response_fields,
			sizeof(response_fields) / sizeof(*response_fields));
	} else { /* which has to be answered */
		put_way(f, 3, 2,
			t->ops->peer(t, p->src, 0).router - t->n_nodes);
		put_fields(f, l, 5, end, request_fields,
			sizeof(request_fields) / sizeof(*request_fields));
	}
	for (i = 0; i < p->bytes; i++)
		put(f, end + i / 8 * WORD + i % 8, l,
			(uint32_t)offsetof(struct gem_load, data) + i);
	if (has_status)
		put(f, n - CRC - 1, l, offsetof(struct gem_load, status));
}

/* Whether an interface ever makes such a packet. */
static bool is_possible(const struct gem_load *l)
{
	return l->op < GEMINI_OPS && l->status < GEMINI_STATUSES &&
	       l->amo < GEMINI_AMOS && l->bytes <= GEMINI_LINE &&
	       (!gem_is_atomic(l->op) || l->bytes == 8);
}

/* What was not found to be wrong is delivered.  What is no packet at all, or
 * would go elsewhere, is dropped where it was to go. */
static void change(struct packet *p, struct gem_load *l, const struct frame *f,
	const struct frame *was)
{
	const struct gem_load old = *l;
	bool is_misled = false;

	for (uint32_t i = 0; i < f->n; i++) {
		uint8_t flips = f->byte[i] ^ was->byte[i];

		if (f->of[i] == OF_WAY)
			is_misled |= flips != 0;
		else if (f->of[i] != OF_NOTHING)
			((uint8_t *)l)[f->of[i]] ^= flips;
	}
	if (is_possible(l) && !is_misled)
		return;
	*l = old;
	p->flags |= PACKET_HURT;
}

bool gem_harm_is_found(struct net_client *me, struct sim_worker *w,
	packet_id id, const uint32_t *bit, uint32_t n, uint32_t bits)
{
	struct net *net = me->net;
	struct packet *p = &net->packets[id];
	struct gem_load *l = payload_of_load(p->load);
	struct frame was, f;
	uint16_t crc, check;

	(void)w;
	write_frame(&was, net->topo, p, l, net->link.bytes[p->size]);
	crc = crc16(was.byte, was.n - CRC);
	memcpy(was.byte + was.n - CRC, &crc, CRC);
	f = was;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t place = (uint32_t)((uint64_t)bit[i] * 8 * f.n / bits);

		f.byte[place / 8] ^= (uint8_t)(1u << place % 8);
	}
	memcpy(&check, f.byte + f.n - CRC, CRC);
	if (check != crc16(f.byte, f.n - CRC))
		return true;
	change(p, l, &f, &was);
	return false;
}
