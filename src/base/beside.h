/* Files that lie beside the program that runs. */
#ifndef BASE_BESIDE_H
#define BASE_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* A path from the program's folder on; false if it cannot be told, or is longer
 * than size. */
bool beside_program(const char *way, char *path, size_t size);

#endif
