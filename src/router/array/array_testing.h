/* For tests: stars of array routers (router/star_testing.h). */
#ifndef ROUTER_ARRAY_ARRAY_TESTING_H
#define ROUTER_ARRAY_ARRAY_TESTING_H

#include "router/array/array.h"
#include "router/star_testing.h"

/* Payloads of packets with 2, 8 and 32 chunks, on links like those of
 * machines/sunway.yaml: words of 16 B, chunks of 64 B, 48 B of overhead. */
enum { TINY = 64, SMALL = 448, FULL = 1984, FULL_CHUNKS = 32 };

struct link_params array_test_link(void);
/* The defaults, with private credits of a full packet and the same shared. */
struct array_params array_test_params(void);

struct packet array_test_packet(site_id src, site_id dst, uint32_t bytes);
struct packet array_test_kind(site_id src, site_id dst, uint8_t kind);

/* Time of a full packet on a link. */
sim_time array_test_period(const struct star_rig *r);
/* Packets from a number on that have arrived. */
uint32_t array_test_came(const struct star_rig *r, uint32_t first, uint32_t n);

#endif
