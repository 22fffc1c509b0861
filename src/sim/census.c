/* What processes would do and send in each window, if workers were processes.
 */
#include "sim/inside.h"

enum { EVENTS, MAIL, BYTES, N_COUNTED };

struct census {
	struct sim_census told;
	uint64_t (*before)[N_COUNTED]; /* [worker], before this window */
};

void census_init(struct sim *s)
{
	if (!s->p.trial.counts && !s->p.trial.balance)
		return;
	s->census = mem_alloc(1, sizeof(*s->census));
	s->census->before =
		mem_alloc(s->p.n_workers, sizeof(*s->census->before));
}

void census_fini(struct sim *s)
{
	if (s->census)
		mem_free(s->census->before);
	mem_free(s->census);
}

void census_note(struct sim *s)
{
	struct sim_census *c = &s->census->told;
	struct sim_census_of *to[N_COUNTED] = { &c->events, &c->mail,
		&c->bytes };
	uint64_t most[N_COUNTED] = { 0 };

	for (uint32_t i = 0; i < s->p.n_workers; i++) {
		const struct sim_worker *w = &s->workers[i];
		uint64_t now[] = { w->n_events, w->mail_sent, w->mail_bytes };
		uint64_t *was = s->census->before[i];

		for (uint32_t k = 0; k < N_COUNTED; k++) {
			uint64_t n = now[k] - was[k];

			to[k]->all += n;
			most[k] = n > most[k] ? n : most[k];
			was[k] = now[k];
		}
	}
	for (uint32_t k = 0; k < N_COUNTED; k++)
		to[k]->most += most[k];
	c->windows++;
}

const struct sim_census *sim_census(const struct sim *s)
{
	return s->census ? &s->census->told : NULL;
}
