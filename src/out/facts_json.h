/* Facts as JSON: all but lines and what only lines show. */
#ifndef OUT_FACTS_JSON_H
#define OUT_FACTS_JSON_H

#include "facts/facts.h"
#include "out/json.h"

/* A value with its key, into the object or array that is open. */
void facts_json(struct json *j, const struct fact *x);

#endif
