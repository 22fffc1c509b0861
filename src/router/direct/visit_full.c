/* The full build: with time budgets, faults, links of several rates, and
 * arbitration in stages. */
#define DIRECT_FULL  1
#define DIRECT_BUILD direct_full

#include "router/direct/visit.c"

/* --- management, of nodes beside switches: nothing passes through them --- */

static bool is_shown(const struct direct *d, const struct direct_fifo *f)
{
	return f->n && !f->is_busy && !heads_arrived(&d->packets[f->head]);
}

static void stop(struct direct *d, struct direct_site *s, sim_time t)
{
	s->is_quiet = true;
	for (uint32_t i = 0; i < N_FIFOS; i++) {
		const struct direct_fifo *f = &s->inject[i];
		packet_id id = f->head;

		if (is_shown(d, f))
			heads_hide_injection(d, s, i, &d->packets[f->head]);
		for (uint32_t n = f->n; n--; id = d->packets[id].next)
			booked_wait(d, &d->packets[id], CAUSE_QUIESCE, t);
	}
}

/* Packets that have not left get routes by the tables of now. */
static void resume(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t)
{
	s->is_quiet = false;
	for (uint32_t i = 0; i < N_FIFOS; i++) {
		const struct direct_fifo *f = &s->inject[i];
		bool shows = is_shown(d, f);
		packet_id id = f->head;

		for (uint32_t n = f->n; n--; id = d->packets[id].next) {
			begin(d, s, &d->packets[id], t);
			d->packets[id].head = t;
		}
		if (shows)
			show_injection(d, w, s, i, &d->packets[f->head], t);
	}
}

void direct_manage(struct router *r, struct sim_worker *w, site_id site,
	const struct route *tables, sim_time t)
{
	struct direct *d = (struct direct *)r;
	struct direct_site *s = direct_at(d, site);

	if (tables)
		resume(d, w, s, t);
	else
		stop(d, s, t);
}
