#include "load/programs.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/elan.h"
#include "base/mem.h"
#include "weft/msg.h"

/* What a node takes that does something, more or less: its message unit, its
 * caches' footprint, and of each program the stack that it has touched. */
enum {
	NODE_BYTES = 24 << 10,
	PROGRAM_BYTES = 12 << 10,
	/* stages, FIFOs or queues, and slots of some neighbours */
	MSG_BYTES = 192 << 10,
	SLICES_PER_STALL = 4,
};

struct programs_arrivals {
	_Alignas(64) uint64_t n;
	site_id complainer; /* where wrong.code is set */
	struct err wrong;
	struct hist latency;
};

int programs_need_nic(const struct programs *p, const struct nic_ops *nic,
	const char *what, uint64_t memory, struct err *e)
{
	const struct load *l = &p->load;

	if (l->nic_ops != nic)
		return err_set(
			e, "%s: the machine has no %s", l->ops->name, what);
	if ((uint64_t)l->host_params->memory < memory)
		return err_set(e, "%s: needs a host.memory of %.1f GiB",
			l->ops->name, (double)memory / (1 << 30));
	return 0;
}

int programs_need(const struct programs *p, uint64_t memory, struct err *e)
{
	const struct load *l = &p->load;

	uint64_t most = l->nic_ops ? l->nic_ops->most_memory : 0;

	if (most && memory > most)
		return err_set(e,
			"%s: needs %.1f GiB of each node's memory, and the "
			"%s addresses %.0f",
			l->ops->name, (double)memory / (1 << 30),
			l->nic_ops->title, (double)most / (1 << 30));
	return programs_need_nic(p, &bgq_mu_ops, "message unit", memory, e);
}

int programs_need_elan(const struct programs *p, uint64_t memory, struct err *e)
{
	return programs_need_nic(p, &elan4_ops, "Elan4 interface", memory, e);
}

int programs_need_msg(const struct programs *p, uint32_t n_nodes,
	uint64_t memory, struct err *e)
{
	memory += weft_msg_memory(n_nodes, NULL);
	if (p->load.nic_ops == &elan4_ops)
		return programs_need_nic(p, &elan4_ops, "", memory, e);
	return programs_need(p, memory, e);
}

static struct programs_arrivals *mine(struct programs *p, site_id s)
{
	return &p->arrivals[sim_owner(p->load.net->sim, s)->id];
}

void programs_delivered(
	void *arg, site_id s, const struct packet *packet, sim_time t)
{
	struct programs *p = arg;
	struct programs_arrivals *a = mine(p, s);

	load_delivered(&p->load, s, packet, t);
	a->n++;
	hist_add(&a->latency, t - packet->born);
}

void programs_open(struct programs *p)
{
	p->arrivals = map_alloc(p->load.net->n_workers * sizeof(*p->arrivals));
}

static uint64_t arrived(const struct programs *p)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < p->load.net->n_workers; i++)
		n += p->arrivals[i].n;
	return n;
}

static void tell_progress(const struct programs *p, sim_time now)
{
	const struct load *l = &p->load;
	struct load_progress progress = { .now = now };

	if (!l->on_progress)
		return;
	progress.hops = net_total(l->net).hops;
	if (p->expected)
		progress.per_mille =
			(uint32_t)(arrived(p) * 1000 / p->expected);
	l->on_progress(l->progress_arg, &progress);
}

sim_time programs_next(struct load *l)
{
	struct programs *p = (struct programs *)l;
	sim_time now = sim_now(l->net->sim);

	if (!nic_n_events(l->nic)) {
		host_bury(l->host);
		p->is_stalled = host_n_running(l->host) != 0;
		return SIM_NEVER;
	}
	tell_progress(p, now);
	if (p->until < now)
		p->until = now;
	p->until += l->net->params.stall / SLICES_PER_STALL;
	return p->until;
}

/* The first complaint of the lowest node. */
static const struct err *find_wrong(const struct programs *p)
{
	const struct programs_arrivals *first = NULL, *a;
	uint32_t i;

	for (i = 0; i < p->load.net->n_workers; i++) {
		a = &p->arrivals[i];
		if (a->wrong.code &&
			(!first || a->complainer < first->complainer))
			first = a;
	}
	return first ? &first->wrong : NULL;
}

static int check_nics(const struct programs *p, struct err *e)
{
	const struct nic *nic = p->load.nic;
	char text[256];
	site_id s;

	for (s = 0; s < p->load.net->n_nodes; s++)
		if (nic_errors(nic, s, text, sizeof(text)))
			return err_set_code(e, EXIT_INTERNAL,
				"node %u: the %s reports: %s", s,
				nic->ops->title, text);
	return 0;
}

int programs_check(struct load *l, struct err *e)
{
	struct programs *p = (struct programs *)l;
	const struct err *wrong = find_wrong(p);
	char text[128];

	if (wrong) {
		*e = *wrong;
		return -1;
	}
	/* Where things go wrong, interfaces report it. */
	if (!p->may_err && !l->net->faults && check_nics(p, e))
		return -1;
	if (p->is_stalled) {
		host_describe_waiting(l->host, text, sizeof(text));
		return err_set_code(e, EXIT_DEADLOCK, "%s", text);
	}
	return nic_audit(l->nic, e);
}

