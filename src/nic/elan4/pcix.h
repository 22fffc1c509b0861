/*
 * The card's side of the host's bus: see pcix.c.  What crosses it, and the
 * card's words on their way to memory.
 */
#ifndef NIC_ELAN4_PCIX_H
#define NIC_ELAN4_PCIX_H

#include <string.h>

#include "nic/elan4/elan.h"

/* The bus of all nodes, as a machine file describes it. */
struct side *elan_bus_new(
	const struct elan_params *p, site_id n_nodes, struct err *e);

/* A burst is ready; granted() is called, now or later. */
void elan_bus_read(const struct nic_at *a, uint64_t at, uint32_t bytes,
	elan_granted *granted, uint32_t id);
void elan_bus_write(const struct nic_at *a, uint64_t at, uint32_t bytes,
	elan_granted *granted, uint32_t id);
void elan_bus_on_free(const struct nic_at *a, uint32_t none);

/* Writes a word to the node's memory; and it is there. */
void elan_word_write(const struct nic_at *a, uint64_t address, uint64_t value);
void elan_word_on_in(const struct nic_at *a, uint32_t id);
/* Reads the node's memory, with words that are on their way there: on the bus
 * no read passes a write. */
void elan_read(const struct nic_at *a, uint64_t at, void *to, uint32_t n);

/* Puts what a write says over n bytes that were read at an address, where both
 * lie. */
static inline void elan_overlay(uint8_t *to, uint64_t at, uint32_t n,
	uint64_t written, const uint8_t *data, uint32_t bytes)
{
	uint64_t first = written > at ? written : at;
	uint64_t end = written + bytes < at + n ? written + bytes : at + n;

	if (first < end)
		memcpy(to + (first - at), data + (first - written),
			end - first);
}

#endif
