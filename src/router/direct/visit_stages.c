/* The same code once more, for a torus whose senders are asked in stages: see
 * stages.h. */
#define DIRECT_STAGES 1
#define DIRECT_BUILD  direct_stages

#include "router/direct/visit.c"
