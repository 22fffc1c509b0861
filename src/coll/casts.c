#include "coll/casts.h"

#include "coll/contexts.h"

/* Broadcasts of a site that wait for answers. */
struct notes {
	struct coll_contexts casts;
	uint64_t strays; /* answers to no known broadcast */
};

struct casts {
	struct coll coll;
	struct notes *site; /* [site] */
};

static struct casts *of(const struct coll *c)
{
	return (struct casts *)(uintptr_t)c;
}

/* Broadcasts that began before this time are discarded. */
static sim_time oldest(const struct coll *c, sim_time t)
{
	return t - c->route->answers;
}

/* A broadcast has arrived and will leave by some ports. */
static void take_note(struct coll *c, struct notes *x, const struct packet *p,
	port_id in, port_mask ports, sim_time t)
{
	contexts_forget(&x->casts, oldest(c, t));
	contexts_add(&x->casts, &(struct coll_context){ .who = p->src,
					.number = p->number,
					.since = t,
					.waits = ports,
					.back = in });
}

/* An answer has arrived: the port by which it goes on, or none. */
static port_mask answer(struct coll *c, struct notes *x, struct packet *p,
	port_id in, sim_time t)
{
	struct coll_context *note =
		contexts_find(&x->casts, p->dst, p->number, in);
	port_id port;

	/* a corrupted answer may have any content, and is dropped */
	if (!note || note->since < oldest(c, t) || p->flags & PACKET_HURT) {
		x->strays++;
		return 0;
	}
	if (p->answer > note->value)
		note->value = p->answer;
	if (!contexts_come(note, in))
		return 0;
	p->answer = (uint8_t)note->value;
	port = note->back;
	contexts_end(&x->casts, note);
	return (port_mask)1 << port;
}

static struct coll_step casts_arrive(
	struct coll *c, site_id s, struct packet *p, port_id in, sim_time t)
{
	struct notes *x = &of(c)->site[s];
	struct coll_step step = { 0 };

	if (p->flags & PACKET_RANGE) {
		step.ports = c->route->ops->spread(c->route, p, s);
		if (step.ports)
			take_note(c, x, p, in, step.ports, t);
	} else if (s >= c->n_nodes) {
		step.ports = answer(c, x, p, in, t);
		step.ends = !step.ports;
	}
	return step;
}

static bool casts_serves(const struct route *r)
{
	return r->ops->spread != NULL;
}

static void casts_init(struct coll *c)
{
	of(c)->site = map_alloc(c->n_sites * sizeof(*of(c)->site));
}

static void casts_fini(struct coll *c)
{
	for (site_id s = 0; s < c->n_sites; s++)
		mem_free(of(c)->site[s].casts.v);
	map_free(of(c)->site, c->n_sites * sizeof(*of(c)->site));
}

static uint64_t casts_strays(const struct coll *c)
{
	uint64_t sum = 0;

	for (site_id s = 0; s < c->n_sites; s++)
		sum += of(c)->site[s].strays;
	return sum;
}

static uint64_t casts_waiting(const struct coll *c)
{
	uint64_t sum = 0;

	for (site_id s = 0; s < c->n_sites; s++)
		sum += of(c)->site[s].casts.n;
	return sum;
}

static uint64_t casts_memory(const struct coll *c)
{
	uint64_t sum = c->n_sites * sizeof(struct notes);

	for (site_id s = 0; s < c->n_sites; s++)
		sum += of(c)->site[s].casts.room * sizeof(struct coll_context);
	return sum;
}

const struct coll_ops casts_ops = {
	.name = "casts",
	.size = sizeof(struct casts),
	.flags = PACKET_RANGE | PACKET_ANSWER,
	.serves = casts_serves,
	.init = casts_init,
	.fini = casts_fini,
	.arrive = casts_arrive,
	.waiting = casts_waiting,
	.strays = casts_strays,
	.memory = casts_memory,
};
