/*
 * The broker: the host's agent that has all virtual interfaces of a node.  It
 * hands them out on demand, to processes of the host and of virtual machines,
 * and takes them back; nobody has a share.  After that programs and the chip
 * work alone: the broker is in no message's way.
 *
 * What ends in mid-work, a job or a virtual machine, gives back what it has at
 * once.  Its messages end at the next packet and its queues write nothing more.
 * What still comes for it finds nothing, or another's: each owner of an
 * interface and each receive queue has a number of its own, a life, and each
 * job its turn, so nothing of an earlier one is taken for the next one's.
 */
#include "nic/swhni/card.h"

#include <errno.h>

#include "base/mem.h"
#include "parts/vms/vms.h"

static uint32_t n_vms(const struct nic *nic)
{
	return (uint32_t)((const struct swhni_params *)nic->params)->vms;
}

static struct swhni_vm *vms(const struct nic_at *a)
{
	struct sw_broker *b = &sw_here(a)->broker;

	if (!b->vm)
		b->vm = mem_alloc(n_vms(a->nic) + 1, sizeof(*b->vm));
	return b->vm;
}

uint64_t sw_broker_memory(const struct sw_node *n)
{
	return n->broker.vm ? sizeof(*n->broker.vm) : 0;
}

void sw_broker_fini(struct sw_node *n)
{
	mem_free(n->broker.vm);
}

/* --- giving and taking --- */

int sw_broker_ask(const struct nic_at *a, const struct swhni_setup *s)
{
	if (s->vm > n_vms(a->nic))
		return EINVAL;
	return vms(a)[s->vm].is_dead ? ENODEV : 0;
}

void sw_broker_grant(const struct nic_at *a, struct sw_interface *x)
{
	struct swhni_vm *vm = &vms(a)[x->setup.vm];

	x->life = ++sw_here(a)->broker.lives;
	vm->interfaces++;
	vm->granted++;
}

void sw_broker_return(const struct nic_at *a, struct sw_interface *x)
{
	struct swhni_vm *vm = &vms(a)[x->setup.vm];

	x->is_open = false;
	vm->interfaces--;
	vm->returned++;
}

/* Messages of an interface, or of a job, go nowhere from now on. */
static void kill_messages(const struct nic_at *a, uint32_t engine,
	uint32_t interface, uint32_t job)
{
	struct sw_engine *e = sw_engine(a, engine);

	for (uint32_t i = 1; i <= e->messages.items.room; i++) {
		const struct sw_message *m = slots_find(&e->messages.items, i);

		if (m && !m->is_dead && m->job == job &&
			(interface == SWHNI_INTERFACES ||
				m->interface == interface))
			sw_engine_kill(a, engine, i);
	}
}

static void kill_queue(const struct nic_at *a, struct sw_interface *x)
{
	if (x->queue == SW_NO_QUEUE)
		return;
	workqs_kill(&sw_engine(a, x->setup.engine)->queues, x->queue);
	x->queue = SW_NO_QUEUE;
}

void sw_end_interface(
	const struct nic_at *a, uint32_t interface, struct sw_interface *x)
{
	kill_queue(a, x);
	kill_messages(a, x->setup.engine, interface, x->setup.job);
	if (sw_of(a)->unit->leave)
		sw_of(a)->unit->leave(a, interface);
	x->life = ++sw_here(a)->broker.lives;
}

void swhni_take_back(const struct nic_at *a, uint32_t interface)
{
	struct sw_interface *x = sw_interface(a->node, interface);

	if (!x)
		return;
	sw_end_interface(a, interface, x);
	sw_broker_return(a, x);
	sw_engine_turn(a, x->setup.engine);
}

/* --- what is dropped --- */

void sw_drop(const struct nic_at *a, uint32_t job)
{
	struct sw_broker *b = &sw_here(a)->broker;
	uint32_t id = index_find(&b->by_job, (uint64_t)job + 1);

	sw_here(a)->strays++;
	if (!id) {
		id = slots_take(&b->drops);
		((struct sw_drop *)slots_at(&b->drops, id))->job = job;
		index_add(&b->by_job, (uint64_t)job + 1, id);
	}
	((struct sw_drop *)slots_at(&b->drops, id))->n++;
}

uint64_t swhni_dropped(struct nic *nic, site_id s, uint32_t job)
{
	const struct sw_broker *b =
		&((struct sw_node *)nic_node(nic, s))->broker;
	uint32_t id = index_find(&b->by_job, (uint64_t)job + 1);

	return id ? ((struct sw_drop *)slots_at(&b->drops, id))->n : 0;
}

