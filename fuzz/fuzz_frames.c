/*
 * Changes frames that interfaces receive, as if their CRCs had not seen it.
 * Whatever a frame says then, it is executed or dropped: no byte is touched
 * that is not the card's or its context's, no run goes on for ever, and what
 * is left passes the audit.  That the programs' bytes are wrong is no matter.
 *
 * Bytes of the input choose a run, which packets are changed and how; beyond
 * its end they are a function of all of it.
 *
 *	fuzz_frames [--runs N] [--seed S] [file ...]
 */
#define _POSIX_C_SOURCE 200809L

#define FUZZ_NAME "fuzz_frames"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32.h"
#include "base/mem.h"
#include "machine/run.h"
#include "nic/bgq_mu/mu.h"
#include "nic/elan4/frame.h"
#include "nic/util/asks.h"

#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_SECONDS = 60, MOST_KEYS = 4 };

static const struct what {
	const char *machine, *shape, *workload;
	const char *keys[MOST_KEYS];
} whats[] = {
	{ "qsnet2", "4", "storm", { "count=60", "bytes=1KiB" } },
	{ "qsnet2", "4", "storm", { "count=60", "bytes=4KiB", "lanes=4" } },
	{ "qsnet2", "8", "collective",
		{ "op=broadcast", "by=hardware", "bytes=1200", "rounds=5" } },
	{ "qsnet2", "4", "gets", { "rounds=10", "batch=4" } },
	{ "qsnet2", "4", "storm", { "count=40", "via=msg" } },
	{ "torus", "2x2", "storm", { "count=60", "bytes=1KiB" } },
	{ "torus", "2x2", "gets", { "rounds=10", "batch=4" } },
	{ "torus", "2x2", "storm", { "count=40", "via=msg" } },
	{ "bgq", "2x2", "storm", { "count=60", "bytes=1KiB" } },
	{ "bgq", "2x2", "gets", { "rounds=10", "batch=4" } },
};

/* The input of the run, and what the wrapped client is. */
static struct {
	const uint8_t *data;
	size_t size, at;
	uint64_t hash;
	uint32_t share; /* one packet of so many is changed */
	struct net_client_ops ops;
	const struct net_client_ops *client;
} now;

static uint8_t next_byte(void)
{
	uint64_t z = now.hash + now.at * UINT64_C(0x9e3779b97f4a7c15);

	if (now.at++ < now.size)
		return now.data[now.at - 1];
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint8_t)(z >> 56);
}

/* Some bytes become others: bits of them, small numbers, or the ends. */
static void change(uint8_t *bytes, uint32_t n)
{
	static const uint8_t often[] = { 0, 1, 2, 3, 4, 6, 7, 8, 0x7f, 0x80,
		0xfe, 0xff };
	uint32_t k = 1 + next_byte() % 4, at;

	while (k--) {
		at = (next_byte() | (uint32_t)next_byte() << 8) % n;
		switch (next_byte() % 3) {
		case 0:
			bytes[at] ^= (uint8_t)(1u << next_byte() % 8);
			break;
		case 1:
			bytes[at] = often[next_byte() % sizeof(often)];
			break;
		default:
			bytes[at] = next_byte();
		}
	}
}

/* --- Elan4 --- */

static uint32_t word16(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8;
}

static void put_crc(uint8_t *from, uint32_t n)
{
	uint32_t crc = crc32(from, n), i;

	for (i = 0; i < 4; i++, crc >>= 8)
		from[n + i] = (uint8_t)crc;
}

/* Bytes of a transaction before its CRC. */
static uint32_t piece_bytes(const uint8_t *at)
{
	switch (word16(at)) {
	case ELAN_SET:
		return 12;
	case ELAN_GET:
	case ELAN_TEST:
		return 24;
	default:
		return 12 + word16(at + 2);
	}
}

/* Makes all CRCs of a frame right, as far as it is one. */
static uint32_t set_crcs(uint8_t *frame, uint32_t most)
{
	uint32_t n = frame[5], at = ELAN_FRAME_HEADER, bytes;

	put_crc(frame, ELAN_FRAME_HEADER - 4);
	for (; n && at + 28 <= most; n--, at += bytes + 4) {
		bytes = piece_bytes(frame + at);
		if (at + bytes + 4 > most)
			return most;
		put_crc(frame + at, bytes);
	}
	return at;
}