void programs_fini(struct load *l)
{
	struct programs *p = (struct programs *)l;

	if (p->arrivals)
		map_free(p->arrivals, l->net->n_workers * sizeof(*p->arrivals));
}

void programs_report(const struct programs *p, struct load_result *r)
{
	uint32_t i;

	r->via = "nic";
	for (i = 0; p->arrivals && i < p->load.net->n_workers; i++)
		hist_merge(&r->latency, &p->arrivals[i].latency);
	r->nic = p->load.nic;
	r->dead_programs = host_n_dead(p->load.host);
}

uint64_t programs_estimate(
	uint64_t n_nodes, uint64_t programs_per_node, uint64_t bytes_per_node)
{
	return n_nodes * (NODE_BYTES + programs_per_node * PROGRAM_BYTES +
				 bytes_per_node);
}

uint64_t programs_estimate_msg(uint64_t n_nodes, uint64_t bytes_per_node)
{
	return programs_estimate(n_nodes, 2, MSG_BYTES + bytes_per_node);
}

static void note_wrong(struct programs *p, int code, const char *text)
{
	site_id s = program_node();
	struct programs_arrivals *a = mine(p, s);

	if (a->wrong.code && a->complainer <= s)
		return;
	a->wrong = (struct err){ 0 };
	a->complainer = s;
	err_set_code(&a->wrong, code, "node %u: %s", s, text);
}

bool programs_complain(struct programs *p, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	note_wrong(p, EXIT_INTERNAL, text);
	return false;
}

bool programs_begin(struct programs *p)
{
	if (program_now() <= PROGRAMS_START) {
		program_wait(PROGRAMS_START);
		return true;
	}
	note_wrong(p, EXIT_BAD_INPUT,
		"setting up takes longer than 10 us, when others begin to "
		"send: the interface's registers are too slow");
	return false;
}

bool programs_did(struct programs *p, const char *call, int32_t code)
{
	return !code || programs_complain(p, "%s: %s", call, strerror(code));
}

/* --- the message unit --- */

/* Up to eight FIFOs, all of one sub-group. */
static bool open_group(struct programs *p, MUSPI_InjFifoSubGroup_t *g,
	uint32_t subgroup, uint32_t n, uint64_t at, uint64_t size)
{
	static const uint32_t ids[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	Kernel_MemoryRegion_t region;
	uint32_t i;

	if (!programs_did(p, "Kernel_CreateMemoryRegion",
		    Kernel_CreateMemoryRegion(&region, at, n * size)) ||
		!programs_did(p, "Kernel_AllocateInjFifos",
			Kernel_AllocateInjFifos(subgroup, g, n, ids, NULL)))
		return false;
	for (i = 0; i < n; i++)
		if (!programs_did(p, "Kernel_InjFifoInit",
			    Kernel_InjFifoInit(
				    g, i, &region, i * size, size - 1)))
			return false;
	return programs_did(p, "Kernel_InjFifoActivate",
		Kernel_InjFifoActivate(g, n, ids, KERNEL_INJ_FIFO_ACTIVATE));
}

bool programs_open_fifos(struct programs *p, struct programs_fifos *f,
	uint32_t first, uint32_t n, uint64_t at, uint64_t size)
{
	uint32_t i, k;

	BUG_IF(n > PROGRAMS_FIFOS);
	f->n = n;
	for (i = 0; i < n; i += k) {
		k = n - i < MU_PER_SUBGROUP ? n - i : MU_PER_SUBGROUP;
		if (!open_group(p, &f->group[i / MU_PER_SUBGROUP],
			    first + i / MU_PER_SUBGROUP, k, at + i * size,
			    size))
			return false;
	}
	return true;
}

bool programs_open_bases(
	struct programs *p, uint64_t payload, uint64_t counters)
{
	static const uint32_t ids[] = { PROGRAMS_BASE_PAYLOAD,
		PROGRAMS_BASE_COUNTER };
	MUSPI_BaseAddressTableSubGroup_t g;

	counters = MUSPI_GetAtomicAddress(counters, MU_ATOMIC_STORE_ADD);
	return programs_did(p, "Kernel_AllocateBaseAddressTable",
		       Kernel_AllocateBaseAddressTable(0, &g, 2, ids, 0)) &&
	       programs_did(p, "MUSPI_SetBaseAddress",
		       MUSPI_SetBaseAddress(&g, ids[0], payload)) &&
	       programs_did(p, "MUSPI_SetBaseAddress",
		       MUSPI_SetBaseAddress(&g, ids[1], counters));
}

void programs_inject(MUSPI_InjFifo_t *fifo, const MUHWI_Descriptor_t *desc)
{
	while (MUSPI_InjFifoInject(fifo, desc) == (uint64_t)-1)
		;
}

void programs_route(MUSPI_Pt2PtDirectPutDescriptorInfo_t *info, int64_t routing)
{
	info->Pt2Pt.Misc1 = routing ? MUHWI_PACKET_USE_DETERMINISTIC_ROUTING
				    : MUHWI_PACKET_USE_DYNAMIC_ROUTING;
	info->Pt2Pt.Misc2 = routing ? MUHWI_PACKET_VIRTUAL_CHANNEL_DETERMINISTIC
				    : MUHWI_PACKET_VIRTUAL_CHANNEL_DYNAMIC;
}
