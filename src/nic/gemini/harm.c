/* What becomes of the interface where the network fails. */
#include <string.h>

#include "base/crc16.h"
#include "base/secded.h"
#include "nic/gemini/card.h"
#include "sim/random.h"

/* Time-outs stand still while management has stopped the network. */
void gem_harm_on_quiesce(struct net *net, struct sim_worker *w, site_id s,
	bool is_stopped, sim_time t)
{
	struct nic *nic = net->client_state;
	struct gem_node *n = nic->nodes[s];
	struct nic_at a;

	if (!n && !is_stopped)
		return;
	a = nic_at(nic, w, s, t);
	n = gem_here(&a);
	if (is_stopped) {
		n->quiet_since = t;
		n->is_quiet = true;
	} else if (n->is_quiet) {
		n->is_quiet = false;
		gem_fma_extend(&a, n->quiet_since);
	}
}

/* --- what a CRC finds --- */

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
	FIELD(round, 2),
	FIELD(bytes, 1),
	FIELD(op, 1),
	FIELD(amo, 1),
	FIELD(remote_cq, 1),
};

/* Those of two phits have the first two. */
static const struct field response_fields[] = {
	FIELD(request, 2),
	FIELD(op, 1),
	FIELD(bytes, 1),
	FIELD(round, 2),
};

enum { FRAME_MOST = 96, TRAILER = 3, WORD = 9 /* bytes of 8 of data */ };

struct frame {
	uint8_t byte[FRAME_MOST];
	/* what each byte stands for: a byte of the load, or 0xff; the last one
	 * before the CRC is the status */
	uint8_t of[FRAME_MOST];
	uint32_t n;
};

static void put(
	struct frame *f, uint32_t at, const struct gem_load *l, uint32_t of)
{
	f->of[at] = (uint8_t)of;
	f->byte[at] = ((const uint8_t *)l)[of];
}

static void put_header(struct frame *f, const struct gem_load *l, uint32_t n)
{
	const struct field *x =
		l->is_response ? response_fields : request_fields;
	size_t n_fields = l->is_response ? sizeof(response_fields)
					 : sizeof(request_fields);
	uint32_t at = 0, k;

	for (n_fields /= sizeof(*x); n_fields--; x++)
		for (k = 0; k < x->bytes && at < n; k++)
			put(f, at++, l, x->at + k);
}

/* Header, data in words of nine bytes, status and CRC. */
static void write_frame(
	struct frame *f, const struct gem_load *l, uint32_t n, uint32_t data)
{
	uint32_t words = (data + 7) / 8, head, i;

	*f = (struct frame){ .n = n };
	memset(f->of, 0xff, sizeof(f->of));
	head = n - TRAILER - WORD * words;
	put_header(f, l, head);
	for (i = 0; i < data; i++)
		put(f, head + i / 8 * WORD + i % 8, l,
			(uint32_t)offsetof(struct gem_load, data) + i);
	put(f, n - TRAILER, l, offsetof(struct gem_load, status));
}

/* Whether an interface ever makes such a packet. */
static bool is_possible(const struct gem_load *l)
{
	return l->op < GEMINI_OPS && l->status < GEMINI_STATUSES &&
	       l->amo < GEMINI_AMOS && l->bytes <= GEMINI_LINE &&
	       (!gem_is_atomic(l->op) || l->bytes == 8);
}

/* What was not found to be wrong is delivered; what is no packet at all is
 * dropped there. */
static void change(struct packet *p, struct gem_load *l, const struct frame *f,
	const struct frame *was)
{
	const struct gem_load old = *l;
	uint32_t i;

	for (i = 0; i < f->n; i++)
		if (f->of[i] != 0xff)
			((uint8_t *)l)[f->of[i]] ^= f->byte[i] ^ was->byte[i];
	if (is_possible(l))
		return;
	*l = old;
	p->flags |= PACKET_HURT;
}

bool gem_harm_is_found(struct net *net, struct sim_worker *w, packet_id id,
	const uint32_t *bit, uint32_t n, uint32_t bits)
{
	struct packet *p = &net->packets[id];
	struct gem_load *l = payload_of_load(p->load);
	struct frame was, f;
	uint16_t crc, check;
	uint32_t i;

	(void)w;
	write_frame(&was, l, net->link.bytes[p->size], p->bytes);
	crc = crc16(was.byte, was.n - sizeof(crc));
	memcpy(was.byte + was.n - sizeof(crc), &crc, sizeof(crc));
	f = was;
	for (i = 0; i < n; i++) {
		uint32_t place = (uint32_t)((uint64_t)bit[i] * 8 * f.n / bits);

		f.byte[place / 8] ^= (uint8_t)(1u << place % 8);
	}
	memcpy(&check, f.byte + f.n - sizeof(crc), sizeof(crc));
	if (check != crc16(f.byte, f.n - sizeof(crc)))
		return true;
	change(p, l, &f, &was);
	return false;
}

/* --- what chips and memories do --- */

void gem_harm_drop(const struct nic_at *a, packet_id id)
{
	struct net *net = a->nic->net;

	gem_here(a)->marked++;
	net_release(net, a->w, a->s, gem_load(a, id)->fifo,
		net->packets[id].chunks, a->t);
	nic_on_lost(net, a->w, id);
}

static void draw(const struct nic *nic, struct fault_link *l, uint32_t doubles,
	site_id s)
{
	const struct faults *f = nic->net->faults;

	l->left = faults_distance(f, f->memories[doubles], RANDOM_MEMORY,
		2 * s + doubles, l->draws++);
}

void gem_harm_init(const struct nic *nic, struct gem_node *n, site_id s)
{
	uint32_t i;

	n->is_faulty = nic->net->faults != NULL;
	for (i = 0; n->is_faulty && i < 2; i++)
		draw(nic, &n->bad_words[i], i, s);
}

/* Reads a word of which some bits are bad through its code. */
static bool decode(struct gem_node *n, uint64_t word, uint32_t bits)
{
	uint64_t read = word;
	uint32_t i;

	for (i = 0; i < bits; i++)
		read ^= UINT64_C(1) << (word + 23 * i) % 64;
	if (secded_decode(&read, secded_encode(word)) == SECDED_BAD) {
		n->uncorrectable++;
		return false;
	}
	BUG_IF(read != word);
	n->corrected++;
	return true;
}

bool gem_harm_read(const struct nic_at *a, uint64_t word)
{
	struct gem_node *n = a->node;
	bool is_good = true;
	uint32_t i;

	for (i = 0; n->is_faulty && i < 2; i++) {
		if (n->bad_words[i].left--)
			continue;
		draw(a->nic, &n->bad_words[i], i, a->s);
		is_good &= decode(n, word, i + 1);
	}
	return is_good;
}
