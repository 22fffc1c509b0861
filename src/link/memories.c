#include "link/memories.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "base/order.h"
#include "base/secded.h"
#include "link/faults.h"
#include "sim/random.h"

/* --- names --- */

static const char *const channels[FAULT_CHANNELS + 1] = { "dynamic",
	"deterministic", "high", "system", "world", "sub", "resend" };

const char *fault_channel_name(uint32_t buffer)
{
	return fault_unit_of(buffer) == FAULT_RECEIVER ? channels[buffer & 0xff]
						       : "";
}

void fault_unit_name(uint32_t buffer, const struct topo *t, router_id site,
	char *text, size_t size)
{
	static const char *const units[N_FAULT_UNITS] = { "receiver", "sender",
		"injection FIFO", "reception FIFO" };
	enum fault_unit unit = fault_unit_of(buffer);
	char number[64];

	if (unit < FAULT_INJECTION)
		t->ops->name_port(t, site, fault_number_of(buffer), number,
			sizeof(number));
	else
		snprintf(number, sizeof(number), "%u", fault_number_of(buffer));
	snprintf(text, size, "%s %s", units[unit], number);
}

/* "B- system", "B- resend" */
static int read_port(struct part_names *names, char *const *word, size_t n,
	struct part *p, struct err *e)
{
	char hint[NAME_HINT];
	uint32_t i = 0;

	if (part_find_port(names, p->site, word[0], &p->port, e))
		return -1;
	while (n == 2 && i <= FAULT_CHANNELS && strcmp(word[1], channels[i]))
		i++;
	if (n != 2 || i > FAULT_CHANNELS)
		return err_set(e,
			"want a port's dynamic, deterministic, high, system, "
			"world, sub or resend buffer%s",
			name_hint(n == 2 ? word[1] : "", channels,
				FAULT_CHANNELS + 1, "", hint));
	p->unit = i < FAULT_CHANNELS
			  ? fault_buffer_of(FAULT_RECEIVER, p->port, i)
			  : fault_buffer_of(FAULT_SENDER, p->port, 0);
	return 0;
}

static int read_buffer(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e)
{
	bool is_in = n > 1 && !strcmp(word[1], "injection");
	unsigned long number;
	char *end = NULL;

	(void)k;
	if (n < 2)
		return err_set(e, "the name of the buffer is missing (want, "
				  "for example, buffer 5 B- system or buffer 5 "
				  "injection 3)");
	if (part_find_site(names, "node", word[0], 0, names->topo->n_nodes,
		    &p->site, e))
		return -1;
	if (!is_in && strcmp(word[1], "reception") != 0)
		return read_port(names, word + 1, n - 1, p, e);
	number = n == 3 ? strtoul(word[2], &end, 10) : FAULT_FIFOS;
	if (number >= FAULT_FIFOS || *end || *word[2] < '0' || *word[2] > '9' ||
		(number >= names->topo->node_ports && number < FAULT_OTHERS))
		return err_set(e, "nodes have %s FIFOs 0 to %u and %d to %d",
			word[1], names->topo->node_ports - 1, FAULT_OTHERS,
			FAULT_FIFOS - 1);
	p->port = PART_SITE;
	p->unit = fault_buffer_of(
		is_in ? FAULT_INJECTION : FAULT_RECEPTION, (uint32_t)number, 0);
	return 0;
}

const struct part_kind fault_buffer = { .word = "buffer", .read = read_buffer };

/* --- life --- */

static void draw(struct faults *f, router_id s, uint32_t i)
{
	struct fault_memory *m = &f->memory[s];

	m->left[i] += faults_distance(
		f, f->memories[i], RANDOM_MEMORY, 2 * s + i, m->draws[i]++);
}

static int by_site(const void *a, const void *b)
{
	const struct fault_flip *x = a, *y = b;

	return 8 * order(x->site, y->site) + 4 * order(x->at, y->at) +
	       2 * order(x->buffer, y->buffer) + order(x->bits, y->bits);
}

void faults_set_memories(
	struct faults *f, const struct fault_plan *p, const struct topo *t)
{
	memcpy(f->memories, p->memories, sizeof(f->memories));
	f->has_buffers = p->has_buffers;
	if (!(p->memories[0] | p->memories[1] | p->n_flips))
		return;
	f->n_memories = t->n_routers;
	f->memory = map_alloc(f->n_memories * sizeof(*f->memory));
	for (router_id s = 0; s < t->n_routers; s++) {
		draw(f, s, 0);
		draw(f, s, 1);
	}
	f->flip = mem_alloc(p->n_flips + 1, sizeof(*f->flip));
	if (p->n_flips) {
		memcpy(f->flip, p->flip, p->n_flips * sizeof(*f->flip));
		qsort(f->flip, p->n_flips, sizeof(*f->flip), by_site);
	}
	for (size_t i = p->n_flips; i--;) {
		f->memory[f->flip[i].site].flip = (uint32_t)i;
		f->memory[f->flip[i].site].n_flips++;
	}
}

