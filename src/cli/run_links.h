/* What `weft run` tells of links and routers. */
#ifndef CLI_RUN_LINKS_H
#define CLI_RUN_LINKS_H

#include "machine/run.h"
#include "out/json.h"

/* Groups of links, and which links and routers had the most to do. */
void run_links_text(FILE *f, const struct machine_run *r);
/* The keys links, hottest_links and fullest_routers. */
void run_links_json(struct json *j, const struct machine_run *r);
/* Every link and channel as a line of a CSV file. */
int run_links_write(
	const char *path, const struct machine_run *r, struct err *e);

#endif