static void change_elan(const struct packet *p)
{
	/* behind it there is room for more transactions than a frame has */
	uint8_t frame[2 * ELAN_FRAME_MOST] = { 0 };
	struct elan_buffer *b = payload_of_load(p->load);
	uint32_t n = elan_frame_write(b, p->src, frame), i;

	for (i = n; i < sizeof(frame); i++)
		frame[i] = next_byte() % 8 ? 0 : next_byte();
	/* its header, its first transaction, or all of it */
	i = next_byte() % 4;
	change(frame + (i == 1 && n > 36 ? ELAN_FRAME_HEADER : 0), i == 0 ? 28
								   : i == 1
									   ? 24
									   : n);
	frame[4] = b->kind; /* others are not read: see frame.c */
	b->harm = (uint8_t)elan_frame_take(
		b, p->src, frame, set_crcs(frame, sizeof(frame)));
}

/* --- all of them --- */

static void change_packet(const struct nic *nic, const struct packet *p)
{
	struct ask *ask = payload_of_load(p->load);
	struct mu_buffer *mu = payload_of_load(p->load);
	uint32_t bytes;

	if (!strcmp(nic->ops->name, "elan4")) {
		change_elan(p);
	} else if (!strcmp(nic->ops->name, "plain")) {
		bytes = ask->h.bytes;
		change((uint8_t *)&ask->h, sizeof(ask->h));
		ask->h.bytes = bytes; /* it is seen otherwise: see asks.c */
	} else {
		change(mu->header.byte, sizeof(mu->header.byte));
	}
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	if (next_byte() % now.share == 0)
		change_packet(me->state, &me->net->packets[id]);
	now.client->on_packet(me, w, s, fifo, id, t, tail);
}

static void on_alarm(int number)
{
	static const char text[] = FUZZ_NAME ": a run without end\n";

	(void)number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
	abort();
}

static uint64_t hash_of(const uint8_t *data, size_t size)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < size; i++)
		h = (h ^ data[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* Programs may stumble over what is in their memory now; that is not the
 * cards' fault. */
static bool is_fine(const char *text)
{
	return strncmp(text, "audit", 5) != 0 &&
	       (!strstr(text, "internal error") || strstr(text, "src/api/"));
}

static void run_one(const struct what *what)
{
	static const struct book_how how = { .follows = true };
	struct machine_run *r = mem_alloc(1, sizeof(*r));
	struct machine_run_setup s = {
		.machine.name = what->machine,
		.machine.shape = what->shape,
		.workload = what->workload,
		.keys = what->keys,
		.seed = 1 + next_byte(),
		.threads = 1,
		.book = next_byte() % 2 ? &how : NULL,
	};
	struct err e = { 0 };

	while (s.n_keys < MOST_KEYS && what->keys[s.n_keys])
		s.n_keys++;
	check(!machine_run_open(r, &s, &e), e.text);
	now.client = r->system->net->client[0]->from;
	now.ops = *now.client;
	now.ops.on_packet = on_packet;
	net_attach(r->system->net, &now.ops, r->system->net->client[0]->state);
	alarm(MOST_SECONDS);
	machine_run_perform(r, &e);
	alarm(0);
	check(is_fine(e.text), e.text);
	machine_run_close(r);
	mem_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	setenv("WEFT_MACHINES", FUZZ_MACHINES, 0);
	signal(SIGALRM, on_alarm);
	now.data = data;
	now.size = size;
	now.at = 0;
	now.hash = hash_of(data, size);
	now.share = 1u << next_byte() % 6;
	run_one(&whats[next_byte() % (sizeof(whats) / sizeof(whats[0]))]);
	return 0;
}

#ifndef WEFT_LIBFUZZER

#include "driver.h"

static const char *const seeds[] = { "0", "1", "22", "333", "@", "A", "BB" };
static const char *const pieces[] = { "a", "bc", "def", "\xff", "\x80\x01" };

int main(int argc, char **argv)
{
	return fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));
}

#endif
