/* Threads on QsNetII's card: what programs and the threads themselves call. */
#include <errno.h>

#include "api/elan/queue.h"
#include "host/program.h"

int elan_thread_load(uint32_t code, elan_code *run)
{
	return elan_code_load(
		cq_card(), program_node(), ELAN_CONTEXT, code, run);
}

int elan_thread_start(
	struct elan_cq *q, uint32_t code, const uint64_t reg[ELAN_REGISTERS])
{
	uint64_t word[1 + ELAN_REGISTERS] = { elan_word(
		ELAN_RUN_THREAD, code, 0) };

	if (code >= ELAN_CODES)
		return EINVAL;
	for (uint32_t i = 0; i < ELAN_REGISTERS; i++)
		word[i + 1] = reg[i];
	return elan_issue(q, word, 1 + ELAN_REGISTERS);
}

void elan_thread_work(uint32_t cycles)
{
	elan_card_work(cycles);
}

int elan_thread_append(uint64_t address, const uint64_t *words, uint32_t n)
{
	return elan_card_append(address, words, n);
}

int elan_thread_wait_word(uint64_t at, uint64_t value)
{
	return elan_card_wait(at, value);
}

int elan_thread_read(uint64_t at, void *to, uint32_t bytes)
{
	return elan_card_read(at, to, bytes);
}

int elan_thread_write(uint64_t at, uint64_t value)
{
	return elan_card_write(at, value);
}
