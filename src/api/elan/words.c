#include <string.h>

#include "api/elan/queue.h"

uint32_t words_set(
	uint64_t words[2], enum elan_command c, uint32_t event, uint32_t high)
{
	if (event < ELAN_EVENTS) {
		words[0] = elan_word(c, event, high);
		return 1;
	}
	words[0] = elan_word(c, 0, high) | ELAN_NAMED;
	words[1] = event;
	return 2;
}

uint32_t words_close(uint64_t words[2], uint32_t event, uint32_t other)
{
	if (event < ELAN_EVENTS && other < ELAN_EVENTS) {
		words[0] = elan_word(ELAN_CLOSE, event, other);
		return 1;
	}
	words[0] = elan_word(ELAN_CLOSE, 0, 0) | ELAN_NAMED;
	words[1] = (uint64_t)other << 32 | event;
	return 2;
}

uint32_t elan_dma_words(uint64_t *words, const struct elan_dma *d)
{
	words[0] = elan_word(ELAN_RUN_DMA, 0, 0);
	memcpy(words + 1, d, sizeof(*d));
	return 1 + ELAN_DMA_WORDS;
}

uint32_t elan_put_words(uint64_t *words, uint32_t rank, uint64_t to,
	const void *data, uint32_t bytes, uint32_t target_event,
	uint32_t source_event)
{
	uint32_t n = 0;

	if (bytes > ELAN_PACKET || (bytes && !data) ||
		target_event >= ELAN_EVENT_NAMES ||
		source_event >= ELAN_EVENT_NAMES)
		return 0;
	words[n++] = elan_word(ELAN_OPEN, rank, 0);
	if (bytes) {
		words[n++] = elan_word(ELAN_WRITE, bytes, 0);
		words[n++] = to;
		words[n + (bytes - 1) / 8] = 0;
		memcpy(words + n, data, bytes);
		n += (bytes + 7) / 8;
	}
	if (target_event)
		n += words_set(
			words + n, ELAN_SET, target_event, bytes ? bytes : 1);
	return n + words_close(words + n, source_event, 0);
}
