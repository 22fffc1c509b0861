/*
 * What the kernel does for programs: it gives out FIFOs and base addresses,
 * and keeps what is the system's.  It believes nothing that it is given.
 */
#include <errno.h>

#include "api/spi/unit.h"
#include "link/retry.h"

/* --- memory regions --- */

static bool has_memory(uint64_t at, uint64_t bytes)
{
	uint64_t memory = host_memory(program_host());

	return at <= memory && bytes <= memory - at;
}

int32_t Kernel_CreateMemoryRegion(
	Kernel_MemoryRegion_t *region, uint64_t va, uint64_t bytes)
{
	if (!has_memory(va, bytes))
		return ENOMEM;
	*region = (Kernel_MemoryRegion_t){
		.BaseVa = va,
		.BasePa = va,
		.Bytes = bytes,
	};
	return 0;
}

int32_t spi_physical(
	const Kernel_MemoryRegion_t *region, uint64_t va, uint64_t *pa)
{
	if (va < region->BaseVa || va - region->BaseVa >= region->Bytes)
		return EINVAL;
	*pa = region->BasePa + (va - region->BaseVa);
	return 0;
}

/* --- who has what --- */

static int32_t check_subgroup(uint32_t subgrpid)
{
	if (subgrpid >= MU_SUBGROUPS)
		return EINVAL;
	if (subgrpid >= MU_SYSTEM_SUBGROUP && !program_is_system())
		return EPERM;
	return 0;
}

/* The mask of n numbers below most; 0 where that is not what they are. */
static uint64_t mask_of(uint32_t n, const uint32_t *ids, uint32_t most)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (ids[i] >= most || mask >> ids[i] & 1)
			return 0;
		mask |= UINT64_C(1) << ids[i];
	}
	return mask;
}

/* Of a kind that sub-groups own: how many a sub-group has. */
static uint32_t per_subgroup(enum mu_register kind)
{
	return kind == MU_REC_OWNED ? MU_REC_PER_SUBGROUP : MU_PER_SUBGROUP;
}

/* A mask in the register of a sub-group that says what is given out. */
struct owned {
	uint32_t reg;
	uint64_t taken, mine;
};

static int32_t find_owned(struct owned *o, enum mu_register kind,
	uint32_t subgrpid, uint32_t n, const uint32_t *ids)
{
	int32_t wrong = check_subgroup(subgrpid);

	if (wrong)
		return wrong;
	o->mine = mask_of(n, ids, per_subgroup(kind));
	if (!o->mine)
		return EINVAL;
	o->reg = MU_REGISTER(kind, subgrpid);
	o->taken = unit_load(o->reg);
	return 0;
}

static int32_t take(enum mu_register kind, uint32_t subgrpid, uint32_t n,
	const uint32_t *ids)
{
	struct owned o;
	int32_t wrong = find_owned(&o, kind, subgrpid, n, ids);

	if (wrong)
		return wrong;
	if (o.taken & o.mine)
		return EBUSY;
	unit_store_as_kernel(o.reg, o.taken | o.mine);
	return 0;
}

/* Whether they are given out, so that something can be done with them. */
static int32_t check_taken(enum mu_register kind, uint32_t subgrpid, uint32_t n,
	const uint32_t *ids)
{
	struct owned o;
	int32_t wrong = find_owned(&o, kind, subgrpid, n, ids);

	if (wrong)
		return wrong;
	return o.mine & ~o.taken ? EINVAL : 0;
}

static void give_back(enum mu_register kind, uint32_t subgrpid, uint32_t n,
	const uint32_t *ids)
{
	struct owned o;

	if (!find_owned(&o, kind, subgrpid, n, ids))
		unit_store_as_kernel(o.reg, o.taken & ~o.mine);
}

/* Disables FIFOs and gives them back; EBUSY where one is in use. */
static int32_t give_fifos(enum mu_register kind, enum mu_register enable,
	uint32_t subgrpid, uint32_t n, const uint32_t *ids,
	bool (*is_busy)(uint32_t fifo))
{
	uint32_t first = subgrpid * per_subgroup(kind), i;
	int32_t wrong = check_taken(kind, subgrpid, n, ids);

	for (i = 0; i < n && !wrong; i++)
		wrong = is_busy(first + ids[i]) ? EBUSY : 0;
	if (wrong)
		return wrong;
	for (i = 0; i < n; i++)
		if (unit_load(MU_REGISTER(enable, first + ids[i])))
			unit_store_as_kernel(
				MU_REGISTER(enable, first + ids[i]), 0);
	give_back(kind, subgrpid, n, ids);
	return 0;
}

