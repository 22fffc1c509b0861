/* Facts as people read them: their lines and tables, in order. */
#ifndef OUT_FACTS_TEXT_H
#define OUT_FACTS_TEXT_H

#include <stdio.h>

#include "facts/facts.h"

/* Those of a group and of all groups and lists in it.  Tables fit into width,
 * 0: any, with bold heads or not. */
void facts_text_write(
	FILE *out, const struct fact *group, size_t width, bool is_bold);

#endif
