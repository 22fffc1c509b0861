#include "api/spi.h"

#include <errno.h>
#include <string.h>

#include "host/program.h"
#include "topo/torus.h"

/* --- registers --- */

static struct nic *unit(void)
{
	struct nic *nic = host_nic(program_host());

	BUG_IF(!nic || nic->ops != &bgq_mu_ops);
	return nic;
}

static void store_register(uint32_t reg, uint64_t value)
{
	struct nic *nic = unit();

	nic->ops->store(nic, program_worker(), program_node(), program_now(),
		reg, value);
}

/* What the kernel does for a program, which could not itself. */
static void store_as_kernel(uint32_t reg, uint64_t value)
{
	store_register(reg | MU_PRIVILEGED, value);
}

/* Stores and loads take the same way to the unit, so that none passes
 * another. */
static uint64_t load_register(uint32_t reg)
{
	struct nic *nic = unit();
	const struct mu_params *p = mu_params_of(nic);
	uint64_t value;

	program_wait(nic->ops->slot(nic, program_node(), program_now()));
	value = nic->ops->load(nic, program_node(), reg);
	program_charge(p->mmio_load - p->mmio_store);
	return value;
}

/* --- memory regions --- */

int32_t Kernel_CreateMemoryRegion(
	Kernel_MemoryRegion_t *region, uint64_t va, uint64_t bytes)
{
	uint64_t memory = host_memory(program_host());

	if (va > memory || bytes > memory - va)
		return ENOMEM;
	*region = (Kernel_MemoryRegion_t){
		.BaseVa = va,
		.BasePa = va,
		.Bytes = bytes,
	};
	return 0;
}

/* --- injection FIFOs and the base address table --- */

/* Enters n numbers in the mask of a sub-group's register. */
static int32_t allocate(enum mu_register owned, uint32_t subgrpid, uint32_t n,
	const uint32_t *ids)
{
	uint64_t mine = 0, taken;
	uint32_t i;

	if (subgrpid >= MU_SUBGROUPS)
		return EINVAL;
	for (i = 0; i < n; i++) {
		if (ids[i] >= MU_PER_SUBGROUP || mine >> ids[i] & 1)
			return EINVAL;
		mine |= UINT64_C(1) << ids[i];
	}
	taken = load_register(MU_REGISTER(owned, subgrpid));
	if (taken & mine)
		return EBUSY;
	store_as_kernel(MU_REGISTER(owned, subgrpid), taken | mine);
	return 0;
}

static uint32_t global(uint32_t subgrpid, uint32_t id)
{
	return subgrpid * MU_PER_SUBGROUP + id;
}

int32_t Kernel_AllocateInjFifos(uint32_t subgrpid,
	MUSPI_InjFifoSubGroup_t *subgrp, uint32_t n, const uint32_t *ids)
{
	int32_t wrong = allocate(MU_INJ_OWNED, subgrpid, n, ids);
	uint32_t i;

	if (wrong)
		return wrong;
	subgrp->subgrpid = subgrpid;
	for (i = 0; i < n; i++)
		subgrp->fifo[ids[i]] = (MUSPI_InjFifo_t){
			.id = global(subgrpid, ids[i]),
		};
	return 0;
}

int32_t Kernel_InjFifoInit(MUSPI_InjFifoSubGroup_t *subgrp, uint32_t id,
	const Kernel_MemoryRegion_t *region, uint64_t offset, uint64_t size_1)
{
	uint64_t size = size_1 + 1, start = region->BasePa + offset;
	MUSPI_InjFifo_t *f;

	if (id >= MU_PER_SUBGROUP || start % MU_DESCRIPTOR_BYTES ||
		size % MU_DESCRIPTOR_BYTES || size < 2 * MU_DESCRIPTOR_BYTES ||
		offset > region->Bytes || size > region->Bytes - offset)
		return EINVAL;
	f = &subgrp->fifo[id];
	f->start = f->tail = start;
	f->size = size;
	f->freeSpace = size / MU_DESCRIPTOR_BYTES - 1;
	store_as_kernel(MU_REGISTER(MU_INJ_START, f->id), start);
	store_as_kernel(MU_REGISTER(MU_INJ_SIZE, f->id), size);
	return 0;
}

int32_t Kernel_InjFifoActivate(const MUSPI_InjFifoSubGroup_t *subgrp,
	uint32_t n, const uint32_t *ids, uint32_t how)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (ids[i] >= MU_PER_SUBGROUP || how > 1)
			return EINVAL;
	for (i = 0; i < n; i++)
		store_as_kernel(
			MU_REGISTER(MU_INJ_ENABLE, subgrp->fifo[ids[i]].id),
			how);
	return 0;
}

MUSPI_InjFifo_t *MUSPI_IdToInjFifo(uint32_t id, MUSPI_InjFifoSubGroup_t *subgrp)
{
	return id < MU_PER_SUBGROUP ? &subgrp->fifo[id] : NULL;
}

int32_t Kernel_AllocateBaseAddressTable(uint32_t subgrpid,
	MUSPI_BaseAddressTableSubGroup_t *subgrp, uint32_t n,
	const uint32_t *ids)
{
	int32_t wrong = allocate(MU_BASE_OWNED, subgrpid, n, ids);

	if (!wrong)
		subgrp->subgrpid = subgrpid;
	return wrong;
}

