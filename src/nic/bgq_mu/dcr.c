/* The ring of configuration registers (BGQ-F126): its registers, one access at
 * a time, and the network's time-outs. */
#include "nic/bgq_mu/units.h"

#include "base/mem.h"
#include "base/units.h"
#include "link/retry.h"
#include "net/send.h"
#include "parts/clocks/clocks.h"

bool mu_is_dcr(uint32_t reg)
{
	switch ((reg & ~MU_PRIVILEGED) >> 16) {
	case MU_INT_STATUS:
	case MU_INT_MASK:
	case MU_INT_GROUP:
	case MU_INT_PENDING:
	case MU_TIMEOUT:
	case MU_GI_ROUTE:
	case MU_GI_ENABLE:
		return true;
	default:
		return false;
	}
}

sim_time mu_dcr_slot(struct nic *nic, site_id s, sim_time t)
{
	const struct clock_params *c = clocks_of(nic->host);
	struct mu_node *n = nic_node(nic, s);

	if (t < n->dcr_at)
		t = n->dcr_at;
	return n->dcr_at = t + units_cycles(c->access, c->ring);
}

uint64_t mu_dcr_timeout(struct nic *nic, site_id s, uint32_t port)
{
	const struct mu_node *n = nic_node(nic, s);

	if (port >= nic->net->n_ports || port >= MU_TIMEOUTS)
		return 0;
	return n->timeout && n->timeout[port]
		       ? n->timeout[port]
		       : (uint64_t)nic->net->link.retry.timeout;
}

bool mu_dcr_set_timeout(
	struct nic *nic, site_id s, uint32_t port, uint64_t trips)
{
	struct mu_node *n = nic_node(nic, s);

	if (port >= nic->net->n_ports || port >= MU_TIMEOUTS || !trips ||
		trips > RETRY_MOST_TRIPS)
		return false;
	if (!n->timeout)
		n->timeout = mem_alloc(MU_TIMEOUTS, sizeof(*n->timeout));
	n->timeout[port] = (uint32_t)trips;
	net_set_timeout(nic->net, s, port, (uint32_t)trips);
	return true;
}
