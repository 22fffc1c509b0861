/* Tagged messages by slots: what a process keeps between its calls. */
#include "api/msg/slots.h"

#include "base/mem.h"

/* Also those that a program had in its hands when it was stopped. */
static void fini(void *kept)
{
	struct msg_soft *s = kept;

	while (s->newest) {
		struct op *older = s->newest->older;

		mem_free(s->newest);
		s->newest = older;
	}
	mem_free(s->free_fins);
	mem_free(s->lost);
	mem_free(s->written);
	msg_pool_fini(&s->pool);
	soft_forget_partial(s);
	s->free_fins = s->lost = NULL;
	s->written = NULL;
	while (s->early) {
		struct early *next = s->early->next;

		mem_free(s->early);
		s->early = next;
	}
}

uint8_t *soft_track(struct msg_soft *s, uint64_t bytes)
{
	mem_free(s->written);
	s->written = mem_alloc(bytes, 1);
	return s->written;
}

static uint64_t held(const void *kept)
{
	const struct msg_soft *s = kept;

	return s->n_kept;
}

static const struct program_library library = {
	.size = sizeof(struct msg_soft), .fini = fini, .held = held
};

/* Whoever ends has received everything, so it is empty. */
void soft_open(struct msg_state *m)
{
	m->soft = program_keep(&library);
	m->soft->early_end = &m->soft->early;
	msg_pool_open(m);
}
