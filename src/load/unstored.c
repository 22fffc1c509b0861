#include "load/unstored.h"

#include "host/program.h"

/* All bytes have one name, so that what is moved from anywhere to anywhere is
 * what is there already. */
static uint64_t name_anything(
	void *arg, uint64_t offset, struct memory_name *name)
{
	(void)arg;
	(void)offset;
	*name = (struct memory_name){ 0 };
	return UINT64_MAX;
}

bool unstored_add(struct host *host, uint64_t at, uint64_t bytes)
{
	struct memory *m = host_at(host, program_node());

	return memory_add_synthetic(
		       m, program_base() + at, bytes, name_anything, NULL) >= 0;
}
