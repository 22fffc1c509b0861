/*
 * Random programs on weft/elan.h: its calls, and any words as commands.
 *
 *	fuzz_elan [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_elan"

#include "weft/elan.h"

#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EACH = 2, QUEUES = 4, BUFFER = 1 << 16, PLACES = 4, BLOCK = 1024 };

struct process {
	struct elan_cq q[QUEUES];
	uint64_t card[PLACES]; /* in card memory; 0: none */
	uint8_t data[BUFFER]; /* that puts are given */
};

/* Numbers of a call, read before it: C leaves the order of arguments open. */
struct numbers {
	uint64_t v[8];
};

static struct numbers numbers(struct program_at *p)
{
	struct numbers n;

	for (int i = 0; i < 8; i++)
		n.v[i] = number(p);
	return n;
}

#define N(i) ((uint32_t)n.v[i])

/* What a thread on the card does. */
static void work(const uint64_t reg[ELAN_REGISTERS])
{
	uint64_t word;

	elan_thread_work((uint32_t)reg[0] % 1000);
	elan_thread_read(reg[1], &word, sizeof(word));
	elan_thread_write(reg[2], reg[3]);
	elan_thread_append(reg[4], reg, (uint32_t)reg[5] % ELAN_REGISTERS);
}

/* What another one does, with blocks, letters and card memory. */
static void move(const uint64_t reg[ELAN_REGISTERS])
{
	uint8_t block[BLOCK] = { 0 }, other[BLOCK];
	const struct elan_fetch fetch[] = {
		{ reg[0], block, (uint32_t)reg[1] % BLOCK },
		{ reg[3], other, (uint32_t)reg[4] % BLOCK },
	};
	struct elan_message m;

	elan_thread_read_block(
		reg[0], block, reg[1] % BLOCK, (uint32_t)reg[2] % 4);
	elan_thread_write_block(reg[3], block, (uint32_t)reg[4] % BLOCK);
	elan_thread_copy(reg[0], reg[3], (uint32_t)reg[5]);
	elan_thread_fetch(fetch, (uint32_t)reg[5] % 3);
	elan_thread_look((uint32_t)reg[1], (uint32_t)reg[2], &m);
	elan_thread_free((uint32_t)reg[1], (uint32_t)reg[2]);
	elan_thread_accept((uint32_t)reg[1], (uint32_t)reg[2]);
	elan_thread_reject((uint32_t)reg[1], (uint32_t)reg[3]);
	if (reg[0] % 2)
		elan_thread_wait_interrupt(reg[1] % 2 ? elan_thread_interrupt()
						      : (uint32_t)reg[2]);
	if (reg[5] % 2)
		elan_thread_wait_queue((uint32_t)reg[1], 1, &m);
}

static void use_queue(struct elan_cq *q, struct program_at *p, uint8_t kind)
{
	struct numbers n = numbers(p);

	if (kind == 0)
		elan_cq_open(q, N(0), (enum elan_depth)N(1),
			N(2) % 4 ? ELAN_MAY_ALL : N(3));
	else if (kind == 1)
		elan_cq_close(q);
	else if (kind == 2)
		elan_cq_restart(q);
	else if (kind == 3)
		elan_cq_map(q, N(0) % 2 ? n.v[1] : elan_memory_bytes());
	else if (kind == 4)
		elan_issue(q, n.v, N(0) % 9);
	else
		elan_wait_event(q, n.v[0], n.v[1]);
}

static void send(struct process *x, struct elan_cq *q, struct program_at *p,
	uint8_t kind)
{
	struct numbers n = numbers(p);
	uint64_t bytes = n.v[2] % BUFFER;
	const struct elan_dma dma = { n.v[2], 0, n.v[0], n.v[1], n.v[3], n.v[4],
		n.v[5] };

	if (kind == 0)
		elan_put(q, N(0), n.v[1], x->data, bytes, N(3), N(4));
	else if (kind == 1)
		elan_put_from(q, N(0), n.v[1], n.v[3], n.v[2], N(4), N(5));
	else if (kind == 2)
		elan_broadcast(
			q, N(0), N(1), n.v[3], x->data, bytes, N(4), N(5));
	else if (kind == 3)
		elan_get(q, N(0), n.v[1], n.v[2], N(3), N(4));
	else if (kind == 4)
		elan_dma(q, &dma);
	else
		elan_write(q, N(0), n.v[1], n.v[3], n.v[2], N(4), N(5),
			(enum elan_goal)(N(6) % 2));
}