int32_t MUSPI_SetBaseAddress(const MUSPI_BaseAddressTableSubGroup_t *subgrp,
	uint32_t id, uint64_t address)
{
	if (id >= MU_PER_SUBGROUP)
		return EINVAL;
	store_register(
		MU_REGISTER(MU_BASE, global(subgrp->subgrpid, id)), address);
	return 0;
}

uint64_t MUSPI_GetAtomicAddress(uint64_t pa, enum mu_atomic opcode)
{
	return pa | MU_ATOMIC | (uint64_t)opcode;
}

/* --- descriptors --- */

void MUSPI_SetUpDestination(MUHWI_Destination_t *dest, uint32_t a, uint32_t b,
	uint32_t c, uint32_t d, uint32_t e)
{
	const uint32_t coord[MU_DIMS] = { a, b, c, d, e };
	uint32_t i;

	dest->Destination = 0;
	for (i = 0; i < MU_DIMS; i++)
		dest->Destination = dest->Destination << MU_COORD_BITS |
				    (coord[i] & ((1u << MU_COORD_BITS) - 1));
}

int32_t MUSPI_CreatePt2PtDirectPutDescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_Pt2PtDirectPutDescriptorInfo_t *info)
{
	struct mu_header *h = &desc->header;

	if (info->DirectPut.Rec_Payload_Base_Address_Id >= MU_BASES ||
		info->DirectPut.Rec_Counter_Base_Address_Id >= MU_BASES ||
		info->DirectPut.Rec_Payload_Offset > MU_OFFSET_MASK ||
		info->DirectPut.Rec_Counter_Offset > MU_OFFSET_MASK ||
		info->DirectPut.Pacing > 1 || info->Base.Pre_Fetch_Only > 1)
		return EINVAL;
	memset(desc, 0, sizeof(*desc));
	mu_set_prefetch(desc, info->Base.Pre_Fetch_Only);
	mu_set_payload(
		desc, info->Base.Payload_Address, info->Base.Message_Length);
	mu_set_fifo_map(desc, info->Base.Torus_FIFO_Map);
	h->byte[0] = MU_PT2PT;
	h->byte[1] = info->Pt2Pt.Hints_ABCD;
	h->byte[2] = info->Pt2Pt.Misc1;
	h->byte[3] = info->Pt2Pt.Misc2;
	mu_set(h->byte + 4, 4, info->Base.Dest.Destination);
	mu_set_packet(h, MU_PUT, MU_PAYLOAD / MU_CHUNK);
	h->byte[11] = info->Pt2Pt.Skip;
	h->byte[13] = (uint8_t)(info->DirectPut.Pacing << 5);
	mu_set_put(h, info->DirectPut.Rec_Payload_Base_Address_Id,
		info->DirectPut.Rec_Payload_Offset);
	mu_set_counter(h, info->DirectPut.Rec_Counter_Base_Address_Id,
		info->DirectPut.Rec_Counter_Offset);
	return 0;
}

uint64_t MUSPI_InjFifoInject(
	MUSPI_InjFifo_t *fifo, const MUHWI_Descriptor_t *desc)
{
	if (!fifo->freeSpace)
		fifo->freeSpace =
			load_register(MU_REGISTER(MU_INJ_FREE, fifo->id));
	if (!fifo->freeSpace)
		return (uint64_t)-1;
	program_charge(mu_params_of(unit())->software);
	if (!program_write(fifo->tail, desc, sizeof(*desc)))
		return (uint64_t)-1;
	fifo->freeSpace--;
	fifo->tail += sizeof(*desc);
	if (fifo->tail == fifo->start + fifo->size)
		fifo->tail = fifo->start;
	store_register(MU_REGISTER(MU_INJ_TAIL, fifo->id), fifo->tail);
	return fifo->numInjected++;
}

bool MUSPI_CheckDescComplete(const MUSPI_InjFifo_t *fifo, uint64_t descriptor)
{
	return load_register(MU_REGISTER(MU_INJ_COUNT, fifo->id)) > descriptor;
}

/* --- what a real program would not call a function for --- */

MUHWI_Destination_t spi_destination(uint32_t node)
{
	const struct torus *t = torus_of(unit()->net->topo);
	uint32_t x[MU_DIMS] = { 0 }, i;
	MUHWI_Destination_t dest;

	for (i = 0; i < t->n_dims; i++)
		x[i] = torus_coord(t, node, i);
	MUSPI_SetUpDestination(&dest, x[0], x[1], x[2], x[3], x[4]);
	return dest;
}

bool spi_load(uint64_t pa, void *to, size_t n)
{
	return program_read(pa, to, n);
}

bool spi_store(uint64_t pa, const void *from, size_t n)
{
	return program_write(pa, from, n);
}

bool spi_poll(uint64_t pa, uint64_t value)
{
	const struct mu_params *p = mu_params_of(unit());
	struct poll_loop loop = {
		.period = p->poll_period,
		.load = p->poll_load,
	};
	uint64_t word;

	return program_poll(pa, WORD_IS, value, loop, &word);
}
