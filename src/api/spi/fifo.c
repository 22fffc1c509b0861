/* What programs do with FIFOs by themselves, without the kernel. */
#include <errno.h>

#include "api/spi/unit.h"

/* --- base addresses --- */

int32_t MUSPI_SetBaseAddress(const MUSPI_BaseAddressTableSubGroup_t *subgrp,
	uint32_t id, uint64_t address)
{
	if (id >= MU_PER_SUBGROUP || subgrp->subgrpid >= MU_SUBGROUPS)
		return EINVAL;
	unit_store(
		MU_REGISTER(MU_BASE, subgrp->subgrpid * MU_PER_SUBGROUP + id),
		address);
	return 0;
}

/* --- sending --- */

static uint64_t load_inj(enum mu_register kind, const MUSPI_InjFifo_t *fifo)
{
	return unit_load(MU_REGISTER(kind, fifo->id));
}

/* Room for n, by the shadow, or else by the register. */
static bool has_room(MUSPI_InjFifo_t *fifo, uint32_t n)
{
	return fifo->freeSpace >= n || MUSPI_getHwFreeSpace(fifo) >= n;
}

/* Up to where the circle ends. */
static bool append(
	MUSPI_InjFifo_t *fifo, const MUHWI_Descriptor_t *desc, uint32_t n)
{
	if (!program_write(fifo->tail, desc, n * sizeof(*desc)))
		return false;
	fifo->tail += n * sizeof(*desc);
	if (fifo->tail == fifo->start + fifo->size)
		fifo->tail = fifo->start;
	return true;
}

/* The software's time for all of them at once: the unit hears of none before
 * it hears of the last one. */
static void charge(const MUSPI_InjFifo_t *fifo, uint32_t n)
{
	struct nic *nic = unit();
	sim_time each = mu_params_of(nic)->software, now = program_now();

	for (uint32_t i = 0; nic->net->book && i < n; i++)
		mu_note_birth(nic, program_node(), fifo->id,
			now + (sim_time)i * each);
	program_wait(now + (sim_time)n * each);
}

uint64_t MUSPI_InjFifoInjectMultiple(
	MUSPI_InjFifo_t *fifo, uint32_t n, const MUHWI_Descriptor_t *desc)
{
	uint64_t left;
	uint32_t k;

	if (!n || !has_room(fifo, n))
		return SPI_NONE;
	charge(fifo, n);
	left = (fifo->start + fifo->size - fifo->tail) / sizeof(*desc);
	k = n < left ? n : (uint32_t)left;
	if (!append(fifo, desc, k) || (n > k && !append(fifo, desc + k, n - k)))
		return SPI_NONE;
	fifo->freeSpace -= n;
	fifo->numInjected += n;
	unit_store(MU_REGISTER(MU_INJ_TAIL, fifo->id), fifo->tail);
	return fifo->numInjected - 1;
}

uint64_t MUSPI_InjFifoInject(
	MUSPI_InjFifo_t *fifo, const MUHWI_Descriptor_t *desc)
{
	return MUSPI_InjFifoInjectMultiple(fifo, 1, desc);
}

bool MUSPI_CheckDescComplete(const MUSPI_InjFifo_t *fifo, uint64_t descriptor)
{
	return load_inj(MU_INJ_COUNT, fifo) > descriptor;
}

uint64_t MUSPI_getFreeSpaceFromShadow(const MUSPI_InjFifo_t *fifo)
{
	return fifo->freeSpace;
}

uint64_t MUSPI_getHwFreeSpace(MUSPI_InjFifo_t *fifo)
{
	fifo->freeSpace = load_inj(MU_INJ_FREE, fifo);
	return fifo->freeSpace;
}

uint64_t MUSPI_getHwHead(const MUSPI_InjFifo_t *fifo)
{
	return load_inj(MU_INJ_HEAD, fifo);
}

uint64_t MUSPI_getHwTail(const MUSPI_InjFifo_t *fifo)
{
	return load_inj(MU_INJ_TAIL, fifo);
}

uint64_t MUSPI_getHwDescCount(const MUSPI_InjFifo_t *fifo)
{
	return load_inj(MU_INJ_COUNT, fifo);
}

uint64_t MUSPI_getHwDescFetched(const MUSPI_InjFifo_t *fifo)
{
	return load_inj(MU_INJ_FETCHED, fifo);
}

bool MUSPI_isStopped(const MUSPI_InjFifo_t *fifo)
{
	return load_inj(MU_INJ_STOPPED, fifo);
}

void MUSPI_SetInjFifoThreshold(
	const MUSPI_InjFifo_t *fifo, uint64_t descriptors)
{
	unit_store(MU_REGISTER(MU_INJ_THRESHOLD, fifo->id), descriptors);
}

/* A mask that is cleared by storing what was seen of it. */
static uint64_t take_mask(enum mu_register kind, uint32_t subgrpid)
{
	uint64_t mask = unit_load(MU_REGISTER(kind, subgrpid));

	if (mask)
		unit_store(MU_REGISTER(kind, subgrpid), mask);
	return mask;
}

uint64_t MUSPI_getInjFifosCrossed(const MUSPI_InjFifoSubGroup_t *subgrp)
{
	return take_mask(MU_INJ_CROSSED, subgrp->subgrpid);
}

/* --- receiving --- */

