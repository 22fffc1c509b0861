/* Gemini's kernel interface: sends to ports, and what is wrong with them. */
#include "testing/gni_testing.h"
#include "weft/kgni.h"

enum { PORT = 2, FRAME = 1504 };

#define FINE(call) assert_int_equal(call, GNI_RC_SUCCESS)

static void run(
	bool may_err, void (*program)(struct gni_world *, struct gni_side *))
{
	struct gni_world g = { .run = program };

	gni_world_run(&g, NULL, may_err);
	kit_close(&g.world.kit);
}

static gni_post_descriptor_t send_of(uint64_t bytes)
{
	return (gni_post_descriptor_t){
		.type = KGNI_POST_SEND,
		.cq_mode = GNI_CQMODE_GLOBAL_EVENT,
		.local_addr = WORLD_SOURCE,
		.length = bytes,
	};
}

/* --- sends --- */

static uint64_t place(uint32_t i)
{
	return WORLD_TARGET + i * 0x1000;
}

/* Frames of several lengths to buffers in order; each waits for the last. */
static void send_frames(struct gni_world *g, struct gni_side *mine)
{
	gni_post_descriptor_t d = send_of(0);
	gni_cq_entry_t entry;

	program_become_system();
	for (uint32_t i = 0; program_node() == 2 && i < 3; i++)
		FINE(kgni_post_buffer(mine->nic, PORT, mine->came, place(i),
			FRAME, (uint16_t)(40 + i)));
	if (program_node() == 2) {
		for (uint32_t i = 0; i < 3; i++) {
			FINE(gni_wait(mine->came, &entry));
			assert_int_equal(
				GNI_CQ_GET_TYPE(entry), KGNI_EVENT_TYPE_BUFFER);
			assert_int_equal(KGNI_GET_BUFFER(entry), 40 + i);
			assert_int_equal(
				KGNI_GET_BYTES(entry), 504 * (i + 1) - 8);
			assert_true(world_is_filled(program_host(), 2, place(i),
				504 * (i + 1) - 8));
		}
		return;
	}
	if (program_node())
		return;
	world_fill(WORLD_SOURCE, FRAME);
	program_charge(2000 * SIM_NS);
	for (uint32_t i = 0; i < 3; i++) {
		sim_time start = program_now();

		d.length = 504 * (i + 1) - 8;
		FINE(kgni_send(mine->ep[2], PORT, &d));
		assert_int_equal(program_now() - start, 300 * SIM_NS);
		FINE(gni_await(mine, &d));
	}
}

/* GEM-F61. */
static void frames_go_to_the_buffers_of_a_port(void **state)
{
	run(false, send_frames);
}

/* Too long for its buffer; and one for which there is no more. */
static void send_in_vain(struct gni_world *g, struct gni_side *mine)
{
	gni_post_descriptor_t d = send_of(FRAME);
	gni_cq_entry_t entry;
	char text[64];
	uint32_t n;

	program_become_system();
	if (program_node() == 2) {
		FINE(kgni_post_buffer(
			mine->nic, PORT, mine->came, place(0), 64, 1));
		assert_int_equal(
			gni_wait(mine->came, &entry), GNI_RC_TRANSACTION_ERROR);
		assert_int_equal(KGNI_GET_BYTES(entry), 64);
		FINE(kgni_post_buffer(
			mine->nic, PORT, mine->came, place(0), FRAME, 2));
		FINE(kgni_post_buffer(
			mine->nic, PORT + 1, mine->came, place(0), FRAME, 3));
		FINE(kgni_withdraw_buffers(mine->nic, PORT, &n));
		assert_int_equal(n, 1);
	}
	if (program_node())
		return;
	program_charge(2000 * SIM_NS);
	FINE(kgni_send(mine->ep[2], PORT, &d));
	assert_int_equal(gni_await(mine, &d), GNI_RC_TRANSACTION_ERROR);
	program_charge(5000 * SIM_NS);
	FINE(kgni_send(mine->ep[2], PORT, &d));
	assert_int_equal(
		gni_wait(mine->done, &entry), GNI_RC_TRANSACTION_ERROR);
	FINE(GNI_CqErrorStr(entry, text, sizeof(text)));
	assert_string_equal(text, "no buffer at the target");
}

/* GEM-F61. */
static void a_send_that_does_not_fit_is_known_on_both_sides(void **state)
{
	run(true, send_in_vain);
}

/* --- misuse --- */

static void misuse(struct gni_world *g, struct gni_side *mine)
{
	gni_post_descriptor_t d = send_of(64);
	const uint64_t far = UINT64_C(1) << 60;
	uint32_t n;

	program_become_system();
	if (program_node())
		return;
#define IS(code, call) assert_int_equal(call, GNI_RC_##code)
	IS(INVALID_PARAM, kgni_send(NULL, PORT, &d));
	IS(INVALID_PARAM, kgni_send(mine->ep[2], KGNI_PORTS, &d));
	IS(INVALID_PARAM, kgni_send(mine->ep[2], PORT, NULL));
	d = send_of(0);
	IS(SIZE_ERROR, kgni_send(mine->ep[2], PORT, &d));
	d = send_of((UINT64_C(1) << 32) + 1);
	IS(SIZE_ERROR, kgni_send(mine->ep[2], PORT, &d));
	d = send_of(64);
	d.local_addr = far;
	IS(PERMISSION_ERROR, kgni_send(mine->ep[2], PORT, &d));
	d = send_of(64);
	d.type = GNI_POST_RDMA_PUT;
	IS(ILLEGAL_OP, kgni_send(mine->ep[2], PORT, &d));
	d = send_of(64);
	d.cq_mode = GNI_CQMODE_REMOTE_EVENT;
	IS(ILLEGAL_OP, kgni_send(mine->ep[2], PORT, &d));
	d.type = KGNI_POST_SEND;
	IS(ILLEGAL_OP, GNI_PostRdma(mine->ep[2], &d));
	IS(INVALID_PARAM, kgni_post_buffer(NULL, PORT, mine->came, 0, 8, 0));
	IS(INVALID_PARAM, kgni_post_buffer(mine->nic, PORT, NULL, 0, 8, 0));
	IS(INVALID_PARAM, kgni_post_buffer(mine->nic, 8, mine->came, 0, 8, 0));
	IS(PERMISSION_ERROR,
		kgni_post_buffer(mine->nic, PORT, mine->came, far, 8, 0));
	IS(INVALID_PARAM, kgni_withdraw_buffers(mine->nic, PORT, NULL));
	IS(INVALID_PARAM, kgni_withdraw_buffers(mine->nic, 8, &n));
}

/* GEM-F61. */
static void misuse_of_ports_is_refused(void **state)
{
	run(false, misuse);
}

static void dare(struct gni_world *g, struct gni_side *mine)
{
	gni_post_descriptor_t d = send_of(64);
	uint32_t n;

	IS(PERMISSION_ERROR, kgni_send(mine->ep[2], PORT, &d));
	IS(PERMISSION_ERROR,
		kgni_post_buffer(mine->nic, PORT, mine->came, 0, 8, 0));
	IS(PERMISSION_ERROR, kgni_withdraw_buffers(mine->nic, PORT, &n));
}

/* GEM-F61. */
static void ports_are_for_system_software(void **state)
{
	run(false, dare);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_go_to_the_buffers_of_a_port),
		cmocka_unit_test(
			a_send_that_does_not_fit_is_known_on_both_sides),
		cmocka_unit_test(misuse_of_ports_is_refused),
		cmocka_unit_test(ports_are_for_system_software),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
