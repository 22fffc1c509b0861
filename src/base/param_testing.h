/* For tests: parameters without a machine. */
#ifndef BASE_PARAM_TESTING_H
#define BASE_PARAM_TESTING_H

#include "base/param.h"

/* Sets the defaults of a table that ends with a row without a name. */
void param_table_defaults(const struct param *rows, void *values);

#endif
