/*
 * Which cores the simulator's threads and the ranks run on.
 *
 * A rank and the thread that runs its proxy take turns: on one core that costs
 * a third of what it does on two.  So a thread stays on a core of its own, and
 * each rank goes where its proxy is.  Where there is a core for each rank and
 * each thread, nobody is moved: whoever waits looks at the word for a while
 * before it sleeps.
 */
#ifndef OUTSIDE_PIN_H
#define OUTSIDE_PIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pin;

/* For one of n processes, each of which has cores of its own where there are
 * enough.  NULL if the threads of the run cannot be told where to be. */
struct pin *pin_new(uint32_t me, uint32_t n);
/* Lets all threads run where they could before. */
void pin_free(struct pin *p);

/* Where there is a core to spare for each of so many. */
bool pin_has_cores(uint32_t n);

/* Of a rank: where it is; -1: anywhere. */
enum { PIN_ANYWHERE = -1 };

/* The calling thread gives the turn to a rank, which is at *core. */
void pin_rank(struct pin *p, pid_t rank, int *core);
/* The rank takes no more turns. */
void pin_leave(struct pin *p, pid_t rank, int *core);

#endif