static void ask(struct process *x, struct elan_cq *q, struct program_at *p,
	uint8_t kind)
{
	struct numbers n = numbers(p);
	const struct elan_question w = { n.v[0], n.v[1],
		(enum elan_operation)N(2), N(3), N(4) };

	if (kind == 0)
		elan_test(q, N(5), &w);
	else if (kind == 1)
		elan_query(q, N(5), N(6), &w);
	else if (kind == 2)
		elan_put_if(q, N(5), &w, n.v[6], x->data, N(7) % BUFFER, N(4));
	else if (kind == 3)
		elan_broadcast_if(q, N(5), N(6), &w, n.v[7], x->data,
			N(1) % BUFFER, N(4));
	else if (kind == 4)
		elan_wait_word(n.v[0], n.v[1]);
	else
		elan_store_bytes(n.v[0], x->data, n.v[1] % BUFFER);
}

static void use_event(struct process *x, struct elan_cq *q,
	struct program_at *p, uint8_t kind)
{
	struct numbers n = numbers(p);

	if (kind < 2)
		elan_arm(q, N(0), n.v[1], n.v[2], n.v[3]);
	else if (kind == 2)
		elan_arm_copy(q, N(0), n.v[1], n.v[2], x->data, N(3) % BUFFER);
	else if (kind == 3)
		elan_set(q, N(0), N(1));
	else if (kind == 4)
		elan_thread_load(N(0), N(1) % 4 == 0   ? NULL
				       : N(1) % 2 == 0 ? move
						       : work);
	else
		elan_thread_start(q, N(0), n.v + 1);
}

/* An address in card memory, or any. */
static uint64_t card_at(const struct process *x, const struct numbers *n)
{
	return n->v[6] % 4 ? x->card[n->v[7] % PLACES] + n->v[5] : n->v[5];
}

static void use_card(struct process *x, struct elan_cq *q, struct program_at *p,
	uint8_t kind)
{
	struct numbers n = numbers(p);
	uint64_t at = card_at(x, &n);

	const struct elan_vm vm = { .at = n.v[1],
		.bytes = n.v[0],
		.page = N(2) % 3 ? 0 : N(2),
		.flags = N(3) % (2 * ELAN_VM_ALL),
		.bank = N(4) % (ELAN_BANKS + 1) };

	if (kind == 0)
		elan_card_alloc(n.v[0], &x->card[n.v[7] % PLACES]);
	else if (kind == 1)
		elan_vm_alloc(&vm, &x->card[n.v[7] % PLACES]);
	else if (kind == 2 && n.v[0] % 3 == 0)
		elan_vm_free(at);
	else if (kind == 2 && n.v[0] % 3 == 1)
		elan_vm_drop(at, n.v[1]);
	else if (kind == 2)
		elan_card_free(at);
	else if (kind == 3)
		elan_card_read(at, x->data, N(0) % BUFFER);
	else if (kind == 4)
		elan_put(q, N(0), at, x->data, n.v[1] % BUFFER, N(2), N(3));
	else
		elan_arm_copy_from(
			q, elan_event_at(at), n.v[0], n.v[1], n.v[2], N(3));
}

static void use_letters(struct process *x, struct elan_cq *q,
	struct program_at *p, uint8_t kind)
{
	struct numbers n = numbers(p);
	const struct elan_letter l = { .queue = N(0),
		.tag = n.v[1],
		.data = x->data,
		.bytes = N(2),
		.source_event = N(3) };

	if (kind < 2)
		elan_iq_open(&(struct elan_iq_options){ .id = N(0),
			.slots = N(1),
			.bytes = N(2),
			.event = N(3) });
	else if (kind == 2)
		elan_iq_close(N(0));
	else if (kind < 5)
		elan_enqueue(q, N(4), &l);
	else
		elan_enqueue_all(q, N(4), N(5), &l);
}

