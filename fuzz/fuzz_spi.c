/*
 * Random programs on weft/spi.h: its calls, and descriptors of any bits.
 *
 *	fuzz_spi [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_spi"

#include "weft/spi.h"

#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIFOS = 2, PLACE = 1 << 14, FREE = 8 * PLACE };

struct process {
	MUSPI_InjFifoSubGroup_t inj;
	MUSPI_RecFifoSubGroup_t rec;
	MUSPI_BaseAddressTableSubGroup_t bases;
	Kernel_MemoryRegion_t all;
	bool is_ready;
};

static const uint32_t ids[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

/* FIFOs, base addresses and memory as most programs have them. */
static bool set_up(struct process *x)
{
	bool ok = !Kernel_CreateMemoryRegion(&x->all, 0, 1 << 22) &&
		  !Kernel_AllocateInjFifos(0, &x->inj, FIFOS, ids, NULL) &&
		  !Kernel_AllocateRecFifos(0, &x->rec, FIFOS, ids, NULL) &&
		  !Kernel_AllocateBaseAddressTable(0, &x->bases, 2, ids, 0);

	for (uint32_t i = 0; ok && i < FIFOS; i++)
		ok = !Kernel_InjFifoInit(
			     &x->inj, i, &x->all, i * PLACE, 4095) &&
		     !Kernel_RecFifoInit(&x->rec, i, &x->all,
			     (FIFOS + i) * PLACE, PLACE - 1) &&
		     !MUSPI_SetBaseAddress(&x->bases, i, FREE * i);
	return ok &&
	       !Kernel_InjFifoActivate(
		       &x->inj, FIFOS, ids, KERNEL_INJ_FIFO_ACTIVATE) &&
	       !Kernel_RecFifoEnable(0, spi_rec_bit(0, 0) | spi_rec_bit(0, 1));
}

static MUSPI_BaseDescriptorInfoFields_t base(struct program_at *p)
{
	MUSPI_BaseDescriptorInfoFields_t b = { .Pre_Fetch_Only =
						       take(p) % 8 == 0 };

	b.Payload_Address = number(p);
	b.Message_Length = number(p) % (1 << 16);
	b.Torus_FIFO_Map =
		take(p) % 4 ? UINT64_C(1) << take(p) % 16 : number(p);
	b.Dest = spi_destination(take(p) % weft_nodes());
	if (take(p) % 8 == 0)
		b.Dest.Destination = narrow(p);
	return b;
}

static MUSPI_Pt2PtDescriptorInfoFields_t way(struct program_at *p)
{
	MUSPI_Pt2PtDescriptorInfoFields_t w = { .Hints_ABCD = 0 };

	if (take(p) % 4 == 0)
		w.Hints_ABCD = take(p);
	w.Misc1 = take(p);
	w.Misc2 = take(p);
	w.Skip = take(p);
	return w;
}

/* One of the three kinds; or any bits. */
static int32_t describe(MUHWI_Descriptor_t *d, struct program_at *p)
{
	MUSPI_Pt2PtMemoryFIFODescriptorInfo_t fifo = { base(p), way(p),
		{ .Rec_FIFO_Id = narrow(p) } };
	MUSPI_Pt2PtDirectPutDescriptorInfo_t put = { fifo.Base, fifo.Pt2Pt,
		{ .Pacing = take(p) } };
	MUSPI_Pt2PtRemoteGetDescriptorInfo_t get = { fifo.Base, fifo.Pt2Pt,
		{ .Rget_Inj_FIFO_Id = fifo.MemFIFO.Rec_FIFO_Id } };
	uint8_t *bytes = (uint8_t *)d;

	fifo.MemFIFO.Rec_Put_Offset = number(p);
	put.DirectPut.Rec_Payload_Base_Address_Id = narrow(p);
	put.DirectPut.Rec_Payload_Offset = number(p);
	put.DirectPut.Rec_Counter_Base_Address_Id = narrow(p);
	put.DirectPut.Rec_Counter_Offset = number(p);
	switch (take(p) % 4) {
	case 0:
		return MUSPI_CreatePt2PtMemoryFIFODescriptor(d, &fifo);
	case 1:
		return MUSPI_CreatePt2PtDirectPutDescriptor(d, &put);
	case 2:
		return MUSPI_CreatePt2PtRemoteGetDescriptor(d, &get);
	default:
		for (size_t i = 0; i < sizeof(*d); i++)
			bytes[i] = take(p);
		return 0;
	}
}

