/* What becomes of the interface where the network fails. */
#include "nic/gemini/card.h"

/* Time-outs stand still while management has stopped the network. */
void gem_harm_on_quiesce(struct net *net, struct sim_worker *w, site_id s,
	bool is_stopped, sim_time t)
{
	struct nic *nic = net->client_state;
	struct gem_node *n = nic->nodes[s];
	struct nic_at a;

	if (!n && !is_stopped)
		return;
	a = nic_at(nic, w, s, t);
	n = gem_here(&a);
	if (is_stopped) {
		n->quiet_since = t;
		n->is_quiet = true;
	} else if (n->is_quiet) {
		n->is_quiet = false;
		gem_fma_extend(&a, n->quiet_since);
	}
}