bool sw_has_job(const struct sw_node *n, uint32_t job)
{
	for (uint32_t i = 0; i < n->n_interfaces; i++)
		if (n->interface[i].is_open && n->interface[i].setup.job == job)
			return true;
	for (uint32_t i = 1; i <= n->handles.room; i++) {
		const struct sw_handle *x = slots_find(&n->handles, i);

		if (x && x->h.job == job)
			return true;
	}
	return false;
}

/* --- jobs that leave --- */

void swhni_leave(const struct nic_at *a, uint32_t job)
{
	struct sw_node *n = a->node;

	for (uint32_t i = 0; i < SWHNI_INTERFACES; i++) {
		struct sw_interface *x = sw_interface(n, i);

		if (x && x->setup.job == job)
			swhni_take_back(a, i);
	}
	sw_address_leave(n, job);
	for (uint32_t e = 0; e < SWHNI_ENGINES; e++) {
		kill_messages(a, e, SWHNI_INTERFACES, job);
		sw_engine_turn(a, e);
	}
}

/* --- virtual machines --- */

uint32_t swhni_vm_of(struct nic *nic, site_id s, uint32_t process)
{
	const struct sw_node *n = nic_node(nic, s);

	if (process < HOST_THREADS && n->broker.vm_of[process])
		return n->broker.vm_of[process] - 1u;
	return n_vms(nic) ? 1 + process % n_vms(nic) : 0;
}

enum swhni_error sw_broker_look_up(
	const struct nic_at *a, uint32_t engine, struct sw_message *m)
{
	const struct sw_interface *x = sw_interface(a->node, m->interface);
	enum swhni_error error = sw_look_up(a, engine, m->job, m->d.own_key,
		m->d.own_offset, m->d.bytes, 0, &m->handle);

	m->handles_life = sw_here(a)->handles_life;
	if (error || !x || !x->setup.vm)
		return error;
	return swhni_vm_of(a->nic, a->s, m->handle->process) == x->setup.vm
		       ? SWHNI_OK
		       : SWHNI_NO_RIGHT;
}

struct swhni_vm swhni_vm(struct nic *nic, site_id s, uint32_t vm)
{
	const struct sw_node *n = nic_node(nic, s);

	if (vm > n_vms(nic) || !n->broker.vm)
		return (struct swhni_vm){ 0 };
	return n->broker.vm[vm];
}

int swhni_vm_join(const struct nic_at *a, uint32_t process, uint32_t vm)
{
	struct sw_node *n = a->node;

	if (vm > n_vms(a->nic) || process >= HOST_THREADS)
		return EINVAL;
	if (vms(a)[vm].is_dead)
		return ENODEV;
	if (swhni_vm_of(a->nic, a->s, process) == vm)
		return 0;
	for (uint32_t i = 0; i < SWHNI_INTERFACES; i++) {
		const struct sw_interface *x = sw_interface(n, i);

		if (x && x->setup.process == process)
			return EBUSY;
	}
	n->broker.vm_of[process] = (uint8_t)(vm + 1);
	return 0;
}

int swhni_vm_kill(const struct nic_at *a, uint32_t vm)
{
	uint64_t processes = 0;

	if (!vm || vm > n_vms(a->nic))
		return EINVAL;
	vms(a)[vm].is_dead = true;
	for (uint32_t i = 0; i < SWHNI_INTERFACES; i++) {
		const struct sw_interface *x = sw_interface(a->node, i);

		if (x && x->setup.vm == vm)
			swhni_take_back(a, i);
	}
	for (uint32_t i = 0; i < HOST_THREADS; i++)
		if (swhni_vm_of(a->nic, a->s, i) == vm) {
			sw_address_end(a->node, i);
			processes |= UINT64_C(1) << i;
		}
	host_kill(a->nic->host, a->s, processes);
	return 0;
}

/* Of a plan's event; a machine that returns has no programs yet. */
void sw_broker_on_crash(const struct nic_at *a, uint32_t event)
{
	if (event & 1)
		vms(a)[event >> 1].is_dead = false;
	else
		swhni_vm_kill(a, event >> 1);
}

int sw_broker_plan(struct nic *nic, struct err *e)
{
	const struct fault_plan *p = nic->plan;

	for (size_t i = 0; p && i < p->n_events; i++) {
		const struct fault_event *x = &p->event[i];

		if (x->kind != &part_vm)
			continue;
		if (!x->unit || x->unit > n_vms(nic))
			return err_set(e,
				"%s%sfaults: \"%.60s\": nodes have %u virtual "
				"machines (nic.vms), numbered from 1",
				x->place, *x->place ? ": " : "", x->text,
				n_vms(nic));
		sim_post(sim_owner(nic->net->sim, x->site), x->site,
			x->at ? x->at : 1, SIM_KEY(PHASE_ENGINE, SW_CRASH),
			(uint16_t)i, x->unit << 1 | x->returns);
	}
	return 0;
}