/* Bytes of the circle, copied from where it lies. */
static void copy_out(
	const MUSPI_RecFifo_t *fifo, uint64_t at, uint8_t *to, uint32_t bytes)
{
	uint64_t left = fifo->start + fifo->size - at;
	uint32_t n = left < bytes ? (uint32_t)left : bytes;

	program_read(at, to, n);
	program_read(fifo->start, to + n, bytes - n);
}

static uint64_t advance(
	const MUSPI_RecFifo_t *fifo, uint64_t at, uint32_t bytes)
{
	uint64_t left = fifo->start + fifo->size - at;

	return left > bytes ? at + bytes : fifo->start + (bytes - left);
}

static void look_at_tail(MUSPI_RecFifo_t *fifo)
{
	fifo->tail = unit_load(MU_REGISTER(MU_REC_TAIL, fifo->id));
}

uint32_t MUSPI_getNextPacket(MUSPI_RecFifo_t *fifo, spi_packet_t *packet)
{
	uint32_t n;

	if (fifo->head == fifo->tail)
		look_at_tail(fifo);
	if (fifo->head == fifo->tail)
		return 0;
	copy_out(fifo, fifo->head, packet->Header.byte, MU_HEADER_BYTES);
	n = mu_chunks(&packet->Header) * MU_CHUNK;
	/* what a program wrote over a packet need not be one */
	if (n > MU_PAYLOAD)
		n = MU_PAYLOAD;
	copy_out(fifo, advance(fifo, fifo->head, MU_HEADER_BYTES),
		packet->Payload, n);
	n += MU_HEADER_BYTES;
	fifo->head = advance(fifo, fifo->head, n);
	return n;
}

void MUSPI_syncRecFifoHwHead(const MUSPI_RecFifo_t *fifo)
{
	unit_store(MU_REGISTER(MU_REC_HEAD, fifo->id), fifo->head);
}

const uint8_t *spi_software_bytes(const MUHWI_MessageUnitHeader_t *header)
{
	return header->byte + MU_SOFTWARE_AT;
}

uint64_t spi_put_offset(const MUHWI_MessageUnitHeader_t *header)
{
	return mu_put_offset(header);
}

uint64_t spi_rec_bytes(MUSPI_RecFifo_t *fifo)
{
	look_at_tail(fifo);
	return fifo->tail >= fifo->head
		       ? fifo->tail - fifo->head
		       : fifo->size - (fifo->head - fifo->tail);
}

/* What a wait looks at, as no program. */
struct look {
	struct nic *nic;
	site_id node;
	uint32_t reg;
	uint64_t value;
};

static bool is_not(void *arg, uint64_t *seen)
{
	const struct look *l = arg;

	*seen = mu_peek(l->nic, l->node, l->reg);
	return *seen != l->value;
}

void spi_wait_packet(MUSPI_RecFifo_t *fifo)
{
	PROGRAM_CALL("spi_wait_packet, FIFO #", fifo->id, 0);
	struct look l = {
		.nic = unit(),
		.node = program_node(),
		.reg = MU_REGISTER(MU_REC_TAIL, fifo->id),
		.value = fifo->head,
	};

	if (fifo->head == fifo->tail)
		program_poll_until(is_not, &l, unit_poll_loop(), &fifo->tail);
}

void MUSPI_SetRecFifoThreshold(const MUSPI_RecFifo_t *fifo, uint64_t bytes)
{
	unit_store(MU_REGISTER(MU_REC_THRESHOLD, fifo->id), bytes);
}

uint64_t MUSPI_getRecFifosCrossed(const MUSPI_RecFifoSubGroup_t *subgrp)
{
	return take_mask(MU_REC_CROSSED, subgrp->subgrpid);
}

uint64_t MUSPI_getRecFifosArrived(const MUSPI_RecFifoSubGroup_t *subgrp)
{
	return take_mask(MU_REC_ARRIVED, subgrp->subgrpid);
}

/* --- interrupts and counters --- */

static bool is_up(void *arg, uint64_t *seen)
{
	const struct look *l = arg;

	*seen = mu_peek(l->nic, l->node, MU_REGISTER(MU_INT_STATUS, 0)) &
		mu_peek(l->nic, l->node, MU_REGISTER(MU_INT_MASK, 0)) &
		l->value;
	return *seen;
}

uint64_t spi_wait_interrupt(uint64_t mask)
{
	PROGRAM_CALL("spi_wait_interrupt", 0, 0);
	const uint64_t errors = (UINT64_C(1) << MU_ERRORS) - 1;
	const struct poll_loop at_once = { .period = 1 };
	struct look l = {
		.nic = unit(),
		.node = program_node(),
		.value = mask,
	};
	uint64_t seen;

	if (!mask || (mask & errors && !program_is_system()))
		return 0;
	program_poll_until(is_up, &l, at_once, &seen);
	/* the handler's way to the status */
	seen = unit_load(MU_REGISTER(MU_INT_STATUS, 0)) & mask;
	unit_store_as_kernel(MU_REGISTER(MU_INT_STATUS, 0), seen);
	return seen;
}

uint64_t spi_upc(enum mu_event event, uint32_t unit_number)
{
	if (event >= MU_UPC_EVENTS || unit_number > 0xff)
		return 0;
	return unit_load(MU_REGISTER(MU_UPC, mu_upc(event, unit_number)));
}
