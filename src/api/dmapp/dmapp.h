/* Shared by the files of the one-sided interface: a process's operations. */
#ifndef API_DMAPP_DMAPP_H
#define API_DMAPP_DMAPP_H

#include "api/gni/gni.h"
#include "host/program.h"
#include "weft/dmapp.h"

enum {
	DMAPP_HANDLE = 128, /* and the process: to all of its memory */
};

/* How a call ends. */
enum dmapp_way { DMAPP_PLAIN, DMAPP_NB, DMAPP_NBI };

struct dmapp_op {
	struct slot slot;
	uint32_t serial;
	uint8_t way;
	bool is_failed;
	uint32_t pending; /* transactions, + 1 while more may follow */
};

struct dmapp {
	bool is_open;
	struct gemini_queue queue;
	uint64_t posted, ended; /* transactions */
	struct slots ops;
	uint32_t serial;
	uint32_t n_nbi; /* incomplete implicit operations */
	bool is_failed; /* any of them */
};

struct dmapp *dmapp_state(void);
uint32_t dmapp_n_processes(void); /* of a node */
uint32_t dmapp_n_pes(void);

void dmapp_take_events(struct dmapp *d);
void dmapp_wait_events(struct dmapp *d);
/* An operation has nothing pending. */
void dmapp_op_ended(struct dmapp *d, uint32_t id, const struct dmapp_op *x);
dmapp_return_t dmapp_code(bool is_failed);

#endif