/* Where a FIFO is to lie, or EINVAL. */
static int32_t find_place(const Kernel_MemoryRegion_t *region, uint64_t offset,
	uint64_t size, uint64_t unit_bytes, uint64_t *start)
{
	*start = region->BasePa + offset;
	if (offset > region->Bytes || size > region->Bytes - offset ||
		!has_memory(*start, size) || *start % unit_bytes ||
		size % unit_bytes)
		return EINVAL;
	return 0;
}

/* --- injection FIFOs --- */

static uint32_t inj_id(uint32_t subgrpid, uint32_t id)
{
	return subgrpid * MU_PER_SUBGROUP + id;
}

static uint64_t load_inj(
	enum mu_register kind, const MUSPI_InjFifoSubGroup_t *g, uint32_t id)
{
	return unit_load(MU_REGISTER(kind, inj_id(g->subgrpid, id)));
}

static int32_t check_inj(
	const MUSPI_InjFifoSubGroup_t *g, uint32_t n, const uint32_t *ids)
{
	return check_taken(MU_INJ_OWNED, g->subgrpid, n, ids);
}

static bool asks_for_system(uint32_t n, const Kernel_InjFifoAttributes_t *attrs)
{
	for (uint32_t i = 0; attrs && i < n; i++)
		if (attrs[i].System)
			return true;
	return false;
}

int32_t Kernel_AllocateInjFifos(uint32_t subgrpid,
	MUSPI_InjFifoSubGroup_t *subgrp, uint32_t n, const uint32_t *ids,
	const Kernel_InjFifoAttributes_t *attrs)
{
	int32_t wrong;

	if (asks_for_system(n, attrs) && !program_is_system())
		return EPERM;
	wrong = take(MU_INJ_OWNED, subgrpid, n, ids);
	if (wrong)
		return wrong;
	subgrp->subgrpid = subgrpid;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = inj_id(subgrpid, ids[i]);
		uint64_t flags = 0;

		if (attrs && attrs[i].Priority)
			flags |= MU_INJ_HIGH;
		if (attrs && attrs[i].RemoteGet)
			flags |= MU_INJ_REMOTE_GET;
		subgrp->fifo[ids[i]] = (MUSPI_InjFifo_t){ .id = id };
		unit_store_as_kernel(MU_REGISTER(MU_INJ_ATTRIBUTES, id), flags);
	}
	return 0;
}

int32_t Kernel_InjFifoInit(MUSPI_InjFifoSubGroup_t *subgrp, uint32_t id,
	const Kernel_MemoryRegion_t *region, uint64_t offset, uint64_t size_1)
{
	int32_t wrong = check_inj(subgrp, 1, &id);
	uint64_t size = size_1 + 1, start, count;

	if (wrong)
		return wrong;
	if (size < 2 * MU_DESCRIPTOR_BYTES ||
		find_place(region, offset, size, MU_DESCRIPTOR_BYTES, &start))
		return EINVAL;
	if (load_inj(MU_INJ_ENABLE, subgrp, id))
		return EBUSY;
	/* whoever had it before may have sent some */
	count = load_inj(MU_INJ_COUNT, subgrp, id);
	unit_place_fifo(
		&subgrp->fifo[id], inj_id(subgrp->subgrpid, id), start, size);
	subgrp->fifo[id].numInjected = count;
	return 0;
}

int32_t Kernel_InjFifoActivate(const MUSPI_InjFifoSubGroup_t *subgrp,
	uint32_t n, const uint32_t *ids, uint32_t how)
{
	int32_t wrong = check_inj(subgrp, n, ids);

	if (wrong)
		return wrong;
	if (how > KERNEL_INJ_FIFO_ACTIVATE)
		return EINVAL;
	for (uint32_t i = 0; i < n; i++)
		if (!load_inj(MU_INJ_SIZE, subgrp, ids[i]))
			return EINVAL;
	for (uint32_t i = 0; i < n; i++)
		unit_store_as_kernel(MU_REGISTER(MU_INJ_ENABLE,
					     inj_id(subgrp->subgrpid, ids[i])),
			how);
	return 0;
}

static bool is_sending(uint32_t inj)
{
	return unit_load(MU_REGISTER(MU_INJ_ENABLE, inj)) &&
	       unit_load(MU_REGISTER(MU_INJ_HEAD, inj)) !=
		       unit_load(MU_REGISTER(MU_INJ_TAIL, inj)) &&
	       !unit_load(MU_REGISTER(MU_INJ_STOPPED, inj));
}

int32_t Kernel_DeallocateInjFifos(
	const MUSPI_InjFifoSubGroup_t *subgrp, uint32_t n, const uint32_t *ids)
{
	return give_fifos(MU_INJ_OWNED, MU_INJ_ENABLE, subgrp->subgrpid, n, ids,
		is_sending);
}

MUSPI_InjFifo_t *MUSPI_IdToInjFifo(uint32_t id, MUSPI_InjFifoSubGroup_t *subgrp)
{
	return id < MU_PER_SUBGROUP ? &subgrp->fifo[id] : NULL;
}

