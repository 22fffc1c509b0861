#include "load/bench/bench.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "load/filled.h"
#include "weft/msg.h"

/* What else a node takes that uses messages: stages, FIFOs or queues, and
 * slots of some neighbours. */
enum { MSG_BYTES = 192 << 10 };

/* --- the course of a run --- */

/* "auto, sten or dma" */
static void list_means(const struct bench_driver *d, char *text, size_t size)
{
	size_t i, n = 0;

	for (i = 0; d->means[i] && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s",
			!i		  ? ""
			: d->means[i + 1] ? ", "
					  : " or ",
			d->means[i]);
}

static int find_means(struct bench *b, const char *title, struct err *e)
{
	const struct bench_driver *d = b->driver;
	char text[128];

	for (b->means = 0; d->means[b->means]; b->means++)
		if (!b->by[0] || !strcmp(d->means[b->means], b->by))
			return 0;
	list_means(d, text, sizeof(text));
	return err_set(
		e, "by: the %s has no \"%.40s\"; want %s", title, b->by, text);
}

/* Addresses are the network interface's, also below messages. */
static int check_memory(
	const struct bench *b, uint64_t memory, uint64_t reach, struct err *e)
{
	const struct load *l = &b->programs.load;

	if (reach && memory > reach)
		return err_set(e,
			"%s: needs %.1f GiB of each node's memory, and the %s "
			"addresses %.0f",
			l->ops->name, (double)memory / (1 << 30),
			l->nic_ops->title, (double)reach / (1 << 30));
	return programs_need_memory(&b->programs, memory, e);
}

int bench_init(struct bench *b, bool is_msg, const struct bench_needs *n,
	const struct topo *t, struct err *e)
{
	struct load *l = &b->programs.load;
	const struct bench_driver *own = bench_find_driver(l->nic_ops);
	uint64_t memory = n->memory;

	b->driver = is_msg ? &bench_msg : own;
	b->needs = *n;
	l->needs.n_programs = n->n_programs;
	b->needs.queues += !n->queues;
	if (!b->driver)
		return err_set(e,
			"%s: the %s has no driver of its own for it; via=msg "
			"does it by messages",
			l->ops->name, l->nic_ops->title);
	if (is_msg)
		memory += weft_msg_memory(t->n_nodes, NULL);
	if (b->needs.queues > b->driver->most_queues)
		return err_set(e, "%s: more than %u queues", l->ops->name,
			b->driver->most_queues);
	return find_means(b, is_msg ? "message layer" : l->nic_ops->title, e) ||
			       check_memory(b, memory, own ? own->reach : 0, e)
		       ? -1
		       : 0;
}

int bench_check_bytes(
	const struct bench *b, const char *key, int64_t bytes, struct err *e)
{
	if (bytes % b->driver->grain)
		return err_set(
			e, "%s: want whole words of %u", key, b->driver->grain);
	return 0;
}

int bench_check_cpu(const struct bench *b, int64_t cpu, struct err *e)
{
	int64_t n = b->driver->cpus ? b->driver->cpus(b) : HOST_THREADS;

	if (cpu >= n)
		return err_set(
			e, "cpu: a node has nic.cpus=%lld", (long long)n);
	return 0;
}

void bench_start(struct bench *b)
{
	size_t size = b->driver->size(&b->needs);
	uint32_t i, n = b->needs.n_programs;

	programs_open(&b->programs);
	b->ends = mem_alloc(n, sizeof(*b->ends));
	b->own = mem_alloc(n, size);
	for (i = 0; i < n; i++)
		b->ends[i].own = b->own + i * size;
}

void bench_run(struct bench *b, uint32_t i, site_id node, uint32_t thread,
	void (*run)(void *end), void *arg)
{
	struct bench_end *x = &b->ends[i];

	x->bench = b;
	x->node = node;
	x->arg = arg;
	program_start(b->programs.load.host, node, thread, 0, run, x);
}

void bench_report(const struct bench *b, struct load_result *r)
{
	programs_report(&b->programs, r);
	r->via = b->driver == &bench_msg ? "msg" : "nic";
}

