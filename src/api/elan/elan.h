/* QsNetII's programming interface, for the simulator's own programs: the
 * public header, and what only they may call. */
#ifndef API_ELAN_ELAN_H
#define API_ELAN_ELAN_H

#include "nic/elan4/elan4.h"
#include "weft/elan.h"

enum { ELAN_CONTEXT = 1 }; /* of a node's first process; others follow */

/* How this program's CPU polls a word that the card writes. */
struct poll_loop elan_poll_loop(void);

/* Stores what waits, in bursts; public calls do it themselves. */
void elan_flush(struct elan_cq *q);

#endif
