/* Descriptors, built from named fields. */
#include <errno.h>
#include <string.h>

#include "api/unit.h"
#include "topo/torus.h"

uint64_t MUSPI_GetAtomicAddress(uint64_t pa, enum mu_atomic opcode)
{
	return pa | MU_ATOMIC | (uint64_t)opcode;
}

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

MUHWI_Destination_t spi_destination_in(const struct topo *topo, uint32_t node)
{
	const struct torus *t = torus_of(topo);
	uint32_t none = node < topo->n_nodes ? 0 : UINT32_MAX, i;
	uint32_t x[MU_DIMS] = { none, none, none, none, none };
	MUHWI_Destination_t dest;

	for (i = 0; i < t->n_dims && !none; i++)
		x[i] = torus_coord(t, node, i);
	MUSPI_SetUpDestination(&dest, x[0], x[1], x[2], x[3], x[4]);
	return dest;
}

MUHWI_Destination_t spi_destination(uint32_t node)
{
	return spi_destination_in(unit()->net->topo, node);
}

/* What all kinds have. */
static void begin(MUHWI_Descriptor_t *desc,
	const MUSPI_BaseDescriptorInfoFields_t *base,
	const MUSPI_Pt2PtDescriptorInfoFields_t *pt2pt,
	enum mu_packet_type type)
{
	struct mu_header *h = &desc->header;

	memset(desc, 0, sizeof(*desc));
	mu_set_prefetch(desc, base->Pre_Fetch_Only);
	mu_set_payload(desc, base->Payload_Address, base->Message_Length);
	mu_set_fifo_map(desc, base->Torus_FIFO_Map);
	h->byte[0] = MU_PT2PT;
	h->byte[1] = pt2pt->Hints_ABCD;
	h->byte[2] = pt2pt->Misc1;
	h->byte[3] = pt2pt->Misc2;
	mu_set(h->byte + 4, 4, base->Dest.Destination);
	mu_set_packet(h, type, MU_PAYLOAD / MU_CHUNK);
	h->byte[11] = pt2pt->Skip;
}

int32_t MUSPI_CreatePt2PtMemoryFIFODescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_Pt2PtMemoryFIFODescriptorInfo_t *info)
{
	if (info->MemFIFO.Rec_FIFO_Id >= MU_REC_FIFOS ||
		info->MemFIFO.Rec_Put_Offset > MU_OFFSET_MASK ||
		info->MemFIFO.Interrupt > 1 || info->Base.Pre_Fetch_Only > 1)
		return EINVAL;
	begin(desc, &info->Base, &info->Pt2Pt, MU_FIFO);
	mu_set_interrupts(desc, info->MemFIFO.Interrupt);
	mu_set_rec_fifo(&desc->header, info->MemFIFO.Rec_FIFO_Id,
		info->MemFIFO.Rec_Put_Offset);
	memcpy(mu_software_bytes(&desc->header), info->MemFIFO.SoftwareBytes,
		SPI_SOFTWARE_BYTES);
	return 0;
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
	begin(desc, &info->Base, &info->Pt2Pt, MU_PUT);
	h->byte[13] = (uint8_t)(info->DirectPut.Pacing << 5);
	mu_set_put(h, info->DirectPut.Rec_Payload_Base_Address_Id,
		info->DirectPut.Rec_Payload_Offset);
	mu_set_counter(h, info->DirectPut.Rec_Counter_Base_Address_Id,
		info->DirectPut.Rec_Counter_Offset);
	return 0;
}

int32_t MUSPI_CreatePt2PtRemoteGetDescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_Pt2PtRemoteGetDescriptorInfo_t *info)
{
	if (info->RemoteGet.Rget_Inj_FIFO_Id >= MU_INJ_FIFOS ||
		info->RemoteGet.Pacing > 1 || info->Base.Pre_Fetch_Only > 1)
		return EINVAL;
	begin(desc, &info->Base, &info->Pt2Pt,
		info->RemoteGet.Pacing ? MU_PACED_GET : MU_GET);
	mu_set_get_fifo(&desc->header, info->RemoteGet.Rget_Inj_FIFO_Id);
	return 0;
}
