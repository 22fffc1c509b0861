/* Code for threads on the card, which the core stores into card memory. */
#include <errno.h>

#include "api/elan/queue.h"
#include "host/program.h"

/* In bursts, as fast as the bus takes them; the words stand for
 * instructions. */
static void store_code(uint32_t code, uint64_t at, uint32_t bytes)
{
	uint32_t most = (uint32_t)cq_host()->pio_burst, n;
	uint64_t word[ELAN_BLOCK / 8];
	sim_time t = program_now() + cq_way();

	for (uint32_t k = 0; k < bytes; k += n) {
		n = bytes - k < most ? bytes - k : most;
		for (uint32_t i = 0; i < n / 8; i++)
			word[i] = (uint64_t)code << 32 | (k / 8 + i);
		t = elan_code_store(cq_card(), program_worker(), program_node(),
			t, at + k, word, n / 8);
	}
	program_wait(t);
}

int elan_thread_load_code(uint32_t code, elan_code *run, uint32_t bytes)
{
	uint64_t at;
	int wrong;

	if (run && !bytes)
		return EINVAL;
	wrong = elan_code_load(
		cq_card(), program_node(), cq_context(), code, run, bytes, &at);
	if (!wrong && run)
		store_code(code, at, bytes);
	return wrong;
}
