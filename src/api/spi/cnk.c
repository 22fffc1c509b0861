/* The compute node's part of function-shipped IO: weft/cnk.h. */
#include "api/spi/cnk.h"

#include <errno.h>
#include <string.h>

enum { FIFO_BYTES = 4096 };

#define TURN (1000 * (sim_time)SIM_NS)

/* Of a process. */
struct kernel {
	MUSPI_InjFifoSubGroup_t requests, gets;
	uint64_t ticket;
	bool is_open, is_busy;
};

static const struct program_library library = {
	.size = sizeof(struct kernel),
};

/* --- what daemons use, too --- */

int32_t cnk_open_fifo(MUSPI_InjFifoSubGroup_t *g, uint32_t subgroup,
	uint32_t id, uint64_t at, uint64_t bytes, bool is_for_gets)
{
	Kernel_InjFifoAttributes_t a = { .RemoteGet = is_for_gets,
		.System = 1 };
	int32_t code = Kernel_AllocateInjFifos(subgroup, g, 1, &id, &a);
	uint32_t inj = subgroup * MU_PER_SUBGROUP + id;

	if (code)
		return code;
	unit_place_fifo(&g->fifo[id], inj, at, bytes);
	unit_store_as_kernel(MU_REGISTER(MU_INJ_ENABLE, inj), 1);
	return 0;
}

int32_t cnk_open_base(uint32_t subgroup, uint32_t id, uint64_t address)
{
	MUSPI_BaseAddressTableSubGroup_t g;
	int32_t code = Kernel_AllocateBaseAddressTable(subgroup, &g, 1, &id, 1);

	return code ? code : MUSPI_SetBaseAddress(&g, id, address);
}

MUSPI_BaseDescriptorInfoFields_t cnk_base(
	uint32_t node, uint64_t from, uint64_t bytes, uint64_t map)
{
	return (MUSPI_BaseDescriptorInfoFields_t){
		.Payload_Address = from,
		.Message_Length = bytes,
		.Torus_FIFO_Map = map,
		.Dest = spi_destination(node),
	};
}

MUSPI_Pt2PtDescriptorInfoFields_t cnk_way(uint8_t bits)
{
	return (MUSPI_Pt2PtDescriptorInfoFields_t){
		.Misc1 = bits,
		.Misc2 = MUHWI_PACKET_VIRTUAL_CHANNEL_SYSTEM,
	};
}

/* --- set-up --- */

static const struct torus *torus(void)
{
	return torus_of(unit()->net->topo);
}

/* Memory that the unit uses for system packets, and for no others. */
static int32_t open_memory(void)
{
	const uint32_t range = MU_RANGES - 1;
	const struct memory_range r = {
		.at = CNK_KERNEL_AT,
		.bytes = CNK_PROCESSES * CNK_PART,
		.kind = MEMORY_OF_DEVICE,
		.rights = MEMORY_MAY_ALL,
	};

	/* by the first process that comes */
	if (memory_ask(host_at(program_host(), program_node()), MEMORY_MAY_ALL,
		    r.at, r.bytes) == MEMORY_OPEN)
		return 0;
	if (!memory_add_range(host_at(program_host(), program_node()), &r))
		return ENOMEM;
	return Kernel_SetRange(range, r.at, r.at + r.bytes - 1,
		MU_SYSTEM_READ | MU_SYSTEM_WRITE);
}

/* By when all daemons wait for requests: some sixty registers are read and
 * written for the four threads that share a sub-group. */
static sim_time ready_at(void)
{
	const struct mu_params *p = unit_params();

	return 64 * (p->mmio_load + p->mmio_store + CNK_THREADS * p->slave);
}

static int32_t open_kernel(struct kernel *k)
{
	uint32_t process = program_process(), first = 2 * process;
	int32_t code;

	if (process >= CNK_PROCESSES)
		return EAGAIN;
	code = open_memory();
	if (!code)
		code = cnk_open_fifo(&k->requests, CNK_SUBGROUP,
			first + CNK_REQUESTS, cnk_part(process, CNK_AT_FIFO),
			FIFO_BYTES, false);
	if (!code)
		code = cnk_open_fifo(&k->gets, CNK_SUBGROUP, first + CNK_GETS,
			cnk_part(process, CNK_AT_GETS), FIFO_BYTES, true);
	if (!code)
		code = cnk_open_base(CNK_SUBGROUP, first + CNK_MEMORY, 0);
	if (!code)
		code = cnk_open_base(CNK_SUBGROUP, first + CNK_COUNTER,
			MUSPI_GetAtomicAddress(
				cnk_part(process, 0), MU_ATOMIC_STORE_ADD));
	k->is_open = !code;
	program_wait(ready_at());
	return code;
}