/* A transaction of a packet, mostly right: its words. */
static uint32_t transaction(struct process *x, struct numbers n, uint64_t *word)
{
	uint32_t bytes = N(2) % 64 * 8;

	switch (N(0) % 6) {
	case 0:
		word[0] = elan_word(ELAN_WRITE, bytes, 0);
		word[1] = n.v[1];
		memcpy(word + 2, x->data, bytes);
		return 2 + bytes / 8;
	case 1:
		word[0] = elan_word(ELAN_GET, bytes, N(3) % 64);
		word[1] = n.v[1];
		word[2] = n.v[4];
		return 3;
	case 2:
		word[0] = elan_word(ELAN_SET, N(3) % 64, N(2));
		return 1;
	case 3:
		word[0] = elan_word(ELAN_TEST, N(3) % 8, 0);
		word[1] = n.v[1];
		word[2] = n.v[4];
		return 3;
	case 4:
		word[0] = elan_word(ELAN_FOR, N(1), 0);
		return 1;
	default:
		word[0] = elan_word(ELAN_ENQUEUE, bytes, N(1) % 8) |
			  (N(3) % 4) << 8 | (uint64_t)N(4) % 8 << 48;
		word[1] = n.v[5];
		memcpy(word + 2, x->data, bytes);
		return 2 + bytes / 8;
	}
}

/* A packet of up to seven transactions in any order, one too many. */
static void packet(struct process *x, struct elan_cq *q, struct program_at *p)
{
	uint64_t word[ELAN_CQ_WORDS * 7];
	uint32_t n_words = 0, left = take(p) % 8, part;
	struct numbers n = numbers(p);

	word[n_words++] = n.v[0] % 4 ? elan_word(ELAN_OPEN, N(1), 0)
				     : elan_word(ELAN_OPEN_RANGE, N(1), 0);
	if (n.v[0] % 4 == 0)
		word[n_words++] = N(2);
	while (left--) {
		n = numbers(p);
		n_words += transaction(x, n, word + n_words);
	}
	word[n_words++] = elan_word(ELAN_CLOSE, N(6) % 64, N(7) % 64);
	for (uint32_t i = 0; i < n_words; i += part) {
		part = n_words - i < ELAN_CQ_WORDS ? n_words - i
						   : ELAN_CQ_WORDS;
		elan_issue(q, word + i, part);
	}
}

/* A queue of the process, or one that looks like another's. */
static struct elan_cq *choose(
	struct process *x, struct elan_cq *forged, uint8_t which)
{
	*forged = (struct elan_cq){ .id = which % (EACH * QUEUES) };
	return which % 8 == 7 ? forged : &x->q[which % QUEUES];
}

static void run_program(void *mine)
{
	struct program_at p = program_begin();
	struct process *x = mine;
	uint32_t first = QUEUES * weft_process();
	struct elan_cq forged;

	for (uint32_t i = 0; i < QUEUES; i++)
		elan_cq_open(
			&x->q[i], first + i, (enum elan_depth)i, ELAN_MAY_ALL);
	for (int i = 0; i < PROGRAM_CALLS; i++) {
		uint8_t what = take(&p) % 7, kind = take(&p) % 6;
		struct elan_cq *q = choose(x, &forged, take(&p));

		if (what == 0)
			use_queue(q, &p, kind);
		else if (what == 1)
			send(x, q, &p, kind);
		else if (what == 2)
			ask(x, q, &p, kind);
		else if (what == 3)
			use_event(x, q, &p, kind);
		else if (what == 4)
			use_card(x, q, &p, kind);
		else if (what == 5)
			use_letters(x, q, &p, kind);
		else
			packet(x, q, &p);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* letters for a full queue come again until the end */
	static const char *const on[] = { "qsnet2", "--shape=5",
		"--set=host.memory=4MiB", "--until=100ms", NULL };
	const struct weft_app app = {
		.name = FUZZ_NAME,
		.help = "",
		.run = run_program,
		.node_bytes = sizeof(struct process),
		.interface = "elan",
		.n_processes = EACH,
	};

	program_run(&app, on, data, size);
	return 0;
}

#include "program_driver.h"
