#include "testing/collective_testing.h"

#include <string.h>

#include "base/mem.h"
#include "testing/testing.h"

/* --- runs --- */

struct machine_run *coll_perform(const struct coll_how *h)
{
	struct machine_run *r = mem_alloc(1, sizeof(*r));
	const struct weft_app app = { .name = "test",
		.run = h->run,
		.is_system = h->is_system,
		.interface = "spi" };
	struct machine_run_setup s = { .machine.name = "bgq",
		.machine.shape = h->shape,
		.machine.sets = h->sets,
		.load = &app_ops,
		.load_arg = &app,
		.seed = 1,
		.threads = h->threads ? h->threads : 1 };
	struct err e = { 0 };

	while (s.machine.n_sets < 4 && h->sets[s.machine.n_sets])
		s.machine.n_sets++;
	if (machine_run_open(r, &s, &e) || machine_run_perform(r, &e))
		fail_msg("%s", e.text);
	return r;
}

void coll_drop(struct machine_run *r)
{
	machine_run_close(r);
	mem_free(r);
}

void coll_locks(const struct coll_how *h, const char *says)
{
	struct machine_run *r = coll_perform(h);
	const char *text = r->result.knot[0] ? r->result.knot : r->result.why;

	assert_int_equal(run_ending_code(r->result.ending), EXIT_DEADLOCK);
	if (!strstr(text, says))
		fail_msg("wanted: %s\nsaid: %s", says, text);
	coll_drop(r);
}

void coll_finishes(const struct coll_how *h)
{
	struct machine_run *r = coll_perform(h);

	if (r->result.ending != LOAD_FINISHED)
		fail_msg("%s%s", r->result.knot, r->result.why);
	coll_drop(r);
}

/* --- members --- */

static MUSPI_InjFifoSubGroup_t groups[64];

MUSPI_InjFifo_t *coll_member(uint64_t bytes)
{
	uint32_t first = program_is_system() ? SYSTEM_GROUP : 0;
	MUSPI_InjFifo_t *f =
		spi_test_inj(&groups[program_node()], first, 0, 32, NULL);

	spi_test_bases(bytes);
	return f;
}

void coll_call_with(MUSPI_InjFifo_t *f, uint32_t route, uint32_t misc,
	uint8_t op, uint32_t bytes)
{
	const MUSPI_CollectiveDirectPutDescriptorInfo_t info = {
		.Base = { .Payload_Address = SPI_TEST_SOURCE,
			.Message_Length = bytes,
			.Torus_FIFO_Map = (misc & ~3u) == SYSTEM
						  ? MU_MAP_SYSTEM_COLLECTIVE
						  : MU_MAP_USER_COLLECTIVE },
		.Collective = { .Op_Code = op,
			.Word_Length = 8,
			.Class_Route = (uint8_t)route,
			.Misc = (uint8_t)misc },
		.DirectPut = { .Rec_Payload_Base_Address_Id = SPI_TEST_BASE,
			.Rec_Counter_Base_Address_Id = SPI_TEST_BASE_COUNTER },
	};
	MUHWI_Descriptor_t d;

	assert_int_equal(
		MUSPI_CreateCollectiveDirectPutDescriptor(&d, &info), 0);
	MUSPI_InjFifoInject(f, &d);
}

void coll_call(MUSPI_InjFifo_t *f, uint32_t route, uint32_t misc)
{
	coll_call_with(f, route, misc, FLOAT_ADD, 8);
}

void coll_await(void)
{
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
}

bool coll_join_box(uint32_t id, const MUSPI_Box_t *box)
{
	ClassRoute_t r;

	if (MUSPI_BuildNodeClassroute(box, BGQ_CLASS_INPUT_VC_SUBCOMM, &r))
		return false;
	assert_int_equal(MUSPI_SetClassrouteId(id, &r), 0);
	return true;
}

bool coll_join(
	uint32_t id, uint32_t a, uint32_t a_last, uint32_t b, uint32_t b_last)
{
	const MUSPI_Box_t box = {
		.low = { (uint8_t)a, (uint8_t)b },
		.high = { (uint8_t)a_last, (uint8_t)b_last },
	};

	return coll_join_box(id, &box);
}