/* --- shipping --- */

static void send(struct kernel *k, const struct cnk_request *q)
{
	const struct torus *t = torus();
	uint32_t exit = torus_io_exit(
		t, torus_io_of(t, q->node), torus_io_link(t, q->node));
	uint64_t at = cnk_part(q->process, CNK_AT_REQUEST);
	MUSPI_Pt2PtMemoryFIFODescriptorInfo_t i = {
		.Base = cnk_base(exit, at, sizeof(*q), MU_MAP_SYSTEM),
		.Pt2Pt = cnk_way(MUHWI_PACKET_ROUTE_TO_IO_NODE),
		.MemFIFO.Rec_FIFO_Id =
			CNK_REC + cnk_thread_of(t, q->node, q->process),
	};
	MUHWI_Descriptor_t d;

	program_write(at, q, sizeof(*q));
	BUG_IF(MUSPI_CreatePt2PtMemoryFIFODescriptor(&d, &i));
	/* the last one has been answered */
	BUG_IF(MUSPI_InjFifoInject(
		       &k->requests.fifo[2 * q->process + CNK_REQUESTS], &d) ==
		SPI_NONE);
}

static int64_t await(const struct cnk_request *q)
{
	uint64_t at = cnk_part(q->process, CNK_AT_ANSWER), word;
	struct cnk_answer a;

	program_poll(at + offsetof(struct cnk_answer, ticket), WORD_IS,
		q->ticket, unit_poll_loop(), &word);
	program_read(at, &a, sizeof(a));
	if (q->op == CNK_READ && a.result > 0)
		program_poll(cnk_part(q->process, CNK_AT_COUNTER), WORD_IS,
			-(uint64_t)a.result, unit_poll_loop(), &word);
	return a.result;
}

static int64_t ship_as_system(struct kernel *k, struct cnk_request *q)
{
	const uint64_t zero = 0;
	int32_t code = k->is_open ? 0 : open_kernel(k);

	if (code)
		return -code;
	q->node = program_node();
	q->process = program_process();
	q->ticket = ++k->ticket;
	program_write(
		cnk_part(q->process, CNK_AT_COUNTER), &zero, sizeof(zero));
	send(k, q);
	return await(q);
}

static int64_t ship(struct cnk_request *q)
{
	struct kernel *k = program_keep(&library);
	bool was_system;
	int64_t result;

	if (!torus()->topo.n_io)
		return -ENODEV;
	while (k->is_busy)
		program_charge(TURN);
	k->is_busy = true;
	was_system = program_set_system(true);
	result = ship_as_system(k, q);
	program_set_system(was_system);
	k->is_busy = false;
	return result;
}

/* --- calls --- */

int32_t cnk_open(const char *name, uint32_t how)
{
	PROGRAM_CALL("cnk_open", 0, 0);
	struct cnk_request q = { .op = CNK_OPEN, .how = how };

	if (strlen(name) >= sizeof(q.name))
		return -ENAMETOOLONG;
	memcpy(q.name, name, strlen(name) + 1);
	return (int32_t)ship(&q);
}

int32_t cnk_close(int32_t file)
{
	PROGRAM_CALL("cnk_close #", file, 0);
	struct cnk_request q = { .op = CNK_CLOSE, .file = file };

	return (int32_t)ship(&q);
}

int32_t cnk_sync(int32_t file)
{
	PROGRAM_CALL("cnk_sync #", file, 0);
	struct cnk_request q = { .op = CNK_SYNC, .file = file };

	return (int32_t)ship(&q);
}

static int64_t move(enum cnk_op op, int32_t file, uint64_t at, uint64_t bytes,
	uint64_t offset)
{
	struct cnk_request q = { .op = op,
		.file = file,
		.at = program_base() + at,
		.bytes = bytes,
		.offset = offset };

	return program_has(at, bytes) ? ship(&q) : -EFAULT;
}

int64_t cnk_write(int32_t file, uint64_t at, uint64_t bytes, uint64_t offset)
{
	PROGRAM_CALL("cnk_write #", file, 0);

	return move(CNK_WRITE, file, at, bytes, offset);
}

int64_t cnk_read(int32_t file, uint64_t at, uint64_t bytes, uint64_t offset)
{
	PROGRAM_CALL("cnk_read #", file, 0);

	return move(CNK_READ, file, at, bytes, offset);
}
