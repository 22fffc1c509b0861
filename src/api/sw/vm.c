/* Virtual machines of SWverbs. */
#include <errno.h>

#include "api/sw/sw.h"

int swv_join_vm(uint32_t vm)
{
	struct nic_at a = nic_now(swv_nic());

	return swhni_vm_join(
		&a, program_process(), vm == WEFT_SW_NO_VM ? 0 : vm);
}

static uint32_t n_vms(void)
{
	const struct swhni_params *p = swv_nic()->params;

	return (uint32_t)p->vms;
}

int weft_sw_query_vm(struct weft_sw *dev, uint32_t vm, struct weft_sw_vm *x)
{
	struct swhni_vm v;

	if (!swv_find(SW_DEVICE, dev))
		return EBADF;
	if (!x || vm > n_vms())
		return EINVAL;
	v = swhni_vm(swv_nic(), program_node(), vm);
	*x = (struct weft_sw_vm){ v.is_dead, v.interfaces, v.granted,
		v.returned, v.refused };
	return 0;
}

int weft_sw_kill_vm(struct weft_sw *dev, uint32_t vm)
{
	struct nic_at a = nic_now(swv_nic());
	uint32_t own = swhni_vm_of(a.nic, a.s, program_process());

	if (!swv_find(SW_DEVICE, dev))
		return EBADF;
	if (!vm || vm > n_vms())
		return EINVAL;
	if (own && own != vm)
		return EPERM;
	return swhni_vm_kill(&a, vm);
}
