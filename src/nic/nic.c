#include "nic/nic.h"

#include <stdio.h>

#include "base/mem.h"
#include "sim/random.h"

struct nic *nic_new(const struct nic_setup *s, struct err *e)
{
	struct nic *nic = mem_alloc(1, s->ops->size);

	*nic = (struct nic){
		.ops = s->ops,
		.params = s->params,
		.net = s->net,
		.host = s->host,
		.on_delivered = s->on_delivered,
		.arg = s->arg,
	};
	if (nic->ops->init(nic, e)) {
		mem_free(nic);
		return NULL;
	}
	net_attach(s->net, nic->ops->client, nic);
	host_set_nic(s->host, nic);
	return nic;
}

void nic_free(struct nic *nic)
{
	if (!nic)
		return;
	nic->ops->fini(nic);
	mem_free(nic);
}

struct poll_loop nic_poll_loop(
	const struct nic *nic, sim_time period, sim_time load)
{
	struct random_bits r = random_draw(
		nic->net->seed, program_node(), RANDOM_POLL, program_draw());

	return (struct poll_loop){
		.period = period,
		.load = load,
		.phase = (sim_time)random_below(r.a, (uint64_t)period),
	};
}

uint64_t nic_describe_errors(const char *const *names, const uint64_t *counts,
	uint32_t n, char *text, size_t size)
{
	uint64_t sum = 0;
	size_t used = 0;
	uint32_t i;

	if (size)
		text[0] = '\0';
	for (i = 0; i < n; i++) {
		if (counts[i] && used < size)
			used += (size_t)snprintf(text + used, size - used,
				"%s%s: %llu", sum ? ", " : "", names[i],
				(unsigned long long)counts[i]);
		sum += counts[i];
	}
	return sum;
}

struct count {
	const struct nic *nic;
	uint64_t n;
};

static void count_event(void *arg, sim_time t, const struct sim_event *e)
{
	struct count *c = arg;

	(void)t;
	if (!c->nic->ops->is_stale || !c->nic->ops->is_stale(c->nic, e))
		c->n++;
}

uint64_t nic_n_events(const struct nic *nic)
{
	struct count c = { .nic = nic };

	sim_each_event(nic->net->sim, count_event, &c);
	return c.n;
}
