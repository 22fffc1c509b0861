/*
 * Frames that bits were flipped in and whose CRCs are right all the same: the
 * worst that a fuzzer has found (fuzz/fuzz_frames.c), one for each field that
 * indexes or sizes something.  Each is executed or dropped, and then all goes
 * on.
 */
#include "nic/elan4/elan_testing.h"
#include "nic/elan4/frame.h"
#include "testing/testing.h"

#define W(c, l, h) ((uint64_t)(c) | (uint64_t)(l) << 16 | (uint64_t)(h) << 32)

enum { BYTES = 300, GOT = 512 };

static const struct worst {
	const char *what;
	enum elan_kind kind; /* of the packet */
	uint8_t first; /* its first transaction, or 0 */
	void (*spoil)(struct elan_buffer *b);
	bool is_torn; /* no card makes such a frame */
} * now;

static uint32_t n_spoilt;

/* --- what is made of them --- */

static void long_get(struct elan_buffer *b)
{
	b->piece[0].bytes = UINT16_MAX;
}

static void longer_get(struct elan_buffer *b)
{
	b->piece[0].bytes = ELAN_PACKET + 1;
}

static void empty_get(struct elan_buffer *b)
{
	b->piece[0].bytes = 0;
}

static void writing_get(struct elan_buffer *b)
{
	elan_send_cut(b, ET_TARGET, 8);
}

static void late_get(struct elan_buffer *b)
{
	b->piece[1] = (struct elan_piece){ .what = ELAN_GET,
		.bytes = 8,
		.address = ET_SOURCE,
		.context = b->context };
}

static void late_test(struct elan_buffer *b)
{
	b->piece[1] = (struct elan_piece){
		.what = ELAN_TEST, .bytes = 8, .context = b->context
	};
}

static void odd_test(struct elan_buffer *b)
{
	b->piece[0] = (struct elan_piece){
		.what = ELAN_TEST, .bytes = 8, .event = ELAN_OPERATIONS
	};
}

static void empty_write(struct elan_buffer *b)
{
	b->piece[1].bytes = 0;
}

static void long_write(struct elan_buffer *b)
{
	b->piece[0].bytes = ELAN_BLOCK + 8;
}

static void far_event(struct elan_buffer *b)
{
	b->piece[0] = (struct elan_piece){
		.what = ELAN_SET, .event = UINT32_MAX, .count = 1
	};
}

static void writing_answer(struct elan_buffer *b)
{
	elan_send_cut(b, ET_TARGET, 8);
}

static void other_numbers(struct elan_buffer *b)
{
	b->channel = b->sequence = b->get.place = b->get.number = UINT32_MAX;
	b->sending = 0;
}

static void other_sending(struct elan_buffer *b)
{
	b->sending = UINT32_MAX;
}

static void other_context(struct elan_buffer *b)
{
	b->context = b->piece[0].context = UINT16_MAX;
}

static void an_answer(struct elan_buffer *b)
{
	b->channel = ELAN_ANSWER_CHANNEL;
	b->get = (struct elan_cookie){ 1, 0, 5 };
}

static const struct worst cases[] = {
	{ "a get of 65535 B", ELAN_DATA, ELAN_GET, long_get, true },
	{ "a get of 513 B", ELAN_DATA, ELAN_GET, longer_get, true },
	{ "a get of nothing", ELAN_DATA, ELAN_GET, empty_get, true },
	{ "a get that writes", ELAN_DATA, ELAN_GET, writing_get, false },
	{ "a get behind a write", ELAN_DATA, ELAN_WRITE, late_get, false },
	{ "a test behind a write", ELAN_DATA, ELAN_WRITE, late_test, false },
	{ "no operation", ELAN_DATA, ELAN_WRITE, odd_test, true },
	{ "a write of nothing", ELAN_DATA, ELAN_WRITE, empty_write, true },
	{ "a write of 136 B", ELAN_DATA, ELAN_WRITE, long_write, true },
	{ "an event far out", ELAN_DATA, ELAN_WRITE, far_event, true },
	{ "no such numbers", ELAN_DATA, ELAN_WRITE, other_numbers, false },
	{ "no such numbers", ELAN_DATA, ELAN_GET, other_numbers, false },
	{ "no such context", ELAN_DATA, ELAN_WRITE, other_context, false },
	{ "nobody's answer", ELAN_DATA, ELAN_WRITE, an_answer, false },
	{ "an answer that writes", ELAN_ACKED, 0, writing_answer, true },
	{ "no such sending", ELAN_ACKED, 0, other_sending, false },
	{ "no such numbers", ELAN_ACKED, 0, other_numbers, false },
};

/* --- a client that does it to the first one of its kind --- */

static const struct net_client_ops *client;

static bool is_it(const struct elan_buffer *b)
{
	return !n_spoilt && b->kind == now->kind &&
	       (!now->first || (b->n_pieces && b->piece[0].what == now->first));
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *net = me->net;
	const struct packet *p = &net->packets[id];
	struct elan_buffer *b = payload_of_load(p->load), other = *b;
	uint8_t frame[ELAN_FRAME_MOST];
	uint32_t n;

	if (is_it(b)) {
		now->spoil(&other);
		n = elan_frame_write(&other, p->src, frame);
		b->harm = (uint8_t)elan_frame_take(b, p->src, frame, n);
		assert_int_equal(b->harm != ELAN_SOUND, now->is_torn);
		n_spoilt++;
	}
	client->on_packet(me, w, s, fifo, id, t, tail);
}

/* Puts, and gets it back; a get that was spoilt may stop its queue. */
static void program(void *arg)
{
	struct et_queue q = et_open(0);

	et_push(&q, (const uint64_t[]){ W(ELAN_ARM, 2, 0), GOT, ET_FLAG, 1 },
		4);
	program_wait(10000 * SIM_NS);
	et_put(&q, 1, ET_TARGET, 3, BYTES, 0, 0);
	et_get(&q, 1, ET_SOURCE, ET_SOURCE + 0x1000, GOT, 2);
	program_charge(INT64_C(100000000) * SIM_NS);
	if (now->spoil != other_context) /* which is refused */
		assert_int_equal(et_error(&q), ELAN_FINE);
}

static void other_program(void *arg)
{
	et_open(0);
	et_fill(ET_SOURCE, 9, GOT);
}

static void what_no_crc_sees_harms_no_card(void **state)
{
	static struct net_client_ops ops;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct et m;

		now = &cases[i];
		n_spoilt = 0;
		et_init(&m, "4");
		et_start(&m, 1, 2);
		client = m.mail.to;
		ops = *client;
		ops.on_packet = on_packet;
		m.mail.to = &ops;
		program_start(m.host, 0, 0, 0, program, NULL);
		program_start(m.host, 1, 1, 0, other_program, NULL);
		et_go(&m);
		assert_int_equal(n_spoilt, 1);
		if (now->is_torn) { /* so it was sent again */
			et_expect_at(&m, 1, ET_TARGET, 3, BYTES, true);
			et_expect_at(&m, 0, ET_SOURCE + 0x1000, 9, GOT, true);
		}
		et_fini(&m);
	}
}

TESTS(TEST(what_no_crc_sees_harms_no_card))
