/*
 * The card's driver on the host: it does one thing after the other, on CPU 0,
 * whose programs lose that time (QSN-G16).
 */
#include "nic/elan4/units.h"

static struct elan_driver *driver_of(const struct nic_at *a)
{
	return &elan_here(a)->driver;
}

/* The threads of CPU 0, as bits. */
static uint64_t cpu_0(const struct nic_at *a)
{
	uint32_t each = host_threads_each(a->nic->host);
	uint64_t threads = 0;

	for (uint32_t i = 0; i < HOST_THREADS; i++)
		if (elan_cpu(elan_params(a), i / each, i % each) == 0)
			threads |= UINT64_C(1) << i;
	return threads;
}

static void on_done(const struct nic_at *a, uint32_t id);

static void begin(const struct nic_at *a)
{
	struct elan_driver *x = driver_of(a);
	uint32_t id = x->line.first;
	const struct elan_duty *d;

	if (!id)
		return;
	d = slots_at(&x->duties, id);
	host_take(a->nic->host, a->s, cpu_0(a), a->t, a->t + d->time);
	elan_card_then(a, a->t + d->time, on_done, id);
}

static void on_done(const struct nic_at *a, uint32_t id)
{
	struct elan_driver *x = driver_of(a);
	const struct elan_duty d =
		*(struct elan_duty *)slots_at(&x->duties, id);

	slots_pop(&x->duties, &x->line);
	slots_give(&x->duties, id);
	begin(a);
	d.then(a, d.id);
}

void elan_driver_work(
	const struct nic_at *a, sim_time time, elan_then *then, uint32_t id)
{
	struct elan_driver *x = driver_of(a);
	bool is_idle = !x->line.first;
	uint32_t duty = slots_take(&x->duties);
	struct elan_duty *d = slots_at(&x->duties, duty);

	d->time = time;
	d->then = then;
	d->id = id;
	slots_push(&x->duties, &x->line, duty);
	if (is_idle)
		begin(a);
}
