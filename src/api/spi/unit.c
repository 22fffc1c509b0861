#include "api/spi/unit.h"

struct nic *unit(void)
{
	return nic_check(host_nic(program_host()), &bgq_mu_ops);
}

const struct mu_params *unit_params(void)
{
	return mu_params_of(unit());
}

const struct clock_params *unit_clocks(void)
{
	return clocks_of(program_host());
}

void unit_dcr(void)
{
	program_wait(mu_dcr_slot(unit(), program_node(), program_now()));
}

static void store(uint32_t reg, uint64_t value)
{
	struct nic *nic = unit();

	if (!(reg & MU_PRIVILEGED) || !mu_is_dcr(reg)) {
		mu_registers_store(nic, program_worker(), program_node(),
			program_now(), reg, value);
		return;
	}
	unit_dcr();
	mu_dcr_store(nic, program_worker(), program_node(), program_now(), reg,
		value);
}

void unit_store(uint32_t reg, uint64_t value)
{
	store(program_is_system() ? reg | MU_PRIVILEGED : reg, value);
}

void unit_store_as_kernel(uint32_t reg, uint64_t value)
{
	store(reg | MU_PRIVILEGED, value);
}

void unit_place_fifo(
	MUSPI_InjFifo_t *f, uint32_t inj, uint64_t at, uint64_t bytes)
{
	*f = (MUSPI_InjFifo_t){ .id = inj,
		.start = at,
		.tail = at,
		.size = bytes,
		.freeSpace = bytes / MU_DESCRIPTOR_BYTES - 1 };
	unit_store_as_kernel(MU_REGISTER(MU_INJ_START, inj), at);
	unit_store_as_kernel(MU_REGISTER(MU_INJ_SIZE, inj), bytes);
}

/* Stores and loads take the same way to the unit, so that none passes
 * another. */
uint64_t unit_load(uint32_t reg)
{
	struct nic *nic = unit();
	const struct mu_params *p = mu_params_of(nic);
	uint64_t value;

	if (mu_is_dcr(reg)) {
		unit_dcr();
		return mu_peek(nic, program_node(), reg);
	}
	program_wait(mu_registers_slot(nic, program_node(), program_now()));
	value = mu_registers_load(nic, program_node(), reg);
	program_charge(p->mmio_load - p->mmio_store);
	return value;
}

struct poll_loop unit_poll_loop(void)
{
	const struct mu_params *p = unit_params();

	return nic_poll_loop(unit(), p->poll_period, p->poll_load);
}

int32_t spi_open_inj(MUSPI_InjFifoSubGroup_t *g, uint32_t subgroup,
	uint32_t first, uint32_t n, const Kernel_InjFifoAttributes_t *attrs,
	uint64_t at, uint64_t size)
{
	static const uint32_t all[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	const uint32_t *ids = all + first;
	Kernel_MemoryRegion_t r;
	int32_t code = Kernel_CreateMemoryRegion(&r, at, n * size);

	if (!code)
		code = Kernel_AllocateInjFifos(subgroup, g, n, ids, attrs);
	for (uint32_t i = 0; i < n && !code; i++)
		code = Kernel_InjFifoInit(g, ids[i], &r, i * size, size - 1);
	return code ? code
		    : Kernel_InjFifoActivate(
			      g, n, ids, KERNEL_INJ_FIFO_ACTIVATE);
}

int32_t spi_open_rec(MUSPI_RecFifoSubGroup_t *g, uint32_t subgroup, uint32_t id,
	uint64_t at, uint64_t size)
{
	Kernel_MemoryRegion_t r;
	int32_t code = Kernel_CreateMemoryRegion(&r, at, size);

	if (!code)
		code = Kernel_AllocateRecFifos(subgroup, g, 1, &id, NULL);
	if (!code)
		code = Kernel_RecFifoInit(g, id, &r, 0, size - 1);
	return code ? code
		    : Kernel_RecFifoEnable(
			      subgroup / 4, spi_rec_bit(subgroup, id));
}

uint64_t spi_inject(MUSPI_InjFifo_t *f, const MUHWI_Descriptor_t *d)
{
	uint64_t number;

	do
		number = MUSPI_InjFifoInject(f, d);
	while (number == SPI_NONE);
	return number;
}
