/* Descriptors, built from named fields. */
#include <errno.h>
#include <string.h>

#include "api/spi/unit.h"
#include "topo/torus.h"

uint64_t MUSPI_GetAtomicAddress(uint64_t pa, enum mu_atomic opcode)
{
	return pa | MU_ATOMIC | (uint64_t)opcode;
}

void MUSPI_SetUpDestination(MUHWI_Destination_t *dest, uint32_t a, uint32_t b,
	uint32_t c, uint32_t d, uint32_t e)
{
	const uint32_t coord[MU_DIMS] = { a, b, c, d, e };

	dest->Destination = 0;
	for (uint32_t i = 0; i < MU_DIMS; i++)
		dest->Destination = dest->Destination << MU_COORD_BITS |
				    (coord[i] & ((1u << MU_COORD_BITS) - 1));
}

MUHWI_Destination_t spi_destination_in(const struct topo *topo, uint32_t node)
{
	const struct torus *t = torus_of(topo);
	uint32_t none = node < topo->n_nodes ? 0 : UINT32_MAX;
	uint32_t x[MU_DIMS] = { none, none, none, none, none };
	MUHWI_Destination_t dest;

	for (uint32_t i = 0; i < t->n_dims && !none; i++)
		x[i] = torus_corner(t, i) + torus_coord(t, node, i);
	MUSPI_SetUpDestination(&dest, x[0], x[1], x[2], x[3], x[4]);
	return dest;
}

MUHWI_Destination_t spi_destination(uint32_t node)
{
	return spi_destination_in(unit()->net->topo, node);
}

/* What all kinds have. */
static void begin_any(MUHWI_Descriptor_t *desc,
	const MUSPI_BaseDescriptorInfoFields_t *base, enum mu_packet_type type)
{
	struct mu_header *h = &desc->header;

	memset(desc, 0, sizeof(*desc));
	mu_set_prefetch(desc, base->Pre_Fetch_Only);
	mu_set_payload(desc, base->Payload_Address, base->Message_Length);
	mu_set_fifo_map(desc, base->Torus_FIFO_Map);
	mu_set(h->byte + 4, 4, base->Dest.Destination);
	mu_set_packet(h, type, MU_PAYLOAD / MU_CHUNK);
}

static void begin(MUHWI_Descriptor_t *desc,
	const MUSPI_BaseDescriptorInfoFields_t *base,
	const MUSPI_Pt2PtDescriptorInfoFields_t *pt2pt,
	enum mu_packet_type type)
{
	struct mu_header *h = &desc->header;

	begin_any(desc, base, type);
	h->byte[0] = MU_PT2PT;
	h->byte[1] = pt2pt->Hints_ABCD;
	h->byte[2] = pt2pt->Misc1;
	h->byte[3] = pt2pt->Misc2;
	h->byte[11] = pt2pt->Skip;
}

/* EINVAL where a field does not fit. */
static int32_t begin_collective(MUHWI_Descriptor_t *desc,
	const MUSPI_BaseDescriptorInfoFields_t *base,
	const MUSPI_CollectiveDescriptorInfoFields_t *c,
	enum mu_packet_type type)
{
	struct mu_header *h = &desc->header;
	uint32_t word = c->Word_Length;

	if (!word || word & (word - 1) || c->Op_Code > 0xf ||
		c->Class_Route >= SPI_CLASS_ROUTES || base->Pre_Fetch_Only > 1)
		return EINVAL;
	begin_any(desc, base, type);
	h->byte[0] = MU_COLLECTIVE;
	h->byte[1] = (uint8_t)((unsigned)c->Op_Code << 4 |
			       (unsigned)__builtin_ctz(word));
	h->byte[2] = (uint8_t)(c->Class_Route << 4);
	h->byte[3] = c->Misc;
	h->byte[11] = c->Skip;
	return 0;
}

/* --- what the unit does with the packets --- */

static int32_t set_fifo(MUHWI_Descriptor_t *desc,
	const MUSPI_MemoryFIFODescriptorInfoFields_t *f)
{
	mu_set_interrupts(desc, f->Interrupt);
	mu_set_rec_fifo(&desc->header, f->Rec_FIFO_Id, f->Rec_Put_Offset);
	memcpy(mu_software_bytes(&desc->header), f->SoftwareBytes,
		SPI_SOFTWARE_BYTES);
	return 0;
}

