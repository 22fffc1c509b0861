/* The same code once more, for direct networks whose routing names one of two
 * channels for each hop, one queue each: see ring.h. */
#define DIRECT_RING  1
#define DIRECT_BUILD direct_ring

#include "router/direct/visit.c"
