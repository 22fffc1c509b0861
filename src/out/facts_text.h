/* Facts as people read them: their lines and tables, in order. */
#ifndef OUT_FACTS_TEXT_H
#define OUT_FACTS_TEXT_H

#include <stdio.h>

#include "facts/facts.h"

/* Writes the lines of a group and of everything inside it.  Tables are at most
 * width columns wide, 0: of any width. */
void facts_text_write(
	FILE *out, const struct fact *group, size_t width, bool is_bold);

#endif
