#include "load/spi/fifos.h"

bool fifos_open_group(struct programs *p, MUSPI_InjFifoSubGroup_t *g,
	uint32_t subgroup, uint32_t n, const Kernel_InjFifoAttributes_t *attrs,
	uint64_t at, uint64_t size)
{
	static const uint32_t ids[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	Kernel_MemoryRegion_t region;
	uint32_t i;

	if (!programs_did(p, "Kernel_CreateMemoryRegion",
		    Kernel_CreateMemoryRegion(&region, at, n * size)) ||
		!programs_did(p, "Kernel_AllocateInjFifos",
			Kernel_AllocateInjFifos(subgroup, g, n, ids, attrs)))
		return false;
	for (i = 0; i < n; i++)
		if (!programs_did(p, "Kernel_InjFifoInit",
			    Kernel_InjFifoInit(
				    g, i, &region, i * size, size - 1)))
			return false;
	return programs_did(p, "Kernel_InjFifoActivate",
		Kernel_InjFifoActivate(g, n, ids, KERNEL_INJ_FIFO_ACTIVATE));
}

bool fifos_open(struct programs *p, struct fifos *f, uint32_t first, uint32_t n,
	uint64_t at, uint64_t size)
{
	uint32_t i, k;

	BUG_IF(n > FIFOS_MOST);
	f->n = n;
	for (i = 0; i < n; i += k) {
		k = n - i < MU_PER_SUBGROUP ? n - i : MU_PER_SUBGROUP;
		if (!fifos_open_group(p, &f->group[i / MU_PER_SUBGROUP],
			    first + i / MU_PER_SUBGROUP, k, NULL, at + i * size,
			    size))
			return false;
	}
	return true;
}

void fifos_inject(MUSPI_InjFifo_t *fifo, const MUHWI_Descriptor_t *desc)
{
	while (MUSPI_InjFifoInject(fifo, desc) == SPI_NONE)
		;
}
