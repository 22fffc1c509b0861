/*
 * Random programs on what weft/elan.h has above the card: tagged ports,
 * barriers and other collectives, with any handles, ranks, addresses and
 * lengths, in any order, also on handles that were never opened.
 *
 *	fuzz_elan_library [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_elan_library"

#include "weft/elan.h"

#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PORTS = 2, HANDLES = 8, SPACE = 1 << 16 };

struct process {
	struct elan_tport port[PORTS];
	struct elan_hgsync sync;
	struct elan_hgroup group;
	uint32_t handle[HANDLES]; /* that calls have returned */
};

/* Mostly numbers as they should be; else any. */
static uint32_t rank(struct program_at *p)
{
	uint8_t which = take(p);

	return which % 8 ? which % weft_nodes()
	       : which	 ? ELAN_TPORT_ANY
			 : narrow(p);
}

static uint64_t place(struct program_at *p)
{
	return take(p) % 8 ? (uint64_t)SPACE + 64 * take(p) : number(p);
}

static uint32_t *handle(struct process *x, struct program_at *p)
{
	uint32_t *h = &x->handle[take(p) % HANDLES];

	if (take(p) % 16 == 0)
		*h = narrow(p);
	return h;
}

static struct elan_tport_message message(struct program_at *p)
{
	struct elan_tport_message m = { .rank = rank(p) };

	m.tag = take(p) % 4;
	m.mask = take(p) % 4 ? UINT64_MAX : number(p);
	m.data = number(p);
	m.flags = take(p) % 4 ? 0 : take(p) % 32;
	m.at = place(p);
	m.bytes = number(p);
	return m;
}

static void open_port(struct elan_tport *t, uint32_t i, struct program_at *p)
{
	bool is_right = take(p) % 4;
	const struct elan_tport_options o = { .port = is_right ? i : narrow(p),
		.queue = is_right ? 8 + ELAN_TPORT_QUEUES * i : narrow(p),
		.handles = is_right ? HANDLES : narrow(p),
		.at = is_right ? (16 + 16 * i) * (uint64_t)SPACE : place(p) };

	elan_tport_open(t, &o);
}

/* Waits are rare, since many of them are in vain. */
static void use_port(struct process *x, struct program_at *p)
{
	uint32_t i = take(p) % PORTS;
	struct elan_tport *t = &x->port[i];
	struct elan_tport_message m = message(p);
	uint32_t *h = handle(x, p);
	struct elan_tport_status s;

	switch (take(p) % 12) {
	case 0:
		open_port(t, i, p);
		break;
	case 1:
		elan_tport_close(t);
		break;
	case 2:
		elan_tport_tx_start(t, m.rank, m.tag, m.at, m.bytes, h);
		break;
	case 3:
		elan_tport_rx_start(t, m.rank, m.tag, m.mask, m.at, m.bytes, h);
		break;
	case 4:
		elan_tport_cancel(t, *h);
		break;
	case 5:
		elan_tport_probe(t, m.rank, m.tag, m.mask, &s);
		break;
	case 6:
		elan_tport_peek(t, &m, h);
		break;
	case 7:
		elan_tport_receive(t, &m, h);
		break;
	case 8:
		elan_tport_wait(t, *h, take(p) % 2 ? &s : NULL);
		break;
	case 9:
		elan_tport_test(t, *h, &s);
		break;
	default:
		elan_tport_send(t, &m, h);
	}
}

static void use_sync(struct process *x, struct program_at *p)
{
	switch (take(p) % 5) {
	case 0:
		elan_hgsync_close(&x->sync);
		break;
	case 1:
		elan_hgsync_open(&x->sync, narrow(p), place(p));
		break;
	case 2:
		elan_hgsync_start(&x->sync);
		break;
	case 3:
		elan_hgsync_wait(&x->sync);
		break;
	default:
		elan_hgsync(&x->sync);
	}
}

static void open_group(struct elan_hgroup *g, struct program_at *p)
{
	bool is_right = take(p) % 4;
	const struct elan_hgroup_options o = { .queue = is_right ? 30
								 : narrow(p),
		.input = is_right ? 300 : narrow(p),
		.code = is_right ? 3 : narrow(p),
		.event = is_right ? 9 : narrow(p),
		.at = is_right ? 0x2000 : place(p) };

	elan_hgroup_open(g, &o);
}

static void use_group(struct process *x, struct program_at *p)
{
	uint64_t from = place(p), to = place(p), n = number(p);
	uint32_t root = rank(p), op = take(p) % (ELAN_REDUCTIONS + 1);

	switch (take(p) % 6) {
	case 0:
		open_group(&x->group, p);
		break;
	case 1:
		elan_hgroup_close(&x->group);
		break;
	case 2:
		elan_hbcast(&x->group, root, from, n);
		break;
	case 3:
		elan_hreduce(
			&x->group, root, (enum elan_reduction)op, from, to, n);
		break;
	case 4:
		elan_hscatter(&x->group, root, from, to, n);
		break;
	default:
		elan_hgather(&x->group, root, from, to, n);
	}
}

/* Pages go, and time passes. */
static void go_on(struct program_at *p)
{
	if (take(p) % 2)
		elan_vm_drop(place(p), number(p));
	else
		weft_compute(1000 * (weft_time)(narrow(p) % 100000));
}

/* All nodes begin with the same; their bytes differ then. */
static void run_program(void *mine)
{
	struct program_at p = program_begin(), same = { 0 };
	struct process *x = mine;

	for (uint32_t i = 0; i < PORTS; i++)
		open_port(&x->port[i], i, &same);
	if (take(&same) % 4)
		elan_hgsync_open(&x->sync, 4, 0x1000);
	if (take(&same) % 4)
		open_group(&x->group, &same);
	for (int i = 0; i < PROGRAM_CALLS; i++) {
		/* collectives of all, in the same order */
		uint8_t what = take(&same) % 16;

		if (what < 2)
			use_sync(x, take(&p) % 8 ? &same : &p);
		else if (what < 5)
			use_group(x, take(&p) % 8 ? &same : &p);
		else if (what < 14)
			use_port(x, &p);
		else
			go_on(&p);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const sets[] = { "--set=nic.match.by=card",
		"--set=nic.mmu.demand=yes", "--set=nic.match.slots=4",
		"--set=nic.match.by=reject", "--set=nic.match.by=interrupt",
		"--set=nic.hgsync=host" };
	const char *const on[] = { "qsnet2", "--shape=5", "--until=20ms",
		"--set=nic.match.spill=64KiB", sets[size ? data[0] % 6 : 0],
		NULL };
	const struct weft_app app = {
		.name = FUZZ_NAME,
		.help = "",
		.run = run_program,
		.node_bytes = sizeof(struct process),
		.interface = "elan",
	};

	program_run(&app, on, data, size);
	return 0;
}

#include "program_driver.h"
