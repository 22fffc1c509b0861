/* Networks of made-up links: large packets, formats, rates. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/net_testing.h"

/* Of packets of so many chunks of 16 B, 16 GB/s. */
static struct link_params large(uint32_t chunks)
{
	struct link_params p;

	link_params_defaults(&p);
	p.rate = INT64_C(16000000000);
	p.header = p.chunk = 16;
	p.payload = (chunks - 1) * 16;
	return p;
}

/* Everything arrives and is accounted for, however many tokens it takes; a
 * lone packet takes its wires and its bytes. */
static void packets_of_many_chunks_pass(void **state)
{
	static const uint32_t chunks[] = { 255, 256, 257, 4095 };
	uint32_t i, k;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct link_params link = large(chunks[i]);
		struct rig *r =
			rig_new(&(struct rig_how){ .way = { .shape = "4x4" },
				.link = &link,
				.packets = 3,
				.fills = true });
		uint32_t bytes = (uint32_t)link.payload, lone;

		for (k = 0; k < 16 * 4; k++) {
			struct packet p = { .src = k % 16,
				.dst = (k * 7 + 5) % 16,
				.kind = (uint8_t)(k / 16),
				.bytes =
					(uint16_t)(k % 3 ? bytes : bytes / 2) };

			if (p.src != p.dst)
				rig_flood(r, 0, rig_fifo(r, &p), 3, p);
		}
		lone = rig_send(r, (sim_time)100000000 * SIM_NS, 0,
			(struct packet){
				.src = 0, .dst = 1, .bytes = (uint16_t)bytes });
		rig_run(r);
		for (k = 0; k < r->n_sent; k++) {
			assert_non_null(r->got[k]);
			assert_int_equal(r->got[k]->packet.chunks,
				1 + (r->got[k]->packet.bytes + 15) / 16);
		}
		assert_int_equal(r->got[lone]->tail - r->got[lone]->head,
			link_ser(&r->net->link, bytes));
		rig_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_of_many_chunks_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
