#include "machine/slice.h"

#include "base/mem.h"

/* What a node has received. */
struct received {
	uint64_t bytes;
	/* of trains: bytes times the packets behind the first one */
	uint64_t behind;
	sim_time last;
};

struct slice {
	struct load *load;
	struct received *node; /* [site] */
	sim_time reached; /* when setup.slice.bytes were there; 0: never */
};

struct slice *slice_new(struct load *l)
{
	struct slice *x = mem_alloc(1, sizeof(*x));

	x->load = l;
	x->node = mem_alloc(l->topo->n_routers, sizeof(*x->node));
	return x;
}

void slice_free(struct slice *x)
{
	if (!x)
		return;
	mem_free(x->node);
	mem_free(x);
}

void slice_note(void *arg, site_id s, const struct packet *p, sim_time t)
{
	struct slice *x = arg;
	struct load *l = x->load;
	struct received *n = &x->node[s];
	uint64_t packets = link_packets(&l->net->link, p->bytes);

	n->bytes += p->bytes;
	n->behind += p->bytes * (packets - 1);
	if (p->bytes && t > n->last)
		n->last = t;
	if (l->ops->on_delivered)
		l->ops->on_delivered(l, s, p, t);
}

uint64_t slice_bytes(const struct slice *x)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < x->load->topo->n_routers; i++)
		sum += x->node[i].bytes;
	return sum;
}

/*
 * Bytes of a train count when its last packet is there, and on average came
 * half its time earlier: so much earlier the work was done, too.
 */
static sim_time mean_lead(const struct slice *x)
{
	const struct link_params *link = x->load->link;
	sim_time packet = load_packet_time(link, (uint32_t)(link->payload));
	double bytes = 0, behind = 0;

	for (uint32_t i = 0; i < x->load->topo->n_routers; i++) {
		bytes += (double)x->node[i].bytes;
		behind += (double)x->node[i].behind;
	}
	return bytes > 0 ? (sim_time)(behind / bytes / 2 * (double)packet) : 0;
}

sim_time slice_end(const struct slice *x)
{
	sim_time last = 0;

	if (x->reached)
		return x->reached;
	for (uint32_t i = 0; i < x->load->topo->n_routers; i++)
		if (x->node[i].last > last)
			last = x->node[i].last;
	return last - mean_lead(x);
}

/* Ends the run now. */
static int end_here(struct machine_run *r, struct err *e)
{
	r->load->until = sim_now(r->load->net->sim);
	return machine_run_go(r, SIM_NEVER, e) < 0 ? -1 : 0;
}

int slice_perform(struct machine_run *r, struct err *e)
{
	const struct slice_setup *want = &r->setup.slice;
	struct slice *x = r->slice;
	sim_time at = 0, step = want->step;
	uint64_t was, bytes = 0;
	int code;

	if (!want->bytes)
		return machine_run_go(r, SIM_NEVER, e) < 0 ? -1 : 0;
	for (;;) {
		at += step;
		code = machine_run_go(r, at, e);
		was = bytes;
		bytes = slice_bytes(x);
		if (code < 0)
			return -1;
		if (bytes >= want->bytes)
			break;
		if (code)
			return 0;
		if (at >= want->most)
			return end_here(r, e);
	}
	x->reached = at - step +
		     (sim_time)((double)step * (double)(want->bytes - was) /
				(double)(bytes - was));
	return code ? 0 : end_here(r, e);
}
