/* Facts as JSON: all values except those that only lines show. */
#ifndef OUT_FACTS_JSON_H
#define OUT_FACTS_JSON_H

#include "facts/facts.h"
#include "out/json.h"

/* Adds a value with its key to the open object or array. */
void facts_json(struct json *j, const struct fact *x);

#endif
