/* The internals of a side that is a cache, for tests. */
#ifndef HOST_SIDE_L2_H
#define HOST_SIDE_L2_H

#include "host/l2_take.h"
#include "host/side.h"

struct side_l2 {
	struct side side;
	struct l2 *l2;
	/* of ports */
	struct side_port_how how;
	sim_time beat; /* of 32 bytes on a read data path */
	sim_time read_rest; /* of a read after the beats of a line */
	bool is_plain; /* lines have the size of the ports': see calm() */
};

static inline struct side_l2 *side_l2_of(struct side *s)
{
	return (struct side_l2 *)s;
}

#endif
