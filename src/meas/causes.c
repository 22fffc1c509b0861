/* The names of causes, and of classes of messages. */
#include <stdio.h>

#include "meas/budget.h"

const char *const cause_names[N_CAUSES] = {
	[CAUSE_SOFTWARE] = "software",
	[CAUSE_COPY] = "copy",
	[CAUSE_DESCRIPTOR] = "descriptor fetch",
	[CAUSE_CARD] = "queue at the card",
	[CAUSE_MEMORY_READ] = "memory read",
	[CAUSE_ENGINE] = "engine busy",
	[CAUSE_PACKET] = "packetisation",
	[CAUSE_QUEUE] = "queue",
	[CAUSE_TOKENS] = "token wait",
	[CAUSE_LINK] = "link busy",
	[CAUSE_ARBITRATION] = "arbitration",
	[CAUSE_SERIALISATION] = "serialisation",
	[CAUSE_WIRE] = "wire",
	[CAUSE_ROUTER] = "router",
	[CAUSE_RETRY] = "retry",
	[CAUSE_QUIESCE] = "quiesce",
	[CAUSE_TRANSLATION] = "translation",
	[CAUSE_PEERS] = "peers",
	[CAUSE_RECEIVER] = "receiver busy",
	[CAUSE_INPUT] = "card input",
	[CAUSE_MEMORY_WRITE] = "memory write",
	[CAUSE_COMPLETION] = "completion",
};

const char *const cause_keys[N_CAUSES] = {
	[CAUSE_SOFTWARE] = "software",
	[CAUSE_COPY] = "copy",
	[CAUSE_DESCRIPTOR] = "descriptor",
	[CAUSE_CARD] = "card_queue",
	[CAUSE_MEMORY_READ] = "memory_read",
	[CAUSE_ENGINE] = "engine",
	[CAUSE_PACKET] = "packet",
	[CAUSE_QUEUE] = "queue",
	[CAUSE_TOKENS] = "tokens",
	[CAUSE_LINK] = "link_busy",
	[CAUSE_ARBITRATION] = "arbitration",
	[CAUSE_SERIALISATION] = "serialisation",
	[CAUSE_WIRE] = "wire",
	[CAUSE_ROUTER] = "router",
	[CAUSE_RETRY] = "retry",
	[CAUSE_QUIESCE] = "quiesce",
	[CAUSE_TRANSLATION] = "translation",
	[CAUSE_PEERS] = "peers",
	[CAUSE_RECEIVER] = "receiver",
	[CAUSE_INPUT] = "card_input",
	[CAUSE_MEMORY_WRITE] = "memory_write",
	[CAUSE_COMPLETION] = "completion",
};

static const char *const kind_names[N_BOOK_KINDS] = {
	[BOOK_PACKET] = "packet",
	[BOOK_PUT] = "put",
	[BOOK_GET] = "get",
	[BOOK_ATOMIC] = "atomic",
	[BOOK_SEND] = "send",
	[BOOK_BARRIER] = "barrier",
};

/* Packets of the sizes of messages, but for the last. */
static const uint32_t size_ends[BOOK_SIZES - 1] = { 1, 16, 256 };

void book_class_name(uint32_t class, char *text, size_t size)
{
	const char *kind = kind_names[class / BOOK_SIZES];
	uint32_t i = class % BOOK_SIZES;

	if (!i)
		snprintf(text, size, "%s", kind);
	else if (i < BOOK_SIZES - 1)
		snprintf(text, size, "%s, %u to %u packets", kind,
			size_ends[i - 1] + 1, size_ends[i]);
	else
		snprintf(text, size, "%s, more than %u packets", kind,
			size_ends[i - 1]);
}

uint32_t book_class(const struct book_account *a)
{
	uint32_t i = 0;

	while (i < BOOK_SIZES - 1 && a->n_packets > size_ends[i])
		i++;
	return a->kind * BOOK_SIZES + i;
}
