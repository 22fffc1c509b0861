#include <string.h>

#include "api/elan/elan.h"

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
		target_event >= ELAN_EVENTS || source_event >= ELAN_EVENTS)
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
		words[n++] =
			elan_word(ELAN_SET, target_event, bytes ? bytes : 1);
	words[n++] = elan_word(ELAN_CLOSE, source_event, 0);
	return n;
}
