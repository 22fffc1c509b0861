/* Barriers and global interrupts: what the kernel gives out, and what programs
 * do with it. */
#include <errno.h>

#include "api/spi/unit.h"
#include "base/units.h"
#include "coll/barrier.h"

/* Cycles of a core: more is for ever. */
#define LONGEST (UINT64_C(1) << 40)

enum {
	TOP_LINK = 11, /* bit of A- */
	ALL_LINKS = 0xffe,
};

/* --- class routes --- */

/* Barriers do not reach IO nodes. */
static uint32_t ports_of(uint32_t links)
{
	return unit_ports(links & ~(uint32_t)BGQ_CLASS_LINK_IO);
}

static uint64_t register_of(const ClassRoute_t *cr)
{
	uint32_t inputs = ports_of(cr->input);

	if (cr->input & BGQ_CLASS_INPUT_LINK_LOCAL)
		inputs |= 1u << BARRIER_LOCAL;
	return (uint64_t)inputs << 16 | ports_of(cr->output);
}

static uint64_t load(enum mu_register kind, uint32_t class)
{
	return unit_load(MU_REGISTER(kind, class));
}

static int32_t check_class(uint32_t id)
{
	if (id >= (uint32_t)unit_params()->classes)
		return EINVAL;
	return id >= MU_GI_SYSTEM && !program_is_system() ? EPERM : 0;
}

int32_t Kernel_QueryGlobalInterruptClassRoutes(
	uint32_t *n, uint32_t *ids, size_t bytes)
{
	uint64_t owned = load(MU_GI_OWNED, 0);
	uint32_t i, count = (uint32_t)unit_params()->classes;

	*n = 0;
	for (i = 0; i < count; i++)
		if (!(owned >> i & 1) && *n < bytes / sizeof(*ids))
			ids[(*n)++] = i;
		else if (!(owned >> i & 1))
			return EINVAL;
	return 0;
}

int32_t Kernel_AllocateGlobalInterruptClassRoute(
	uint32_t id, const Kernel_GlobalInterruptClassRouteAttributes_t *attr)
{
	int32_t wrong = check_class(id);
	uint64_t owned;

	if (wrong)
		return wrong;
	if (attr && attr->System && !program_is_system())
		return EPERM;
	owned = load(MU_GI_OWNED, 0);
	if (owned >> id & 1)
		return EAGAIN;
	unit_store_as_kernel(
		MU_REGISTER(MU_GI_OWNED, 0), owned | UINT64_C(1) << id);
	return 0;
}

/* One that has been given out, and not for the whole job. */
static int32_t check_owned(uint32_t id)
{
	int32_t wrong = check_class(id);

	if (wrong)
		return wrong;
	if (id == Kernel_GetGlobalBarrierUserClassRouteId() &&
		!program_is_system())
		return EPERM;
	return load(MU_GI_OWNED, 0) >> id & 1 ? 0 : EINVAL;
}

int32_t Kernel_DeallocateGlobalInterruptClassRoute(uint32_t id)
{
	int32_t wrong = check_owned(id);

	if (wrong)
		return wrong;
	unit_store_as_kernel(MU_REGISTER(MU_GI_CONTROL, id), 0);
	unit_store_as_kernel(MU_REGISTER(MU_GI_ENABLE, id), 0);
	unit_store_as_kernel(MU_REGISTER(MU_GI_ROUTE, id), 0);
	unit_store_as_kernel(MU_REGISTER(MU_GI_OWNED, 0),
		load(MU_GI_OWNED, 0) & ~(UINT64_C(1) << id));
	return 0;
}

static bool has_wires(uint32_t ports)
{
	const struct topo *t = unit()->net->topo;

	for (; ports; ports &= ports - 1) {
		port_id p = (port_id)__builtin_ctz(ports);

		if (p >= t->n_ports ||
			t->ops->peer(t, program_node(), p).router == NO_ROUTER)
			return false;
	}
	return true;
}

int32_t Kernel_CheckGlobalInterruptClassRoute(
	uint32_t id, const ClassRoute_t *cr)
{
	int32_t wrong = check_owned(id);
	uint32_t links = (cr->input | cr->output) & ALL_LINKS;
	uint64_t other;

	if (wrong)
		return wrong;
	if (cr->output & (cr->output - 1))
		return 1;
	if (cr->output & BGQ_CLASS_INPUT_LINK_LOCAL)
		return 2;
	if (cr->input & cr->output)
		return 3;
	other = load(MU_GI_ROUTE, id ^ 8);
	if (ports_of(links) & (other | other >> 16))
		return 4;
	return links & BGQ_CLASS_LINK_IO || !has_wires(ports_of(links)) ||
			       (cr->input | cr->output) >> (TOP_LINK + 1)
		       ? EINVAL
		       : 0;
}

int32_t Kernel_SetGlobalInterruptClassRoute(uint32_t id, const ClassRoute_t *cr)
{
	int32_t wrong = Kernel_CheckGlobalInterruptClassRoute(id, cr);

	if (!wrong)
		unit_store_as_kernel(
			MU_REGISTER(MU_GI_ROUTE, id), register_of(cr));
	return wrong;
}

uint32_t Kernel_GetGlobalBarrierUserClassRouteId(void)
{
	return 0;
}

int32_t Kernel_ConfigureGIInterrupts(
	uint32_t id, uint32_t giId, uint32_t interruptFlag)
{
	int32_t wrong = check_class(id);
	uint64_t bit, enabled;

	if (wrong || giId >= BARRIER_BITS ||
		interruptFlag > KERNEL_GI_INTERRUPT_FLAG_ENABLE)
		return wrong ? wrong : EINVAL;
	bit = BARRIER_FIRST >> giId;
	enabled = load(MU_GI_ENABLE, id) & ~bit;
	unit_store_as_kernel(MU_REGISTER(MU_GI_ENABLE, id),
		interruptFlag ? enabled | bit : enabled);
	return 0;
}

