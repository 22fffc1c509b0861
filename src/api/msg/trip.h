/*
 * Where the time of tagged messages goes, from the call that sends them to the
 * end of their receive, if time is budgeted.  Sums of times at the borders of
 * these parts are enough, and no process needs to know another's: what the
 * senders' and the receivers' sums differ by is the time of all messages.
 */
#ifndef API_MSG_TRIP_H
#define API_MSG_TRIP_H

#include <stdbool.h>

#include "sim/sim.h"

enum msg_border {
	/* of the sender */
	TRIP_CALLED,
	TRIP_READY, /* the library's part is over */
	TRIP_SLOTS, /* there is room at the receiver */
	/* of the receiver; between them are the interface's calls, the network
	 * and a look */
	TRIP_TAKEN,
	TRIP_POSTED, /* there is a receive */
	TRIP_MATCHED,
	TRIP_HERE, /* so are its bytes */
	TRIP_ENDED, /* the program knows */
	TRIP_BORDERS,
};

struct msg_trip {
	bool is_on;
	uint64_t n_sent, n_ended;
	sim_time sum[TRIP_BORDERS];
	/* of the send at hand */
	sim_time called, ready;
};

#endif
