/* Memory whose bytes nobody looks at, so that none of them are stored. */
#ifndef LOAD_UNSTORED_H
#define LOAD_UNSTORED_H

#include "host/host.h"

/* A range of the running program's own memory; false: there is no room. */
bool unstored_add(struct host *host, uint64_t at, uint64_t bytes);

#endif
