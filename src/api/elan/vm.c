/* Virtual memory of the calling program's process. */
#include <errno.h>

#include "api/elan/queue.h"
#include "host/program.h"

int elan_vm_alloc(const struct elan_vm *how, uint64_t *at)
{
	int code;

	if (!how || !at)
		return EFAULT;
	/* so that no address of its own memory is taken */
	code = cq_open_memory();
	return code ? code
		    : elan_vm_take(
			      cq_card(), program_node(), cq_context(), how, at);
}

int elan_vm_free(uint64_t at)
{
	return elan_vm_give(cq_card(), program_node(), cq_context(), at);
}

int elan_vm_drop(uint64_t at, uint64_t bytes)
{
	return elan_vm_lose(cq_card(), program_node(), cq_context(), at, bytes);
}