void faults_free_memories(struct faults *f)
{
	if (f->memory)
		map_free(f->memory, f->n_memories * sizeof(*f->memory));
	mem_free(f->flip);
}

/* --- reading --- */

/* What is read: words of a packet, or one of another memory. */
struct text {
	const struct packet *packet; /* NULL: word */
	uint64_t word;
};

/* Where the k-th word of a text lies.  Of a packet that is in its load; what
 * the wire adds to that, and all of a packet without a load, has words of its
 * addresses in its place. */
static unsigned char *word_at(
	const struct faults *f, struct text *x, uint64_t k)
{
	const struct packet *p = x->packet;

	if (p && f->load_bytes && p->load &&
		(k + 1) * FAULT_WORD <= f->load_bytes(p))
		return (unsigned char *)(uintptr_t)p->load + k * FAULT_WORD;
	if (p)
		x->word = (uint64_t)p->src << 32 | p->dst;
	return (unsigned char *)&x->word;
}

/* Some bits of a word go bad where it lies, and it is read through its code,
 * which puts back what it mends.  One that it cannot mend goes nowhere: it is
 * left as it was. */
static void decode(unsigned char *at, uint32_t bits, struct fault_words *w)
{
	uint64_t word, read;
	uint8_t check;

	memcpy(&word, at, FAULT_WORD);
	check = secded_encode(word);
	read = word;
	for (uint32_t i = 0; i < bits; i++)
		read ^= UINT64_C(1) << (word + 23 * i) % 64;
	memcpy(at, &read, FAULT_WORD);
	if (secded_decode(&read, check) == SECDED_BAD) {
		memcpy(at, &word, FAULT_WORD);
		w->bad++;
		return;
	}
	memcpy(at, &read, FAULT_WORD);
	w->mended++;
}

static struct fault_words read_words(
	struct faults *f, router_id site, uint32_t n, struct text *x)
{
	struct fault_memory *m = &f->memory[site];
	struct fault_words w = { 0 };

	for (uint32_t i = 0; i < 2; i++) {
		while (m->left[i] < n) {
			decode(word_at(f, x, m->left[i]), i + 1, &w);
			m->left[i]++;
			draw(f, site, i);
		}
		m->left[i] -= n;
	}
	return w;
}

struct fault_words faults_words(
	struct faults *f, router_id site, uint32_t n, uint64_t word)
{
	return read_words(f, site, n, &(struct text){ NULL, word });
}

/* Those that the plan has, of n words. */
static void flip(struct faults *f, router_id site, uint32_t buffer, uint32_t n,
	struct text *text, sim_time t, struct fault_words *w)
{
	uint64_t k = random_draw(f->seed, site, RANDOM_MEMORY, buffer).b % n;
	struct fault_memory *m = &f->memory[site];

	for (uint32_t i = m->flip; i < m->flip + m->n_flips; i++) {
		struct fault_flip *x = &f->flip[i];

		if (x->site != site || x->at > t || x->buffer != buffer)
			continue;
		decode(word_at(f, text, k), x->bits, w);
		x->site = NO_ROUTER;
	}
}

bool faults_read_buffer(struct faults *f, uint32_t worker, router_id site,
	uint32_t buffer, const struct packet *p, uint32_t bytes, sim_time t)
{
	uint32_t n = (bytes + FAULT_WORD - 1) / FAULT_WORD;
	struct text x = { .packet = p };
	uint32_t *stopped = &f->memory[site].stopped[fault_unit_of(buffer)];
	uint32_t bit = 1u << fault_number_of(buffer);
	struct ras_event e = { .at = t,
		.site = site,
		.port = RAS_NODE,
		.what = RAS_STOPPED,
		.number = buffer };
	struct fault_words w;

	if (*stopped & bit)
		return false;
	w = read_words(f, site, n, &x);
	flip(f, site, buffer, n ? n : 1, &x, t, &w);
	f->tally[worker].mended += w.mended;
	if (!w.bad)
		return true;
	*stopped |= bit;
	faults_report(f, worker, &e);
	return false;
}

uint64_t faults_mended(const struct faults *f)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < f->n_workers; i++)
		sum += f->tally[i].mended;
	faults_share(f, &sum, 1);
	return sum;
}

uint64_t faults_stopped(const struct faults *f, struct ras_event *first)
{
	uint64_t sum = 0;
	size_t n;
	struct ras_event *v = faults_events(f, &n);

	for (size_t i = 0; i < n; i++)
		if (v[i].what == RAS_STOPPED && !sum++ && first)
			*first = v[i];
	mem_free(v);
	return sum;
}