/* --- waiting for a status --- */

struct look {
	struct nic *nic;
	site_id node;
	uint32_t class;
	uint64_t mask, value;
};

struct poll_loop unit_register_loop(void)
{
	sim_time load_time = unit_params()->mmio_load;

	return (struct poll_loop){
		.period = load_time,
		.load = load_time - load_time / 2,
		.phase = load_time / 2,
	};
}

static bool is_there(void *arg, uint64_t *seen)
{
	const struct look *l = arg;

	*seen = mu_peek(l->nic, l->node, MU_REGISTER(MU_GI_STATUS, l->class));
	return (*seen & l->mask) == l->value;
}

/* -1 where these bits of the status are not that in time. */
static int32_t wait_for(
	uint64_t class, uint64_t mask, uint64_t value, uint64_t cycles)
{
	sim_time now = program_now();
	struct look l = { unit(), program_node(), (uint32_t) class, mask,
		value };
	bool has_end = cycles < LONGEST;
	uint64_t seen;

	return program_poll_before(is_there, &l, unit_register_loop(),
		       has_end ? now + units_cycles((int64_t)cycles,
					       unit_clocks()->core)
			       : SIM_NEVER,
		       &seen)
		       ? 0
		       : -1;
}

static void store_control(uint64_t class, uint64_t bits)
{
	unit_store(MU_REGISTER(MU_GI_CONTROL, class), bits);
}

/* --- barriers --- */

int32_t MUSPI_GIBarrierInitMU1(uint32_t classRouteId)
{
	if (check_class(classRouteId))
		return -1;
	store_control(classRouteId, MUSPI_GIBARRIER_INITIAL_STATE);
	return 0;
}

int32_t MUSPI_GIBarrierInitMU2(uint32_t classRouteId, uint64_t timeoutInCycles)
{
	PROGRAM_CALL("MUSPI_GIBarrierInitMU2, class #", classRouteId, 0);

	if (check_class(classRouteId))
		return -1;
	return wait_for(classRouteId, BARRIER_ALL,
		MUSPI_GIBARRIER_INITIAL_STATE, timeoutInCycles);
}

int32_t MUSPI_GIBarrierInit(MUSPI_GIBarrier_t *barrier, uint32_t classRouteId)
{
	uint64_t state;

	if (check_class(classRouteId))
		return -1;
	state = load(MU_GI_CONTROL, classRouteId);
	*barrier = (MUSPI_GIBarrier_t){ classRouteId, state };
	return state && !(state & (state - 1)) ? 0 : -1;
}

static uint64_t next_state(uint64_t state)
{
	return state > 1 ? state >> 1 : MUSPI_GIBARRIER_INITIAL_STATE;
}

int32_t MUSPI_GIBarrierEnter(MUSPI_GIBarrier_t *barrier)
{
	store_control(barrier->classRouteId, next_state(barrier->state));
	return 0;
}

bool unit_barrier_is_over(
	struct nic *nic, site_id node, const MUSPI_GIBarrier_t *b)
{
	return !(
		mu_peek(nic, node, MU_REGISTER(MU_GI_STATUS, b->classRouteId)) &
		b->state);
}

void unit_barrier_next(MUSPI_GIBarrier_t *b)
{
	b->state = next_state(b->state);
}

int32_t MUSPI_GIBarrierPollWithTimeout(
	MUSPI_GIBarrier_t *barrier, uint64_t timeoutInCycles)
{
	PROGRAM_CALL("MUSPI_GIBarrierPoll, class #", barrier->classRouteId, 0);

	if (wait_for(barrier->classRouteId, barrier->state, 0, timeoutInCycles))
		return -1;
	unit_barrier_next(barrier);
	return 0;
}

int32_t MUSPI_GIBarrierPoll(MUSPI_GIBarrier_t *barrier)
{
	return MUSPI_GIBarrierPollWithTimeout(barrier, UINT64_MAX);
}

int32_t MUSPI_GIBarrierEnterAndWait(MUSPI_GIBarrier_t *barrier)
{
	MUSPI_GIBarrierEnter(barrier);
	return MUSPI_GIBarrierPoll(barrier);
}

/* --- global interrupts --- */

int32_t MUSPI_GIInit(MUSPI_GI_t *gi, uint32_t classRouteId, uint32_t GIId)
{
	if (check_class(classRouteId) || GIId >= BARRIER_BITS)
		return -1;
	*gi = (MUSPI_GI_t){ classRouteId, BARRIER_FIRST >> GIId };
	return 0;
}

int32_t MUSPI_GISend(const MUSPI_GI_t *gi)
{
	store_control(gi->classRouteId,
		load(MU_GI_CONTROL, (uint32_t)gi->classRouteId) | gi->mask);
	return 0;
}

int32_t MUSPI_GISendClear(const MUSPI_GI_t *gi)
{
	store_control(gi->classRouteId,
		load(MU_GI_CONTROL, (uint32_t)gi->classRouteId) & ~gi->mask);
	return 0;
}

int32_t MUSPI_GIPollWithTimeout(const MUSPI_GI_t *gi, uint64_t timeoutInCycles)
{
	PROGRAM_CALL("MUSPI_GIPoll, class #", gi->classRouteId, 0);

	return wait_for(gi->classRouteId, gi->mask, gi->mask, timeoutInCycles);
}

int32_t MUSPI_GIPoll(const MUSPI_GI_t *gi)
{
	return MUSPI_GIPollWithTimeout(gi, UINT64_MAX);
}