static void inject(struct process *x, struct program_at *p)
{
	MUSPI_InjFifo_t *f = MUSPI_IdToInjFifo(take(p) % FIFOS, &x->inj);
	MUHWI_Descriptor_t d = { 0 };

	if (describe(&d, p))
		return;
	if (take(p) % 4)
		MUSPI_InjFifoInject(f, &d);
	else /* for a remote get to find */
		spi_store(number(p), &d, sizeof(d));
}

static void look(struct process *x, struct program_at *p)
{
	MUSPI_InjFifo_t *f = MUSPI_IdToInjFifo(take(p) % FIFOS, &x->inj);
	MUSPI_RecFifo_t *r = MUSPI_IdToRecFifo(take(p) % FIFOS, &x->rec);
	spi_packet_t packet;

	switch (take(p) % 8) {
	case 0:
		MUSPI_CheckDescComplete(f, number(p));
		break;
	case 1:
		MUSPI_getNextPacket(r, &packet);
		break;
	case 2:
		MUSPI_syncRecFifoHwHead(r);
		break;
	case 3:
		MUSPI_SetInjFifoThreshold(f, number(p));
		break;
	case 4:
		MUSPI_SetRecFifoThreshold(r, number(p));
		break;
	case 5:
		MUSPI_getHwFreeSpace(f);
		break;
	case 6:
		spi_upc((enum mu_event)narrow(p), narrow(p));
		break;
	default:
		weft_compute(1000 * (narrow(p) % 1000));
	}
}

static void call_kernel(struct process *x, struct program_at *p)
{
	uint64_t a = number(p), b = number(p), c = number(p);
	MUSPI_InjFifoSubGroup_t other_inj;
	MUSPI_RecFifoSubGroup_t other_rec;
	Kernel_MemoryRegion_t region;
	const uint32_t some[] = { (uint32_t)a, (uint32_t)b };

	switch (take(p) % 8) {
	case 0:
		Kernel_CreateMemoryRegion(&region, a, b);
		break;
	case 1:
		Kernel_AllocateInjFifos((uint32_t)c, &other_inj, 2, some, NULL);
		break;
	case 2:
		Kernel_AllocateRecFifos((uint32_t)c, &other_rec, 2, some, NULL);
		break;
	case 3:
		Kernel_InjFifoInit(&x->inj, (uint32_t)a, &x->all, b, c);
		break;
	case 4:
		Kernel_RecFifoEnable((uint32_t)a, b);
		break;
	case 5:
		Kernel_SetRange((uint32_t)a, b, c, (uint32_t)b);
		break;
	case 6:
		MUSPI_SetBaseAddress(&x->bases, (uint32_t)a, b);
		break;
	default:
		Kernel_InjFifoActivate(&x->inj, 2, some, (uint32_t)c);
	}
}

static void touch(struct program_at *p)
{
	uint64_t at = number(p), value = number(p);

	switch (take(p) % 8) {
	case 0:
		L2_AtomicLoadClear(at);
		break;
	case 1:
		L2_AtomicLoadIncrementBounded(at);
		break;
	case 2:
		L2_AtomicStoreAdd(at, value);
		break;
	case 3:
		L2_AtomicStoreMax(at, value);
		break;
	case 4:
		spi_poll_not(at, value);
		break;
	default:
		spi_store(at, &value, sizeof(value));
	}
}

static void run_program(void *mine)
{
	struct program_at p = program_begin();
	struct process *x = mine;

	x->is_ready = set_up(x);
	for (int i = 0; x->is_ready && i < PROGRAM_CALLS; i++) {
		switch (take(&p) % 8) {
		case 0:
			call_kernel(x, &p);
			break;
		case 1:
			touch(&p);
			break;
		case 2:
		case 3:
			look(x, &p);
			break;
		default:
			inject(x, &p);
		}
	}
}

static bool is_ready(
	const struct weft_result *r, const void *ranks, char *text, size_t size)
{
	const struct process *x = ranks;

	snprintf(text, size, "%u nodes", r->n_nodes);
	return x->is_ready;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const on[] = { "bgq", "--shape=2x2",
		"--set=host.memory=4MiB", NULL };
	const struct weft_app app = {
		.name = FUZZ_NAME,
		.help = "",
		.run = run_program,
		.node_bytes = sizeof(struct process),
		.interface = "spi",
		.is_system = size && data[0] % 4 == 0,
		.check = is_ready,
	};

	program_run(&app, on, data, size);
	return 0;
}

#include "program_driver.h"
