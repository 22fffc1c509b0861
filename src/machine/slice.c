#include "machine/slice.h"

#include "base/mem.h"

/* Bytes that nodes had received at some times. */
struct mark {
	sim_time at;
	uint64_t bytes;
};

struct slice {
	struct load *load;
	uint32_t n_sites;
	uint64_t *received; /* [site], bytes */
	struct mark *mark; /* in order */
	size_t n;
};

struct slice *slice_new(struct load *l, uint32_t n_sites)
{
	struct slice *x = mem_alloc(1, sizeof(*x));

	x->load = l;
	x->n_sites = n_sites;
	x->received = mem_alloc(n_sites, sizeof(*x->received));
	return x;
}

void slice_free(struct slice *x)
{
	if (!x)
		return;
	mem_free(x->received);
	mem_free(x->mark);
	mem_free(x);
}

void slice_note(void *arg, site_id s, const struct packet *p, sim_time t)
{
	struct slice *x = arg;
	struct load *l = x->load;

	x->received[s] += p->bytes;
	if (l->ops->on_delivered)
		l->ops->on_delivered(l, s, p, t);
}

static uint64_t received(const struct slice *x)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < x->n_sites; i++)
		sum += x->received[i];
	return sum;
}

uint64_t slice_bytes(const struct slice *x)
{
	return x->n ? x->mark[x->n - 1].bytes : 0;
}

sim_time slice_reached(const struct slice *x, uint64_t bytes)
{
	const struct mark *m = x->mark;
	size_t i = 0;

	while (i < x->n && m[i].bytes < bytes)
		i++;
	if (i == x->n)
		return SIM_NEVER;
	if (!i)
		return m[i].at;
	return m[i - 1].at + (sim_time)((double)(m[i].at - m[i - 1].at) *
					(double)(bytes - m[i - 1].bytes) /
					(double)(m[i].bytes - m[i - 1].bytes));
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
	struct mark now = { 0 };
	int code = 0;

	while (!code) {
		now.at += want->step;
		code = machine_run_go(r, now.at, e);
		if (code < 0)
			return -1;
		now.bytes = received(x);
		x->mark = mem_more(x->mark, x->n, sizeof(*x->mark));
		x->mark[x->n++] = now;
		if (!code && (now.at >= want->most ||
				     (want->bytes && now.bytes >= want->bytes)))
			return end_here(r, e);
	}
	return 0;
}
