/*
 * Common code of the examples for Blue Gene/Q, mostly set-up.  A call that
 * fails is a bug in the example and ends it.
 */
#ifndef SETUP_H
#define SETUP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/program.h>
#include <weft/run.h>
#include <weft/spi.h>
#include <weft/spi_collective.h>

/* A node's memory, as the examples use it. */
enum {
	COUNTER_AT = 0x1000,
	INJ_AT = 0x10000, /* injection FIFOs */
	INJ_BYTES = 0x1000, /* of each */
	REC_AT = 0x100000, /* a reception FIFO */
	REC_BYTES = 0x10000,
	SOURCE_AT = 0x1000000,
	TARGET_AT = 0x2000000,
};

/* Nodes send when all are ready; real programs meet at a barrier. */
static const weft_time START = 20000 * WEFT_NS;

static inline void must(const char *what, int32_t error)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(error));
	exit(1);
}

/* Opens injection FIFO 0 of a sub-group. */
static inline MUSPI_InjFifo_t *open_injection(
	MUSPI_InjFifoSubGroup_t *g, uint32_t subgroup, bool is_remote_get)
{
	Kernel_InjFifoAttributes_t a = { .RemoteGet = is_remote_get };
	Kernel_MemoryRegion_t r;
	uint32_t id = 0;

	must("region", Kernel_CreateMemoryRegion(
			       &r, INJ_AT + subgroup * INJ_BYTES, INJ_BYTES));
	must("allocate", Kernel_AllocateInjFifos(subgroup, g, 1, &id, &a));
	must("init", Kernel_InjFifoInit(g, id, &r, 0, INJ_BYTES - 1));
	must("activate",
		Kernel_InjFifoActivate(g, 1, &id, KERNEL_INJ_FIFO_ACTIVATE));
	return MUSPI_IdToInjFifo(id, g);
}

/* Opens reception FIFO 0, of sub-group 0. */
static inline MUSPI_RecFifo_t *open_reception(MUSPI_RecFifoSubGroup_t *g)
{
	Kernel_MemoryRegion_t r;
	uint32_t id = 0;

	must("region", Kernel_CreateMemoryRegion(&r, REC_AT, REC_BYTES));
	must("allocate", Kernel_AllocateRecFifos(0, g, 1, &id, NULL));
	must("init", Kernel_RecFifoInit(g, id, &r, 0, REC_BYTES - 1));
	must("enable", Kernel_RecFifoEnable(0, spi_rec_bit(0, id)));
	return MUSPI_IdToRecFifo(id, g);
}

/* Base address 0 is where puts go, 1 their counter. */
static inline void open_target(void)
{
	static const uint32_t ids[] = { 0, 1 };
	MUSPI_BaseAddressTableSubGroup_t g;

	must("bases", Kernel_AllocateBaseAddressTable(0, &g, 2, ids, 0));
	must("target", MUSPI_SetBaseAddress(&g, 0, TARGET_AT));
	must("counter", MUSPI_SetBaseAddress(&g, 1,
				MUSPI_GetAtomicAddress(
					COUNTER_AT, MU_ATOMIC_STORE_ADD)));
}

static inline void set_counter(uint64_t bytes)
{
	spi_store(COUNTER_AT, &bytes, sizeof(bytes));
}

/* A put of bytes at an address to an offset of another node's target. */
static inline MUHWI_Descriptor_t make_put(
	uint32_t to, uint64_t from, uint64_t bytes, uint64_t offset)
{
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = {
		.Base = { .Payload_Address = from,
			.Message_Length = bytes,
			.Torus_FIFO_Map = MU_MAP_TORUS,
			.Dest = spi_destination(to) },
		.Pt2Pt = { .Misc1 = MUHWI_PACKET_USE_DYNAMIC_ROUTING },
		.DirectPut = { .Rec_Payload_Base_Address_Id = 0,
			.Rec_Payload_Offset = offset,
			.Rec_Counter_Base_Address_Id = 1 },
	};
	MUHWI_Descriptor_t d;

	must("put", MUSPI_CreatePt2PtDirectPutDescriptor(&d, &i));
	return d;
}

/* This node's part of an all-reduce of doubles over a class route: from an
 * address to an offset of every member's target. */
static inline MUHWI_Descriptor_t make_sum(
	uint8_t route, uint64_t offset, uint64_t from, uint64_t bytes)
{
	const uint8_t add = MUHWI_COLLECTIVE_OP_CODE_FLOATING_POINT_ADD;
	const uint8_t channel =
		route == SPI_CLASS_WORLD
			? MUHWI_PACKET_VIRTUAL_CHANNEL_USER_COMM_WORLD
			: MUHWI_PACKET_VIRTUAL_CHANNEL_USER_SUB_COMM;
	MUSPI_CollectiveDirectPutDescriptorInfo_t i = {
		.Base = { .Payload_Address = from,
			.Message_Length = bytes,
			.Torus_FIFO_Map = MU_MAP_USER_COLLECTIVE },
		.Collective = { .Op_Code = add,
			.Word_Length = sizeof(double),
			.Class_Route = route,
			.Misc = channel | MUHWI_COLLECTIVE_TYPE_ALLREDUCE },
		.DirectPut = { .Rec_Payload_Base_Address_Id = 0,
			.Rec_Payload_Offset = offset,
			.Rec_Counter_Base_Address_Id = 1 },
	};
	MUHWI_Descriptor_t d;

	must("sum", MUSPI_CreateCollectiveDirectPutDescriptor(&d, &i));
	return d;
}

/* A packet for another node's reception FIFO 0: two words in its header. */
static inline MUHWI_Descriptor_t make_packet(
	uint32_t to, uint64_t word, uint32_t other)
{
	bool is_far = to != weft_node();
	MUSPI_Pt2PtMemoryFIFODescriptorInfo_t i = {
		.Base = { .Torus_FIFO_Map =
				  is_far ? MU_MAP_TORUS : MU_MAP_LOCAL,
			.Dest = spi_destination(to) },
		.Pt2Pt = { .Misc1 = MUHWI_PACKET_USE_DYNAMIC_ROUTING },
	};
	MUHWI_Descriptor_t d;

	mu_set(i.MemFIFO.SoftwareBytes, 8, word);
	mu_set(i.MemFIFO.SoftwareBytes + 8, 4, other);
	must("packet", MUSPI_CreatePt2PtMemoryFIFODescriptor(&d, &i));
	return d;
}

static inline uint64_t inject(MUSPI_InjFifo_t *f, const MUHWI_Descriptor_t *d)
{
	uint64_t n;

	do
		n = MUSPI_InjFifoInject(f, d);
	while (n == SPI_NONE); /* full: try again */
	return n;
}

#endif