/* --- reception FIFOs --- */

enum {
	SUBGROUPS_PER_GROUP = 4,
	REC_PER_GROUP = SUBGROUPS_PER_GROUP * MU_REC_PER_SUBGROUP,
	REC_LEAST = MU_HEADER_BYTES + MU_PAYLOAD + MU_CHUNK,
};

static uint32_t rec_id(uint32_t subgrpid, uint32_t id)
{
	return subgrpid * MU_REC_PER_SUBGROUP + id;
}

int32_t Kernel_AllocateRecFifos(uint32_t subgrpid,
	MUSPI_RecFifoSubGroup_t *subgrp, uint32_t n, const uint32_t *ids,
	const Kernel_RecFifoAttributes_t *attrs)
{
	int32_t wrong;

	for (uint32_t i = 0; attrs && i < n; i++)
		if (attrs[i].System && !program_is_system())
			return EPERM;
	wrong = take(MU_REC_OWNED, subgrpid, n, ids);
	if (wrong)
		return wrong;
	subgrp->subgrpid = subgrpid;
	for (uint32_t i = 0; i < n; i++)
		subgrp->fifo[ids[i]] = (MUSPI_RecFifo_t){
			.id = rec_id(subgrpid, ids[i]),
		};
	return 0;
}

int32_t Kernel_RecFifoInit(MUSPI_RecFifoSubGroup_t *subgrp, uint32_t id,
	const Kernel_MemoryRegion_t *region, uint64_t offset, uint64_t size_1)
{
	int32_t wrong = check_taken(MU_REC_OWNED, subgrp->subgrpid, 1, &id);
	uint64_t size = size_1 + 1, start;
	MUSPI_RecFifo_t *f;

	if (wrong)
		return wrong;
	if (size < REC_LEAST ||
		find_place(region, offset, size, MU_CHUNK, &start))
		return EINVAL;
	f = &subgrp->fifo[id];
	f->id = rec_id(subgrp->subgrpid, id);
	if (unit_load(MU_REGISTER(MU_REC_ENABLE, f->id)))
		return EBUSY;
	f->start = f->head = f->tail = start;
	f->size = size;
	unit_store_as_kernel(MU_REGISTER(MU_REC_START, f->id), start);
	unit_store_as_kernel(MU_REGISTER(MU_REC_SIZE, f->id), size);
	return 0;
}

uint64_t spi_rec_bit(uint32_t subgrpid, uint32_t id)
{
	uint32_t i = rec_id(subgrpid % SUBGROUPS_PER_GROUP, id);

	return UINT64_C(1) << (REC_PER_GROUP - 1 - i % REC_PER_GROUP);
}

/* FIFO i of the node. */
static int32_t check_enable(uint32_t i)
{
	uint32_t id = i % MU_REC_PER_SUBGROUP;
	int32_t wrong =
		check_taken(MU_REC_OWNED, i / MU_REC_PER_SUBGROUP, 1, &id);

	if (wrong)
		return wrong;
	return unit_load(MU_REGISTER(MU_REC_SIZE, i)) ? 0 : EINVAL;
}

int32_t Kernel_RecFifoEnable(uint32_t group, uint64_t bits)
{
	uint32_t first = group * REC_PER_GROUP;
	int32_t wrong = 0;

	if (group >= MU_SUBGROUPS / SUBGROUPS_PER_GROUP ||
		bits >> REC_PER_GROUP)
		return EINVAL;
	for (uint32_t i = 0; i < REC_PER_GROUP && !wrong; i++)
		if (bits & spi_rec_bit(0, i))
			wrong = check_enable(first + i);
	if (wrong)
		return wrong;
	for (uint32_t i = 0; i < REC_PER_GROUP; i++)
		if (bits & spi_rec_bit(0, i))
			unit_store_as_kernel(
				MU_REGISTER(MU_REC_ENABLE, first + i), 1);
	return 0;
}

/* Packets that are not taken, or not even visible. */
static bool has_packets(uint32_t rec)
{
	uint64_t size = unit_load(MU_REGISTER(MU_REC_SIZE, rec));

	return size &&
	       unit_load(MU_REGISTER(MU_REC_FREE, rec)) != size - MU_CHUNK;
}

int32_t Kernel_DeallocateRecFifos(
	const MUSPI_RecFifoSubGroup_t *subgrp, uint32_t n, const uint32_t *ids)
{
	return give_fifos(MU_REC_OWNED, MU_REC_ENABLE, subgrp->subgrpid, n, ids,
		has_packets);
}

MUSPI_RecFifo_t *MUSPI_IdToRecFifo(uint32_t id, MUSPI_RecFifoSubGroup_t *subgrp)
{
	return id < MU_REC_PER_SUBGROUP ? &subgrp->fifo[id] : NULL;
}

