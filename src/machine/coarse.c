#include "machine/coarse.h"

#include <stdlib.h>
#include <string.h>

static const char key[] = "coarse=";

bool coarse_is_key(const char *word)
{
	return !strncmp(word, key, sizeof(key) - 1);
}

static int read_word(const char *word, int64_t *packets, struct err *e)
{
	const char *text = word + sizeof(key) - 1;
	char *end;

	if (*packets)
		return err_set(e, "coarse is given twice");
	if (!strcmp(text, "auto")) {
		*packets = COARSE_AUTO;
		return 0;
	}
	*packets = strtol(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || *packets < 1 ||
		*packets > LINK_TRAIN)
		return err_set(e,
			"coarse: \"%.40s\" is no number of packets (want auto, "
			"or 1 to %d)",
			text, LINK_TRAIN);
	return 0;
}

int coarse_read(
	const char *const *keys, size_t n, int64_t *packets, struct err *e)
{
	*packets = 0;
	for (size_t i = 0; i < n; i++)
		if (coarse_is_key(keys[i]) && read_word(keys[i], packets, e))
			return -1;
	return 0;
}

/* Packets of the longest train. */
static int64_t most(const struct machine *m)
{
	int64_t n = m->link.payload ? UINT16_MAX / m->link.payload : 1;

	return n < LINK_TRAIN ? n : LINK_TRAIN;
}

int coarse_choose(const struct machine *m, const struct load *l,
	int64_t *packets, struct err *e)
{
	uint64_t bytes = l->ops->message ? l->ops->message(l) : 0, n;

	if (!l->ops->message)
		return err_set(e,
			"coarse: the longest message of %s is not known (want "
			"the number of packets of a train)",
			l->ops->name);
	n = m->link.payload ? bytes / COARSE_TRAINS / (uint64_t)m->link.payload
			    : 0;
	*packets = n < LINK_GAPS ? 1 : (int64_t)n;
	if (n > (uint64_t)most(m))
		*packets = most(m);
	return 0;
}

int coarse_set(struct machine *m, int64_t packets, struct err *e)
{
	if (!machine_has(m, "trains"))
		return err_set(e,
			"coarse: %s has no network interface that sends trains "
			"(want nic.kind: plain)",
			m->header.name);
	if (machine_has_flips(m))
		return err_set(e, "coarse: packets that can be damaged must "
				  "travel one by one (faults)");
	if (packets > most(m))
		return err_set(e,
			"coarse: %lld packets of %lld bytes are longer than "
			"%d bytes (want at most %lld)",
			(long long)packets, (long long)m->link.payload,
			UINT16_MAX, (long long)most(m));
	machine_set_train(m, packets);
	return 0;
}
