/* The interface in networks that fail. */
#include "nic/gemini/card.h"

/* Time-outs stand still while management has stopped the network. */
void gem_harm_on_quiesce(struct net_client *me, struct sim_worker *w, site_id s,
	bool is_stopped, sim_time t)
{
	struct nic *nic = me->state;
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
		gem_target_extend(&a);
	}
}

/* --- errors of chips and memories --- */

void gem_harm_drop(const struct nic_at *a, packet_id id)
{
	struct net *net = a->nic->net;

	gem_here(a)->marked++;
	net_release(net, a->w, a->s, gem_load(a, id)->fifo,
		net->packets[id].chunks, a->t);
	nic_lose(a->nic, a->w, id);
}

bool gem_harm_read(const struct nic_at *a, uint64_t word)
{
	struct faults *f = a->nic->net->faults;
	struct gem_node *n = a->node;
	struct fault_words w;

	if (!f || !f->memory)
		return true;
	w = faults_words(f, a->s, 1, word);
	n->corrected += w.mended;
	n->uncorrectable += w.bad;
	return !w.bad;
}