static bool is_fifo(const MUSPI_MemoryFIFODescriptorInfoFields_t *f)
{
	return f->Rec_FIFO_Id < MU_REC_FIFOS &&
	       f->Rec_Put_Offset <= MU_OFFSET_MASK && f->Interrupt <= 1;
}

static int32_t set_put(MUHWI_Descriptor_t *desc,
	const MUSPI_DirectPutDescriptorInfoFields_t *p)
{
	struct mu_header *h = &desc->header;

	h->byte[13] = (uint8_t)(p->Pacing << 5);
	mu_set_put(h, p->Rec_Payload_Base_Address_Id, p->Rec_Payload_Offset);
	mu_set_counter(
		h, p->Rec_Counter_Base_Address_Id, p->Rec_Counter_Offset);
	return 0;
}

static bool is_put(const MUSPI_DirectPutDescriptorInfoFields_t *p)
{
	return p->Rec_Payload_Base_Address_Id < MU_BASES &&
	       p->Rec_Counter_Base_Address_Id < MU_BASES &&
	       p->Rec_Payload_Offset <= MU_OFFSET_MASK &&
	       p->Rec_Counter_Offset <= MU_OFFSET_MASK && p->Pacing <= 1;
}

static bool is_get(const MUSPI_RemoteGetDescriptorInfoFields_t *g)
{
	return g->Rget_Inj_FIFO_Id < MU_INJ_FIFOS && g->Pacing <= 1;
}

static enum mu_packet_type get_type(
	const MUSPI_RemoteGetDescriptorInfoFields_t *g)
{
	return g->Pacing ? MU_PACED_GET : MU_GET;
}

/* --- all of them --- */

int32_t MUSPI_CreatePt2PtMemoryFIFODescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_Pt2PtMemoryFIFODescriptorInfo_t *info)
{
	if (!is_fifo(&info->MemFIFO) || info->Base.Pre_Fetch_Only > 1)
		return EINVAL;
	begin(desc, &info->Base, &info->Pt2Pt, MU_FIFO);
	return set_fifo(desc, &info->MemFIFO);
}

int32_t MUSPI_CreatePt2PtDirectPutDescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_Pt2PtDirectPutDescriptorInfo_t *info)
{
	if (!is_put(&info->DirectPut) || info->Base.Pre_Fetch_Only > 1)
		return EINVAL;
	begin(desc, &info->Base, &info->Pt2Pt, MU_PUT);
	return set_put(desc, &info->DirectPut);
}

int32_t MUSPI_CreatePt2PtRemoteGetDescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_Pt2PtRemoteGetDescriptorInfo_t *info)
{
	if (!is_get(&info->RemoteGet) || info->Base.Pre_Fetch_Only > 1)
		return EINVAL;
	begin(desc, &info->Base, &info->Pt2Pt, get_type(&info->RemoteGet));
	mu_set_get_fifo(&desc->header, info->RemoteGet.Rget_Inj_FIFO_Id);
	return 0;
}

int32_t MUSPI_CreateCollectiveMemoryFIFODescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_CollectiveMemoryFIFODescriptorInfo_t *info)
{
	if (!is_fifo(&info->MemFIFO) ||
		begin_collective(desc, &info->Base, &info->Collective, MU_FIFO))
		return EINVAL;
	return set_fifo(desc, &info->MemFIFO);
}

int32_t MUSPI_CreateCollectiveDirectPutDescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_CollectiveDirectPutDescriptorInfo_t *info)
{
	if (!is_put(&info->DirectPut) ||
		begin_collective(desc, &info->Base, &info->Collective, MU_PUT))
		return EINVAL;
	return set_put(desc, &info->DirectPut);
}

int32_t MUSPI_CreateCollectiveRemoteGetDescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_CollectiveRemoteGetDescriptorInfo_t *info)
{
	if (!is_get(&info->RemoteGet) ||
		begin_collective(desc, &info->Base, &info->Collective,
			get_type(&info->RemoteGet)))
		return EINVAL;
	mu_set_get_fifo(&desc->header, info->RemoteGet.Rget_Inj_FIFO_Id);
	return 0;
}