/* --- the base address table --- */

int32_t Kernel_AllocateBaseAddressTable(uint32_t subgrpid,
	MUSPI_BaseAddressTableSubGroup_t *subgrp, uint32_t n,
	const uint32_t *ids, uint32_t is_system)
{
	int32_t wrong = EPERM;

	if (!is_system || program_is_system())
		wrong = take(MU_BASE_OWNED, subgrpid, n, ids);
	if (!wrong)
		subgrp->subgrpid = subgrpid;
	return wrong;
}

int32_t Kernel_DeallocateBaseAddressTable(
	const MUSPI_BaseAddressTableSubGroup_t *subgrp, uint32_t n,
	const uint32_t *ids)
{
	int32_t wrong = check_taken(MU_BASE_OWNED, subgrp->subgrpid, n, ids);

	if (!wrong)
		give_back(MU_BASE_OWNED, subgrp->subgrpid, n, ids);
	return wrong;
}

/* --- what is the system's --- */

int32_t Kernel_SetRange(
	uint32_t i, uint64_t first, uint64_t last, uint32_t rights)
{
	const uint32_t all =
		MU_USER_READ | MU_USER_WRITE | MU_SYSTEM_READ | MU_SYSTEM_WRITE;

	if (!program_is_system())
		return EPERM;
	if (i >= MU_RANGES || first > last || rights & ~all)
		return EINVAL;
	/* closed while it changes */
	unit_store_as_kernel(MU_REGISTER(MU_RANGE_RIGHTS, i), 0);
	unit_store_as_kernel(MU_REGISTER(MU_RANGE_FIRST, i), first);
	unit_store_as_kernel(MU_REGISTER(MU_RANGE_LAST, i), last);
	unit_store_as_kernel(MU_REGISTER(MU_RANGE_RIGHTS, i), rights);
	return 0;
}

static int32_t check_interrupts(uint32_t group, uint64_t mask)
{
	if (!program_is_system())
		return EPERM;
	return group < MU_GROUPS && !(mask >> MU_INTERRUPTS) ? 0 : EINVAL;
}

static int32_t set_interrupts(
	enum mu_register kind, uint32_t group, uint64_t mask)
{
	int32_t wrong = check_interrupts(group, mask);

	if (!wrong)
		unit_store_as_kernel(MU_REGISTER(kind, group), mask);
	return wrong;
}

int32_t Kernel_SetInterruptMask(uint64_t mask)
{
	return set_interrupts(MU_INT_MASK, 0, mask);
}

int32_t Kernel_SetInterruptGroup(enum mu_group group, uint64_t mask)
{
	return set_interrupts(MU_INT_GROUP, group, mask);
}

int32_t Kernel_SetSenderCounter(
	uint32_t sender, uint32_t counter, uint32_t channels)
{
	if (!program_is_system())
		return EPERM;
	if (sender >= MU_SENDERS || counter >= MU_SENDER_COUNTERS ||
		channels >> (MU_SYSTEM + 1))
		return EINVAL;
	unit_store_as_kernel(MU_REGISTER(MU_SENT_CHANNELS,
				     sender * MU_SENDER_COUNTERS + counter),
		channels);
	return 0;
}

int32_t Kernel_SetLinkTimeout(uint32_t sender, uint32_t trips)
{
	if (!program_is_system())
		return EPERM;
	if (sender >= MU_SENDERS || !trips || trips > RETRY_MOST_TRIPS)
		return EINVAL;
	unit_store_as_kernel(MU_REGISTER(MU_TIMEOUT, sender), trips);
	return 0;
}

int32_t Kernel_GetLinkTimeout(uint32_t sender, uint32_t *trips)
{
	if (sender >= MU_SENDERS)
		return EINVAL;
	*trips = (uint32_t)unit_load(MU_REGISTER(MU_TIMEOUT, sender));
	return 0;
}

int32_t Kernel_GetInterrupts(enum mu_group group, uint64_t *mask)
{
	int32_t wrong = check_interrupts(group, 0);

	if (!wrong)
		*mask = unit_load(MU_REGISTER(MU_INT_PENDING, group));
	return wrong;
}

void Kernel_GetErrors(Kernel_Errors_t *errors)
{
	errors->Status = unit_load(MU_REGISTER(MU_INT_STATUS, 0));
	for (uint32_t i = 0; i < MU_INTERRUPTS; i++)
		errors->Count[i] = unit_load(MU_REGISTER(MU_ERROR_COUNT, i));
	errors->Address = unit_load(MU_REGISTER(MU_ERROR_ADDRESS, 0));
	errors->Number = unit_load(MU_REGISTER(MU_ERROR_NUMBER, 0));
}

int32_t Kernel_ClearErrors(uint64_t mask)
{
	return set_interrupts(MU_INT_STATUS, 0, mask);
}
