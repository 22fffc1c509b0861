#include "topo/topo.h"

#include <string.h>

#include "topo/torus.h"

const struct topo_ops *const topo_registry[] = {
	&torus_ops,
	NULL,
};

const char *const wire_class_names[N_WIRE_CLASSES] = {
	[WIRE_BOARD] = "board",
	[WIRE_BOARDS] = "boards",
	[WIRE_MIDPLANES] = "midplanes",
	[WIRE_LOOP] = "loop",
	[WIRE_INNER] = "inner",
};

const struct topo_ops *topo_find(const char *name)
{
	size_t i;

	for (i = 0; topo_registry[i]; i++)
		if (!strcmp(topo_registry[i]->name, name))
			return topo_registry[i];
	return NULL;
}