uint64_t bench_estimate(const struct bench *b, uint64_t n_nodes,
	uint64_t programs, uint64_t bytes)
{
	bool is_msg = b->driver == &bench_msg;

	return programs_estimate(n_nodes, programs + is_msg,
		bytes + b->driver->size(&b->needs) + (is_msg ? MSG_BYTES : 0));
}

uint64_t bench_synthetic(const struct bench *b, uint64_t bytes)
{
	const struct l2_params *p = &b->programs.load.host_params->l2;
	uint64_t most = (uint64_t)p->capacity;

	/* a cache that overflows has tags, 4 bytes a line */
	return bytes < most ? bytes / 256 : 4 * most / (uint64_t)p->line;
}

void bench_fini(struct load *l)
{
	struct bench *b = (struct bench *)l;

	programs_fini(l);
	mem_free(b->ends);
	mem_free(b->own);
}

/* --- for programs --- */

bool bench_open(struct bench_end *x)
{
	return x->bench->driver->open(x);
}

void bench_ready(struct bench_end *x, bool is_set)
{
	const struct bench_driver *d = x->bench->driver;

	if (d->ready && is_set)
		d->ready(x);
	else if (!d->ready)
		program_wait(is_set ? PROGRAMS_START : PROGRAMS_START / 2);
}

void bench_settle(struct bench_end *x)
{
	if (x->bench->driver->sets_later)
		bench_ready(x, true);
}

struct bench_put bench_put(
	const struct bench_end *x, uint32_t node, uint64_t bytes)
{
	return (struct bench_put){
		.node = node,
		.to = BENCH_TARGET,
		.from = BENCH_SOURCE,
		.bytes = bytes,
		.means = x->bench->means,
		.queue = BENCH_ANY,
		.port = BENCH_ANY,
	};
}

/* --- messages --- */

bool bench_counts(const struct bench_end *x)
{
	return !x->bench->driver->receive && !x->bench->driver->wait_word;
}

void bench_expect(struct bench_end *x, uint64_t bytes)
{
	if (bench_counts(x))
		x->bench->driver->expect(x, 0, bytes);
}

void bench_send(struct bench_end *x, uint32_t node, uint64_t number,
	uint64_t bytes, uint32_t means)
{
	const struct bench_driver *d = x->bench->driver;
	struct bench_put p = bench_put(x, node, bytes);

	filled_make(&x->bench->programs, number, BENCH_SOURCE, bytes);
	p.means = means;
	if (d->wait_word)
		p.counter = BENCH_NONE;
	if (d->send)
		d->send(x, node, bytes);
	else
		d->put(x, &p);
}

/* Where faults make packets come again, the last one need not be the last:
 * the last word of each is waited for. */
static bool wait_packets(struct bench_end *x, uint64_t number, uint64_t bytes)
{
	const struct programs *p = &x->bench->programs;
	uint64_t i, word, most = x->bench->driver->get_most;

	for (i = most - sizeof(word); i < bytes - sizeof(word); i += most) {
		memory_fill_by(p->load.seed, number, i, (uint8_t *)&word,
			sizeof(word));
		if (!x->bench->driver->wait_word(x, BENCH_TARGET + i, word))
			return false;
	}
	return true;
}

static bool wait_message(
	struct bench_end *x, uint32_t node, uint64_t number, uint64_t bytes)
{
	const struct bench_driver *d = x->bench->driver;

	if (d->receive)
		return d->receive(x, node, bytes);
	if (!d->wait_word)
		return d->await(x, 0);
	return d->wait_word(x, BENCH_TARGET + bytes - sizeof(number), number) &&
	       (!x->bench->programs.load.net->faults ||
		       wait_packets(x, number, bytes));
}

bool bench_receive(struct bench_end *x, uint32_t node, uint64_t bytes,
	uint64_t number, sim_time *at)
{
	if (!wait_message(x, node, number, bytes))
		return false;
	*at = program_now();
	return filled_check(&x->bench->programs, number, BENCH_TARGET, bytes);
}
