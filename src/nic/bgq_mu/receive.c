/*
 * Reception.  An engine pulls packets out of its network FIFO one after the
 * other, as fast as they come or as it can; what follows is pipelined.  The
 * payload is written first and the counter changed after it, so whoever
 * sees a counter at zero finds all bytes in place.
 */
#include "nic/bgq_mu/mu.h"

void mu_receive(struct mu *mu, struct sim_worker *w, site_id s, uint32_t fifo,
	packet_id id, sim_time tail)
{
	const struct mu_params *p = &mu->params;
	struct mu_node *n = mu_node(mu, s);
	uint32_t chunks = mu->nic.net->packets[id].chunks;
	sim_time pulled = tail + p->pull;
	sim_time drained =
		n->drained_at[fifo] + mu_time(chunks * MU_CHUNK, p->drain_rate);

	if (drained > pulled)
		pulled = drained;
	n->drained_at[fifo] = pulled;
	sim_post_self(w, s, pulled,
		SIM_KEY(PHASE_ENGINE, MU_ENGINE_PULLED + fifo), 0, id);
}

void mu_receive_on_pulled(struct mu *mu, struct sim_worker *w, site_id s,
	sim_time t, uint32_t fifo, packet_id id)
{
	struct net *net = mu->nic.net;

	net_release(net, w, s, fifo, net->packets[id].chunks, t);
	sim_post_self(w, s, t + mu->params.lookup + mu->params.payload_write,
		SIM_KEY(PHASE_ENGINE, MU_ENGINE_WRITTEN + fifo), 0, id);
}

static void give(struct mu *mu, struct sim_worker *w, packet_id id)
{
	struct net *net = mu->nic.net;

	payload_give(
		mu->payloads, w->id, payload_of_load(net->packets[id].load));
	packet_give(net->pool, w->id, id);
}

/* An entry of the base address table plus an offset; false where it was
 * never set. */
static bool address(
	struct mu *mu, site_id s, uint32_t base, uint64_t offset, uint64_t *at)
{
	const struct mu_node *n = mu_node(mu, s);
	const struct mu_subgroup *g;

	if (base >= MU_BASES || !n->subgroup[base / MU_PER_SUBGROUP])
		return false;
	g = n->subgroup[base / MU_PER_SUBGROUP];
	*at = (g->base[base % MU_PER_SUBGROUP] + offset) & MU_OFFSET_MASK;
	return g->base_set >> base % MU_PER_SUBGROUP & 1;
}

static bool write_payload(struct mu *mu, struct sim_worker *w, site_id s,
	sim_time t, const struct packet *p)
{
	const struct mu_buffer *b = payload_of_load(p->load);
	uint64_t at;

	/* Only a bit above the memory's addresses marks an atomic. */
	return address(mu, s, mu_put_base(&b->header),
		       mu_put_offset(&b->header), &at) &&
	       host_write(mu->nic.host, w, s, t, at, b->payload,
		       mu_valid_bytes(&b->header));
}

void mu_receive_on_written(struct mu *mu, struct sim_worker *w, site_id s,
	sim_time t, uint32_t fifo, packet_id id)
{
	if (!write_payload(mu, w, s, t, &mu->nic.net->packets[id])) {
		mu_node(mu, s)->refused++;
		give(mu, w, id);
		return;
	}
	sim_post_self(w, s, t + mu->params.counter,
		SIM_KEY(PHASE_ENGINE, MU_ENGINE_COUNTED + fifo), 0, id);
}

/* Adds the negative number of bytes to the counter. */
static bool count(struct mu *mu, struct sim_worker *w, site_id s, sim_time t,
	const struct packet *p)
{
	const struct mu_buffer *b = payload_of_load(p->load);
	uint64_t at;

	if (!address(mu, s, mu_counter_base(&b->header),
		    mu_counter_offset(&b->header), &at) ||
		!(at & MU_ATOMIC))
		return false;
	if ((at & 7) != MU_ATOMIC_STORE_ADD &&
		(at & 7) != MU_ATOMIC_STORE_ADD_COHERENCE_ON_ZERO)
		return false;
	return host_add(mu->nic.host, w, s, t,
		at & (MU_ATOMIC - 1) & ~UINT64_C(7),
		-(uint64_t)mu_valid_bytes(&b->header));
}

void mu_receive_on_counted(struct mu *mu, struct sim_worker *w, site_id s,
	sim_time t, packet_id id)
{
	const struct packet *p = &mu->nic.net->packets[id];

	if (!count(mu, w, s, t, p))
		mu_node(mu, s)->refused++;
	else if (mu->nic.on_delivered)
		mu->nic.on_delivered(mu->nic.arg, s, p, t);
	give(mu, w, id);
}
