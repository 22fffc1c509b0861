/* Facts as people read them: their lines and tables, in order. */
#ifndef OUT_FACTS_TEXT_H
#define OUT_FACTS_TEXT_H

#include <stdio.h>

#include "facts/facts.h"

/* Those of a group and of all groups and lists in it. */
void facts_text_write(FILE *out, const struct fact *group);
/* A form filled in with values of a group. */
void facts_form(FILE *out, const struct fact *group, const char *form);

#endif
