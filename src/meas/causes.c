/* The names of causes, and of classes of messages. */
#include <stdio.h>

#include "meas/budget.h"

const struct cause_name causes[N_CAUSES] = {
	[CAUSE_SOFTWARE] = { "software", "software" },
	[CAUSE_COPY] = { "copy", "copy" },
	[CAUSE_DESCRIPTOR] = { "descriptor", "descriptor fetch" },
	[CAUSE_CARD] = { "card_queue", "queue at the card" },
	[CAUSE_MEMORY_READ] = { "memory_read", "memory read" },
	[CAUSE_ENGINE] = { "engine", "engine busy" },
	[CAUSE_PACKET] = { "packet", "packetisation" },
	[CAUSE_QUEUE] = { "queue", "queue" },
	[CAUSE_TOKENS] = { "tokens", "token wait" },
	[CAUSE_LINK] = { "link_busy", "link busy" },
	[CAUSE_ARBITRATION] = { "arbitration", "arbitration" },
	[CAUSE_SERIALISATION] = { "serialisation", "serialisation" },
	[CAUSE_WIRE] = { "wire", "wire" },
	[CAUSE_ROUTER] = { "router", "router" },
	[CAUSE_RETRY] = { "retry", "retry" },
	[CAUSE_QUIESCE] = { "quiesce", "quiesce" },
	[CAUSE_TRANSLATION] = { "translation", "translation" },
	[CAUSE_PEERS] = { "peers", "peers" },
	[CAUSE_RECEIVER] = { "receiver", "receiver busy" },
	[CAUSE_INPUT] = { "card_input", "card input" },
	[CAUSE_MEMORY_WRITE] = { "memory_write", "memory write" },
	[CAUSE_COMPLETION] = { "completion", "completion" },
	[CAUSE_DOMAIN] = { "domain", "fast domain" },
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
